"""How far a run of models is, written every few seconds: nothing else is kept before its end."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from dse.contract import Matrix
from dse.runs.run_files import begin_manifest
from dse.search.history import History, quick_part
from dse.search.settings import FrontWatcher, Progress

PERIOD_S, SHARE = 2.0, 0.02
"""Least time from one record to the next, and the most that it takes of the time of the search."""


class ProgressRecord:
    """A `Progress` that writes the counts and how the front grew, and passes them on."""

    def __init__(self, path: Path, inner: Progress | None, **facts: Any) -> None:
        """Begin; `facts` are written each time."""
        self._path, self._inner = path, inner
        self._facts = {"since": time.time()} | facts
        self._front: Callable[[], Matrix] = lambda: np.empty((0, 1))
        self._history, self._due = History(), time.monotonic() + PERIOD_S

    def watch(self, front: Callable[[], Matrix]) -> None:
        """Take a function that returns the losses (n, m) of the front so far."""
        self._front = front
        if isinstance(self._inner, FrontWatcher):
            self._inner.watch(front)

    def __call__(self, done: int, total: int) -> None:
        """Take how many designs are evaluated or pruned, of how many at most."""
        if self._inner is not None:
            self._inner(done, total)
        front = self._front()
        self._history.add(done, front)
        start = time.monotonic()
        if len(front) and start >= self._due:
            grown = self._history.growth(done, quick_part(front))
            begin_manifest(self._path, **self._facts, done=done, most=total, grown=grown)
            end = time.monotonic()
            self._due = end + max(PERIOD_S, (end - start) / SHARE)
