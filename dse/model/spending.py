"""What measuring takes of the time that it may take, and whether it fails too often."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from dse.contract.evaluators import Measurement

FIRST, LATELY = 5, 20
"""Of so many first and last designs it counts how many failed."""


@dataclass
class Spending:
    """Time in which one run measures, all values of its sweep together.

    Attributes
    ----------
    time_s
        The most that measuring may take, infinite where nothing is said.
    spent_s
        Time in which something was measured, by earlier processes as well.
    longest_s
        Of the designs so far, the most that one took.
    failing
        Why nothing more is measured: too many designs failed; empty where they did not.
    """

    time_s: float = math.inf
    spent_s: float = 0.0
    longest_s: float = 0.0
    failing: str = ""
    _lately: list[bool] = field(default_factory=list)
    _met: int = 0
    _since: float | None = None

    @contextmanager
    def measuring(self) -> Iterator[None]:
        """Count the time inside."""
        self._since = time.monotonic()
        try:
            yield
        finally:
            self.spent_s, self._since = self.elapsed_s, None

    @property
    def elapsed_s(self) -> float:
        """Time in which something was measured, until now."""
        return self.spent_s + (0.0 if self._since is None else time.monotonic() - self._since)

    def may_begin(self) -> bool:
        """Return whether a design that takes as long as any before ends within the time."""
        return self.elapsed_s + self.longest_s <= self.time_s

    def took(self, found: Measurement) -> None:
        """Learn from a measurement how long one may take."""
        self.longest_s = max(self.longest_s, found.seconds)

    def met(self, found: Measurement, most: int) -> None:
        """Give up where a new measurement and those before it failed too often; `most` 0: never.

        The first `FIRST` all failed, or so many of the last `LATELY`.
        """
        self._lately = [*self._lately[1 - LATELY :], found.failed]
        self._met += 1
        failed = sum(self._lately)
        if most and (failed == self._met == FIRST or failed >= most):
            which = f"{failed} of the last {len(self._lately)}"
            which = f"the first {failed}" if failed == self._met else which
            self.failing = f"{which} designs failed, the last one: {found.cause}"
