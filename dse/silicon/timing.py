"""Static timing of a mapped netlist."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Delay:
    """Time (s) from an input to a rising and to a falling output."""

    rise_s: float
    fall_s: float


@dataclass(frozen=True)
class PathStep:
    """A step of a path: `increment_s` to the edge ("rise" or "fall") of an instance's pin.

    `arrival_s` counts from the clock's edge.
    """

    instance: str
    cell: str
    pin: str
    edge: str
    increment_s: float
    arrival_s: float


@dataclass(frozen=True, eq=False)
class Timing:
    """When every net settles.

    Attributes
    ----------
    period_s
        Least clock period: clock to output, the longest path, setup.
    critical_path
        Its steps; the last is the setup.
    delays
        By position of the instance, input pin and output pin.
    rise_slews_s, fall_slews_s
        Slew (s) of each net, shape (net_count,), the worst of its arcs.
    loads_f
        Load (F) of each net: pins, wire and ports, shape (net_count,).
    notes
        What was assumed or clipped.
    """

    period_s: float
    critical_path: tuple[PathStep, ...]
    delays: Mapping[tuple[int, str, str], Delay]
    rise_slews_s: NDArray[np.float64]
    fall_slews_s: NDArray[np.float64]
    loads_f: NDArray[np.float64]
    notes: tuple[str, ...] = ()
