"""Claims of Battle and Hempstead on accelerator cores, compared with our models: `claims.csv`."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib.resources import files
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.contract import Column, CoreMetrics
from dse.contract.claim_table import ClaimFunctions, read_claims
from dse.contract.papers import ORDERS, Laboratory, PrintedNumbers
from dse.contract.published import read_published
from dse.cores import des, fft, jacobi
from dse.cores._table import TABLES, full_power_w, full_rate_task_per_s

functions = ClaimFunctions()

_CORES = {"des": des.core, "fft": fft.core, "jacobi": jacobi.core}
_ROWS = {
    name: {row["design"]: row for row in read_published(TABLES / f"{name}.csv").rows}
    for name in _CORES
}
_CLOCKED_BY = {"des": "bandwidth", "fft": "bandwidth", "jacobi": "clock"}
"""The printed column that the clock of our models follows from."""


def _power_mw(of: CoreMetrics) -> Column:
    return full_power_w(of) * 1e3


QUANTITY_OF: Mapping[str, Callable[[CoreMetrics], Column]] = {
    "area_m2": lambda of: of.area_m2,
    "power_w": full_power_w,
    "power_mw": _power_mw,
    "clock_hz": lambda of: of.clock_hz,
    "clock_mhz": lambda of: of.clock_hz / 1e6,
    "rate": full_rate_task_per_s,
    "rate_mtask": lambda of: full_rate_task_per_s(of) / 1e6,
    "rate_gtask": lambda of: full_rate_task_per_s(of) / 1e9,
    "tasks_per_cycle": lambda of: 1 / of.cycles_per_task,
    "rounds_per_cycle": lambda of: 16 / of.cycles_per_task,
    "pipeline_depth": lambda of: of.latency_cycles,
    "tasks_in_flight": lambda of: of.tasks_in_flight,
    "parallelism": lambda of: of.latency_cycles / of.cycles_per_task,
    "dynamic_energy_per_cycle": lambda of: of.dynamic_power_w / of.clock_hz,
    "dynamic_energy_per_task": lambda of: of.dynamic_power_w / full_rate_task_per_s(of),
    "dynamic_energy_per_bit": lambda of: (
        of.dynamic_power_w / full_rate_task_per_s(of) / of.payload_bit
    ),
    "energy_per_task": lambda of: _power_mw(of) / full_rate_task_per_s(of),
    "energy_per_cycle_in_flight": lambda of: _power_mw(of) / of.tasks_in_flight / of.clock_hz,
    "rate_in_flight": lambda of: full_rate_task_per_s(of) / of.tasks_in_flight,
    "power_in_flight": lambda of: _power_mw(of) / of.tasks_in_flight,
    "area_in_flight": lambda of: of.area_m2 * 1e12 / of.tasks_in_flight,
    "area_per_rate": lambda of: of.area_m2 / full_rate_task_per_s(of),
    "power_density": lambda of: _power_mw(of) / of.area_m2,
}

_ENDS: Mapping[str, Callable[..., str]] = {"least": min, "most": max}

_EQUATIONS: Mapping[int, Callable[[Callable[[str], float], float], float]] = {
    2: lambda number, n: number("3500") * n + number("4600"),
    3: lambda number, n: number("0.64") * n + number("0.09"),
    5: lambda number, p: number("0.77") * p - number("0.04"),
    6: lambda number, p: number("4.4") * math.exp(number("1.9") * p),
    8: lambda number, n: number("1018") + number("635") * n**2,
}
"""As printed: areas in um2, of the FFT in mm2, and powers in mW, though equation 3 has W."""


def _moved(printed: PrintedNumbers, core: str, prefix: str) -> Column:
    """Return a column over its printed values: ones unless a cell is moved."""
    rows = _ROWS[core]
    (column,) = {name for row in rows.values() for name in row if name.startswith(prefix + "_")}
    cells = [row[column] for row in rows.values()]
    names = [f"{core} {design} {column}" for design in rows]
    return np.array([printed.share(*cell, cells) for cell in zip(names, cells, strict=True)])


def _table(printed: PrintedNumbers, core: str) -> tuple[tuple[str, ...], CoreMetrics]:
    """Return the names and the metrics of the designs."""
    table = _CORES[core].models["table"]
    of = table.function()
    return table.designs, replace(
        of,
        area_m2=of.area_m2 * _moved(printed, core, "area"),
        dynamic_power_w=of.dynamic_power_w * _moved(printed, core, "dynamic_power"),
        leakage_power_w=of.leakage_power_w * _moved(printed, core, "leakage_power"),
        clock_hz=of.clock_hz * _moved(printed, core, _CLOCKED_BY[core]),
    )


def values_of(printed: PrintedNumbers, core: str, quantity: str) -> dict[str, float]:
    """Return a quantity of each design."""
    designs, figures = _table(printed, core)
    return dict(zip(designs, QUANTITY_OF[quantity](figures).tolist(), strict=True))


def _cell(printed: PrintedNumbers, core: str, design: str, column: str) -> float:
    cells = [row[column] for row in _ROWS[core].values()]
    return printed.read(f"{core} {design} {column}", _ROWS[core][design][column], cells)


@functions
def core_value(
    printed: PrintedNumbers, core: str, quantity: str, design: str, base: str = ""
) -> float:
    """Return a quantity of a design, or its ratio to another design's if one is named."""
    values = values_of(printed, core, quantity)
    return values[design] / (values[base] if base else 1.0)


