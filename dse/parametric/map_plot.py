"""What `dse map` leaves in a folder: a picture, JSON and a table of cells."""

from __future__ import annotations

import csv
import textwrap
from pathlib import Path

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PatchCollection
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from dse.algebra import units
from dse.files.csv import inert
from dse.files.json import json_text
from dse.files.working import new_folder
from dse.parametric.decision_map import DecisionMap
from dse.parametric.flips import NOTHING_FITS
from dse.parametric.plots import titled
from dse.reports import ticks
from dse.reports.drawing import FILLS, drawing, save_figure
from dse.reports.front_view import elided
from dse.reports.words import unit_suffix

MAP_FILES = ("map.csv", "map.json", "map.png", "map.svg")
OTHERS, NOTHING = "0.75", "1.0"
"""Greys of answers beyond the colours, and of what is infeasible."""


def save_map(found: DecisionMap, out: Path) -> None:
    """Write a map as a table, as JSON and as a picture into a folder, all or nothing."""
    with new_folder(out, MAP_FILES) as folder:
        _write_csv(found, folder / MAP_FILES[0])
        (folder / MAP_FILES[1]).write_text(json_text(found.to_dict()) + "\n", encoding="utf-8")
        draw_map(found, folder)


def _write_csv(found: DecisionMap, path: Path) -> None:
    """Write one line per row and interval."""
    first, second = (unit_suffix(entry.quantity) for entry in (found.first, found.second))
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow([f"{found.second.name}{second}", f"from{first}", f"to{first}", "answer"])
        for row in found.rows:
            for name, one in zip(row.names, row.intervals, strict=True):
                writer.writerow([repr(row.value), repr(one.low), repr(one.high), inert(name)])


def draw_map(found: DecisionMap, folder: Path) -> tuple[Path, Path]:
    """Draw ``map.png`` and ``map.svg``: each answer a colour, the largest share first."""
    names = [name for name in found.shares if name != NOTHING_FITS]
    colours = {name: FILLS[k] if k < len(FILLS) else OTHERS for k, name in enumerate(names)}
    colours[NOTHING_FITS] = NOTHING
    scales = [
        units.scale([high], entry.quantity)
        for entry, (_, high) in zip((found.first, found.second), found.ranges, strict=True)
    ]
    with drawing():
        figure = Figure(layout="constrained", figsize=(8.2, 5.6))
        FigureCanvasAgg(figure)
        axes = figure.add_subplot()
        for name, colour in colours.items():
            cells = [
                Rectangle(
                    (one.low / scales[0][0], low / scales[1][0]),
                    (one.high - one.low) / scales[0][0],
                    (high - low) / scales[1][0],
                )
                for (low, high), row in zip(found.bands(), found.rows, strict=True)
                for own, one in zip(row.names, row.intervals, strict=True)
                if own == name
            ]
            axes.add_collection(PatchCollection(cells, facecolor=colour, edgecolor="none"))
        axes.set(xscale="log", yscale="log")
        for axis, entry, (factor, unit), (low, high) in zip(
            (axes.xaxis, axes.yaxis),
            (found.first, found.second),
            scales,
            found.ranges,
            strict=True,
        ):
            axis.set_view_interval(low / factor, high / factor, ignore=True)
            ticks.log_ticks(axis, low / factor, high / factor)
            axis.set_label_text(titled(entry.name, unit))
        shown = [name for name in names if colours[name] != OTHERS]
        handles = [Patch(facecolor=colours[name], label=elided(name)) for name in shown]
        if len(shown) < len(names):
            more = f"{len(names) - len(shown)} others"
            handles.append(Patch(facecolor=OTHERS, label=more))
        if NOTHING_FITS in found.shares:
            handles.append(Patch(facecolor=NOTHING, edgecolor="0.6", label=NOTHING_FITS))
        figure.legend(handles=handles, loc="outside lower center", ncols=3, fontsize=8)
        figure.suptitle(textwrap.fill(f"{found.followed}: {found.study.question}", 72))
        ticks.settle(figure)
        return save_figure(figure, folder / "map")
