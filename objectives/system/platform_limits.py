"""Performance, power and energy of a platform, and the limits of a workload on it."""

from __future__ import annotations

import numpy as np

from dse.contract import PRECISIONS, Column, Falling, Limit, Rising, objective
from dse.objectives.roofline.model import REGIMES, EnergyRoofline, Values
from dse.objectives.system.sources import PLATFORMS


def where(
    values: Values, *, above: float = -np.inf, least: float = -np.inf, finite: bool = False
) -> Column:
    """Return the values, NaN for values out of range."""
    values = np.asarray(values, dtype=np.float64)
    kept = (values > above) & (values >= least)
    return np.where(kept & np.isfinite(values) if finite else kept, values, np.nan)


@objective(source=f"{PLATFORMS}, Table I", partial=True)
def platform_peak_op_per_s(
    *,
    budget_single_op_per_s: Rising[Values],
    budget_double_op_per_s: Rising[Values] = np.nan,
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


@objective(source=f"{PLATFORMS}, Table I", partial=True)
def platform_j_per_op(
    *,
    budget_single_j_per_op: Rising[Values],
    budget_double_j_per_op: Rising[Values] = np.nan,
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


@objective(source=f"{PLATFORMS}, section III and figures 6 and 7", partial=True)
def platform_usable_power_w(
    *,
    budget_constant_power_w: Falling[Values],
    budget_power_cap_w: Rising[Values] = np.inf,
    budget_cap_divisor: Falling[Values] = 1.0,
) -> Column:
    """Power cap of one platform above its constant power, infinite without any cap.

    ``(cap - P_const) / divisor``, in W.  The study's cap includes constant power, the paper's
    does not.  It does not exist if constant power exceeds the cap.

    Parameters
    ----------
    budget_constant_power_w
        Drawn by any workload.
    budget_power_cap_w
        Cap, constant power included.
    budget_cap_divisor
        Divisor of the usable power.

    References
    ----------
    Choi, Dukhan, Liu, Vuduc, IPDPS 2014, section III and figures 6 and 7.
    """
    above = np.subtract(budget_power_cap_w, budget_constant_power_w)
    return where(above, above=0.0) / where(budget_cap_divisor, above=0.0, finite=True)


def _chosen(precision: Values, single: Values, double: Values) -> Column:
    codes = [np.equal(precision, code) for code in range(len(PRECISIONS))]
    return np.asarray(np.select(codes, [single, double], np.nan))[()]


@objective(source=f"{PLATFORMS}, eq. 3", partial=True)
def platform_memory_byte_per_s(
    *,
    workload_intensity_op_per_byte: Values,
    platform_peak_op_per_s: Rising[Values],
    platform_j_per_op: Falling[Values],
    budget_memory_byte_per_s: Rising[Values],
    budget_memory_j_per_byte: Falling[Values],
    platform_usable_power_w: Rising[Values],
    budget_copies: Rising[Values] = 1.0,
) -> Column:
    """Memory traffic per second that the workload reaches on all copies together.

    ``N / t`` with ``t = max(1 / B, (I e_op + e_mem) / usable, I / F)``, in B/s.

    References
    ----------
    Choi, Dukhan, Liu, Vuduc, IPDPS 2014, eq. 3.
    """
    model = _roofline(
        ops=(platform_peak_op_per_s, platform_j_per_op),
        memory=(budget_memory_byte_per_s, budget_memory_j_per_byte),
        cap=platform_usable_power_w,
        copies=budget_copies,
    )
    return model.bandwidth(where(workload_intensity_op_per_byte, least=0.0))


@objective(source=f"{PLATFORMS}, eqs. 1 and 3 (eq. 7)", partial=True, report=True)
def platform_power_w(
    *,
    workload_intensity_op_per_byte: Values,
    platform_peak_op_per_s: Rising[Values],
    platform_j_per_op: Values,
    budget_memory_byte_per_s: Rising[Values],
    budget_memory_j_per_byte: Values,
    platform_usable_power_w: Rising[Values],
    budget_constant_power_w: Rising[Values],
    budget_copies: Rising[Values] = 1.0,
) -> Column:
    """Average power while the workload runs on all copies, constant power included.

    ``N (P_const + (I e_op + e_mem) / t)``, in W.

    References
    ----------
    Choi, Dukhan, Liu, Vuduc, IPDPS 2014, eqs 1, 3 and 7.
    """
    model = _roofline(
        ops=(platform_peak_op_per_s, platform_j_per_op),
        memory=(budget_memory_byte_per_s, budget_memory_j_per_byte),
        cap=platform_usable_power_w,
        copies=budget_copies,
        constant=budget_constant_power_w,
    )
    return model.power(where(workload_intensity_op_per_byte, least=0.0))


@objective(source=f"{PLATFORMS}, section III", partial=True)
def platform_peak_power_w(
    *,
    platform_peak_op_per_s: Rising[Values],
    platform_j_per_op: Rising[Values],
    budget_memory_byte_per_s: Rising[Values],
    budget_memory_j_per_byte: Rising[Values],
    platform_usable_power_w: Rising[Values],
    budget_constant_power_w: Rising[Values],
    budget_copies: Rising[Values] = 1.0,
) -> Column:
    """Most power that any workload draws on all copies together.

    ``N (P_const + min(usable, F e_op + B e_mem))``, in W.

    References
    ----------
    Choi, Dukhan, Liu, Vuduc, IPDPS 2014, section III.
    """
    return _roofline(
        ops=(platform_peak_op_per_s, platform_j_per_op),
        memory=(budget_memory_byte_per_s, budget_memory_j_per_byte),
        cap=platform_usable_power_w,
        copies=budget_copies,
        constant=budget_constant_power_w,
    ).peak_power


@objective(
    source=f"{PLATFORMS}, eqs. 5 to 7",
    labels=REGIMES,
    partial=True,
    limits=(
        Limit(words="memory bandwidth", quantities=("platform_memory_limit_op_per_s",)),
        Limit(words="the power cap", quantities=("platform_power_limit_op_per_s",)),
        Limit(words="compute", quantities=("platform_compute_limit_op_per_s",)),
    ),
    limited="platform_performance_op_per_s",
)
def platform_regime(
    *,
    workload_intensity_op_per_byte: Values,
    platform_peak_op_per_s: Values,
    platform_j_per_op: Values,
    budget_memory_byte_per_s: Values,
    budget_memory_j_per_byte: Values,
    platform_usable_power_w: Values,
) -> Column:
    """Limit of the workload: memory, the power cap or compute.

    The term of t that is the largest, the cap only if strictly so.

    References
    ----------
    Choi, Dukhan, Liu, Vuduc, IPDPS 2014, eqs 5 to 7.
    """
    model = _roofline(
        ops=(platform_peak_op_per_s, platform_j_per_op),
        memory=(budget_memory_byte_per_s, budget_memory_j_per_byte),
        cap=platform_usable_power_w,
    )
    return model.regime(where(workload_intensity_op_per_byte, least=0.0))


@objective(source=f"{PLATFORMS}, eq. 4", partial=True, report=True)
def platform_performance_op_per_s(
    *, workload_intensity_op_per_byte: Rising[Values], platform_memory_byte_per_s: Rising[Values]
) -> Column:
    """Operations per second that the workload reaches on all copies together.

    ``I N / t``, in op/s.

    References
    ----------
    Choi, Dukhan, Liu, Vuduc, IPDPS 2014, eq. 4.
    """
    return np.multiply(workload_intensity_op_per_byte, platform_memory_byte_per_s)


@objective(source=f"{PLATFORMS}, eq. 2", partial=True, report=True)
def platform_efficiency_op_per_j(
    *, platform_performance_op_per_s: Rising[Values], platform_power_w: Falling[Values]
) -> Column:
    """Operations per joule, constant power included.

    ``performance / power``, in op/J.

    References
    ----------
    Choi, Dukhan, Liu, Vuduc, IPDPS 2014, eq. 2.
    """
    return _ratio(platform_performance_op_per_s, platform_power_w)


@objective(source=f"{PLATFORMS}, section V-C", partial=True)
def platform_energy_j_per_byte(
    *, platform_power_w: Rising[Values], platform_memory_byte_per_s: Falling[Values]
) -> Column:
    """Energy per byte of memory traffic, operations and constant power included.

    ``power / memory rate``, in J/B.

    References
    ----------
    Choi, Dukhan, Liu, Vuduc, IPDPS 2014, section V-C.
    """
    return _ratio(platform_power_w, platform_memory_byte_per_s)


def _ratio(above: Values, below: Values) -> Column:
    return np.divide(above, where(below, above=0.0))


def _roofline(
    *,
    ops: tuple[Values, Values],
    memory: tuple[Values, Values],
    cap: Values,
    copies: Values = 1.0,
    constant: Values = 0.0,
) -> EnergyRoofline:
    return EnergyRoofline(
        time_per_op=1.0 / where(ops[0], above=0.0, finite=True),
        time_per_byte=1.0 / where(memory[0], above=0.0, finite=True),
        energy_per_op=where(ops[1], least=0.0, finite=True),
        energy_per_byte=where(memory[1], least=0.0, finite=True),
        constant_power=where(constant, least=0.0, finite=True),
        power_cap=where(cap, above=0.0),
    ).times(where(copies, above=0.0, finite=True))


@objective(source=f"{PLATFORMS}, eq. 3", partial=True)
def platform_memory_limit_op_per_s(
    *,
    workload_intensity_op_per_byte: Rising[Values],
    budget_memory_byte_per_s: Rising[Values],
    budget_copies: Rising[Values] = 1.0,
) -> Column:
    """Operations per second that memory bandwidth allows on all copies together.

    ``N I B``, in op/s.

    References
    ----------
    Choi, Dukhan, Liu, Vuduc, IPDPS 2014, eq. 3: the first term of the maximum.
    """
    intensity = where(workload_intensity_op_per_byte, least=0.0)
    one = intensity * where(budget_memory_byte_per_s, above=0.0, finite=True)
    return one * where(budget_copies, above=0.0, finite=True)


@objective(source=f"{PLATFORMS}, eq. 3", partial=True)
def platform_power_limit_op_per_s(
    *,
    workload_intensity_op_per_byte: Rising[Values],
    platform_j_per_op: Falling[Values],
    budget_memory_j_per_byte: Falling[Values],
    platform_usable_power_w: Rising[Values],
    budget_copies: Rising[Values] = 1.0,
) -> Column:
    """Operations per second that the power cap allows on all copies together.

    ``N usable / (e_op + e_mem / I)``, in op/s, infinite without any cap.

    References
    ----------
    Choi, Dukhan, Liu, Vuduc, IPDPS 2014, eq. 3: the second term of the maximum.
    """
    intensity = where(workload_intensity_op_per_byte, least=0.0)
    memory = where(budget_memory_j_per_byte, least=0.0, finite=True)
    # nothing is computed in a stream
    energy = where(platform_j_per_op, least=0.0, finite=True) + memory / intensity
    one = where(platform_usable_power_w, above=0.0) / energy
    return one * where(budget_copies, above=0.0, finite=True)


@objective(source=f"{PLATFORMS}, eq. 3", partial=True)
def platform_compute_limit_op_per_s(
    *, platform_peak_op_per_s: Rising[Values], budget_copies: Rising[Values] = 1.0
) -> Column:
    """Operations per second that all copies together compute at full rate.

    ``N F``, in op/s.

    References
    ----------
    Choi, Dukhan, Liu, Vuduc, IPDPS 2014, eq. 3: the third term of the maximum.
    """
    one = where(platform_peak_op_per_s, above=0.0, finite=True)
    return one * where(budget_copies, above=0.0, finite=True)
