"""Fronts over a swept value: a panel per objective, shaded by who is best in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from dse.reports import bands, front_view
from dse.reports.bands import Band
from dse.reports.drawing import HINTS, draw_line, panels_in
from dse.reports.front_view import ARROW, Columns, FrontView, Scale, axis_scale, best_rows, kind_of

MOST_MARKED = 60
"""Of more swept values so many have marks; the line and the shades have all."""
MOST_CHOICES = 6
"""Of a sweep over so many choices each has a panel."""

HEADROOM = 0.16
"""Share of the height of a panel that is kept for the names of the shades."""


@dataclass(frozen=True)
class Shading:
    """Who is best: shades of each panel, what they name, and what marks tell besides.

    `rest` is what each design is apart from that, for its mark; None for the whole design.
    """

    bands: tuple[tuple[Band, ...], ...]
    words: str
    rest: NDArray[np.str_] | None = None

    @property
    def names(self) -> list[str]:
        """What the shades of all panels name, each once."""
        return list(dict.fromkeys(name for panel in self.bands for *_, name in panel))


def shading(view: FrontView, x: Scale) -> Shading:
    """Return the kinds of the best designs as shades.

    Of a chain it is one stage that is shaded, that which changes the least often along the sweep,
    if it changes at all, and the other stages that the marks tell: as in figure 9 of Battle &
    Hempstead.
    """
    kinds = np.array([kind_of(name) for name in view.names], dtype=str)
    rows = [
        front_view.best_rows(x.front, view.front[name], sense) for name, sense in view.objectives
    ]
    parts = [kind.split(ARROW) for kind in kinds]
    if len({len(part) for part in parts}) > 1 or len(parts[0]) < 2:
        return Shading(tuple(_bands(x, best, kinds) for best in rows), "the best design")
    stages = [np.array(stage, dtype=str) for stage in zip(*parts, strict=True)]
    changes = [
        sum(int((stage[best][1:] != stage[best][:-1]).sum()) for best in rows) for stage in stages
    ]
    moving = [number for number, count in enumerate(changes) if count] or [len(stages) - 1]
    shaded = min(moving, key=lambda number: changes[number])
    others = [ARROW.join(p for n, p in enumerate(part) if n != shaded) for part in parts]
    stage = stages[shaded][0].partition(".")[0]
    return Shading(
        tuple(_bands(x, best, stages[shaded]) for best in rows),
        f"{stage} of the best design",
        np.array(others, dtype=str),
    )


def _bands(x: Scale, best: NDArray[np.intp], kinds: NDArray[np.str_]) -> tuple[Band, ...]:
    """Return where which kind is best; one gives way to the next halfway between two values."""
    at = x.front[best]
    halfway = np.sqrt(at[1:] * at[:-1]) if x.log else (at[1:] + at[:-1]) / 2
    beyond = 0.5 if x.ticks else 0.0
    edges = [float(at[0]) - beyond, *halfway.tolist(), float(at[-1]) + beyond]
    spans = zip(edges, edges[1:], kinds[best].tolist(), strict=False)
    return tuple(bands.without_repeats(list(spans)))


def marked_rows(x: Scale) -> NDArray[np.bool_]:
    """Return which rows of the front have marks: those of `MOST_MARKED` values at most."""
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
    """Draw one panel per objective against the swept column; return these, and their shades."""
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
            bands.shade(axes, shades.bands[number], shades.names)
            room = (y.high / y.low) ** HEADROOM if y.log else HEADROOM * (y.high - y.low)
            y = replace(y, high=y.high * room if y.log else y.high + room)
        panels.append((axes, x, y))
    grid[-1].set_xlabel(x.label)
    return panels, shades


def fronts_by_choice(view: FrontView, cloud: Columns) -> list[tuple[FrontView, Columns]]:
    """Return the front of each value of a sweep over a few choices, and what lies behind it.

    Nothing where the sweep is of a number, or a front has other than two objectives.
    """
    swept = view.front.get(str(view.sweep), np.empty(0))
    choices = list(dict.fromkeys(swept.tolist()))
    if swept.dtype.kind in "fiub" or len(view.objectives) != 2 or len(choices) > MOST_CHOICES:
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
    """Draw one front per panel; return them with scales of all rows, NaN where one has none."""
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
