"""Labels of the regions and marks of a figure, placed where they cover least."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.path import Path as Outline
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from dse.contract.papers import Mark, Panel, Region
from dse.reports.drawing import HALO, place_labels


def label_regions(axes: Axes, ranges: Iterable[Region], shades: dict[str, str]) -> list[Bbox]:
    """Write the labels on top of their regions, lower where one would touch the last."""
    taken: list[Bbox] = []
    blend = axes.get_xaxis_transform()
    low, high = axes.get_xlim()
    log = axes.get_xscale() == "log"
    for region in ranges:
        if not region.label:
            continue
        ends = np.clip([region.low, region.high], low, high)
        middle = float(np.sqrt(ends.prod()) if log else ends.mean())
        for height in (0.985, 0.92, 0.855, 0.79):
            text = axes.text(
                middle, height, region.label, transform=blend, ha="center", va="top", fontsize=9
            )
            text.set_fontweight("bold")
            text.set_bbox({"facecolor": shades[region.label], "edgecolor": "none", "pad": 1})
            _keep_inside(axes, text)
            box = Bbox(text.get_window_extent()).padded(2)
            if not any(box.overlaps(other) for other in taken):
                taken.append(box)
                break
            text.remove()
    return taken


def _keep_inside(axes: Axes, text: Text) -> None:
    """Move a label that is wider than its region off the sides of the panel."""
    inside, box = axes.get_window_extent(), text.get_window_extent().padded(2)
    shift = max(inside.xmin - box.xmin, 0.0) - max(box.xmax - inside.xmax, 0.0)
    if shift:
        x, y = text.get_transform().transform(text.get_position())
        moved = text.get_transform().inverted().transform((x + shift, y))
        text.set_position((float(moved[0]), float(moved[1])))


def label_marks(axes: Axes, panel: Panel, taken: list[Bbox]) -> None:
    """Draw and label vertical lines and points where the labels cover least."""
    if any(series.style == "bars" for series in panel.series):
        look: dict[str, Any] = {"textcoords": "offset points", "ha": "center", "va": "bottom"}
        for mark in panel.marks:  # what a bar is, above it
            axes.annotate(mark.label, (mark.x, mark.y or 0.0), (0, 3), fontsize=9, **look)
        return
    lines = [mark for mark in panel.marks if mark.y is None]
    for mark in lines:
        axes.vlines(mark.x, *axes.get_ylim(), color="0.25", linewidth=1, zorder=2)
    for mark in lines:
        _beside(axes, mark, [other.x for other in lines], taken)
    points = [mark for mark in panel.marks if mark.y is not None]
    if points:
        places = np.array([(mark.x, mark.y) for mark in points], dtype=np.float64)
        axes.plot(*places.T, "o", color="0.1", markersize=4, zorder=2.6)
        place_labels(axes, places, dict(enumerate(mark.label for mark in points)), math=True)


def _beside(axes: Axes, mark: Mark, lines: Sequence[float], taken: list[Bbox]) -> None:
    """Write the label of a vertical line beside it, where it covers least."""
    curves = [Outline(axes.transData.transform(line.get_xydata())) for line in axes.lines]
    inside = axes.get_window_extent()
    look: dict[str, Any] = {"fontsize": 8.5, "zorder": 6, "path_effects": HALO, "parse_math": True}
    look |= {"ha": "left", "va": "bottom", "rotation": 90 if len(lines) > 2 else 0}
    text = axes.text(0, 0, mark.label, transform=None, **look)
    size = np.add(Bbox(text.get_window_extent()).size, 2.0)
    foot = axes.get_ylim()[0]
    at, *others = (float(axes.transData.transform((x, foot))[0]) for x in (mark.x, *lines))

    def clashes(corner: tuple[float, float]) -> int:
        box = Bbox.from_bounds(*corner, *size)
        return (
            sum(box.overlaps(other) for other in taken)
            + sum(curve.intersects_bbox(box, filled=False) for curve in curves)
            + sum(box.xmin < other < box.xmax for other in others)
            + 2 * (box.xmin < inside.xmin or box.xmax > inside.xmax)
        )

    corners = [
        (at + across, inside.ymin + height * inside.height)
        for height in np.linspace(0.03, 0.8, 15)
        for across in (2.0, -2.0 - size[0])
    ]
    corner = min(corners, key=clashes)
    taken.append(Bbox.from_bounds(*corner, *size))
    # in points from the foot of the line, so that it stays there at any resolution
    scale = 72 / axes.get_figure(root=True).dpi  # type: ignore[union-attr]
    text.remove()
    axes.annotate(
        mark.label,
        (mark.x, 0.0),
        ((corner[0] + 1 - at) * scale, (corner[1] + 1 - inside.ymin) * scale),
        xycoords=axes.get_xaxis_transform(),
        textcoords="offset points",
        **look,
    )
