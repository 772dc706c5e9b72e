"""Ticks of all pictures: plain numbers or powers of ten, and no label over another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullFormatter
from matplotlib.transforms import ScaledTranslation

from dse.reports.front_view import power_text

MOST_DECADES = 7
GAP = 4.0
"""Least room between the labels of two ticks, in points."""
JUTTING = 1.0
"""How far a label may stand out over the right end of its axis, in points."""


def number_ticks(axis: Any) -> None:
    """Label an axis with plain numbers."""
    axis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.7g}"))


def log_ticks(axis: Any, low: float, high: float) -> None:
    """Label a logarithmic axis from `low` to `high`: all its ticks as numbers, or all as powers.

    With less than three decades 2 and 5 are labelled too.
    """
    exponents = whole_between(np.log10([low, high]))
    factors = (1.0,) if len(exponents) > 2 else (1.0, 2.0, 5.0)
    around = range(int(np.floor(np.log10(low))), int(np.floor(np.log10(high))) + 1)
    major = [factor * 10.0**power for power in around for factor in factors]
    major = [value for value in major if low <= value <= high]
    major = major[:: -(-len(exponents) // MOST_DECADES) or 1]
    few = len(exponents) <= 3  # with more decades minor ticks are a blur, and slow to draw
    minor = [factor * 10.0**power for power in around for factor in (2, 5)] if few else []
    plain = all(1e-3 <= value < 1e5 for value in major)
    axis.set_major_locator(FixedLocator(major))
    axis.set_major_formatter(
        FuncFormatter(lambda value, _: f"{value:g}" if plain else power_text(value))
    )
    axis.set_minor_locator(FixedLocator(minor))
    axis.set_minor_formatter(NullFormatter())


def whole_between(ends: Iterable[float]) -> list[int]:
    """Return the whole numbers between two ends."""
    low, high = ends
    return list(range(int(np.ceil(low)), int(np.floor(high)) + 1))


def settle(figure: Figure) -> None:
    """Lay a figure out for good, and tidy its labels for this layout."""
    engine: Any = figure.get_layout_engine()
    engine.set(w_pad=0.08, h_pad=0.06)
    engine.execute(figure)
    figure.set_layout_engine("none")
    tidy(figure)


def tidy(figure: Figure) -> None:
    """Empty labels that touch the one before, and move those that jut out over the right end.

    Ask for it last, when the layout stands: it measures.
    """
    for axes in figure.axes:
        for which in ("x", "y"):
            labels = shown_labels(axes, which)
            _thin(axes, which, labels)
            if which == "x":
                _pull_in(figure, axes, labels)


def shown_labels(axes: Axes, which: str) -> list[Any]:
    """Return the labels of the ticks within the limits of an axis, in order of place."""
    axis = getattr(axes, f"{which}axis")
    low, high = sorted(getattr(axes, f"get_{which}lim")())
    slack = 1e-9 * (high - low)
    axis.get_majorticklabels()  # brings its ticks up to date
    return [
        tick.label1
        for tick in axis.get_major_ticks()
        if tick.label1.get_visible()
        and tick.label1.get_text()
        and low - slack <= tick.get_loc() <= high + slack
    ]


def _thin(axes: Axes, which: str, labels: Sequence[Any]) -> None:
    side = 0 if which == "x" else 1
    gap = _points(axes, GAP if which == "x" else 0.0)
    boxes = [(label.get_window_extent(), label) for label in labels]
    boxes.sort(key=lambda pair: pair[0].min[side])
    end = -np.inf
    hidden = []
    for box, label in boxes:
        if box.min[side] < end + gap:
            hidden.append(label.get_text())
        else:
            end = box.max[side]
    if hidden:
        axis = getattr(axes, f"{which}axis")
        kept = axis.get_major_formatter()
        axis.set_major_formatter(
            FuncFormatter(lambda v, p: "" if (text := kept(v, p)) in hidden else text)
        )


def _pull_in(figure: Figure, axes: Axes, labels: Sequence[Any]) -> None:
    window, most = axes.get_window_extent(), _points(axes, JUTTING)
    for label in labels:
        box = label.get_window_extent()
        by = window.x1 + most - box.x1
        if by < 0:
            move = ScaledTranslation(by / figure.dpi, 0, figure.dpi_scale_trans)
            label.set_transform(label.get_transform() + move)


def _points(axes: Axes, size: float) -> float:
    return size * axes.get_figure(root=True).dpi / 72  # type: ignore[union-attr]
