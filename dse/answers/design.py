"""One design: its choices, objective values, bottlenecks and advice."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.algebra import units
from dse.contract import Limit, Objective, Requirement, Threshold
from dse.model import invariants, tables
from dse.model.evaluation import Goal
from dse.model.labels import Labels, labelled
from dse.model.preference import Preference
from dse.model.problem import Problem
from dse.model.space import Index
from dse.reports.designs import difference, for_people, parts
from dse.reports.sections import Section
from dse.reports.text import change, in_words, listed, percent, relative_change
from dse.study.scenario import field_path

LITTLE = (0.01, 0.02, 0.05, 0.1)
"""Tolerances that an answer tries, until one takes another design."""


@dataclass(frozen=True)
class Bottleneck:
    """A limit of a design.

    `value` is the allowed value, in the unit of the limited quantity, and `slack` its distance
    above the reached value, as a share.  Both are None for a limit that is known only by name.
    """

    label: str
    words: str
    value: float | None = None
    slack: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON.  `times` is the value over the reached one."""
        times = None if self.slack is None else 1.0 + self.slack
        return vars(self) | {"times": times}


@dataclass(frozen=True)
class Bottlenecks:
    """The limits of `quantity`, which reaches `reached`, the next limit first."""

    quantity: str
    reached: float
    limits: tuple[Bottleneck, ...]


@dataclass(frozen=True)
class Advice:
    """The advice on both sides of a threshold: its `quantity`, and its `value` in SI or NaN.

    `chosen` is the design's value of the column of the threshold.
    """

    quantity: str
    value: float
    chosen: float
    threshold: Threshold


