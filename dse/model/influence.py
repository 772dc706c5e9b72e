"""Directions in which metrics of a fleet improve the losses of a study.

The traits of a fleet are its distinguishable metrics: stage columns, and quantities
whose values for single stages compose the value of the chain (`Objective.over_stages`), if
all their other arguments are settled.  If only lower values of a trait can improve a loss, it is
wanted low.  A fleet whose traits are at least as good as another's in the wanted directions is as
good a choice in every design that reaches the demand, because each quantity rises and falls as
declared.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.algebra.enclosure import Enclosure, ends
from dse.algebra.expression import Expression
from dse.contract import Column, Guard, Objective, Requirement
from dse.model.bounds import MARGIN, Bounds, enclosure, largest_violation
from dse.model.fleet import STAGE_CAPACITY, STAGE_COLUMNS, Fleet, Traits
from dse.model.graph import Step
from dse.model.stage import Columns

Wants = Mapping[str, NDArray[np.bool_]]
"""Wanted directions by name, (2, scenarios): low values (first row), high values (second row)."""

JOINS = {"sum": np.add, "least": np.minimum, "largest": np.maximum}


@dataclass(frozen=True)
class Influence:
    """Influence of traits on the losses of the problem of `bounds`.

    `settled` are quantities that are the same in every design that reaches the demand.
    """

    bounds: Bounds
    settled: Mapping[str, Column] = field(default_factory=dict)

    @cached_property
    def joined(self) -> Mapping[str, Step]:
        """Return the quantities whose values for single stages are traits."""
        known = {*STAGE_COLUMNS, *self.settled}
        return {
            step.name: step
            for step in self.bounds.problem.search_plan
            if _join(step) and set(step.arguments) <= known
        }

    @cached_property
    def capacities(self) -> frozenset[str]:
        """Return the traits that are the capacity of a stage, whose least is the chain's."""
        return frozenset(
            name
            for name, step in self.joined.items()
            if step.arguments == (STAGE_CAPACITY,) and _join(step) == "least"
        )

    @cached_property
    def metrics(self) -> tuple[str, ...]:
        """Return the stage columns that are traits themselves."""
        problem = self.bounds.problem
        steps = (*problem.search_plan, *problem.requirement_steps)
        used = {name for step in steps if step.name not in self.joined for name in step.arguments}
        return tuple(name for name in STAGE_COLUMNS if name in used)

    def over_stages(self, name: str) -> str:
        """Return the composition of stage values into the chain's, or empty for stage columns."""
        return _join(self.joined[name]) if name in self.joined else ""

    def traits(self, fleet: Fleet) -> dict[str, Column]:
        """Return the traits of fleets, enclosed if counts are."""
        found = {name: fleet.column(name) for name in self.metrics}
        for name, step in self.joined.items():
            given = {
                argument: self.settled[argument]
                if argument in self.settled
                else (fleet.column(argument),)
                for argument in step.arguments
            }
            found[name] = step(given) if fleet.opened is None else enclosure(step, given)
        return found

    def columns(self, wanted: Mapping[str, tuple[bool, bool]]) -> dict[str, tuple[bool, bool]]:
        """Return the wanted directions (low, high) of stage columns from the wanted traits."""
        want = {name: np.zeros((2, 1), dtype=bool) for name in STAGE_COLUMNS}
        for trait, directions_ in wanted.items():
            here = np.array(directions_)[:, np.newaxis]
            if trait in self.joined:
                step = self.joined[trait]
                others = {name: np.zeros((2, 1), dtype=bool) for name in step.arguments}
                _pass_on(step, here, others, {})
                for name in set(others) & set(want):
                    want[name] |= others[name]
            else:
                want[trait] |= here
        return {name: (bool(low), bool(high)) for name, (low, high) in want.items()}

    def _undemanded(self, columns: Columns) -> Columns:
        """Return `columns` without enclosures that hold only for designs that reach the demand."""
        anything = Enclosure(np.full(1, -np.inf), np.full(1, np.inf))
        loose = {
            name: anything
            for name, step in self.joined.items()
            if not set(step.arguments) <= set(STAGE_COLUMNS)
        }
        return columns | loose

    def enclosed_chain(self, lows: Sequence[Traits], highs: Sequence[Traits]) -> Columns:
        """Return the columns of chains of fleets whose traits lie between two ends."""
        pairs = list(zip(lows, highs, strict=True))
        columns: Columns = {
            name: tuple(_between(low[name], high[name]) for low, high in pairs)
            for name in self.metrics
        }
        for name, step in self.joined.items():
            join = JOINS[_join(step)]
            least = reduce(join, [low[name] for low, _ in pairs])
            exact = all(low[name] is high[name] for low, high in pairs)
            most = least if exact else reduce(join, [high[name] for _, high in pairs])
            columns[name] = _between(least, most)
        return columns

    def enough(self, columns: Columns) -> Column:
        """Return the capacity above which a stage cannot keep a design from the demand.

        For designs within `columns`.  Infinite if it is unknown.
        """
        bounds = self.bounds
        with np.errstate(all="ignore"):
            most = bounds.enclosed(columns)
            highest = (one if isinstance(one, tuple) else ends(one)[1] for one in most.values())
            level = bounds.floor(dict(zip(most, highest, strict=True)))
            level = level * (1.0 + MARGIN)
            carrying = {}
            for name in self.capacities:
                low, high = ends(columns[name])
                carrying[name] = Enclosure(np.maximum(low, level), high)
            free = self._undemanded(columns | carrying)
            columns = bounds.enclosed(free, demanded=False)
            met = np.ones(1, dtype=bool)
            for step in filter(_demands, bounds.problem.requirement_steps):
                met = met & (largest_violation(step, columns) <= 0)
        return np.where(met, level, np.inf)

    def wants(self, columns: Columns, count: int) -> tuple[Wants, Wants]:
        """Return the wanted directions of each trait, for each of `count` scenarios.

        For designs within `columns` that reach the demand.  A quantity with only one value
        there, or a requirement that is always met, has no wanted direction.  The second result
        includes directions that help designs to reach the demand.
        """
        problem = self.bounds.problem
        with np.errstate(all="ignore"):
            free = self.bounds.enclosed(self._undemanded(columns), demanded=False)
            columns = self.bounds.enclosed(columns)
            want = {name: np.zeros((2, count), dtype=bool) for name in columns}
            for goal in problem.goals:
                want[goal.name][int(goal.maximise)] = True
            for rule in problem.constraints:
                for name, lower, higher in directions(rule):
                    want[name] |= np.array([[lower], [higher]])
            for step in problem.requirement_steps:
                if not _demands(step):
                    missed = ~(largest_violation(step, columns) <= 0)
                    _pass_on(step, _falling(missed, count), want, columns)
            for step in reversed(problem.search_plan):
                low, high = ends(columns[step.name])
                # one value, or no value: then no design here reaches the demand
                want[step.name] = want[step.name] & ~(low >= high)
                if step.name not in self.joined:
                    _pass_on(step, want[step.name], want, columns)
        helps = {name: np.zeros((2, count), dtype=bool) for name in columns}
        for step in filter(_demands, problem.requirement_steps):
            _pass_on(step, _falling(np.ones(1, dtype=bool), count), helps, {})
        for step in reversed(problem.search_plan):
            low, high = ends(free[step.name])
            helps[step.name] = helps[step.name] & (low != high)
            if step.name not in self.joined:
                _pass_on(step, helps[step.name], helps, {})
        names = (*self.metrics, *self.joined)
        return {name: want[name] for name in names}, {
            name: want[name] | helps[name] for name in names
        }


