"""Times as people say them."""

from __future__ import annotations

import math
import re
from fractions import Fraction

_LONG = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(min|h)\s*")
_LONG_S = {"min": 60, "h": 3600}


def in_seconds(written: str) -> str:
    """Return a time of minutes or hours in seconds, ``600.000000 s``; other texts as they are."""
    found = _LONG.fullmatch(written)
    return f"{float(Fraction(found[1]) * _LONG_S[found[2]]):f} s" if found else written


def duration(seconds: float) -> str:
    """Return a time in whole seconds, or in minutes, or in hours; what is short in two digits.

    Examples
    --------
    >>> duration(0.42), duration(4.2), duration(600.0), duration(9000.0)
    ('0.42 s', '4 s', '10 min', '2.5 h')
    """
    if seconds < 1.0:
        return "less than 1 ms" if 0.0 < seconds < 1e-3 else f"{seconds:.2g} s"
    if seconds < 120.0:
        return f"{seconds:.0f} s"
    if seconds < 7200.0:
        return f"{seconds / 60.0:.0f} min"
    return f"{seconds / 3600.0:.1f} h" if math.isfinite(seconds) else "a long time"
