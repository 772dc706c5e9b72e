"""The files of `dse flips` and `dse map`: a picture, JSON and a table."""

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
from dse.model.labels import labelled_line
from dse.model.space import ALONE, HOST
from dse.parametric.decision_map import DecisionMap
from dse.parametric.flips import FACTOR, NOTHING_FITS, Flips, Stability
from dse.reports.drawing import (
    FILLS,
    HALO,
    LINE_COLOUR,
    Band,
    Picture,
    drawing,
    log_ticks,
    name_bands,
    number_ticks,
    save_drawn,
    settle,
    shade,
    svg_bytes,
    without_repeats,
)
from dse.reports.front_view import MOST_CHARACTERS, elided, elided_apart
from dse.reports.text import in_words, plural, unit_suffix

_MOST_BARS = 40
_LOG_FROM = 30.0
"""A range longer than this factor is drawn on a logarithmic axis."""
_ROOM = 0.25
"""Share of the height of the first panel that is kept for the names of designs."""
_WIDE = (10.0, 5.625)
"""Inches of a map: 16 to 9."""
_HATCH = "////"
_ROOMY = 1.1
"""A name is written into a region that is so many times as wide and high."""
_OTHERS, _NOTHING = "0.75", "1.0"
"""Greys of answers of a map beyond the colours, and of infeasible parts."""
_NOT_SEARCHED = "not searched"
"""Name of a part of a range that has no answer."""

Rows = Iterator[tuple[object, ...]]
Shape = list[tuple[float, float]]


def save_flips(found: Flips, out: Path) -> None:
    """Write flips as JSON and as a picture into a folder, all or nothing."""
    save_drawn(found.to_dict(), out, "flips", partial(flips_figure, found))


def save_map(found: DecisionMap, out: Path) -> None:
    """Write a map as a table, as JSON and as a picture into a folder, all or nothing."""
    one = len(found.numbers) == 1
    draw = partial(crossovers_figure if one else map_figure, found)
    save_drawn(found.to_dict(), out, "crossovers" if one else "map", draw, _table(found))


def _table(found: DecisionMap) -> Rows:
    """Yield a line for each row and interval, with the objectives at both ends."""
    first, *others = found.numbers
    unit, heads = (
        unit_suffix(first.quantity),
        [f"{e.name}{unit_suffix(e.quantity)}" for e in others],
    )
    values = [f"{name}_at_{end}" for end in ("from", "to") for name in found.goals]
    yield *heads, f"from{unit}", f"to{unit}", "answer", *values
    for row in found.rows:
        for one in row.intervals:
            about = repr(one.low), repr(one.high), inert(one.name)
            ends = [*map(repr, sum(one.ends, ()))] or [""] * len(values)
            yield *[repr(row.value)] * len(heads), *about, *ends


def _title(found: DecisionMap) -> str:
    """Return the preference and, if the study has one, its question."""
    return ": ".join(filter(None, (found.question.preference.text, found.study.question)))


def _new_figure(title: str, width: int, height: float) -> Figure:
    figure = Picture(figsize=(8.2, height))
    figure.suptitle(textwrap.fill(title, width))
    return figure


def flips_figure(found: Flips) -> Figure:
    """Return the picture: a bar for each assumption, around the nominal value.

    The axis is the ratio to the nominal value.  Assumptions that change nothing are only counted.
    """
    ratios = [e for e in found.moving if all(side.holds_to * e.nominal > 0.0 for side in e.sides)]
    shown = ratios[:_MOST_BARS]  # an interval that passes zero has no ratios
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
    for side, end in zip(entry.sides, (low, high), strict=True):
        if side.flips_at is None:
            continue
        axes.plot([end, end], [row - 0.28, row + 0.28], color=FILLS[0], linewidth=2)
        left = side.flips_at / entry.nominal < 1.0
        offset, ha = (-4 if left else 4, 0), "right" if left else "left"
        look: dict[str, Any] = {"textcoords": "offset points", "va": "center", "fontsize": 8}
        axes.annotate(entry.change_text(side), (end, row), offset, ha=ha, **look)


