"""Chains of a DES and an FFT fleet from 1 to 240 Gbit/s: section V-C and figure 9."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.contract.papers import Claim, Laboratory
from dse.cores.battle_hempstead.claim import Ours, claim, rounded

_SWEEP = """
workload: {rate: 1 Gbit/s}
stages:
  - core: des
    instances: least
  - core: fft
    instances: least
axes:
  workload.rate: {from: 1 Gbit/s, to: 240 Gbit/s, points: 240}
objectives: {area: minimise, power: minimise}
"""
_LAST = 240
_INPUTS = (
    "Tables I and II: table",
    "one design per fleet, as few instances as carry the rate: assumption",
)
_MULTIPLE_FROM = 42
"""Above the 41.29 Gbit/s of u16, every DES design needs more than one instance."""


@dataclass(frozen=True)
class _Rate:
    """The fleets for one rate: names of their designs, areas and powers."""

    des: NDArray[Any]
    fft: NDArray[Any]
    area: NDArray[np.float64]
    power: NDArray[np.float64]
    des_instances: NDArray[np.int64]

    def best(self, quantity: str) -> tuple[str, str]:
        """Return the DES and the FFT design with the least area or power."""
        row = int(np.argmin(getattr(self, quantity)))
        return str(self.des[row]), str(self.fft[row])

    def spread(self, quantity: str) -> float:
        """Return the largest over the least."""
        values = getattr(self, quantity)
        return float(values.max() / values.min())


def _sweep(laboratory: Laboratory) -> dict[int, _Rate]:
    """Return all fleets of a DES and an FFT stage by rate in Gbit/s."""
    table = laboratory.designs(_SWEEP)
    rates = np.rint(np.asarray(table["workload.rate_bit_per_s"]) / 1e9)
    chosen, instances = {}, np.zeros(len(rates), dtype=np.int64)
    for stage in ("des.", "fft."):
        names = [name for name in table if name.startswith(stage)]
        counts = np.array([table[name] for name in names])
        chosen[stage] = np.array([name.removeprefix(stage) for name in names])[counts.argmax(0)]
        instances = counts.sum(0) if stage == "des." else instances
    rows = {rate: rates == rate for rate in range(1, _LAST + 1)}
    return {
        rate: _Rate(
            des=chosen["des."][here],
            fft=chosen["fft."][here],
            area=table["area_m2"][here],
            power=table["power_w"][here],
            des_instances=instances[here],
        )
        for rate, here in rows.items()
    }


def _at_rates(rates: Iterable[int], holds: Callable[[_Rate], bool]) -> Ours:
    """Return at how many of the rates a statement holds, and the first at which it does not."""
    wanted = tuple(rates)

    def ours(laboratory: Laboratory) -> str:
        sweep = _sweep(laboratory)
        failing = [rate for rate in wanted if not holds(sweep[rate])]
        if not failing:
            return _all(wanted)
        count = len(wanted) - len(failing)
        return f"at {count} of {len(wanted)} rates; first not at {failing[0]} Gbit/s"

    return ours


def _all(rates: Iterable[int]) -> str:
    return f"at all {len(tuple(rates))} rates"


def _everywhere(
    name: str, where: str, statement: str, rates: range, holds: Callable[[_Rate], bool], reason: str
) -> Claim:
    return claim(
        name=f"cores-5c-{name}",
        where=where,
        statement=f"{statement}, at each Gbit/s from {rates.start} to {rates.stop - 1}",
        printed=_all(rates),
        ours=_at_rates(rates, holds),
        reason=reason,
        inputs=_INPUTS,
    )


def _best(quantity: str, rate: int) -> Ours:
    """Return the chain with the least area or power at one rate in Gbit/s."""
    return lambda laboratory: " and ".join(_sweep(laboratory)[rate].best(quantity))


def _widest(quantity: str) -> Ours:
    """Return most over least area or power, at the rate where it is largest."""
    return lambda laboratory: max(fleets.spread(quantity) for fleets in _sweep(laboratory).values())


_MULTIPLE, _ABOVE = range(_MULTIPLE_FROM, _LAST + 1), range(101, _LAST + 1)
_AREA, _POWER = "V-C, fig. 9 top", "V-C, fig. 9 bottom"
claims = (
    claim(
        name="cores-5c-1-gbit-area",
        where="V-C",
        statement="chain with the least area at 1 Gbit/s",
        printed="u1 and r64",
        ours=_best("area", 1),
        inputs=_INPUTS,
    ),
    claim(
        name="cores-5c-1-gbit-power",
        where="V-C",
        statement="chain with the least power at 1 Gbit/s",
        printed="u1 and r64",
        ours=_best("power", 1),
        reason="by Table II r4 leaks less: 13.76 mW at 1 Gbit/s, r64 takes 14.37 mW",
        inputs=_INPUTS,
    ),
    claim(
        name="cores-5c-coincide",
        where="V-C, fig. 9",
        statement="rates of 240 at which one chain has least area and least power: 'a few', "
        "read as below a tenth",
        printed="< 24",
        ours=lambda laboratory: float(
            sum(
                fleets.best("area") == fleets.best("power")
                for fleets in _sweep(laboratory).values()
            )
        ),
        reason="mostly from 123 to 204 Gbit/s, where 3 to 5 u16 win both",
        inputs=_INPUTS,
    ),
    *(
        claim(
            name=f"cores-5c-spread-{quantity}",
            where="V-C, fig. 9",
            statement=f"most over least {quantity} of all chains at one rate, at its largest",
            **rounded("2.5"),
            ours=_widest(quantity),
            reason=reason,
            inputs=_INPUTS,
        )
        for quantity, reason in (
            ("area", "at 155 Gbit/s, where r32 needs 2 instances and r4 one"),
            ("power", "at 122 Gbit/s; the table gives no more"),
        )
    ),
    _everywhere(
        "multiple-instances",
        "V-C",
        "every DES design needs several instances",
        _MULTIPLE,
        lambda fleets: int(fleets.des_instances.min()) > 1,
        "",
    ),
    _everywhere(
        "power-prefers-u8",
        _POWER,
        "least power takes u8, once every DES design needs several instances",
        _MULTIPLE,
        lambda fleets: fleets.best("power")[0] == "u8",
        "u16 takes less dynamic power per bit and wins from 10 Gbit/s on; u8 wins from 6 to 9",
    ),
    _everywhere(
        "area-prefers-u16",
        _AREA,
        "least area takes u16, once every DES design needs several instances",
        _MULTIPLE,
        lambda fleets: fleets.best("area")[0] == "u16",
        "u2 and u8 waste less where another u16 would be needed; u16 always from 104 on",
    ),
    _everywhere(
        "power-prefers-r64",
        _POWER,
        "least power takes r64, above 100 Gbit/s",
        _ABOVE,
        lambda fleets: fleets.best("power")[1] == "r64",
        "r8 wins from 103, r4 from 123, r64 from 156, r8 again from 205 Gbit/s",
    ),
    _everywhere(
        "area-prefers-r4",
        _AREA,
        "least area takes r4, above 100 Gbit/s",
        _ABOVE,
        lambda fleets: fleets.best("area")[1] == "r4",
        "r64 still carries 102 Gbit/s alone, and two of it win from 156 to 204 Gbit/s",
    ),
)
