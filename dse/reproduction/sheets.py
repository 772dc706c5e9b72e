"""Figures of papers as pictures, PNG and SVG: panels of curves, bars, marks and regions."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure as Sheet
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from PIL import Image

from dse.contract.papers import Panel, Region, Series
from dse.reports.drawing import DPI, FILLS, PALETTE, SHADES, drawing
from dse.reports.front_view import legend_columns
from dse.reproduction import sheet_labels, sheet_scales

ACROSS = {1: 1, 2: 2, 3: 3, 4: 2, 12: 4, 24: 4}
"""Columns by number of panels; otherwise three."""
SMALL = 9
"""From so many panels on they shrink and share the labels of their axes."""

DASHES = ((0, (5, 1.5)), (0, (1.5, 1.2)), (0, (7, 1.5, 1.5, 1.5)), (0, (3, 3)))
HATCHES = ("", "///", "...", "xxx")
MOST_KNOTS = 6
"""Most markers on a line; those of one with fewer points are its points."""


def draw_sheet(
    name: str, panels: Sequence[Panel], folder: Path, formats: Iterable[str], source: str = ""
) -> list[Path]:
    """Draw panels into ``NAME.png``, ``NAME.svg`` in a folder, and return the paths.

    `source` is what they are drawn after; it stands in the picture itself.

    Equal panels give equal bytes.  Curves of the same label look the same in all panels, and the
    legend is shared and stands below.
    """
    paths = []
    with drawing():
        sheet, canvas = _sheet(panels, source)
        for kind in formats:
            paths.append(folder / f"{name}.{kind}")
            if kind == "png":
                _save_small(canvas, paths[-1])
            else:
                sheet.savefig(paths[-1], format=kind, metadata={"Date": None, "Creator": None})
    return paths


def _save_small(canvas: FigureCanvasAgg, path: Path) -> None:
    """Write a PNG of 256 colours: a third of the size, and no difference to be seen."""
    canvas.draw()  # type: ignore[no-untyped-call]
    image = np.asarray(canvas.buffer_rgba())  # type: ignore[no-untyped-call]
    pixels = Image.fromarray(image).convert("RGB")
    pixels.quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(
        path, dpi=(DPI, DPI)
    )


def _sheet(panels: Sequence[Panel], source: str = "") -> tuple[Sheet, FigureCanvasAgg]:
    sheet = Sheet(dpi=DPI)
    canvas = FigureCanvasAgg(sheet)
    across = ACROSS.get(len(panels), 3)
    size = _panel_size(len(panels))
    looks, shades = _looks(panels), _shades(panels)
    credit = _credit(sheet, source, size[0] * across)
    foot = credit + _legend(sheet, looks, size[0] * across)
    grid = _grid(sheet, size, across, len(panels), foot)
    _move_up(sheet, credit)
    for position, (axes, panel) in enumerate(zip(grid, panels, strict=True)):
        _curves(axes, panel, looks)
        sheet_scales.apply_scales(axes, panel, panels, size[0])
        _regions(axes, panel.regions, shades)
        small = len(panels) >= SMALL
        axes.set_title(panel.title, fontsize=9 if small else 10, y=1.0)
        if not small or position >= len(panels) - across:
            axes.set_xlabel(panel.x_label)
        if not small or position % across == 0:
            axes.set_ylabel(panel.y_label)
        if small:
            for line in axes.lines:
                line.set_markersize(0.7 * line.get_markersize())
        sheet_labels.label_marks(
            axes, panel, sheet_labels.label_regions(axes, panel.regions, shades)
        )
    if len(panels) >= SMALL:
        _hide_repeated(grid, across)
    return sheet, canvas


def _hide_repeated(grid: Sequence[Axes], across: int) -> None:
    """Leave the numbers of ranges that all panels share to the outer panels."""
    same_x = len({axes.get_xlim() for axes in grid}) == 1
    same_y = len({axes.get_ylim() for axes in grid}) == 1
    for position, axes in enumerate(grid):
        axes.tick_params(
            labelbottom=not same_x or position >= len(grid) - across,
            labelleft=not same_y or position % across == 0,
        )


def _panel_size(count: int) -> tuple[float, float]:
    """Return width and height of one panel in inches, labels included."""
    if count == 1:
        return 7.0, 4.4
    if count < SMALL:
        return (4.6, 3.5) if ACROSS.get(count, 3) == 2 else (3.9, 3.2)
    return (2.9, 2.3) if count <= 12 else (2.4, 1.9)


def _grid(
    sheet: Sheet, size: tuple[float, float], across: int, count: int, foot: float
) -> list[Axes]:
    """Return axes row by row, with fixed room for labels, above a foot for the legend."""
    down = -(-count // across)
    small = count >= SMALL
    left, right, top, bottom = (0.55, 0.1, 0.26, 0.3) if small else (0.88, 0.15, 0.32, 0.55)
    edge_left, edge_bottom = (0.2, 0.25) if small else (0.0, 0.0)  # labels of the outer axes only
    width, height = across * size[0] + edge_left, down * size[1] + edge_bottom + foot
    sheet.set_size_inches(width, height)
    return [
        sheet.add_axes(
            (
                (edge_left + position % across * size[0] + left) / width,
                1 - ((position // across + 1) * size[1] - bottom) / height,
                (size[0] - left - right) / width,
                (size[1] - top - bottom) / height,
            )
        )
        for position in range(count)
    ]


def _looks(panels: Iterable[Panel]) -> dict[str, tuple[Series, dict[str, Any]]]:
    """Return how the series of each label looks.

    Bars have hatches, points markers; lines have hues that differ in lightness too, and markers
    where those are their points, or where there are more lines than hues.
    """
    looks: dict[str, tuple[Series, dict[str, Any]]] = {}
    every = [series for panel in panels for series in panel.series]
    lines = {series.label for series in every if series.style == "line"}
    for series in every:
        if series.label not in looks:
            alike = sum(other.style == series.style for other, _ in looks.values())
            look = _look(series, len(looks), alike)
            if series.style == "line" and len(lines) <= len(PALETTE) and len(series.x) > MOST_KNOTS:
                look["marker"] = ""
            looks[series.label] = (series, look)
    return looks


def _look(series: Series, position: int, alike: int) -> dict[str, Any]:
    colour, marker = PALETTE[position % len(PALETTE)]
    if series.style == "bars":
        hatch, colour = HATCHES[alike % len(HATCHES)], FILLS[alike % len(FILLS)]
        return {"facecolor": colour, "edgecolor": "0.15", "hatch": hatch, "linewidth": 0.6}
    if series.style == "points":
        size = 5.5 if len(series.x) <= 30 else 3.5
        look = {"linestyle": "none", "markersize": size, "markeredgewidth": 0.4, "zorder": 4}
        return {"color": colour, "marker": marker, "markeredgecolor": "0.15"} | look
    if series.style == "dashed":
        return {"color": colour, "linestyle": DASHES[alike % len(DASHES)], "linewidth": 1.3}
    return {"color": colour, "linewidth": 1.8, "marker": marker, "markersize": 5}


def _curves(axes: Axes, panel: Panel, looks: dict[str, tuple[Series, dict[str, Any]]]) -> None:
    bars = [series for series in panel.series if series.style == "bars"]
    for position, series in enumerate(panel.series):
        look = looks[series.label][1]
        if series.style == "bars":
            width = 0.8 / len(bars)
            shift = (bars.index(series) - (len(bars) - 1) / 2) * width
            axes.bar(np.arange(len(series.x)) + shift, series.y, width, **look)
            axes.set_xticks(range(len(series.x)), [str(name) for name in series.x])
        elif series.style == "line":
            count = len(series.x)
            every = -(-count // MOST_KNOTS)
            start = (2 * position + 1) * every // 7 % every
            axes.plot(series.x, series.y, markevery=(start, every), zorder=3, **look)
        else:
            axes.plot(series.x, series.y, **{"zorder": 2.5} | look)


def _shades(panels: Iterable[Panel]) -> dict[str, str]:
    """Return the shade of each label: the one it asks for, else the next that nobody does."""
    regions = [region for panel in panels for region in panel.regions]
    chosen = {region.label: region.shade for region in regions if region.shade is not None}
    free = [at for at in range(len(SHADES)) if at not in chosen.values()] or [0]
    others = [label for label in dict.fromkeys(r.label for r in regions) if label not in chosen]
    others = [label for label in others if label]
    chosen |= {label: free[at % len(free)] for at, label in enumerate(others)}
    return {label: SHADES[at % len(SHADES)] for label, at in chosen.items()} | {"": "white"}


def _regions(axes: Axes, regions: Iterable[Region], shades: dict[str, str]) -> None:
    low, high = axes.get_xlim()
    for region in regions:
        start, end = max(region.low, low), min(region.high, high)
        axes.axvspan(start, end, color=shades[region.label], linewidth=0, zorder=0.5)
        if start > low:
            axes.vlines(start, *axes.get_ylim(), color="0.7", linewidth=0.6, zorder=0.6)


def _legend(sheet: Sheet, looks: dict[str, tuple[Series, dict[str, Any]]], inches: float) -> float:
    """Write what is what below all panels and return its height; one label needs no legend."""
    if len(looks) < 2:
        return 0.0
    handles = [
        Patch(label=label, **look)
        if series.style == "bars"
        else Line2D([], [], label=label, **look)
        for label, (series, look) in looks.items()
    ]
    lengths = [len(str(handle.get_label())) + 6 for handle in handles]
    rows = -(-len(handles) // legend_columns(lengths, inches))
    sheet.legend(
        handles=handles,
        loc="lower center",
        ncols=-(-len(handles) // rows),
        frameon=False,
        handlelength=2.8,
    )
    return 0.15 + 0.22 * rows


def _credit(sheet: Sheet, source: str, inches: float) -> float:
    """Write what the figure is drawn after below everything, and return the height of that."""
    if not source:
        return 0.0
    lines = textwrap.wrap(f"after {source}", int(inches * 15))
    sheet.text(0.01, 0.0, "\n".join(lines), fontsize=7, color="0.35", va="bottom")
    return 0.06 + 0.125 * len(lines)


def _move_up(sheet: Sheet, credit: float) -> None:
    """Make room for the credit below the legend, now that the height of the sheet is known."""
    height = sheet.get_figheight()
    for text in sheet.texts:
        text.set_y(0.03 / height)
    for legend in sheet.legends:
        legend.set_bbox_to_anchor((0.0, credit / height, 1.0, 1.0))
