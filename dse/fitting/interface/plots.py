"""A fit as a record and as a picture: measured times, the model, where offloads start to pay."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter

from dse.algebra import units
from dse.errors import OutputError
from dse.fitting.interface.curves import Curve, Estimate
from dse.fitting.interface.report import InterfaceFitReport, PerByte
from dse.reports.drawing import PALETTE, Picture, drawing, save_figure
from dse.study import records

LOOKS = {"host": (PALETTE[0][0], "o"), "offload": (PALETTE[4][0], "s")}
_MOST_TICKS = 9


def draw_fit(found: InterfaceFitReport, title: str, stem: Path) -> tuple[Path, Path]:
    """Draw into ``STEM.png`` and ``STEM.svg``; equal fits give equal bytes.

    Raises
    ------
    OSError
        A file cannot be written.
    """
    with drawing():
        return save_figure(_figure(found, title), stem)


def _figure(found: InterfaceFitReport, title: str) -> Figure:
    figure = Picture(figsize=(7.6, 5.2))
    axes = figure.subplots()
    axes.set(xscale="log", yscale="log", xlabel="granularity", ylabel="time of a call")
    axes.grid(color="0.92", linewidth=0.7)
    sizes, verdict = found.timings.size, found.verdict
    low, high = sizes[0], sizes[-1]
    crossings = verdict.crossings if verdict and not verdict.doubt else ()
    for start in (crossing.value for crossing in crossings):
        if low / 100 < start < high * 100:  # near enough to be drawn
            low, high = min(low, start), max(high, start)
    margin = (high / low) ** 0.04
    low, high = low / margin, high * margin
    for name, curve in found.model.curves.items():
        colour, marker = LOOKS[name]
        _curve(axes, curve, (low, high), colour, f"{name}, model")
        look: dict[str, Any] = {"markeredgecolor": "white", "markeredgewidth": 0.6, "zorder": 3}
        axes.plot(sizes, curve.time, marker, color=colour, label=f"{name}, measured", **look)
    axes.set_xlim(low, high)
    for number, crossing in enumerate(crossings):
        _break_even(axes, crossing, low, high, said=not number)
    _ticks(axes, low, high)
    figure.suptitle(title)
    labels = axes.get_legend_handles_labels()[1]
    figure.legend(loc="outside lower center", ncols=-(-len(labels) // 2), frameon=False)
    return figure


def _curve(axes: Axes, curve: Curve, limits: tuple[float, float], colour: str, label: str) -> None:
    """Draw a model: solid where it was fitted, dashed beyond."""
    sizes = curve.size
    for low, high, dashes in (
        (sizes[0], sizes[-1], "-"),
        (limits[0], sizes[0], "--"),
        (sizes[-1], limits[1], "--"),
    ):
        x = np.geomspace(low, high, 300)
        axes.plot(x, curve.at(x), dashes, color=colour, label=label if dashes == "-" else None)


def _break_even(axes: Axes, found: Estimate, low: float, high: float, *, said: bool) -> None:
    """Mark a break-even and its interval; the first of them in the legend."""
    start = found.value
    if not low <= start <= high:
        return
    axes.axvline(start, color="0.25", linewidth=1, label="break-even" if said else None)
    if found.low < found.high:
        span = (max(found.low, low), min(found.high, high))
        label = "its 95 % interval" if said else None
        axes.axvspan(*span, color="0.85", zorder=0, label=label)
    left = math.log(start / low) > math.log(high / start)
    axes.annotate(
        units.show(start, "granularity_byte"),
        (start, 0.02),
        (-5 if left else 5, 0),
        xycoords=("data", "axes fraction"),
        textcoords="offset points",
        ha="right" if left else "left",
        va="bottom",
    )


def _ticks(axes: Axes, low: float, high: float) -> None:
    """Sizes in powers of two, times in powers of ten, both with their unit."""
    doublings = range(math.ceil(math.log2(low)), math.floor(math.log2(high)) + 1)
    step = -(-len(doublings) // _MOST_TICKS) or 1
    axes.xaxis.set_major_locator(FixedLocator([2.0**power for power in doublings[::step]]))
    axes.xaxis.set_major_formatter(
        FuncFormatter(lambda size, _: units.show(size, "granularity_byte"))
    )
    axes.xaxis.set_minor_locator(FixedLocator([]))
    bottom, top = axes.get_ylim()
    subs = (1.0, 2.0, 5.0) if top / bottom < 100 else (1.0,)
    axes.yaxis.set_major_locator(LogLocator(subs=subs))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda time, _: units.show(time, "time_s")))
    axes.yaxis.set_minor_formatter(NullFormatter())


def save_interface(found: InterfaceFitReport, out: Path, per_byte: PerByte) -> list[Path]:
    """Write the record and, beside it, the picture; return their paths.

    Raises
    ------
    OutputError
        When they cannot be written, or the record is there already.
    """
    out, name = records.path_and_name(out, out)
    records.write_record(out, found.sections(name, per_byte), found.provenance())
    try:
        pictures = draw_fit(found, f"{name}: host and offload", out.with_suffix(""))
    except OSError as error:
        raise OutputError(f"{out.with_suffix('.png')} cannot be written: {error}") from error
    return [out, *pictures]
