"""Distances of designs from constraints: the reserve, or the shortfall of a choice."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.algebra import units
from dse.algebra.expression import TOLERANCE
from dse.algebra.thresholds import ConstraintThreshold, thresholds_of
from dse.answers.design import Pick, amount, pick, requirement_of
from dse.model.evaluation import KNEE, Goal
from dse.model.preference import Preference, prefer, wanted
from dse.model.problem import Problem
from dse.model.space import blocks
from dse.reports.sections import Section
from dse.reports.text import SHOWN_ROUNDING, in_words, listed, percent, rule_text
from dse.runs.runner import ENUMERABLE, KnownFront
from dse.search import Outcome
from dse.search.exact.work import CHUNK
from dse.study.demand import RATE

TIE = 1e-9
"""Two violations this close, as a share, are the same."""


@dataclass(frozen=True)
class Shortfall:
    """A design that violates one constraint, and no design violates it by less.

    `violation` is relative to the limit.  If the constraint limits one `quantity`, `value` is
    the design's, and `limit` the limit, a lower one if it is `at_least`.
    """

    rule: str
    violation: float
    design: Pick
    quantity: str = ""
    value: float | None = None
    limit: float | None = None
    at_least: bool = False

    def text(self, *, together: bool = False) -> str:
        """Return the violated constraint and the miss, maybe `together` with others."""
        if self.value is None:
            known = TOLERANCE < self.violation < math.inf and not self.quantity  # a text has none
            by = f" by {percent(self.violation)}" if known else ""
            return f"it violates {rule_text(self.rule)}{by}"
        if self.limit is None:
            return f"it violates {rule_text(self.rule)} with {amount(self.value, self.quantity)}"
        most = "" if together else "no more than "
        verb = f"it reaches {most}".rstrip() if self.at_least else "it needs"
        limit = units.show(self.limit, self.quantity)
        return f"{verb} {amount(self.value, self.quantity)} of {limit}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON."""
        return vars(self) | self.design.to_dict()


def shortfalls(
    problem: Problem, outcome: Outcome, preference: Preference
) -> tuple[tuple[Shortfall, ...], bool]:
    """Return the least violations of a problem without a feasible design.

    Per constraint the least violation of a design that meets all others.  If every design
    violates several: the violations of the design that meets the demand and violates the rest by
    the least, else of the nearest design.

    Returns
    -------
    The violations, and whether one design has them all.
    """
    enumerable = problem.size <= ENUMERABLE
    if enumerable and (single := _single_violations(problem, preference)):
        return single, False
    point = _demanded(problem) if enumerable else None
    if point is None:
        point = outcome.nearest_index
    if point is None:
        return (), False
    return of_point(problem, preference, point), True


def of_point(
    problem: Problem, preference: Preference, point: NDArray[np.int64]
) -> tuple[Shortfall, ...]:
    """Return every violation of a design (d,)."""
    violation = problem.evaluate(point[np.newaxis]).violation[0].tolist()
    violated = [(rule, by) for rule, by in enumerate(violation) if by > 0]
    return tuple(shortfall(problem, preference, rule, point, by) for rule, by in violated)


def _demanded(problem: Problem) -> NDArray[np.int64] | None:
    """Return the design that meets every lower limit and violates the rest by the least."""
    rules = [requirement_of(problem, text) for text in problem.constraint_names]
    lower = [number for number, rule in enumerate(rules) if rule is not None and rule.at_least]
    least, point = (np.inf, np.inf), None
    for block in blocks(problem.sizes, CHUNK):
        violation = problem.evaluate(block).violation
        rows = np.flatnonzero((violation[:, lower] <= 0).all(axis=1))
        if not len(rows):
            continue
        violated = np.maximum(violation[rows], 0.0)
        worst, total = violated.max(axis=1), violated.sum(axis=1)
        row = int(np.lexsort((total, worst))[0])
        if (worst[row], total[row]) < least:
            least, point = (worst[row], total[row]), block.rows(rows[row : row + 1])[0]
    return point


def _single_violations(problem: Problem, preference: Preference) -> tuple[Shortfall, ...]:
    """Return, per constraint, the least violation of a design that meets all others.

    Lower limits come last: a design that meets the demand at any cost is more informative.
    """
    best: dict[int, tuple[float, tuple[float, ...], NDArray[np.int64]]] = {}
    for block in blocks(problem.sizes, CHUNK):
        evaluation = problem.evaluate(block)
        violated = evaluation.violation > 0
        single = violated.sum(axis=1) == 1
        for rule in range(violated.shape[1]):
            rows = np.flatnonzero(single & violated[:, rule])
            if not len(rows):
                continue
            violation = evaluation.violation[rows, rule]
            least = float(violation.min())
            if rule in best and least > best[rule][0] * (1 + TIE):
                continue
            tied = rows[violation <= least * (1 + TIE)]
            merit = _merit(problem, preference, block.rows(tied), evaluation.loss[tied])
            row = np.lexsort(merit.T[::-1])[0]
            key = tuple(merit[row].tolist())
            if rule not in best or least < best[rule][0] * (1 - TIE) or key < best[rule][1]:
                best[rule] = (least, key, block.rows(tied[row : row + 1])[0])
    found = [
        shortfall(problem, preference, rule, point, least)
        for rule, (least, _, point) in best.items()
    ]
    return tuple(sorted(found, key=lambda entry: (entry.at_least, entry.violation)))


