"""Files of `dse uncertainty`: JSON, and a tornado plot of Sobol indices."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dse.algebra import units
from dse.reports.drawing import FILLS, Picture, number_ticks, save_drawn, settle
from dse.reports.front_view import elided
from dse.reports.text import in_words, percent
from dse.sampling.report import UncertaintyReport
from dse.sampling.sobol import Effect, Sensitivity

_MOST_BARS = 15


def save_uncertainty(report: UncertaintyReport, out: Path) -> None:
    """Write the results as JSON, and Sobol indices also as a plot, all or nothing."""
    found = report.found
    draw = partial(tornado, report.design, found) if isinstance(found, Sensitivity) else None
    save_drawn(report.to_dict(), out, "uncertainty", draw)


def tornado(design: str, found: Sensitivity) -> Figure:
    """Return the plot: bars by objective, the largest on top.

    The share of the objective's variance due to an assumption with its interactions, and in
    darker colour without them.
    """
    figure = Picture()
    telling = {name: found.telling(name)[:_MOST_BARS] for name in found.effects}
    shown = {name: effects for name, effects in telling.items() if effects}
    rows = [max(2, len(effects)) for effects in shown.values()]
    figure.set_size_inches(8.2, 1.0 + sum(0.95 + 0.3 * count for count in rows))
    if not shown:
        figure.text(0.5, 0.3, "no assumption moves an objective", ha="center", color="0.3")
    else:
        grid = figure.subplots(len(shown), 1, height_ratios=rows, squeeze=False).ravel()
        for axes, (name, effects) in zip(grid, shown.items(), strict=True):
            _panel(axes, name, effects, found)
        handles, labels = grid[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False)
    within = f"each assumption within {percent(found.width)} of its nominal value"
    figure.suptitle(textwrap.fill(f"{design}, {within}", 76))
    settle(figure)
    return figure


def _panel(axes: Axes, name: str, effects: Sequence[Effect], found: Sensitivity) -> None:
    places = range(len(effects))
    sizes = [100 * effect.total for effect in effects]
    axes.barh(places, sizes, height=0.6, color=FILLS[0], alpha=0.35, label="with interactions")
    alone = [100 * max(effect.first, 0.0) for effect in effects]
    axes.barh(places, alone, height=0.3, color=FILLS[0], label="alone")
    hidden = sum(one.total > 0 for one in found.effects[name]) - len(effects)
    rest = f"; {hidden} smaller are not drawn" if hidden else ""
    low, high = (units.show(end, name) for end in found.ranges[name])
    axes.set_title(f"{in_words(name)}, {low} to {high}", fontsize=10, loc="left")
    axes.set_xlabel("share of its variance [%]" + rest)
    axes.set_yticks(places, labels=[elided(effect.name) for effect in effects])
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(max(len(effects), 2) - 0.4, -0.6)
    axes.set_xlim(left=0.0)
    number_ticks(axes.xaxis)
