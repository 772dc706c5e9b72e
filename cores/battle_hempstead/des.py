"""Statements of section IV about single DES cores."""

from __future__ import annotations

from dse.cores import des
from dse.cores.battle_hempstead.claim import always, claim, least, power_mw, rounded, task_rate

_INPUTS = ("Table I: table",)
_DES, _NAMES = des.table(), des.core.models["table"].designs
_UNROLLED = ("u2", "u4", "u8", "u16")
_ENERGY = power_mw(_DES) / task_rate(_DES)
_POWER_IN_FLIGHT = power_mw(_DES) / _DES.tasks_in_flight
_AREA_IN_FLIGHT = _DES.area_m2 * 1e12 / _DES.tasks_in_flight
_CYCLE_ENERGY = _POWER_IN_FLIGHT / _DES.clock_hz
_AREA_OF_RATE = _DES.area_m2 / task_rate(_DES)
"""The paper calls all of these per task: finished, in flight, or per task and second."""

_ENERGY_OF = dict(zip(_NAMES, _ENERGY.tolist(), strict=True))
_POWER_OF = dict(zip(_NAMES, _POWER_IN_FLIGHT.tolist(), strict=True))
_AREA_OF = dict(zip(_NAMES, _AREA_IN_FLIGHT.tolist(), strict=True))
_RATE_OF = dict(zip(_NAMES, task_rate(_DES).tolist(), strict=True))
_CLOCK_OF = dict(zip(_NAMES, _DES.clock_hz.tolist(), strict=True))
_LATENCY_OF = dict(zip(_NAMES, (_DES.tasks_in_flight * _DES.cycles_per_task).tolist(), strict=True))
_BUT_U4 = [_AREA_OF[name] for name in ("u1", "u2", "u8", "u16")]

