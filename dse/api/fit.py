"""Fitting records that studies use to data of one's own: ``dse.fit.core("table.csv")``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dse.api.arguments import Names, PerByte, Precision, public, texts

if TYPE_CHECKING:
    from dse.api.arguments import Forms, Settings
    from dse.fitting.core import CoreFit
    from dse.fitting.interface.text import InterfaceFitReport
    from dse.fitting.platform import PlatformFit


@public
def core(
    table: str | Path,
    *,
    out: str | Path | None = None,
    over: Names = (),
    forms: Forms | None = None,
    settings: Settings | None = None,
) -> CoreFit:
    """Fit laws of area, power and rate over one or two parameters to a table of designs.

    Parameters
    ----------
    table : TABLE.csv
        Table (CSV) with a row per design.  Headers are as in a stage that names a table.
    out
        Record to write.  Nothing is written when it is None.
    over
        Column that is a parameter (once or twice).
    forms
        Form to fit instead of the best: constant, affine, square, power, exponential.  By
        quantity: ``{"area": "affine"}``.
    settings
        Set a field, as in a stage with a table: "values.payload=64 bit".

    Raises
    ------
    dse.errors.StudyError
        With everything that is wrong with the table and the settings.
    """
    from dse.files.document import assignments
    from dse.fitting.core import core_record, fit_core
    from dse.study import records

    path, name = records.path_and_name(Path(table), None if out is None else Path(out))
    pairs = [*assignments(settings, "values.payload=64 bit").items()]
    given = assignments(forms, "area=affine")
    found = fit_core(Path(table), name, texts(over), pairs, given)
    if out is not None:
        records.write_record(path, *core_record(found))
    return found


@public
def platform(
    data: str | Path,
    *,
    out: str | Path | None = None,
    precision: Precision = "single",
) -> PlatformFit:
    """Fit the energy roofline of a platform to measured runs.

    Parameters
    ----------
    data : DATA.csv
        Table (CSV) with a row per run: work, traffic, time, energy, with units.
    precision
        Precision of the operations.
    out
        As in `core`.

    Raises
    ------
    dse.errors.StudyError
        With everything that is wrong with the table.
    """
    from dse.fitting.platform import fit_platform, platform_record
    from dse.study import records

    path, name = records.path_and_name(Path(data), None if out is None else Path(out))
    found = fit_platform(Path(data), name, precision)
    if out is not None:
        records.write_record(path, *platform_record(found))
    return found


@public
def interface(
    data: str | Path | None = None,
    *,
    software: str | Path | None = None,
    hardware: str | Path | None = None,
    algorithm: str | None = None,
    clock: str | None = None,
    out: str | Path | None = None,
    pure: bool = False,
    per_byte: PerByte = "latency",
) -> InterfaceFitReport:
    """Fit a kernel and an interface to host and offload times, or to openssl speed.

    Parameters
    ----------
    data
        CSV with granularity_byte, host_us, offload_us or the like.
    software
        Output of `openssl speed` without the accelerator.  In place of `data`, with `hardware`.
    hardware
        Output of `openssl speed -elapsed` with the accelerator, one call at a time.
    algorithm
        Algorithm, where the outputs have several.
    clock
        Clock of times that the CSV has in cycles: "3 GHz".
    pure
        Fit LogCA as published, without a fixed host time.
    per_byte
        What a time per byte counts as where the data cannot tell.
    out
        As in `core`; pictures are drawn beside the record.

    Raises
    ------
    dse.errors.DseError
        When the times cannot be read or fitted.
    """
    from dse.fitting.interface.record import save_interface
    from dse.fitting.interface.report import read_timings, report_on
    from dse.fitting.interface.text import InterfaceFitReport

    data, software, hardware = (
        None if part is None else Path(part) for part in (data, software, hardware)
    )
    found = report_on(
        read_timings(data, software, hardware, algorithm=algorithm, clock=clock), pure=pure
    )
    written = [] if out is None else save_interface(found, Path(out), per_byte)
    return InterfaceFitReport(**vars(found), files=tuple(written))
