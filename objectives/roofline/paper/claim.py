"""What the claims about the energy roofline share: the twelve platforms and how to rank them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from dse.contract import Column
from dse.contract.papers import Claim, ClaimValue
from dse.objectives.catalogue import platforms
from dse.objectives.paper_claim import Ours, Rounded, rounded
from dse.objectives.roofline.model import EnergyRoofline

TABLE = {platform.name: EnergyRoofline.of(platform) for platform in platforms}
TITAN, ARNDALE, PHI = TABLE["gtx_titan"], TABLE["arndale_gpu"], TABLE["xeon_phi"]
PLOTTED: Column = 2.0 ** np.arange(-3.0, 10.0)
"""Intensities of the figures, in flop/B."""
TABLE_I = ("Table I, sustained rates, single precision: table",)

claim = partial(Claim, paper="roofline", inputs=TABLE_I)


def number(
    name: str,
    where: str,
    statement: str,
    printed: Rounded | str,
    unit: str,
    ours: Callable[[], float],
    reason: str = "",
    inputs: tuple[str, ...] = TABLE_I,
) -> Claim:
    """Return a claim of a number; `printed` as text is rounded to its last place."""
    return claim(
        name=f"roofline-{name}",
        where=where,
        statement=statement,
        **(rounded(printed) if isinstance(printed, str) else printed),
        unit=unit,
        ours=lambda _: float(ours()),
        reason=reason,
        inputs=inputs,
    )


def says(
    name: str,
    where: str,
    statement: str,
    printed: ClaimValue,
    ours: Ours | None,
    reason: str = "",
    unit: str = "",
    inputs: tuple[str, ...] = TABLE_I,
) -> Claim:
    """Return a claim of a statement, a name or a bound."""
    return claim(
        name=f"roofline-{name}",
        where=where,
        statement=statement,
        printed=printed,
        unit=unit,
        ours=ours,
        reason=reason,
        inputs=inputs,
    )


def most(score: Callable[[EnergyRoofline], float]) -> str:
    """Return the platform with the largest score."""
    return max(TABLE, key=lambda name: float(score(TABLE[name])))


def least(score: Callable[[EnergyRoofline], float]) -> str:
    """Return the platform with the least score."""
    return min(TABLE, key=lambda name: float(score(TABLE[name])))


def constant_share(model: EnergyRoofline) -> float:
    """Return constant power over most power."""
    return float(model.constant_power / (model.constant_power + model.power_cap))


def kept(model: EnergyRoofline, intensity: float) -> float:
    """Return the share of performance that an eighth of the cap leaves."""
    return float(model.capped(8).performance(intensity) / model.performance(intensity))
