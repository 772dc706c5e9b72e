"""Figures of one platform as the roofline takes them: of the precision chosen, under its cap.

Where a platform lacks a figure (double precision, say) the input is NaN, and so is every quantity
that needs it; a figure without sense (a rate of zero, a negative energy) counts as lacking.
"""

from __future__ import annotations

import numpy as np

from dse.contract import PRECISIONS, Column, objective
from dse.objectives.roofline.model import Values
from dse.objectives.system.sources import PLATFORMS


def where(
    values: Values, *, above: float = -np.inf, least: float = -np.inf, finite: bool = False
) -> Column:
    """Return the values, NaN where one is out of range and so no figure."""
    values = np.asarray(values, dtype=np.float64)
    kept = (values > above) & (values >= least)
    return np.where(kept & np.isfinite(values) if finite else kept, values, np.nan)


@objective(
    source=f"{PLATFORMS}, Table I",
    partial=True,
    rises_with=("budget_single_op_per_s", "budget_double_op_per_s"),
)
def platform_peak_op_per_s(
    *,
    budget_single_op_per_s: Values,
    budget_double_op_per_s: Values = np.nan,
    budget_precision: Values = 0.0,
) -> Column:
    """Operations per second of one platform at full rate, in the precision chosen.

    ``F``, in op/s.

    Parameters
    ----------
    budget_single_op_per_s, budget_double_op_per_s
        Sustained rates.
    budget_precision
        Code into ``dse.contract.PRECISIONS``.

    References
    ----------
    Choi, Dukhan, Liu, Vuduc, IPDPS 2014, Table I.
    """
    return _chosen(budget_precision, budget_single_op_per_s, budget_double_op_per_s)


@objective(
    source=f"{PLATFORMS}, Table I",
    partial=True,
    rises_with=("budget_single_j_per_op", "budget_double_j_per_op"),
)
def platform_j_per_op(
    *,
    budget_single_j_per_op: Values,
    budget_double_j_per_op: Values = np.nan,
    budget_precision: Values = 0.0,
) -> Column:
    """Energy of one operation above constant power, in the precision chosen.

    ``e_op``, in J/op.

    Parameters
    ----------
    budget_single_j_per_op, budget_double_j_per_op
        Energies above constant power.
    budget_precision
        Code into ``dse.contract.PRECISIONS``.

    References
    ----------
    Choi, Dukhan, Liu, Vuduc, IPDPS 2014, Table I.
    """
    return _chosen(budget_precision, budget_single_j_per_op, budget_double_j_per_op)


@objective(
    source=f"{PLATFORMS}, section III and figures 6 and 7",
    partial=True,
    rises_with=("budget_power_cap_w",),
    falls_with=("budget_constant_power_w", "budget_cap_divisor"),
)
def platform_usable_power_w(
    *,
    budget_constant_power_w: Values,
    budget_power_cap_w: Values = np.inf,
    budget_cap_divisor: Values = 1.0,
) -> Column:
    """Power cap of one platform above its constant power; infinite without any cap.

    ``(cap - P_const) / divisor``, in W.  The study's cap includes constant power, the paper's
    does not.  It does not exist where constant power alone exceeds the cap.

    Parameters
    ----------
    budget_constant_power_w
        Drawn whatever is executed.
    budget_power_cap_w
        Cap, constant power included.
    budget_cap_divisor
        Divides what is usable.

    References
    ----------
    Choi, Dukhan, Liu, Vuduc, IPDPS 2014, section III and figures 6 and 7.
    """
    above = np.subtract(budget_power_cap_w, budget_constant_power_w)
    return where(above, above=0.0) / where(budget_cap_divisor, above=0.0, finite=True)


def _chosen(precision: Values, single: Values, double: Values) -> Column:
    codes = [np.equal(precision, code) for code in range(len(PRECISIONS))]
    return np.asarray(np.select(codes, [single, double], np.nan))[()]
