"""A finished run as a web page."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from dse.api.arguments import Duration, Limit, Percent, Size, folder_of, public
from dse.api.pages import write_page

if TYPE_CHECKING:
    from dse.runs.result import Result


@public
def report(
    run: str | Path | Result,
    *,
    out: str | Path | None = None,
    prefer: str | None = None,
    tolerance: Percent | None = None,
    flips: bool = False,
    time: Duration | None = None,
    memory: Size | None = None,
    cloud: Limit = 100_000,
    progress: Callable[[int, int], None] | None = None,
) -> Path:
    """Write a finished run as a web page, which needs no network and no other file.

    >>> dse.report("runs/settop", out="settop.html")

    Parameters
    ----------
    run
        Folder of a run, as `dse run` wrote it.  Or a `Result` that was saved.
    out
        Page to write (default: report.html in the folder).
    prefer, tolerance, memory
        As in `answer`.
    flips
        Include flip points: what would change the answer.
    time
        Most CPU time for other choices and flip points: "1 min" (default: 10 s).
    cloud
        Most feasible designs to draw.
    progress
        Called with how many assumptions were checked, and how many there are.

    Returns
    -------
    Path
        The page.

    Raises
    ------
    dse.errors.DseError
        When the folder is no run or was changed since, or when the page cannot be written.
    """
    from dse.search.settings import budget_of

    budget_of(time, memory)  # what makes no sense is refused before anything is read
    return write_page(
        folder_of(run),
        out,
        prefer=prefer,
        tolerance=tolerance,
        flips=flips,
        time=time,
        memory=memory,
        cloud=cloud,
        progress=progress,
    )
