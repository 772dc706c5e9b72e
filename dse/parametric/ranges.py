"""Good ranges: for each choice the values with which some design is almost as good as the best."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dse.algebra import units
from dse.errors import UnitError
from dse.model.preference import Preference
from dse.model.problem import Problem
from dse.model.space import Axis, Index, as_index, blocks
from dse.parametric.screen import composes
from dse.reports.sections import Section
from dse.reports.text import listed, percent
from dse.search.exact.enumeration import CHUNK
from dse.search.exact.interval import MOST, may_beat
from dse.search.exact.work import CALL, LOOK, EffortError, limited, spend
from dse.search.settings import Budget
from dse.study.study import Study

HEADERS = ("choice", "answer", "good values")


@dataclass(frozen=True)
class GoodRange:
    """The positions on an axis with which some design is near the best, and that of the answer."""

    axis: Axis
    answer: int
    good: tuple[int, ...]

    @property
    def row(self) -> tuple[str, ...]:
        """It as a row of `HEADERS`; neighbours in order are joined."""
        if len(self.good) == self.axis.size:
            return self.axis.name, self._shown(self.answer), "all"
        spans: list[list[int]] = []
        for place in self.good:
            if self.axis.ordered and spans and place == spans[-1][-1] + 1:
                spans[-1] = [spans[-1][0], place]
            else:
                spans.append([place])
        texts = [" to ".join(map(self._shown, span)) for span in spans]
        return self.axis.name, self._shown(self.answer), listed(texts)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON."""
        return {
            "axis": self.axis.name,
            "answer": self.axis.labels[self.answer],
            "good": [self.axis.labels[place] for place in self.good],
            "of": self.axis.size,
        }

    def _shown(self, place: int) -> str:
        name = self.axis.unit_name
        if not name:
            return self.axis.labels[place]
        return units.show(float(self.axis.columns[name][place]), name)


def ranges_section(
    study: Study,
    front: Index,
    preference: Preference,
    share: float,
    *,
    exact: bool,
    budget: Budget,
) -> Section:
    """Return with which values of each choice some design is within a share of the best.

    Parameters
    ----------
    study, preference
        The question, and which objective is compared.
    front
        Designs (n, d) of the front; `exact` says whether it is proven.
    share
        How much worse than the best is still good.

    Raises
    ------
    UnitError
        The preference is no objective.
    """
    problem = study.problem
    column = preference.column(problem)
    if column is None:
        rule = "only designs by one objective are within a share of the best"
        raise UnitError(rule, f"prefer one: {listed([g.name for g in problem.goals], 'or')}")
    loss = problem.evaluate(front).loss[:, column]
    most = float(loss.min() + share * abs(loss.min()))
    answer = front[preference.order(problem, front)[0]]
    try:
        with limited(seconds=budget.left_s, byte=budget.byte):
            near = _near(problem, column, most)
    except EffortError as error:
        return _section(share, preference, (), f"It was not found out: {error}.")
    if near is None:
        return _section(
            share,
            preference,
            (),
            f"Bounds leave more than {MOST:,} designs that may be so near, too many to go through.",
        )
    found = [
        GoodRange(axis, int(answer[place]), tuple(np.unique(near[:, place]).tolist()))
        for place, axis in enumerate(problem.space.axes)
        if axis.size > 1
    ]
    note = "" if exact else "The front is not proven: better designs would leave fewer values."
    return _section(share, preference, found, note)


def _near(problem: Problem, column: int, most: float) -> Index | None:
    """Return all feasible designs (n, d) of which a loss is at most so much; None for too many."""
    worst = np.full((1, len(problem.goals)), np.inf)
    worst[0, column] = most
    parts: Iterable[Index] = map(as_index, blocks(problem.sizes, CHUNK))
    if composes(problem):
        rows = may_beat((problem, problem), worst, column)
        spend(LOOK)  # that it says too little may be because the time is over
        if rows is None:
            return None
        parts = [rows[first : first + CHUNK] for first in range(0, max(len(rows), 1), CHUNK)]
    found: list[Index] = []
    for part in parts:
        spend(CALL + len(part))
        seen = problem.evaluate(part)
        found.append(part[seen.feasible & (seen.loss[:, column] <= most)])
        if sum(map(len, found)) > MOST:
            return None
    return np.concatenate(found)


def _section(
    share: float, preference: Preference, found: Sequence[GoodRange], note: str
) -> Section:
    title = f"Within {percent(share)} of the {preference.best}"
    line = (
        "With each of these values alone, and the other choices at their best, a design is so near."
    )
    rows = tuple(entry.row for entry in found)
    brief = [f"Within {percent(share)} of the {preference.best}:"] * bool(found)
    brief += [f"  {name}: {good} (now {now})." for name, now, good in rows if good != now]
    facts = {"share": share, "ranges": [entry.to_dict() for entry in found], "note": note or None}
    return Section(
        "within",
        title,
        (line,) if found else (),
        HEADERS if found else (),
        rows,
        (note,) if note else (),
        facts=facts,
        brief=(*brief, *((note,) if note else ())),
    )
