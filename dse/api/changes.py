"""Asking of numbers: how far an answer holds, which answer is best where."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from dse.api.arguments import (
    Duration,
    Names,
    Percent,
    Range,
    Size,
    also_unfinished,
    public,
    study_of,
    texts,
)

if TYPE_CHECKING:
    from dse.api.arguments import Overrides, StudySource
    from dse.parametric.crossovers import Crossovers
    from dse.parametric.decision_map import DecisionMap
    from dse.parametric.flips import Flips
    from dse.runs.result import Result


@public
@also_unfinished
def flips(
    source: StudySource | Result,
    *,
    only: Names = (),
    prefer: str | None = None,
    tolerance: Percent | None = None,
    overrides: Overrides | None = None,
    time: Duration | None = None,
    memory: Size | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> Flips:
    """Say for every assumption of a study how far it may move before the answer changes.

    >>> print(dse.flips("studies/des_100gbps.yaml", only=["rate"]))

    Parameters
    ----------
    source, prefer, tolerance, overrides, memory
        As in `answer`.
    only
        Only assumptions of this dotted name, or whose name has it between dots.
    time
        Most CPU time: "10 min" (default: search.effort).  What there was no time for is named.
    progress
        Called with the name of the assumption that is checked next, how many were so far, and how
        many there are.

    Raises
    ------
    dse.errors.DseError
        When the request makes no sense; `InfeasibleError` when no design fits.
    """
    from dse.parametric.flip_search import find_flips
    from dse.search.settings import budget_of
    from dse.study import study as studies

    prepared = studies.prepare(study_of(source, overrides))
    budget = budget_of(time, memory).within(prepared.settings)
    chosen = prepared.preferring(prefer, tolerance)
    return find_flips(
        prepared, preference=chosen, only=texts(only), budget=budget, progress=progress
    )


@public
def sweep(
    source: StudySource | Result,
    range_: Range | None = None,
    *,
    prefer: str | None = None,
    tolerance: Percent | None = None,
    front: bool = False,
    counts: bool = False,
    by: Names = (),
    overrides: Overrides | None = None,
    time: Duration | None = None,
    memory: Size | None = None,
    progress: Callable[[float], None] | None = None,
) -> Crossovers:
    """Say which design holds which interval of a number, with exact crossovers.

    >>> dse.sweep("studies/des_100gbps.yaml", "rate=60..120Gbps")

    Parameters
    ----------
    source, prefer, tolerance, overrides, memory
        As in `answer`.
    range_
        Assumption and range: rate=1..240Gbps (default: the sweep of the study).
    front
        Follow every design of the front, not only the answer.
    counts
        Tell designs apart by minimum instance counts too.
    by : AXIS
        Tell designs apart by this choice alone, device for instance.
    time
        Most CPU time: "10 min" (default: search.effort).  Up to where the range is settled is
        said.
    progress
        Called with the share of the range that is done.

    Raises
    ------
    dse.errors.DseError
        When the range cannot be read, or names nothing that the study assumes.
    """
    from dse.parametric.sweep_search import find_crossovers
    from dse.search.settings import budget_of

    return find_crossovers(
        study_of(source, overrides),
        range_,
        prefer=prefer,
        tolerance=tolerance,
        front=front,
        counts=counts,
        by=texts(by),
        progress=progress,
        budget=budget_of(time, memory),
    )


@public
def decision_map(
    source: StudySource | Result,
    range_: Range,
    other_range: Range,
    *,
    prefer: str | None = None,
    tolerance: Percent | None = None,
    counts: bool = False,
    by: Names = (),
    known: str | Path | None = None,
    overrides: Overrides | None = None,
    time: Duration | None = None,
    memory: Size | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> DecisionMap:
    """Say which answer is best where, over two numbers.

    >>> dse.decision_map("studies/crypto_interface_100gbps.yaml", "rate=1..400Gbps",
    ...                  "granularity=64B..64KiB", by="device")

    Parameters
    ----------
    source, prefer, tolerance, overrides, memory
        As in `answer`.
    range_
        Assumption and range.  Crossovers along it are exact.
    other_range
        Another assumption and its range.  Its values are closer where the answers differ.
    counts, by
        As in `sweep`.
    known
        The map.json of the same question: its rows are taken, and more are added.
    time
        Most CPU time: "10 min" (default: search.effort).
    progress
        Called with how many rows are done, and how many are known to be wanted.

    Raises
    ------
    dse.errors.DseError
        When a range cannot be read, or names nothing that the study assumes.
    """
    from dse.parametric.decision_map import find_map
    from dse.search.settings import budget_of

    return find_map(
        study_of(source, overrides),
        (range_, other_range),
        prefer=prefer,
        tolerance=tolerance,
        counts=counts,
        by=texts(by),
        known=None if known is None else Path(known),
        progress=progress,
        budget=budget_of(time, memory),
    )
