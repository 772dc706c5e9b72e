"""Designs at many values of the numbers of a study, evaluated together.

A value of an assumption is a column with a row for each design, and a metric of a core is a matrix.
One evaluation serves many assumptions, and no problem is built anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.algebra.compared_numbers import with_named_bounds
from dse.model.cells import Cells
from dse.model.evaluation import Evaluation
from dse.model.host import hosts_among, with_hosts
from dse.model.problem import Problem
from dse.model.space import Index, Space
from dse.search.exact.work import CALL, ROW, spend
from dse.study.assumptions import Assumption

_TOGETHER = 8_192
"""Number of designs evaluated at once, whose columns fit into the cache."""

_BOUND = "assumed bound"
"""Beginning of the columns of bounds of constraints."""

Bool = NDArray[np.bool_]
Losses = NDArray[np.float64]


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
        """Put parts together in the space of their rows, of designs or of cells."""
        self.rows = np.concatenate([np.tile(part.rows, (len(part.values), 1)) for part in parts])
        self._any = np.zeros_like(self.rows[:1])  # columns have the choices
        self._problem, self._space = problem, space
        self._found = space.columns(np.maximum(self.rows, 0))
        set_by_axes = {name for axis in space.axes for name in axis.columns}
        self.columns: dict[str, Any] = {
            name: self._found[name][:, np.newaxis] for name in set_by_axes
        }
        self._metrics: dict[tuple[int, str], Losses] = {}
        self._rules = list(problem.constraints)
        self._own = set[str]()
        end = 0
        for part in parts:
            start, end = end, end + len(part)
            self._move(part, slice(start, end))
        self.stages = self._stages()

    def evaluate(self) -> Evaluation:
        """Return losses and violations, part after part."""
        problem, columns = self._renumbered(), self.columns
        at_rows = {name: np.ravel(column) for name, column in columns.items()}
        if problem.measured is not None:
            known = problem.measured.columns(self._space, self.rows)
            columns = columns | {name: column[:, np.newaxis] for name, column in known.items()}
            measured = replace(problem.measured, at_rows=self.rows)
            problem = problem.renumbered(measured=measured)
        found = problem.evaluate(self._any, columns, draws=len(self.rows))
        return with_hosts(problem, found, self.rows, at_rows)

    def bounds(self, steps: Sequence[int]) -> tuple[Losses, Losses]:
        """Return the least losses and violations of cells, part after part."""
        cells = Cells(self._renumbered(), tuple(steps))
        return cells.bounds(self._any, self.columns, draws=len(self.rows))

    def least_counts(self) -> Losses:
        """Return the instances of each stage with the least that carry the rate, (n, stages)."""
        given = {**self._problem.space.constants, **self.columns}
        counted = [
            np.broadcast_to(stage.fleet(given).counts[0], (len(self.rows), 1))
            for stage in self.stages
            if not stage.mixed and f"{stage.name}.instances" not in given
        ]
        alone = hosts_among(self.rows)
        table = np.hstack([np.empty((len(self.rows), 0)), *counted])
        return table if alone is None else np.where(alone[:, np.newaxis], 0.0, table)

    def _renumbered(self) -> Problem:
        return self._problem.renumbered(stages=self.stages, constraints=tuple(self._rules))

    def _move(self, part: PerturbedPart, where: slice) -> None:
        """Write the values of a part to the columns or metrics of its rows."""
        entry, rows = part.entry, self.rows[where]
        values = np.repeat(np.array(part.values, dtype=np.float64), len(part.rows))
        if entry.metric is not None:
            stage, row = entry.metric
            matrix = self._metric(stage, entry.quantity)[where]
            mixed = self._problem.stages[stage].mixed
            there = np.full(len(rows), True) if mixed else self._chosen(stage)[where] == row
            matrix[there, row if mixed else 0] = values[there]
            return
        there = np.full(len(rows), True)
        if entry.touched is not None:
            there = rows[:, entry.touched[0]] == entry.touched[1]
        name = entry.quantity if entry.bound is None else self._bound(*entry.bound)
        for column, factor in {name: 1.0, **entry.follows}.items():
            own = self._column(column, factor * entry.value)
            own[where][there, 0] = factor * values[there]

    def _bound(self, place: int, order: int) -> str:
        """Return the name of the column of a number of a constraint, which is now a name."""
        stem = f"{_BOUND} {place} "
        if f"{stem}{order}" not in self.columns:
            self._rules[place], nominal = with_named_bounds(self._rules[place], stem)
            self.columns |= {name: np.full((1, 1), value) for name, value in nominal.items()}
        return f"{stem}{order}"

    def _column(self, name: str, nominal: float) -> Losses:
        """Return a column to write to, (n, 1)."""
        if name not in self._own:
            self._own.add(name)
            known = self.columns.get(name, np.full((1, 1), nominal))
            self.columns[name] = np.broadcast_to(known, (len(self.rows), 1)).copy()
        column: Losses = self.columns[name]
        return column

    def _chosen(self, stage: int) -> NDArray[np.int64]:
        chosen = self._found[f"{self._problem.stages[stage].name}.design"].astype(np.int64)
        return np.broadcast_to(chosen, (len(self.rows),))

    def _metric(self, stage: int, name: str) -> Losses:
        """Return a metric to write to: of each design of a mixed fleet, or of the chosen one."""
        if (stage, name) not in self._metrics:
            self._metrics[stage, name] = self._gathered(stage, name).copy()
        return self._metrics[stage, name]

    def _gathered(self, stage: int, name: str) -> Losses:
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
            if not stage.mixed:  # the chosen design becomes the only one
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

    The last violation of designs is that the space lacks them at a value.
    """

    rows: Index
    loss: Losses
    violation: Losses
    counts: Losses

    @property
    def feasible(self) -> Bool:
        """Return the designs in the space that meet every constraint, (v, n)."""
        return np.asarray((self.violation <= 0).all(axis=2))


