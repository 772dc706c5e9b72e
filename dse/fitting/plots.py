"""A fit as a record and as a picture: measured times, the model, the break-even."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.ticker import FuncFormatter, LogLocator

from dse.algebra import units
from dse.errors import OutputError
from dse.fitting.report import InterfaceFitReport, PerByte, size_text
from dse.reports.drawing import PALETTE, Picture, drawing, save_figure
from dse.study import records

LOOKS = {"host": (PALETTE[0][0], "o"), "offload": (PALETTE[4][0], "s")}


def draw_fit(found: InterfaceFitReport, title: str, stem: Path) -> tuple[Path, Path]:
    """Draw into ``STEM.png`` and ``STEM.svg``; equal fits give equal bytes."""
    sizes = found.timings.size
    crossings = found.verdict.crossings if found.verdict and not found.verdict.doubt else ()
    shown = [one for one in crossings if sizes[0] / 100 < one.value < sizes[-1] * 100]
    ends = np.array([*sizes[[0, -1]], *(one.value for one in shown)])
    low, high = ends.min() / 1.4, ends.max() * 1.4
    with drawing():
        figure = Picture(figsize=(7.6, 5.2))
        axes = figure.subplots()
        axes.set(xscale="log", yscale="log", xlabel="granularity", ylabel="time of a call")
        axes.grid(color="0.92", linewidth=0.7)
        for name, curve in found.model.curves.items():
            colour, marker = LOOKS[name]
            x, label = np.geomspace(low, high, 300), f"{name}, measured"
            axes.plot(x, curve.at(x), color=colour, label=f"{name}, model")
            axes.plot(curve.size, curve.time, marker, color=colour, mec="white", label=label)
        for one in shown:
            label = f"break-even, {size_text(one.value)}"
            axes.axvline(one.value, color="0.25", linewidth=1, label=label)
            span = np.clip((one.low, one.high), low, high)
            axes.axvspan(*span, color="0.85", zorder=0, label="its 95 % interval")
        axes.set_xlim(low, high)
        axes.minorticks_off()
        axes.xaxis.set_major_locator(LogLocator(2, numticks=9))
        for axis, name in ((axes.xaxis, "granularity_byte"), (axes.yaxis, "time_s")):
            axis.set_major_formatter(FuncFormatter(lambda x, _, name=name: units.show(x, name)))
        figure.suptitle(title)
        figure.legend(loc="outside lower center", ncols=3, frameon=False)
        return save_figure(figure, stem)


def save_interface(found: InterfaceFitReport, out: Path, per_byte: PerByte) -> list[Path]:
    """Write the record, unless it is there already, and beside it the picture; return the paths."""
    out, name = records.path_and_name(out, out)
    records.write_record(out, found.sections(name, per_byte), found.provenance())
    try:
        pictures = draw_fit(found, f"{name}: host and offload", out.with_suffix(""))
    except OSError as error:
        raise OutputError(f"{out.with_suffix('.png')} cannot be written: {error}") from error
    return [out, *pictures]
