"""The roofs over the recommended design as a picture."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from dse.algebra import units
from dse.answers.design import pick
from dse.answers.roofs import Roofs, roofs_of
from dse.answers.sections import headroom
from dse.answers.source import known_fronts
from dse.reports.drawing import (
    FILLS,
    Picture,
    draw_into,
    log_ticks,
    number_ticks,
    save_figure,
    settle,
)
from dse.reports.text import in_words
from dse.runs import finished
from dse.study.scenario import field_path

DASHES: tuple[Any, ...] = ("-", "--", ":", "-.", (0, (4, 2)))


def plot_roofs(run: Path, folder: Path) -> tuple[Path, ...]:
    """Draw ``roofs.png`` and ``roofs.svg``: what limits the design that a run recommends.

    A run that recommends none, or one whose limits are known by name only, has no such picture.

    Raises
    ------
    OutputError
        When `folder` cannot be written.
    """
    if not finished.read_run(run).rows:
        return ()
    fronts = known_fronts(run)
    study, front = fronts.points[0].study, fronts.points[0].front
    if fronts.sweep is not None or not len(front):
        return ()
    preference = study.preferring(None, None)
    chosen = pick(study.problem, preference.first(study.problem, front)[0])
    found = [*roofs_of(study.problem, front, chosen, preference)]
    if not found:
        return ()
    line = chosen.line
    return draw_into(folder, lambda fresh: save_figure(_figure(found, line), fresh / "roofs"))


def _figure(found: Sequence[Roofs], design: str) -> Figure:
    figure = Picture()
    bent = any(len(roofs.places) for roofs in found)
    figure.set_size_inches(10.4 if bent else 7.6, len(found) * (4.0 if bent else 2.4))
    cells = figure.subplots(len(found), 1 + bent, squeeze=False, width_ratios=(4, 6)[: 1 + bent])
    for roofs, row in zip(found, cells, strict=True):
        _bars(row[0], roofs)
        if bent:
            _bends(row[1], roofs)
    text = "\n".join([design, *(roofs.text for roofs in found)])
    width = int(figure.get_figwidth() * 12)
    figure.suptitle("\n".join(textwrap.fill(line, width) for line in text.split("\n")), fontsize=10)
    settle(figure)
    return figure


def _bars(axes: Axes, roofs: Roofs) -> None:
    """Draw the headroom from what is reached to each limit; a logarithm beyond a decade."""
    limits, name = roofs.limited.limits, roofs.limited.quantity
    values = [one.value or 0.0 for one in limits]
    factor, unit = units.scale([roofs.limited.reached], name)
    start, ends = roofs.limited.reached / factor, np.divide(values, factor)
    places = range(len(limits))
    axes.barh(places, ends - start, left=start, height=0.5, color=[*map(_colour, places)])
    for place, end, one in zip(places, ends, limits, strict=True):
        look: dict[str, Any] = {"xytext": (4, 0), "textcoords": "offset points", "va": "center"}
        axes.annotate(headroom(one), (float(end), place), **look)
    if start > 0 and max(ends) > 10 * start:
        axes.set_xscale("log")
        low, high = start / 1.1, max(ends) * (max(ends) / start) ** 0.35
        log_ticks(axes.xaxis, low, high)
    else:
        room = max(max(ends) - start, 0.1 * max(ends))
        low, high = start - 0.04 * room, max(ends) + 0.35 * room
        number_ticks(axes.xaxis)
    axes.set_xlim(low, high)
    axes.axvline(start, color="0.1", linewidth=1.2)
    axes.set_ylim(len(limits) - 0.4, -0.6)
    axes.set_yticks(places, labels=[textwrap.fill(one.words, 14) for one in limits])
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel(f"{in_words(name)} [{unit}], reached to allowed")


def _bends(axes: Axes, roofs: Roofs) -> None:
    """Draw each limit over granularity or intensity, on logarithms, and where the design is."""
    if not len(roofs.places):
        axes.set_axis_off()
        return
    name, limits = roofs.limited.quantity, roofs.limited.limits
    factor, unit = units.scale([roofs.limited.reached], name)
    heights = [roofs.heights[one.label] / factor for one in limits]
    lowest = np.min(heights, axis=0)
    for place, (one, height) in enumerate(zip(limits, heights, strict=True)):
        look = {"color": _colour(place), "linestyle": DASHES[place % len(DASHES)], "zorder": 2}
        axes.plot(roofs.places, height, label=one.words, **look)
    axes.plot(roofs.places, lowest, color="0.1", linewidth=3, alpha=0.5, label="can be reached")
    if roofs.lift is not None:
        lifted, words = roofs.lifted_height / factor, "with the design that lifts it"
        axes.plot(roofs.places, lifted, ":", color="0.1", linewidth=1, label=words)
    own = roofs.limited.reached / factor
    ring: dict[str, Any] = {"facecolors": "none", "edgecolors": "0.1", "zorder": 5}
    axes.scatter([roofs.at], [own], s=120, label="reached", **ring)
    low, high = (end / factor for end in roofs.span)
    axes.set(xscale="log", yscale="log", xlim=(roofs.places[0], roofs.places[-1]), ylim=(low, high))
    log_ticks(axes.yaxis, low, high)
    ticks = [one for one in roofs.places if float(np.log2(one / roofs.at) / 4).is_integer()]
    axes.xaxis.set_major_locator(FixedLocator(ticks))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: units.show(value, roofs.column)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set(xlabel=in_words(field_path(roofs.column)), ylabel=f"{in_words(name)} [{unit}]")
    axes.legend(fontsize="small", frameon=False, loc="lower right")


def _colour(place: int) -> str:
    return FILLS[place % len(FILLS)]
