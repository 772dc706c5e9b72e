"""From the `evaluate` section of a study to quantities, and to what measures its designs."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from dse.algebra import units
from dse.algebra.units import duration
from dse.contract import Column, Objective
from dse.contract.evaluators import (
    Evaluator,
    Measurement,
    Ranges,
    RecordedEvaluator,
    Shelf,
    Value,
    key,
)
from dse.files.document import Document
from dse.model.beforehand import MOST_CODES
from dse.model.measured import Bench, Design, MeasuredColumns, MemoryShelf
from dse.model.problem import Problem
from dse.model.space import Axis, Space, unit_names_of
from dse.search.settings import SearchSettings
from dse.study import schema, workload_interface_budget
from dse.study.axes import written_unit
from dse.study.measured.evaluator import AxisUnits, Outputs, evaluator_of, outputs_of
from dse.study.reader import Path, Reader
from dse.study.tables import column_quantity, columns_of, read_input


def measured_of(
    written: schema.StudyFile, outputs: Outputs, space: Space, reader: Reader
) -> MeasuredColumns | None:
    """Return what measures the outputs of a study, None where a fault was added."""
    section, here = written.evaluate or schema.EvaluateSection(), reader.below("evaluate")
    before = len(reader.faults)
    own = written.axes.keys() - workload_interface_budget.DECLARED.keys()
    free = [place for place, axis in enumerate(space.axes) if axis.name in own]
    axes = [space.axes[place] for place in free]
    if not axes:
        rule = "a design that is measured differs in axes of the study, and it has none of its own"
        here.fault((), rule, "add for instance `axes: {unroll: [1, 2, 4]}`", "")
    axis_units = written_units(written.axes, axes)
    evaluator = evaluator_of(section, outputs, axis_units, here)
    pool = rows_of(written, space.axes, reader) if axes else None
    if evaluator is None or len(reader.faults) > before:
        return None
    bench = bench_of(evaluator, section.on_failure, reader.document, axes, outputs.ranges)
    return MeasuredColumns(bench, tuple(free), tuple(outputs.units), pool=pool)


def written_units(written: Mapping[str, Any], axes: Sequence[Axis]) -> AxisUnits:
    """Return the unit in which each axis is written, None for choices."""
    return {axis.name: written_unit(written[axis.name]) if axis.ordered else None for axis in axes}


def bench_of(
    evaluator: Evaluator,
    on_failure: str,
    document: Document,
    axes: Sequence[Axis],
    ranges: Ranges,
) -> Bench:
    """Return what is known of the designs that an evaluator measures.

    A run that is over recorded designs of all values of its sweep: others than those of the axes.
    """
    found: dict[str, tuple[Design, Measurement]] = {}
    if isinstance(evaluator, RecordedEvaluator):
        found = {
            key(evaluator.identity, design): (design, measurement)
            for design, measurement in evaluator.found
            if all(design.get(axis.name) in axis.places for axis in axes)
        }
        shelf: Shelf = MemoryShelf()
        shelf.keep({one: pair[1] for one, pair in found.items()}, {})
    else:
        shelf_of = document.shelves or (lambda identity, ranges: MemoryShelf())
        shelf = shelf_of(evaluator.identity, ranges)
    return Bench(evaluator, shelf, on_failure, found, unit_names_of(axes))


def measured_quantities(
    written: schema.StudyFile, space: Space, reader: Reader
) -> tuple[MeasuredColumns | None, dict[str, Objective]]:
    """Return what measures designs of a study, and what it tells of them; faults are added."""
    section = written.evaluate or schema.EvaluateSection()
    outputs = outputs_of(section, reader.below("evaluate"))
    taken = {name for axis in space.axes for name in axis.columns} | set(space.constants)
    for name in sorted(taken & outputs.units.keys()):
        rule = f"{name} is set by this study, and cannot be measured as well"
        reader.fault(outputs.places[name], rule, "rename one of them")
    for name in sorted(map(units.stem, outputs.units.keys() - taken)):
        if name in written.axes and name not in workload_interface_budget.DECLARED:
            rule = "it is an output as well, and a name stands for one of them"
            reader.fault(("axes", name), rule, "rename the axis or the output", repr(name))
    measured = measured_of(written, outputs, space, reader)
    source = section.function or (str(section.command[0]) if section.command else "a function")
    about = {"words": "What is measured", "source": f"measured by {source}"}
    return measured, {name: column_quantity(name, **about) for name in outputs.units}


def _most_spent(
    section: schema.EvaluateSection | None,
    settings: SearchSettings,
    designs: int,
    each: str,
) -> Iterator[str]:
    """Yield what measuring up to so many designs takes at most, as far as anybody can say.

    `each` tells of which values of a sweep the designs are.
    """
    if section is not None and section.timeout is not None:
        longest = section.timeout.value * (1 + section.retries)
        whole = duration(math.ceil(designs / section.workers) * longest)
        attempts = f" x {1 + section.retries} attempts" if section.retries else ""
        workers = f" / {section.workers} workers" if section.workers > 1 else ""
        yield (
            f"time: at most {designs:,} designs x {duration(section.timeout.value)}{attempts}"
            f"{workers} = {whole}{each}"
        )
    if settings.time_s is not None:
        yield (
            f"budget of time: {duration(settings.time_s)}; no design is begun that would not end "
            f"within it if it took as long as the longest before"
        )


def measuring_lines(
    problem: Problem,
    settings: SearchSettings,
    section: schema.EvaluateSection | None,
    each: str,
) -> Iterator[str]:
    """Yield what measures the designs of a study; nothing where nothing does.

    `each` is what is said of counts where the study runs for each value of a sweep.
    """
    measured, before = problem.measured, problem.beforehand
    if measured is None or before is None:
        return
    if before.pool is not None:
        yield f"a pool of {len(before.pool):,} designs, of which rules leave {before.most:,}"
    elif before.count is None:
        yield "rules on axes alone exclude designs, of too many to be counted"
    elif before.count:
        left = problem.size - before.count
        yield f"rules on axes alone leave {left:,} of {problem.size:,} designs"
    most = min(settings.budget or before.most, before.most)
    up_to = f"up to {most:,} designs{each}, chosen by {settings.method}"
    yield from _measured_by("measured", measured.bench, up_to)
    yield from _most_spent(section, settings, most, each)


def _measured_by(what: str, bench: Bench, most: str) -> Iterator[str]:
    """Yield what a bench measures, of how many designs at most, and how."""
    outputs = bench.evaluator.outputs.items()
    named = ", ".join(f"{units.stem(name) or name} [{unit or '1'}]" for name, unit in outputs)
    parts = json.loads(bench.evaluator.identity).items()
    yield f"{what}: {named}; {most}"
    yield f"{what} by: {'; '.join(f'{name} {json.dumps(part)}' for name, part in parts)}"


PATH: Path = ("designs",)

OTHERS = ("axes", "stages", "sweep")
"""Sections that say otherwise which designs there are."""

Columns = dict[str, tuple[str, Column | list[str]]]
"""By the name of an axis: its column in SI, and numbers or texts, a row each."""


def with_axes(written: schema.StudyFile, reader: Reader) -> schema.StudyFile:
    """Return a study whose axes are the columns of its pool."""
    for name in OTHERS:
        if name in written.model_fields_set:
            rule = "the rows of `designs` are all designs that there are"
            reader.fault((name,), rule, "write it as columns of the table, or remove it", "")
    axes: dict[str, Any] = {}
    for name, (quantity, cells) in _read(written, reader).items():
        if isinstance(cells, list):
            axes[name] = [*dict.fromkeys(cells)]
        elif units.suffix(quantity):
            axes[name] = [units.show_exactly(one, quantity) for one in np.unique(cells).tolist()]
        else:
            axes[name] = np.unique(cells).tolist()
    if prod(map(len, axes.values())) > MOST_CODES:
        rule = "its columns have too many values"
        reader.fault(PATH, rule, "drop columns that only name designs", "")
    reader.raise_any()
    return written.model_copy(update={"axes": axes})


def rows_of(
    written: schema.StudyFile, axes: tuple[Axis, ...], reader: Reader
) -> list[tuple[Value, ...]] | None:
    """Return the designs of the pool of a study by their values, each once; None without one."""
    if written.designs is None:
        return None
    columns = _read(written, reader)
    reader.raise_any()
    found: list[list[Value]] = []
    for axis in axes:
        cells = columns[axis.name][1]
        if isinstance(cells, list):
            if axis.ordered:
                rule = f"{axis.name} has units in its cells"
                reader.fault(PATH, rule, "write the unit in the header, `clock [MHz]` say", "")
                return None
            found.append([*map(str, cells)])
        else:  # a value that was written with its unit may be read as one beside it
            values = np.sort(axis.columns[axis.unit_name])
            middles = (values[1:] + values[:-1]) / 2
            found.append(values[np.searchsorted(middles, cells)].tolist())
    return [*dict.fromkeys(zip(*found, strict=True))]


def _read(written: schema.StudyFile, reader: Reader) -> Columns:
    """Return the columns of the table."""
    section = written.designs
    if isinstance(section, schema.DesignsSection):
        reader.fault(PATH, "a pool is the name of a CSV file", "write `designs: pool.csv`", "")
        return {}
    table = read_input(str(section), reader.below(*PATH))
    if table is None:
        return {}
    places = {header: place for place, header in enumerate(table.headers)}
    return {
        units.stem(header.name): (header.name, cells)
        for header, cells in columns_of(table, places, reader)
    }
