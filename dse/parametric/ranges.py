"""Good ranges: the values of each choice with which some design is almost as good as the best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

import numpy as np

from dse import search
from dse.algebra import units
from dse.errors import UnitError
from dse.model.preference import Preference
from dse.model.problem import Problem
from dse.model.space import HOST, Axis, Index
from dse.reports.sections import Section
from dse.reports.text import listed, percent
from dse.search.exact.work import CALL, LOOK, EffortError, limited, spend
from dse.search.settings import Budget
from dse.study.study import Study

_HEADERS = ("choice", "answer", "good values")
_ALL, _NONE = "all", "none"
_LINE = "With each of these values alone, and the other choices at their best, a design is so near."


def ranges_section(
    study: Study,
    front: Index,
    preference: Preference,
    share: float,
    *,
    exact: bool,
    budget: Budget,
) -> Section:
    """Return the values of each choice with which some design is within a share of the best.

    Parameters
    ----------
    study, preference
        The question, and the objective that is compared.
    front
        Designs (n, d) of the front.
    share
        Largest relative distance from the best.
    exact
        Whether the front is proven.
    budget
        Most CPU time and memory of the searches.

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
    best = problem.evaluate(front).loss[:, column].min()
    notes = [] if exact else ["The front is not proven: better designs would leave fewer values."]
    most = float(best + share * abs(best))
    found = [_near(problem, np.vstack([front, problem.hosts]), column, most)]
    try:
        with limited(seconds=budget.left_s, byte=budget.byte):
            for place in range(len(problem.sizes)):
                _search(study, place, column, most, found)
    except EffortError as error:
        notes.append(f"Other values may be good too: {error}.")
    rows = np.concatenate(found)
    hosts = (rows < 0).any(axis=1)
    if hosts.any():
        only = ", and no other design" * bool(hosts.all())
        notes.append(f"The host alone is so near{only}.")
    answer = front[preference.order(problem, front)[0]]
    good = [
        (axis, int(answer[place]), np.unique(rows[rows[:, place] >= 0, place]).tolist())
        for place, axis in enumerate(problem.space.axes)
        if axis.size > 1
    ]
    return _section(f"Within {percent(share)} of the {preference.best}", share, good, notes)


def _near(problem: Problem, rows: Index, column: int, most: float) -> Index:
    """Return the feasible designs near the best, of designs (n, d)."""
    spend(CALL + len(rows))
    seen = problem.evaluate(rows)
    near: Index = rows[seen.feasible & (seen.loss[:, column] <= most)]
    return near


def _search(study: Study, place: int, column: int, most: float, found: list[Index]) -> None:
    """Add near designs with choices of an axis that no known one has.

    First the known ones with another choice, then the best with any of the remaining choices.
    """
    problem = study.problem
    settings = replace(study.settings, method="exact", partial=True)
    every = np.arange(problem.sizes[place])
    changed = np.repeat(found[0][(found[0] >= 0).all(axis=1)], len(every), axis=0)
    changed[:, place] = np.tile(every, len(changed) // len(every))
    found.append(_near(problem, changed, column, most))
    while len(left := np.setdiff1d(every, np.concatenate(found)[:, place])):
        space = problem.space.restricted({place: left.tolist()})
        part = replace(problem, space=space, goals=(problem.goals[column],), beside=False)
        best = search.run_search(part, settings).front_index
        spend(LOOK)  # a search without time left proves nothing
        best[:, place] = left[best[:, place]]
        found.append(_near(problem, best, column, most))
        if not len(found[-1]):
            return


def _text(axis: Axis, good: Sequence[int]) -> str:
    """Return positions on an axis in words, with neighbours in order joined."""
    if len(good) in (0, axis.size):
        return _ALL if good else _NONE
    runs = groupby(enumerate(good), key=lambda pair: pair[1] - pair[0] * axis.ordered)
    spans = [[place for _, place in run] for _, run in runs]
    ends = [dict.fromkeys(_value(axis, span[end]) for end in (0, -1)) for span in spans]
    return listed([" to ".join(pair) for pair in ends])


def _value(axis: Axis, place: int) -> str:
    """Return a choice of an axis in words."""
    if place < 0 or not axis.unit_name:
        return HOST if place < 0 else axis.labels[place]
    return units.show(float(axis.columns[axis.unit_name][place]), axis.unit_name)


def _section(
    title: str, share: float, found: Sequence[tuple[Axis, int, list[int]]], notes: Sequence[str]
) -> Section:
    """Return positions that are good on each axis, besides that of the answer, as a section."""
    note = " ".join(notes)
    rows = [(axis.name, _value(axis, now), _text(axis, good)) for axis, now, good in found]
    others = [f"  {name}: {to} (now {now})." for name, now, to in rows if to not in (now, _NONE)]
    if not others and any(good for _, _, good in found):
        others = ["  no other value of any choice."]
    ranges = [
        {
            "axis": axis.name,
            "answer": HOST if now < 0 else axis.labels[now],
            "good": [axis.labels[place] for place in good],
            "of": axis.size,
        }
        for axis, now, good in found
    ]
    return Section(
        "within",
        title,
        (_LINE,) * bool(found),
        _HEADERS * bool(found),
        tuple(rows),
        (note,) * bool(note),
        facts={"share": share, "ranges": ranges, "note": note or None},
        brief=tuple([f"{title}:"] * bool(found) + others + [note] * bool(note)),
    )
