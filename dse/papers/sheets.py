"""Figures of papers as plots with one look."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.container import BarContainer
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from dse.contract.papers import Figure, Laboratory
from dse.reports.drawing import FILLS, Picture, drawing, log_ticks, save_figure, whole_between

MOST_TICKS = 6
_LARGE = 14
"""Larger powers of two are written as powers."""


def draw_sheet(figure: Figure, laboratory: Laboratory, folder: Path) -> list[Path]:
    """Draw a figure into ``NAME.png`` and ``NAME.svg`` in a folder, and return the paths."""
    with drawing():
        return [*save_figure(sheet_of(figure, laboratory), folder / figure.name)]


def sheet_of(figure: Figure, laboratory: Laboratory) -> Picture:
    """Return the plot of a figure, with the legend below and the source above."""
    sheet = Picture()
    figure.draw(sheet, laboratory)
    down, across = sheet.axes[0].get_gridspec().get_geometry()  # type: ignore[union-attr]
    sheet.set_size_inches(4.4 * across, 3.9 * down)
    handles: dict[str, Any] = {}
    for axes in sheet.axes:
        for axis, ends in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim())):
            if axis.get_scale() == "log":
                _ticks(axis, *ends)
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
            colour = FILLS[[*handles].index(label) % len(FILLS)]
            bars: Iterable[Any] = handle if isinstance(handle, BarContainer) else ()
            for bar in bars:
                bar.set_facecolor(colour)
            if isinstance(handle, Line2D):
                handle.set_color(colour)
    if len(handles) > 1:
        columns = min(3, len(handles))
        sheet.legend([*handles.values()], [*handles], loc="outside lower center", ncols=columns)
    words = textwrap.fill(f"after {figure.source}", 60 * across)
    sheet.suptitle(words, fontsize=7, color="0.35")
    return sheet


def _ticks(axis: Any, low: float, high: float) -> None:
    """Label a logarithmic axis at powers of its base."""
    if axis.get_transform().base == 10:
        log_ticks(axis, low, high)
        return
    powers = whole_between(np.log2([low, high]))
    shown = powers[:: -(-len(powers) // MOST_TICKS) or 1]
    words = {2.0**k: f"{2.0**k:g}" if abs(k) <= _LARGE else f"2^{k}" for k in shown}
    axis.set_major_locator(FixedLocator([*words]))
    axis.set_major_formatter(FuncFormatter(lambda value, _: words.get(value, "")))
    axis.set_minor_locator(NullLocator())
