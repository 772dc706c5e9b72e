"""Cores whose designs are measured: a table of designs, of which a program fills in the figures."""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dse.contract.evaluators import Measurement
from dse.model.design_text import axis_value_text
from dse.model.measured import UNKNOWN, Bench, Design
from dse.model.space import Axis
from dse.study import schema
from dse.study.designs import MOST_DESIGNS
from dse.study.evaluate import bench_of, outputs_of
from dse.study.evaluator import evaluator_of
from dse.study.faults import Faults, Path
from dse.study.free_axes import free_axis, written_unit
from dse.study.scenario import Scenario

UNMEASURED = "1"
"""What stands for each figure of a core before it is measured, so that the rest can be checked."""


@dataclass(frozen=True)
class MeasuredCore:
    """The designs of a stage that are measured before a search starts, and how.

    Attributes
    ----------
    path
        Where the study says so.
    bench
        What is known of designs.
    designs
        All of them.
    section
        What the study says.
    """

    path: Path
    bench: Bench
    designs: Sequence[Design]
    section: schema.EvaluateSection

    @property
    def measured(self) -> bool:
        """Whether every design is measured."""
        return UNKNOWN not in self.bench.measurements(self.designs, ask=False)


def with_measured_cores(
    written: schema.StudyFile, scenario: Scenario, faults: Faults
) -> tuple[schema.StudyFile, tuple[MeasuredCore, ...]]:
    """Return a study whose measured cores are tables, and these cores; faults are added."""
    stages, cores = list(written.stages), []
    for position, stage in enumerate(written.stages):
        if isinstance(stage.core, schema.EvaluateSection):
            path = ("stages", position)
            core = _core(stage, stage.core, path, scenario, faults)
            faults.raise_any()
            if core is not None:
                cores.append(core)
                file = f"{stage.name}.csv"
                contents = {**faults.document.contents, file: _table(stage, core, scenario)}
                faults.document = replace(faults.document, contents=contents)
                table: dict[str, Any] = {"core": None, "table": file, "parameters": {}}
                stages[position] = stage.model_copy(update=table)
    return written.model_copy(update={"stages": stages}), tuple(cores)


def _core(
    stage: schema.StageSection,
    section: schema.EvaluateSection,
    path: Path,
    scenario: Scenario,
    faults: Faults,
) -> MeasuredCore | None:
    if stage.name is None:
        rule = "a core that is measured has a name"
        faults.add((*path, "name"), rule, "add for instance `name: mac`", "it is missing")
    if not stage.parameters:
        rule = "designs of a core that is measured differ in parameters, and it has none"
        faults.add((*path, "parameters"), rule, "add for instance `parameters: {unroll: [1, 2]}`")
    axes: list[Axis] = []
    for name, values in stage.parameters.items():
        axes += free_axis(name, values, (), faults, (*path, "parameters", name))
    where = (*path, "core")
    outputs = outputs_of(section, where, faults, known=())
    told = {
        axis.name: written_unit(stage.parameters[axis.name]) if axis.ordered else None
        for axis in axes
    }
    evaluator = evaluator_of(section, outputs.units, told, scenario, where, faults)
    grid = 1
    for axis in axes:
        grid *= axis.size
    if grid > MOST_DESIGNS:
        rule = f"more than {MOST_DESIGNS:,} designs in one stage"
        faults.add((*path, "parameters"), rule, "use fewer")
    if evaluator is None or grid > MOST_DESIGNS:
        return None
    columns = [[_value(axis, choice) for choice in range(axis.size)] for axis in axes]
    names = [axis.name for axis in axes]
    designs = [dict(zip(names, row, strict=True)) for row in itertools.product(*columns)]
    bench = bench_of(evaluator, section.on_failure, faults.document, axes)
    return MeasuredCore(where, bench, designs, section)


def _value(axis: Axis, choice: int) -> float | str:
    if not axis.ordered:
        return str(axis.labels[choice])
    return float(axis.columns[axis.unit_name][choice])


def _table(stage: schema.StageSection, core: MeasuredCore, scenario: Scenario) -> bytes:
    """Return the designs that are measured, or may be, as CSV in SI; note those that failed."""
    outputs, units = [*core.bench.evaluator.outputs], core.bench.unit_names
    found = core.bench.measurements(core.designs, ask=False)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["design", *outputs])
    for design, measurement in zip(core.designs, found, strict=True):
        if measurement is UNKNOWN or not measurement.failed:
            writer.writerow([_name(design, units), *_figures(measurement, outputs)])
        else:
            said = f"{stage.name}: {_name(design, units)} could not be measured and is left out"
            scenario.notes.append(f"{said}: {measurement.cause}")
    if UNKNOWN in found:
        missing = found.count(UNKNOWN)
        scenario.notes.append(
            f"{stage.name}: figures are unknown until the run starts, which first measures "
            f"{missing:,} of its designs"
        )
    return text.getvalue().encode()


def _figures(measurement: Measurement, outputs: Sequence[str]) -> list[str]:
    known: Mapping[str, float] = measurement.values
    return [repr(float(known[name])) if known else UNMEASURED for name in outputs]


def _name(design: Design, unit_names: Mapping[str, str]) -> str:
    """Return what a design is called: ``unroll4_clock400MHz_wide``."""
    parts = (
        value if isinstance(value, str) else f"{name}{axis_value_text(value, unit_names.get(name))}"
        for name, value in design.items()
    )
    return "_".join(parts).replace(" ", "").replace("/", "_per_")
