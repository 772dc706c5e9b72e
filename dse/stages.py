"""From the stages of a study to fleets: which designs, how many, at which clock."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dse import contract, plugins, schema
from dse.axes import choices, counted, expand, parameter_values
from dse.errors import UnitError, nearest
from dse.faults import Faults, Path
from dse.fleet import ROUNDING, Designs, Stage, check_metrics
from dse.scenario import Scenario
from dse.space import Axis

MOST_DESIGNS = 100_000
"""Most designs of one stage."""


@dataclass(frozen=True)
class Built:
    """A stage ready for evaluation, the axes it opens, and how clock and count are chosen."""

    stage: Stage
    axes: tuple[Axis, ...]
    meet: bool
    counts_compute_alone: bool = False


def build(study: schema.Study, scenario: Scenario, faults: Faults) -> list[Built]:
    """Return the stages of a study; what is wrong with them goes to `faults`."""
    built = []
    names: set[str] = set()
    for position, written in enumerate(study.stages):
        path = ("stages", position)
        name = written.name or written.core
        if name in names:
            faults.add(
                path,
                f"two stages are called {name!r}",
                f"give this one a name, for instance `name: {name}_{position + 1}`",
                "",
            )
        names.add(name)
        designs = _designs(written, scenario, path, faults)
        if designs is not None:
            built.append(_stage(name, written, designs, scenario, faults, path))
    if any(part.counts_compute_alone for part in built) and (
        "interface_in_flight" in scenario.names or scenario.constants.get("workload_chained")
    ):
        scenario.notes.append(
            "the number of instances is chosen by compute alone; behind an interface or in a "
            "chained mode more may be needed, or pay: give `instances` a range to try them"
        )
    policies = {stage.meet for stage in built}
    if len(policies) > 1:
        faults.add(
            ("stages",),
            "some stages clock to meet the rate and others at a fraction",
            "use `clock: meet` for all of them, or a fraction for all",
            "",
        )
    return built


def _designs(
    written: schema.Stage, scenario: Scenario, path: Path, faults: Faults
) -> Designs | None:
    """Return the designs that a stage chooses from."""
    before = len(faults.found)
    core = model = None
    with faults.at((*path, "core")):
        core = plugins.get(contract.Core, written.core)
    if core is None:
        return None
    model = core.models.get(written.model)
    if model is None:
        remedy = nearest(written.model, core.models)
        faults.add((*path, "model"), f"core {core.name!r} has no model of this name", remedy)
        return None
    values = _parameters(model, written, scenario, path, faults)
    if len(faults.found) > before:
        return None
    names, metrics = _evaluate_model(model, values)
    check_metrics(core.name, names, metrics)
    return _chosen(Designs(names, metrics), written, path, faults)


def _parameters(
    model: contract.Model,
    written: schema.Stage,
    scenario: Scenario,
    path: Path,
    faults: Faults,
) -> dict[str, list[float]]:
    known = {parameter.name: parameter for parameter in model.parameters}
    for name in written.parameters:
        if name not in known:
            faults.add(
                (*path, "parameters", name),
                f"model {written.model!r} of core {written.core!r} has no such parameter",
                nearest(name, known),
                repr(name),
            )
    values: dict[str, list[float]] = {}
    for name, parameter in known.items():
        where = (*path, "parameters", name)
        if name in written.parameters:
            with faults.at(where):
                values[name] = parameter_values(parameter, written.parameters[name])
                _note_range(written.core, parameter, values[name], scenario)
        elif parameter.default is not None:
            values[name] = [parameter.default]
        else:
            fitted = f"{{from: {parameter.low:g}, to: {parameter.high:g}}}"
            faults.add(
                (*path, "parameters"),
                f"model {written.model!r} needs the parameter {name!r}",
                f"add `{name}: {fitted}`, the range it was fitted on",
                "it is missing",
            )
    if math.prod(len(entry) for entry in values.values()) > MOST_DESIGNS:
        faults.add(
            (*path, "parameters"), f"more than {MOST_DESIGNS:,} designs in one stage", "use fewer"
        )
    return values


def _note_range(
    core: str, parameter: contract.Parameter, values: Sequence[float], scenario: Scenario
) -> None:
    """Say which values lie outside the range that a model was fitted on or makes sense for."""
    outside = [f"{value:g}" for value in values if not parameter.low <= value <= parameter.high]
    if outside:
        shown = ", ".join(outside[:8]) + (", ..." if len(outside) > 8 else "")
        scenario.notes.append(
            f"{core}: {parameter.name} = {shown} is extrapolated, outside "
            f"{parameter.low:g} to {parameter.high:g}"
        )


def _evaluate_model(
    model: contract.Model, values: dict[str, list[float]]
) -> tuple[tuple[str, ...], contract.CoreMetrics]:
    """Return the designs of every combination of parameters.

    A law gives one design per combination, a table all its rows for each.
    """
    grid = list(itertools.product(*values.values()))
    shown = [
        {name: f"{value:.12g}" for name, value in zip(values, row, strict=True)} for row in grid
    ]
    if not model.designs:
        columns = {name: np.array([row[k] for row in grid]) for k, name in enumerate(values)}
        names = tuple(model.design_name.format(**row) for row in shown)
        return _distinct(names, shown, values), model.function(**columns)
    parts = [
        model.function(**{name: np.array([value]) for name, value in zip(values, row, strict=True)})
        for row in grid
    ]
    names = tuple(design for _ in grid for design in model.designs)
    rows = [row for row in shown for _ in model.designs]
    return _distinct(names, rows, values), _concatenated(parts)


def _concatenated(parts: Sequence[contract.CoreMetrics]) -> contract.CoreMetrics:
    fields = contract.CoreMetrics.__dataclass_fields__
    return contract.CoreMetrics(
        **{name: np.concatenate([getattr(part, name) for part in parts]) for name in fields}
    )


def _distinct(
    names: tuple[str, ...], rows: list[dict[str, str]], values: dict[str, list[float]]
) -> tuple[str, ...]:
    """Append to design names the options that vary besides the parameters they show."""
    if len(set(names)) == len(names):
        return names
    varying = [name for name, entry in values.items() if len(entry) > 1]
    return tuple(
        "_".join([name, *(f"{option}{row[option]}" for option in varying)])
        for name, row in zip(names, rows, strict=True)
    )


def _chosen(designs: Designs, written: schema.Stage, path: Path, faults: Faults) -> Designs | None:
    wanted = list(written.designs or designs.names)
    if written.counts is not None:
        wanted = list(written.counts)
    where = (*path, "counts" if written.counts is not None else "designs")
    for position, name in enumerate(wanted):
        if name not in designs.names:
            place = (*where, name) if written.counts is not None else (*where, position)
            rule = f"stage {written.core!r} has no such design"
            faults.add(place, rule, nearest(name, designs.names), repr(name))
        elif name in wanted[:position]:
            faults.add((*where, position), f"{name!r} stands twice", "write it once", "")
    if len(set(wanted)) < len(wanted) or not set(wanted) <= set(designs.names):
        return None
    rows = np.array([designs.names.index(name) for name in wanted])
    fields = contract.CoreMetrics.__dataclass_fields__
    metrics = {name: getattr(designs.metrics, name)[rows] for name in fields}
    return Designs(tuple(wanted), contract.CoreMetrics(**metrics))


def _stage(
    name: str,
    written: schema.Stage,
    designs: Designs,
    scenario: Scenario,
    faults: Faults,
    path: Path,
) -> Built:
    rate = scenario.highest("workload_rate_bit_per_s")
    clock, meet = _clock(name, written, rate, faults, (*path, "clock"))
    axes: list[Axis] = list(clock)
    if written.counts is not None:
        stage = Stage(name, designs, mixed=True)
        axes += [
            counted(f"{name}.{design}", [count], f"{name}.{design}")
            for design, count in written.counts.items()
        ]
        return Built(stage, tuple(axes), meet)
    instances = _instances(written, faults, (*path, "instances"), rate)
    if written.fleet == "mixed":
        axes += _mixed_axes(name, designs, instances, rate, clock)
    else:
        column = np.arange(len(designs.names), dtype=np.float64)
        axes.append(choices(f"{name}.design", {f"{name}.design": column}, designs.names))
        if instances is not None:
            axes.append(counted(f"{name}.instances", instances, f"{name}.instances"))
    stage = Stage(name, designs, written.fleet == "mixed")
    return Built(stage, tuple(axes), meet, counts_compute_alone=instances is None)


def _mixed_axes(
    name: str,
    designs: Designs,
    instances: Sequence[float] | None,
    rate: float | None,
    clock: Sequence[Axis],
) -> list[Axis]:
    """Return a count axis per design: as written, or up to what carries the rate alone."""
    slowest = min((axis.columns[axis.unit_name].min() for axis in clock), default=1.0)
    axes = []
    for design, bandwidth in zip(designs.names, designs.bandwidth_bit_per_s, strict=True):
        counts = instances
        if counts is None:
            most = math.ceil((rate or 0.0) / (bandwidth * slowest) * (1 - ROUNDING))
            counts = [float(count) for count in range(most + 1)]
        axes.append(counted(f"{name}.{design}", counts, f"{name}.{design}"))
    return axes


def _instances(
    written: schema.Stage, faults: Faults, path: Path, rate: float | None
) -> list[float] | None:
    """Return the instance counts to try; None stands for as many as the rate needs."""
    least = 0 if written.fleet == "mixed" else 1
    if written.instances is None or written.instances == "least":
        if rate is None:
            faults.add(
                path,
                "without workload.rate the number of instances is open",
                f"write for instance `instances: {{from: {least}, to: 8}}`, or set workload.rate",
            )
        return None if rate is not None else [1.0]

    def read(scalar: Any) -> float:
        if isinstance(scalar, bool) or not isinstance(scalar, int | float):
            raise UnitError(
                f"{scalar!r} is not a number of instances", "write whole numbers, or `least`"
            )
        if scalar != round(scalar) or scalar < least:
            raise UnitError(
                f"a number of instances is a whole number from {least}", f"write {least} or more"
            )
        return float(scalar)

    with faults.at(path):
        return expand(written.instances, read, integer=True)
    return [1.0]


def _clock(
    name: str, written: schema.Stage, rate: float | None, faults: Faults, path: Path
) -> tuple[list[Axis], bool]:
    """Return the axis of top clock fractions, and whether the clock meets the rate."""
    if written.clock is None or written.clock == "meet":
        if rate is None and written.clock == "meet":
            faults.add(path, "a clock can only meet a rate", "set workload.rate, or a fraction")
        return [], rate is not None

    def read(scalar: Any) -> float:
        if isinstance(scalar, bool) or not isinstance(scalar, int | float) or not 0 < scalar <= 1:
            raise UnitError(
                f"{scalar!r} is not a fraction of the top clock",
                "write fractions above 0 and up to 1, or `meet` alone",
            )
        return float(scalar)

    with faults.at(path):
        fractions = expand(written.clock, read, integer=False)
        return [counted(f"{name}.clock", fractions, f"{name}.clock")], False
    return [], False
