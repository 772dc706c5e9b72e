"""Monte Carlo samples of what a study is not sure of: factors on metrics of designs and on fields.

A metric with the relative standard uncertainty s is multiplied by a log-normal factor of mean 1
and standard deviation s, drawn for each metric of each design by itself; a field that each record
of an axis sets is drawn for each record, any other field once for all designs.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dse.contract import Column
from dse.errors import UnitError
from dse.model.evaluation import Evaluation
from dse.model.problem import Problem
from dse.model.space import Index, Space
from dse.model.stage import Stage
from dse.study.assumptions import growing_stages, regrown
from dse.study.demand import followers
from dse.study.study import Study
from dse.uncertainty.inputs import RATE, Uncertain

PACE = ("clock_hz", "cycles_per_task", "payload_bit")
"""Metrics that say how much an instance carries, and so how many may be needed."""

MOST_NUMBERS = 100_000_000


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
                for name in (entry.column, *followers(self.problem, entry.column)):
                    constants[name] = constants[name] * row
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
            for name in (entry.column, *followers(self.problem, entry.column)):
                changed[name] = changed.get(name, nominal[name]) * drawn
        return replace(self.problem, stages=tuple(stages)), changed


def _scaled(stage: Stage, metric: str, factors: Column) -> Stage:
    """Return a stage with one metric of its designs multiplied."""
    return stage.with_metrics(**{metric: getattr(stage.designs.metrics, metric) * factors})


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
    slowed, growing = [*problem.stages], set[str]()
    for number, stage in enumerate(problem.stages):
        paces = {metric: drawn[number, metric] for metric in PACE if (number, metric) in drawn}
        if rates or paces:
            growing.add(stage.name)
            slow = stage
            for metric, factor in paces.items():
                slow = _scaled(slow, metric, factor)
            bandwidth = slow.designs.bandwidth_bit_per_s.reshape(-1, len(stage.designs.names))
            share = bandwidth.min(axis=0) / stage.designs.bandwidth_bit_per_s
            slowed[number] = _scaled(stage, PACE[0], share)
    times = max((float(factor.max()) for factor in rates), default=1.0)
    slowest = replace(problem, stages=tuple(slowed))
    return replace(problem, space=regrown(slowest, growing & growing_stages(study), times).space)
