"""What failures are tried again, when, and which end a run at once."""

from __future__ import annotations

from dse.contract.evaluators import Measurement
from dse.errors import DseError

REPEATED = ("exit", "signal", "timeout", "output", "worker")
"""Kinds of failure that are tried again: another time a licence or a disk may be there.

Too little memory is not, for the limit is the same another time."""

LONGEST_WAIT_S = 60.0


class UnusableProgramError(DseError):
    """What measures cannot be started, for no design."""


def again(found: Measurement, attempts: int, retries: int) -> bool:
    """Return whether a measurement that was tried some times is tried once more.

    Raises
    ------
    UnusableProgramError
        The program cannot be started, so that every design would fail in the same way.
    """
    if found.kind == "start":
        raise UnusableProgramError(f"{found.cause}; nothing can be measured")
    return found.kind in REPEATED and attempts <= retries


def before_next_s(attempts: int, backoff_s: float) -> float:
    """Return the time before the next attempt: doubled after each, a minute at most.

    There is no chance in it: the same failures are tried again after the same times.

    Examples
    --------
    >>> [before_next_s(attempts, 1.0) for attempts in (1, 2, 3, 10)]
    [1.0, 2.0, 4.0, 60.0]
    """
    return float(min(LONGEST_WAIT_S, backoff_s * 2.0 ** min(attempts - 1, 30)))
