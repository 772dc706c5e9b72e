"""Columns of designs as the study has them: what nothing that moves reaches stays so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.model.problem import Problem
from dse.model.space import Index, Space

MOST = 20_000
"""Designs of which they are kept."""


class Chosen(dict[str, Any]):
    """Columns that move, and of others the nominal ones, chosen when they are needed."""

    def __init__(self, nominal: Mapping[str, Any], places: NDArray[np.intp]) -> None:
        """Begin with nothing that moves; designs (n,) have their `places` in nominal columns."""
        super().__init__()
        self._nominal = nominal
        self._places = places

    def __missing__(self, name: str) -> Any:
        """Return the nominal column."""
        column, at = self._nominal[name], self._places
        self[name] = tuple(part[at] for part in column) if type(column) is tuple else column[at]
        return self[name]

    def moved(self, name: str, made: Any) -> set[str]:
        """Take a column as it was made; return its name if that is not the nominal one."""
        pairs = zip(made, self[name], strict=True) if type(made) is tuple else [(made, self[name])]
        if all((own == nominal).all() for own, nominal in pairs):
            return set()
        self[name] = made
        return {name}


class NominalColumns:
    """What the quantities of a problem and its stages are for designs, evaluated once for each.

    Attributes
    ----------
    columns
        By name, one row for each design seen so far; those of stages as tuples.
    """

    def __init__(self, problem: Problem) -> None:
        """Begin with no designs."""
        self.columns: dict[str, Any] = {}
        self.problem = problem
        self._places: dict[bytes, int] = {}

    def of(self, space: Space, parts: Sequence[tuple[Index, int]]) -> Chosen | None:
        """Return the columns of designs (n, d) of a space, each part so many times.

        None where there are none or too many, or what is measured or fails says what they are.
        """
        problem, known = self.problem, self._places
        keys = [[row.tobytes() for row in rows] for rows, _ in parts]
        new = {
            key: row
            for some, (rows, _) in zip(keys, parts, strict=True)
            for key, row in zip(some, rows, strict=True)
            if key not in known
        }
        many = len(known) + len(new) > MOST
        if problem.tolerant or problem.measured is not None or many or not any(keys):
            return None
        if new:
            self._add(space, np.array([*new.values()]))
            known |= {key: len(known) + at for at, key in enumerate(new)}
        places = [
            np.tile([known[key] for key in some], times)
            for some, (_, times) in zip(keys, parts, strict=True)
        ]
        return Chosen(self.columns, np.concatenate(places).astype(np.intp))

    def _add(self, space: Space, rows: Index) -> None:
        problem = self.problem
        chosen = space.columns(np.maximum(rows, 0))
        set_by_axes = {name for axis in space.axes for name in axis.columns}
        changed = {name: chosen[name][:, np.newaxis] for name in set_by_axes}
        plan = [step.name for step in problem.search_plan]
        found = problem.columns(np.zeros_like(rows[:1]), plan, changed, problem.requirement_steps)
        for name in (*plan, *(name for name in problem.offered if name in found)):
            column, known = found[name], self.columns.get(name)
            if isinstance(column, tuple):
                before = known or [None] * len(column)
                pairs = zip(before, column, strict=True)
                self.columns[name] = tuple(_joined(*pair, len(rows)) for pair in pairs)
            else:
                self.columns[name] = _joined(known, column, len(rows))


def _joined(known: Any, column: Any, count: int) -> Any:
    """Return a column with the rows of one that is known before its own, (n, 1)."""
    full = np.broadcast_to(column, (count, 1))
    return full if known is None else np.concatenate([known, full])
