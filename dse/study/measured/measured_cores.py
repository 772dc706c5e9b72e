"""Cores whose designs are measured: tables of designs, of which a program fills in the figures."""

from __future__ import annotations

import csv
import io
import itertools
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dse.algebra.units import stem
from dse.contract.evaluators import Measurement, RecordedEvaluator
from dse.errors import MeasurementError
from dse.model.measured import UNKNOWN, Bench, Design, MeasuredColumns
from dse.model.problem import Problem
from dse.model.space import Axis, Space, axis_value_text
from dse.search.settings import SearchSettings
from dse.study import schema
from dse.study.axes import free_axis
from dse.study.cores.models import MOST_DESIGNS
from dse.study.measured.evaluate import bench_of, most_spent, written_units
from dse.study.measured.evaluator import evaluator_of, outputs_of
from dse.study.reader import Path, Reader

UNMEASURED = "1"
"""What stands for each figure of a core before it is measured, so that the rest can be checked."""


@dataclass(frozen=True)
class MeasuredCore:
    """The designs of a stage that are measured, and how.

    Attributes
    ----------
    path
        Where the study says so.
    stage
        The name of the stage.
    bench
        What is known of designs.
    designs, names
        All of them that the stage may use, and what they are called; of a run, those that it has
        measured.
    unmeasured
        What the others are called.
    section
        What the study says.
    """

    path: Path
    stage: str
    bench: Bench
    designs: Sequence[Design]
    names: Sequence[str]
    unmeasured: Sequence[str]
    section: schema.EvaluateSection

    @property
    def failed(self) -> int:
        """How many of its designs failed by accident."""
        found = self.bench.measurements(self.designs, ask=False)
        return sum(one.failed and one is not UNKNOWN for one in found)

    @property
    def measured(self) -> bool:
        """Whether every design is measured."""
        return UNKNOWN not in self.bench.measurements(self.designs, ask=False)

    def lacking(self, name: str) -> str:
        """Return why a design has no figures; nothing where it has, or there is no such design."""
        if name in self.names:
            (found,) = self.bench.measurements([self.designs[self.names.index(name)]], ask=False)
            return found.cause
        return UNKNOWN.cause if name in self.unmeasured else ""


def with_measured_cores(
    written: schema.StudyFile, reader: Reader
) -> tuple[schema.StudyFile, tuple[MeasuredCore, ...]]:
    """Return a study whose measured cores are tables, and these cores; faults are added."""
    stages, cores = list(written.stages), []
    for position, stage in enumerate(written.stages):
        if isinstance(stage.core, schema.EvaluateSection):
            core = _core(stage, stage.core, reader.below("stages", position))
            reader.raise_any()
            if core is not None:
                cores.append(core)
                file = f"{core.stage}.csv"
                kept = _kept(core, reader)
                contents = {**reader.document.contents, file: _table(core, kept)}
                reader.document = replace(reader.document, contents=contents)
                table: dict[str, Any] = {"core": None, "table": file, "parameters": {}}
                gone = {*core.names, *core.unmeasured} - {name for name, _ in kept}
                if stage.designs is not None:
                    table["designs"] = [name for name in stage.designs if name not in gone]
                if stage.counts is not None:  # a fleet cannot do without those that it has
                    left = {name: n for name, n in stage.counts.items() if n or name not in gone}
                    table["counts"] = left
                stages[position] = stage.model_copy(update=table)
    return written.model_copy(update={"stages": stages}), tuple(cores)