@dataclass(frozen=True)
class Pick:
    """One design of a study.

    Attributes
    ----------
    name
        Its fleet, ``1 u8 + 2 u16``, or its choices by name in a study without stages.
    counts
        Instances by ``<stage>.<design>``, those that are not zero.
    choices
        Its other choices by column: numbers in SI, or names.
    quantities
        The objectives in SI, then the quantities of every answer.
    most, used
        For a quantity with an upper limit: the limit, and how much of it there is.
    bottlenecks
        Its limits.
    advice
        Its advice.
    cautions
        Its warnings, by quantity.
    labels
        Texts for people in place of the names of designs and devices.
    mostly
        The term, in words, that is more than half of the preferred quantity, if that is a sum.
    """

    name: str
    counts: Mapping[str, int]
    choices: Mapping[str, float | str]
    quantities: Mapping[str, float]
    most: Mapping[str, float]
    used: Mapping[str, float]
    bottlenecks: tuple[Bottlenecks, ...]
    advice: tuple[Advice, ...]
    cautions: Mapping[str, tuple[float, str]]
    labels: Labels = field(default_factory=dict)
    mostly: str = ""

    @property
    def line(self) -> str:
        """The design in one line, for people: its name and its other choices."""
        return self.line_with(self.choices)

    def line_with(self, shown: Collection[str], same: Collection[str] = ()) -> str:
        """Return `line` with the choices `shown` only, and without the parts of labels `same`."""
        choices = [
            f"{in_words(name)} " * (chosen not in self.labels) + self.shown(name)
            for name, chosen in self.choices.items()
            if name in shown and not self.is_named(name)
        ]
        named = self.name != tables.UNNAMED or not choices
        return ", ".join([*[labelled(self.name, self.labels, same)] * named, *choices])

    def is_named(self, choice: str) -> bool:
        """Whether the name of the design contains a choice already."""
        return self.choices.get(choice) in self.name.split(", ")

    def shown(self, name: str) -> str:
        """Return a choice or a quantity with its unit, and its upper limit if it has one."""
        if name in self.choices:
            chosen = self.choices[name]
            return (
                labelled(chosen, self.labels)
                if isinstance(chosen, str)
                else units.show(chosen, name)
            )
        if name not in self.quantities:
            return "none"
        if np.isinf(self.quantities[name]):  # a wait for a station that is always busy
            return "unbounded"
        value = units.show(self.quantities[name], name)
        return f"{value} of {units.show(self.most[name], name)}" if name in self.most else value

    def differences(self, other: Pick, names: Sequence[str]) -> dict[str, Any]:
        """Return by how much some quantities of another design differ, as plain data."""
        shares = {
            name: relative_change(other.quantities[name], self.quantities[name]) for name in names
        }
        return {
            name: {"share": share, "times": 1.0 + share}
            for name, share in shares.items()
            if share is not None
        }

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON."""
        return {
            "design": self.name,
            "counts": dict(self.counts),
            "choices": dict(self.choices),
            "quantities": dict(self.quantities),
            "at_most": dict(self.most),
        }


def pick(problem: Problem, point: NDArray[np.int64], also: str | None = None) -> Pick:
    """Return the design at `point`, shape (d,), with the quantity `also` besides the others.

    Raises
    ------
    dse.errors.ContractError
        When a model breaks one of its invariants.
    """
    index = point[np.newaxis, :]
    invariants.check_invariants(problem, index)
    columns = {name: float(column[0]) for name, column in problem.describe(index).items()}
    choices: dict[str, float | str] = {}
    for axis, choice in zip(problem.space.axes, point, strict=True):
        if choice >= 0 and tables.is_choice_of_scenario(problem, axis):
            value = tables.axis_values(axis)[choice]
            choices[tables.axis_column(axis)] = str(value) if axis.unit_name == "" else float(value)
    most = _most(problem, columns)
    return Pick(
        tables.design_names(problem, index)[0],
        problem.counts(index)[0],
        choices,
        _shown_quantities(problem, columns, also),
        most,
        {name: columns[name] for name in most},
        tuple(_bottlenecks(problem, columns)),
        tuple(_advice(problem, columns)),
        _cautions(problem, columns),
        problem.labels,
        _mostly(problem, columns, also) if also and also in problem.graph.quantities else "",
    )


def _mostly(problem: Problem, columns: Mapping[str, float], name: str) -> str:
    """Return the term that is more than half of a sum, without the last word of both.

    A term with only that word is the accelerator's.
    """
    unit, value = units.suffix(name), columns[name]
    steps = problem.graph.closure([name])[-1:]
    terms = [one for step in steps for one in step.arguments if units.suffix(one) == unit]
    if len(terms) < 2 or not math.isclose(sum(columns[term] for term in terms), value):
        return ""
    most = max(terms, key=columns.__getitem__)
    words, last = in_words(most), in_words(name).rpartition(" ")[2]
    if columns[most] <= value / 2:
        return ""
    return "accelerator" if words == last else words.removesuffix(f" {last}")


def _shown_quantities(
    problem: Problem, columns: Mapping[str, float], also: str | None
) -> dict[str, float]:
    """Return the objectives and the quantities of every answer, each number once in one unit."""
    wanted = [goal.name for goal in problem.goals] + ([also] if also else [])
    shown = {name: columns[name] for name in wanted}
    for quantity in problem.quantities:
        value = columns[quantity.name]
        if not quantity.report or quantity.name in shown or math.isnan(value):
            continue
        unit = units.suffix(quantity.name)
        if not any(value == known and unit == units.suffix(name) for name, known in shown.items()):
            shown[quantity.name] = value
    return shown


def _most(problem: Problem, columns: Mapping[str, float]) -> dict[str, float]:
    """Return the upper limits of requirements, if the limited quantity is above 0."""
    rules = [rule for rule in problem.requirements if rule.at_most in columns]
    limits = {rule.quantity: columns[rule.at_most] for rule in rules if rule.quantity in columns}
    return {
        name: limit for name, limit in limits.items() if math.isfinite(limit) and columns[name] > 0
    }


def _bottlenecks(problem: Problem, columns: Mapping[str, float]) -> Iterator[Bottlenecks]:
    for quantity in problem.quantities:
        code = columns[quantity.name]
        if quantity.limits and quantity.limited in columns and not math.isnan(code):
            reached = columns[quantity.limited]
            limits = _limits(quantity, int(code), reached, columns)
            yield Bottlenecks(quantity.limited, reached, limits)


def _limits(
    quantity: Objective, first: int, reached: float, columns: Mapping[str, float]
) -> tuple[Bottleneck, ...]:
    """Return the limits of a design, the limit with the label `first` before all others."""
    found = []
    for code, (label, limit) in enumerate(zip(quantity.labels, quantity.limits, strict=True)):
        value = allowed(limit, columns)
        if value is not None and math.isfinite(value):
            slack = value / reached - 1.0 if reached > 0 else math.inf
            found.append((code != first, value, Bottleneck(label, limit.words, value, slack)))
        elif code == first:
            found.append((False, 0.0, Bottleneck(label, limit.words)))
    return tuple(limit for *_, limit in sorted(found, key=lambda entry: entry[:2]))


def allowed(limit: Limit, columns: Mapping[str, Any]) -> Any:
    """Return the value that a limit allows, the least of its quantities, or None if unknown."""
    found = [columns[name] for name in limit.quantities if name in columns]
    return np.min(found, axis=0) if found else None


def _advice(problem: Problem, columns: Mapping[str, float]) -> Iterator[Advice]:
    for quantity in problem.quantities:
        threshold = quantity.threshold
        if threshold is not None and threshold.column in columns:
            chosen = columns[threshold.column]
            yield Advice(quantity.name, columns[quantity.name], chosen, threshold)


def _cautions(problem: Problem, columns: Mapping[str, float]) -> Mapping[str, tuple[float, str]]:
    """Return the values of quantities that an answer warns of, and in which words."""
    return {
        quantity.name: (columns[quantity.name], warned.words)
        for quantity in problem.quantities
        if (warned := quantity.caution) is not None
        and warned.given in columns
        and columns[quantity.name] > warned.above
    }


def requirement_of(problem: Problem, rule: str) -> Requirement | None:
    """Return the requirement of `rule`, or None if it limits no single quantity."""
    named = (found for found in problem.requirements if found.rule == rule and found.quantity)
    return next(named, None)


def amount(value: float, name: str) -> str:
    """Return a number with its quantity: ``208.3 host cores``, ``throughput 6 Mbit/s``."""
    shown, what = units.show(value, name), in_words(field_path(name))
    return f"{what} {shown}" if units.suffix(name) else f"{shown} {what}"


@dataclass(frozen=True)
class Trade:
    """The gain and the cost of a tolerance.

    Attributes
    ----------
    taken, best
        The recommended design, with and without the tolerance.
    preference, goals
        The rule, and the objectives.
    """

    taken: Pick
    best: Pick
    preference: Preference
    goals: Sequence[Goal]

    @property
    def is_none(self) -> bool:
        """Whether both are the same design."""
        one, other = self.taken, self.best
        return (one.counts, one.choices) == (other.counts, other.choices)

    @property
    def text(self) -> str:
        """The trade in words."""
        strict = self.preference.within(0).design
        if self.is_none:
            return f"It is {strict} too: the tolerance changes nothing."
        return f"Compared with {strict}, {self.best.line}: {self.price}."

    @property
    def price(self) -> str:
        """Gain and cost: ``14 % less area for 2 % more power``."""
        gains, costs = self.differences(better=True), self.differences(better=False)
        return f"{listed(gains) or 'nothing better'} for {listed(costs) or 'nothing'}"

    def differences(self, *, better: bool) -> list[str]:
        """Return the gains, or losses, in the order of the objectives, the preferred one last."""
        senses = {goal.name: goal.maximise for goal in self.goals}
        name = self.preference.quantity
        if name is not None:
            senses[name] = senses.pop(name, self.preference.maximise)
        found = []
        for name, maximise in senses.items():
            new, old = self.taken.quantities[name], self.best.quantities[name]
            if new != old and ((new > old) == maximise) == better:
                found.append(f"{change(new, old, digits=2)} {in_words(name)}".strip())
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON."""
        names = [goal.name for goal in self.goals]
        return {
            "tolerance": self.preference.tolerance,
            "without": self.best.to_dict(),
            "differences": self.best.differences(self.taken, names),
        }


