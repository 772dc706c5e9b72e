"""Search where each design takes minutes: a Gaussian process chooses what to evaluate next.

`search` has the loop, `beginning` the first designs, `process` the regression, `boxes` and
`improvement` what a design is expected to add, `feasible` whether it meets the constraints.

May import `dse.search`, `dse.model` and what they may import.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

MOST_DESIGNS = 100_000
"""Spaces of at most so many designs are enumerated: all of them are compared for each batch."""


def method_for(sizes: Sequence[int]) -> str:
    """Return the name of the method that suits expensive designs on axes of these sizes."""
    return "gaussian" if math.prod(sizes) <= MOST_DESIGNS else "tpe"
