"""Implications, equation 13 and Table 4's exponents over the devices of Table 5."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dse.contract.claim_table import ClaimFunctions
from dse.contract.papers import on_all
from dse.objectives.catalogue.table5 import logca, rows
from dse.objectives.logca.implications import implications
from dse.objectives.logca.paper.devices import SAMPLES

functions = ClaimFunctions()

_EXACT = 1e-9


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
        f"{device} {benchmark}": implications(logca(device, benchmark))[int(number) - 1]
        for device, benchmark in rows
        if rows[device, benchmark]["latency_kind"] == latency
    }
    return on_all({name: holds for name, holds in found.items() if holds is not None})


@functions
def break_even_is_independent(least_acceleration: float, share: float) -> bool:
    """Return whether acceleration moves g_1 by a share at most, where it is no less than some.

    Against an infinite acceleration, on the devices of Table 5 with a fixed latency.
    """
    return all(
        bool(implications(logca(device, benchmark), tolerance=share)[0])
        for (device, benchmark), row in rows.items()
        if row["latency_kind"] == "fixed" and float(row["acceleration"]) >= least_acceleration
    )


@functions
def log_exponent() -> float:
    """Return the exponent nearest to a logarithm, by least squares over 16 B to 32 MB."""
    slope, _ = np.polyfit(np.log(SAMPLES), np.log(np.log2(SAMPLES)), 1)
    return float(slope)


@functions
def quotient(numerator: float, denominator: float) -> float:
    """Return a quotient."""
    return numerator / denominator
