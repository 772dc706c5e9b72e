"""Fleets of one DES design each: the use cases of section IV-C."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dse.contract.papers import Laboratory
from dse.cores.battle_hempstead.claim import Ours, claim, rounded

_DES = """
workload: {{rate: {rate}}}
stages:
  - core: des
    instances: least
objectives: {{area: minimise, power: minimise}}
"""
_ROUTER, _BOX = "100 Gbit/s", "116.43 Mbit/s"
_INPUTS = (
    "Table I: table",
    "one design per fleet, as few instances as carry the rate: assumption",
)


def _fleets(laboratory: Laboratory, rate: str) -> Mapping[str, Mapping[str, Any]]:
    """Return, by DES design, the quantities of the fleet that carries a rate."""
    table = laboratory.designs(_DES.format(rate=rate))
    counts = [name for name in table if name.startswith("des.")]
    rows = {name.removeprefix("des."): int(np.argmax(table[name])) for name in counts}
    return {
        name: {column: values[row] for column, values in table.items()}
        for name, row in rows.items()
    }


def _least(quantity: str, rate: str) -> Ours:
    def ours(laboratory: Laboratory) -> str:
        fleets = _fleets(laboratory, rate)
        return min(fleets, key=lambda name: float(fleets[name][quantity]))

    return ours


def _of(design: str, quantity: str, rate: str, factor: float = 1.0) -> Ours:
    """Return a quantity of the fleet of one design that carries a rate."""
    return lambda laboratory: factor * float(_fleets(laboratory, rate)[design][quantity])


_ROUTER_CLAIMS = (
    *(
        claim(
            name=f"cores-4c-instances-{design}",
            where="IV-C, fig. 5",
            statement=f"instances of {design} for 100 Gbit/s",
            printed=float(count),
            ours=_of(design, "instances", _ROUTER),
            inputs=_INPUTS,
        )
        for design, count in (("u1", 39), ("u16", 3))
    ),
    claim(
        name="cores-4c-two-least-power",
        where="IV-C, fig. 5",
        statement="the two designs with the least power at 100 Gbit/s",
        printed="u16 and u8",
        ours=lambda laboratory: " and ".join(
            sorted(
                fleets := _fleets(laboratory, _ROUTER),
                key=lambda name: float(fleets[name]["power_w"]),
            )[:2]
        ),
        inputs=_INPUTS,
    ),
    claim(
        name="cores-4c-cycle-u16",
        where="IV-C, fig. 5",
        statement="cycle time of u16 slowed down to 100 Gbit/s",
        **rounded("1.9"),
        unit="ns",
        ours=lambda laboratory: 1e9 / float(_fleets(laboratory, _ROUTER)["u16"]["clock_hz"]),
        inputs=_INPUTS,
    ),
)

_BOX_CLAIMS = (
    claim(
        name="cores-4c-streams",
        where="IV-C",
        statement="rate of three transport streams of 38.81 Mbit/s",
        **rounded("116.43"),
        unit="Mbit/s",
        ours=lambda _: 3 * 38.81,
        inputs=("section IV-C: text",),
    ),
    claim(
        name="cores-4c-decrypts",
        where="IV-C",
        statement="decryptions for a rate of 116.43 Mbit/s",
        **rounded("1.8192"),
        unit="Mtask/s",
        ours=_of("u1", "task_throughput_task_per_s", _BOX, 1e-6),
        inputs=("section IV-C: text",),
    ),
    claim(
        name="cores-4c-single-instance",
        where="IV-C, fig. 5",
        statement="one instance of any design carries 116.43 Mbit/s",
        printed=True,
        ours=lambda laboratory: all(
            fleet["instances"] == 1 for fleet in _fleets(laboratory, _BOX).values()
        ),
        inputs=_INPUTS,
    ),
    claim(
        name="cores-4c-leakage-dominates",
        where="IV-C, fig. 5",
        statement="leakage is more than half of the power of every design at 116.43 Mbit/s",
        printed=True,
        ours=lambda laboratory: all(
            fleet["leakage_power_w"] > fleet["dynamic_power_w"]
            for fleet in _fleets(laboratory, _BOX).values()
        ),
        inputs=_INPUTS,
    ),
    claim(
        name="cores-4c-clock-u1",
        where="IV-C",
        statement="clock of one u1 at 116.43 Mbit/s",
        **rounded("29"),
        unit="MHz",
        ours=_of("u1", "clock_hz", _BOX, 1e-6),
        inputs=_INPUTS,
    ),
    *(
        claim(
            name=f"cores-4c-u1-least-{quantity.split('_')[0]}",
            where=where,
            statement=f"design with the least {quantity.split('_')[0]} at 116.43 Mbit/s",
            printed="u1",
            ours=_least(quantity, _BOX),
            inputs=_INPUTS,
        )
        for quantity, where in (
            ("area_m2", "IV-C"),
            ("leakage_power_w", "IV-C"),
            ("power_w", "IV-C, IV-D, fig. 5"),
        )
    ),
)

_BARS = tuple(
    claim(
        name=f"cores-4c-figure-5-{panel}",
        where="IV-C, fig. 5",
        statement=f"power of the fleets of all six designs at {rate}",
        printed="six bars",
        ours=None,
        reason=f"the bars are not printed as numbers; ours, from u1 to u16: {ours}",
        inputs=("none",),
    )
    for panel, rate, ours in (
        ("router", _ROUTER, "39.6, 47.7, 38.1, 44.9, 30.0 and 25.2 mW"),
        ("set-top-box", _BOX, "0.132, 0.151, 0.259, 0.329, 0.661 and 1.14 mW"),
    )
)

claims = (*_ROUTER_CLAIMS, *_BOX_CLAIMS, *_BARS)