def bought_section(
    problem: Problem, front: Index, chosen: Pick, preference: Preference
) -> tuple[Section, Pick | None]:
    """Return the gain of a small loss of the preferred quantity, and the design that has it.

    The least share of `LITTLE` within which a design of the front is better than the one `chosen`
    in another objective, and of these the one that is best in the first such objective.  A
    tolerance chooses among the others by the same rule.
    """
    if not preference.quantity or preference.tolerance or not preference.others or len(front) == 1:
        return Section("bought", brief=()), None
    for other, trade, option in _trades(problem, front, chosen, preference):
        if trade.differences(better=True) and trade.differences(better=False):
            both = other, preference.first(problem, front)
            new, old = (parts(problem, design)[0] for design in both)
            other_line = for_people(problem, difference(new, old))
            line = f"Trade-off: {other_line} has {trade.price}{option}."
            facts = trade.to_dict() | {"with": trade.taken.to_dict()}
            return Section("bought", lines=(line,), facts=facts, brief=()), trade.taken
    line = f"No other design of the front is within {percent(LITTLE[-1])} of the {preference.best}."
    return Section("bought", lines=(line,), brief=()), None


def _trades(
    problem: Problem, front: Index, chosen: Pick, preference: Preference
) -> Iterator[tuple[Index, Trade, str]]:
    """Yield the design that is best in each other objective within each share of `LITTLE`.

    With it come its trade and the option that chooses it, if one does.
    """
    merit, loss = preference.merit(problem, front), problem.evaluate(front).loss
    goals = [goal.name for goal in problem.goals]
    columns = [at for at, name in enumerate(goals) if name != preference.quantity]
    for tolerance in LITTLE:
        near = preference.within(tolerance)
        rows = np.flatnonzero(merit <= merit.min() + tolerance * abs(merit.min()))
        for first in columns:
            others = [first, *(column for column in columns if column != first)]
            keys = (merit[rows], *(loss[rows, column] for column in reversed(others)))
            other = front[rows[np.lexsort(keys)[:1]]]
            taken = pick(problem, other[0], preference.quantity)
            option = f' (--tolerance "{near.tolerance_text}")' if first == columns[0] else ""
            yield other, Trade(taken, chosen, near, problem.goals), option
