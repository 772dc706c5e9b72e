"""What unrolling does to a core: straight lines over its rounds, and what they leave."""

from __future__ import annotations

import numpy as np

from dse.contract.claim_table import ClaimFunctions
from dse.contract.papers import PrintedNumbers
from dse.cores.battle_hempstead.single_cores import PaperCore, values_of

functions = ClaimFunctions()


@functions
def line_over(
    printed: PrintedNumbers, core: PaperCore, quantity: str, power: float, text: str
) -> float:
    """Return what a straight line over unrolled designs tells, over n to a power.

    ``step``: its slope over its start; ``fit``: the share of the variance that it explains;
    ``off``: its largest relative error, where the sum of their squares is least.
    """
    plain = _unrolled(printed, core, quantity)
    over = np.array([*plain]) ** power
    ours = np.array([*plain.values()])
    columns = np.column_stack([over, np.ones_like(over)])
    if text == "off":
        columns /= ours[:, np.newaxis]
        found, *_ = np.linalg.lstsq(columns, np.ones_like(ours), rcond=None)
        return float(np.abs(columns @ found - 1).max())
    (slope, start), *_ = np.linalg.lstsq(columns, ours, rcond=None)
    if text == "step":
        return float(slope / start)
    left = ours - slope * over - start
    return float(1 - (left**2).sum() / ((ours - ours.mean()) ** 2).sum())


@functions
def most_rounds_take_least(printed: PrintedNumbers, core: PaperCore, quantity: str) -> bool:
    """Return whether the unrolled design with most rounds has the least of a quantity."""
    plain = _unrolled(printed, core, quantity)
    return plain[max(plain)] == min(plain.values())


def _unrolled(printed: PrintedNumbers, core: PaperCore, quantity: str) -> dict[float, float]:
    """Return a quantity of designs that differ in nothing but their rounds, by these."""
    values = values_of(printed, core, quantity).items()
    return {float(name[1:]): value for name, value in values if name[1:].isdigit()}
