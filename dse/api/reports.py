"""Finished runs as one web page."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from dse.api.arguments import Duration, Limit, Percent, Size, folder_of, public
from dse.api.pages import write_page
from dse.errors import ArgumentError

if TYPE_CHECKING:
    from dse.runs.result import Result


@public
def report(
    *runs: str | Path | Result,
    out: str | Path | None = None,
    prefer: str | None = None,
    tolerance: Percent | None = None,
    flips: bool = False,
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
    time
        Most CPU time for other choices and flip points of each run: "1 min" (default: 10 s).
    cloud
        Most feasible designs to draw, over all runs.
    progress
        Called with how many assumptions were checked, and how many there are.

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
        time=time,
        memory=memory,
        cloud=cloud,
        progress=progress,
    )