def _merit(
    problem: Problem, preference: Preference, index: NDArray[np.int64], loss: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the values that decide between equal violations, (n, k): preference, then losses."""
    loss = np.where(np.isnan(loss), np.inf, loss)
    if not preference.is_quantity:
        return loss
    return np.column_stack([preference.merit(problem, index), loss])


def shortfall(
    problem: Problem, preference: Preference, rule: int, point: NDArray[np.int64], violation: float
) -> Shortfall:
    """Return by how much a design (d,) violates one constraint, by its position."""
    text = problem.constraint_names[rule]
    design = pick(problem, point, preference.quantity)
    columns = problem.describe(point[np.newaxis])
    requirement = requirement_of(problem, text)
    if requirement is not None:
        limit = float(columns[requirement.at_most or requirement.at_least][0])
        value = float(columns[requirement.quantity][0])
        lower = bool(requirement.at_least)
        return Shortfall(text, violation, design, requirement.quantity, value, limit, lower)
    names = next((r.names for r in problem.constraints if r.text == text), frozenset())
    if len(names) == 1:
        (name,) = names
        known = problem.graph.quantities
        if name in known and known[name].labels:
            return Shortfall(text, violation, design, name)
        return Shortfall(text, violation, design, name, float(columns[name][0]))
    return Shortfall(text, violation, design)


def undemanded_sections(
    solved: KnownFront, chosen: Pick, preference: Preference
) -> Iterator[Section]:
    """Yield the other ends of a front and its knee, if nothing demands more than the smallest."""
    problem, front = solved.study.problem, solved.front
    least = problem.evaluate(front).loss.argmin(axis=0)
    rows = dict(zip(problem.goals, front[least], strict=True))
    ends = {
        units.stem(goal.name) or goal.name: (
            wanted(goal),
            pick(problem, rows[goal], preference.quantity),
        )
        for goal in _free_goals(solved, [*rows], preference)
    }
    knee = prefer(problem, KNEE)
    if ends and knee.design_on(problem, front) == knee.design:
        ends[KNEE] = KNEE, pick(problem, knee.first(problem, front)[0])
    ends = {name: found for name, found in ends.items() if found[1].line != chosen.line}
    others = dict(ends.values())
    if not others:
        return
    names = [goal.name for goal in problem.goals]
    ask = [*(f"--prefer {name}" for name in ends), *["--rate"] * bool(problem.stages)]
    yield Section(
        "undemanded",
        "",
        (f"Nothing is demanded, so the {preference.best} alone decides; the front also has:",),
        ("", "design", *map(in_words, names)),
        tuple((words, other.line, *map(other.shown, names)) for words, other in others.items()),
        (f"Ask with {listed(ask, 'or')}.",),
        facts={words: other.to_dict() for words, other in others.items()},
    )


def _free_goals(solved: KnownFront, goals: list[Goal], preference: Preference) -> list[Goal]:
    """Return the maximised objectives of which nothing is demanded.

    None if a rate is demanded, a constraint bounds one, or more than one objective decides.
    Designs without a model have no demand: for these all others count, unless the study has a
    preference or a constraint rules out some design.
    """
    problem, found = solved.study.problem, solved.found
    most = [goal for goal in goals if goal.maximise]
    bounded = {name for rule in problem.constraints for name in rule.names}
    if RATE in problem.available or bounded & {goal.name for goal in most}:
        return []
    if preference.maximise or preference.column(problem) is None:
        return []
    bare = not problem.stages and solved.study.stated is None
    if bare and found.get("feasible") == found.get("evaluated"):
        return [goal for goal in goals if goal.name != preference.quantity]
    return most


@dataclass(frozen=True)
class Margin:
    """The value of a design for a bounded quantity.

    Attributes
    ----------
    rule
        The constraint as written.
    what
        The quantity, or the expression, in words.
    quantity
        A name whose suffix is the unit of `value` and `limit`, which are in SI.  May be empty.
    at_least
        Whether the limit is a lower one.
    spare
        The distance of the value from the limit, as a share of the limit, None if the limit is 0.
    """

    rule: str
    what: str
    quantity: str
    value: float
    limit: float
    at_least: bool
    spare: float | None

    @property
    def text(self) -> str:
        """The margin in one unit: ``area 0.5077 of 1 mm2``."""
        factor, unit = units.scale([self.limit], self.quantity)
        value, limit = (units.show(v / factor, "") for v in (self.value, self.limit))
        return f"{self.what} {value} of{' at least' * self.at_least} {limit} {unit}".rstrip()

    @property
    def spare_text(self) -> str:
        """The same, and how much is left."""
        if self.spare is None:
            return self.text
        left = "none" if self.spare < SHOWN_ROUNDING else percent(self.spare)
        return f"{self.text} ({left} to spare)"


def _margin(rule: str, bound: ConstraintThreshold, value: float) -> Margin:
    what = re.sub(
        r"[A-Za-z_][\w.]*", lambda name: in_words(name[0]), ast.unparse(bound.quantity.tree)
    )
    sign = 1.0 if bound.up else -1.0
    spare = sign * (bound.value - value) / abs(bound.value) if bound.value else None
    return Margin(rule, what, bound.name, value, bound.value, bound.down, spare)


def margins_section(problem: Problem, point: NDArray[np.int64]) -> Section:
    """Return the margin of a design (d,) to each bound that the study writes as a constraint."""
    columns = problem.describe(point[np.newaxis])
    found = [
        _margin(constraint.text, bound, float(np.ravel(bound.quantity.value(columns))[0]))
        for constraint in problem.constraints
        for bound in thresholds_of(constraint)
        if bound.up != bound.down
    ]
    if not found:
        return Section("constraints", facts=[], brief=())
    line = f"Constraints: {'; '.join(one.spare_text for one in found)}."
    facts = [asdict(one) for one in found]
    return Section("constraints", lines=(line,), facts=facts, brief=())
