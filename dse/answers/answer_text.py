"""What an answer says: designs, limits, advice and alternatives as sections to read."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from dse.algebra import units
from dse.answers.design import Advice, Bottleneck, Bottlenecks, Pick
from dse.answers.words import (
    TINY,
    amount,
    change,
    design_line,
    differences,
    joined,
    named,
    percent,
    quantity,
)
from dse.model.problem import Goal
from dse.reports.sections import Section
from dse.reports.words import in_words

CLOSE = 0.5
"""A bound is told when a quantity could not grow by more than this share."""


def recommendation_section(
    pick: Pick,
    because: str,
    given: Mapping[str, str],
    found: Mapping[str, Any],
    tie: Pick | None,
    tied: int,
) -> Section:
    """Return the recommendation: the design, why, and what it is worth.

    `tied` designs are worth the same, `tie` is the first of them.
    """
    lines = [f"Take {design_line(pick)}.", f"{because} {_proof(found)}"]
    if tie is not None:
        more = f" and {tied - 1} more" if tied > 1 else ""
        lines.append(f"Worth the same: {design_line(tie)}{more}.")
    if given:
        shown = joined([f"{in_words(name)} {written}" for name, written in given.items()])
        lines.append(f"Given: {shown}.")
    rows = tuple((in_words(name), quantity(pick, name)) for name in pick.quantities)
    facts = pick.plain() | {"given": dict(given)} | dict(found)
    if tie is not None:
        facts["worth_the_same"] = tie.plain() | {"more": tied - 1}
    return Section("answer", lines=tuple(lines), rows=rows, facts=facts)


def reason(pick: Pick, preference: str, preferred: str | None, goals: Sequence[str]) -> str:
    """Return why a design is the answer.

    Only an objective is known to be least among all designs, the front holds the others' least
    or not.
    """
    if preference.startswith("the "):
        return f"It is {preference}."
    start = "It has" if preferred in goals else "Of the designs on the front it has"
    number = f", {units.show(pick.quantities[preferred], preferred)}" if preferred else ""
    return f"{start} the {preference}{number}."


def _proof(found: Mapping[str, Any]) -> str:
    if found["designs"] == 1:
        return "It is the only design of the study."
    designs, evaluated, feasible = (
        f"{found[key]:,}" for key in ("designs", "evaluated", "feasible")
    )
    if found["exact"] and found["evaluated"] < found["designs"]:
        return (
            f"Of {designs} designs, {evaluated} were evaluated; bounds prove that none of the "
            "others is better."
        )
    if found["exact"]:
        return f"Of {designs} designs, all evaluated, {feasible} meet the constraints."
    return (
        f"Of {designs} designs, {evaluated} were evaluated and {feasible} of those meet the "
        "constraints; a better one may have been missed."
    )


def limits_section(pick: Pick) -> Section:
    """Return what limits a design, and the slack up to this and the next limit."""
    lines = [_limited(entry) for entry in pick.limits]
    spare = {name: bound / pick.used[name] - 1.0 for name, bound in pick.most.items()}
    close = [_close(pick, name, share) for name, share in spare.items() if share < CLOSE]
    if close:
        lines.append(f"Close to a bound: {joined(close)}.")
    limited = [
        {
            "quantity": entry.quantity,
            "reached": entry.reached,
            "limits": [bound.plain() for bound in entry.bounds],
        }
        for entry in pick.limits
    ]
    bounded = {
        name: {"value": pick.used[name], "at_most": bound, "spare": spare[name]}
        for name, bound in pick.most.items()
    }
    facts = {"limited": limited, "bounded": bounded}
    return Section("limits", "What limits it" if lines else "", tuple(lines), facts=facts)


def _close(pick: Pick, name: str, spare: float) -> str:
    left = "none" if spare < TINY else percent(spare)
    of = f"{amount(pick.used[name], name)} of {units.show(pick.most[name], name)}"
    return f"{of} ({left} to spare)"


def _limited(entry: Bottlenecks) -> str:
    first, *others = entry.bounds
    name = in_words(entry.quantity)
    if first.value is None:
        return f"The {name} is limited by {first.words}."
    reached = units.show(entry.reached, entry.quantity)
    text = f"The {name} is limited by {first.words}: {_room(first, entry, reached)}."
    if not others:
        return f"{text} There is no other limit."
    return f"{text} The next limit is {others[0].words}: {_room(others[0], entry, reached)}."


def _room(bound: Bottleneck, entry: Bottlenecks, reached: str) -> str:
    shown = units.show(bound.value or 0.0, entry.quantity)
    if bound.slack is None or abs(bound.slack) < TINY:
        return f"{shown}, all of it in use"
    return f"{shown}, {change(1.0 + bound.slack, 1.0)} than the {reached} delivered".replace(
        "times than", "times"
    )


def advice_section(pick: Pick) -> Section:
    """Return from where on what pays."""
    lines = tuple(_advised(entry) for entry in pick.advice)
    facts = [
        {
            "quantity": entry.quantity,
            "value": entry.value,
            "rounded": entry.rounded,
            "column": entry.threshold.column,
            "chosen": entry.chosen,
        }
        for entry in pick.advice
    ]
    return Section("advice", "When it pays" if lines else "", lines, facts=facts)


def _advised(entry: Advice) -> str:
    about = entry.threshold
    name = named(about.column)
    chosen = f"{name} {units.show(entry.chosen, about.column)}"
    if math.isnan(entry.value):
        return f"Never: {about.never}."
    if entry.value <= 0:
        return f"Always: {about.above} at every {name}."
    policy = f"{about.above} from {units.show(entry.rounded, about.column)} on"
    side = about.above if entry.chosen >= entry.value else about.below
    return (
        f"{in_words(entry.quantity).capitalize()} at {name} "
        f"{units.show(entry.value, about.column)}: {policy}, {about.below} below. "
        f"At {chosen}, as here: {side}."
    )


def runner_up_section(pick: Pick, other: Pick | None, goals: Sequence[str]) -> Section:
    """Return the next best design, and by how much it loses."""
    if other is None:
        line = "None: the front holds no other design, and no other choice comes next."
        return Section("runner_up", "Runner-up", (line,))
    parts = [
        f"{in_words(name)} {units.show(other.quantities[name], name)} "
        f"({change(other.quantities[name], pick.quantities[name])})"
        for name in goals
    ]
    line = f"{design_line(other)}: {joined(parts)}."
    facts = other.plain() | {"differences": differences(pick, other, goals)}
    return Section("runner_up", "Runner-up", (line,), facts=facts)


def best_section(picks: Mapping[Goal, Pick]) -> Section:
    """Return the best design for each objective."""
    rows = tuple(
        (
            f"{'most' if goal.maximise else 'least'} {in_words(goal.name)}",
            units.show(found.quantities[goal.name], goal.name),
            design_line(found),
        )
        for goal, found in picks.items()
    )
    facts = {goal.name: found.plain() for goal, found in picks.items()}
    if len(rows) < 2:
        return Section("best", facts=facts)
    if len({design_line(found) for found in picks.values()}) == 1:
        line = f"{next(iter(rows))[2]} is best for every objective."
        return Section("best", lines=(line,), facts=facts)
    return Section("best", "Best for each objective", rows=rows, facts=facts)


def notes_section(found: Sequence[str]) -> Section:
    """Return what stands behind the numbers."""
    return Section("notes", lines=tuple(f"note: {note}" for note in found), facts=list(found))
