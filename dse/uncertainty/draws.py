"""Monte Carlo samples of what a study is not sure of: factors on metrics of designs and on fields.

A metric with the relative standard uncertainty s is multiplied by a log-normal factor of mean 1
and standard deviation s, drawn for each metric of each design by itself; a field that each record
of an axis sets is drawn for each record, any other field once for all designs.
"""

from __future__ import annotations

import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dse.algebra import units
from dse.contract import Column, CoreMetrics
from dse.errors import UnitError, nearest
from dse.model.problem import Evaluation, Problem
from dse.model.space import Axis, Index, Space
from dse.model.stage import Stage
from dse.study import schema, uncertain
from dse.study.assumptions import column_path, growing_stages, highest_rate
from dse.study.stages import mixed_axes
from dse.study.study import Study

RATE = "workload.rate"
SHORT = {"rate": RATE}
EXAMPLE = "area=10 %"
"""Short names of fields."""

PACE = ("clock_hz", "cycles_per_task", "payload_bit")
"""Metrics that say how much an instance carries, and so how many may be needed."""

MOST_NUMBERS = 100_000_000


@dataclass(frozen=True)
class Uncertain:
    """Numbers of a study that are not sure.

    Attributes
    ----------
    name
        Dotted path: ``<stage>.<metric>`` or a field of the study.
    column
        The metric or the column.
    share
        Relative standard uncertainty of each design, or of each value of `axis`; of one number.
    stage
        Index of the stage whose designs have the metric; None for a field.
    axis
        Index of the axis whose values set the column; None when the study itself does.
    """

    name: str
    column: str
    share: Column
    stage: int | None = None
    axis: int | None = None

    def factors(self, draws: int, seed: int) -> Column:
        """Return what multiplies the numbers, (draws, len(share)).

        The first rows of many are those of few, whatever else is drawn.
        """
        key = zlib.crc32(f"{self.name} {self.column if self.stage is not None else ''}".encode())
        normal = np.random.default_rng([seed, key]).standard_normal((draws, len(self.share)))
        sigma = np.sqrt(np.log1p(self.share**2))
        return np.exp(sigma * normal - sigma**2 / 2)


def uncertain_of(study: Study, options: Mapping[str, float]) -> tuple[Uncertain, ...]:
    """Return what is uncertain: what stages and records state, and `options`, which come first.

    Raises
    ------
    UnitError
        When an option names nothing that the study has as a single number.
    """
    stages = study.problem.stages
    stated = {
        (number, metric): share
        for number, stage in enumerate(stages)
        for metric, share in stage.designs.uncertainty.items()
    }
    fields = list(_of_records(study, {SHORT.get(path, path) for path in options}))
    for path, share in options.items():
        designs = _metrics(stages, path)
        for number, metric in designs:
            stated[number, metric] = np.full(len(stages[number].designs.names), share)
        if not designs:
            fields += _fields(study.problem, SHORT.get(path, path), share)
    metrics = [
        Uncertain(f"{stages[number].name}.{units.stem(metric) or metric}", metric, share, number)
        for (number, metric), share in sorted(stated.items())
    ]
    return (*metrics, *fields)


def _of_records(study: Study, given: Collection[str]) -> Iterator[Uncertain]:
    """Yield the columns that records state an uncertainty of, unless the study sets them again."""
    axes = study.problem.space.axes
    paths = [column_path(column) for _, column in study.sureness.shares]
    for (name, column), shares in study.sureness.shares.items():
        setters = [number for number, axis in enumerate(axes) if column in axis.columns]
        last = setters[-1] if setters else None
        path = column_path(column)
        if path not in given and name == ("" if last is None else axes[last].name):
            called = path if paths.count(path) == 1 else f"{path}_{units.suffix(column)}"
            yield Uncertain(called, column, shares, axis=last)


