"""Figures of the paper on accelerator cores, drawn again from its tables and laws."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from dse.contract import Column, Core, CoreMetrics
from dse.contract.papers import SHADES, Laboratory, PaperFigures, note, panels, shade_range
from dse.cores import des, fft, jacobi
from dse.cores._table import PAPER, full_power_w, full_rate_task_per_s
from dse.cores.battle_hempstead.claims import (
    DES_FLEETS,
    QUANTITY_OF,
    ROUTER,
    SET_TOP_BOX,
    Fleets,
    chains_by_rate,
    designs_of_fleets,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Sheet

RATES_GBIT_PER_S = (1, *range(2, 241, 2))
MARKED_GBIT_PER_S = 10
"""A design is marked at the first rate of its range as the best, and at multiples of this."""

_NUMBERS = "Computed from the printed table; the paper's own points are not in its text."
drawn = PaperFigures("cores", PAPER)


def _bars(axes: Axes, names: Sequence[str], values: Mapping[str, Column]) -> None:
    """Draw a bar per name and label."""
    width, places = 0.8 / len(values), np.arange(len(names))
    for at, (label, heights) in enumerate(values.items()):
        shift = (at - (len(values) - 1) / 2) * width
        axes.bar(places + shift, heights, width, label=label)
    axes.set_xticks(places, names)


def _over_first(sheet: Sheet, core: Core, first: str, quantities: Mapping[str, str]) -> None:
    """Draw a bar per design and quantity, over the first design."""
    table = core.models["table"]
    values = {label: QUANTITY_OF[name](table.function()) for label, name in quantities.items()}
    (axes,) = panels(sheet, [""], "design", f"over {first} [times]")
    _bars(axes, table.designs, {label: of / of[0] for label, of in values.items()})


def _costs(of: CoreMetrics) -> dict[str, Column]:
    return {"power": full_power_w(of), "area": of.area_m2}


def _over_copies(
    axes: Axes, table: CoreMetrics, rows: Iterable[int], law: CoreMetrics, equations: Sequence[str]
) -> None:
    """Draw power and area of some designs, and by equations, over as many of the first."""
    count, fine, chosen = table.tasks_in_flight, law.tasks_in_flight, [*rows]
    costs = _costs(table)
    for name, cost in costs.items():
        axes.plot(count[chosen], (cost / cost[0] / count)[chosen], label=name)
    for equation, (name, cost) in zip(equations, _costs(law).items(), strict=True):
        axes.plot(fine, cost / costs[name][0] / fine, "--", label=f"{name} by {equation}")


@drawn(
    1,
    "Area and performance of every core in the paper's tables I to III; low and to "
    "the right is good. The paper's figure shows other cores too (AES, DCT, Reed-Solomon and "
    "more FFT and DES designs), of which it gives no numbers. A task is another amount of work "
    "in each kind of core.",
)
def _all_cores(sheet: Sheet, _: Laboratory) -> None:
    kinds = {
        "DES, 64 bit per task": des.core,
        "FFT, 64 points per task": fft.core,
        "Jacobi, 1 cell per task": jacobi.core,
    }
    (axes,) = panels(sheet, [""], "performance [task/s]", "area [um2]", x=10, y=10)
    for label, core in kinds.items():
        of = core.models["table"].function()
        rate, area = full_rate_task_per_s(of), of.area_m2 * 1e12
        axes.plot(rate, area, "o", label=label)
        for design, x, y in zip(core.models["table"].designs, rate, area, strict=True):
            _point(axes, design, x, y)


def _point(axes: Axes, label: str, x: float, y: float) -> None:
    axes.plot(x, y, "o", color="0.1", markersize=4)
    note(axes, label, x, y)


@drawn(
    3,
    "Cost and gain of an unrolled DES loop, over the iterative design u1. Energy "
    "per cycle and task in flight is the least in u1_p2, as in the paper. For a finished "
    f"task, u1_p2 uses more energy than u1. {_NUMBERS}",
)
def _unrolling(sheet: Sheet, _: Laboratory) -> None:
    quantities = {
        "area per task in flight": "area_in_flight",
        "energy per cycle and task in flight": "energy_per_cycle_in_flight",
        "energy per finished task": "energy_per_task",
        "performance efficiency": "rate_in_flight",
    }
    _over_first(sheet, des.core, "u1", quantities)


@drawn(
    4,
    "Power and area of unrolled DES cores over as many copies of u1: below 1 "
    f"unrolling is worth it. Dashed: the laws, equations 2 and 3 (in mW). {_NUMBERS}",
)
def _copies_of_u1(sheet: Sheet, _: Laboratory) -> None:
    table, law = des.des_table(), des.des_law(unroll=np.linspace(1.0, 16.0, 601))
    y_label = "cost over that many u1 [times]"
    (axes,) = panels(sheet, [""], "parallelism [tasks in flight]", y_label, x=2)
    rows = [0, *range(2, len(table.area_m2))]
    _over_copies(axes, table, rows, law, ("eq. 3", "eq. 2"))
    axes.plot([1.0, 16.0], [1.0, 1.0], "--", label="copies of u1")
    for name, cost in _costs(table).items():
        _point(axes, f"u1_p2, {name}", 2.0, cost[1] / cost[0] / 2)


@drawn(
    5,
    "Power of a fleet of each DES design, clocked to meet the demand: a back-end "
    "router at 100 Gbit/s (above the bars: instances) and a set-top box at 116.43 Mbit/s "
    "(above the bars: clock period of the one instance). There leakage decides. Computed by "
    "the engine from Table I.",
)
def _use_cases(sheet: Sheet, laboratory: Laboratory) -> None:
    fast, slow = (
        laboratory.designs(DES_FLEETS.format(rate=rate)) for rate in (ROUTER, SET_TOP_BOX)
    )
    router, box = panels(sheet, [ROUTER, SET_TOP_BOX], "design")
    _use_case(router, fast, "mW", 1e3, [f"{count:g}" for count in fast["instances"]])
    _use_case(box, slow, "uW", 1e6, [f"{1e9 / clock:.0f} ns" for clock in slow["clock_hz"]])


def _use_case(axes: Axes, found: Fleets, unit: str, scale: float, notes: Sequence[str]) -> None:
    axes.set_ylabel(f"power [{unit}]")
    power = {"power": found["power_w"], "of which leakage": found["leakage_power_w"]}
    values = {label: values * scale for label, values in power.items()}
    _bars(axes, designs_of_fleets(found, "des"), values)
    for place, words in enumerate(notes):
        note(axes, words, place, values["power"][place])


@drawn(
    7,
    "FFT designs over radix 2. The pipeline depth is published for r2 and r64 only; "
    "the others have the depth of r2, an upper bound, so values divided by tasks in flight "
    f"are uncertain for them. {_NUMBERS}",
)
def _radices(sheet: Sheet, _: Laboratory) -> None:
    quantities = {
        "performance": "rate",
        "performance efficiency": "rate_in_flight",
        "area per task in flight": "area_in_flight",
        "energy per finished task": "energy_per_task",
    }
    _over_first(sheet, fft.core, "r2", quantities)


@drawn(
    8,
    "Power and area of the FFT over pipeline depth, relative to r64. Only r64 and r2 "
    "can be placed, because the paper gives the depth of no other design. Dashed: equations 5 "
    "and 6.",
)
def _depths(sheet: Sheet, _: Laboratory) -> None:
    table = fft.fft_table()
    known = [-1, 0]  # r64 and r2: the only published depths
    depth = table.latency_cycles
    fine = np.linspace(depth[-1], depth[0], 601)
    law = _costs(fft.fft_law(pipeline_depth=fine))
    x_label = "parallelism P [pipeline depth / 17 cycles]"
    (axes,) = panels(sheet, [""], x_label, "cost over r64 [times]")
    costs = _costs(table)
    for name, cost in costs.items():
        axes.plot(depth[known] / 17, cost[known] / cost[-1], "o", label=name)
    for equation, (name, cost) in zip(("eq. 6", "eq. 5"), law.items(), strict=True):
        axes.plot(fine / 17, cost / costs[name][-1], "--", label=f"{name} by {equation}")
        _point(axes, "r2", depth[0] / 17, costs[name][0] / costs[name][-1])
    _point(axes, "r64", 1.0, 1.0)


@drawn(
    9,
    "A DES fleet in front of an FFT fleet from 1 to 240 Gbit/s, one design per fleet, "
    "clocked to meet the demand: the best of the 36 pairs, with its DES design as marker (where "
    "it begins, and every 10 Gbit/s) and its FFT design as shading, with the worst pair and the "
    "pair that is best in the other quantity. Computed by the engine every 2 Gbit/s.",
)
def _chains(sheet: Sheet, laboratory: Laboratory) -> None:
    every = chains_by_rate(laboratory)
    found = [every[rate] for rate in RATES_GBIT_PER_S]
    area, power = panels(sheet, ["least area", "least power"], "rate [Gbit/s]")
    area.set_ylabel("area [mm2]")
    power.set_ylabel("power [mW]")
    _over_rates(area, found, "area", "power", 1e6)
    _over_rates(power, found, "power", "area", 1e3)


def _over_rates(axes: Axes, found: list[Fleets], least: str, other: str, scale: float) -> None:
    """Draw a quantity of its best pair, of the best pair in `other`, and of its worst pair."""
    rates, each = np.array(RATES_GBIT_PER_S, dtype=np.float64), np.arange(len(found))
    values = scale * np.array([columns[least] for columns in found])
    best = values.argmin(axis=1)
    rival = np.array([columns[other] for columns in found]).argmin(axis=1)
    of_best = values[each, best]
    axes.plot(rates, values.max(axis=1), "--", label="worst of the 36 pairs")
    label = "pair that is best in the other quantity"
    axes.plot(rates, values[each, rival], "--", label=label)
    axes.plot(rates, of_best, label="best pair")
    first, second = (
        np.array([columns[stage][row] for columns, row in zip(found, best, strict=True)])
        for stage in ("des", "fft")
    )
    marked = _begins(first) | (rates % MARKED_GBIT_PER_S == 0)
    for design in des.core.models["table"].designs:
        where = marked & (first == design)
        if where.any():
            axes.plot(rates[where], of_best[where], "o", label=f"best, with {design}")
    starts = np.flatnonzero(_begins(second))
    known = [*dict.fromkeys(second)]
    for start, end in zip(starts, [*starts[1:], -1], strict=True):
        colour = SHADES[known.index(second[start])]
        shade_range(axes, rates[start], rates[end], second[start], colour)


def _begins(names: Column) -> Column:
    """Return a mask of the first of each run of equal names."""
    return np.append(True, names[1:] != names[:-1])


@drawn(
    11,
    "Cost and gain of a larger Jacobi array, over a single stencil (n = 1): area "
    f"and energy per cell fall by half from n = 1 to n = 4. {_NUMBERS}",
)
def _arrays(sheet: Sheet, _: Laboratory) -> None:
    quantities = {
        "area per task in flight": "area_in_flight",
        "energy per finished task": "energy_per_task",
        "performance efficiency": "rate_in_flight",
    }
    _over_first(sheet, jacobi.core, "n = 1", quantities)


@drawn(
    12,
    "Power and area of Jacobi cores over as many single stencils. Dashed: "
    "equation 8 and equation 9 as its own table has it, linear in n and in mW. "
    f"{_NUMBERS}",
)
def _copies_of_a_stencil(sheet: Sheet, _: Laboratory) -> None:
    table, law = jacobi.jacobi_table(), jacobi.jacobi_law(side=np.linspace(1.0, 4.0, 601))
    y_label = "cost over that many single stencils [times]"
    (axes,) = panels(sheet, [""], "parallelism [stencils]", y_label, x=2)
    _over_copies(axes, table, range(4), law, ("eq. 9, corrected", "eq. 8"))
    axes.plot([1.0, 16.0], [1.0, 1.0], "--", label="copies of n = 1")


figures = tuple(drawn)
