"""Questions on numbers: the range over which an answer holds, and the best answer of a range."""

from __future__ import annotations

from collections.abc import Callable

from dse.api.arguments import Names, public, texts
from dse.api.runs import Source, study_of
from dse.api.studies import Overrides
from dse.parametric.decision_map import DecisionMap, find_map
from dse.parametric.flips import Flips, find_flips
from dse.search.settings import budget_of
from dse.study import study as studies


@public
def flips(
    source: Source,
    *,
    only: Names = (),
    prefer: str | None = None,
    overrides: Overrides | None = None,
    time: str | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> Flips:
    """Find for every assumption of a study the range with the same answer.

    >>> print(dse.flips("studies/des_100gbps.yaml", only=["rate"]))

    Parameters
    ----------
    source, prefer, overrides
        As in `answer`.
    only
        Only assumptions of this dotted name, or whose name has it between dots.
    time : TIME
        Most CPU time: "10 min" (default: search.effort).  Unfinished assumptions are named.
    progress
        Called with the name of the next assumption, the number checked so far, and the number
        of all.

    Raises
    ------
    dse.errors.DseError
        The request is invalid, or `InfeasibleError`: no design fits.
    """
    prepared = studies.prepare(study_of(source, overrides))
    budget = budget_of(time).within(prepared.settings)
    chosen = prepared.preferring(prefer)
    return find_flips(
        prepared, preference=chosen, only=texts(only), budget=budget, progress=progress
    )


@public
def decision_map(
    source: Source,
    range_: str,
    other_range: str | None = None,
    *,
    prefer: str | None = None,
    counts: bool = False,
    by: Names = (),
    overrides: Overrides | None = None,
    time: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> DecisionMap:
    """Find the best answer over a range of one number, with exact crossovers, or over two.

    >>> dse.decision_map("studies/des_100gbps.yaml", "rate=60..120Gbps")
    >>> dse.decision_map("studies/crypto_interface_100gbps.yaml", "rate=1..400Gbps",
    ...                  "granularity=64B..64KiB", by="device")

    Parameters
    ----------
    source, prefer, overrides
        As in `answer`.
    range_ : NAME=FROM..TO
        Assumption and range: rate=1..240Gbps.  Crossovers along it are exact.
    other_range : NAME=FROM..TO
        Another assumption and its range, for a map over two.  Its values are denser between
        different answers.
    counts
        Distinguish designs by minimum instance counts, too.
    by : AXIS
        Distinguish designs by this choice only (default over two numbers: device, or design).
    time : TIME
        Most CPU time: "10 min" (default: search.effort).  The end of the settled range is
        stated.
    progress
        Called with the work done and the work planned: in hundredths for one number, in rows
        for two.

    Raises
    ------
    dse.errors.DseError
        A range cannot be read, or names nothing that the study assumes.
    """
    return find_map(
        study_of(source, overrides),
        (range_,) if other_range is None else (range_, other_range),
        prefer=prefer,
        counts=counts,
        by=texts(by),
        progress=progress,
        budget=budget_of(time),
    )
