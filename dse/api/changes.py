"""Asking of numbers: how far an answer holds, which answer is best where."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from dse.api.arguments import public, texts
from dse.api.sources import Overrides, StudySource, also_unfinished, study_of
from dse.search.budget import budget_of
from dse.study import study as studies

if TYPE_CHECKING:
    from dse.parametric.crossovers import Crossovers
    from dse.parametric.decision_map import DecisionMap
    from dse.parametric.flips import Flips
    from dse.runs.result import Result


@public
@also_unfinished
def flips(
    source: StudySource | Result,
    *,
    only: str | Sequence[str] = (),
    prefer: str | None = None,
    tolerance: str | None = None,
    overrides: Overrides | None = None,
    time: str | None = None,
    memory: str | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> Flips:
    """Say for every assumption of a study how far it may move before the answer changes.

    >>> print(dse.flips("studies/des_100gbps.yaml", only=["rate"]))

    Parameters
    ----------
    source, prefer, tolerance, overrides
        As in `answer`.
    only
        Names of assumptions, or parts of their dotted names; all of them when empty.
    time, memory
        CPU time and memory that it may take; the study's ``search.effort``, ``search.memory``.
        What there was no time for is named.
    progress
        Called with the name of the assumption that is looked at next, how many were so far, and how
        many there are.

    Raises
    ------
    dse.errors.DseError
        When what was asked makes no sense; `InfeasibleError` when no design fits.
    """
    from dse.parametric.flip_search import find_flips

    prepared = studies.prepare(study_of(source, overrides))
    budget = budget_of(time, memory).within(prepared.settings)
    chosen = prepared.preferring(prefer, tolerance)
    return find_flips(
        prepared,
        preference=chosen,
        only=texts(only),
        budget=budget,
        progress=progress,
    )


@public
def sweep(
    source: StudySource | Result,
    range_: str | None = None,
    *,
    prefer: str | None = None,
    tolerance: str | None = None,
    front: bool = False,
    counts: bool = False,
    by: str | Sequence[str] = (),
    overrides: Overrides | None = None,
    time: str | None = None,
    memory: str | None = None,
    progress: Callable[[float], None] | None = None,
) -> Crossovers:
    """Say which design holds which interval of a number, with exact crossovers.

    >>> dse.sweep("studies/des_100gbps.yaml", "rate=60..120Gbps")

    Parameters
    ----------
    source, prefer, tolerance, overrides
        As in `answer`.
    range_
        ``NAME=FROM..TO``, where NAME is an assumption; None for the range of the study's sweep.
    front
        Follow which designs are on the front, whatever is preferred.
    counts
        Tell designs apart by the number of instances too where it follows from the rate.
    by
        Axes that alone tell designs apart, ``device`` for instance; all of them when empty.
    time, memory
        CPU time and memory that it may take; the study's ``search.effort``, ``search.memory``.
        Up to where the range is settled is said.
    progress
        Called with the share of the range that is done.

    Raises
    ------
    dse.errors.DseError
        When the range cannot be read, or names nothing that the study assumes.
    """
    from dse.parametric.sweep_search import find_crossovers

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
    range_: str,
    other_range: str,
    *,
    prefer: str | None = None,
    tolerance: str | None = None,
    counts: bool = False,
    by: str | Sequence[str] = (),
    overrides: Overrides | None = None,
    time: str | None = None,
    memory: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> DecisionMap:
    """Say which answer is best where, over two numbers.

    >>> dse.decision_map("studies/crypto_interface_100gbps.yaml", "rate=1..400Gbps",
    ...                  "granularity=64B..64KiB", by="device")

    Parameters
    ----------
    source, prefer, tolerance, overrides
        As in `answer`.
    range_, other_range
        ``NAME=FROM..TO`` each, where NAME is an assumption.  Crossovers along the first are exact,
        at values of the other that are closer where the answers differ.
    counts, by
        As in `sweep`.
    time, memory
        CPU time and memory that it may take; the study's ``search.effort``, ``search.memory``.
    progress
        Called with how many rows are done, and how many are known to be wanted.

    Raises
    ------
    dse.errors.DseError
        When a range cannot be read, or names nothing that the study assumes.
    """
    from dse.parametric.decision_map import find_map

    return find_map(
        study_of(source, overrides),
        (range_, other_range),
        prefer=prefer,
        tolerance=tolerance,
        counts=counts,
        by=texts(by),
        progress=progress,
        budget=budget_of(time, memory),
    )
