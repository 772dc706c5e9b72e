"""What doing without accelerators would take, beside the design that is recommended."""

from __future__ import annotations

from collections.abc import Sequence

from dse.answers.design import Pick
from dse.reports.sections import Section
from dse.reports.words import relative_change
from dse.runs.instead import Without


def stay_line(found: Sequence[Without]) -> str:
    """Return what stays rather than any design, as a sentence; empty where nothing does."""
    for entry in found:
        if entry.dominates:
            return f"Leave it to {entry.words}, which dominates the best design."
        if entry.better:
            return f"Leave it to {entry.words}, which is better than any design."
    return ""


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