def _limits(shown: Sequence[Stability]) -> tuple[float, float]:
    """Return a range that shows every flip, with room for its label."""
    ends = [s.holds_to / e.nominal for e in shown for s in e.sides if s.flips_at is not None]
    low, high = min([*ends, 0.8]), max([*ends, 1.25])
    room = (high / low) ** 0.16
    return max(low / room, 1 / FACTOR / 2), min(high * room, 2 * FACTOR)


def crossovers_figure(found: DecisionMap) -> Figure:
    """Return the picture: a panel for each objective, with the part of each design shaded."""
    figure = _new_figure(_title(found), 72, 1.4 + 2.5 * len(found.goals))
    (number,), (ends,) = found.numbers, found.ranges
    factor, unit = units.scale([ends[1]], number.quantity)
    low, high = (end / factor for end in ends)
    bands, panels = _bands(found, factor), _panels(figure, found, factor)
    unnamed = (NOTHING_FITS, _NOT_SEARCHED)
    names = [*dict.fromkeys(name for *_, name in bands if name not in unnamed)]
    for axes in panels:
        shade(axes, bands, names)
        axes.set_xlim(low, high)
        _tick(axes, "x", low, high)
    label = titled(number.name, unit)
    panels[-1].set_xlabel(f"{label}\n ")
    settle(figure)
    narrow = name_bands(panels[0], bands)
    rest = f"{plural(narrow, 'interval')} too narrow for a name; the table has all"
    panels[-1].set_xlabel(f"{label}\n{rest if narrow else ''}")
    return figure


def _tick(axes: Axes, which: str, low: float, high: float) -> bool:
    """Label an axis, on a logarithmic scale if its range is long, and return whether it is."""
    axis, log = getattr(axes, f"{which}axis"), high > _LOG_FROM * low > 0
    if log:
        axes.set(**{f"{which}scale": "log"})
        log_ticks(axis, low, high)
    else:
        number_ticks(axis)
    return log


def _bands(found: DecisionMap, factor: float) -> list[Band]:
    """Return the intervals of the answer, and the part of the range without one."""
    labels, last = found.study.problem.labels, found.intervals[-1].high
    spans = [(one.low, one.high, labelled_line(one.name, labels)) for one in found.intervals]
    high = found.ranges[0][1]
    spans += [(last, high, _NOT_SEARCHED)] if last < high else []
    return without_repeats([(low / factor, high / factor, name) for low, high, name in spans])


def _panels(figure: Figure, found: DecisionMap, factor: float) -> list[Axes]:
    """Draw each objective along the number."""
    gap = (np.nan,) * (1 + len(found.goals))
    rows = [(*row, *gap)[: len(gap)] for one in found.intervals for row in (*one.curve, gap)]
    numbers, *objectives = np.array(rows).T
    grid = figure.subplots(len(found.goals), 1, sharex=True, squeeze=False).ravel()
    for axes, name, values in zip(grid, found.goals, objectives, strict=True):
        known, room = values[np.isfinite(values)], 0.0 if axes is not grid[0] else _ROOM
        scale, unit = units.scale(known, name) if len(known) else (1.0, "")
        axes.plot(numbers / factor, values / scale, color="0.1", linewidth=1.4)
        low, high = axes.get_ylim()
        ends = known.min(initial=np.inf) / scale, known.max(initial=0.0) / scale
        if _tick(axes, "y", *ends):
            low, high = ends[0] / 1.3, ends[1] * 1.3
            axes.set_ylim(low, high * (high / low) ** room)
            log_ticks(axes.yaxis, *axes.get_ylim())
        else:
            axes.set_ylim(low, high + room * (high - low))
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


def map_figure(found: DecisionMap, first: Sequence[str] = ()) -> Figure:
    """Return the picture of a map, with the names that have no room inside below it.

    `first` is as in `draw_map`.
    """
    figure = _new_figure(_title(found), 84, _WIDE[1])
    figure.set_size_inches(*_WIDE)
    handles = draw_map(figure.add_subplot(), found, first)
    most = max((len(str(one.get_label())) for one in handles), default=0)
    if handles:
        columns = 3 if most <= MOST_CHARACTERS else 1
        figure.legend(handles=handles, loc="outside lower center", ncols=columns, fontsize=8)
    settle(figure)
    return figure