def _core(
    stage: schema.StageSection, section: schema.EvaluateSection, reader: Reader
) -> MeasuredCore | None:
    _check(stage, section, reader)
    axes: list[Axis] = []
    for name, values in stage.parameters.items():
        axes += free_axis(name, values, (), reader.below("parameters", name))
    here = reader.below("core")
    outputs = outputs_of(section, here, known=())
    axis_units = written_units(stage.parameters, axes)
    choices = (
        {axis.name: [*axis.places] for axis in axes} if len(axes) == len(stage.parameters) else {}
    )
    evaluator = evaluator_of(section, outputs, axis_units, choices, here)
    grid = math.prod(axis.size for axis in axes)
    if grid > MOST_DESIGNS:
        rule = f"more than {MOST_DESIGNS:,} designs in one stage"
        reader.fault(("parameters",), rule, "use fewer")
    if evaluator is None or grid > MOST_DESIGNS:
        return None
    designs = [dict(zip(choices, row, strict=True)) for row in itertools.product(*choices.values())]
    bench = bench_of(evaluator, section.on_failure, reader.document, axes, ranges=outputs.ranges)
    names = [_name(design, bench.unit_names) for design in designs]
    rows = _usable(stage, names)
    there = _recorded(bench, [designs[row] for row in rows])
    used = [*itertools.compress(rows, there)]
    return MeasuredCore(
        path=here.path,
        stage=str(stage.name),
        bench=bench,
        designs=[designs[row] for row in used],
        names=[names[row] for row in used],
        unmeasured=[names[row] for row in rows if row not in used],
        section=section,
    )


def _check(stage: schema.StageSection, section: schema.EvaluateSection, reader: Reader) -> None:
    """Refuse a stage in which designs cannot be measured before the search."""
    if stage.name is None:
        rule = "a core that is measured has a name"
        reader.fault(("name",), rule, "add for instance `name: mac`", "it is missing")
    if not stage.parameters:
        rule = "designs of a core that is measured differ in parameters, and it has none"
        reader.fault(("parameters",), rule, "add for instance `parameters: {unroll: [1, 2]}`")
    if section.repeats > 1:
        rule = "each design of a core is measured once"
        reader.fault(("core", "repeats"), rule, "remove it, or give the study an `evaluate:`")
    if stage.fleet == "mixed" and stage.takes_least:
        rule = "how many instances are needed is not known before designs are measured"
        remedy = "give a range, for instance `instances: {from: 0, to: 4}`"
        reader.fault(("instances",), rule, remedy, "" if stage.instances else "it is missing")


def _usable(stage: schema.StageSection, names: Sequence[str]) -> list[int]:
    """Return which designs a stage may use; all where it names one that there is not."""
    wanted = {*((stage.designs if stage.counts is None else stage.counts) or names)}
    return [row for row, name in enumerate(names) if name in wanted or not wanted <= {*names}]


def _recorded(bench: Bench, designs: Sequence[Design]) -> list[bool]:
    """Return which designs a run has measured; all where it may go on, or has measured none."""
    if not isinstance(bench.evaluator, RecordedEvaluator) or not bench.seen:
        return [True] * len(designs)
    return [found is not UNKNOWN for found in bench.measurements(designs, ask=False)]


def _kept(core: MeasuredCore, reader: Reader) -> list[tuple[str, Measurement]]:
    """Return the designs that are measured, or may be; note those that failed, or lack.

    Raises
    ------
    MeasurementError
        A run that is over measured none of them.
    """
    found = core.bench.measurements(core.designs, ask=False)
    kept, notes = [], reader.notes
    if not any(measurement.has_values or measurement is UNKNOWN for measurement in found):
        if isinstance(core.bench.evaluator, RecordedEvaluator):
            raise MeasurementError(
                f"{core.stage}: no design is measured that it may use; only `dse run` measures "
                f"designs"
            )
        return [(name, UNKNOWN) for name in core.names]  # a run says why, or measures them again
    for name, measurement in zip(core.names, found, strict=True):
        if measurement is UNKNOWN or measurement.has_values:
            kept.append((name, measurement))
        else:
            fate = "failed, and nothing is known of it" if measurement.failed else "is infeasible"
            notes.append(f"{core.stage}: {name} {fate}: {measurement.cause}")
    if UNKNOWN in found:
        missing = found.count(UNKNOWN)
        notes.append(
            f"{core.stage}: figures of {missing:,} of its designs are unknown until the run "
            f"measures them"
        )
    if core.unmeasured:
        size = len(found) + len(core.unmeasured)
        notes.append(
            f"{core.stage}: {len(found):,} of {size:,} designs are measured; results compare "
            f"these alone, the others are unknown"
        )
    return kept


