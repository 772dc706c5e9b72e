"""Fleets of one DES design each in two use cases, and chains of a DES and an FFT fleet.

Sections IV-C and V-C, figures 5 and 9.  What carries a rate is found by the engine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.contract.papers import ORDERS, Laboratory
from dse.cores.battle_hempstead import single_cores

functions = single_cores.functions
"""Those of single cores, and these."""

ROUTER, SET_TOP_BOX = "100 Gbit/s", "116.43 Mbit/s"
"""The use cases of section IV-C: a back-end router; three transport streams of 38.81 Mbit/s."""
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
    """Return the design, or the few designs, whose fleets take the least of a quantity."""
    values = _values_of(laboratory, use_case, quantity)
    return " and ".join(sorted(values, key=values.__getitem__)[: int(count)])


@functions
def fleet_order(
    laboratory: Laboratory, use_case: str, quantity: str, order: str, bound: float
) -> bool:
    """Return whether a quantity of the fleet of each design stands in an order to a number."""
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
    """Return by rate whether the chain with the least area has the least power, too."""
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
    """Return most over least area or power, at the rate where it is largest; rates in steps."""
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
    """Return whether a design wins at least at some share of the rates from the first on."""
    return rates_won(laboratory, design, quantity, first) >= share * (_LAST + 1 - first)
