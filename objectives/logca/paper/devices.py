"""AES and SHA on the devices of Table 5: sections 1, 5.1 and 5.4, figures 7 and 8."""

from __future__ import annotations

import math

from dse.objectives.catalogue.table5 import logca, rows
from dse.objectives.logca.paper.claim import (
    OFF_CHIP,
    ON_CHIP,
    absent,
    bound_of,
    exists,
    intensity,
    most_speedup,
    root,
    says,
)
from dse.objectives.paper_claim import asked

_HUGE_LATENCY = "as printed, the latency of 3000 cycles per byte outweighs 174 cycles of work"


def _even(device: str, benchmark: str = "aes") -> float:
    """Return g_1, infinity when it does not exist."""
    found = root(logca(device, benchmark), "break_even")
    return math.inf if isinstance(found, str) else found


def _only_large(device: str) -> bool:
    return 1e6 < _even(device) < math.inf


def _at_128(device: str) -> float:
    return float(logca(device, "aes").speedup(128.0))


_AES = (
    *(exists(device, "aes", "half_acceleration", "5.1, fig. 7") for device in ON_CHIP),
    absent("discrete_gpu", "aes", "half_acceleration", "5.1, fig. 7"),
    absent(
        "apu",
        "aes",
        "half_acceleration",
        "5.1, fig. 7",
        "C / L is 11.6 with Table 5 and above A = 7",
    ),
    exists("discrete_gpu", "aes", "break_even", "5.1, fig. 7", _HUGE_LATENCY),
    exists("apu", "aes", "break_even", "5.1, fig. 7"),
    *(
        says(
            f"5.1-{device}-intensity-below-a",
            "5.1",
            f"C / L is below A = {rows[device, 'aes']['acceleration']}: {device}, aes",
            f"< {rows[device, 'aes']['acceleration']}",
            asked(intensity, device, "aes"),
            reason,
        )
        for device, reason in (("discrete_gpu", ""), ("apu", "174 / 15 with Table 5"))
    ),
    says(
        "5.1-gpu-apu-comparable",
        "5.1, fig. 7",
        "g_1 of discrete GPU and APU are within a factor of ten",
        True,
        lambda _: _even("discrete_gpu") < math.inf and _even("apu") < 10 * _even("discrete_gpu"),
        "2.5 MB on the APU; none on the GPU, whose printed latency outweighs the work",
    ),
    *(
        says(
            f"5.1-{device}-only-large",
            "5.1, fig. 7",
            f"speedup above 1 only at very large granularities, 1 MB and more: {device}, aes",
            True,
            asked(_only_large, device),
            reason,
        )
        for device, reason in (("discrete_gpu", f"never: {_HUGE_LATENCY}"), ("apu", ""))
    ),
    *(
        says(
            f"5.1-{device}-bound",
            "5.1, 3.1, eqs 3 and 9",
            f"what limits speedup: {device}, aes",
            bound,
            asked(bound_of, device, "aes"),
            reason,
        )
        for device, bound, reason in (
            *((device, "compute-bound", "") for device in ON_CHIP),
            *(
                (
                    device,
                    "latency-bound",
                    "with the exponent 1.01 of Table 4 AES is super-linear, which section 3.1 "
                    "calls compute-bound",
                )
                for device in OFF_CHIP
            ),
        )
    ),
    says(
        "5.1-t2-above-sandy-bridge",
        "5.1, fig. 7",
        "the T2 reaches higher speedups than Sandy Bridge and breaks even later",
        True,
        lambda _: (
            most_speedup("ultrasparc_t2", "aes") > most_speedup("sandy_bridge", "aes")
            and _even("ultrasparc_t2") > _even("sandy_bridge")
        ),
    ),
    *(
        says(
            f"5.1-{device}-small",
            "5.1, fig. 7",
            f"g_1 lies at the left edge, below 16 B: {device}, aes",
            "< 16",
            asked(_even, device),
            unit="B",
        )
        for device in ("sparc_t4_instruction", "sandy_bridge")
    ),
    says(
        "5.1-gpu-highest-acceleration",
        "5.1, fig. 7",
        "device with the highest acceleration",
        "discrete_gpu",
        lambda _: max(rows, key=lambda key: float(rows[key]["acceleration"]))[0],
    ),
    says(
        "5.1-gpu-lowest-speedup",
        "5.1, fig. 7",
        "device with the least speedup up to 32 MB, aes",
        "discrete_gpu",
        lambda _: min((*ON_CHIP, *OFF_CHIP), key=lambda device: most_speedup(device, "aes")),
    ),
    says(
        "1-t4-before-t2",
        "1, fig. 1b",
        "SPARC T4 breaks even earlier than the T2, with instructions and with the engine",
        True,
        lambda _: (
            max(_even("sparc_t4_instruction"), _even("sparc_t4_engine")) < _even("ultrasparc_t2")
        ),
    ),
    *(
        says(
            f"5.4-{device}-no-gain-at-128",
            "5.4",
            f"speedup at 128 B is below 1: {device}, aes",
            "< 1",
            asked(_at_128, device),
        )
        for device in ("ultrasparc_t2", "sparc_t3")
    ),
    says(
        "5.4-t4-instruction-at-128",
        "5.4, fig. 10e",
        "at 128 B the T4 instruction has nine tenths of its acceleration: 'approaches the peak'",
        ">= 10.8",
        asked(_at_128, "sparc_t4_instruction"),
        "76 % of 12 there; nine tenths are reached at 366 B",
    ),
    says(
        "5.4-t4-engine-smaller-g1",
        "5.4, fig. 10d",
        "g_1 of the T4 engine is below that of the T3",
        True,
        lambda _: _even("sparc_t4_engine") < _even("sparc_t3"),
    ),
)

_SHA = tuple(
    exists(device, "sha", which, "5.1, fig. 8")
    for device in ON_CHIP[:4]
    for which in ("break_even", "half_acceleration")
)

claims = (*_AES, *_SHA)
