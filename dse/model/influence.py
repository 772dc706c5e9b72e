"""In which direction each figure of a fleet matters to the losses of a study.

The figures of a fleet that a study can tell apart are its traits: stage columns, and quantities
of stage columns alone whose values for single stages make up that of the chain
(`Objective.over_stages`).  A trait that only lower values can improve is wanted low.  A fleet
whose traits are at least as good as another's in the wanted directions is as good a choice in
every design that reaches the demand, because each quantity rises and falls as declared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce

import numpy as np
from numpy.typing import NDArray

from dse.algebra.expression_bounds import wanted
from dse.contract import Column, Guard, Objective, Requirement
from dse.model.bounds import MARGIN, STAGE_CAPACITY, Bounds, Columns
from dse.model.fleet import STAGE_COLUMNS, Fleet
from dse.model.graph import Step

Traits = Mapping[str, Column]
"""The traits of fleets of one stage, by name."""

Wants = Mapping[str, NDArray[np.bool_]]
"""Whether low (first row) and high values (second row) are wanted, (2, scenarios), by name."""

JOINS = {"sum": np.add, "least": np.minimum, "largest": np.maximum}


@dataclass(frozen=True)
class Influence:
    """What matters to the losses of the problem that `bounds` is of."""

    bounds: Bounds

    @cached_property
    def joined(self) -> Mapping[str, Step]:
        """Quantities whose values for single stages are traits."""
        return {
            step.name: step
            for step in self.bounds.problem.search_plan
            if _join(step) and set(step.arguments) <= set(STAGE_COLUMNS)
        }

    @cached_property
    def capacities(self) -> frozenset[str]:
        """Traits that are what a stage carries, of which the chain has the least."""
        return frozenset(
            name
            for name, step in self.joined.items()
            if step.arguments == (STAGE_CAPACITY,) and _join(step) == "least"
        )

    @cached_property
    def plain(self) -> tuple[str, ...]:
        """Stage columns that are traits themselves."""
        problem = self.bounds.problem
        steps = (*problem.search_plan, *problem.requirement_steps)
        used = {name for step in steps if step.name not in self.joined for name in step.arguments}
        return tuple(name for name in STAGE_COLUMNS if name in used)

    def traits(self, fleet: Fleet) -> dict[str, Column]:
        """Return the traits of fleets."""
        found = {name: fleet.column(name) for name in self.plain}
        for name, step in self.joined.items():
            found[name] = step.plugin.function(
                **{argument: (fleet.column(argument),) for argument in step.arguments}
            )
        return found

    def chain(self, stages: Sequence[Traits]) -> Columns:
        """Return what a chain of fleets offers to the quantities that are not traits."""
        columns: Columns = {name: tuple(stage[name] for stage in stages) for name in self.plain}
        for name, step in self.joined.items():
            columns[name] = reduce(JOINS[_join(step)], [stage[name] for stage in stages])
        return columns

    def enough(self, low: Columns, high: Columns) -> Column:
        """Return from which capacity on a stage cannot keep a design from the demand.

        For designs between `low` and `high`; infinite where that cannot be told.
        """
        bounds = self.bounds
        with np.errstate(all="ignore"):
            _, most, _ = bounds.intervals(low, high, {})
            level = bounds.floor(most, {}) * (1.0 + MARGIN)
            carrying = {name: np.maximum(low[name], level) for name in self.capacities}
            low, high, _ = bounds.intervals(low | carrying, high, {}, demanded=False)
            met = np.ones(1, dtype=bool)
            for step in filter(_demands, bounds.problem.requirement_steps):
                met = met & (bounds.largest_violation(step, low, high) <= 0)
        return np.where(met, level, np.inf)

    def wants(self, low: Columns, high: Columns, count: int) -> tuple[Wants, Wants]:
        """Return in which directions each trait matters, for each of `count` scenarios.

        For designs that reach what is demanded, and whose columns are between `low` and `high`:
        a quantity of only one value there, and a requirement that is always met, want nothing.
        The second answer wants also what helps designs to reach the demand.
        """
        problem = self.bounds.problem
        with np.errstate(all="ignore"):
            low, high, _ = self.bounds.intervals(low, high, {})
            want = {name: np.zeros((2, count), dtype=bool) for name in low}
            for goal in problem.goals:
                want[goal.name][int(goal.maximise)] = True
            for rule in problem.constraints:
                for name, lower, higher in wanted(rule.expression):
                    want[name] |= np.array([[lower], [higher]])
            for step in problem.requirement_steps:
                if not _demands(step):
                    missed = ~(self.bounds.largest_violation(step, low, high) <= 0)
                    _pass_on(step, _falling(missed, count), want, low)
            for step in reversed(problem.search_plan):
                want[step.name] = want[step.name] & (low[step.name] != high[step.name])
                if step.name not in self.joined:
                    _pass_on(step, want[step.name], want, low)
        helps = {name: np.zeros((2, count), dtype=bool) for name in low}
        for step in filter(_demands, problem.requirement_steps):
            _pass_on(step, _falling(np.ones(1, dtype=bool), count), helps, {})
        for step in reversed(problem.search_plan):
            if step.name not in self.joined:
                _pass_on(step, helps[step.name], helps, {})
        names = (*self.plain, *self.joined)
        return {name: want[name] for name in names}, {
            name: want[name] | helps[name] for name in names
        }


def _join(step: Step) -> str:
    """Return how values of stages become that of the chain, empty when they do not."""
    return step.plugin.over_stages if isinstance(step.plugin, Objective) else ""


def _demands(step: Step) -> bool:
    """Tell whether a requirement says what every feasible design reaches."""
    return isinstance(step.plugin, Requirement) and bool(step.plugin.at_least)


def _falling(missed: NDArray[np.bool_], count: int) -> NDArray[np.bool_]:
    """Return that low values are wanted in scenarios where a requirement may be missed."""
    here = np.zeros((2, count), dtype=bool)
    here[0] = missed
    return here


def _pass_on(
    step: Step, here: NDArray[np.bool_], want: dict[str, NDArray[np.bool_]], inputs: Columns
) -> None:
    """Let the arguments of a step be wanted as the step is."""
    plugin = step.plugin
    if isinstance(plugin, Guard):
        raise TypeError("guards want nothing")
    partial = isinstance(plugin, Objective) and plugin.partial
    settled = plugin.settled_while if isinstance(plugin, Objective) else {}
    for name in step.arguments:
        matters = here
        if name in settled and settled[name] in inputs:
            matters = here & ~(np.asarray(inputs[settled[name]]) > 0)
        if name in plugin.rises_with and not partial:
            want[name] = want[name] | matters
        elif name in plugin.falls_with and not partial:
            want[name] = want[name] | matters[::-1]
        else:
            want[name] = want[name] | matters.any(axis=0)
