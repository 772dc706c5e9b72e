"""How far along a number an answer holds, and why no further."""

from __future__ import annotations

from dataclasses import dataclass

TOO_MANY = "the space grows beyond what is searched exactly"
OVERFLOW = "a quantity grows beyond every number"
"""Why a range ends early."""


@dataclass(frozen=True, kw_only=True)
class Edge:
    """How far an answer holds, in SI.

    Attributes
    ----------
    holds_to
        The last value at which it was found to hold.
    flips_at
        The first value at which it was found not to; None when it holds up to the limit.
    complete
        Every design was compared; False when only exact searches at some values were.
    limited
        Why nothing is known beyond `holds_to`: `TOO_MANY` or `OVERFLOW`; empty where the range ends
        as asked.
    """

    holds_to: float
    flips_at: float | None = None
    complete: bool = True
    limited: str = ""