def _metrics(stages: Sequence[Stage], path: str) -> list[tuple[int, str]]:
    """Return the metrics that a path means: of all stages, or of the one it begins with."""
    if path in SHORT:
        return []
    first, _, rest = path.partition(".")
    name = rest if any(stage.name == first for stage in stages) else path
    named = [n for n, stage in enumerate(stages) if name == path or stage.name == first]
    return [
        (number, metric)
        for number in named
        for metric in uncertain.STATED.get(name, ())
        if stages[number].designs.has_figures(metric)
    ]


def _fields(problem: Problem, path: str, share: float) -> list[Uncertain]:
    """Return the columns of a field that the study or its records set."""
    unit = schema.FIELDS.get(path)
    if unit is None:
        rule = f"uncertainty of {path!r}: no metric of a core and no field with a unit"
        raise UnitError(rule, nearest(path, _known(problem)))
    found = []
    axes = problem.space.axes
    for column in unit.columns:
        setters = [number for number, axis in enumerate(axes) if column in axis.columns]
        if setters and axes[setters[-1]].unit_name == column and axes[setters[-1]].size > 1:
            rule = f"uncertainty of {path!r}: the study chooses it, so it is no assumption"
            raise UnitError(rule, f"leave it out, or set {path}")
        if setters:
            last = setters[-1]
            found.append(Uncertain(path, column, np.full(axes[last].size, share), axis=last))
        elif column in problem.space.constants:
            found.append(Uncertain(path, column, np.full(1, share)))
    if not found or unit.integer:
        rule = "is a whole number" if unit.integer else "is not set by this study"
        raise UnitError(f"uncertainty of {path!r}: it {rule}", nearest(path, _known(problem)))
    return found


def _known(problem: Problem) -> list[str]:
    """Return what an uncertainty may be given for."""
    names = [*uncertain.STATED] if problem.stages else []
    return names + [
        path
        for path, unit in schema.FIELDS.items()
        if unit and not unit.integer and set(unit.columns) & problem.available
    ]


@dataclass(frozen=True)
class Draws:
    """A study sampled many times.

    Attributes
    ----------
    problem
        The nominal one; a mixed fleet may have as many instances as the highest drawn demand needs.
    uncertain, factors
        What is drawn, and the factors, (count, k) each.
    count
        How many samples.
    """

    problem: Problem
    uncertain: tuple[Uncertain, ...]
    factors: tuple[Column, ...]
    count: int

    def at(self, draw: int) -> Problem:
        """Return the problem of one sample."""
        space, stages = self.problem.space, list(self.problem.stages)
        constants, axes = dict(space.constants), list(space.axes)
        for entry, factors in zip(self.uncertain, self.factors, strict=True):
            row = factors[draw]
            if entry.stage is not None:
                stages[entry.stage] = _scaled(stages[entry.stage], entry.column, row)
            elif entry.axis is not None:
                columns = axes[entry.axis].columns
                changed = {entry.column: columns[entry.column] * row}
                axes[entry.axis] = replace(axes[entry.axis], columns={**columns, **changed})
            else:
                constants[entry.column] = constants[entry.column] * row
        return replace(self.problem, space=Space(tuple(axes), constants), stages=tuple(stages))

    def extremes(self, most: int) -> list[int]:
        """Return the samples with the least and the largest factor of each number, up to `most`."""
        ends = [
            int(end)
            for factors in self.factors
            for column in factors.T
            for end in (column.argmin(), column.argmax())
        ]
        return list(dict.fromkeys(ends))[:most]

    def evaluate(self, index: Index, part: slice) -> Evaluation:
        """Evaluate designs (n, d) in some samples: len(part) * n results, sample after sample."""
        problem, changed = self._part(index, part)
        return problem.evaluate(index, changed, draws=len(range(self.count)[part]))

    def columns(self, index: Index, part: slice, wanted: Iterable[str]) -> dict[str, Any]:
        """Return columns of designs (n, d) in some samples, as they broadcast to (samples, n)."""
        problem, changed = self._part(index, part)
        return problem.columns(index, wanted, changed)

    def _part(self, index: Index, part: slice) -> tuple[Problem, dict[str, Column]]:
        stages = list(self.problem.stages)
        nominal = self.problem.space.columns(index)
        changed: dict[str, Column] = {}
        for entry, factors in zip(self.uncertain, self.factors, strict=True):
            drawn = factors[part]
            if entry.stage is not None:
                stages[entry.stage] = _scaled(stages[entry.stage], entry.column, drawn)
                continue
            if entry.axis is not None:
                drawn = np.take(drawn, index[:, entry.axis], axis=-1)
            changed[entry.column] = nominal[entry.column] * drawn
        return replace(self.problem, stages=tuple(stages)), changed


