"""Section III: equations 5 to 7 and the costs they take."""

from __future__ import annotations

import numpy as np

from dse.contract.papers import Claim
from dse.objectives.catalogue import vendor_peak
from dse.objectives.paper_claim import NONE, always, on_all
from dse.objectives.roofline.model import EnergyRoofline
from dse.objectives.roofline.paper.claim import PLOTTED, TABLE, says


def _law_of_power(model: EnergyRoofline) -> bool:
    """Whether (7) with its printed balances is energy over time at all plotted intensities."""
    low, high = (_printed_balance(model, sign) for sign in (-1, 1))
    balance = float(model.time_balance)
    for intensity in PLOTTED:
        if intensity >= high:
            active = model.op_power + model.memory_power * balance / intensity
        elif intensity <= low:
            active = model.op_power * intensity / balance + model.memory_power
        else:
            active = model.power_cap
        true = model.energy(intensity, 1.0) / model.time(intensity, 1.0)
        if not np.isclose(model.constant_power + active, true, rtol=1e-9):
            return False
    return True


def _printed_balance(model: EnergyRoofline, sign: int) -> float:
    """Return B+ (5) or B- (6) as printed."""
    if sign > 0:
        ratio = model.memory_power / (model.power_cap - model.op_power)
        return float(model.time_balance * np.maximum(1.0, ratio))
    ratio = (model.power_cap - model.memory_power) / model.op_power
    return float(model.time_balance * np.minimum(1.0, ratio))


def _balance(name: str, sign: int, equation: str, reason: str) -> Claim:
    model = TABLE[name]
    ours = float(model.upper_balance if sign > 0 else model.lower_balance)
    letter = "B+" if sign > 0 else "B-"
    return says(
        f"3-{letter[1].replace('+', 'upper').replace('-', 'lower')}-{name}".replace("_", "-"),
        f"III, {equation}",
        f"{letter} of {name} by {equation}",
        _printed_balance(model, sign),
        always(NONE if np.isinf(ours) else ours),
        reason,
        unit="flop/B",
        inputs=(f"{equation}: text", "Table I: table"),
    )


claims = (
    _balance(
        "nuc_gpu",
        1,
        "eq. 5",
        "the cap is below the power of operations alone: never "
        "compute-bound, and the printed maximum falls back to the time balance",
    ),
    _balance(
        "nuc_cpu",
        -1,
        "eq. 6",
        "the cap is below the power of memory alone: never "
        "memory-bound, so 0; an intensity is not negative",
    ),
    _balance(
        "apu_cpu",
        -1,
        "eq. 6",
        "the cap is below the power of memory alone: never "
        "memory-bound, so 0; an intensity is not negative",
    ),
    says(
        "3-balances-ordered",
        "III",
        "B- <= B <= B+; platforms",
        "on all 12",
        lambda _: on_all(
            {
                name: bool(m.lower_balance <= m.time_balance <= m.upper_balance)
                for name, m in TABLE.items()
            }
        ),
    ),
    says(
        "3-eq-7",
        "III, eq. 7",
        "power by eqs 5 to 7 as printed is energy over time by eqs 1 and 3; platforms",
        "on all 12",
        lambda _: on_all({name: _law_of_power(model) for name, model in TABLE.items()}),
        "eq. 5 puts the NUC GPU into the compute-bound regime, which its cap never allows",
    ),
    says(
        "3-peak-rates",
        "III",
        "costs follow from peak throughput: energy per streamed byte of the Titan by vendor's peak",
        782.0,
        lambda _: float(EnergyRoofline.of(vendor_peak("gtx_titan")).energy_per_traffic(0.0) * 1e12),
        "the numbers of section V follow from the sustained rates only",
        unit="pJ/B",
        inputs=("Table I, vendor's peak rates: table",),
    ),
)
