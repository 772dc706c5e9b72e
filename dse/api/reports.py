"""Finished runs as one web page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dse.api.arguments import Duration, Limit, Percent, Size, folder_of, public
from dse.api.pages import write_page
from dse.errors import ArgumentError

if TYPE_CHECKING:
    from dse.page.page_run import PageRun
    from dse.runs.result import Result

MOST_BYTE = 5_000_000
"""Size of a page that holds answers."""


@public
def report(
    *runs: str | Path | Result,
    out: str | Path | None = None,
    prefer: str | None = None,
    tolerance: Percent | None = None,
    flips: bool = False,
    living: bool = False,
    time: Duration | None = None,
    memory: Size | None = None,
    cloud: Limit = 100_000,
    progress: Callable[[int, int], None] | None = None,
) -> Path:
    """Write finished runs as one web page, which needs no network and no other file.

    >>> dse.report("runs/settop", out="settop.html")

    Parameters
    ----------
    runs : RUN...
        Folders of runs, as `dse run` wrote them.  Or `Result` s that were saved; several share a
        page when they have the same objectives and sweep the same field, if any.
    out
        Page to write (default: report.html in the first folder).
    prefer, tolerance, memory
        As in `answer`.
    flips
        Include flip points: what would change the answer.
    living
        Include proven answers with the rate and other numbers moved, at most three of those that
        change the answer, on a grid with their flip points; for one run.  The page has 5 MB at
        most.
    time
        Most CPU time for other choices and flip points of each run: "1 min" (default: 10 s), and
        for the answers of a living page (default: 5 min).
    cloud
        Most feasible designs to draw, over all runs.
    progress
        Called with how many assumptions were checked, or answers found, and how many there are.

    Returns
    -------
    Path
        The page.

    Raises
    ------
    dse.errors.DseError
        When a folder is no run or was changed since, when runs have no page in common, or when the
        page cannot be written.
    """
    from dse.search.settings import budget_of

    if not runs:
        raise ArgumentError("report(): give at least one run")
    budget_of(time, memory)  # what makes no sense is refused before anything is read
    return write_page(
        [folder_of(run) for run in runs],
        out,
        prefer=prefer,
        tolerance=tolerance,
        flips=flips,
        hold=partial(_held, prefer, tolerance, time, progress) if living else None,
        time=time,
        memory=memory,
        cloud=cloud,
        progress=progress,
    )


def _held(
    prefer: str | None,
    tolerance: str | None,
    time: str | None,
    progress: Callable[[int, int], None] | None,
    shown: Sequence[PageRun],
    size: int,
) -> dict[str, Any]:
    """Return the answers that a page holds, which has a size in bytes without them."""
    from dse.api.living import LIVING_TIME, living_facts
    from dse.search.settings import budget_of

    if len(shown) > 1:
        raise ArgumentError("living: a page holds the answers of one run; make one of each")
    if size > MOST_BYTE // 2:
        raise ArgumentError("living: the page has no room for answers; draw less: --cloud 10000")
    return living_facts(
        shown[0].run.document,
        prefer=prefer,
        tolerance=tolerance,
        seconds=budget_of(time or LIVING_TIME, None).seconds,
        byte=MOST_BYTE - size,
        progress=progress,
    )
