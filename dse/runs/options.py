"""What a call says over the study that it runs."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path

from dse import search
from dse.errors import ArgumentError
from dse.model.spending import Spending
from dse.runs.measuring import Working
from dse.search import Progress, Stop


@dataclass(frozen=True, kw_only=True)
class Options:
    """What a call may say over the search section of its study, and of measuring its designs.

    These are measured only where `measures` says so, `workers` at once or by the
    cluster whose scheduler is at `dask`, in folders in `folder`; the file `watch` then tells
    other processes how far it is.  Earlier processes of this run have measured for `spent_s`.
    """

    method: str | None = None
    seed: int | None = None
    budget: int | None = None
    effort_s: float | None = None
    memory_byte: float | None = None
    workers: int | None = None
    dask: str | None = None
    folder: Path | None = None
    watch: Path | None = None
    measures: bool = False
    spent_s: float = 0.0

    def __post_init__(self) -> None:
        """Refuse what excludes each other."""
        if self.workers is not None and self.dask is not None:
            raise ArgumentError(
                "workers and dask: a Dask cluster has workers of its own; give --workers to "
                "measure on this machine or --dask to measure on the cluster (`workers` or `dask` "
                "in Python), not both"
            )

    def apply(self, settings: search.SearchSettings) -> search.SearchSettings:
        """Return `settings` with what is given here."""
        names = ("method", "seed", "budget", "effort_s", "memory_byte")
        own = {name: getattr(self, name) for name in names}
        given = {name: value for name, value in own.items() if value is not None}
        if self.method not in (None, settings.method):
            given["options"] = {}  # those of the study are of its own method
        return replace(settings, **given)

    def spending(self, settings: search.SearchSettings) -> Spending:
        """Return what measuring may take in a run that is searched so, and has taken."""
        time_s = math.inf if settings.time_s is None else settings.time_s
        cost = math.inf if settings.cost is None else settings.cost
        return Spending(time_s=time_s, cost=cost, spent_s=self.spent_s)

    def working(
        self, spending: Spending, stop: Stop | None, progress: Progress | None = None
    ) -> Working | None:
        """Return how designs are measured, None where they are not."""
        if not self.measures:
            return None
        return Working(self.workers, self.dask, self.folder, self.watch, stop, progress, spending)
