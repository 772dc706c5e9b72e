"""The one tolerance: numbers this close are equal, whichever way they were added up."""

from __future__ import annotations

from typing import Any

import numpy as np

TOLERANCE = 1e-12
"""Relative: losses are rounded to it (`dse.model.problem.rounded`), constraints met within it."""

VIOLATED = float(np.finfo(np.float64).eps)
"""Violation of what must not be equal, where it is."""


def met_when_equal(violation: Any, equal: Any, *, strict: bool = False) -> Any:
    """Return a violation that is 0 where both sides are equal; `VIOLATED` if they must not be."""
    return np.where(equal, VIOLATED if strict else 0.0, violation)


def settled(violation: Any, *, strict: bool = False) -> Any:
    """Return a violation relative to its bound, within the tolerance."""
    return met_when_equal(violation, np.abs(violation) <= TOLERANCE, strict=strict)
