"""What is measured right now: a small file that other processes read while a run goes on."""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from dse.contract.evaluators import Measurement
from dse.errors import OutputError
from dse.files.folder import write_text
from dse.files.json import read_json

if TYPE_CHECKING:
    from dse.evaluators.attempts import Attempt
    from dse.evaluators.pool import Workers

WATCH = "watch.json"
"""The file, in the hidden folder of a run under way: it goes with the process."""

PERIOD_S = 0.5
"""It is written at most so often."""


@dataclass
class WatchedWorkers:
    """Workers, and a file that tells what they do; it may be lost, and nothing else is then.

    Attributes
    ----------
    workers, path
        Who works, and the file.
    unit_names
        As of `dse.model.measured.Bench`.
    """

    workers: Workers
    path: Path
    unit_names: Mapping[str, str]
    _since: float = field(default_factory=time.time)
    _running: dict[int, dict[str, Any]] = field(default_factory=dict)
    _changed: bool = True
    _written: float = 0.0

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Leave ending them to who began."""

    @property
    def size(self) -> int:
        """As of `Workers`."""
        return self.workers.size

    def begin(self, attempt: Attempt) -> None:
        """Give out an attempt."""
        said = {"design": dict(attempt.design), "since": time.time()}
        self._running[attempt.number], self._changed = said, True
        self.workers.begin(attempt)

    def ended(self, wait_s: float) -> Sequence[tuple[int, Measurement | None]]:
        """Return what ended."""
        self._tell()
        found = self.workers.ended(wait_s)
        for number, _ in found:
            self._running.pop(number, None)
            self._changed = True
        return found

    def drop(self) -> None:
        """End all attempts that were given out."""
        self._running.clear()
        self.workers.drop()

    def _tell(self) -> None:
        now = time.monotonic()
        if not self._changed or now - self._written < PERIOD_S:
            return
        self._changed, self._written = False, now
        said = {
            "process": os.getpid(),
            "host": platform.node(),
            "since": self._since,
            "workers": self.size,
            "unit_names": dict(self.unit_names),
            "running": list(self._running.values()),
        }
        with suppress(OutputError):  # a full disk: what is measured tells of it
            write_text(self.path, json.dumps(said))


def read_watch(folder: Path) -> Mapping[str, Any]:
    """Return what the run says that is written in a hidden folder, nothing where it does not."""
    try:
        found = read_json(folder / WATCH)
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
