"""What `dse flips` and `dse map` leave in a folder: a picture, JSON and a table."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PatchCollection
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Polygon

from dse.algebra import units
from dse.files.csv import inert
from dse.model.labels import Labels, labelled_line
from dse.parametric.crossovers import Crossovers
from dse.parametric.decision_map import DecisionMap
from dse.parametric.flips import FACTOR, NOTHING_FITS, Flips, Stability
from dse.reports.drawing import (
    FILLS,
    HALO,
    LINE_COLOUR,
    Band,
    Picture,
    log_ticks,
    name_bands,
    number_ticks,
    save_drawn,
    settle,
    shade,
    without_repeats,
)
from dse.reports.front_view import MOST_CHARACTERS, elided, elided_apart
from dse.reports.text import in_words, plural, unit_suffix

_MOST_BARS = 40
LOG_FROM = 30.0
"""A range longer than this factor is drawn on a logarithmic axis."""
ROOM = 0.25
"""Share of the height of the first panel that is kept for the names of designs."""
WIDE = (10.0, 5.625)
"""Inches of a map: 16 to 9."""
HATCH = "////"
ROOMY = 1.1
"""A name is written into a region that is so many times as wide and high."""
OTHERS, NOTHING = "0.75", "1.0"
"""Greys of answers of a map beyond the colours, and of what is infeasible."""

_UNNAMED = (NOTHING_FITS, "not searched")
"""Parts of a range that no design holds."""

Rows = Iterator[tuple[object, ...]]
Shape = list[tuple[float, float]]


def save_flips(found: Flips, out: Path) -> None:
    """Write flips as JSON and as a picture into a folder, all or nothing."""
    save_drawn(found.to_dict(), out, "flips", partial(flips_figure, found))


def save_crossovers(found: Crossovers, out: Path) -> None:
    """Write intervals as a table, as JSON and as a picture into a folder, all or nothing."""
    draw = partial(crossovers_figure, found)
    save_drawn(found.to_dict(), out, "crossovers", draw, _interval_rows(found))


def save_map(found: DecisionMap, out: Path) -> None:
    """Write a map as a table, as JSON and as a picture into a folder, all or nothing."""
    save_drawn(found.to_dict(), out, "map", partial(map_figure, found), _map_rows(found))


def _interval_rows(found: Crossovers) -> Rows:
    """Yield one line per interval and design."""
    unit = unit_suffix(found.assumption.quantity)
    yield f"from{unit}", f"to{unit}", "design"
    for one in found.intervals:
        yield repr(one.low), repr(one.high), inert("".join(one.designs))


def _map_rows(found: DecisionMap) -> Rows:
    """Yield one line per row and interval, with the objectives at both ends."""
    first, second = (unit_suffix(entry.quantity) for entry in (found.first, found.second))
    goals = [goal.name for goal in found.study.problem.goals]
    values = [f"{name}_at_{end}" for end in ("from", "to") for name in goals]
    yield f"{found.second.name}{second}", f"from{first}", f"to{first}", "answer", *values
    for row in found.rows:
        for one in row.intervals:
            ends = [
                (*map(repr, end), *[""] * len(goals))[: len(goals)] for end in (one.first, one.last)
            ]
            yield (
                repr(row.value),
                repr(one.low),
                repr(one.high),
                inert(one.name),
                *ends[0],
                *ends[1],
            )


def _title(found: Crossovers | DecisionMap) -> str:
    """Return what is followed and, where the study has one, its question."""
    return ": ".join(filter(None, (found.followed, found.study.question)))


def _new_figure(title: str, width: int, height: float) -> Figure:
    figure = Picture(figsize=(8.2, height))
    figure.suptitle(textwrap.fill(title, width))
    return figure


def flips_figure(found: Flips) -> Figure:
    """Return the picture: a bar per assumption, around the nominal value.

    The axis is the ratio to the nominal value; assumptions that change nothing are only counted.
    """
    shown = [entry for entry in found.moving if _has_ratios(entry)][:_MOST_BARS]
    figure = _new_figure(found.title, 80, 1.5 + 0.3 * max(len(shown), 2))
    axes = figure.add_subplot()
    for row, entry in enumerate(shown):
        _bar(axes, row, entry)
    axes.axvline(1.0, color="0.2", linewidth=1)
    axes.set_yticks(range(len(shown)), labels=elided_apart([entry.name for entry in shown]))
    axes.tick_params(axis="y", length=0)
    axes.set(xscale="log", xlim=_limits(shown), ylim=(max(len(shown), 1) - 0.4, -0.6))
    log_ticks(axes.xaxis, *axes.get_xlim())
    hidden = len(found.found) - len(shown)
    rest = f"\n{hidden} more are not drawn" if hidden else ""
    axes.set_xlabel(f"value relative to nominal; the answer holds inside the bar{rest}")
    settle(figure)
    return figure


def _bar(axes: Axes, row: int, entry: Stability) -> None:
    low, high = (side.holds_to / entry.nominal for side in entry.sides)
    axes.barh(row, high - low, left=low, height=0.55, color=FILLS[0], alpha=0.35, linewidth=0)
    for side in entry.sides:
        if side.flips_at is None:
            continue
        end = side.holds_to / entry.nominal
        axes.plot([end, end], [row - 0.28, row + 0.28], color=FILLS[0], linewidth=2)
        left = side.flips_at / entry.nominal < 1.0
        axes.annotate(
            entry.change_text(side),
            (end, row),
            xytext=(-4 if left else 4, 0),
            textcoords="offset points",
            ha="right" if left else "left",
            va="center",
            fontsize=8,
        )


def _has_ratios(entry: Stability) -> bool:
    """Whether its interval does not pass zero, where there are no ratios."""
    return all(side.holds_to * entry.nominal > 0.0 for side in entry.sides)


def _limits(shown: Sequence[Stability]) -> tuple[float, float]:
    """Return a range that shows every flip, with room for its label."""
    flips = [(e, side) for e in shown for side in e.sides if side.flips_at is not None]
    ends = [side.holds_to / entry.nominal for entry, side in flips]
    low, high = min([*ends, 0.8]), max([*ends, 1.25])
    room = (high / low) ** 0.16
    return max(low / room, 1 / FACTOR / 2), min(high * room, 2 * FACTOR)


def crossovers_figure(found: Crossovers) -> Figure:
    """Return the picture.

    One panel per objective, with the part of each design shaded, named where it is wide enough, and
    a line at each crossover.
    """
    figure = _new_figure(_title(found), 72, 1.4 + 2.5 * len(found.goals))
    factor, unit = units.scale([found.high], found.assumption.quantity)
    low, high = found.low / factor, found.high / factor
    bands, panels = _bands(found, factor), _panels(figure, found, factor)
    for axes in panels:
        shade(axes, bands, [*dict.fromkeys(name for *_, name in bands if name not in _UNNAMED)])
        axes.set_xlim(low, high)
        if high > LOG_FROM * low > 0:
            axes.set_xscale("log")
            log_ticks(axes.xaxis, low, high)
        else:
            number_ticks(axes.xaxis)
    label = titled(found.assumption.name, unit)
    panels[-1].set_xlabel(f"{label}\n ")
    settle(figure)
    unnamed = name_bands(panels[0], bands)
    rest = f"{plural(unnamed, 'interval')} too narrow for a name; all are in crossovers.csv"
    panels[-1].set_xlabel(f"{label}\n{rest if unnamed else ''}")
    return figure


def _bands(found: Crossovers, factor: float) -> list[Band]:
    """Return the intervals of the answer, and what of the range has none."""
    labels = found.study.problem.labels
    spans = [
        (one.low / factor, one.high / factor, labelled_line(one.name, labels))
        for one in found.intervals
    ]
    last = spans[-1][1]
    if last < found.high / factor:
        spans.append((last, found.high / factor, _UNNAMED[1]))
    return without_repeats(spans)


def _panels(figure: Figure, found: Crossovers, factor: float) -> list[Axes]:
    """Draw each objective along the number."""
    gap = (np.nan,) * (1 + len(found.goals))
    rows = [(*row, *gap)[: len(gap)] for one in found.intervals for row in (*one.curve, gap)]
    numbers, *objectives = np.array(rows).T
    grid = figure.subplots(len(found.goals), 1, sharex=True, squeeze=False).ravel()
    for axes, name, values in zip(grid, found.goals, objectives, strict=True):
        known, room = values[np.isfinite(values)], 0.0 if axes is not grid[0] else ROOM
        scale, unit = units.scale(known, name) if len(known) else (1.0, "")
        axes.plot(numbers / factor, values / scale, color="0.1", linewidth=1.4)
        low, high = axes.get_ylim()
        if len(known) and known.min() > 0 and known.max() > LOG_FROM * known.min():
            axes.set_yscale("log")
            low, high = known.min() / scale / 1.3, known.max() / scale * 1.3
            high *= (high / low) ** room
            log_ticks(axes.yaxis, low, high)
        else:
            high += room * (high - low)
            number_ticks(axes.yaxis)
        axes.set_ylim(low, high)
        axes.set_ylabel(titled(name, unit))
    return list(grid)


def titled(name: str, unit: str) -> str:
    """Return a quantity in words with its unit, as an axis has it."""
    owner, words = name.rpartition(".")[0], in_words(name)
    words = f"{words} of {owner}" if "." in owner else words  # a metric of one design
    for sign, limit in ((" <= ", "at most"), (" >= ", "at least")):  # a bound, by its number
        quantity, bounded, _ = name.rpartition(sign)
        words = f"{in_words(quantity)} {limit}" if bounded else words
    return f"{words} [{unit}]" if unit else words


def map_figure(found: DecisionMap) -> Figure:
    """Return the picture: a region for each answer with its name inside, the largest share first.

    What is not known is hatched.  A star is the study itself; at the borders of its row stands the
    objective that is compared, below and above.
    """
    figure = _new_figure(_title(found), 84, WIDE[1])
    figure.set_size_inches(*WIDE)
    axes = figure.add_subplot(xscale="log", yscale="log")
    colours, scales = _colours(found), _map_scales(axes, found)
    regions = _regions(found)
    for name, shapes in regions.items():
        polygons = [Polygon(np.array(shape) / scales) for shape in shapes]
        colour = colours.get(name, NOTHING)
        look: dict[str, Any] = {"facecolor": colour, "edgecolor": colour, "linewidth": 0.4}
        look |= {} if name else {"hatch": HATCH, "edgecolor": LINE_COLOUR, "linewidth": 0.0}
        axes.add_collection(PatchCollection(polygons, **look), autolim=False)
    settle(figure)
    left = [name for name in colours if not _named_inside(axes, found, name, scales)]
    if left or "" in regions:
        _map_legend(
            figure,
            {name: colours[name] for name in left},
            found.study.problem.labels,
            unknown="" in regions,
        )
        figure.set_layout_engine("constrained")
        settle(figure)
    _mark_study(axes, found, scales)
    return figure


def _colours(found: DecisionMap) -> dict[str, str]:
    """Return a colour for each answer, the largest share first."""
    names = [name for name in found.shares if name != NOTHING_FITS]
    colours = dict(zip(names, [*FILLS, *[OTHERS] * len(names)], strict=False))
    return colours | ({NOTHING_FITS: NOTHING} if NOTHING_FITS in found.shares else {})


def _map_scales(axes: Axes, found: DecisionMap) -> list[float]:
    """Set the ends, ticks and labels of both axes; return the factors of their units."""
    numbers, scales = (found.first, found.second), []
    for axis, entry, (low, high) in zip(
        (axes.xaxis, axes.yaxis), numbers, found.ranges, strict=True
    ):
        factor, unit = units.scale([high], entry.quantity)
        log_ticks(axis, low / factor, high / factor)
        axis.set_label_text(titled(entry.name, unit))
        scales.append(factor)
    first, second = (np.array(pair) / by for pair, by in zip(found.ranges, scales, strict=True))
    axes.set(xlim=first, ylim=second)
    return scales


def _regions(found: DecisionMap) -> dict[str, list[Shape]]:
    """Return the corners of what each answer holds between rows; of what nobody knows under ""."""
    regions: dict[str, list[Shape]] = {}
    unknown = {one.value for one, _ in found.unknown}
    for one, other in pairwise(found.rows):
        low, high = one.value, other.value
        if low not in unknown:  # the same answers, with boundaries that are near
            for name, a, b in zip(one.names, one.intervals, other.intervals, strict=True):
                shape = [(a.low, low), (a.high, low), (b.high, high), (b.low, high)]
                regions.setdefault(name, []).append(shape)
            continue
        cells = (*one.intervals, *other.intervals)
        for left, right in pairwise(
            sorted({end for cell in cells for end in (cell.low, cell.high)})
        ):
            names = {row.at(math.sqrt(left * right)) for row in (one, other)}
            shape = [(left, low), (right, low), (right, high), (left, high)]
            regions.setdefault(names.pop() if len(names) == 1 else "", []).append(shape)
    return regions


def _named_inside(axes: Axes, found: DecisionMap, name: str, scales: Sequence[float]) -> bool:
    """Write the name of an answer where its region has most room; return whether that is enough."""
    shown = elided(labelled_line(name, found.study.problem.labels))
    text = axes.text(1.0, 1.0, shown, ha="center", va="center", fontsize=12, zorder=5)
    text.set(path_effects=HALO)
    sides = (box := text.get_window_extent()).width, box.height
    heights = axes.transData.transform([(1.0, row.value / scales[1]) for row in found.rows])[:, 1]
    best = (0.0, 0.0, 1.0, 1.0)
    for number, row in enumerate(found.rows):
        for own, one in zip(row.names, row.intervals, strict=True):
            if own != name:
                continue
            middle = math.sqrt(one.low * one.high)
            ends = [(end / scales[0], 1.0) for end in (one.low, one.high)]
            width = float(np.ptp(axes.transData.transform(ends)[:, 0]))
            same = np.array([other.at(middle) == name for other in found.rows])
            other = np.abs(heights - heights[number])[~same]
            edges = [heights[-1] - heights[number], heights[number] - heights[0]]
            height = 2.0 * min(*edges, other.min(initial=np.inf))
            place = middle / scales[0], row.value / scales[1]
            level, upright = (min(width / a, height / b) for a, b in (sides, sides[::-1]))
            best = max(best, (level, 0.0, *place), (min(upright, 1.5), 90.0, *place))
    text.set(position=best[2:], rotation=best[1])
    if best[0] < ROOMY:
        text.remove()
    return best[0] >= ROOMY


def _mark_study(axes: Axes, found: DecisionMap, scales: Sequence[float]) -> None:
    """Draw a star at the study itself, and what is compared at the borders of its row."""
    x, y = found.own
    level = y or math.sqrt(math.prod(found.ranges[1]))
    row = min(found.rows, key=lambda row: abs(math.log(row.value / level)))
    goal = found.study.problem.goals[found.compared]
    for number, (one, other) in enumerate(pairwise(row.intervals)):
        values = [end[found.compared] for end in (one.last, other.first) if end]
        texts = dict.fromkeys(units.show(value, goal.name) for value in values)
        place, up = (one.high / scales[0], row.value / scales[1]), not number % 2
        axes.plot(*place, "o", color="0.1", markersize=4, zorder=6)
        axes.annotate(
            " to ".join(texts),
            place,
            (0, 7 if up else -7),
            textcoords="offset points",
            ha="center",
            va="bottom" if up else "top",
            fontsize=9,
            path_effects=HALO,
            zorder=6,
        )
    if x is not None and y is not None:
        look: dict[str, Any] = {"markersize": 18, "markeredgecolor": "white", "zorder": 7}
        place = x / scales[0], y / scales[1]
        axes.plot(*place, "*", color="0.1", clip_on=False, **look)
        near: dict[str, Any] = {"textcoords": "offset points", "path_effects": HALO, "zorder": 7}
        axes.annotate("the study", place, (-12, 0), ha="right", va="center", fontsize=9, **near)


def _map_legend(
    figure: Figure, colours: Mapping[str, str], people: Labels, *, unknown: bool
) -> None:
    """Name the colours of a map that have no name inside, below it."""
    shown = [name for name, colour in colours.items() if colour not in (OTHERS, NOTHING)]
    labels = elided_apart([labelled_line(name, people) for name in shown])
    handles = [
        Patch(facecolor=colours[name], label=label)
        for name, label in zip(shown, labels, strict=True)
    ]
    others = [*colours.values()].count(OTHERS)
    if others:
        handles.append(Patch(facecolor=OTHERS, label=f"{others} others"))
    if NOTHING_FITS in colours:
        handles.append(Patch(facecolor=NOTHING, edgecolor="0.6", label=NOTHING_FITS))
    if unknown:
        handles.append(
            Patch(facecolor=NOTHING, edgecolor=LINE_COLOUR, hatch=HATCH, label="not known")
        )
    longest = max(map(len, labels), default=0)
    columns = 3 if longest <= MOST_CHARACTERS else 2 if longest <= 56 else 1
    figure.legend(handles=handles, loc="outside lower center", ncols=columns, fontsize=8)
