"""What the claims about LogCA share: the devices of Table 5 and what is asked of them."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from dse.contract.papers import Claim, ClaimValue
from dse.objectives.catalogue.table5 import logca, rows
from dse.objectives.logca.model import LogCA
from dse.objectives.paper_claim import NONE, Ours

claim = partial(Claim, paper="logca", inputs=("Table 5: table", "exponents, Table 4: table"))
SAMPLES = 2.0 ** np.arange(4, 26)
"""16 B to 32 MB, the range in which the kernels were measured."""

ON_CHIP = (
    "ultrasparc_t2",
    "sparc_t3",
    "sparc_t4_engine",
    "sparc_t4_instruction",
    "sandy_bridge",
)
OFF_CHIP = ("discrete_gpu", "apu")


def root(model: LogCA, which: str) -> float | str:
    """Return a granularity in bytes, or that it does not exist."""
    found = float(getattr(model, which)())
    return NONE if math.isnan(found) else found


def most_speedup(device: str, benchmark: str) -> float:
    """Return the most speedup from 16 B to 32 MB."""
    return float(np.max(logca(device, benchmark).speedup(SAMPLES)))


def intensity(device: str, benchmark: str) -> float:
    """Return C / L of Table 5 as printed, both in cycles per byte."""
    row = rows[device, benchmark]
    return float(row["index_cycles_per_byte"]) / float(row["latency_cycles"])


def exists(device: str, benchmark: str, which: str, where: str, reason: str = "") -> Claim:
    """Return the claim that a granularity exists."""
    letter = {"break_even": "g_1", "half_acceleration": "g_A/2"}[which]
    return claim(
        name=f"logca-{where.split(',')[0]}-{device}-{benchmark}-{which}-exists".replace("_", "-"),
        where=where,
        statement=f"{letter} exists: {device}, {benchmark}",
        printed=True,
        ours=lambda _: root(logca(device, benchmark), which) != NONE,
        reason=reason,
    )


def absent(device: str, benchmark: str, which: str, where: str, reason: str = "") -> Claim:
    """Return the claim that a granularity does not exist."""
    letter = {"break_even": "g_1", "half_acceleration": "g_A/2"}[which]
    return claim(
        name=f"logca-{where.split(',')[0]}-{device}-{benchmark}-{which}".replace("_", "-"),
        where=where,
        statement=f"{letter}, in bytes: {device}, {benchmark}",
        printed=NONE,
        unit="B",
        ours=lambda _: root(logca(device, benchmark), which),
        reason=reason,
    )


def says(
    name: str,
    where: str,
    statement: str,
    printed: ClaimValue,
    ours: Ours,
    reason: str = "",
    unit: str = "",
) -> Claim:
    """Return a claim of one sentence."""
    return claim(
        name=f"logca-{name}".replace("_", "-"),
        where=where,
        statement=statement,
        printed=printed,
        unit=unit,
        ours=ours,
        reason=reason,
    )


def bound_of(device: str, benchmark: str) -> str:
    """Return what bounds large offloads."""
    return str(logca(device, benchmark).bound())
