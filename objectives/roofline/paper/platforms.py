"""Table I and sections IV to V-C and VI: what the parameters of twelve platforms say."""

from __future__ import annotations

from functools import partial

import numpy as np

from dse.objectives.catalogue import idle_power_w, memory_levels, platforms
from dse.objectives.paper_claim import always, on_all
from dse.objectives.roofline.model import EnergyRoofline
from dse.objectives.roofline.paper.claim import (
    ARNDALE,
    PHI,
    PLOTTED,
    TABLE,
    TITAN,
    constant_share,
    least,
    most,
    number,
    says,
)

_LEVELS = ("Table I, columns 10 to 13: table",)
_STREAMS = {"arndale_gpu": ARNDALE, "gtx_titan": TITAN, "xeon_phi": PHI}


def _energies(platform: str) -> dict[str, float]:
    return {
        level.name: level.energy_j
        for level in memory_levels(platform)
        if level.energy_j is not None
    }


def _level_order(above: str, below: str, factor: float) -> str:
    """Return on which platforms a level costs `factor` times another, where both are known."""
    known = {name: _energies(name) for name in TABLE}
    return on_all(
        {
            name: row[above] >= factor * row[below]
            for name, row in known.items()
            if above in row and below in row
        }
    )


def _phi_advantage() -> float:
    random = {name: _energies(name).get("random") for name in TABLE}
    phi = random.pop("xeon_phi") or np.nan
    return min(energy for energy in random.values() if energy) / phi


def _capped_octaves(model: EnergyRoofline) -> float:
    """Return over how many of the plotted intensities the cap limits execution."""
    return float(np.sum(model.regime(np.geomspace(1 / 8, 512, 121)) == 1.0))


def _cap_widest() -> bool:
    hybrid = ("nuc_cpu", "nuc_gpu", "apu_cpu", "apu_gpu")
    widths = {name: _capped_octaves(TABLE[name]) for name in (*hybrid, "gtx_titan", "xeon_phi")}
    return min(widths[name] for name in hybrid) > max(widths["gtx_titan"], widths["xeon_phi"])


_TABLE_I = (
    says("4-platforms", "IV, Table I", "platforms", 12.0, always(float(len(platforms)))),
    says(
        "4-below-idle",
        "Table I, note 1",
        "platforms whose fitted constant power is below their idle power",
        "arndale_gpu, gtx_580, gtx_680, nuc_gpu",
        lambda _: ", ".join(
            sorted(name for name, m in TABLE.items() if m.constant_power < idle_power_w[name])
        ),
    ),
    says(
        "5b-l1-below-l2",
        "V-B",
        "a byte from L2 costs at least one from L1; platforms with both",
        "on all 9",
        lambda _: _level_order("l2", "l1", 1.0),
        inputs=_LEVELS,
    ),
    says(
        "5b-random-above-stream",
        "V-B",
        "a random access costs ten times a streamed byte; platforms with both",
        "on all 10",
        lambda _: _level_order("random", "memory", 10.0),
        inputs=_LEVELS,
    ),
    says(
        "6-phi-random",
        "VI",
        "least energy per random access elsewhere over that of the Xeon Phi",
        ">= 10",
        lambda _: _phi_advantage(),
        "the APU GPU needs 45.8 nJ and the Phi 5.11 nJ; the Arndale GPU's is lost from the text",
        inputs=_LEVELS,
    ),
)


def _stream_energy(model: EnergyRoofline) -> float:
    return float(model.energy_per_traffic(0.0)) * 1e12


def _bytes_per_energy(model: EnergyRoofline) -> float:
    return 1e3 / _stream_energy(model)


def _least_share_of_power() -> float:
    """Return the least power over most of a platform at the plotted intensities."""
    return float(min(np.min(m.power(PLOTTED) / m.peak_power) for m in TABLE.values()))


def _constant_energy(model: EnergyRoofline) -> float:
    return float(model.constant_power * model.time(0, 1)) * 1e12


_EFFICIENCY = (
    number(
        "5c-titan",
        "V-C, fig. 5",
        "peak efficiency of gtx_titan",
        "16",
        "Gflop/J",
        lambda: float(TITAN.peak_efficiency / 1e9),
    ),
    number(
        "5c-arndale",
        "V-C",
        "peak efficiency of arndale_gpu",
        "8.1",
        "Gflop/J",
        lambda: float(ARNDALE.peak_efficiency / 1e9),
    ),
    number(
        "5c-desktop",
        "V-C, fig. 5",
        "peak efficiency of desktop_cpu",
        "620",
        "Mflop/J",
        lambda: float(TABLE["desktop_cpu"].peak_efficiency / 1e6),
        "Table I gives 626: digits cut, not rounded, for to two digits it is 630",
    ),
    says(
        "5c-first",
        "V-C, fig. 5",
        "platform with the highest peak efficiency",
        "gtx_titan",
        always(most(lambda model: float(model.peak_efficiency))),
    ),
    says(
        "5c-last",
        "V-C, fig. 5",
        "platform with the least peak efficiency",
        "desktop_cpu",
        always(least(lambda model: float(model.peak_efficiency))),
    ),
    *(
        number(
            f"5c-memory-{name}".replace("_", "-"),
            "V-C",
            f"memory efficiency of {name}",
            printed,
            "GB/J",
            partial(_bytes_per_energy, _STREAMS[name]),
            inputs=("Table I: table", "GB/J, printed as Gflop/J: assumption"),
        )
        for name, printed in (("arndale_gpu", "1.5"), ("gtx_titan", "1.3"))
    ),
    says(
        "5c-titan-flops",
        "V-C",
        "operations of gtx_titan draw more than its memory at full rate",
        True,
        always(bool(TITAN.op_power > TITAN.memory_power)),
    ),
    says(
        "5c-arndale-memory",
        "V-C",
        "memory of arndale_gpu draws more than its operations at full rate",
        True,
        always(bool(ARNDALE.memory_power > ARNDALE.op_power)),
    ),
)

