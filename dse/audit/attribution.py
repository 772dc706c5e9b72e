"""Which change between two studies brings a design to the front, or takes it away.

A design is known by what it is: its counts, and its choices where a study leaves any.  A change
is held responsible for a design that comes or goes when the first study with that change alone
gains or loses it, by an exact search.  Where no change does so alone, the changes are made in
turn; the first of these studies that does so is reduced to the changes that it needs.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from dse.audit import changes
from dse.audit.changes import Change
from dse.errors import DseError
from dse.files.document import Document
from dse.model import tables
from dse.model.problem import Problem
from dse.model.space import HOST, Index
from dse.runs import finished, runner
from dse.runs.finished import Row
from dse.runs.solved import Options
from dse.search import SearchSettings
from dse.study import study
from dse.study.study import Study

Identity = tuple[tuple[str, str], ...]
"""Counts and choices of a design: names and values as text."""

SAME = 1e-9
"""Numbers closer than this, relative to each other, are equal."""


@dataclass(frozen=True)
class FrontOfStudy:
    """One front as a run wrote it: its study, its designs (n, d) and their rows."""

    document: Document
    prepared: Study
    index: Index
    rows: Sequence[Row]

    @property
    def loss(self) -> NDArray[np.float64]:
        """Losses as written, shape (n, m)."""
        goals = self.prepared.problem.goals
        numbers = [[float(row[goal.name]) for goal in goals] for row in self.rows]
        sign = np.array([-1.0 if goal.maximise else 1.0 for goal in goals])
        loss: NDArray[np.float64] = np.array(numbers).reshape(len(self.rows), len(goals)) * sign
        return loss

    def numbers(self, row: int) -> dict[str, float]:
        """Return the objectives of a design as written, in SI."""
        return {goal.name: float(self.rows[row][goal.name]) for goal in self.prepared.problem.goals}


@dataclass(frozen=True)
class Cause:
    """What moved a design: any of several changes alone, or several together.

    Both are empty where the studies do not explain it: a heuristic missed a design, or the
    models changed between the runs.
    """

    alone: tuple[Change, ...] = ()
    together: tuple[Change, ...] = ()


@dataclass(frozen=True)
class StudiesBetween:
    """The studies between those of two fronts, and the fronts of each once it is solved."""

    first: FrontOfStudy
    second: FrontOfStudy
    fronts: dict[str, frozenset[Identity] | None] = field(default_factory=dict)

    @property
    def changes(self) -> tuple[Change, ...]:
        """Where the studies differ."""
        return changes.changes(self.first.document, self.second.document)

    def placed(self, side: FrontOfStudy) -> dict[Identity, int]:
        """Return the designs of a front and their rows."""
        identities = self._identities(side.prepared, side.document, side.index)
        return {known: row for row, known in enumerate(identities)}

    def _identities(self, prepared: Study, found: Document, index: Index) -> list[Identity]:
        """Return what each design is; an open field of either study counts in both."""
        problem = prepared.problem
        counts = problem.counts(index)
        paths = {**_open(self.first.prepared.problem), **_open(self.second.prepared.problem)}
        choices = {path: _choices(problem, found, path, paths[path], index) for path in paths}
        return [
            tuple(
                sorted(
                    [(name, f"{count:g}") for name, count in counts[row].items()]
                    + [(path, texts[row]) for path, texts in choices.items()]
                )
            )
            for row in range(len(index))
        ]

    def _front(self, made: tuple[Change, ...]) -> frozenset[Identity] | None:
        """Return the exact front of the first study with changes made; None when it fails."""
        found = changes.apply_changes(self.first.document, made)
        key = json.dumps(found.data, sort_keys=True, default=str)
        if key not in self.fronts:
            self.fronts[key] = self._solved(found)
        return self.fronts[key]

    def _solved(self, found: Document) -> frozenset[Identity] | None:
        try:
            prepared = replace(study.prepare(found), settings=SearchSettings(method="exact"))
            answer = runner.solve_study(prepared, Options())
        except DseError:  # changes that only make sense together, or a space too large
            return None
        return frozenset(self._identities(prepared, found, answer.outcome.front_index))

    def cause(self, known: Identity) -> Cause:
        """Return which changes bring a design, or take it away."""
        start, end = self._front(()), self._front(self.changes)
        if start is None or end is None or (known in start) == (known in end):
            return Cause()
        wanted = known in end

        def decides(made: tuple[Change, ...]) -> bool:
            front = self._front(made)
            return front is not None and (known in front) == wanted

        return self._cause(decides)

    def cause_of_move(self, row: int) -> Cause:
        """Return which changes give a design of the first front other numbers."""
        problem = self.first.prepared.problem
        first = problem.evaluate(self.first.index[row : row + 1]).loss[0]

        def decides(made: tuple[Change, ...]) -> bool:
            try:
                found = study.prepare(changes.apply_changes(self.first.document, made)).problem
                index = finished.find_designs(found, ({**_single(found), **self.first.rows[row]},))
            except DseError:  # changes that only make sense together, or another design
                return False
            return not np.allclose(first, found.evaluate(index).loss[0], rtol=SAME, atol=0.0)

        return self._cause(decides)

    def _cause(self, decides: Callable[[tuple[Change, ...]], bool]) -> Cause:
        """Return the changes that decide alone, else a set of which every one is needed."""
        alone = tuple(change for change in self.changes if decides((change,)))
        if alone:
            return Cause(alone=alone)
        prefixes = (self.changes[:count] for count in range(2, len(self.changes) + 1))
        needed = next((made for made in prefixes if decides(made)), ())
        for change in needed:
            fewer = tuple(kept for kept in needed if kept is not change)
            if decides(fewer):
                needed = fewer
        return Cause(together=needed)


def _single(problem: Problem) -> dict[str, str]:
    """Return the columns of a table that all designs share, as text."""
    return {
        tables.axis_column(axis): str(tables.axis_values(axis)[0])
        for axis in problem.space.axes
        if axis.size == 1 and tables.is_choice_of_scenario(problem, axis)
    }


def _open(problem: Problem) -> dict[str, str]:
    """Return the fields that a study leaves open, with the column that carries the value."""
    return {
        axis.name: axis.unit_name
        for axis in problem.space.axes
        if axis.size > 1 and tables.is_choice_of_scenario(problem, axis)
    }


def _choices(problem: Problem, found: Document, path: str, column: str, index: Index) -> list[str]:
    """Return what the designs have in a field, whether it is an axis of this study or not."""
    for number, axis in enumerate(problem.space.axes):
        if axis.name == path:
            values = tables.axis_values(axis).tolist()
            return [HOST if choice < 0 else str(values[choice]) for choice in index[:, number]]
    if column in problem.space.constants:
        return [str(float(problem.space.constants[column][0]))] * len(index)
    section, _, name = path.partition(".")
    return [str(found.section(section).get(name))] * len(index)
