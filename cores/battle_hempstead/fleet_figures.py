"""Figures of the paper on accelerator cores that ask the engine for fleets of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from dse.contract.papers import Figure, Laboratory, Mark, Panel, Region, Series
from dse.cores import des
from dse.cores._table import PAPER
from dse.cores.battle_hempstead.fleets_of_cores import (
    DES_FFT_FLEETS,
    DES_FLEETS,
    ROUTER,
    SET_TOP_BOX,
    Fleets,
    designs_of_fleets,
)

RATES_GBIT_PER_S = (1, *range(2, 241, 2))
MARKED_GBIT_PER_S = 10
"""A design is marked where it begins to be the best, and at multiples of this."""


def paper_figure(
    number: int, draw: Callable[[Laboratory], Sequence[Panel]], caption: str
) -> Figure:
    """Return a figure of the paper."""
    source = f"{PAPER}, figure {number}"
    return Figure(name=f"cores-{number}", source=source, caption=caption, draw=draw)


def _figure_5(laboratory: Laboratory) -> tuple[Panel, ...]:
    """Power of a fleet of each DES design in both use cases."""
    fast = laboratory.designs(DES_FLEETS.format(rate=ROUTER))
    slow = laboratory.designs(DES_FLEETS.format(rate=SET_TOP_BOX))
    return (
        _use_case(ROUTER, fast, "mW", 1e3, [f"{count:g}" for count in fast["instances"]]),
        _use_case(
            SET_TOP_BOX, slow, "uW", 1e6, [f"{1e9 / clock:.0f} ns" for clock in slow["clock_hz"]]
        ),
    )


def _use_case(title: str, found: Fleets, unit: str, scale: float, notes: list[str]) -> Panel:
    names = tuple(designs_of_fleets(found, "des"))
    power = found["power_w"] * scale
    return Panel(
        title=title,
        x_label="design",
        y_label=f"power [{unit}]",
        series=(
            Series(label="power", x=names, y=power, style="bars"),
            Series(
                label="of which leakage", x=names, y=found["leakage_power_w"] * scale, style="bars"
            ),
        ),
        marks=tuple(
            Mark(label=note, x=float(place), y=float(power[place]))
            for place, note in enumerate(notes)
        ),
    )


def _figure_9(laboratory: Laboratory) -> tuple[Panel, ...]:
    """Area and power of DES in front of FFT over the rate, with the design that wins."""
    found = [
        laboratory.designs(DES_FFT_FLEETS.format(rate=f"{rate} Gbit/s"))
        for rate in RATES_GBIT_PER_S
    ]
    return (
        _sweep("least area", found, "area_m2", "power_w", "area [mm2]", 1e6),
        _sweep("least power", found, "power_w", "area_m2", "power [mW]", 1e3),
    )


def _sweep(
    title: str, found: list[Fleets], least: str, other: str, y_label: str, scale: float
) -> Panel:
    """Return a quantity where it is least, where `other` is least, and at its worst."""
    rates = np.array(RATES_GBIT_PER_S, dtype=np.float64)
    best = [int(np.argmin(columns[least])) for columns in found]
    pairs = [*zip(found, best, strict=True)]
    winners = {
        stage: np.array([designs_of_fleets(columns, stage)[row] for columns, row in pairs])
        for stage in ("des", "fft")
    }
    values = scale * np.array([columns[least] for columns in found])
    rival = [int(np.argmin(columns[other])) for columns in found]
    of_best, of_rival = (values[np.arange(len(found)), each] for each in (best, rival))
    label = "pair that is best in the other quantity"
    series = [
        Series(label="worst of the 36 pairs", x=rates, y=values.max(axis=1), style="dashed"),
        Series(label=label, x=rates, y=of_rival, style="dashed"),
        Series(label="best pair", x=rates, y=of_best),
    ]
    begins = np.append(True, winners["des"][1:] != winners["des"][:-1])
    marked = begins | (rates % MARKED_GBIT_PER_S == 0)
    for design in des.core.models["table"].designs:
        where = marked & (winners["des"] == design)
        if where.any():
            label = f"best, with {design}"
            series.append(Series(label=label, x=rates[where], y=of_best[where], style="points"))
    return Panel(
        title=title,
        x_label="rate [Gbit/s]",
        y_label=y_label,
        series=tuple(series),
        regions=_runs(rates, winners["fft"]),
    )


def _runs(x: NDArray[np.float64], names: NDArray[np.str_]) -> tuple[Region, ...]:
    """Return a region for each run of equal names."""
    starts = [0, *(np.flatnonzero(names[1:] != names[:-1]) + 1).tolist()]
    ends = [*(x[start] for start in starts[1:]), x[-1]]
    return tuple(
        Region(label=str(names[start]), low=float(x[start]), high=float(end))
        for start, end in zip(starts, ends, strict=True)
    )


use_cases = paper_figure(
    5,
    _figure_5,
    "Power of a fleet of each DES design, clocked to meet the demand: a back-end "
    "router at 100 Gbit/s (above the bars: instances) and a set-top box at 116.43 Mbit/s "
    "(above the bars: clock period of the one instance), where leakage decides. Computed by "
    "the engine from Table I.",
)

design_space = paper_figure(
    9,
    _figure_9,
    "A DES fleet in front of an FFT fleet from 1 to 240 Gbit/s, one design per fleet, "
    "clocked to meet the demand: the best of the 36 pairs, with its DES design as marker (where "
    "it begins, and every 10 Gbit/s) and its FFT design as shading, with the worst pair and the "
    "pair that is best in the other quantity. Computed by the engine every 2 Gbit/s.",
)