@functions
def core_value_to(
    printed: PrintedNumbers, unit: float, how: str, core: str, quantity: str, *designs: str
) -> float:
    """Return a quantity, or a ratio of two designs, ``rounded`` or ``cut`` to a unit."""
    value = core_value(printed, core, quantity, *designs)
    return (math.floor(value / unit) if how == "cut" else round(value / unit)) * unit


@functions
def core_value_at(printed: PrintedNumbers, end: str, core: str, quantity: str, base: str) -> float:
    """Return the ratio of the least or the most of a quantity to one design's value."""
    return core_value(printed, core, quantity, design_with(printed, end, core, quantity), base)


@functions
def design_with(
    printed: PrintedNumbers, end: str, core: str, quantity: str, among: str = ""
) -> str:
    """Return the design with the least or the most of a quantity, among some if named."""
    values = values_of(printed, core, quantity)
    return _ENDS[end](among.split() or values, key=values.__getitem__)


@functions
def core_order(
    printed: PrintedNumbers,
    core: str,
    quantity: str,
    designs: str,
    order: str,
    others: str | float,
    share: float = 1.0,
) -> bool:
    """Return whether each of some designs meets an order against a share of each of others.

    ``core_order(des, energy_per_task, u8 u16, <, u1 u2 u4)``: u8 and u16 need less than any
    other.  A number may replace the others.
    """
    values = values_of(printed, core, quantity)
    right = [values[name] for name in others.split()] if isinstance(others, str) else [others]
    holds = ORDERS[order]
    return all(holds(values[name], share * other) for name in designs.split() for other in right)


@functions
def equation(printed: PrintedNumbers, number: float, at: float, over: float = 1) -> float:
    """Return the value of an equation as printed, with P of 5 and 6 as pipeline depth over 17."""
    named = f"eq. {number:.0f}"
    return _EQUATIONS[int(number)](lambda cell: printed.read(f"{named}: {cell}", cell), at / over)


@functions
def shorter_cycle_percent(printed: PrintedNumbers) -> float:
    """Return by how much partitioning shortens the cycle: u1_p2 beside u1."""
    return 100 * (1 - core_value(printed, "des", "clock_hz", "u1", "u1_p2"))


@functions
def area_in_flight_falls_but_for_u4(printed: PrintedNumbers) -> bool:
    """Return whether area per task in flight falls as DES is unrolled, and u4 is above u2."""
    area = values_of(printed, "des", "area_in_flight")
    others = pairwise(area[name] for name in ("u1", "u2", "u8", "u16"))
    return all(fewer >= more for fewer, more in others) and area["u4"] > area["u2"]


