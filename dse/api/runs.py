"""Looking at a run while it goes on, after it was killed, or when it is finished."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dse.api.arguments import Count, folder_of, public

if TYPE_CHECKING:
    from dse.runs.result import Result
    from dse.runs.status import Status


@public
def status(run: str | Path | Result, *, rows: Count = 5) -> Status:
    """Return how far a run is: what is measured, running and failed, and the best so far.

    >>> print(dse.status("runs/synth"))

    Parameters
    ----------
    run
        Folder of a run, as `dse run` wrote it.  The run may go on meanwhile.
    rows
        Most designs, and causes of failures, to show.

    Raises
    ------
    dse.errors.OutputError
        When it is not the folder of a run.
    dse.errors.StoreError
        When its measurements cannot be read.
    """
    from dse.runs.status import status_of

    return status_of(folder_of(run), rows=rows)