def _table(core: MeasuredCore, kept: Sequence[tuple[str, Measurement]]) -> bytes:
    """Return designs and their figures as CSV in SI."""
    outputs = [*core.bench.evaluator.outputs]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["design", *outputs])
    for name, measurement in kept:
        known = measurement.values
        writer.writerow(
            [name, *(repr(float(known[one])) if known else UNMEASURED for one in outputs)]
        )
    return text.getvalue().encode()


def _name(design: Design, unit_names: Mapping[str, str]) -> str:
    """Return what a design is called: ``unroll4_clock400MHz_wide``."""
    parts = (
        value if isinstance(value, str) else f"{name}{axis_value_text(value, unit_names.get(name))}"
        for name, value in design.items()
    )
    return "_".join(parts).replace(" ", "").replace("/", "_per_")


def designs_lacking(
    cores: Sequence[MeasuredCore], space: Space, measured: MeasuredColumns | None
) -> tuple[int, int, MeasuredColumns | None]:
    """Return how many designs a space lacks as those of cores are not measured, and failed.

    And what is measured of the others: none is excluded before while cores have no figures.
    """
    more = _size_with(cores, space, [len(core.unmeasured) for core in cores])
    both = _size_with(cores, space, [len(core.unmeasured) + core.failed for core in cores])
    if measured is not None and not all(core.measured for core in cores):
        measured = replace(measured, judged_before=False)
    return more - space.size, both - more, measured


def _size_with(cores: Sequence[MeasuredCore], space: Space, more: Sequence[int]) -> int:
    """Return how large a space would be whose cores had so many more designs."""
    sizes = {axis.name: axis.size for axis in space.axes}
    whole = space.size
    for core, count in zip(cores, more, strict=True):
        if f"{core.stage}.design" in sizes:
            there = sizes[f"{core.stage}.design"]
            whole = whole // there * (there + count)
        else:  # mixed: each design has as many counts as any
            axes = (f"{core.stage}.{name}" for name in core.names)
            counts = next(sizes[name] for name in axes if name in sizes)
            whole *= counts**count
    return whole


def measuring_lines(
    problem: Problem,
    settings: SearchSettings,
    cores: Sequence[MeasuredCore],
    section: schema.EvaluateSection | None,
    each: str,
) -> Iterator[str]:
    """Yield what measures the designs of a study and of its cores; nothing where nothing does.

    `each` is what is said of counts where the study runs for each value of a sweep.
    """
    for core in cores:
        count = f"all {len(core.designs):,} designs, before the search"
        yield from _measured_by(f"measured of {core.stage}", core.bench, count)
        yield from most_spent(core.section, settings, len(core.designs), None, "")
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
    for number, one in enumerate(measured.cheaper, 1):
        up_to = f"up to about {most / one.cost_share:,.0f} designs, to choose by"
        yield from _measured_by(f"level {number}", one.bench, up_to)
    yield from most_spent(section, settings, most, measured.bench.cost, each)


def _measured_by(what: str, bench: Bench, most: str) -> Iterator[str]:
    """Yield what a bench measures, of how many designs at most, and how."""
    outputs = bench.evaluator.outputs.items()
    named = ", ".join(f"{stem(name) or name} [{unit or '1'}]" for name, unit in outputs)
    parts = json.loads(bench.evaluator.identity).items()
    yield f"{what}: {named}; {most}"
    yield f"{what} by: {'; '.join(f'{name} {json.dumps(part)}' for name, part in parts)}"
