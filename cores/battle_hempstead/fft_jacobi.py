"""Statements of sections I, V and VI about single FFT and Jacobi cores."""

from __future__ import annotations

import numpy as np

from dse.cores import fft, jacobi
from dse.cores.battle_hempstead.claim import always, claim, least, power_mw, rounded, task_rate

_TABLE_II, _TABLE_III = "Table II: table", "Table III: table"
_FFT, _FFT_NAMES = fft.table(), fft.core.models["table"].designs
_FFT_ENERGY = power_mw(_FFT) / task_rate(_FFT)
_FFT_AREA_OF_RATE = _FFT.area_m2 / task_rate(_FFT)
_CLOCK_OF = dict(zip(_FFT_NAMES, _FFT.clock_hz.tolist(), strict=True))
_RATE_OF = dict(zip(_FFT_NAMES, task_rate(_FFT).tolist(), strict=True))
_POWER_OF = dict(zip(_FFT_NAMES, power_mw(_FFT).tolist(), strict=True))


def _beaten(design: str) -> bool:
    """Whether another design takes no more of either, energy per task and area per rate."""
    row = _FFT_NAMES.index(design)
    energy, area = _FFT_ENERGY, _FFT_AREA_OF_RATE
    both = (energy <= energy[row]) & (area <= area[row])
    return bool(both.sum() > 1)


_FFT_CLAIMS = (
    claim(
        name="cores-5-words-per-cycle",
        where="V",
        statement="words of 64 bit that a design takes per cycle",
        **rounded("64"),
        ours=always(float(_FFT.payload_bit[0] / 64 / _FFT.cycles_per_task[0])),
        reason="clock, bandwidth and performance of Table II say 1024 bit per cycle: 64 words "
        "each 4 cycles",
        inputs=("Table II, bandwidth, performance and clock: table",),
    ),
    *(
        claim(
            name=f"cores-5a-{word}-{quantity.replace(' ', '-')}",
            where="V-A",
            statement=f"design with the {word} {quantity}",
            printed=design,
            ours=always(least(sign * values, _FFT_NAMES)),
            inputs=(_TABLE_II,),
        )
        for word, quantity, design, sign, values in (
            ("most", "area", "r2", -1, _FFT.area_m2),
            ("most", "power", "r2", -1, power_mw(_FFT)),
            ("least", "power", "r64", 1, power_mw(_FFT)),
            ("least", "energy per task", "r8", 1, _FFT_ENERGY),
            ("least", "area per rate", "r4", 1, _FFT_AREA_OF_RATE),
        )
    ),
    claim(
        name="cores-5a-r64-slower",
        where="V-A",
        statement="task throughput of r64 over that of r2",
        printed="< 1",
        ours=always(_RATE_OF["r64"] / _RATE_OF["r2"]),
        inputs=(_TABLE_II,),
    ),
    claim(
        name="cores-5a-r2-faster",
        where="V-A",
        statement="r2, of the deepest pipeline, has more throughput than any other design",
        printed=True,
        ours=always(max(_RATE_OF, key=_RATE_OF.__getitem__) == "r2"),
        reason="more than r8, r32 and r64; r4 has 37.9 and r16 36.2 Mtask/s, r2 has 35.1",
        inputs=(_TABLE_II,),
    ),
    claim(
        name="cores-5a-above-target",
        where="V-A",
        statement="the less complex kernels run faster than the 100 MHz they were made for",
        printed=True,
        ours=always(all(_CLOCK_OF[name] > 100e6 for name in _FFT_NAMES if name != "r64")),
        inputs=("Table II, bandwidth: table",),
    ),
    claim(
        name="cores-5a-r64-at-target",
        where="V-A",
        statement="clock of r64, which does not exceed the target",
        **rounded("100"),
        unit="MHz",
        ours=always(_CLOCK_OF["r64"] / 1e6),
        inputs=("Table II, bandwidth: table",),
    ),
    claim(
        name="cores-5b-r32-suboptimal",
        where="V-B",
        statement="r32 is beaten in energy per task and in area per rate at once",
        printed=True,
        ours=always(_beaten("r32")),
        inputs=(_TABLE_II,),
    ),
    claim(
        name="cores-5b-r4-suboptimal",
        where="V-B",
        statement="r4 is beaten in energy per task and in area per rate at once",
        printed=True,
        ours=always(_beaten("r4")),
        reason="r4 has the least area per rate, which section V-C itself praises",
        inputs=(_TABLE_II,),
    ),
    claim(
        name="cores-5c-r4-power",
        where="V-C",
        statement="r4 takes more power than r64",
        printed=True,
        ours=always(_POWER_OF["r4"] > _POWER_OF["r64"]),
        inputs=(_TABLE_II,),
    ),
)

_JACOBI = jacobi.table()
_AREA, _POWER, _RATE = _JACOBI.area_m2, power_mw(_JACOBI), task_rate(_JACOBI)
_DENSITY, _ENERGY, _AREA_OF_RATE = _POWER / _AREA, _POWER / _RATE, _AREA / _RATE
_STEPS = _AREA[1:] / _AREA[:-1]
_RATIOS = (
    ("power-density", "most power per area over n1", "1.14", _DENSITY.max() / _DENSITY[0]),
    ("least-density", "least power per area over n1", "1", _DENSITY.min() / _DENSITY[0]),
    ("energy", "energy per task of n1 over n4", "2", _ENERGY[0] / _ENERGY[3]),
    ("area-per-task", "area per rate of n4 over n1", "0.5", _AREA_OF_RATE[3] / _AREA_OF_RATE[0]),
    ("throughput", "throughput of n4 over n1", "16", _RATE[3] / _RATE[0]),
    ("area", "area of n4 over n1", "7.7", _AREA[3] / _AREA[0]),
    ("step-1-2", "area of n2 over n1", "2.58", _STEPS[0]),
    ("step-3-4", "area of n4 over n3", "1.56", _STEPS[2]),
)
_REASONS = {
    "power-density": "n3 has 1.157 by Table III; no more than rounding 0.45 mW of n1 explains",
    "step-3-4": "the table gives 1.569: cut, not rounded",
}
_JACOBI_CLAIMS = (
    *(
        claim(
            name=f"cores-6b-{key}",
            where="VI-B",
            statement=statement,
            **rounded(text),
            ours=always(float(ratio)),
            reason=_REASONS.get(key, ""),
            inputs=(_TABLE_III,),
        )
        for key, statement, text, ratio in _RATIOS
    ),
    claim(
        name="cores-6b-steps-fall",
        where="VI-B",
        statement="the next larger array costs ever less in area, relatively",
        printed=True,
        ours=always(bool(np.all(np.diff(_STEPS) < 0))),
        inputs=(_TABLE_III,),
    ),
)

_UNPRINTED = claim(
    name="cores-1-aes-range",
    where="I, fig. 1",
    statement="AES cores span 1e6 to 1e9 tasks per second and 1e4 to 1e6 um2",
    printed=True,
    ours=None,
    reason="figure 1 prints no numbers for its 57 cores",
    inputs=("none",),
)

claims = (*_FFT_CLAIMS, *_JACOBI_CLAIMS, _UNPRINTED)
