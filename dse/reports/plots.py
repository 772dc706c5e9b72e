"""Fronts as pictures, PNG and SVG."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from numpy.typing import NDArray

from dse.algebra import units
from dse.reports import front_view
from dse.reports.drawing import (
    HINTS,
    PALETTE,
    Band,
    Picture,
    draw_line,
    drawing,
    log_ticks,
    name_bands,
    number_ticks,
    panels_in,
    place_labels,
    save_figure,
    settle,
    shade,
    without_repeats,
)
from dse.reports.front_text import SHOWN_RULE, representative_rows
from dse.reports.front_view import (
    ARROW,
    Columns,
    FrontView,
    Recommended,
    Scale,
    axis_scale,
    best_rows,
    elided,
    kind_of,
    staircase,
    thinned,
)

MOST_CLOUD_POINTS = 20_000
MOST_FRONT_POINTS = 2_000
MOST_LABELS = 12
MOST_STRIP_ROWS = 20

_SIZES = ((12, 44, 0.4), (100, 24, 0.4), (400, 12, 0.3), (np.inf, 9, 0.0))
"""Up to so many points: area of a marker, width of its edge."""

IN_CELL = 3.7
"""Width of a legend in a free cell, in inches."""

CLOUD_COLOUR = "0.80"

Groups = dict[str, NDArray[np.bool_]]
Panel = tuple[Axes, Scale, Scale]

MOST_MARKED = 60
"""Largest number of swept values with marks.  The line and the shades have all."""
_MOST_CHOICES = 6
"""Most choices of a sweep with one panel each."""

_SLIDE = (9.6, 5.4)
"""Inches of a slide: 1920 to 1080 points of a screen."""

_KEY: Mapping[str, Any] = {"ncols": 3, "fontsize": 8, "title_fontsize": 8, "frameon": False}
"""Look of the legend of a slide."""

HEADROOM = 0.16
"""Share of the height of a panel that is kept for the names of the shades."""


@dataclass(frozen=True)
class Shading:
    """Shades of the best designs in each panel, their meaning, and the remaining parts for marks.

    `rest` is the rest of each design, for its mark, or None for the whole design.
    """

    bands: tuple[tuple[Band, ...], ...]
    words: str
    rest: NDArray[np.str_] | None = None

    @property
    def names(self) -> list[str]:
        """Return the names of the shades of all panels, each once."""
        return list(dict.fromkeys(name for panel in self.bands for *_, name in panel))


def shading(view: FrontView, x: Scale) -> Shading:
    """Return the kinds of the best designs as shades.

    For a chain one stage is shaded: among the stages that change along the sweep, the one that
    changes the least often.  The marks show the other stages, as in figure 9 of Battle & Hempstead.
    """
    kinds = np.array([kind_of(name) for name in view.names], dtype=str)
    rows = [
        front_view.best_rows(x.front, view.front[name], sense) for name, sense in view.objectives
    ]
    parts = [kind.split(ARROW) for kind in kinds]
    if len({len(part) for part in parts}) > 1 or len(parts[0]) < 2:
        return Shading(tuple(_bands(x, best, kinds) for best in rows), "the best design")
    stages = [np.array(stage, dtype=str) for stage in zip(*parts, strict=True)]
    shaded = _shaded(stages, rows)
    others = [ARROW.join(p for n, p in enumerate(part) if n != shaded) for part in parts]
    stage = stages[shaded][0].partition(".")[0]
    return Shading(
        tuple(_bands(x, best, stages[shaded]) for best in rows),
        f"{stage} of the best design",
        np.array(others, dtype=str),
    )


def _shaded(stages: list[NDArray[np.str_]], rows: list[NDArray[np.intp]]) -> int:
    """Return the stage that changes the least often, but does, else the last."""
    changes = [
        sum(int((stage[best][1:] != stage[best][:-1]).sum()) for best in rows) for stage in stages
    ]
    moving = [number for number, count in enumerate(changes) if count] or [len(stages) - 1]
    return min(moving, key=lambda number: changes[number])


def _bands(x: Scale, best: NDArray[np.intp], kinds: NDArray[np.str_]) -> tuple[Band, ...]:
    """Return the range of each best kind.  Ranges meet halfway between two values."""
    at = x.front[best]
    halfway = np.sqrt(at[1:] * at[:-1]) if x.log else (at[1:] + at[:-1]) / 2
    beyond = 0.5 if x.ticks else 0.0
    edges = [float(at[0]) - beyond, *halfway.tolist(), float(at[-1]) + beyond]
    spans = zip(edges, edges[1:], kinds[best].tolist(), strict=False)
    return tuple(without_repeats(list(spans)))


def marked_rows(x: Scale) -> NDArray[np.bool_]:
    """Return the mask of rows of the front with marks, for at most `MOST_MARKED` values."""
    values = np.unique(x.front)
    if len(values) <= MOST_MARKED:
        return np.ones(len(x.front), dtype=bool)
    spaced = np.geomspace if x.log else np.linspace
    wanted = spaced(values[0], values[-1], MOST_MARKED)
    nearest = np.abs(values[:, np.newaxis] - wanted).argmin(axis=0)
    return np.isin(x.front, values[nearest])


def draw_sweep(
    figure: Figure, view: FrontView, cloud: Columns
) -> tuple[list[tuple[Axes, Scale, Scale]], Shading | None]:
    """Draw one panel per objective against the swept column.  Return panels and their shades."""
    count = len(view.objectives)
    figure.set_size_inches(7.6, 1.0 + 2.9 * count)
    grid = figure.subplots(count, 1, sharex=True, squeeze=False).ravel()
    x = axis_scale(view, str(view.sweep), cloud)
    shades = shading(view, x) if view.names else None
    panels = []
    for number, (axes, (name, sense)) in enumerate(zip(grid, view.objectives, strict=True)):
        y = axis_scale(view, name, cloud)
        axes.set_ylabel(y.label + HINTS[sense])
        if not x.ticks and len(np.unique(x.front)) > 1:
            best = best_rows(x.front, y.front, sense)
            draw_line(axes, np.column_stack([x.front, y.front])[best], "best of each value")
        if shades is not None:
            shade(axes, shades.bands[number], shades.names)
            room = (y.high / y.low) ** HEADROOM if y.log else HEADROOM * (y.high - y.low)
            y = replace(y, high=y.high * room if y.log else y.high + room)
        panels.append((axes, x, y))
    grid[-1].set_xlabel(x.label)
    return panels, shades


def fronts_by_choice(view: FrontView, cloud: Columns) -> list[tuple[FrontView, Columns]]:
    """Return the front of each value of a sweep over a few choices, and the cloud behind it.

    Empty if the sweep is of a number, or a front has other than two objectives.
    """
    swept = view.front.get(str(view.sweep), np.empty(0))
    choices = list(dict.fromkeys(swept.tolist()))
    if swept.dtype.kind in "fiub" or len(view.objectives) != 2 or len(choices) > _MOST_CHOICES:
        return []
    found: list[tuple[FrontView, Columns]] = []
    for choice in choices:
        mine = swept == choice
        front = {name: values[mine] for name, values in view.front.items()}
        names = [name for name, own in zip(view.names, mine, strict=False) if own]
        behind = {name: values[cloud[str(view.sweep)] == choice] for name, values in cloud.items()}
        found.append((replace(view, front=front, names=names, sweep=None), behind))
    return found


def draw_by_choice(
    figure: Figure, view: FrontView, alone: Sequence[tuple[FrontView, Columns]]
) -> list[tuple[Axes, Scale, Scale]]:
    """Draw one front per panel.  Return panels with scales of all rows, NaN for missing ones."""
    cells = panels_in(figure, len(alone), min(3, len(alone)))
    panels = []
    for axes, (one, behind) in zip(cells, alone, strict=True):
        value = one.front[str(view.sweep)][0]
        rows = view.front[str(view.sweep)] == value
        scales = [axis_scale(one, name, behind) for name, _ in view.objectives]
        (_, x_sense), (_, y_sense) = view.objectives
        x, y = scales
        axes.set(title=value, xlabel=x.label + HINTS[x_sense], ylabel=y.label + HINTS[y_sense])
        draw_line(axes, front_view.staircase(x.front, y.front, x_sense), "Pareto front")
        full = [np.full(view.size, np.nan) for _ in scales]
        for values, scale in zip(full, scales, strict=True):
            values[rows] = scale.front
        panels.append((axes, replace(x, front=full[0]), replace(y, front=full[1])))
    return panels


def draw_front(view: FrontView, folder: Path) -> tuple[Path, Path]:
    """Draw the front into ``front.png`` and ``front.svg`` in a folder, and return their paths.

    Two objectives make one panel with the staircase of the front, more make one panel
    per pair, a single one a strip with a row per design.  A sweep makes one panel per objective
    against the swept column, or one per value if two objectives are swept over a few choices.
    An empty front makes a plot with a statement of that.
    """
    with drawing():
        return save_figure(_figure(view), folder / "front")


def front_figure(view: FrontView) -> Picture:
    """Return the picture that `draw_front` draws."""
    with drawing():
        return _figure(view)


def _figure(view: FrontView) -> Picture:
    figure = Picture()
    if not view.size:
        figure.set_size_inches(7.6, 2.6)
        figure.text(0.5, 0.45, "no feasible design", ha="center", fontsize=16, color="0.3")
        _title(figure, view)
        return figure
    view, notes = _varying(view)
    cloud = thinned(view.cloud, MOST_CLOUD_POINTS)
    shown = np.isin(np.arange(view.size), representative_rows(view, MOST_FRONT_POINTS))
    if view.size > MOST_FRONT_POINTS:
        notes.append(f"{MOST_FRONT_POINTS:,} of {view.size:,} designs drawn: {SHOWN_RULE}")
    alone = [] if view.sweep is None else fronts_by_choice(view, cloud)
    panels, shades, cell = _panels(figure, view, cloud, alone)
    if view.sweep is not None and not alone:
        marked = marked_rows(panels[0][1])
        shown &= marked
        notes += [f"shaded: {shades.words} in each panel"] if shades is not None else []
        notes += [] if marked.all() else [f"marks at {MOST_MARKED} of the values"]
    groups = front_view.groups(view, len(PALETTE), None if shades is None else shades.rest)
    groups = {label: rows & shown for label, rows in groups.items() if (rows & shown).any()}
    for axes, x, y in panels:
        _draw(axes, x, y, groups, view.recommended)
    _title(figure, view)
    cloud_label, note = _cloud_words(panels)
    _legend(figure, cell, _handles(view, panels[0][0], groups, cloud_label), [*notes, *note])
    settle(figure)  # names are placed for this layout, so it has to stay
    if view.sweep is None:
        _name_designs(view, cloud, panels)
    else:
        _name_swept(panels, alone if view.names else (), shades)
    return figure


def _panels(
    figure: Figure, view: FrontView, cloud: Columns, alone: Sequence[tuple[FrontView, Columns]]
) -> tuple[list[Panel], Shading | None, Axes | None]:
    """Draw the panels of a view.  Return them, their shades, and the free cell, if any."""
    if alone:
        return draw_by_choice(figure, view, alone), None, None
    if view.sweep is not None:
        return *draw_sweep(figure, view, cloud), None
    if len(view.objectives) == 1:
        return _strip(figure, view, cloud), None, None
    panels, cell = _pairs(figure, view, cloud)
    return panels, None, cell


def draw_slide(
    view: FrontView,
    pick: str,
    margins: Mapping[str, float],
    folder: Path,
    draw: Callable[[Axes], list[Patch]] | None = None,
) -> tuple[Path, Path]:
    """Draw a picture for a slide into ``slide.png`` and ``slide.svg``, and return their paths.

    It has the question, the `pick` in a sentence, the share of each limit that it takes, `margins`,
    and the front over two columns or the picture of `draw`, which returns entries of a legend.
    """
    with drawing():
        figure = Picture(figsize=_SLIDE)
        figure.suptitle(_lines(view.title, 80), x=0.02, ha="left", fontsize=14, weight="bold")
        widths = (2, 1) if margins else (1,)
        (cells,) = figure.subplots(1, len(widths), width_ratios=widths, squeeze=False)
        axes, *bars = cells
        axes.set_title(_lines(pick, 118), loc="left", fontsize=10, pad=12)
        for room in bars:
            _margin_bars(room, margins)
        if draw is None:
            _front_of_slide(figure, axes, view)
        else:
            figure.legend(handles=draw(axes), loc="outside lower left", **_KEY)
            settle(figure)
        return save_figure(figure, folder / "slide")


def _front_of_slide(figure: Figure, axes: Axes, view: FrontView) -> None:
    """Draw the front over two columns, with its legend."""
    view, notes = _varying(view)
    others = [name for name in (*view.axes, view.category) if name]
    columns = [*dict.fromkeys((*dict(view.objectives), *others))][:2]
    cloud = thinned(view.cloud, MOST_CLOUD_POINTS)
    x, y = (axis_scale(view, name, cloud) for name in columns)
    hints = [HINTS.get(dict(view.objectives).get(name, ""), "") for name in columns]
    axes.set(xlabel=x.label + hints[0], ylabel=y.label + hints[1])
    groups = front_view.groups(view, len(PALETTE))
    _draw(axes, x, y, groups, view.recommended)
    cloud_label, note = _cloud_words([(axes, x, y)])
    handles = _handles(view, axes, groups, cloud_label)
    title = "\n".join((*notes, *note))
    figure.legend(handles=handles, loc="outside lower left", title=title, **_KEY)
    settle(figure)
    _name_designs(view, cloud, [(axes, x, y)])


def _lines(text: str, width: int) -> str:
    return textwrap.fill(text, width, max_lines=3, placeholder=" ...")


def _margin_bars(axes: Axes, margins: Mapping[str, float]) -> None:
    """Draw the share of each limit that is taken, with its words above."""
    axes.spines[:].set_visible(False)
    axes.set(xlim=(0.0, 1.0), ylim=(max(len(margins), 4) - 0.2, -0.8), xticks=(), yticks=())
    axes.text(0.0, -0.7, "margins to limits", weight="bold")
    for row, (words, share) in enumerate(margins.items()):
        axes.barh(row, 1.0, height=0.2, color="0.9")
        axes.barh(row, min(share, 1.0), height=0.2, color=PALETTE[0][0])
        axes.text(0.0, row - 0.15, textwrap.fill(words, 36), va="bottom", fontsize=8)


def _name_swept(
    panels: Sequence[Panel],
    alone: Sequence[tuple[FrontView, Columns]],
    shades: Shading | None,
) -> None:
    """Write the names of shades, or of points if each of a few values has a front."""
    for (axes, _, _), shaded in zip(panels, shades.bands if shades else (), strict=False):
        name_bands(axes, shaded)
    for (one, _), panel in zip(alone, panels, strict=False):
        _name_points(one, [panel])


def _varying(view: FrontView) -> tuple[FrontView, list[str]]:
    """Omit objectives that are the same for every design, with a remark on them."""
    same = [name for name, _ in view.objectives if front_view.is_same(view, name)]
    if len(same) == len(view.objectives):
        return view, []
    kept = tuple(pair for pair in view.objectives if pair[0] not in same)
    values = (units.show(float(view.front[name][0]), name) for name in same)
    remarks = [
        f"not drawn: {view.words(name)}, {value} for every design"
        for name, value in zip(same, values, strict=True)
    ]
    return replace(view, objectives=kept), remarks


def _pairs(figure: Figure, view: FrontView, cloud: Columns) -> tuple[list[Panel], Axes | None]:
    """Draw one panel per pair of objectives.  Return the panels and the free cell, if any.

    Three objectives make a corner, whose free cell takes the legend.
    """
    pairs = list(combinations(view.objectives, 2))
    across = 1 if len(pairs) == 1 else 2 if len(pairs) == 3 else 3 if len(pairs) <= 6 else 5
    cells = panels_in(figure, len(pairs) + (len(pairs) == 3), across)
    free = cells.pop(1) if len(pairs) == 3 else None
    if len(pairs) == 1:
        figure.set_size_inches(7.6, 5.0)
    panels: list[Panel] = []
    for axes, ((x_name, x_sense), (y_name, y_sense)) in zip(cells, pairs, strict=True):
        x, y = axis_scale(view, x_name, cloud), axis_scale(view, y_name, cloud)
        axes.set(xlabel=x.label + HINTS[x_sense], ylabel=y.label + HINTS[y_sense])
        if len(pairs) == 1 and view.size > 1:
            draw_line(axes, staircase(x.front, y.front, x_sense), "Pareto front")
        panels.append((axes, x, y))
    return panels, free


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


def _draw(axes: Axes, x: Scale, y: Scale, groups: Groups, marked: Recommended | None) -> None:
    """Draw cloud, front, the recommended design and scales of one panel."""
    count = sum(int(rows.sum()) for rows in groups.values())
    size, edge = next(look for most, *look in _SIZES if count <= most)
    if len(x.cloud) and len(y.cloud):
        dot = 4 if len(x.cloud) > 1000 else 10 if len(x.cloud) > MOST_LABELS else 44
        look: dict[str, Any] = {"linewidths": 0, "rasterized": True, "zorder": 1}
        axes.scatter(x.cloud, y.cloud, s=dot, color=CLOUD_COLOUR, **look)
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
    """Set the range and ticks of one axis."""
    axis: Any = getattr(axes, f"{which}axis")
    if scale.ticks:
        axis.set_ticks(range(len(scale.ticks)), labels=scale.ticks)
    elif scale.log:
        axes.set(**{f"{which}scale": "log"})
        log_ticks(axis, scale.low, scale.high)
    else:
        number_ticks(axis)
    axes.set(**{f"{which}lim": (scale.low, scale.high)})


def _title(figure: Figure, view: FrontView) -> None:
    width = int(figure.get_figwidth() * 10)
    title = textwrap.fill(view.title, width, max_lines=3, placeholder=" ...")
    _grow(figure, 1 + title.count("\n"))
    figure.suptitle(title)


def _cloud_words(panels: Iterable[Panel]) -> tuple[str, list[str]]:
    """Return the words for the grey points, and notes on points that the axes omit."""
    drawn = [(x, y) for _, x, y in panels if len(x.cloud) and len(y.cloud)]
    if not drawn:
        return "", []
    seen = np.concatenate([x.inside & y.inside for x, y in drawn])
    if not seen.any():
        return "", ["the other feasible designs all lie beyond the axes"]
    return f"feasible designs{'' if seen.all() else ', some beyond the axes'}", []


def _handles(view: FrontView, axes: Axes, groups: Groups, cloud_label: str) -> list[Line2D]:
    """Return an entry of the legend for everything that is drawn, and for nothing else."""
    look: dict[str, Any] = {"linestyle": "", "markeredgecolor": "0.15", "markeredgewidth": 0.4}
    handles = [
        Line2D([], [], marker=marker, color=colour, markersize=7, label=elided(label), **look)
        for label, (colour, marker) in zip(groups, PALETTE, strict=False)
    ]
    if view.recommended is not None:
        design = elided(view.recommended.design, 2 * front_view.MOST_CHARACTERS)
        look |= {"markerfacecolor": "none", "markeredgewidth": 1, "markersize": 11}
        handles.append(Line2D([], [], marker="o", label=f"recommended: {design}", **look))
    handles += [line for line in axes.lines if not str(line.get_label()).startswith("_")]
    if cloud_label:
        look |= {"markerfacecolor": CLOUD_COLOUR, "markeredgewidth": 0, "markersize": 6}
        handles.append(Line2D([], [], marker="o", label=cloud_label, **look))
    return handles


def _legend(figure: Figure, cell: Axes | None, handles: list[Line2D], notes: Sequence[str]) -> None:
    """Put the legend into a free cell, or under the panels, so that it covers nothing."""
    look: dict[str, Any] = {"frameon": False, "title_fontsize": "small"}
    inches = figure.get_figwidth() if cell is None else IN_CELL
    if notes:
        wrapped = (textwrap.fill(f"{note}", int(inches * 12)) for note in notes)
        look["title"] = "\n".join(wrapped)
    if cell is not None:
        cell.set_axis_off()
        for handle in handles:
            handle.set_label(textwrap.fill(str(handle.get_label()), int(inches * 11)))
        cell.legend(handles=handles, loc="upper left", borderaxespad=0, **look)
        return
    for rows in range(1, len(handles) + 1):
        across = -(-len(handles) // rows)
        legend = figure.legend(handles=handles, loc="outside lower center", ncols=across, **look)
        if across == 1 or legend.get_window_extent().width < 0.98 * figure.bbox.width:
            _grow(figure, rows + len(look.get("title", "").splitlines()))
            return
        legend.remove()


def _grow(figure: Figure, lines: int) -> None:
    figure.set_figheight(figure.get_figheight() + 0.23 * lines)


def _name_designs(view: FrontView, cloud: Columns, panels: Iterable[Panel]) -> None:
    """Write names next to all of few feasible designs, or next to the front."""
    if not view.names or len(view.objectives) < 2:
        return
    names = _names_of_few(view, cloud)
    for axes, x, y in panels if names else ():
        points = np.column_stack([[*x.front, *x.cloud], [*y.front, *y.cloud]])
        place_labels(axes, points, names)
    _name_points(view, () if names else panels)


def _names_of_few(view: FrontView, cloud: Columns) -> dict[int, str]:
    """Return a name for each of few feasible designs, also off the front, by its choices.

    Rows of the cloud follow the front.  Empty if the cloud adds none, or too many, or
    choices do not distinguish all.
    """
    goals = [name for name, _ in view.objectives]
    columns = [name for name in (*goals, *view.axes) if name in cloud]
    both = {name: np.concatenate([view.front[name], cloud[name]]) for name in columns}
    rows = [*zip(*(both[name].tolist() for name in columns), strict=True)]
    unique = dict.fromkeys(rows)
    if columns != [*goals, *view.axes] or not view.size < len(unique) <= MOST_LABELS:
        return {}
    merged = replace(view, front=both, names=())
    differing = [name for name in view.axes if len({*both[name].tolist()}) > 1]
    names = {
        row: elided(", ".join(front_view.choice_text(merged, name, row) for name in differing))
        for row in map(rows.index, unique)
    }
    return names if len({*names.values()}) == len(unique) else {}


def _name_points(view: FrontView, panels: Iterable[Panel]) -> None:
    """Write names beside the ends of the front, and beside all of its points when few."""
    for axes, x, y in panels:
        at = np.column_stack([x.front, y.front])
        at = at[np.isfinite(at).all(axis=1)]
        named = [int(end) for end in (*at.argmin(axis=0), *at.argmax(axis=0))]
        if len(view.objectives) == 2 and view.size <= MOST_LABELS:
            named += range(view.size)
        names = front_view.distinct_names(view, list(dict.fromkeys(named)))
        place_labels(axes, at, names)