def compare_together(
    problem: Problem, space: Space, wanted: Sequence[PerturbedPart], steps: Sequence[int] = ()
) -> list[Compared]:
    """Return how designs do at values of several numbers, evaluated together.

    With `steps`, bounds of cells of so many values in a space of cells.
    """
    if not wanted:
        return []
    found, ends = list[Compared](), np.cumsum([len(ask) for ask in wanted])
    some = zip(*_tables(problem, space, wanted, steps), strict=True)
    split = [np.split(np.concatenate(tables), ends) for tables in some]
    for ask, *tables in zip(wanted, *split, strict=False):
        shape = len(ask.values), len(ask.rows)
        loss, violation, counts = (table.reshape(*shape, table.shape[1]) for table in tables)
        if not steps:
            violation = np.append(violation, _lacking(ask)[..., np.newaxis], axis=2)
        found.append(Compared(ask.rows, loss, violation, counts))
    return found


def _tables(
    problem: Problem, space: Space, wanted: Sequence[PerturbedPart], steps: Sequence[int]
) -> Iterator[tuple[Losses, Losses, Losses]]:
    """Yield losses, violations and least instances of parts, some evaluated at a time."""
    some: list[PerturbedPart] = []
    divided = [part for ask in wanted for part in _divided(ask)]
    for place, part in enumerate(divided, 1):
        some.append(part)
        count = sum(map(len, some))
        if count < _TOGETHER and place < len(divided):
            continue
        spend(CALL + count * (ROW if steps else 1))
        moved = PerturbedDesigns(problem, space, some)
        if steps:
            yield *moved.bounds(steps), np.empty((count, 0))
        else:
            seen = moved.evaluate()
            yield seen.loss, seen.violation, moved.least_counts()
        some = []


def _divided(ask: PerturbedPart) -> Iterator[PerturbedPart]:
    step = max(1, _TOGETHER // max(len(ask.rows), 1))
    for first in range(0, len(ask.values), step):
        yield replace(ask, values=ask.values[first : first + step])


def _lacking(ask: PerturbedPart) -> Losses:
    """Return 1 for each design that is not in the space at a value, else 0, (v, n)."""
    least = np.min([end.sizes for end in ends_of(ask.entry, ask.values)], axis=0)
    sizes = np.tile(least, (len(ask.values), 1))
    if (ask.rows >= least).any():
        _fill_sizes(ask, np.argsort(ask.values), sizes)
    return np.asarray((ask.rows >= sizes[:, np.newaxis]).any(axis=2), dtype=np.float64)


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


def widest(problem: Problem, moved: Sequence[Problem]) -> Space:
    """Return the space with the longest of each axis of moved problems, since counts may rise.

    All else stays as it is, so that unmoved designs do not depend on moved ones.
    """
    every = zip(problem.space.axes, *(other.space.axes for other in moved), strict=True)
    longest = ((own, max(axes, key=lambda axis: axis.size)) for own, *axes in every)
    axes = tuple(own if own.size == axis.size else axis for own, axis in longest)
    return Space(axes, problem.space.constants)
