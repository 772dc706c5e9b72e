"""Fronts as pictures, PNG and SVG."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter
from numpy.typing import NDArray

from dse.algebra import units
from dse.reports import front_view, labels
from dse.reports.drawing import PALETTE, Picture, drawing, save_figure
from dse.reports.front_view import (
    Columns,
    FrontView,
    Recommended,
    Scale,
    Values,
    axis_scale,
    best_per_value,
    decade,
    elided,
    legend_columns,
    staircase,
    thinned,
)
from dse.reports.shown import RULE, shown_rows

MOST_CLOUD_POINTS = 20_000
MOST_FRONT_POINTS = 2_000
MOST_LABELS = 12
MOST_STRIP_ROWS = 20

SIZES = ((12, 44, 0.4), (100, 24, 0.4), (400, 12, 0.3), (np.inf, 9, 0.0))
"""Up to so many points: area of a marker, width of its edge."""

CLOUD_COLOUR = "0.80"
LINE_COLOUR = "0.45"

REFERENCE: dict[str, Any] = {
    "marker": "X",
    "s": 70,
    "facecolors": "white",
    "edgecolors": "0.1",
    "linewidths": 1,
    "zorder": 6,
}

HINTS = {"minimise": "\n← lower is better", "maximise": "\nhigher is better →"}

Groups = dict[str, NDArray[np.bool_]]
Panel = tuple[Axes, Scale, Scale]


def draw_front(view: FrontView, folder: Path) -> tuple[Path, Path]:
    """Draw the front into ``front.png`` and ``front.svg`` in a folder, and return their paths.

    Two objectives make one panel with the staircase of what is attained, more make one panel
    per pair, a single one a strip with a row per design; a sweep makes one panel per objective
    against the swept column; an empty front makes a picture that says so.
    """
    with drawing():
        return save_figure(_figure(view), folder / "front")


def front_figure(view: FrontView) -> Picture:
    """Return the picture that `draw_front` draws."""
    with drawing():
        return _figure(view)


def _figure(view: FrontView) -> Picture:
    figure = Picture(layout="constrained")
    FigureCanvasAgg(figure)
    if not view.size:
        figure.set_size_inches(7.6, 2.6)
        figure.text(0.5, 0.45, "no feasible design", ha="center", fontsize=16, color="0.3")
        _title(figure, view)
        return figure
    cloud = thinned(view.cloud, MOST_CLOUD_POINTS)
    shown = np.isin(np.arange(view.size), shown_rows(view, MOST_FRONT_POINTS))
    groups = front_view.groups(view, len(PALETTE))
    groups = {label: rows & shown for label, rows in groups.items() if (rows & shown).any()}
    if view.sweep is not None:
        panels = _sweep(figure, view, cloud)
    elif len(view.objectives) == 1:
        panels = _strip(figure, view, cloud)
    else:
        panels = _pairs(figure, view, cloud)
    for axes, x, y in panels:
        _draw(axes, x, y, groups, view.recommended)
    _title(figure, view)
    _legend(figure, view, groups, _cloud_label(panels))
    figure.get_layout_engine().execute(figure)  # type: ignore[union-attr]
    figure.set_layout_engine("none")  # names are placed for this layout, so it has to stay
    if view.names and view.sweep is None and len(view.objectives) > 1:
        _name_points(figure, view, panels)
    return figure


def _pairs(figure: Figure, view: FrontView, cloud: Columns) -> list[Panel]:
    """One panel per pair of objectives."""
    pairs = list(combinations(view.objectives, 2))
    across = 1 if len(pairs) == 1 else 3 if len(pairs) <= 6 else 5
    down = -(-len(pairs) // across)
    figure.set_size_inches((7.6, 5.0) if across == 1 else (4.3 * across, 3.9 * down))
    grid = figure.subplots(down, across, squeeze=False).ravel()
    for unused in grid[len(pairs) :]:
        unused.remove()
    panels = []
    for axes, ((x_name, x_sense), (y_name, y_sense)) in zip(grid, pairs, strict=False):
        x, y = (
            axis_scale(view, x_name, cloud),
            axis_scale(view, y_name, cloud),
        )
        axes.set(xlabel=x.label + HINTS[x_sense], ylabel=y.label + HINTS[y_sense])
        if len(pairs) == 1:
            _line(axes, staircase(x.front, y.front, x_sense))
        _mark_references(axes, view, (x_name, x), (y_name, y))
        panels.append((axes, x, y))
    return panels


def _sweep(figure: Figure, view: FrontView, cloud: Columns) -> list[Panel]:
    """One panel per objective, against the swept column."""
    count = len(view.objectives)
    figure.set_size_inches(7.6, 1.0 + 2.9 * count)
    grid = figure.subplots(count, 1, sharex=True, squeeze=False).ravel()
    x = axis_scale(view, str(view.sweep), cloud)
    panels = []
    for axes, (name, sense) in zip(grid, view.objectives, strict=True):
        y = axis_scale(view, name, cloud)
        axes.set_ylabel(y.label + HINTS[sense])
        if not x.ticks:
            _line(axes, best_per_value(x.front, y.front, sense))
        panels.append((axes, x, y))
    grid[-1].set_xlabel(x.label)
    return panels


def _strip(figure: Figure, view: FrontView, cloud: Columns) -> list[Panel]:
    """Draw a single objective: a row per design, and all feasible designs underneath."""
    name, sense = view.objectives[0]
    x = axis_scale(view, name, cloud)
    shown = min(view.size, MOST_STRIP_ROWS)
    ticks = [elided(view.names[i]) if view.names else f"design {i + 1}" for i in range(shown)]
    if view.size > shown:
        ticks[-1] = f"... {view.size - shown + 1} more"
    if len(x.cloud):
        ticks.append("feasible designs")
    rows = np.minimum(np.arange(view.size, dtype=np.float64), shown - 1)
    jitter = np.random.default_rng(0).uniform(-0.3, 0.3, len(x.cloud))
    y = Scale("", rows, shown + jitter, len(ticks) - 0.4, -0.6, ticks=tuple(ticks))
    figure.set_size_inches(7.6, 1.2 + 0.34 * len(ticks))
    axes = figure.add_subplot()
    axes.set_xlabel(x.label + HINTS[sense])
    axes.grid(axis="y", color="0.92")
    axes.tick_params(axis="y", length=0)
    middle = np.sqrt(x.low * x.high) if x.log else (x.low + x.high) / 2
    for row in range(shown - (view.size > shown)):
        side = 1 if x.front[row] < middle else -1
        axes.annotate(
            units.show(x.front[row], ""),
            (float(x.front[row]), row),
            xytext=(8 * side, 0),
            textcoords="offset points",
            ha="left" if side > 0 else "right",
            va="center_baseline",
        )
    return [(axes, x, y)]


def _mark_references(
    axes: Axes, view: FrontView, across: tuple[str, Scale], up: tuple[str, Scale]
) -> None:
    """Mark what is no design: a cross, at the edge if it lies beyond; a line if half is known."""
    for entry in view.references:
        at = {
            name: float(np.clip(entry.values[name] / scale.factor, scale.low, scale.high))
            for name, scale in (across, up)
            if name in entry.values
        }
        if len(at) == 2:
            axes.scatter(*at.values(), clip_on=False, **REFERENCE)
        elif across[0] in at:
            axes.axvline(at[across[0]], color=LINE_COLOUR, linestyle=":", zorder=1)
        elif at:
            axes.axhline(at[up[0]], color=LINE_COLOUR, linestyle=":", zorder=1)


def _line(axes: Axes, points: Values) -> None:
    axes.plot(*points.T, color=LINE_COLOUR, linewidth=1, zorder=2)


def _draw(axes: Axes, x: Scale, y: Scale, groups: Groups, marked: Recommended | None) -> None:
    """Cloud, front, the recommended design and scales of one panel."""
    count = sum(int(rows.sum()) for rows in groups.values())
    size, edge = next(look for most, *look in SIZES if count <= most)
    if len(x.cloud) and len(y.cloud):
        look: dict[str, Any] = {
            "s": 4 if len(x.cloud) > 1000 else 10,
            "linewidths": 0,
            "rasterized": True,
            "zorder": 1,
        }
        axes.scatter(x.cloud, y.cloud, color=CLOUD_COLOUR, **look)
    for rows, (colour, marker) in zip(groups.values(), PALETTE, strict=False):
        axes.scatter(
            x.front[rows],
            y.front[rows],
            s=size,
            color=colour,
            marker=marker,
            edgecolors="0.15",
            linewidths=edge,
            zorder=4 - rows.sum() / count,  # the rarer a group, the further in front
        )
    if marked is not None:
        look = {"s": 150, "facecolors": "none", "edgecolors": "0.1", "zorder": 5}
        axes.scatter(x.front[marked.row], y.front[marked.row], **look)
    _dress(axes, "x", x)
    _dress(axes, "y", y)


def _dress(axes: Axes, which: str, scale: Scale) -> None:
    """Range and ticks of one axis."""
    axis: Any = getattr(axes, f"{which}axis")
    if scale.ticks:
        axis.set_ticks(range(len(scale.ticks)), labels=scale.ticks)
    elif scale.log:
        axes.set(**{f"{which}scale": "log"})
        axis.set_major_formatter(FuncFormatter(lambda value, _: decade(value)))
        axis.set_minor_locator(LogLocator(subs=(2, 5)))
        axis.set_minor_formatter(NullFormatter())
    else:
        axis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.7g}"))
    axes.set(**{f"{which}lim": (scale.low, scale.high)})


def _title(figure: Figure, view: FrontView) -> None:
    width = int(figure.get_figwidth() * 10)
    title = textwrap.fill(view.title, width, max_lines=3, placeholder=" ...")
    _grow(figure, 1 + title.count("\n"))
    figure.suptitle(title)


def _cloud_label(panels: Iterable[Panel]) -> str:
    """Name the grey points, and own up to those that the axes leave out."""
    drawn = [(x, y) for _, x, y in panels if len(x.cloud) and len(y.cloud)]
    if not drawn:
        return ""
    seen = np.array([x.inside & y.inside for x, y in drawn])
    share = "" if seen.all() else "some" if seen.any() else "all"
    return f"feasible designs, {share} beyond the axes" if share else "feasible designs"


def _legend(figure: Figure, view: FrontView, groups: Groups, cloud_label: str) -> None:
    """Put the legend under the panels, where it covers nothing."""
    look: dict[str, Any] = {"linestyle": "", "markeredgecolor": "0.15", "markeredgewidth": 0.4}
    handles = [
        Line2D([], [], marker=marker, color=colour, markersize=7, label=elided(label), **look)
        for label, (colour, marker) in zip(groups, PALETTE, strict=False)
    ]
    if view.recommended is not None:
        design = elided(view.recommended.design, 2 * front_view.MOST_CHARACTERS)
        look |= {"markerfacecolor": "none", "markeredgewidth": 1, "markersize": 11}
        handles.append(Line2D([], [], marker="o", label=f"recommended: {design}", **look))
    for entry in view.references if len(view.objectives) > 1 and view.sweep is None else ():
        verdict = f": {entry.verdict}" if entry.verdict else ""
        label = f"{entry.name}, no design{verdict} (at an edge: beyond it; dotted: half is known)"
        mark = look | {"markerfacecolor": "white", "markeredgewidth": 1, "markersize": 8}
        handles.append(Line2D([], [], marker="X", label=label, **mark))
    if cloud_label:
        look |= {"markerfacecolor": CLOUD_COLOUR, "markeredgewidth": 0, "markersize": 6}
        handles.append(Line2D([], [], marker="o", label=cloud_label, **look))
    lengths = [len(str(handle.get_label())) for handle in handles]
    across = legend_columns(lengths, figure.get_figwidth())
    look = {"loc": "outside lower center", "ncols": across, "frameon": False}
    if view.size > MOST_FRONT_POINTS:
        rule = f"{MOST_FRONT_POINTS:,} of {view.size:,} designs drawn: {RULE}"
        look["title"] = textwrap.fill(rule, int(figure.get_figwidth() * 12))
    _grow(figure, -(-len(handles) // across) + len(look.get("title", "").splitlines()))
    figure.legend(handles=handles, title_fontsize="small", **look)


def _grow(figure: Figure, lines: int) -> None:
    figure.set_figheight(figure.get_figheight() + 0.23 * lines)


def _name_points(figure: Figure, view: FrontView, panels: Iterable[Panel]) -> None:
    """Write names beside the ends of the front, and beside all of its points when few."""
    for axes, x, y in panels:
        named = [
            int(end) for scale in (x, y) for end in (scale.front.argmin(), scale.front.argmax())
        ]
        if len(view.objectives) == 2 and view.size <= MOST_LABELS:
            named += range(view.size)
        names = {row: elided(view.names[row]) for row in named}
        labels.place(axes, np.column_stack([x.front, y.front]), names)
