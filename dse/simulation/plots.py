"""The picture of a simulation: which share of offloads takes longer than how long."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from dse.algebra import units
from dse.reports.drawing import FILLS, Picture, save_drawn
from dse.reports.text import in_words, percent
from dse.simulation.report import DROPPED, RARE, Simulation

LEAST_SHARE = 1e-4


def save_simulation(found: Simulation, out: Path) -> None:
    """Write a simulation as JSON and as a picture of its times into a folder, all or nothing."""
    save_drawn(found.to_dict(), out, "simulation", partial(times_figure, found))


def times_figure(found: Simulation) -> Figure:
    """Return the share of offloads beyond each time, with the mean and the rarest of the model."""
    times = np.sort(found.time_s[int(len(found.time_s) * DROPPED) :])
    marked = [one for one in found.compared if one.measure in ("time", "rare_time")]
    factor, unit = units.scale([float(times[-1])] if len(times) else [1.0], "time_s")
    figure = Picture(figsize=(7, 4.2))
    axes = figure.add_subplot()
    beyond = 1.0 - np.arange(len(times)) / max(len(times), 1)
    axes.step(times / factor, beyond, where="pre", color="#000000", lw=1.3)
    axes.axhline(RARE, color="0.8", lw=0.8)
    for number, one in enumerate(marked):
        colour = FILLS[number % len(FILLS)]
        label = in_words(one.quantity)
        axes.axvline(one.model / factor, color=colour, lw=1.3, label=f"{label}, model")
        seen = one.simulated / factor
        axes.axvline(seen, color=colour, lw=1.3, ls=":", label=f"{label}, simulation")
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(FuncFormatter(lambda share, _: percent(share)))
    axes.set_ylim(max(LEAST_SHARE, 1.0 / max(len(times), 1)), 1.1)
    axes.set_xlim(left=0)
    axes.set_xlabel(f"time from arrival to end [{unit}]")
    axes.set_ylabel("share of offloads that takes longer")
    axes.set_title(found.design, fontsize=9, loc="left", wrap=True)
    if marked:
        axes.legend(frameon=False, fontsize=8)
    return figure