_CONSTANT = (
    number(
        "5c-range-low",
        "V-C, fig. 5",
        "least power over most of a platform, over all platforms",
        "0.65",
        "",
        _least_share_of_power,
        "0.0003 below what rounds to 0.65; measurements are printed, the model has gtx_680 at "
        "1/8 flop/B",
    ),
    says(
        "5c-range-high",
        "V-C, fig. 5",
        "most measured power over the model's, over all platforms",
        1.15,
        None,
        "a range of measurements, which are not printed",
        inputs=("none",),
    ),
    says(
        "5c-range",
        "V-C, fig. 5",
        "most over least power of a platform from 1/8 to 512 flop/B, where it is largest",
        "< 2",
        lambda _: 1 / _least_share_of_power(),
    ),
    says(
        "5c-constant-over-half",
        "V-C, VI",
        "platforms where constant power is more than half of most power",
        7.0,
        lambda _: float(sum(constant_share(model) > 0.5 for model in TABLE.values())),
    ),
    number(
        "5c-correlation",
        "V-C",
        "correlation of that share with peak efficiency",
        "-0.6",
        "",
        lambda: float(
            np.corrcoef(
                [constant_share(model) for model in TABLE.values()],
                [model.peak_efficiency for model in TABLE.values()],
            )[0, 1]
        ),
    ),
    says(
        "5c-least-memory-energy",
        "V-C",
        "platform with the least energy per byte, constant power apart",
        "xeon_phi",
        always(least(lambda model: float(model.energy_per_byte))),
    ),
    *(
        number(
            f"5c-stream-{name}".replace("_", "-"),
            "V-C",
            f"energy per streamed byte of {name}, constant power included",
            printed,
            "pJ/B",
            partial(_stream_energy, _STREAMS[name]),
        )
        for name, printed in (("arndale_gpu", "671"), ("gtx_titan", "782"))
    ),
    number(
        "5c-stream-xeon-phi",
        "V-C",
        "energy per streamed byte of xeon_phi, constant power included",
        "1.13",
        "nJ/B",
        lambda: _stream_energy(PHI) / 1e3,
    ),
    *(
        number(
            f"5c-constant-{name}".replace("_", "-"),
            "V-C",
            f"constant energy per streamed byte of {name}",
            printed,
            "pJ/B",
            partial(_constant_energy, _STREAMS[name]),
        )
        for name, printed in (("arndale_gpu", "153"), ("gtx_titan", "515"), ("xeon_phi", "994"))
    ),
    says(
        "5c-constant-inverts",
        "V-C",
        "constant power turns the order of the three around",
        "arndale_gpu, gtx_titan, xeon_phi",
        lambda _: ", ".join(
            sorted(_STREAMS, key=lambda name: float(_STREAMS[name].energy_per_traffic(0.0)))
        ),
    ),
    says(
        "5c-caps-wider",
        "V-C, fig. 5",
        "caps apply over more octaves of 1/8 to 512 flop/B on NUC and APU than on Titan and Phi",
        True,
        lambda _: _cap_widest(),
    ),
)

_MEASURED = tuple(
    says(
        name, where, statement, printed, None, "the measured runs are not printed", unit, ("none",)
    )
    for name, where, statement, printed, unit in (
        ("5a-ks", "V-A, fig. 4", "platforms where capped and uncapped errors differ", 7.0, ""),
        (
            "5a-ks-platforms",
            "V-A, fig. 4",
            "platforms where capped and uncapped errors differ, by name",
            "apu_gpu, arndale_cpu, arndale_gpu, gtx_680, nuc_gpu, pandaboard, xeon_phi",
            "",
        ),
        ("5a-bias", "V-A, fig. 4", "the models overpredict: most errors are positive", True, ""),
        ("5a-improves", "V-A, fig. 4", "the capped model's errors are lower or closer", True, ""),
        ("5c-mispredictions", "V-C", "largest error on the NUC and Arndale GPUs", "< 15", "%"),
    )
)

claims = (*_TABLE_I, *_EFFICIENCY, *_CONSTANT, *_MEASURED)
