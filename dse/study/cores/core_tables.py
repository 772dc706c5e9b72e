"""A core family from a table: a row per design, columns by headers with units.

What `CoreMetrics` needs comes from columns, from figures that the study gives for every design,
or from a default that the notes of a result state.  A figure that stands in several forms (cycles
per task and bandwidth, total power and its parts) has to agree with itself to `AGREEMENT`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path as FilePath

import numpy as np

from dse.contract import Column, CoreMetrics
from dse.files.document import stage_name
from dse.model.designs import AREAS, BLOCKS, Designs
from dse.study import schema, tables
from dse.study.cores import models
from dse.study.cores.core_law import AGREEMENT, BIT_PER_BYTE, QUANTITIES, SIZE, metrics_of
from dse.study.cores.figures import Figures, Form, as_is
from dse.study.reader import Reader
from dse.study.scenario import Scenario

_POWER = "power"
_RATES = ("bandwidth", "throughput", "rate")
_DYNAMIC = ("dynamic_power_w", "dynamic_w")
_LEAKAGE = ("leakage_power_w", "leakage_w", "static_power_w")
_TOTAL = (f"{_POWER}_w", f"total_{_POWER}_w")

ASSUMED_LATENCY = "latency = cycles per task, one task in flight"
"""What is said of a table that tells nothing of the latency."""

KNOWN = (
    *("area", "clock", "payload", "cycles_per_task", "cycles_per_block", *_RATES),
    *BLOCKS,
    *("latency", "tasks_in_flight", "dynamic_power", "leakage_power", _POWER, "read", "written"),
)
"""Figures of a core, as a study calls them in `values`."""


def table_designs(
    written: schema.StageSection, scenario: Scenario, reader: Reader
) -> Designs | None:
    """Return the designs of a stage that names a table; what is wrong goes to `reader`."""
    before = len(reader.faults)
    file = str(written.table)
    table = tables.read_input(file, reader.below("table"))
    if table is None:
        return None
    places = tables.called(table, written.columns, reader.below("columns"))
    figures = Figures(table, places, reader)
    figures.give(written.values)
    metrics = _metrics(figures, chained=scenario.chained)
    figures.check_all_used(KNOWN)
    uncertainty = _uncertainty(written, figures)
    free = [name for name, place in places.items() if place not in figures.places_used()]
    reserved = {*schema.StageSection.model_fields, "design"}
    names = tables.row_names(table, places, free, reserved, reader)
    kept = tables.restricted(table, places, written.parameters, reader.below("parameters"))
    if len(reader.faults) > before:
        return None
    reader.notes.append(reader.inputs[file].note)
    if figures.assumed:
        assumed = ", ".join(figures.assumed)
        reader.notes.append(f"{FilePath(file).name}: assumed for every design: {assumed}")
    if figures.unleaking:
        scenario.sureness.unleaking.append(str(stage_name(vars(written))))
    return Designs(names, metrics, uncertainty).take(np.flatnonzero(kept))


def _metrics(figures: Figures, *, chained: bool) -> CoreMetrics:
    """Return what a table says of its designs, in the units of `CoreMetrics`.

    In a `chained` mode the latency decides the rate, so it is not assumed.
    """
    payload = figures.need(
        "the payload of a task",
        "payload_bit",
        [("payload_bit", as_is), ("payload_byte", lambda size: size * BIT_PER_BYTE)],
    )
    clock = figures.need("the clock", "clock_mhz", [("clock_hz", as_is)])
    cycles = figures.need("the rate", "cycles_per_task", _rate_forms(clock, payload))
    given = {"payload": payload, "clock": clock, "cycles_per_task": cycles}
    given |= _latency(figures, clock, chained) | _power(figures) | _traffic(figures)
    areas: list[Form] = [(name, as_is) for name in AREAS]  # several are several figures
    given |= _given(figures, SIZE) or {SIZE[0]: figures.need("the area", "area_um2", areas)}
    given |= _given(figures, BLOCKS, zero=True)
    return metrics_of(given, figures.full(0.0))


def _given(figures: Figures, names: Sequence[str], *, zero: bool = False) -> dict[str, Column]:
    """Return those of some quantities that a table has."""
    forms = {name: [(QUANTITIES[name], as_is)] for name in names}
    return _known({name: figures.one(forms[name], zero=zero, distinct=False) for name in names})


def _known(found: Mapping[str, Column | None]) -> dict[str, Column]:
    """Return the quantities that there are."""
    return {name: column for name, column in found.items() if column is not None}


def _rate_forms(clock: Column, payload: Column) -> list[Form]:
    forms: list[Form] = [("cycles_per_task", as_is), ("cycles_per_block", as_is)]
    for name in _RATES:
        forms += [
            (f"{name}_bit_per_s", lambda rate: clock * payload / rate),
            (f"{name}_byte_per_s", lambda rate: clock * payload / (rate * BIT_PER_BYTE)),
            (f"{name}_task_per_s", lambda rate: clock / rate),
        ]
    return forms


def _latency(figures: Figures, clock: Column, chained: bool) -> dict[str, Column]:
    """Return latency and tasks in flight as far as a table has them, and note what follows."""
    forms: list[Form] = [("latency_cycles", as_is), ("latency_s", lambda time: time * clock)]
    latency = figures.one(forms, zero=True)
    slots = figures.one([("tasks_in_flight", as_is)])
    if latency is None and slots is None and chained:
        latency = figures.need("the latency", "latency_cycles", forms)
    elif latency is None and slots is None:
        figures.assumed.append(ASSUMED_LATENCY)
    elif latency is None:
        figures.assumed.append("latency = cycles per task * tasks in flight")
    elif slots is None:
        figures.assumed.append("tasks in flight = latency / cycles per task, at least 1")
    return _known({"latency": latency, "tasks_in_flight": slots})


def _power(figures: Figures) -> dict[str, Column]:
    """Return dynamic and leakage power from two of dynamic, leakage and total, or from one.

    A table without power, or with nothing but zeros, says nothing of it.
    """
    dynamic, leakage, total = (
        figures.one([(name, as_is) for name in part], zero=True)
        for part in (_DYNAMIC, _LEAKAGE, _TOTAL)
    )
    given = [column for column in (dynamic, leakage, total) if column is not None]
    if not any(column.any() for column in given):
        return {}
    if total is None:
        if dynamic is None:
            dynamic = figures.need("power", f"dynamic_{_POWER}_mw", [(_DYNAMIC[0], as_is)])
        if leakage is None:
            figures.assume_no_leakage("leakage power 0")
    elif dynamic is not None and leakage is not None:
        both = dynamic + leakage
        figures.agree(both, "dynamic plus leakage power", total, figures.which(_TOTAL))
    elif dynamic is not None:
        leakage = _rest(figures, total, dynamic)
    elif leakage is not None:
        dynamic = _rest(figures, total, leakage)
    else:
        figures.assume_no_leakage("all power is dynamic, none leaks")
        dynamic = total
    return _known({"dynamic_power": dynamic, "leakage_power": leakage})


def _rest(figures: Figures, total: Column, part: Column) -> Column:
    """Return what is left of total power; a part above it is a fault, rounding aside."""
    for row in np.flatnonzero(part > total * (1 + AGREEMENT)):
        rule = "total power is less than a part of it"
        figures.refuse(figures.which(_TOTAL), int(row), rule, "correct one of the two")
    return np.maximum(total - part, 0.0)


def _traffic(figures: Figures) -> dict[str, Column]:
    """Return what a task reads and writes as far as a table has it, and note what follows."""
    found = {}
    for direction in ("read", "written"):
        forms: list[Form] = [
            (f"{direction}_byte", as_is),
            (f"{direction}_bit", lambda size: size / BIT_PER_BYTE),
        ]
        found[direction] = figures.one(forms, zero=True, distinct=False)
        if found[direction] is None:
            figures.assumed.append(f"payload {direction} once")
    return _known(found)


def _uncertainty(written: schema.StageSection, figures: Figures) -> dict[str, Column]:
    """Return relative standard uncertainties: from ``area_uncertainty_percent``, or the study."""
    shares = models.stated(written.uncertainty, figures.reader)
    found = {metric: figures.full(share) for metric, share in shares.items()}
    for name, metrics in models.STATED.items():
        column = figures.one([(f"{name}_uncertainty", as_is)], zero=True)
        if column is not None:
            found |= dict.fromkeys(metrics, column)
    return found