def draw_map(axes: Axes, found: DecisionMap, first: Sequence[str] = ()) -> list[Patch]:
    """Draw a map into axes: a region for each answer, with its name inside if that has room.

    Hatched regions are not known.  A star is the study itself.  The borders of its row show the
    objective that is compared, below and above.  Returns entries of a legend for the other names.
    Answers that are in `first`, as shown, have the colours of these places.
    """
    axes.set(xscale="log", yscale="log")
    scales, regions, colours = _map_scales(axes, found), _regions(found), _colours(found, first)
    for name, shapes in regions.items():
        polygons = [Polygon(np.array(shape) / scales) for shape in shapes]
        axes.add_collection(PatchCollection(polygons, **_look(name, colours)), autolim=False)
    if figure := axes.get_figure(root=True):  # names are measured against its layout
        figure.draw_without_rendering()
    unnamed = [name for name in colours if not _name_inside(axes, found, name, scales)]
    _mark_study(axes, found, scales)
    return _unnamed(found, {name: colours[name] for name in unnamed}, unknown="" in regions)


def _name_inside(axes: Axes, found: DecisionMap, name: str, scales: Sequence[float]) -> bool:
    """Write a name at the widest place of its region, and return whether it has room."""
    shown = elided(labelled_line(name, found.study.problem.labels))
    text = axes.text(1.0, 1.0, shown, ha="center", va="center", fontsize=12, zorder=5)
    text.set(path_effects=HALO)
    size = text.get_window_extent()
    levels = [(1.0, row.value / scales[1]) for row in found.rows]
    heights = axes.transData.transform(levels)[:, 1]
    best = (0.0, 0.0, (1.0, 1.0))
    for row, at in zip(found.rows, heights, strict=True):
        for one in filter(lambda one: one.name == name, row.intervals):
            middle = math.sqrt(one.low * one.high)
            ends = [(end / scales[0], 1.0) for end in (one.low, one.high)]
            width = float(np.ptp(axes.transData.transform(ends)[:, 0]))
            ended = [other.at(middle) != name for other in found.rows]
            edges = np.array([heights[0], heights[-1], *heights[ended]])
            height = 2.0 * float(np.abs(edges - at).min())
            place = middle / scales[0], row.value / scales[1]
            level = min(width / size.width, height / size.height)
            upright = min(width / size.height, height / size.width, 1.5)  # level if that has room
            best = max(best, (level, 0.0, place), (upright, 90.0, place))
    text.set(position=best[2], rotation=best[1])
    if best[0] < _ROOMY:
        text.remove()
    return best[0] >= _ROOMY


def _mark_study(axes: Axes, found: DecisionMap, scales: Sequence[float]) -> None:
    """Draw a star at the study itself, and the compared objective at the borders of its row."""
    x, y = found.own
    middle, height = (math.sqrt(math.prod(ends)) for ends in found.ranges)
    row = min(found.rows, key=lambda row: abs(math.log(row.value / (y or height))))
    goal = found.question.column(found.study.problem) or 0
    beside: dict[str, Any] = {"textcoords": "offset points", "fontsize": 9, "zorder": 7}
    beside |= {"path_effects": HALO, "va": "center", "in_layout": False}
    up = -1 if row.value > height else 1  # away from the edge
    low, high = (math.log(end / row.value) for end in found.ranges[1])
    turns = min(-low, high) > 0.15 * (high - low)  # room on both sides
    for number, (one, after) in enumerate(pairwise(row.intervals)):
        values = [end[goal] for end in (one.ends[1], after.ends[0]) if end]
        prices = dict.fromkeys(units.show(value, found.goals[goal]) for value in values)
        place = one.high / scales[0], row.value / scales[1]
        axes.plot(*place, "o", color="0.1", markersize=4, clip_on=False, zorder=6, in_layout=False)
        side, ha = (-1, "right") if one.high > middle else (1, "left")
        again, beyond = divmod(number, 2) if turns else (number % 2, 0)
        offset = 6 * side, (20 + 14 * again) * up * (-1) ** beyond
        leader = {"arrowstyle": "-", "linewidth": 0.6, "shrinkA": 0}
        axes.annotate(" to ".join(prices), place, offset, ha=ha, arrowprops=leader, **beside)
    if x is not None and y is not None:
        place = x / scales[0], y / scales[1]
        look: dict[str, Any] = {"color": "0.1", "markersize": 18, "markeredgecolor": "white"}
        look["in_layout"] = False
        axes.plot(*place, "*", clip_on=False, zorder=7, **look)
        axes.annotate("the study", place, (-12, 0), ha="right", **beside)


