"""Times as people say them."""

from __future__ import annotations

import math


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
