"""Labels beside points, placed where they cover nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.path import Path as Outline
from matplotlib.transforms import Bbox

from dse.reports.drawing import HALO
from dse.reports.front_view import Values

# Where a label may stand, in points from its marker: close by, then further off with a line.
DIRECTIONS = ((0.8, 0.8), (0.8, -0.8), (-0.8, 0.8), (-0.8, -0.8), (0, 1), (0, -1), (1, 0), (-1, 0))
DISTANCES = (8.0, 22.0, 36.0, 50.0)


def place(axes: Axes, points: Values, names: dict[int, str], *, math: bool = False) -> None:
    """Give each label the first place where it covers no mark; without one, leave it out.

    All labels that can stand close by do so before any stands further off, with a line that
    runs through no other marker.  `math` reads what stands between dollars as a formula.
    """
    pixels = axes.transData.transform(points)
    point_size = axes.get_figure(root=True).dpi / 72  # type: ignore[union-attr]
    marks = [Bbox([pixel - 5 * point_size, pixel + 5 * point_size]) for pixel in pixels]
    cores = [Bbox([pixel - 3 * point_size, pixel + 3 * point_size]) for pixel in pixels]
    drawn = [line for line in axes.lines if line.get_linestyle() != "None"]
    lines = [Outline(axes.transData.transform(line.get_xydata())) for line in drawn]
    inside = axes.get_window_extent()
    labels: list[Bbox] = []
    look: dict[str, Any] = {"textcoords": "offset points", "fontsize": 9, "zorder": 6}
    look |= {"path_effects": HALO, "parse_math": math}

    def fits(box: Bbox, leader: Outline, others: list[Bbox]) -> bool:
        return (
            all(inside.contains(*corner) for corner in (box.min, box.max))
            and not any(box.overlaps(other) for other in (*marks, *labels))
            and not any(line.intersects_bbox(box, filled=False) for line in lines)
            and not any(leader.intersects_bbox(other, filled=False) for other in (*labels, *others))
        )

    def stands(row: int, dx: float, dy: float) -> bool:
        """Write a label at an offset, unless it covers something there."""
        point = (float(points[row, 0]), float(points[row, 1]))
        across = "center" if dx == 0 else "left" if dx > 0 else "right"
        along = "center" if dy == 0 else "bottom" if dy > 0 else "top"
        note = axes.annotate(names[row], point, (dx, dy), ha=across, va=along, **look)
        box = Bbox(note.get_window_extent()).padded(1)
        leader = Outline([pixels[row], pixels[row] + np.multiply((dx, dy), point_size)])
        gaps = np.abs(pixels - pixels[row]).max(axis=1) / point_size
        near = np.flatnonzero((gaps > 3) & (gaps <= max(abs(dx), abs(dy)) + 3))  # within reach
        if not fits(box, leader, [cores[other] for other in near]):
            note.remove()
            return False
        labels.append(box)
        if max(abs(dx), abs(dy)) > DISTANCES[0]:
            lines.append(leader)
            arrow = {"arrowstyle": "-", "linewidth": 0.5}
            axes.annotate("", point, (dx, dy), arrowprops=arrow, **look)
        return True

    missing = list(names)
    for far in DISTANCES:
        offsets = [(x * far, y * far) for x, y in DIRECTIONS]
        missing = [row for row in missing if not any(stands(row, *offset) for offset in offsets)]
