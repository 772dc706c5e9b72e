"""What doing without accelerators would take: the alternative that is no design of a study."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.algebra import units
from dse.algebra.expression import Expression
from dse.contract import Instead, Objective
from dse.model.front import dominated_by_point
from dse.model.graph import wire
from dse.model.matrices import rounded
from dse.model.preference import Preference
from dse.model.problem import Problem
from dse.model.space import Index
from dse.reports.words import change, in_words, listed, plural, rule_text
from dse.study.overrides import Sweep
from dse.study.scenario import field_path

Columns = Mapping[str, NDArray[np.float64]]

SAME_RATIO = 1e-9
"""Relative; what is needed is in proportion to what is swept."""

SAME = 1e-12
"""Relative; less than this is no difference."""


@dataclass(frozen=True, kw_only=True)
class Without:
    """What it takes to do without accelerators what a design does.

    Attributes
    ----------
    quantity, words
        What is needed, and what does the work: ``the host alone``.
    resource, needs, available
        What it needs, in words, how much of it, and how much there is; None where nobody says.
    costs
        Quantities of the study as they are then, as far as they are known.
    demanded
        Whether the study demands a rate; otherwise it is that of the design.
    violated, unknown
        Constraints of the study that are violated then, and those of which nothing can be said.
    unjudged
        Objectives of which nothing can be said.
    better
        Whether it can be done, meets every constraint, and is preferred to the design.
    beats, beaten_by
        How many designs of the front it dominates, and how many dominate it; None where an
        objective is unknown, or it cannot be done.
    dominates
        Whether it dominates the design.
    """

    quantity: str
    words: str
    resource: str
    needs: float
    available: float | None
    costs: Mapping[str, float]
    demanded: bool
    violated: tuple[str, ...]
    unknown: tuple[str, ...]
    unjudged: tuple[str, ...]
    better: bool = False
    dominates: bool = False
    beats: int | None = None
    beaten_by: int | None = None

    @property
    def enough(self) -> bool:
        """Whether there is known to be as much as is needed."""
        return self.available is not None and self.needs <= self.available * (1.0 + SAME)

    @property
    def possible(self) -> bool:
        """Whether it is enough, and violates no constraint that is known to be."""
        return self.enough and not self.violated

    @property
    def able(self) -> bool:
        """Whether it is known to do what the study demands, within every constraint."""
        return self.demanded and self.possible and not self.unknown

    def need(self) -> str:
        """Return what it would need, of how much."""
        name = f"{units.show(self.needs, self.quantity)} {self.resource}"
        of = f" of {units.show(self.available, self.quantity)}" if self.available else ""
        start = "would need" if self.demanded else "would need for as much"
        return f"{self.words[0].upper()}{self.words[1:]} {start} {name}{of}"

    def text(self, quantities: Mapping[str, float], told: str | None) -> str:
        """Return what it takes, whether that can be done, and how it compares in `told`.

        `quantities` are those of the design.
        """
        known = [name for name in self.costs if quantities.get(name)]
        shown = told if told in known else next(iter(known), None)
        text = self.need()
        if shown:
            value = self.costs[shown]
            compared = change(value, quantities[shown])
            text += f", with {in_words(shown)} {units.show(value, shown)} ({compared})"
        return text + self.ending()

    def ending(self) -> str:
        """Return whether it can be done, as the end of a sentence."""
        if self.available is None:
            return "; how many there are is unknown."
        if not self.enough:
            return ": it cannot."
        if self.violated:
            return f": it violates {listed([*map(rule_text, self.violated)])}."
        if self.unknown:
            return f"; whether it meets {listed([*map(rule_text, self.unknown)])} is unknown."
        if self.better or self.dominates:
            return ": stay on it."
        if self.demanded and self.unjudged:
            return f"; its {listed([in_words(name) for name in self.unjudged])} is unknown."
        return "."

    def line(self) -> str:
        """Return what it takes, whether that can be done, and where on the front it would be."""
        place = self.place()
        return f"{self.need()}{self.ending()}{f' {place[0].upper()}{place[1:]}.' if place else ''}"

    def place(self) -> str:
        """Return where it would be relative to the front, empty where that is unknown."""
        if self.beats is None or self.beaten_by is None:
            return ""
        if self.beaten_by:
            return f"{plural(self.beaten_by, 'design')} of the front dominate it"
        also = f" and dominate {plural(self.beats, 'design')} of it" if self.beats else ""
        return f"it would be on the front{also}"

    @property
    def verdict(self) -> str:
        """Whether it can be done, in a word or two; empty where nobody can say."""
        if self.able:
            return "could do it"
        return "cannot" if self.available is not None and not self.possible else ""

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON."""
        facts = {"enough": self.enough, "able": self.able, "verdict": self.verdict}
        return asdict(self) | facts | {"text": self.line()}


def without_accelerators(
    problem: Problem, point: Index, preference: Preference, front: Index | None = None
) -> Iterator[Without]:
    """Yield what it takes to do without accelerators what the design at `point`, (1, d), does.

    What a study demands is done, whatever the design reaches.  It is held against the designs of a
    `front`, (n, d), if there is one.
    """
    for quantity in problem.quantities:
        if quantity.instead is None:
            continue
        now = problem.describe(point)
        demanded = {
            rule.quantity: now[rule.at_least]
            for rule in problem.bound_requirements
            if rule.at_least and rule.at_least in now
        }
        known = _known(problem, point, quantity, quantity.instead, now, demanded)
        if quantity.name in known:
            found = _without(problem, quantity, quantity.instead, now, known, demanded)
            yield _compared(problem, found, preference, now, known, front)