def beside_stages(bounds: Bounds, columns: Columns) -> dict[str, Column]:
    """Return the arguments of joined quantities besides stages, infinite if they are not settled.

    For any stages, as long as the demand is reached, and for each row of `columns`.
    """
    steps = [step for step in bounds.problem.search_plan if _join(step)]
    names = {name for step in steps for name in step.arguments} - set(STAGE_COLUMNS)
    anything = Enclosure(np.zeros(1), np.full(1, np.inf))
    stages = (anything,) * len(bounds.problem.stages)
    with np.errstate(all="ignore"):
        columns = bounds.enclosed(columns | dict.fromkeys(STAGE_COLUMNS, stages))
    pairs = {name: ends(columns[name]) for name in sorted(names)}
    return {name: np.where(low == high, low, np.inf) for name, (low, high) in pairs.items()}


def _between(low: Column, high: Column) -> Any:
    """Return the enclosure of two ends, or the column itself if they are one column."""
    return low if low is high else Enclosure(low, high)


def directions(expression: Expression) -> list[tuple[str, bool, bool]]:
    """Return the names in a constraint, and whether lower and higher values help to meet it."""
    found: list[tuple[str, bool, bool]] = []
    for node in ast.walk(expression.tree):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            for operator, left, right in zip(node.ops, sides[:-1], sides[1:], strict=True):
                less = isinstance(operator, ast.Lt | ast.LtE)
                more = isinstance(operator, ast.Gt | ast.GtE)
                either = not (less or more)
                found += _side(left, low=less or either, high=more or either)
                found += _side(right, low=more or either, high=less or either)
    return [entry for entry in found if entry[0] in expression.names]


def _side(node: ast.expr, *, low: bool, high: bool) -> list[tuple[str, bool, bool]]:
    """Return the result of `directions` for one side that should be low or high."""
    match node:
        case ast.Name(id=name):
            return [(name, low, high)]
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _side(left, low=low, high=high) + _side(right, low=low, high=high)
        case ast.BinOp(left=left, op=ast.Sub(), right=right):
            return _side(left, low=low, high=high) + _side(right, low=high, high=low)
    inner = [part.id for part in ast.walk(node) if isinstance(part, ast.Name)]
    return [(name, True, True) for name in inner]


def _join(step: Step) -> str:
    """Return the composition of stage values into the chain's, empty if there is none."""
    return step.plugin.over_stages if isinstance(step.plugin, Objective) else ""


def _demands(step: Step) -> bool:
    """Return whether a requirement sets a least value of every feasible design."""
    return isinstance(step.plugin, Requirement) and bool(step.plugin.at_least)


def _falling(missed: NDArray[np.bool_], count: int) -> NDArray[np.bool_]:
    """Return the wanted low values in scenarios in which a requirement may be missed."""
    here = np.zeros((2, count), dtype=bool)
    here[0] = missed
    return here


def _pass_on(
    step: Step, here: NDArray[np.bool_], want: dict[str, NDArray[np.bool_]], inputs: Columns
) -> None:
    """Pass the wanted directions of a step on to its arguments."""
    plugin = step.plugin
    if isinstance(plugin, Guard):
        raise TypeError("guards want nothing")
    partial = isinstance(plugin, Objective) and plugin.partial
    settled = plugin.settled_while if isinstance(plugin, Objective) else {}
    for name in step.arguments:
        matters = here
        if name in settled and settled[name] in inputs:
            matters = here & ~(ends(inputs[settled[name]])[0] > 0)
        if name in plugin.rises_with and not partial:
            want[name] = want[name] | matters
        elif name in plugin.falls_with and not partial:
            want[name] = want[name] | matters[::-1]
        else:
            want[name] = want[name] | matters.any(axis=0)