@functions
def tasks_per_cycle_ratio(printed: PrintedNumbers, design: str, base: str) -> float:
    """Return the ratio of two FFTs' tasks per cycle, by printed performance and clock."""
    of, other = (
        _cell(printed, "fft", name, "rate_mtask_per_s") / _cell(printed, "fft", name, "clock_mhz")
        for name in (design, base)
    )
    return of / other


@functions
def words_per_cycle(printed: PrintedNumbers, design: str, word_bit: float) -> float:
    """Return words per cycle of an FFT, by printed bandwidth and clock."""
    bandwidth = _cell(printed, "fft", design, "bandwidth_gbit_per_s")
    return bandwidth * 1e3 / _cell(printed, "fft", design, "clock_mhz") / word_bit


@functions
def power_ratio_at(
    printed: PrintedNumbers, core: str, rate_gbit: float, design: str, base: str
) -> float:
    """Return the ratio of two designs' powers, both slowed down to a rate."""

    def power(name: str) -> float:
        share = rate_gbit / _cell(printed, core, name, "bandwidth_gbit_per_s")
        dynamic = _cell(printed, core, name, "dynamic_power_mw")
        return share * dynamic + _cell(printed, core, name, "leakage_power_mw")

    return power(design) / power(base)


@functions
def design_is_beaten(printed: PrintedNumbers, core: str, design: str, quantities: str) -> bool:
    """Return whether another design takes no more of any of some quantities."""
    values = [values_of(printed, core, quantity) for quantity in quantities.split()]
    return any(
        all(of[other] <= of[design] for of in values) for other in values[0] if other != design
    )


@functions
def jacobi_steps_fall(printed: PrintedNumbers) -> bool:
    """Return whether the relative increase in area falls from each array to the next."""
    areas = values_of(printed, "jacobi", "area_m2").values()
    steps = [large / small for small, large in pairwise(areas)]
    return all(later < earlier for earlier, later in pairwise(steps))


ROUTER, SET_TOP_BOX = "100 Gbit/s", "116.43 Mbit/s"
"""The use cases of section IV-C: a back-end router, and three streams of 38.81 Mbit/s."""
_RATES = {"router": ROUTER, "set_top_box": SET_TOP_BOX}

DES_FLEETS = """
workload: {{rate: {rate}}}
stages:
  - core: des
    designs: [u1, u1_p2, u2, u4, u8, u16]
    instances: least
objectives: {{area: minimise, power: minimise}}
"""
_LAST = 240
_SWEEP = f"""
workload: {{rate: 1 Gbit/s}}
stages:
  - core: des
    instances: least
  - core: fft
    instances: least
objectives: {{area: minimise, power: minimise}}
axes:
  workload.rate: {{from: 1 Gbit/s, to: {_LAST} Gbit/s, points: {_LAST}}}
"""

Fleets = Mapping[str, NDArray[Any]]
"""Columns of a study, one row per fleet or chain of fleets."""


def designs_of_fleets(found: Fleets, stage: str) -> list[str]:
    """Return for each fleet the design that a stage is made of."""
    prefix = stage + "."
    counts = {name: values for name, values in found.items() if name.startswith(prefix)}
    designs = [name.removeprefix(prefix) for name in counts]
    return [designs[row] for row in np.argmax(np.column_stack(list(counts.values())), axis=1)]


_FLEET_QUANTITIES: Mapping[str, Callable[[Fleets], NDArray[Any]]] = {
    "instances": lambda of: of["instances"],
    "area": lambda of: of["area_m2"],
    "power": lambda of: of["power_w"],
    "leakage": lambda of: of["leakage_power_w"],
    "leakage_share": lambda of: of["leakage_power_w"] / of["power_w"],
    "cycle_ns": lambda of: 1e9 / of["clock_hz"],
    "clock_mhz": lambda of: 1e-6 * of["clock_hz"],
    "rate_mtask": lambda of: 1e-6 * of["task_throughput_task_per_s"],
}


def _values_of(laboratory: Laboratory, use_case: str, quantity: str) -> dict[str, float]:
    """Return, by DES design, a quantity of the fleet that carries a rate."""
    found = laboratory.designs(DES_FLEETS.format(rate=_RATES[use_case]))
    values = map(float, _FLEET_QUANTITIES[quantity](found))
    return dict(zip(designs_of_fleets(found, "des"), values, strict=True))


