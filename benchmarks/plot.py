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

MOST_LEVELS = 6
"""Different shares in a panel up to which methods are rows."""

TICKS = (1.0, 0.1, 0.01, 1e-3, 1e-4, LEAST)
COLOURS = ("#0072b2", "#56b4e9", "#004060", "#009e73", "#e69f00", "#cc79a7", "#d55e00", "#888888")

Curve = Sequence[tuple[float, float]]
"""Seconds and the share of the exact hypervolume found by then."""


def over_time(
    studies: Mapping[str, Mapping[str, Curve]], *, exact: Sequence[str], path: Path
) -> None:
    """Draw the curves of every method, one panel per study.

    Where fronts have hardly more than one step, so that curves would hide each other, methods are
    rows, with when each was there.

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
        panels = np.atleast_1d(figure.subplots(1, len(studies)))
        for panel, (name, curves) in zip(panels, studies.items(), strict=True):
            levels = {round(share, 6) for curve in curves.values() for _, share in curve}
            draw = _rows if len(levels) <= MOST_LEVELS else _curves
            draw(panel, curves, _looks(curves, exact))
            panel.set(xscale="log", title=name)
            panel.minorticks_off()
            panel.grid(alpha=0.3)
            panel.spines[["top", "right"]].set_visible(False)
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside right", frameon=False)
        figure.savefig(path, metadata={"Software": None})


def _looks(curves: Mapping[str, Curve], exact: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Return the colour and the marker of each method: those of exact ones differ in both."""
    found = dict(zip(exact, (("black", "*"), ("#666666", "D")), strict=True))
    others = (method for method in curves if method not in found)
    return found | dict(zip(others, ((colour, "o") for colour in COLOURS), strict=False))


def _curves(panel: Axes, curves: Mapping[str, Curve], looks: Mapping[str, tuple[str, str]]) -> None:
    for method, curve in curves.items():
        colour, marker = looks[method]
        seconds, share = np.array(curve).T
        missing = np.maximum(1.0 - share, LEAST)
        ends = {"marker": marker, "color": colour, "zorder": 3, "linestyle": "none"}
        if marker == "o":
            panel.plot(seconds, missing, drawstyle="steps-post", color=colour, label=method)
            panel.plot(seconds[-1], missing[-1], **ends, ms=4)
        else:
            size = {"*": 13, "D": 8}[marker]
            panel.plot(seconds[-1], missing[-1], **ends, ms=size, label=method)
    panel.set(yscale="log", xlabel="CPU time [s]", ylim=(1.3, LEAST * 0.6))
    panel.set_ylabel("hypervolume, share of the exact front's")
    panel.set_yticks(TICKS, [f"{100 * (1 - missing):.5g} %" for missing in TICKS[:-1]] + ["100 %"])


def _rows(panel: Axes, curves: Mapping[str, Curve], looks: Mapping[str, tuple[str, str]]) -> None:
    for row, (method, curve) in enumerate(curves.items()):
        colour, marker = looks[method]
        seconds, share = np.array(curve).T
        whole = np.flatnonzero(share >= 1.0 - LEAST)
        if marker == "o":
            panel.hlines(row, seconds[0], seconds[-1], color=colour, alpha=0.5)
        if whole.size:  # a proof counts at its end
            there = seconds[whole[0] if marker == "o" else -1]
            panel.plot(there, row, marker, color=colour, ms=9)
        else:
            panel.annotate(f" {share[-1]:.0%} at the end", (seconds[-1], row), va="center")
    panel.set(xlabel="CPU time until the front is whole [s]", ylim=(len(curves) - 0.5, -0.5))
    panel.set_yticks(range(len(curves)), [*curves])
