"""Laws of a core from a table of its designs, as a record that studies use."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from dse import (
    core_law,
    core_table,
    document,
    fit_law,
    headers,
    inputs,
    schema,
    study,
    table_rows,
    units,
    user_records,
)
from dse.contract import Column, CoreMetrics
from dse.csv_table import CsvTable
from dse.errors import StudyError, UnitError, nearest
from dse.faults import Faults, validate_as
from dse.fit_law import Fitted
from dse.fleet import Designs
from dse.scenario import Scenario

METHOD = "least squares, the form by leave-one-out error"
CONFIDENCE = (
    f"{fit_law.LEVEL * 100:.0f} %, Student's t with n - p degrees of freedom for errors that are "
    "independent and alike; linearised for power and exponential laws"
)
MOST_POINTS = 100
"""A record lists the residuals of a table of up to so many designs."""

FEWEST = 3
"""A law has two coefficients or more, and needs a design more than that."""

_COMMAND = "the command"


@dataclass(frozen=True, kw_only=True)
class CoreFit:
    """The laws of a core.

    Attributes
    ----------
    name
        Of the core.
    table
        The file that was read.
    designs
        Names of its designs.
    parameters
        Their values by parameter, shape (n,).
    laws
        By quantity, in SI; what is not there follows from the others.
    total_power
        Dynamic and leakage power together, which no record needs; None when nothing leaks.
    assumed
        What the table does not say and was taken for granted.
    """

    name: str
    table: inputs.Input
    designs: tuple[str, ...]
    parameters: Mapping[str, Column]
    laws: Mapping[str, Fitted]
    total_power: Fitted | None
    assumed: tuple[str, ...]


def from_table(
    path: Path,
    name: str,
    over: Sequence[str] = (),
    settings: Sequence[tuple[str, str]] = (),
    forms: Mapping[str, str] | None = None,
) -> CoreFit:
    """Fit the laws of a core to a table of its designs.

    Parameters
    ----------
    path
        CSV file, with headers as in a stage that names a table.
    name
        What the core is called.
    over
        One or two columns that are the parameters; the only column of numbers that is no figure
        of a core when none is given.
    settings
        Fields of a stage: what columns are called, figures that the table lacks, which designs
        to use.
    forms
        Forms that are given rather than chosen, by quantity.

    Raises
    ------
    StudyError
        With everything that is wrong with the table and the settings.
    """
    start = document.parse(f"table: {json.dumps(path.name)}\n", _COMMAND)
    start = study.override(replace(start, inputs={path.name: path}), settings)
    faults = Faults(start)
    stage = validate_as(schema.Stage, faults)
    scenario = Scenario()
    found = None if stage is None else _designs(stage, over, scenario, faults)
    if found is None or faults.found:
        raise StudyError(_without_place(faults))
    designs, parameters = found
    laws = _fits(designs.metrics, parameters, forms or {}, faults)
    if faults.found:
        raise StudyError(_without_place(faults))
    total = _total_power(designs.metrics, parameters, forms or {})
    mark = "assumed for every design: "
    notes = [note.partition(mark)[2] for note in scenario.notes if mark in note]
    file = replace(scenario.inputs[path.name], written=str(path))
    return CoreFit(
        name=name,
        table=file,
        designs=designs.names,
        parameters=parameters,
        laws=laws,
        total_power=total,
        assumed=tuple(notes),
    )


def _without_place(faults: Faults) -> list[Any]:
    """Return faults; those of the command line have no line and column."""
    return [
        replace(fault, line=0, column=0) if fault.file == _COMMAND else fault
        for fault in faults.found
    ]


def _designs(
    stage: schema.Stage, over: Sequence[str], scenario: Scenario, faults: Faults
) -> tuple[Designs, dict[str, Column]] | None:
    """Return the chosen designs of the table, and the values of their parameters."""
    every = stage.model_copy(update={"parameters": {}, "designs": None})
    found = core_table.designs(every, scenario, (), faults)
    read = inputs.read(str(stage.table), ("table",), faults)
    if found is None or read is None:
        return None
    table = read[1]
    places = table_rows.called(table, stage.columns, ("columns",), faults)
    kept = table_rows.restricted(table, places, stage.parameters, ("parameters",), faults)
    for position, name in enumerate(stage.designs or ()):
        if name not in found.names:
            rule, remedy = "the table has no such design", nearest(name, found.names)
            faults.add(("designs", position), rule, remedy)
    if stage.designs is not None:
        kept &= np.isin(found.names, stage.designs)
    rows = np.flatnonzero(kept)
    parameters = _parameters(table, places, rows, over, faults)
    if len(rows) < FEWEST and not faults.found:
        rule = "a law has two coefficients or more, and needs a design more than that"
        faults.add(("table",), rule, f"use {FEWEST} designs or more", f"{len(rows)} designs")
    return found.take(rows), parameters


def _parameters(
    table: CsvTable, places: Mapping[str, int], rows: Any, over: Sequence[str], faults: Faults
) -> dict[str, Column]:
    chosen = list(over) or _candidates(table, places, faults)
    if len(chosen) > 2:
        faults.add((), "a law has one or two parameters", "name one or two", ", ".join(chosen))
    parameters: dict[str, Column] = {}
    for name in chosen:
        if name not in places:
            remedy = nearest(name, places)
            faults.add((), f"{table.file} has no column {name!r}", remedy, f"--over {name}")
            continue
        if not name.isidentifier() or not name.isascii() or name.startswith("_"):
            rule = "a parameter is called by letters, digits and underscores"
            faults.add((), rule, f'call it so: --set "columns.n={name}" --over n', repr(name))
        place = places[name]
        bad = len(faults.found)
        values = table.numbers(place, Fraction(1), faults.found)
        for row in rows[values[rows] <= 0] if len(faults.found) == bad else ():
            rule, remedy = "a parameter is more than 0", "leave the row out, or count from 1"
            faults.found.append(table.fault(int(row), place, rule, remedy))
        parameters[name] = values[rows]
    return parameters


def _candidates(table: CsvTable, places: Mapping[str, int], faults: Faults) -> list[str]:
    """Return the only column that may be a parameter: plain numbers that are no figure."""
    names = [
        name
        for name, place in places.items()
        if name not in core_table.KNOWN and _is_plain(name) and table.share_of_numbers(place) == 1.0
    ]
    if len(names) != 1:
        shown = f"they may be {', '.join(names)}" if names else "no column holds plain numbers"
        rule = f"which columns are the parameters is open: {shown}"
        faults.add((), rule, f"add --over {names[0] if names else 'NAME'}", "")
    return names[:1]


def _is_plain(header: str) -> bool:
    """Tell a header without a unit."""
    try:
        return headers.read(header).name == header and not units.suffix(header)
    except UnitError:
        return False


def _fits(
    metrics: CoreMetrics,
    parameters: Mapping[str, Column],
    forms: Mapping[str, str],
    faults: Faults,
) -> dict[str, Fitted]:
    columns = _columns(metrics)
    for name, form in forms.items():
        if name not in columns:
            faults.add((), "this quantity is not fitted", nearest(name, columns), f"--form {name}")
        elif form not in core_law.FORMS:
            faults.add((), "this form is not known", nearest(form, core_law.FORMS), repr(form))
    if faults.found:
        return {}
    laws = {}
    for name, values in columns.items():
        found = fit_law.fit(parameters, values, forms.get(name))
        if found is None:
            kind = f"no {forms[name]} law" if name in forms else "no law"
            rule = f"{len(values)} designs at these parameters support {kind} of {name}"
            faults.add((), rule, "use more designs, at other values of the parameters", "")
        else:
            laws[name] = found
    # a clock that varies blurs the rate, not the cycles that a task takes
    cycles = fit_law.fit(parameters, metrics.cycles_per_task)
    blurred = "rate" in laws and "rate" not in forms and laws["rate"].leave_one_out > 0
    if blurred and cycles is not None and cycles.leave_one_out == 0:
        del laws["rate"]
        laws["cycles_per_task"] = cycles
    return laws


def _columns(metrics: CoreMetrics) -> dict[str, Column]:
    """Return the quantities to fit in SI: those that do not follow from the others by default."""
    columns = {
        name: getattr(metrics, column)
        for name, column in core_law.QUANTITIES.items()
        if hasattr(metrics, column)
    }
    for name in ("latency", "tasks_in_flight", "leakage_power", "read", "written"):
        rest = {key: values for key, values in columns.items() if key != name}
        if np.allclose(core_law.completed(rest)[name], columns[name], rtol=1e-9, atol=0):
            columns = rest
    columns["rate"] = metrics.clock_hz / columns.pop("cycles_per_task")
    return columns


def _total_power(
    metrics: CoreMetrics, parameters: Mapping[str, Column], forms: Mapping[str, str]
) -> Fitted | None:
    if not metrics.leakage_power_w.any():
        return None
    total = metrics.dynamic_power_w + metrics.leakage_power_w
    return fit_law.fit(parameters, total, forms.get("dynamic_power"))


def record(found: CoreFit) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the sections and the provenance of the record of a fit."""
    core = {
        "name": found.name,
        "summary": f"law over {' and '.join(found.parameters)}, fitted to "
        f"{len(found.designs)} designs of {Path(found.table.written).name}",
        "parameters": {
            name: dict(zip(("low", "high"), _range(values), strict=True))
            | {"integer": _are_whole(values)}
            for name, values in found.parameters.items()
        },
        "laws": {name: _law(name, fitted) for name, fitted in found.laws.items()},
    }
    origin: dict[str, Any] = user_records.provenance(
        found.table.content, Path(found.table.written).name, METHOD
    )
    origin["range"] = {name: _range(values) for name, values in found.parameters.items()}
    origin["confidence"] = CONFIDENCE
    if found.assumed:
        origin["assumed"] = list(found.assumed)
    if len(found.designs) <= MOST_POINTS:
        origin["designs"] = list(found.designs)
    origin["residuals"] = {name: _support(name, fitted) for name, fitted in rows(found)}
    return {"core": core}, origin


