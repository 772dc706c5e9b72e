"""What other choices cost, and what a sweep finds, as tables of an answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dse.algebra import units
from dse.answers.alternatives import Alternative
from dse.answers.design import Pick
from dse.answers.shortfall import Shortfall
from dse.answers.words import (
    amount,
    change,
    differences,
    is_name,
    joined,
    percent,
    quantity,
    standing,
    value,
)
from dse.reports.sections import Section
from dse.reports.words import in_words
from dse.study.schema import SECTIONS
from dse.study.study import Sweep

MOST_ROWS = 15
"""Rows of a table of alternatives; the cheapest stand first."""


def others_section(
    axis: str,
    found: Sequence[Alternative],
    pick: Pick,
    goals: Sequence[str],
    preferred: str | None,
) -> Section:
    """Return what every other choice on one axis would cost, one line each.

    `preferred` is the quantity that decides, None where several do.
    """
    entries = [(entry, entry.closest) for entry in found]
    picks = [other for _, other in entries if other is not None]
    columns = _columns(axis, picks, goals)
    with_names = not {other.name for other in picks} <= {entry.choice for entry in found}
    compared = preferred if preferred in pick.quantities else None
    headers = ["instead", *(["design"] if with_names else []), *map(in_words, columns)]
    rows = []
    for entry, other in entries[:MOST_ROWS]:
        if other is None:
            continue
        cells = [entry.choice if entry.design else f"{entry.choice} (!)"]
        cells += [other.name] if with_names else []
        cells += [_cell(other, name) for name in columns]
        if compared:
            told = change(other.quantities[compared], pick.quantities[compared])
            cells.append(told if entry.does_what_is_asked else "")
        rows.append(tuple(cells))
    headers += ["change"] if compared else []
    failing = [entry for entry in found[:MOST_ROWS] if entry.design is None]
    remarks = [f"(!) {entry.choice} is infeasible: {_why(entry)}." for entry in failing]
    if len(found) > MOST_ROWS:
        remarks.append(f"... and {len(found) - MOST_ROWS} more, which --json lists.")
    facts = {
        "choices": [_plain(entry, pick, goals) for entry in found],
        "left_out": max(len(found) - MOST_ROWS, 0),
    }
    title = f"Any other {_axis_words(axis)}"
    return Section(f"instead.{axis}", title, (), tuple(headers), tuple(rows), tuple(remarks), facts)


def sweep_section(
    sweep: Sweep, picks: Sequence[Pick | None], goals: Sequence[str], preferred: str
) -> Section:
    """Return one line per value of a sweep: the design, its objectives, what limits it."""
    columns = _columns("", [pick for pick in picks if pick is not None], goals)
    headers = (in_words(sweep.path), "design", *map(in_words, columns), "limited by")
    rows: list[tuple[str, ...]] = []
    facts = []
    for number, pick in zip(sweep.values, picks, strict=True):
        start = value(number, sweep.column)
        facts.append({sweep.column or sweep.path: number} | (pick.plain() if pick else {}))
        if pick is None:
            rows.append((start, "none is feasible", *("" for _ in columns), ""))
            continue
        limit = ", ".join(entry.bounds[0].words for entry in pick.limits)
        rows.append((start, pick.name, *(_cell(pick, name) for name in columns), limit))
    line = (
        f"{standing(preferred)}, for each {in_words(sweep.path)}; "
        f"for all about one of them add --set {sweep.path}=..."
    )
    return Section("sweep", lines=(line,), headers=headers, rows=tuple(rows), facts=facts)


def _axis_words(axis: str) -> str:
    section, _, name = axis.partition(".")
    if section in SECTIONS:
        return in_words(name)
    return f"{section} {in_words(name) or 'fleet'}"


def _columns(axis: str, picks: Sequence[Pick], goals: Sequence[str]) -> list[str]:
    """Return what tells designs apart: choices that differ, objectives, and what is bounded."""
    choices = dict.fromkeys(name for pick in picks for name in pick.choices)
    differing = [
        name
        for name in choices
        if name != axis
        and len({pick.choices.get(name) for pick in picks}) > 1
        and not all(is_name(pick, name) for pick in picks)
    ]
    bounded = dict.fromkeys(n for pick in picks for n in pick.quantities if n in pick.most)
    return [*differing, *goals, *(name for name in bounded if name not in goals)]


def _cell(pick: Pick, name: str) -> str:
    if name in pick.choices:
        return value(pick.choices[name], name)
    return quantity(pick, name) if name in pick.quantities else "none"


def _why(entry: Alternative) -> str:
    if not entry.shortfalls:
        return "no design was found"
    told = [miss_text(miss, together=entry.together) for miss in entry.shortfalls]
    return joined(told, "and" if entry.together else "or")


def miss_text(miss: Shortfall, *, together: bool = False) -> str:
    """Return which constraint fails and by how much; `together` with others."""
    if miss.value is None:
        return f"it misses {miss.rule} by {percent(miss.violation)}"
    if miss.bound is None:
        return f"it misses {miss.rule} with {amount(miss.value, miss.quantity)}"
    most = "" if together else "no more than "
    verb = f"it reaches {most}".rstrip() if miss.at_least else "it needs"
    bound = units.show(miss.bound, miss.quantity)
    return f"{verb} {amount(miss.value, miss.quantity)} of {bound}"


def _plain(entry: Alternative, pick: Pick, goals: Sequence[str]) -> dict[str, Any]:
    facts: dict[str, Any] = {"choice": entry.choice, "feasible": entry.design is not None}
    if entry.design is not None:
        facts |= entry.design.plain() | {"differences": differences(pick, entry.design, goals)}
    if entry.shortfalls:
        facts |= {
            "together": entry.together,
            "misses": [miss.plain() for miss in entry.shortfalls],
            "differences": differences(pick, entry.shortfalls[0].design, goals),
        }
    return facts