def _known(
    problem: Problem,
    point: Index,
    quantity: Objective,
    about: Instead,
    now: Columns,
    demanded: Columns,
) -> Columns:
    """Return what is known of doing without: what is needed, and quantities as they are then."""
    graph = wire(problem.graph.quantities, {*problem.graph.inputs, *demanded})
    wanted = {quantity.name, *(name for name in about.costs.values() if isinstance(name, str))}
    wanted = {name for name in wanted if graph.provides(name)}
    then = replace(problem, graph=graph).columns(point, wanted, demanded)
    named = {quantity.name: quantity.name, **about.costs}
    values = {
        name: np.full(1, other) if isinstance(other, float) else np.atleast_1d(then[other])
        for name, other in named.items()
        if name in now and (isinstance(other, float) or other in then)
    }
    return {name: value for name, value in values.items() if not math.isnan(value[0])} | {
        **demanded
    }


def _without(
    problem: Problem,
    quantity: Objective,
    about: Instead,
    now: Columns,
    known: Columns,
    demanded: Columns,
) -> Without:
    then = {**now, **known}
    judged = {*known, *problem.space.constants}.union(*(a.columns for a in problem.space.axes))
    rules = [(rule.text, rule.expression) for rule in problem.constraints]
    unknown = tuple(text for text, rule in rules if not rule.names <= judged)
    met = [(text, rule) for text, rule in rules if text not in unknown]
    there = float(now[about.available][0]) if about.available in now else math.inf
    return Without(
        quantity=quantity.name,
        words=about.words,
        resource=in_words(field_path(about.available)),
        needs=float(known[quantity.name][0]),
        available=there if math.isfinite(there) else None,
        costs={name: float(known[name][0]) for name in (*about.costs, *demanded) if name in known},
        demanded=bool(demanded),
        violated=tuple(text for text, rule in met if rule.violation(then)[0] > 0),
        unknown=unknown,
        unjudged=tuple(goal.name for goal in problem.goals if goal.name not in known),
    )


def _compared(
    problem: Problem,
    found: Without,
    preference: Preference,
    now: Columns,
    known: Columns,
    front: Index | None,
) -> Without:
    """Return the same held against the design, and against a front."""
    if not found.able:
        return found
    better = not preference.maximise and _preferred(preference.expression, now, known)
    if found.unjudged:
        return replace(found, better=better)
    values = [-known[goal.name] if goal.maximise else known[goal.name] for goal in problem.goals]
    loss = rounded(np.atleast_2d(np.concatenate(values)))
    own = [-now[goal.name] if goal.maximise else now[goal.name] for goal in problem.goals]
    beats = dominated_by_point(rounded(np.atleast_2d(np.concatenate(own))), loss[0])
    found = replace(found, better=better, dominates=bool(beats[0]))
    if front is None or not len(front):
        return found
    losses = problem.evaluate(front).loss
    beaten = sum(bool(dominated_by_point(loss, row)[0]) for row in losses)
    return replace(found, beats=int(dominated_by_point(losses, loss[0]).sum()), beaten_by=beaten)


def _preferred(expression: Expression | None, now: Columns, known: Columns) -> bool:
    """Tell whether what is minimised is known to be less than it is now."""
    if expression is None or not expression.names <= {*known}:
        return False
    one, other = float(expression.value({**now, **known})[0]), float(expression.value(now)[0])
    return one < other - SAME * abs(other)


def without_the_best(
    problem: Problem, front: Index, preference: Preference, best: Index | None = None
) -> tuple[Without, ...]:
    """Return what it takes to do without the best design of a front; or any, if it is empty.

    Where the best is known it is given, (1, d) or (0, d).
    """
    best = preference.first(problem, front) if best is None else best
    point = best if len(best) else np.zeros((1, len(problem.sizes)), dtype=np.int64)
    return tuple(without_accelerators(problem, point, preference, front))


def swept_text(sweep: Sweep, found: Sequence[Without]) -> str:
    """Return at which values of a sweep the one alternative can do what is demanded.

    `found` has what it takes at each of them.
    """
    first, name = found[0], in_words(sweep.path)
    subject = f"{first.words[0].upper()}{first.words[1:]}"
    if first.available is None:
        return f"{subject}: how many {first.resource} there are is unknown."
    can = [entry.possible for entry in found]
    shown = [v if isinstance(v, str) else units.show(v, sweep.column) for v in sweep.values]
    if len({*can}) == 1:
        return f"{subject} {'can do it at every' if can[0] else 'cannot do it at any'} {name}."
    last = can.index(False) - 1
    if can != sorted(can, reverse=True) or not sweep.column:
        able = listed([text for text, yes in zip(shown, can, strict=True) if yes])
        return f"{subject} can do it at {name} {able}, and not at the others."
    text = f"{subject} can do it up to {name} {shown[last]}, and not from {shown[last + 1]} on"
    low, high = (found[at].needs / float(sweep.values[at]) for at in (last, last + 1))
    if found[last + 1].enough or abs(low - high) > SAME_RATIO * low:
        return f"{text}."
    end = units.show(first.available / low, sweep.column)
    return f"{text}: at {end} it needs all {units.show(first.available, '')} {first.resource}."
