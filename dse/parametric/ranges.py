"""Good ranges: for each choice the values with which some design is almost as good as the best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dse import search
from dse.algebra import units
from dse.errors import UnitError
from dse.model.host import hosts_among
from dse.model.preference import Preference
from dse.model.space import HOST, Axis, Index, as_index, blocks
from dse.parametric.breakpoints import composes
from dse.reports.sections import Section
from dse.reports.text import listed, percent
from dse.search.exact.enumeration import CHUNK
from dse.search.exact.work import CALL, LOOK, EffortError, limited, spend
from dse.search.settings import Budget
from dse.study.study import Study

HEADERS = ("choice", "answer", "good values")

ALL, NONE = "all", "none"


@dataclass(frozen=True)
class GoodRange:
    """The positions on an axis with which some design is near the best, and that of the answer."""

    axis: Axis
    answer: int
    good: tuple[int, ...]

    @property
    def row(self) -> tuple[str, ...]:
        """It as a row of `HEADERS`; neighbours in order are joined."""
        if len(self.good) in (0, self.axis.size):
            return self.axis.name, self._shown(self.answer), ALL if self.good else NONE
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
            "answer": HOST if self.answer < 0 else self.axis.labels[self.answer],
            "good": [self.axis.labels[place] for place in self.good],
            "of": self.axis.size,
        }

    def _shown(self, place: int) -> str:
        if place < 0:
            return HOST
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
    near = _NearDesigns(study, column, share, front)
    notes = [] if exact else ["The front is not proven: better designs would leave fewer values."]
    try:
        with limited(seconds=budget.left_s, byte=budget.byte):
            near.search()
    except EffortError as error:
        notes.append(f"Other values may be good too: {error}.")
    answer = front[preference.order(problem, front)[0]]
    found = [
        GoodRange(axis, int(answer[place]), tuple(np.flatnonzero(near.good[place]).tolist()))
        for place, axis in enumerate(problem.space.axes)
        if axis.size > 1
    ]
    if near.host:
        notes.append(f"The host alone is so near{'' if near.other else ', and no other design'}.")
    return _section(share, preference, found, " ".join(notes))


class _NearDesigns:
    """The choices with which a feasible design is within a share of the best of a front."""

    def __init__(self, study: Study, column: int, share: float, front: Index) -> None:
        """Begin with a front."""
        self.good = [np.zeros(size, dtype=bool) for size in study.problem.sizes]
        self.host = self.other = False
        self._study = study
        self._column = column
        best = study.problem.evaluate(front).loss[:, column].min()
        self._most = float(best + share * abs(best))
        self._front = self._take(front)
        self._take(study.problem.hosts)

    def search(self) -> None:
        """Go through the space, or search it for designs with choices that none has yet."""
        problem = self._study.problem
        if not composes(problem):
            for block in blocks(problem.sizes, CHUNK):
                self._take(as_index(block))
            return
        for number in range(len(self.good)):
            self._search(number)

    def _search(self, number: int) -> None:
        """Search for the best with any of the choices of an axis that none has yet."""
        problem, goals = self._study.problem, (self._study.problem.goals[self._column],)
        settings = replace(self._study.settings, method="exact", partial=True)
        every = np.arange(problem.sizes[number])
        alone = np.repeat(self._front, len(every), axis=0)
        alone[:, number] = np.tile(every, len(self._front))
        self._take(alone)
        while len(left := np.flatnonzero(~self.good[number])):
            space = problem.space.restricted({number: left.tolist()})
            part = replace(problem, space=space, goals=goals, beside=False)
            best = search.run_search(part, settings).front_index
            spend(LOOK)  # a search that was cut short proves nothing
            best[:, number] = left[best[:, number]]
            if not len(self._take(best)):
                return

    def _take(self, rows: Index) -> Index:
        """Note the choices of designs (n, d) that are near; return those of the space."""
        spend(CALL + len(rows))
        seen = self._study.problem.evaluate(rows)
        near = rows[seen.feasible & (seen.loss[:, self._column] <= self._most)]
        for good, chosen in zip(self.good, near.T, strict=True):
            good[chosen[chosen >= 0]] = True
        self.host |= hosts_among(near) is not None
        found: Index = near[(near >= 0).all(axis=1)]
        self.other |= len(found) > 0
        return found


def _section(
    share: float, preference: Preference, found: Sequence[GoodRange], note: str
) -> Section:
    title = f"Within {percent(share)} of the {preference.best}"
    line = (
        "With each of these values alone, and the other choices at their best, a design is so near."
    )
    rows = tuple(entry.row for entry in found)
    others = [
        f"  {name}: {good} (now {now})." for name, now, good in rows if good not in (now, NONE)
    ]
    none = not others and any(entry.good for entry in found)
    brief = [f"Within {percent(share)} of the {preference.best}:"] * bool(found)
    brief += others or ["  no other value of any choice."] * none
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
