"""Equations 3 to 13 and the seven implications, by example and over the devices of Table 5."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dse.contract.claim_table import ClaimFunctions
from dse.contract.papers import on_all
from dse.objectives.catalogue.table5 import logca, rows
from dse.objectives.logca.implications import implications
from dse.objectives.logca.limits import limits
from dse.objectives.logca.model import LogCA
from dse.objectives.logca.paper.devices import SAMPLES

functions = ClaimFunctions()

_PER_BYTE = LogCA(latency=2, overhead=100, index=30, acceleration=10, latency_per_byte=True)
_EXAMPLES = {"per_byte": _PER_BYTE, "fixed": replace(_PER_BYTE, latency_per_byte=False)}
"""Examples of ours, with latency per byte or fixed; their exponent is 1."""

_EXACT = 1e-9


@functions
def example_limit(latency: str) -> float:
    """Return the speedup of huge offloads."""
    return float(limits(_EXAMPLES[latency]).infinity)


@functions
def example_speedup(latency: str, granularity: float) -> float:
    """Return the speedup of offloads of some bytes."""
    return float(_EXAMPLES[latency].speedup(granularity))


@functions
def example_break_even(latency: str) -> float:
    """Return g_1."""
    return float(_EXAMPLES[latency].break_even())


@functions
def example_half_acceleration(latency: str) -> float:
    """Return g_A/2."""
    return float(_EXAMPLES[latency].half_acceleration())


@functions
def example_ideal_granularity(latency: str, speedup: float) -> float:
    """Return the granularity for a speedup with an infinitely fast accelerator (13)."""
    return float(replace(_EXAMPLES[latency], acceleration=np.inf).granularities(speedup)[0])


@functions
def doubled(parameter: str, exponent: float) -> float:
    """Return the factor by which doubling a parameter moves a granularity (implications 2, 3).

    Doubled index divides g_1, doubled acceleration multiplies g_A/2; latency is fixed.
    """
    before = replace(_EXAMPLES["fixed"], exponent=exponent)
    after = replace(before, **{parameter: 2 * getattr(before, parameter)})
    if parameter == "index":
        return float(after.break_even() / before.break_even()) ** -1
    return float(after.half_acceleration() / before.half_acceleration())


@functions
def half_over_even_by_equation_7(device: str, benchmark: str) -> float:
    """Return g_A/2 over g_1 as equation 7 has it: A - 1, to the 1 / exponent."""
    row = rows[device, benchmark]
    return float((float(row["acceleration"]) - 1) ** (1 / float(row["beta"])))


@functions
def half_over_even(device: str, benchmark: str) -> float:
    """Return g_A/2 over g_1."""
    model = logca(device, benchmark)
    return float(model.half_acceleration() / model.break_even())


@functions
def break_even_by_equation_11(device: str, benchmark: str) -> float:
    """Return g_1 as equation 11 has it: one Newton step from g = 1."""
    return float(logca(device, benchmark).break_even_one_newton_step())


@functions
def half_acceleration_by_equation_12(device: str, benchmark: str) -> float:
    """Return g_A/2 as equation 12 has it: one Newton step from g = 1."""
    return float(logca(device, benchmark).half_acceleration_one_newton_step())


@functions
def ideal_reaches_acceleration_at_half() -> str:
    """Compare g_A/2 with g for speedup A and infinite acceleration, where the former exists."""
    found = {}
    for device, benchmark in rows:
        model = logca(device, benchmark)
        half = float(model.half_acceleration())
        ideal = replace(model, acceleration=np.inf)
        if not np.isnan(half):
            roots = ideal.granularities(float(rows[device, benchmark]["acceleration"]))
            found[f"{device} {benchmark}"] = bool(np.isclose(roots[0], half, rtol=_EXACT))
    return on_all(found)


@functions
def implication(number: float, latency: str) -> str:
    """Return on how many devices of Table 5 with such a latency an implication holds."""
    found = {
        f"{device} {benchmark}": implications(logca(device, benchmark))[int(number) - 1].holds
        for device, benchmark in rows
        if rows[device, benchmark]["latency_kind"] == latency
    }
    return on_all({name: holds for name, holds in found.items() if holds is not None})


@functions
def log_exponent() -> float:
    """Return the exponent nearest to a logarithm, by least squares over 16 B to 32 MB."""
    slope, _ = np.polyfit(np.log(SAMPLES), np.log(np.log2(SAMPLES)), 1)
    return float(slope)


@functions
def quotient(numerator: float, denominator: float) -> float:
    """Return a quotient."""
    return numerator / denominator
