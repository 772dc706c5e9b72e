"""What doing without accelerators would take, beside the design that is recommended."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dse.algebra import units
from dse.answers.design import Pick
from dse.model.evaluation import Goal
from dse.reports.sections import Section
from dse.reports.words import in_words, listed, relative_change
from dse.runs.instead import Without


def stay_line(found: Sequence[Without], pick: Pick, wanted: str, goals: Sequence[Goal]) -> str:
    """Return what stays rather than any design, as a sentence; empty where nothing does.

    `wanted` is what the best design has: ``least power``.
    """
    for entry in found:
        if entry.dominates:
            return f"Leave it to {entry.words}, which dominates the best design."
        if entry.better:
            but = listed([*_worse(entry, pick, goals)])
            line = f"Leave it to {entry.words}, which has the {wanted} of all"
            return f"{line}, but {but}." if but else f"{line}."
    return ""


def _worse(entry: Without, pick: Pick, goals: Sequence[Goal]) -> Iterator[str]:
    """Yield the objectives in which a design is better, or is not known to be worse."""
    for goal in goals:
        value, design = entry.costs.get(goal.name), pick.quantities[goal.name]
        if value is None:
            yield f"its {in_words(goal.name)} is unknown"
        elif (value < design) if goal.maximise else (value > design):
            shown = [units.show(number, goal.name) for number in (value, design)]
            yield f"its {in_words(goal.name)} is {shown[0]}, not {shown[1]}"


def without_section(found: Sequence[Without], pick: Pick, told: str | None) -> Section:
    """Return what it takes to do without accelerators."""
    lines = tuple(entry.text(pick.quantities, told) for entry in found)
    facts = []
    for entry in found:
        shares = _differences(entry, pick)
        times = {name: 1.0 + share for name, share in shares.items()}
        facts.append(entry.to_dict() | {"differences": shares, "times": times})
    return Section("instead", "Without accelerators", lines, facts=facts, brief=lines)


def _differences(entry: Without, pick: Pick) -> dict[str, float]:
    """Return by which share of a design's quantities the costs differ."""
    shares = {
        name: relative_change(value, pick.quantities[name])
        for name, value in entry.costs.items()
        if name in pick.quantities
    }
    return {name: share for name, share in shares.items() if share is not None}
