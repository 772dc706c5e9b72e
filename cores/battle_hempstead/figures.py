"""Figures of the paper on accelerator cores, drawn again from its tables and laws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from dse.contract import Column, Core, CoreMetrics
from dse.contract.papers import Figure, Laboratory, Mark, Panel, Series
from dse.cores import des, fft, jacobi
from dse.cores._table import full_power_w, full_rate_task_per_s
from dse.cores.battle_hempstead.fleet_figures import design_space, paper_figure, use_cases
from dse.cores.battle_hempstead.single_cores import QUANTITIES

_NUMBERS = "Computed from the printed table; the paper's own points are not in its text."


def _dashed(label: str, x: Column, y: Column) -> Series:
    return Series(label=label, x=x, y=y, style="dashed")


def _bars(core: Core, first: str, quantities: Mapping[str, str]) -> tuple[Panel, ...]:
    """Return axes with a bar per design and quantity, over the first design."""
    table = core.models["table"]
    values = {label: QUANTITIES[name](table.function()) for label, name in quantities.items()}
    series = tuple(
        Series(label=label, x=table.designs, y=of / of[0], style="bars")
        for label, of in values.items()
    )
    y_label = f"over {first} [times]"
    return (Panel(title="", x_label="design", y_label=y_label, series=series),)


def _over_copies(
    table: CoreMetrics,
    rows: Sequence[int],
    law: CoreMetrics,
    marks: tuple[Mark, ...] = (),
    *,
    tasks: str,
    copies: str,
    first: str,
    equations: tuple[str, str],
) -> tuple[Panel, ...]:
    """Return axes with power and area of some designs, and by equations, over as many of the first.

    What is in flight, copies and the first design are called so.
    """
    area, power = table.area_m2, full_power_w(table)
    count, fine = table.tasks_in_flight[rows], law.tasks_in_flight
    return (
        Panel(
            title="",
            x_label=f"parallelism [{tasks}]",
            y_label=f"cost over that many {copies} [times]",
            series=(
                Series(label="power", x=count, y=power[rows] / power[0] / count),
                Series(label="area", x=count, y=area[rows] / area[0] / count),
                _dashed(f"power by {equations[0]}", fine, full_power_w(law) / power[0] / fine),
                _dashed(f"area by {equations[1]}", fine, law.area_m2 / area[0] / fine),
                _dashed(f"copies of {first}", np.array([1.0, 16.0]), np.ones(2)),
            ),
            marks=marks,
            x_scale="log2",
        ),
    )


def _figure_1(_: Laboratory) -> tuple[Panel, ...]:
    """Area against performance of every core there is a table of."""
    kinds = {
        "DES, 64 bit per task": des.core,
        "FFT, 64 points per task": fft.core,
        "Jacobi, 1 cell per task": jacobi.core,
    }
    series, marks = [], []
    for label, core in kinds.items():
        table = core.models["table"].function()
        rate, area = full_rate_task_per_s(table), table.area_m2 * 1e12
        series.append(Series(label=label, x=rate, y=area, style="points"))
        marks += [
            Mark(label=design, x=float(x), y=float(y))
            for design, x, y in zip(core.models["table"].designs, rate, area, strict=True)
        ]
    return (
        Panel(
            title="",
            x_label="performance [task/s]",
            y_label="area [um2]",
            series=tuple(series),
            marks=tuple(marks),
            x_scale="log",
            y_scale="log",
        ),
    )


def _figure_3(_: Laboratory) -> tuple[Panel, ...]:
    """Costs and efficiency of unrolling DES, over design u1."""
    quantities = {
        "area per task in flight": "area_in_flight",
        "energy per cycle and task in flight": "energy_per_cycle_in_flight",
        "energy per finished task": "energy_per_task",
        "performance efficiency": "rate_in_flight",
    }
    return _bars(des.core, "u1", quantities)


def _figure_4(_: Laboratory) -> tuple[Panel, ...]:
    """Power and area of a DES core over as many copies of u1."""
    table = des.des_table()
    marks = tuple(
        Mark(label=f"u1_p2, {name}", x=2.0, y=float(of[1] / of[0] / 2))
        for name, of in (("power", full_power_w(table)), ("area", table.area_m2))
    )
    unrolled = [0, *range(2, len(table.area_m2))]
    law = des.des_law(unroll=np.linspace(1.0, 16.0, 601))
    return _over_copies(
        table,
        unrolled,
        law,
        marks,
        tasks="tasks in flight",
        copies="u1",
        first="u1",
        equations=("eq. 3", "eq. 2"),
    )


def _figure_7(_: Laboratory) -> tuple[Panel, ...]:
    """Costs and efficiency of the FFT designs, over radix 2."""
    quantities = {
        "performance": "rate",
        "performance efficiency": "rate_in_flight",
        "area per task in flight": "area_in_flight",
        "energy per finished task": "energy_per_task",
    }
    return _bars(fft.core, "r2", quantities)


def _figure_8(_: Laboratory) -> tuple[Panel, ...]:
    """Power and area of the FFT over pipeline depth, over radix 64."""
    table = fft.fft_table()
    known = np.array([-1, 0])  # r64 and r2: the only published depths
    depth = table.latency_cycles
    fine = np.linspace(depth[-1], depth[0], 601)
    law = fft.fft_law(pipeline_depth=fine)
    area, power = table.area_m2 / table.area_m2[-1], full_power_w(table) / full_power_w(table)[-1]
    return (
        Panel(
            title="",
            x_label="parallelism P [pipeline depth / 17 cycles]",
            y_label="cost over r64 [times]",
            series=(
                Series(label="power", x=depth[known] / 17, y=power[known], style="points"),
                Series(label="area", x=depth[known] / 17, y=area[known], style="points"),
                _dashed("power by eq. 6", fine / 17, full_power_w(law) / full_power_w(table)[-1]),
                _dashed("area by eq. 5", fine / 17, law.area_m2 / table.area_m2[-1]),
            ),
            marks=(
                Mark(label="r64", x=1.0, y=1.0),
                Mark(label="r2", x=float(depth[0] / 17), y=float(power[0])),
                Mark(label="r2", x=float(depth[0] / 17), y=float(area[0])),
            ),
        ),
    )


def _figure_11(_: Laboratory) -> tuple[Panel, ...]:
    """Costs and efficiency of the Jacobi designs, over one stencil."""
    quantities = {
        "area per task in flight": "area_in_flight",
        "energy per finished task": "energy_per_task",
        "performance efficiency": "rate_in_flight",
    }
    return _bars(jacobi.core, "n = 1", quantities)


def _figure_12(_: Laboratory) -> tuple[Panel, ...]:
    """Power and area of a Jacobi core over as many single stencils."""
    table, law = jacobi.jacobi_table(), jacobi.jacobi_law(side=np.linspace(1.0, 4.0, 601))
    return _over_copies(
        table,
        range(4),
        law,
        tasks="stencils",
        copies="single stencils",
        first="n = 1",
        equations=("eq. 9, corrected", "eq. 8"),
    )


figures: tuple[Figure, ...] = (
    paper_figure(
        1,
        _figure_1,
        "Area and performance of every core in the paper's tables I to III; low and to "
        "the right is good. The paper's figure shows other cores too (AES, DCT, Reed-Solomon and "
        "more FFT and DES designs), of which it gives no numbers. A task is another amount of work "
        "in each kind of core.",
    ),
    paper_figure(
        3,
        _figure_3,
        "What unrolling the DES loop costs and gives, over the iterative design u1. Energy "
        "per cycle and task in flight is what makes u1_p2 the cheapest, as the paper says; for a "
        f"finished task, u1_p2 takes more energy than u1. {_NUMBERS}",
    ),
    paper_figure(
        4,
        _figure_4,
        "Power and area of unrolled DES cores over those of as many copies of u1: below 1 "
        "unrolling is worth it. Dashed: the laws, equations 2 and 3 (in mW). "
        f"{_NUMBERS}",
    ),
    use_cases,
    paper_figure(
        7,
        _figure_7,
        "FFT designs over radix 2. The pipeline depth is published for r2 and r64 only; "
        "the others take that of r2, an upper bound, so what is divided by tasks in flight is "
        f"uncertain for them. {_NUMBERS}",
    ),
    paper_figure(
        8,
        _figure_8,
        "Power and area of the FFT over pipeline depth, relative to r64. Only r64 and r2 "
        "can be placed, because the paper gives the depth of no other design. Dashed: equations 5 "
        "and 6.",
    ),
    design_space,
    paper_figure(
        11,
        _figure_11,
        "What a larger Jacobi array costs and gives, over a single stencil (n = 1): area "
        f"and energy per cell fall by half from n = 1 to n = 4. {_NUMBERS}",
    ),
    paper_figure(
        12,
        _figure_12,
        "Power and area of Jacobi cores over those of as many single stencils. Dashed: "
        "equation 8 and equation 9 as its own table has it, linear in n and in mW. "
        f"{_NUMBERS}",
    ),
)
