"""A fit as a record and as a picture: measured times, the model, the break-even."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from dse.algebra import units
from dse.errors import OutputError
from dse.fitting.interface.curves import Estimate
from dse.fitting.interface.report import InterfaceFitReport, PerByte, size_text
from dse.reports.drawing import PALETTE, Picture, drawing, save_figure
from dse.study import records

LOOKS = {"host": (PALETTE[0][0], "o"), "offload": (PALETTE[4][0], "s")}


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
    first, last = found.timings.size[[0, -1]]
    crossings = found.verdict.crossings if found.verdict and not found.verdict.doubt else ()
    shown = [one for one in crossings if first / 100 < one.value < last * 100]
    ends = np.array([first, last, *(one.value for one in shown)])
    low, high = ends.min() / 1.4, ends.max() * 1.4
    for name, curve in found.model.curves.items():
        colour, marker = LOOKS[name]
        for start, stop, dashes in ((first, last, "-"), (low, first, "--"), (last, high, "--")):
            x, label = np.geomspace(start, stop, 300), f"{name}, model" if dashes == "-" else None
            axes.plot(x, curve.at(x), dashes, color=colour, label=label)
        label = f"{name}, measured"
        axes.plot(curve.size, curve.time, marker, color=colour, mec="white", label=label, zorder=3)
    axes.set_xlim(low, high)
    for number, crossing in enumerate(shown):
        _break_even(axes, crossing, said=not number)
    _ticks(axes)
    figure.suptitle(title)
    labels = axes.get_legend_handles_labels()[1]
    figure.legend(loc="outside lower center", ncols=-(-len(labels) // 2), frameon=False)
    return figure


def _break_even(axes: Axes, found: Estimate, *, said: bool) -> None:
    """Mark a break-even and its interval; the first of them in the legend."""
    label = f"break-even, {size_text(found.value)}"
    axes.axvline(found.value, color="0.25", linewidth=1, label=label if said else None)
    if found.low < found.high:
        span = np.clip((found.low, found.high), *axes.get_xlim())
        axes.axvspan(*span, color="0.85", zorder=0, label="its 95 % interval" if said else None)


def _ticks(axes: Axes) -> None:
    """Sizes in powers of two, times in powers of ten, both with their unit."""
    bottom, top = axes.get_ylim()
    axes.xaxis.set_major_locator(LogLocator(2, numticks=9))
    axes.xaxis.minorticks_off()
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if top / bottom < 100 else (1,)))
    for axis, name in ((axes.xaxis, "granularity_byte"), (axes.yaxis, "time_s")):
        axis.set_major_formatter(FuncFormatter(lambda value, _, name=name: units.show(value, name)))
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
