"""Fitting records that studies use to data of one's own: ``dse.fit.core("table.csv")``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from dse.api.arguments import Count, Names, assigned, public, texts
from dse.api.studies import ASSIGNED_FIELDS
from dse.files.document import Assignments, assignments
from dse.fitting.core import CoreFit, core_record, fit_core
from dse.fitting.report import InterfaceFitReport, report_on
from dse.fitting.timings import TimingOptions, read_timings
from dse.removed import no_attribute
from dse.study import records

Forms = Annotated[Assignments, assigned("{'area': 'affine'} or 'area=affine'", "QUANTITY=FORM")]
Settings = Annotated[Assignments, assigned(ASSIGNED_FIELDS, "FIELD=VALUE")]


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
    path, name = records.path_and_name(Path(table), None if out is None else Path(out))
    pairs = [*assignments(settings, "values.payload=64 bit").items()]
    given = assignments(forms, "area=affine")
    found = fit_core(Path(table), name, texts(over), pairs, given)
    if out is not None:
        records.write_record(path, *core_record(found))
    return found


@public
def interface(
    data: str | Path | None = None,
    *,
    software: str | Path | None = None,
    hardware: str | Path | None = None,
    algorithm: str | None = None,
    clock: str | None = None,
    cpu_load: str | None = None,
    in_flight: Count | None = None,
    out: str | Path | None = None,
) -> InterfaceFitReport:
    """Fit a kernel and an interface to host and offload times, and find the break-even size.

    Parameters
    ----------
    data
        CSV with granularity_byte, host_us, offload_us or the like, or one curve without a host.
    software
        Output of a program, or a CSV, for the host.  In place of `data`, with `hardware`.
    hardware
        The same for the accelerator: openssl speed -elapsed, tcrypt, dpdk-test-crypto-perf,
        dpdk-test-compress-perf, accel_perf, or a CSV.
    algorithm
        Algorithm and direction, if the outputs have several or name none.
    clock
        Clock of times that are in cycles: "3 GHz".
    cpu_load
        Load of a host core while it offloads: "38%".
    in_flight
        Offloads under way at a time, if the file does not state it.
    out
        As in `core`.

    Raises
    ------
    dse.errors.DseError
        The times cannot be read or fitted.
    """
    table, slow, fast = (None if one is None else Path(one) for one in (data, software, hardware))
    given = TimingOptions(algorithm=algorithm, clock=clock, cpu_load=cpu_load, in_flight=in_flight)
    found = report_on(read_timings(table, slow, fast, given))
    if out is not None:
        path, name = records.path_and_name(Path(out), Path(out))
        records.write_record(path, found.sections(name), found.provenance())
    return found


def __getattr__(name: str) -> Any:
    raise no_attribute("dse.fit", name, f"fit {name}")
