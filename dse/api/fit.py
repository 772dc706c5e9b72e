"""Fitting records that studies use to data of one's own: ``dse.fit.core("table.csv")``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from dse.api.arguments import public, texts
from dse.files.assignments import Assignments, assignments

if TYPE_CHECKING:
    from dse.api.fitted import CoreFitReport, InterfaceFitReport, PlatformFitReport


@public
def core(
    table: str | Path,
    *,
    out: str | Path | None = None,
    over: str | Sequence[str] = (),
    forms: Assignments | None = None,
    settings: Assignments | None = None,
    force: bool = False,
) -> CoreFitReport:
    """Fit laws of area, power and rate over one or two parameters to a table of designs.

    Parameters
    ----------
    table
        CSV with a row per design, headers as in a stage that names a table.
    out
        Record file to write; nothing is written when it is None.
    over
        One or two columns that are the parameters.
    forms
        Forms that are given rather than chosen, by quantity: constant, affine, square, power
        or exponential.
    settings
        As in a stage with a table: ``{"values.payload": "64 bit"}``.
    force
        Replace a record that is there.

    Raises
    ------
    dse.errors.StudyError
        With everything that is wrong with the table and the settings.
    """
    from dse.api.fitted import CoreFitReport
    from dse.fitting.core import fit_core
    from dse.fitting.core_report import core_record
    from dse.study import records

    path, name = records.path_and_name(Path(table), None if out is None else Path(out))
    pairs = [*assignments(settings, "values.payload=64 bit").items()]
    given = assignments(forms, "area=affine")
    found = CoreFitReport(**vars(fit_core(Path(table), name, texts(over), pairs, given)))
    if out is not None:
        records.write_record(path, *core_record(found), force=force)
    return found


@public
def platform(
    data: str | Path,
    *,
    out: str | Path | None = None,
    precision: str = "single",
    force: bool = False,
) -> PlatformFitReport:
    """Fit the energy roofline of a platform to measured runs.

    Parameters
    ----------
    data
        CSV with a row per run: work, traffic, time and energy, with units.
    precision
        Of the operations: ``single`` or ``double``.
    out, force
        As in `core`.

    Raises
    ------
    dse.errors.StudyError
        With everything that is wrong with the table.
    """
    from dse.api.fitted import PlatformFitReport
    from dse.fitting.platform import fit_platform, platform_record
    from dse.study import records

    path, name = records.path_and_name(Path(data), None if out is None else Path(out))
    found = PlatformFitReport(**vars(fit_platform(Path(data), name, precision)))
    if out is not None:
        records.write_record(path, *platform_record(found), force=force)
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
    per_byte: Literal["latency", "computing"] = "latency",
    force: bool = False,
) -> InterfaceFitReport:
    """Fit a kernel and an interface to host and offload times, or to openssl speed.

    Parameters
    ----------
    data
        CSV with columns such as granularity_byte, host_us, offload_us.
    software, hardware
        In its place: outputs of ``openssl speed`` without and with the accelerator.
    algorithm
        Which of several algorithms in both outputs.
    clock
        Of times that `data` has in cycles: ``"3 GHz"``.
    pure
        LogCA as published: no fixed host time.
    per_byte
        What time per byte is taken for where the data cannot tell.
    out, force
        As in `core`; pictures are drawn beside the record.

    Raises
    ------
    dse.errors.DseError
        When the times cannot be read or fitted.
    """
    from dse.api.fitted import InterfaceFitReport
    from dse.fitting.interface.record import save_interface
    from dse.fitting.interface.report import read_timings, report_on

    data, software, hardware = (
        None if part is None else Path(part) for part in (data, software, hardware)
    )
    found = report_on(
        read_timings(data, software, hardware, algorithm=algorithm, clock=clock), pure=pure
    )
    if out is not None:
        save_interface(found, Path(out), per_byte, force=force)
    return InterfaceFitReport(**vars(found))
