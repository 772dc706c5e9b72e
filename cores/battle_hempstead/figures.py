"""Figures of the paper on accelerator cores, drawn again from its tables and laws."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dse.contract import Column
from dse.contract.papers import Figure, Laboratory, Mark, Panel, Series
from dse.cores import des, fft, jacobi
from dse.cores._table import PAPER, full_power_w, full_rate_task_per_s
from dse.cores.battle_hempstead.fleet_figures import design_space, use_cases

_NUMBERS = "Computed from the printed table; the paper's own points are not in its text."


def _relative(values: Column, base: int = 0) -> Column:
    """Return values over that of the design in row `base`."""
    return np.asarray(values / values[base])


def _dashed(label: str, x: Column, y: Column) -> Series:
    return Series(label=label, x=x, y=y, style="dashed")


def _bars(y_label: str, names: tuple[str, ...], groups: Mapping[str, Column]) -> Panel:
    """Return axes with a bar per design and group."""
    return Panel(
        title="",
        x_label="design",
        y_label=y_label,
        series=tuple(
            Series(label=label, x=names, y=values, style="bars") for label, values in groups.items()
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
    table, designs = des.des_table(), des.core.models["table"].designs
    tasks = table.tasks_in_flight
    groups = {
        "area per task in flight": _relative(table.area_m2 / tasks),
        "energy per cycle and task in flight": _relative(
            full_power_w(table) / table.clock_hz / tasks
        ),
        "energy per finished task": _relative(full_power_w(table) / full_rate_task_per_s(table)),
        "performance efficiency": _relative(full_rate_task_per_s(table)) / tasks,
    }
    return (_bars("over u1 [times]", designs, groups),)


def _figure_4(_: Laboratory) -> tuple[Panel, ...]:
    """Power and area of a DES core over as many copies of u1."""
    table = des.des_table()
    unrolled = [0, *range(2, len(table.area_m2))]
    rounds = table.tasks_in_flight[unrolled]
    area, power = table.area_m2, full_power_w(table)
    fine = np.linspace(1.0, 16.0, 601)
    law = des.des_law(unroll=fine)
    return (
        Panel(
            title="",
            x_label="parallelism [tasks in flight]",
            y_label="cost over that many u1 [times]",
            series=(
                Series(label="power", x=rounds, y=power[unrolled] / power[0] / rounds),
                Series(label="area", x=rounds, y=area[unrolled] / area[0] / rounds),
                _dashed("power by eq. 3", fine, full_power_w(law) / power[0] / fine),
                _dashed("area by eq. 2", fine, law.area_m2 / area[0] / fine),
                _dashed("copies of u1", np.array([1.0, 16.0]), np.ones(2)),
            ),
            marks=(
                Mark(label="u1_p2, power", x=2.0, y=float(power[1] / power[0] / 2)),
                Mark(label="u1_p2, area", x=2.0, y=float(area[1] / area[0] / 2)),
            ),
            x_scale="log2",
        ),
    )


def _figure_7(_: Laboratory) -> tuple[Panel, ...]:
    """Costs and efficiency of the FFT designs, over radix 2."""
    table, designs = fft.fft_table(), fft.core.models["table"].designs
    rate, tasks = full_rate_task_per_s(table), table.tasks_in_flight
    groups = {
        "performance": _relative(rate),
        "performance efficiency": _relative(rate) / _relative(tasks),
        "area per task in flight": _relative(table.area_m2 / tasks),
        "energy per finished task": _relative(full_power_w(table) / rate),
    }
    return (_bars("over r2 [times]", designs, groups),)


def _figure_8(_: Laboratory) -> tuple[Panel, ...]:
    """Power and area of the FFT over pipeline depth, over radix 64."""
    table = fft.fft_table()
    known = np.array([-1, 0])  # r64 and r2: the only published depths
    depth = table.latency_cycles
    fine = np.linspace(depth[-1], depth[0], 601)
    law = fft.fft_law(pipeline_depth=fine)
    area, power = _relative(table.area_m2, -1), _relative(full_power_w(table), -1)
    shallow = full_power_w(table)[-1], table.area_m2[-1]
    return (
        Panel(
            title="",
            x_label="parallelism P [pipeline depth / 17 cycles]",
            y_label="cost over r64 [times]",
            series=(
                Series(label="power", x=depth[known] / 17, y=power[known], style="points"),
                Series(label="area", x=depth[known] / 17, y=area[known], style="points"),
                _dashed("power by eq. 6", fine / 17, full_power_w(law) / shallow[0]),
                _dashed("area by eq. 5", fine / 17, law.area_m2 / shallow[1]),
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
    table, designs = jacobi.jacobi_table(), jacobi.core.models["table"].designs
    rate, tasks = full_rate_task_per_s(table), table.tasks_in_flight
    groups = {
        "area per task in flight": _relative(table.area_m2 / tasks),
        "energy per finished task": _relative(full_power_w(table) / rate),
        "performance efficiency": _relative(rate) / tasks,
    }
    return (_bars("over n = 1 [times]", designs, groups),)


def _figure_12(_: Laboratory) -> tuple[Panel, ...]:
    """Power and area of a Jacobi core over as many single stencils."""
    table = jacobi.jacobi_table()
    stencils, area, power = table.tasks_in_flight, table.area_m2, full_power_w(table)
    side = np.linspace(1.0, 4.0, 601)
    law, cells = jacobi.jacobi_law(side=side), side**2
    return (
        Panel(
            title="",
            x_label="parallelism [stencils]",
            y_label="cost over that many single stencils [times]",
            series=(
                Series(label="power", x=stencils, y=power / power[0] / stencils),
                Series(label="area", x=stencils, y=area / area[0] / stencils),
                _dashed("power by eq. 9, corrected", cells, full_power_w(law) / power[0] / cells),
                _dashed("area by eq. 8", cells, law.area_m2 / area[0] / cells),
                _dashed("copies of n = 1", np.array([1.0, 16.0]), np.ones(2)),
            ),
            x_scale="log2",
        ),
    )


figures: tuple[Figure, ...] = (
    Figure(
        name="cores-1",
        source=f"{PAPER}, figure 1",
        caption="Area and performance of every core in the paper's tables I to III; low and to "
        "the right is good. The paper's figure shows other cores too (AES, DCT, Reed-Solomon and "
        "more FFT and DES designs), of which it gives no numbers. A task is another amount of work "
        "in each kind of core.",
        draw=_figure_1,
    ),
    Figure(
        name="cores-3",
        source=f"{PAPER}, figure 3",
        caption="What unrolling the DES loop costs and gives, over the iterative design u1. Energy "
        "per cycle and task in flight is what makes u1_p2 the cheapest, as the paper says; for a "
        f"finished task, u1_p2 takes more energy than u1. {_NUMBERS}",
        draw=_figure_3,
    ),
    Figure(
        name="cores-4",
        source=f"{PAPER}, figure 4",
        caption="Power and area of unrolled DES cores over those of as many copies of u1: below 1 "
        "unrolling is worth it. Dashed: the laws, equations 2 and 3 (in mW). "
        f"{_NUMBERS}",
        draw=_figure_4,
    ),
    use_cases,
    Figure(
        name="cores-7",
        source=f"{PAPER}, figure 7",
        caption="FFT designs over radix 2. The pipeline depth is published for r2 and r64 only; "
        "the others take that of r2, an upper bound, so what is divided by tasks in flight is "
        f"uncertain for them. {_NUMBERS}",
        draw=_figure_7,
    ),
    Figure(
        name="cores-8",
        source=f"{PAPER}, figure 8",
        caption="Power and area of the FFT over pipeline depth, relative to r64. Only r64 and r2 "
        "can be placed, because the paper gives the depth of no other design. Dashed: equations 5 "
        "and 6.",
        draw=_figure_8,
    ),
    design_space,
    Figure(
        name="cores-11",
        source=f"{PAPER}, figure 11",
        caption="What a larger Jacobi array costs and gives, over a single stencil (n = 1): area "
        f"and energy per cell fall by half from n = 1 to n = 4. {_NUMBERS}",
        draw=_figure_11,
    ),
    Figure(
        name="cores-12",
        source=f"{PAPER}, figure 12",
        caption="Power and area of Jacobi cores over those of as many single stencils. Dashed: "
        "equation 8 and equation 9 as its own table has it, linear in n and in mW. "
        f"{_NUMBERS}",
        draw=_figure_12,
    ),
)