claims = (
    *(
        claim(
            name=f"cores-4b-latency-{design}",
            where="IV-B",
            statement=f"task latency of {design}",
            **rounded(cycles),
            unit="cycles",
            ours=always(_LATENCY_OF[design]),
            inputs=("Table I, parallelism: table", "16 rounds per task: text"),
        )
        for design, cycles in (("u1", "16"), ("u1_p2", "32"))
    ),
    claim(
        name="cores-4b-cycle-time",
        where="IV-B",
        statement="by how much partitioning shortens the cycle",
        **rounded("13"),
        unit="%",
        ours=always(100 * (1 - _CLOCK_OF["u1"] / _CLOCK_OF["u1_p2"])),
        reason="from 645 to 730 MHz; from the printed 625 MHz it would be 14.4 %",
        inputs=("Table I, bandwidth: table",),
    ),
    claim(
        name="cores-4b-split-above-u1",
        where="IV-B",
        statement="u1_p2 finishes more tasks than u1",
        printed=True,
        ours=always(_RATE_OF["u1_p2"] > _RATE_OF["u1"]),
        inputs=_INPUTS,
    ),
    claim(
        name="cores-4b-split-below-u2",
        where="IV-B",
        statement="u1_p2 finishes no more tasks than u2",
        printed=True,
        ours=always(_RATE_OF["u1_p2"] <= _RATE_OF["u2"]),
        inputs=_INPUTS,
    ),
    claim(
        name="cores-4b-least-energy-finished",
        where="IV-B",
        statement="design with the least energy per finished task",
        printed="u1_p2",
        ours=always(least(_ENERGY, _NAMES)),
        reason="u1_p2 takes 30.5 pJ per finished task, the most; u16 takes 15.7 pJ, the least",
        inputs=_INPUTS,
    ),
    claim(
        name="cores-4b-least-energy-in-flight",
        where="IV-B",
        statement="design with the least energy per cycle and task in flight",
        printed="u1_p2",
        ours=always(least(_CYCLE_ENERGY, _NAMES)),
        inputs=_INPUTS,
    ),
    claim(
        name="cores-4b-u4-most-energy",
        where="IV-B",
        statement="unrolled design with the most energy per task",
        printed="u4",
        ours=always(max(_UNROLLED, key=_ENERGY_OF.__getitem__)),
        inputs=_INPUTS,
    ),
    claim(
        name="cores-4b-u4-most-area",
        where="IV-B",
        statement="unrolled design with the most area per task in flight",
        printed="u4",
        ours=always(max(_UNROLLED, key=_AREA_OF.__getitem__)),
        inputs=_INPUTS,
    ),
    claim(
        name="cores-4b-u8-u16-less-energy",
        where="IV-B",
        statement="u8 and u16 take less energy per task than the less unrolled designs",
        printed=True,
        ours=always(
            max(_ENERGY_OF[name] for name in ("u8", "u16"))
            < min(_ENERGY_OF[name] for name in ("u1", "u2", "u4"))
        ),
        inputs=_INPUTS,
    ),
    claim(
        name="cores-4b-u16-power",
        where="IV-B, IV-D",
        statement="design with the least power per task in flight",
        printed="u16",
        ours=always(least(_POWER_IN_FLIGHT, _NAMES)),
        inputs=_INPUTS,
    ),
    claim(
        name="cores-4b-u16-area-of-rate",
        where="IV-B, IV-D",
        statement="design with the least area per task and second",
        printed="u16",
        ours=always(least(_AREA_OF_RATE, _NAMES)),
        inputs=_INPUTS,
    ),
    claim(
        name="cores-4b-u16-area-in-flight",
        where="IV-B, IV-D",
        statement="design with the least area per task in flight, as figure 4 has it",
        printed="u16",
        ours=always(least(_AREA_IN_FLIGHT, _NAMES)),
        reason="u1_p2 takes 3166 um2 per task in flight, u16 takes 3611 um2",
        inputs=_INPUTS,
    ),
    claim(
        name="cores-4d-u16-throughput",
        where="IV-D",
        statement="design with the most throughput",
        printed="u16",
        ours=always(least(-task_rate(_DES), _NAMES)),
        inputs=_INPUTS,
    ),
    claim(
        name="cores-4b-u4-worst-power",
        where="IV-B, fig. 4",
        statement="design with the most power per task in flight, above the baseline u1",
        printed="u4",
        ours=always(least(-_POWER_IN_FLIGHT, _NAMES)),
        inputs=_INPUTS,
    ),
    claim(
        name="cores-4b-u4-area-below-u8",
        where="IV-B, fig. 4",
        statement="u4 takes less area per task in flight than u8",
        printed=True,
        ours=always(_AREA_OF["u4"] < _AREA_OF["u8"]),
        reason="5625 um2 against 4269 um2; section IV-B itself calls u4 the least "
        "area-efficient of the unrolled designs",
        inputs=_INPUTS,
    ),
    claim(
        name="cores-4b-no-gain-below-8",
        where="IV-B, fig. 4",
        statement="unrolling less than 8 times saves no power per task in flight",
        printed=True,
        ours=always(min(_POWER_OF[name] for name in ("u2", "u4")) >= _POWER_OF["u1"]),
        reason="u2 takes 0.98 mW per task in flight, u1 takes 1.02 mW; true of u4 only",
        inputs=_INPUTS,
    ),
    claim(
        name="cores-4d-u4-outlier",
        where="IV-D, fig. 4",
        statement="area per task falls as the loop is unrolled, u4 apart",
        printed=True,
        ours=always(sorted(_BUT_U4, reverse=True) == _BUT_U4 and _AREA_OF["u4"] > _AREA_OF["u2"]),
        inputs=_INPUTS,
    ),
    claim(
        name="cores-4b-deeper-pipelines",
        where="IV-B",
        statement="deeper pipelines cost superlinearly more power and area",
        printed=True,
        ours=None,
        reason="no deeper design is printed",
        inputs=("none",),
    ),
)
