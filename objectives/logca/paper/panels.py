"""Speedup against granularity: the panels that the figures of the LogCA paper are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dse.contract.papers import Mark, Panel, Region, Series
from dse.objectives.logca.model import LogCA
from dse.objectives.logca.regions import PARAMETERS, power_of_two_cutoffs

SIZES = np.geomspace(2.0**4, 2.0**25, 169)
"""Granularities of the figures, in bytes: 16 B to 32 MiB (section 4), 8 per doubling."""

BREAK_EVEN, HALF = "$g_1$", "$g_{A/2}$"

Curve = NDArray[np.float64]


def curve(label: str, y: Curve, *, floor: float, dashed: bool = False) -> Series:
    """Return a curve over `SIZES` without what lies below `floor`."""
    kept = y >= floor
    return Series(label=label, x=SIZES[kept], y=y[kept], style="dashed" if dashed else "line")


def level(label: str, y: float) -> Series:
    """Return a horizontal line across all granularities."""
    return Series(label=label, x=SIZES[[0, -1]], y=(y, y), style="dashed")


def panel(title: str, series: Sequence[Series], marks: Sequence[Mark] = ()) -> Panel:
    """Return axes of speedup against granularity."""
    return Panel(
        title=title,
        x_label="granularity [B]",
        y_label="speedup [times]",
        series=tuple(series),
        marks=tuple(marks),
        x_scale="log2",
        y_scale="log",
    )


def milestones(device: LogCA, suffix: str = "") -> tuple[Mark, ...]:
    """Return marks at g_1 and g_A/2, where they exist and are drawn."""
    places = ((BREAK_EVEN, device.break_even()), (HALF, device.half_acceleration()))
    return tuple(
        Mark(label=label + suffix, x=float(place))
        for label, place in places
        if SIZES[0] <= place <= SIZES[-1]
    )


def bounds_panel(device: LogCA, *, floor: float) -> tuple[Series, ...]:
    """Return the acceleration and, with latency per byte, the computational intensity (eq 9)."""
    limits = [level("acceleration A", device.acceleration)]
    if device.latency_per_byte:
        intensity = device.intensity_bound(SIZES)
        limits.append(curve("intensity C/L · gᵝ⁻¹", intensity, floor=floor, dashed=True))
    return tuple(limits)


def device_panel(title: str, device: LogCA) -> Panel:
    """Return one device's speedup with its bounds, g_1 and g_A/2."""
    speedup = device.speedup(SIZES)
    floor = 1e-4 * float(speedup.max())
    series = (curve("speedup", speedup, floor=max(floor, 0.01)), *bounds_panel(device, floor=floor))
    return panel(title, series, milestones(device))


SHADES = ("oC", "oCA", "A", "LoC", "LoCA", "CA", "LCA", "LC")
"""Regions that share a colour in all figures."""


def optimisation_panel(title: str, device: LogCA) -> Panel:
    """Return one device's speedup over its optimisation regions, cut at powers of two."""
    found = power_of_two_cutoffs(device)
    ends = {end for intervals in found.values() for interval in intervals for end in interval}
    inside = sorted(end for end in ends if SIZES[0] < end < SIZES[-1])
    edges = (float(SIZES[0]), *inside, float(SIZES[-1]))
    shaded = []
    for low, high in pairwise(edges):
        middle = np.sqrt(low * high)
        label = "".join(
            letter
            for name, letter in PARAMETERS.items()
            if any(first <= middle < last for first, last in found[name])
        )
        shade = SHADES.index(label) if label in SHADES else None
        shaded.append(Region(label=label, low=low, high=high, shade=shade))
    plain = device_panel(title, device)
    return replace(plain, regions=tuple(shaded))
