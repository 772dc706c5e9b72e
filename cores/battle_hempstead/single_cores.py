"""Single cores: cells of Tables I to III, the laws of equations 2 to 9, ratios and orders.

A *core* is ``des``, ``fft`` or ``jacobi``, a *design* one of its table, a *quantity* one of
`_QUANTITIES`.  The paper calls several of them per task: per finished task, per task in flight,
or per task and second.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from itertools import pairwise

import numpy as np

from dse.contract import Column, CoreMetrics
from dse.contract.claim_table import ClaimFunctions
from dse.cores import des, fft, jacobi
from dse.cores._table import full_power_w, full_rate_task_per_s, read_table

functions = ClaimFunctions()

_CORES = {"des": des.core, "fft": fft.core, "jacobi": jacobi.core}
_LAWS: Mapping[str, tuple[tuple[str, ...], Callable[[], CoreMetrics]]] = {
    "des": (
        ("u1", "u2", "u4", "u8", "u16"),
        lambda: des.des_law(unroll=np.array([1.0, 2.0, 4.0, 8.0, 16.0])),
    ),
    "fft": (("r64", "r2"), lambda: fft.fft_law(pipeline_depth=np.array([17.0, 26.0]))),
    "jacobi": (
        ("n1", "n2", "n3", "n4"),
        lambda: jacobi.jacobi_law(side=np.array([1.0, 2.0, 3.0, 4.0])),
    ),
}
"""The laws at the designs that they describe; eq. 6 places only r2 and r64 of the FFT."""


def _power_mw(of: CoreMetrics) -> Column:
    return full_power_w(of) * 1e3


_QUANTITIES: Mapping[str, Callable[[CoreMetrics], Column]] = {
    "area_m2": lambda of: of.area_m2,
    "area_um2": lambda of: of.area_m2 * 1e12,
    "area_mm2": lambda of: of.area_m2 * 1e6,
    "power_w": lambda of: _power_mw(of) / 1e3,
    "power_mw": _power_mw,
    "clock_hz": lambda of: of.clock_hz,
    "clock_mhz": lambda of: of.clock_hz / 1e6,
    "rate": full_rate_task_per_s,
    "rate_mtask": lambda of: full_rate_task_per_s(of) / 1e6,
    "rate_gtask": lambda of: full_rate_task_per_s(of) / 1e9,
    "tasks_per_cycle": lambda of: 1 / of.cycles_per_task,
    "words_per_cycle": lambda of: of.payload_bit / 64 / of.cycles_per_task,
    "pipeline_depth": lambda of: of.latency_cycles,
    "tasks_in_flight": lambda of: of.tasks_in_flight,
    "parallelism": lambda of: of.latency_cycles / of.cycles_per_task,
    "latency_by_parallelism": lambda of: of.tasks_in_flight * of.cycles_per_task,
    "energy_per_task": lambda of: _power_mw(of) / full_rate_task_per_s(of),
    "energy_per_cycle_in_flight": lambda of: _power_mw(of) / of.tasks_in_flight / of.clock_hz,
    "power_in_flight": lambda of: _power_mw(of) / of.tasks_in_flight,
    "area_in_flight": lambda of: of.area_m2 * 1e12 / of.tasks_in_flight,
    "area_per_rate": lambda of: of.area_m2 / full_rate_task_per_s(of),
    "power_density": lambda of: _power_mw(of) / of.area_m2,
}

_ORDERS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


def _values(core: str, quantity: str) -> dict[str, float]:
    model = _CORES[core].models["table"]
    values = _QUANTITIES[quantity](model.function())
    return dict(zip(model.designs, values.tolist(), strict=True))


@functions
def core_value(core: str, quantity: str, design: str) -> float:
    """Return a quantity of a design."""
    return _values(core, quantity)[design]


@functions
def law_value(core: str, quantity: str, design: str) -> float:
    """Return a quantity of a design by the law."""
    designs, law = _LAWS[core]
    return float(_QUANTITIES[quantity](law())[designs.index(design)])


@functions
def bandwidth_by_rate(core: str, design: str) -> float:
    """Return bandwidth in Gbit/s as it follows from the printed performance."""
    designs, printed = read_table(f"{core}.csv")
    payload_bit = _CORES[core].models["table"].function().payload_bit
    carried = printed["rate_task_per_s"] / 1e6 * payload_bit / 1e3
    return float(carried[designs.index(design)])


@functions
def jacobi_clock_by_rate(design: str) -> float:
    """Return the clock of a Jacobi core in MHz by its printed performance and parallelism."""
    designs, printed = read_table("jacobi.csv")
    clock = printed["rate_task_per_s"] / 1e9 * 1e3 / printed["parallelism"]
    return float(clock[designs.index(design)])


@functions
def core_ratio(core: str, quantity: str, design: str, base: str) -> float:
    """Return a quantity of a design over that of another."""
    values = _values(core, quantity)
    return values[design] / values[base]


@functions
def largest_core_ratio(core: str, quantity: str, base: str) -> float:
    """Return the largest value of a quantity over that of one design."""
    values = _values(core, quantity)
    return max(values.values()) / values[base]


@functions
def least_core_ratio(core: str, quantity: str, base: str) -> float:
    """Return the least value of a quantity over that of one design."""
    values = _values(core, quantity)
    return min(values.values()) / values[base]


@functions
def design_with_least(core: str, quantity: str) -> str:
    """Return the design with the least of a quantity."""
    values = _values(core, quantity)
    return min(values, key=values.__getitem__)


@functions
def design_with_most(core: str, quantity: str, among: str = "") -> str:
    """Return the design with the most of a quantity, among some where they are named."""
    values = _values(core, quantity)
    return max(among.split() or values, key=values.__getitem__)


@functions
def core_order(core: str, quantity: str, designs: str, order: str, others: str | float) -> bool:
    """Return whether each of some designs stands in an order to each of others, or to a number.

    ``core_order(des, energy_per_task, u8 u16, <, u1 u2 u4)``: u8 and u16 take less than any other.
    """
    values = _values(core, quantity)
    right = [values[name] for name in others.split()] if isinstance(others, str) else [others]
    return all(_ORDERS[order](values[name], other) for name in designs.split() for other in right)


@functions
def performance_efficiency(design: str) -> float:
    """Return the rate of a DES design over that of as many u1 as it has tasks in flight (1)."""
    rate, parallel = _values("des", "rate"), _values("des", "tasks_in_flight")
    return rate[design] / rate["u1"] / parallel[design]


@functions
def shorter_cycle_percent() -> float:
    """Return by how much partitioning shortens the cycle: u1_p2 beside u1."""
    return 100 * (1 - core_ratio("des", "clock_hz", "u1", "u1_p2"))


@functions
def area_in_flight_falls_but_for_u4() -> bool:
    """Return whether area per task in flight falls as DES is unrolled, and u4 is above u2."""
    area = _values("des", "area_in_flight")
    others = pairwise(area[name] for name in ("u1", "u2", "u8", "u16"))
    return all(fewer >= more for fewer, more in others) and area["u4"] > area["u2"]


@functions
def fft_design_is_beaten(design: str) -> bool:
    """Return whether another takes no more of either, energy per task and area per rate."""
    energy, area = _values("fft", "energy_per_task"), _values("fft", "area_per_rate")
    return any(
        energy[other] <= energy[design] and area[other] <= area[design]
        for other in energy
        if other != design
    )


@functions
def jacobi_steps_fall() -> bool:
    """Return whether the next larger array costs ever less in area, relatively."""
    steps = [large / small for small, large in pairwise(_values("jacobi", "area_m2").values())]
    return all(later < earlier for earlier, later in pairwise(steps))
