"""Scales of the panels of a figure: ranges that they share, ticks in powers of two and ten."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter

from dse.contract.papers import Panel, Series
from dse.reports.drawing import log_ticks, number_ticks, whole_between

HEADROOM = 0.13
"""Share of the height kept free above the data for the labels of regions and marks."""
MOST_STRETCH = 1.5
"""Panels share a range while it is at most so many times the largest of one panel."""
MOST_ABOVE = 10.0
"""Rising bounds are drawn, on a logarithmic axis, up to so many times all other curves."""


def apply_scales(axes: Axes, panel: Panel, panels: Sequence[Panel], inches: float) -> None:
    """Scale, range and ticks of both axes; panels of one kind share a range where it helps."""
    axes.grid(axis="y", color="0.92", linewidth=0.7)
    for which, scale, label in (
        ("x", panel.x_scale, panel.x_label),
        ("y", panel.y_scale, panel.y_label),
    ):
        if which == "x" and isinstance(panel.series[0].x[0], str):
            axes.tick_params(axis="x", length=0)
            continue
        kind = (scale, label)
        alike = [
            other
            for other in panels
            if (getattr(other, f"{which}_scale"), getattr(other, f"{which}_label")) == kind
        ]
        low, high = _shared(_extent(panel, which), [_extent(other, which) for other in alike])
        limits = _widened(low, high, scale, *_margins(alike, which, scale, low))
        if scale != "linear":
            axes.set(**{f"{which}scale": "log"})
        axes.set(**{f"{which}lim": limits})
        _ticks(getattr(axes, f"{which}axis"), scale, limits, label, inches)


def _extent(panel: Panel, which: str) -> tuple[float, float]:
    """Return the least and the largest value of a panel, on the scale of its axis."""
    values = np.concatenate(
        [np.asarray(getattr(series, which), dtype=np.float64) for series in panel.series]
    )
    if which == "y" and any(series.style == "bars" for series in panel.series):
        values = np.append(values, 0.0)
    if getattr(panel, f"{which}_scale") == "linear":
        return float(values.min()), float(values.max())
    most = values.max()
    if which == "y":
        others = [np.max(series.y) for series in panel.series if not _rises(series)]
        most = min(most, MOST_ABOVE * max(others, default=np.inf))
    return float(np.log(values.min())), float(np.log(most))


def _rises(series: Series) -> bool:
    """Whether this is a dashed curve other than a level: a bound that may leave the panel."""
    return series.style == "dashed" and bool(np.ptp(np.asarray(series.y, dtype=np.float64)) > 0)


def _shared(own: tuple[float, float], all_: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Return the range of all panels, or the own one where that would flatten every curve."""
    low, high = min(low for low, _ in all_), max(high for _, high in all_)
    largest = max(high - low for low, high in all_)
    return (low, high) if high - low <= MOST_STRETCH * largest else own


def _margins(panels: Sequence[Panel], which: str, scale: str, low: float) -> tuple[float, float]:
    """Return the shares of the range that are left free below and above the data."""
    if which == "x":
        return (0.0, 0.0) if any(panel.regions for panel in panels) else (0.03, 0.03)
    below = 0.0 if scale == "linear" and low == 0 else 0.05
    return below, HEADROOM if any(panel.regions or panel.marks for panel in panels) else 0.05


def _widened(
    low: float, high: float, scale: str, below: float, above: float
) -> tuple[float, float]:
    """Return the limits of an axis from a range on its scale."""
    span = high - low or 1.0
    limits = low - below * span, high + above * span
    return limits if scale == "linear" else (float(np.exp(limits[0])), float(np.exp(limits[1])))


def _ticks(axis: Any, scale: str, limits: tuple[float, float], label: str, inches: float) -> None:
    if scale == "linear":
        number_ticks(axis)
        return
    if scale != "log2":
        log_ticks(axis, *limits)
        return
    in_bytes = label.endswith("[B]")
    exponents = whole_between(np.log2(limits))
    step = -(-len(exponents) // max(2, int(inches / (0.7 if in_bytes else 0.45))))
    major = [2.0**power for power in exponents if power % step == 0]
    axis.set_major_formatter(FuncFormatter(lambda value, _: _power_of_two(value, in_bytes)))
    axis.set_major_locator(FixedLocator(major))
    axis.set_minor_locator(FixedLocator([]))
    axis.set_minor_formatter(NullFormatter())


def _power_of_two(value: float, bytes_: bool) -> str:
    """Return a tick: ``1/8``, ``16``, or ``64 B``, ``4 KiB``."""
    if not bytes_:
        return str(Fraction(value).limit_denominator(1 << 20))
    power = max(0, min(3, int(np.log2(value)) // 10))
    return f"{value / 1024**power:g} {('B', 'KiB', 'MiB', 'GiB')[power]}"