@functions
def fleet_value(laboratory: Laboratory, use_case: str, quantity: str, design: str) -> float:
    """Return a quantity of the fleet of one design in a use case."""
    return _values_of(laboratory, use_case, quantity)[design]


@functions
def fleets_with_least(
    laboratory: Laboratory, use_case: str, quantity: str, count: float = 1
) -> str:
    """Return the design, or the few designs, whose fleets have the least of a quantity."""
    values = _values_of(laboratory, use_case, quantity)
    return " and ".join(sorted(values, key=values.__getitem__)[: int(count)])


@functions
def fleet_order(
    laboratory: Laboratory, use_case: str, quantity: str, order: str, bound: float
) -> bool:
    """Return whether a quantity of the fleet of each design meets an order against a number."""
    values, holds = _values_of(laboratory, use_case, quantity), ORDERS[order]
    return all(holds(value, bound) for value in values.values())


@functions
def rate_of_streams(count: float, rate: float) -> float:
    """Return the rate of some equal streams."""
    return count * rate


def chains_by_rate(laboratory: Laboratory) -> dict[int, Fleets]:
    """Return all chains of a DES and an FFT stage by rate in Gbit/s: designs, area and power."""
    found = laboratory.designs(_SWEEP)
    rates = np.rint(np.asarray(found["workload.rate_bit_per_s"]) / 1e9)
    chains = {stage: np.array(designs_of_fleets(found, stage)) for stage in ("des", "fft")}
    chains |= {"area": found["area_m2"], "power": found["power_w"]}
    return {
        rate: {name: values[rates == rate] for name, values in chains.items()}
        for rate in range(1, _LAST + 1)
    }


def _best(chains: Fleets, quantity: str) -> tuple[str, str]:
    """Return the DES and the FFT design with the least area or power."""
    row = int(np.argmin(chains[quantity]))
    return str(chains["des"][row]), str(chains["fft"][row])


@functions
def best_chain(laboratory: Laboratory, quantity: str, rate: float) -> str:
    """Return the chain with the least area or power at one rate in Gbit/s."""
    return " and ".join(_best(chains_by_rate(laboratory)[int(rate)], quantity))


def _coincide(laboratory: Laboratory) -> list[bool]:
    """Return by rate whether one chain has both the least area and the least power."""
    return [
        _best(one, "area") == _best(one, "power") for one in chains_by_rate(laboratory).values()
    ]


@functions
def rates_with_one_best_chain(laboratory: Laboratory) -> float:
    """Return at how many rates the chain with the least area has the least power, too."""
    return float(sum(_coincide(laboratory)))


@functions
def runs_with_one_best_chain(laboratory: Laboratory) -> float:
    """Return in how many runs of neighbouring rates it has."""
    return float(
        sum(now and not before for before, now in pairwise([False, *_coincide(laboratory)]))
    )


@functions
def widest_spread(laboratory: Laboratory, quantity: str, step: float) -> float:
    """Return the largest ratio over rates, in steps, of most to least area or power."""
    sweep = chains_by_rate(laboratory)
    values = (sweep[rate][quantity] for rate in range(int(step), _LAST + 1, int(step)))
    return max(float(one.max() / one.min()) for one in values)


@functions
def rates_won(laboratory: Laboratory, design: str, quantity: str, first: float) -> float:
    """Return at how many rates from the first on a design has the least area or power."""
    sweep = chains_by_rate(laboratory)
    rates = range(int(first), _LAST + 1)
    return float(sum(design in _best(sweep[rate], quantity) for rate in rates))


@functions
def wins_at_share(
    laboratory: Laboratory, design: str, quantity: str, first: float, share: float
) -> bool:
    """Return whether a design wins at a share of the rates from the first on, or more."""
    return rates_won(laboratory, design, quantity, first) >= share * (_LAST + 1 - first)


claims = read_claims(files("dse.cores.battle_hempstead") / "claims.csv", functions)
