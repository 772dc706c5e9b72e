"""Laws of a core from a table of its designs, as a record that studies use."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from dse.algebra import units
from dse.contract import Column, CoreMetrics
from dse.errors import StudyError, UnitError, nearest, refuse
from dse.files import document, headers
from dse.files.csv import CsvTable
from dse.fitting.core_report import CoreFit
from dse.fitting.law import Fitted, fit_law
from dse.model.designs import Designs
from dse.study import schema, tables
from dse.study.cores import core_law, core_tables
from dse.study.overrides import override
from dse.study.reader import Reader, validate_as
from dse.study.scenario import Scenario

FEWEST = 3
"""A law has two coefficients or more, and needs a design more than that."""

_COMMAND = "the command"


def fit_core(
    path: Path,
    name: str,
    over: Sequence[str] = (),
    settings: Sequence[tuple[str, str]] = (),
    forms: Mapping[str, str] | None = None,
) -> CoreFit:
    """Fit the laws of a core to a table of its designs; parameters as in `dse.fit.core`.

    `settings` are pairs of a field of a stage and its value.
    """
    start = document.parse_document(
        f"table: {json.dumps(path.name, ensure_ascii=False)}\n", _COMMAND
    )
    start = override(replace(start, inputs={path.name: path}), settings)
    reader = Reader(start)
    stage = validate_as(schema.StageSection, reader)
    found = None if stage is None else _parameterised_designs(stage, over, reader)
    if found is None or reader.faults:
        raise StudyError(_without_place(reader))
    designs, parameters = found
    columns = _columns(designs.metrics, reader.notes)
    laws = _fits(designs.metrics, columns, parameters, forms or {}, reader)
    refuse(_without_place(reader))
    total = _total_power(designs.metrics, parameters, forms or {})
    mark = "assumed for every design: "
    notes = [note.partition(mark)[2] for note in reader.notes if mark in note]
    file = replace(reader.inputs[path.name], written=str(path))
    return CoreFit(
        name=name,
        table=file,
        designs=designs.names,
        parameters=parameters,
        laws=laws,
        total_power=total,
        assumed=tuple(notes),
    )


def _parameterised_designs(
    stage: schema.StageSection, over: Sequence[str], reader: Reader
) -> tuple[Designs, dict[str, Column]] | None:
    """Return the chosen designs of the table, and the values of their parameters."""
    every = stage.model_copy(update={"parameters": {}, "designs": None})
    found = core_tables.table_designs(every, Scenario(), reader)
    table = tables.read_input(str(stage.table), reader.below("table"))
    if found is None or table is None:
        return None
    columns = tables.called(table, stage.columns, reader.below("columns"))
    kept = tables.restricted(table, columns, stage.parameters, reader.below("parameters"))
    for number, name in enumerate(stage.designs or ()):
        if name not in found.names:
            rule, remedy = "the table has no such design", nearest(name, found.names)
            reader.fault(("designs", number), rule, remedy)
    if stage.designs is not None:
        kept &= np.isin(found.names, stage.designs)
    rows = np.flatnonzero(kept)
    parameters = _parameters(table, columns, rows, over, reader)
    if len(rows) < FEWEST and not reader.faults:
        rule = "a law has two coefficients or more, and needs a design more than that"
        reader.fault(("table",), rule, f"use {FEWEST} designs or more", f"{len(rows)} designs")
    return found.take(rows), parameters


def _parameters(
    table: CsvTable, columns: Mapping[str, int], rows: Any, over: Sequence[str], reader: Reader
) -> dict[str, Column]:
    chosen = list(over) or _candidates(table, columns, reader)
    if len(chosen) > 2:
        reader.fault((), "a law has one or two parameters", "name one or two", ", ".join(chosen))
    parameters: dict[str, Column] = {}
    for name in chosen:
        if name not in columns:
            remedy = nearest(name, columns)
            reader.fault((), f"{table.file} has no column {name!r}", remedy, f"--over {name}")
            continue
        if not name.isidentifier() or not name.isascii() or name.startswith("_"):
            rule = "a parameter is called by letters, digits and underscores"
            short = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_").lower()
            short = short if short.isidentifier() else "n"
            remedy = f'call it so: --set "columns.{short}={name}" --over {short}'
            reader.fault((), rule, remedy, repr(name))
        bad = len(reader.faults)
        values = table.numbers(columns[name], Fraction(1), reader.faults)
        for row in rows[values[rows] <= 0] if len(reader.faults) == bad else ():
            rule, remedy = "a parameter is more than 0", "leave the row out, or count from 1"
            reader.faults.append(table.fault(int(row), columns[name], rule, remedy))
        parameters[name] = values[rows]
    return parameters


def _candidates(table: CsvTable, columns: Mapping[str, int], reader: Reader) -> list[str]:
    """Return the only column that may be a parameter: plain numbers that are no metric."""
    names = [
        name
        for name, column in columns.items()
        if name not in core_tables.KNOWN
        and _is_plain(name)
        and table.share_of_numbers(column) == 1.0
    ]
    if len(names) != 1:
        shown = f"they may be {', '.join(names)}" if names else "no column holds plain numbers"
        rule = f"which columns are the parameters is open: {shown}"
        reader.fault((), rule, f"add --over {names[0] if names else 'NAME'}", "")
    return names[:1]


def _is_plain(header: str) -> bool:
    """Tell a header without a unit."""
    try:
        return headers.read_header(header).name == header and not units.suffix(header)
    except UnitError:
        return False


def _without_place(reader: Reader) -> list[Any]:
    """Return faults; those of the command line have no line and column."""
    return [
        replace(fault, line=0, column=0) if fault.file == _COMMAND else fault
        for fault in reader.faults
    ]


def _fits(
    metrics: CoreMetrics,
    columns: Mapping[str, Column],
    parameters: Mapping[str, Column],
    forms: Mapping[str, str],
    reader: Reader,
) -> dict[str, Fitted]:
    for name, form in forms.items():
        if name not in columns:
            reader.fault(
                (), "this quantity is not fitted", nearest(name, columns), f"--form {name}"
            )
        elif form not in core_law.FORMS:
            reader.fault((), "this form is not known", nearest(form, core_law.FORMS), repr(form))
    if reader.faults:
        return {}
    laws = {}
    for name, values in columns.items():
        found = fit_law(parameters, values, forms.get(name))
        if found is None:
            kind = f"no {forms[name]} law" if name in forms else "no law"
            rule = f"{len(values)} designs at these parameters support {kind} of {name}"
            reader.fault((), rule, "use more designs, at other values of the parameters", "")
        else:
            laws[name] = found
    # a clock that varies blurs the rate, not the cycles that a task takes
    cycles = fit_law(parameters, metrics.cycles_per_task)
    blurred = "rate" in laws and "rate" not in forms and laws["rate"].leave_one_out > 0
    if blurred and cycles is not None and cycles.leave_one_out == 0:
        del laws["rate"]
        laws["cycles_per_task"] = cycles
    return laws


def _columns(metrics: CoreMetrics, notes: Sequence[str]) -> dict[str, Column]:
    """Return the quantities to fit in SI: those that do not follow from the others by default.

    A latency that the table tells is fitted all the same, lest it be taken for an assumed one.
    """
    columns = {
        name: getattr(metrics, column)
        for name, column in core_law.QUANTITIES.items()
        if hasattr(metrics, column) and not np.isnan(getattr(metrics, column)).all()
    }
    defaults = ["tasks_in_flight", "leakage_power", "read", "written"]
    if any(core_tables.ASSUMED_LATENCY in note for note in notes):
        defaults = ["latency", *defaults]
    for name in (name for name in defaults if name in columns):
        rest = {key: values for key, values in columns.items() if key != name}
        if np.allclose(core_law.completed(rest)[name], columns[name], rtol=1e-9, atol=0):
            columns = rest
    columns["rate"] = metrics.clock_hz / columns.pop("cycles_per_task")
    return columns


def _total_power(
    metrics: CoreMetrics, parameters: Mapping[str, Column], forms: Mapping[str, str]
) -> Fitted | None:
    if not np.nansum(metrics.leakage_power_w):
        return None
    total = metrics.dynamic_power_w + metrics.leakage_power_w
    return fit_law(parameters, total, forms.get("dynamic_power"))