def _scaled(stage: Stage, metric: str, factors: Column) -> Stage:
    """Return a stage with one metric of its designs multiplied."""
    metrics: CoreMetrics = stage.designs.metrics
    changed = replace(metrics, **{metric: getattr(metrics, metric) * factors})
    return replace(stage, designs=replace(stage.designs, metrics=changed))


def draw_study(study: Study, found: tuple[Uncertain, ...], count: int, seed: int) -> Draws:
    """Sample what is uncertain `count` times.

    Raises
    ------
    UnitError
        When that is more numbers than fit into memory.
    """
    numbers = count * sum(len(entry.share) for entry in found)
    if numbers > MOST_NUMBERS:
        rule = f"{count:,} samples of {numbers // count:,} uncertain numbers are too many"
        raise UnitError(rule, f"ask for {MOST_NUMBERS * count // numbers:,} samples or fewer")
    factors = tuple(entry.factors(count, seed) for entry in found)
    return Draws(_widened(study, found, factors), found, factors, count)


def _widened(study: Study, found: tuple[Uncertain, ...], factors: tuple[Column, ...]) -> Problem:
    """Return the problem with as many instances to choose from as any sample needs."""
    problem = study.problem
    drawn = dict(zip(((entry.stage, entry.column) for entry in found), factors, strict=True))
    rates = [factor for entry, factor in zip(found, factors, strict=True) if entry.name == RATE]
    grown: dict[str, Axis] = {}
    growing = growing_stages(study)
    for number, stage in enumerate(problem.stages):
        paces = {metric: drawn[number, metric] for metric in PACE if (number, metric) in drawn}
        if stage.name not in growing or not (rates or paces):
            continue
        slow = stage
        for metric, factor in paces.items():
            slow = _scaled(slow, metric, factor)
        worst = slow.designs.bandwidth_bit_per_s.reshape(-1, len(stage.designs.names)).min(axis=0)
        share = worst / stage.designs.bandwidth_bit_per_s
        rate = highest_rate(problem) * max((float(factor.max()) for factor in rates), default=1.0)
        clock = [axis for axis in problem.space.axes if axis.name == f"{stage.name}.clock"]
        slowest = _scaled(stage, PACE[0], share).designs
        grown |= {axis.name: axis for axis in mixed_axes(stage.name, slowest, None, rate, clock)}
    axes = tuple(grown.get(axis.name, axis) for axis in problem.space.axes)
    return replace(problem, space=Space(axes, problem.space.constants))


def read_shares(written: Mapping[str, str]) -> dict[str, float]:
    """Read percentages by path.

    Raises
    ------
    UnitError
        When one is no percentage.
    """
    found = {}
    for path, value in written.items():
        if not value.endswith("%"):
            rule = f"the uncertainty of {path!r} is {value!r}: it must be a percentage"
            raise UnitError(rule, f"write for instance {EXAMPLE}")
        try:
            found[path] = uncertain.share(value)
        except UnitError as error:
            rule = f"the uncertainty of {path!r} is {value!r}: {error.rule}"
            raise UnitError(rule, error.remedy) from error
    return found