def _unnamed(found: DecisionMap, colours: Mapping[str, str], *, unknown: bool) -> list[Patch]:
    """Return a patch for each of the answers without a name inside, and for what is unknown."""
    names = [name for name, colour in colours.items() if colour != _OTHERS]
    shown = elided_apart([labelled_line(name, found.study.problem.labels) for name in names])
    labels = dict(zip(names, shown, strict=True))
    others = [name for name, colour in colours.items() if colour == _OTHERS]
    labels |= {others[0]: f"{len(others)} others"} if others else {}
    labels |= {"": "not known"} if unknown else {}
    return [Patch(label=label, **_look(name, colours)) for name, label in labels.items()]


def map_svg(found: DecisionMap, first: Sequence[str]) -> tuple[bytes, list[list[float]]]:
    """Return the picture as SVG, and the ends of its axes as shares of its size.

    `first` is as in `draw_map`.
    """
    with drawing():
        two = len(found.numbers) > 1
        figure = map_figure(found, first) if two else crossovers_figure(found)
        return svg_bytes(figure), figure.axes[0].get_position().get_points().T.tolist()


def _look(name: str, colours: Mapping[str, str]) -> dict[str, Any]:
    """Return the look of the region of an answer, hatched if it is unknown."""
    if not name:
        return {"facecolor": _NOTHING, "edgecolor": LINE_COLOUR, "hatch": _HATCH, "linewidth": 0.0}
    edge = "0.6" if name == NOTHING_FITS else colours[name]
    return {"facecolor": colours[name], "edgecolor": edge, "linewidth": 0.4}


def _colours(found: DecisionMap, first: Sequence[str]) -> dict[str, str]:
    """Return a colour for each answer: its place in `first`, as shown, or the largest share."""
    labels = found.study.problem.labels
    names = [name for name in found.shares if name != NOTHING_FITS]
    shown = {HOST if name == ALONE else labelled_line(name, labels): name for name in names}
    order = [shown.get(one, "") for one in first]
    order += [name for name in names if name not in order]
    fills = zip(order, [*FILLS, *[_OTHERS] * len(order)], strict=False)
    colours = {name: fill for name, fill in fills if name}
    return colours | {name: _NOTHING for name in found.shares if name == NOTHING_FITS}


def _map_scales(axes: Axes, found: DecisionMap) -> list[float]:
    """Set the ends, ticks and labels of both axes, and return the factors of their units."""
    scales = []
    for which, entry, (low, high) in zip("xy", found.numbers, found.ranges, strict=True):
        factor, unit = units.scale([high], entry.quantity)
        log_ticks(getattr(axes, f"{which}axis"), low / factor, high / factor)
        axes.set(**{f"{which}label": titled(entry.name, unit)})
        axes.set(**{f"{which}lim": (low / factor, high / factor)})
        scales.append(factor)
    return scales


def _regions(found: DecisionMap) -> dict[str, list[Shape]]:
    """Return the corners of each answer's parts between rows, of unknown parts under ""."""
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
        ends = sorted({end for cell in cells for end in (cell.low, cell.high)})
        for left, right in pairwise(ends):
            names = {row.at(math.sqrt(left * right)) for row in (one, other)}
            shape = [(left, low), (right, low), (right, high), (left, high)]
            regions.setdefault(names.pop() if len(names) == 1 else "", []).append(shape)
    return regions
