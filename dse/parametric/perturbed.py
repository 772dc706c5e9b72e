"""Designs evaluated together, each where one of several assumptions has another value.

What an assumption changes becomes a column with a row for each design; a metric of a design of a
stage a matrix with a row for each.  So one evaluation serves many assumptions, and nothing is wired
anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.algebra.compared_numbers import with_named_bounds
from dse.model.cells import CellBounds, Cells
from dse.model.evaluation import Evaluation
from dse.model.host import hosts_among, with_hosts
from dse.model.problem import Problem
from dse.model.space import Index, Space
from dse.search.exact.work import CALL, spend
from dse.study.assumptions import Assumption

TOGETHER = 8_192
"""Designs evaluated at once: their columns fit into the cache."""

BOUND = "assumed bound"
"""Columns of bounds of constraints begin so."""


@dataclass(frozen=True)
class PerturbedPart:
    """Designs or cells, (n, d), at each of the values (v,) of an assumption: value after value."""

    entry: Assumption
    values: Sequence[float]
    rows: Index

    def __len__(self) -> int:
        """Return how many designs or cells are evaluated."""
        return len(self.values) * len(self.rows)


class PerturbedDesigns:
    """The parts of one evaluation, put together: a problem, and the columns that it takes."""

    def __init__(self, problem: Problem, space: Space, parts: Sequence[PerturbedPart]) -> None:
        """Put parts together; `space` is that of their rows, of designs or of cells."""
        self.rows = np.concatenate([np.tile(part.rows, (len(part.values), 1)) for part in parts])
        self._any = np.zeros_like(self.rows[:1])  # columns say what is chosen
        self._problem = problem
        self._space = space
        self._parts = parts
        self._found = space.columns(np.maximum(self.rows, 0))
        set_by_axes = {name for axis in space.axes for name in axis.columns}
        self.columns: dict[str, Any] = {
            name: self._found[name][:, np.newaxis] for name in set_by_axes
        }
        self._own: set[str] = set()
        self._metrics: dict[tuple[int, str], NDArray[np.float64]] = {}
        self._constraints = list(problem.constraints)
        end = 0
        for part in parts:
            start, end = end, end + len(part)
            self._move(part, slice(start, end))
        self.stages = self._stages()

    def evaluate(self) -> Evaluation:
        """Return losses and violations, part after part."""
        problem, columns = self._renumbered(), self.columns
        at_rows = {name: np.ravel(column) for name, column in self.columns.items()}
        if problem.measured is not None:
            known = problem.measured.columns(self._space, self.rows)
            columns = columns | {name: column[:, np.newaxis] for name, column in known.items()}
            measured = replace(problem.measured, at_rows=self.rows)
            problem = problem.renumbered(measured=measured)
        found = problem.evaluate(self._any, columns, draws=len(self.rows))
        return with_hosts(problem, found, self.rows, at_rows)

    def _renumbered(self) -> Problem:
        constraints = tuple(self._constraints)
        return self._problem.renumbered(stages=self.stages, constraints=constraints)

    def bounds(self, steps: Sequence[int]) -> CellBounds:
        """Return the bounds of cells, part after part."""
        cells = Cells(self._renumbered(), tuple(steps))
        return cells.bounds(self._any, self.columns, draws=len(self.rows))

    def least_counts(self) -> NDArray[np.float64]:
        """Return the instances of each stage where these follow from the rate, (n, stages)."""
        given = {**self._problem.space.constants, **self.columns}
        counted = [
            np.broadcast_to(stage.fleet(given).counts[0], (len(self.rows), 1))
            for stage in self.stages
            if not stage.mixed and f"{stage.name}.instances" not in given
        ]
        alone = hosts_among(self.rows)
        table = np.hstack([np.empty((len(self.rows), 0)), *counted])
        return table if alone is None else np.where(alone[:, np.newaxis], 0.0, table)

    def _move(self, part: PerturbedPart, where: slice) -> None:
        entry = part.entry
        values = np.repeat(np.array(part.values, dtype=np.float64), len(part.rows))
        if entry.metric is not None:
            stage, row = entry.metric
            matrix = self._metric(stage, entry.quantity)[where]
            if self._problem.stages[stage].mixed:
                matrix[:, row] = values
            else:
                there = self._chosen(stage)[where] == row
                matrix[there, 0] = values[there]
        elif entry.bound is not None:
            place, order = entry.bound
            stem = f"{BOUND} {place} "
            if f"{stem}{order}" not in self.columns:
                self._constraints[place], nominal = with_named_bounds(
                    self._constraints[place], stem
                )
                self.columns |= {name: np.full((1, 1), value) for name, value in nominal.items()}
            self._column(f"{stem}{order}", entry.value)[where, 0] = values
        elif entry.touched is not None:
            axis, row = entry.touched
            there = self.rows[where, axis] == row
            self._column(entry.quantity, entry.value)[where][there, 0] = values[there]
        else:
            self._column(entry.quantity, entry.value)[where, 0] = values
            for name, factor in entry.follows.items():
                self._column(name, factor * entry.value)[where, 0] = factor * values

    def _column(self, name: str, nominal: float) -> NDArray[np.float64]:
        """Return a column to write to, (n, 1)."""
        if name not in self._own:
            self._own.add(name)
            known = self.columns.get(name, np.full((1, 1), nominal))
            self.columns[name] = np.broadcast_to(known, (len(self.rows), 1)).copy()
        column: NDArray[np.float64] = self.columns[name]
        return column

    def _chosen(self, stage: int) -> NDArray[np.int64]:
        chosen = self._found[f"{self._problem.stages[stage].name}.design"].astype(np.int64)
        return np.broadcast_to(chosen, (len(self.rows),))

    def _metric(self, stage: int, name: str) -> NDArray[np.float64]:
        """Return a metric to write to: of each design of a mixed fleet, else of the chosen one."""
        if (stage, name) not in self._metrics:
            self._metrics[stage, name] = self._gathered(stage, name).copy()
        return self._metrics[stage, name]

    def _gathered(self, stage: int, name: str) -> NDArray[np.float64]:
        designs = self._problem.stages[stage].designs
        nominal = np.broadcast_to(getattr(designs.metrics, name), (len(designs.names),))
        if self._problem.stages[stage].mixed:
            return np.broadcast_to(nominal, (len(self.rows), len(nominal)))
        return nominal[self._chosen(stage)][:, np.newaxis]

    def _stages(self) -> tuple[Any, ...]:
        stages = list(self._problem.stages)
        for number in {stage for stage, _ in self._metrics}:
            stage = stages[number]
            own = {name: matrix for (of, name), matrix in self._metrics.items() if of == number}
            names = stage.designs.names
            if not stage.mixed:  # the design that is chosen becomes the only one
                fields = type(stage.designs.metrics).__dataclass_fields__
                own = {name: self._gathered(number, name) for name in fields} | own
                self.columns[f"{stage.name}.design"] = np.zeros(1)
                names = ("chosen",)
            metrics = replace(stage.designs.metrics, **own)
            designs = replace(stage.designs, names=names, metrics=metrics, uncertainty={})
            stages[number] = replace(stage, designs=designs)
        return tuple(stages)


@dataclass(frozen=True)
class Compared:
    """Designs (n, d) at v values: losses (v, n, m), violations (v, n, k), instances (v, n, s).

    `lacking`, (v, n), are those that the space lacks at a value; what they would do there is known
    as well, as they may be feasible between two values and at neither.
    """

    rows: Index
    loss: NDArray[np.float64]
    violation: NDArray[np.float64]
    counts: NDArray[np.float64]
    lacking: NDArray[np.bool_]

    @property
    def feasible(self) -> NDArray[np.bool_]:
        """Which designs are in the space and meet every constraint, (v, n)."""
        return np.asarray((self.violation <= 0).all(axis=2) & ~self.lacking)


def compare_together(
    problem: Problem, space: Space, wanted: Sequence[PerturbedPart]
) -> list[Compared]:
    """Return how designs do at values of several numbers, evaluated together."""
    tables = _evaluated(problem, space, [part for ask in wanted for part in _divided(ask)])
    found = []
    end = 0
    for ask in wanted:
        start, end = end, end + len(ask)
        shape = (len(ask.values), len(ask.rows))
        loss, violation, counts = (
            np.ascontiguousarray(table[start:end]).reshape(*shape, table.shape[1])
            for table in tables
        )
        lacking: NDArray[np.bool_] = np.zeros(shape, dtype=bool)
        least = np.min([end.sizes for end in ends_of(ask.entry, ask.values)], axis=0)
        if (ask.rows >= least).any():
            order = np.argsort(ask.values)
            sizes = np.empty((len(order), ask.rows.shape[1]), dtype=np.int64)
            _fill_sizes(ask, order, sizes)
            lacking = np.asarray((ask.rows >= sizes[:, np.newaxis]).any(axis=2))
        found.append(Compared(ask.rows, loss, violation, counts, lacking))
    return found


def _fill_sizes(ask: PerturbedPart, order: NDArray[np.intp], sizes: Index) -> None:
    """Fill in how many choices each axis has at values in order: more of all, or fewer of all."""
    if not len(order):
        return
    for end in order[[0, -1]].tolist():
        sizes[end] = ask.entry.at(ask.values[end]).sizes
    if (sizes[order[0]] == sizes[order[-1]]).all():
        sizes[order] = sizes[order[0]]
        return
    middle = len(order) // 2
    _fill_sizes(ask, order[1:middle], sizes)
    _fill_sizes(ask, order[middle:-1], sizes)


def ends_of(entry: Assumption, values: Sequence[float]) -> list[Problem]:
    """Return problems that have the fewest and the most counts of all at some values.

    The rate or a clock opens more of all counts as it rises or as it falls, so both ends do.
    """
    return [entry.at(end(values)) for end in (min, max)] if entry.growing else [entry.problem]


def _divided(ask: PerturbedPart) -> Iterator[PerturbedPart]:
    step = max(1, TOGETHER // max(len(ask.rows), 1))
    for first in range(0, len(ask.values), step):
        yield replace(ask, values=ask.values[first : first + step])


def _evaluated(
    problem: Problem, space: Space, parts: Sequence[PerturbedPart]
) -> list[NDArray[np.float64]]:
    """Return losses, violations and least instances of parts, some evaluated at a time."""
    found = []
    first = count = 0
    for last, part in enumerate(parts, 1):
        count += len(part)
        if count < TOGETHER and last < len(parts):
            continue
        spend(CALL + count)
        moved = PerturbedDesigns(problem, space, parts[first:last])
        evaluation = moved.evaluate()
        found.append((evaluation.loss, evaluation.violation, moved.least_counts()))
        first, count = last, 0
    return [np.concatenate(tables) for tables in zip(*found, strict=True)]


def widest(problem: Problem, moved: Sequence[Problem]) -> Space:
    """Return today's space with the longest of each axis of moved problems: counts may go up.

    All else is today's, so that nothing that moves is seen by what does not.
    """
    every = zip(problem.space.axes, *(other.space.axes for other in moved), strict=True)
    longest = ((own, max(axes, key=lambda axis: axis.size)) for own, *axes in every)
    axes = tuple(own if own.size == axis.size else axis for own, axis in longest)
    return Space(axes, problem.space.constants)


def same_space(*problems: Problem) -> tuple[Problem, ...]:
    """Return problems over the largest of their spaces; counts beyond are never the least."""
    if len({problem.sizes for problem in problems}) == 1:
        return problems
    return tuple(replace(problem, space=widest(problem, problems)) for problem in problems)
