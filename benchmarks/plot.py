"""The picture of a benchmark: hypervolume over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

LEAST = 1e-5
"""A smaller part that is missing of the exact hypervolume is drawn as none."""

TICKS = (1.0, 0.1, 0.01, 1e-3, 1e-4, LEAST)
COLOURS = ("#0072b2", "#56b4e9", "#004060", "#009e73", "#e69f00", "#cc79a7", "#d55e00", "#888888")

Curve = Sequence[tuple[float, float]]
"""Seconds and the share of the exact hypervolume found by then."""


def over_time(
    studies: Mapping[str, Mapping[str, Curve]], *, exact: Sequence[str], path: Path
) -> None:
    """Draw the curves of every method, one panel per study; exact methods are stars at the end.

    Parameters
    ----------
    studies
        Study -> method -> its curve.
    exact
        Methods whose front counts only once it is whole.
    path
        Where the picture goes.
    """
    with mpl.rc_context({"font.size": 9, "svg.hashsalt": "dse"}):
        figure = Figure(figsize=(5.0 * len(studies) + 2.0, 4.2), dpi=150, layout="constrained")
        panels = np.atleast_1d(figure.subplots(1, len(studies), sharey=True))
        for panel, (name, curves) in zip(panels, studies.items(), strict=True):
            _panel(panel, name, curves, exact)
        panels[0].set_ylabel("hypervolume, share of the exact front's")
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside right center", frameon=False)
        figure.savefig(path, metadata={"Software": None})


def _panel(panel: Axes, name: str, curves: Mapping[str, Curve], exact: Sequence[str]) -> None:
    colours = iter(COLOURS * len(curves))
    for method, curve in curves.items():
        seconds, share = np.array(curve).T
        missing = np.maximum(1.0 - share, LEAST)
        if method in exact:
            panel.plot(seconds[-1], missing[-1], "*", color="black", ms=13, label=method, zorder=3)
        else:
            panel.plot(seconds, missing, drawstyle="steps-post", color=next(colours), label=method)
            panel.plot(seconds[-1], missing[-1], "o", color=panel.lines[-1].get_color(), ms=4)
    panel.set(xscale="log", yscale="log", xlabel="CPU time [s]", title=name)
    panel.set_ylim(1.3, LEAST * 0.6)
    panel.set_yticks(TICKS, [f"{100 * (1 - missing):.5g} %" for missing in TICKS[:-1]] + ["100 %"])
    panel.minorticks_off()
    panel.grid(alpha=0.3)
    panel.spines[["top", "right"]].set_visible(False)
