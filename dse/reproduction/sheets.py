"""Figures of papers as pictures: panels of curves, points, bars, marks and regions."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from dse.contract.papers import Panel, Series
from dse.reports.drawing import (
    FILLS,
    SHADES,
    Picture,
    drawing,
    log_ticks,
    panels_in,
    save_figure,
    whole_between,
)

MOST_ACROSS = 4
MOST_TICKS = 6
LARGE = 14
"""Larger powers of two are written as powers."""


def draw_sheet(name: str, panels: Sequence[Panel], folder: Path, source: str) -> list[Path]:
    """Draw panels into ``NAME.png`` and ``NAME.svg`` in a folder, and return the paths.

    Series of one label look the same in all panels; the legend and the source stand below.
    """
    labels = dict.fromkeys(series.label for panel in panels for series in panel.series)
    colours = {label: FILLS[at % len(FILLS)] for at, label in enumerate(labels)}
    with drawing():
        sheet = Picture()
        across = min(MOST_ACROSS, -(-len(panels) // 3) if len(panels) > 3 else len(panels))
        for axes, panel in zip(panels_in(sheet, len(panels), across), panels, strict=True):
            _draw(axes, panel, colours)
        handles: dict[str, Any] = {}
        for axes in sheet.axes:
            for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
                handles.setdefault(label, handle)
        if len(handles) > 1:
            columns = min(3, len(handles))
            sheet.legend([*handles.values()], [*handles], loc="outside lower center", ncols=columns)
        words = textwrap.fill(f"after {source}", 60 * across)
        sheet.suptitle(words, fontsize=7, color="0.35")
        return [*save_figure(sheet, folder / name)]


def _draw(axes: Axes, panel: Panel, colours: Mapping[str, str]) -> None:
    bars = [series for series in panel.series if series.style == "bars"]
    for series in panel.series:
        if series.style == "bars":
            _draw_bars(axes, series, bars, colours[series.label])
        else:
            look = {"line": "-", "dashed": "--", "points": "o"}[series.style]
            axes.plot(series.x, series.y, look, label=series.label, color=colours[series.label])
    for which, scale in (("x", panel.x_scale), ("y", panel.y_scale)):
        if scale != "linear":
            axes.set(**{f"{which}scale": "log"})
            _ticks(getattr(axes, f"{which}axis"), scale, *getattr(axes, f"get_{which}lim")())
    axes.set(title=panel.title, xlabel=panel.x_label, ylabel=panel.y_label)
    low, high = axes.get_xlim()
    known = [*dict.fromkeys(region.label for region in panel.regions)]
    for region in panel.regions:
        at = known.index(region.label) if region.shade is None else region.shade
        shade = SHADES[at % len(SHADES)]
        left, right = max(region.low, low), min(region.high, high)
        axes.axvspan(left, right, color=shade if region.label else "white", zorder=0)
        middle = float(np.sqrt(left * right)) if panel.x_scale != "linear" else (left + right) / 2
        place = axes.get_xaxis_transform()
        axes.text(middle, 0.98, region.label, ha="center", va="top", transform=place, clip_on=True)
    axes.set_xlim(low, high)
    for mark in panel.marks:
        if mark.y is None:
            axes.axvline(mark.x, color="0.3", linewidth=1)
        elif not bars:
            axes.plot(mark.x, mark.y, "o", color="0.1", markersize=4)
        height = axes.get_ylim()[0] if mark.y is None else mark.y
        axes.annotate(
            mark.label, (mark.x, height), (3, 3), textcoords="offset points", parse_math=True
        )


def _ticks(axis: Any, scale: str, low: float, high: float) -> None:
    """Label a logarithmic axis at powers of ten, or of two."""
    if scale == "log":
        log_ticks(axis, low, high)
        return
    powers = whole_between(np.log2([low, high]))
    shown = powers[:: -(-len(powers) // MOST_TICKS) or 1]
    words = {2.0**k: f"{2.0**k:g}" if abs(k) <= LARGE else f"2^{k}" for k in shown}
    axis.set_major_locator(FixedLocator([*words]))
    axis.set_major_formatter(FuncFormatter(lambda value, _: words.get(value, "")))
    axis.set_minor_locator(NullLocator())


def _draw_bars(axes: Axes, series: Series, bars: Sequence[Series], colour: str) -> None:
    width, places = 0.8 / len(bars), np.arange(len(series.x))
    shift = (bars.index(series) - (len(bars) - 1) / 2) * width
    axes.bar(places + shift, series.y, width, label=series.label, color=colour)
    axes.set_xticks(places, [str(name) for name in series.x])
