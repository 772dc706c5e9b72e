"""The picture of a simulation: which share of offloads takes longer than how long."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.ticker import FuncFormatter

from dse.algebra import units
from dse.files.json import json_text
from dse.files.whole_folders import new_folder
from dse.reports.drawing import FILLS, Picture, drawing, save_figure
from dse.reports.text import in_words, percent
from dse.simulation.measures import DROPPED, RARE
from dse.simulation.report import Simulation

LEAST_SHARE = 1e-4


FILES = ("simulation.json", "simulation.png", "simulation.svg")


def save_simulation(found: Simulation, out: Path) -> None:
    """Write a simulation as JSON and as a picture of its times into a folder, all or nothing."""
    with new_folder(out, FILES) as folder:
        (folder / FILES[0]).write_text(json_text(found.to_dict()) + "\n", encoding="utf-8")
        draw_times(found, folder / "simulation")


def draw_times(found: Simulation, stem: Path) -> tuple[Path, Path]:
    """Draw the share of offloads beyond each time, and what the model says of mean and rarest."""
    times = np.sort(found.time_s[int(len(found.time_s) * DROPPED) :])
    marked = [one for one in found.compared if one.measure in ("time", "rare_time")]
    factor, unit = units.scale([float(times[-1])] if len(times) else [1.0], "time_s")
    with drawing():
        figure = Picture(figsize=(7, 4.2))
        axes = figure.add_subplot()
        beyond = 1.0 - np.arange(len(times)) / max(len(times), 1)
        axes.step(times / factor, beyond, where="pre", color="#000000", lw=1.3)
        axes.axhline(RARE, color="0.8", lw=0.8)
        for number, one in enumerate(marked):
            colour = FILLS[number % len(FILLS)]
            label = in_words(one.quantity)
            axes.axvline(one.model / factor, color=colour, lw=1.3, label=f"{label}, model")
            seen = one.simulated.value / factor
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
        return save_figure(figure, stem)