def _are_whole(values: Column) -> bool:
    return bool((values == np.round(values)).all())


def _range(values: Column) -> list[float]:
    ends = [float(values.min()), float(values.max())]
    return [int(end) for end in ends] if _are_whole(values) else ends


def rows(found: CoreFit) -> Iterable[tuple[str, Fitted]]:
    """Yield every fitted quantity, total power at the end; `quantity_name` tells its unit."""
    yield from found.laws.items()
    if found.total_power is not None:
        yield TOTAL, found.total_power


TOTAL = "total_power"


def quantity_of(name: str) -> str:
    """Return the quantity whose unit a fitted one has."""
    return "dynamic_power" if name == TOTAL else name


def _law(quantity: str, fitted: Fitted) -> Any:
    law = fitted.law
    names = core_law.unit_names(quantity, law.form, len(law.coefficients))
    values = [units.written(*pair) for pair in zip(law.coefficients, names, strict=True)]
    if law.form == "constant":
        return values[0]
    return {"form": law.form, "over": list(law.over), "coefficients": values}


def _support(name: str, fitted: Fitted) -> dict[str, Any]:
    """Return what supports a law: its errors, intervals, residuals, and the other forms."""
    quantity = quantity_of(name)
    column = core_law.QUANTITIES[quantity]
    names = core_law.unit_names(quantity, fitted.law.form, len(fitted.law.coefficients))
    if fitted.law.form == "constant" and not fitted.residuals.any():
        return {"law": core_law.text(quantity, fitted.law), "rms": units.show(0.0, column)}
    said: dict[str, Any] = {
        "law": core_law.text(quantity, fitted.law),
        "rms": units.show(fitted.rms, column),
        "leave_one_out": units.show(fitted.leave_one_out, column),
        "intervals": [
            [units.written(low, unit), units.written(high, unit)]
            for (low, high), unit in zip(fitted.intervals, names, strict=True)
        ],
    }
    if len(fitted.residuals) <= MOST_POINTS:
        said["law_minus_table"] = [units.show(float(value), column) for value in fitted.residuals]
    said["others"] = [
        f"{core_law.text(quantity, law)} (leave-one-out {units.show(error, column)})"
        for law, error in fitted.others
    ]
    return said


def forms_of(pairs: Sequence[str]) -> dict[str, str]:
    """Split ``quantity=form`` options.

    Raises
    ------
    UnitError
        When an option has no ``=``.
    """
    split = {}
    for pair in pairs:
        quantity, equals, form = pair.partition("=")
        if not equals:
            rule = f"--form {pair!r}: it must be QUANTITY=FORM"
            raise UnitError(rule, "write for instance --form area=affine")
        split[quantity.strip()] = form.strip()
    return split
