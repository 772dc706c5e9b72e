"""How much time the search for what would change an answer may take."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence

from dse.algebra import units
from dse.errors import UnitError

FLIPS_BUDGET = "10 s"
"""CPU time that an answer spends on what would change it, unless told otherwise."""

FULL_BUDGET = "60 s"
"""CPU time of what is asked for by itself: all flips of a study, a sweep."""

NAMED = 12
"""Names of what was not looked at that a text shows."""


class Deadline:
    """CPU time that is spent from now on; without end where `seconds` are none."""

    def __init__(self, seconds: float | None = None) -> None:
        """Start to count."""
        self.seconds = seconds
        self._end = math.inf if seconds is None else time.process_time() + seconds

    @property
    def left(self) -> float:
        """Seconds that are left, not less than 0."""
        return max(0.0, self._end - time.process_time())

    def take(self, seconds: float) -> None:
        """Count CPU time that another process spent."""
        self._end -= seconds


def not_looked_at(
    names: Sequence[str], seconds: float | None, option: str = "--flips-budget"
) -> str:
    """Say what was not looked at when the time was over, and which option gives more."""
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return (
        f"Not looked at, for {seconds:g} s of CPU time were over: {', '.join(names[:NAMED])}"
        f"{more}. How far these reach depends on the machine; {option} gives more time."
    )


def deadline(written: str, what: str = "budget") -> Deadline:
    """Return the deadline that starts now: ``60 s``.

    Raises
    ------
    UnitError
        When it is no time above 0.
    """
    try:
        seconds = units.parse(written, "budget_s")
    except UnitError as error:
        raise UnitError(f"{what} {written!r}: {error.rule}", error.remedy) from error
    if seconds <= 0:
        rule = f"{what} {written!r}: it must be more than 0"
        raise UnitError(rule, f"write for instance {FLIPS_BUDGET}")
    return Deadline(seconds)
