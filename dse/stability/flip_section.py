"""What would change an answer, as a section of it: the assumptions that take least."""

from __future__ import annotations

import math

from dse.model.preference import prefer
from dse.model.space import Index
from dse.reports.sections import Section
from dse.stability import flips, rivals
from dse.stability.boundary import SCREENED
from dse.stability.flip_search import find_flips
from dse.stability.tracking import TrackedAnswer
from dse.study.study import Study

KEY, TITLE = "flips", "What would change it"
HEADERS = ("assumption", "today", "same from", "to", "takes", "then")

NEAR = 2.0
"""Unless all is asked for, assumptions are moved from their value over this to so many times it."""

SHOWN = 8
"""Flips that are shown unless all are asked for."""


def flips_section(
    study: Study, front: Index, preferred: str | None, *, exact: bool, full: bool
) -> Section | None:
    """Return what would change the answer to a study; None where it is not worth a word.

    Parameters
    ----------
    study, front
        A study and its front (n, d).
    preferred
        What is preferred, as `dse.model.preference.prefer` takes it.
    exact
        Whether the front is proven.
    full
        Look at the whole range and show every flip, however long it takes.
    """
    if not exact:
        reason = "The front is not proven, so it cannot tell; dse flips searches every design."
        return _without(reason) if full else None
    problem = study.problem
    decided = TrackedAnswer(prefer(problem, preferred)).column(problem) is not None
    if not full and not decided:
        return _without(
            "A knee or an expression is followed from point to point, which takes longer: "
            "ask with --flips."
        )
    if not full and problem.size > SCREENED and not rivals.composes(problem):
        return _without("The space is large, and to follow the answer takes long: use --flips.")
    factor = flips.FACTOR if full else NEAR
    return told(find_flips(study, written=preferred, factor=factor, known=front), full=full)


def sweep_without_flips() -> Section:
    """Return what a study with a sweep is told."""
    return _without(
        "A sweep has an answer for each value: dse sweep tells where they change places, and "
        "--set of the swept field asks about one of them."
    )


def told(found: flips.Flips, *, full: bool) -> Section:
    """Return flips as a section: those that take least first."""
    moving = [entry for entry in found.found if math.isfinite(entry.least_change)]
    shown = moving if full else moving[:SHOWN]
    still = len(found.found) - len(moving)
    counts = {"looked_at": len(found.found), "change_nothing": still, "shown": len(shown)}
    least = "half" if found.factor == NEAR else f"1/{found.factor:g}"
    most = "twice" if found.factor == NEAR else f"{found.factor:g} times"
    lines = [
        f"Each of {len(found.found)} assumptions was moved alone, from {least} to {most} its "
        f"value; {still or 'none'} of them change nothing."
    ]
    if shown:
        lines.append("The answer stays the same within these intervals; any is as far as that.")
    if not found.is_complete:
        lines.append("It was searched at points: a narrow window between them can hide.")
    remarks = []
    if len(moving) > len(shown):
        counts["left_out"] = len(moving) - len(shown)
        names = ", ".join(entry.name for entry in moving[len(shown) :])
        remarks.append(f"Those that take more: {names}.")
    if any(side.limited for entry in found.found for side in (entry.low, entry.high)):
        remarks.append("Where the space grows beyond what is searched, the range ends there.")
    if not full:
        counts["widest_range_factor"] = int(flips.FACTOR)
        remarks.append(f"With --flips they are moved up to {flips.FACTOR:g} times either way.")
    return Section(
        KEY,
        TITLE,
        tuple(lines),
        HEADERS if shown else (),
        tuple(flips.row(found, entry) for entry in shown),
        tuple(remarks),
        facts=counts | found.to_dict(),
    )


def _without(reason: str) -> Section:
    return Section(KEY, TITLE, (reason,), facts={"reason": reason})
