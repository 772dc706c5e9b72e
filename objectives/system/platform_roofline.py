"""What a workload gets from a platform, or from several side by side, under a power cap.

Quantities for studies that compare platforms.  The equations stand in `EnergyRoofline`; here are
the columns it is built from, and definitions such as performance = intensity * traffic.  Where a
platform lacks a figure (double precision, say) the input is NaN, and so is every quantity that
needs it; a figure without sense (a rate of zero, a negative energy) counts as lacking.

Monotone declarations hold exactly, because each step is a correctly rounded monotone operation;
what only cancels out in exact arithmetic is not declared.

The columns:

workload_intensity_op_per_byte
    Operations per byte of memory traffic; 0 is a stream.
platform_peak_op_per_s, platform_j_per_op
    Operations of one copy of the platform, in the precision chosen (`platform_figures`).
budget_memory_byte_per_s, budget_memory_j_per_byte
    Memory of one copy.
platform_usable_power_w, budget_constant_power_w
    Power cap of one copy above its constant power, and that constant power.
budget_copies
    Copies side by side; what they reach and draw is of all of them together.
"""

from __future__ import annotations

import numpy as np

from dse.contract import Column, Limit, Objective
from dse.objectives.roofline.model import REGIMES, EnergyRoofline, Values
from dse.objectives.system import platform_terms
from dse.objectives.system.platform_terms import SOURCE, where


def platform_memory_byte_per_s(
    *,
    workload_intensity_op_per_byte: Values,
    platform_peak_op_per_s: Values,
    platform_j_per_op: Values,
    budget_memory_byte_per_s: Values,
    budget_memory_j_per_byte: Values,
    platform_usable_power_w: Values,
    budget_copies: Values = 1.0,
) -> Column:
    """Memory traffic per second that the workload reaches on all copies together."""
    model = _roofline(
        ops=(platform_peak_op_per_s, platform_j_per_op),
        memory=(budget_memory_byte_per_s, budget_memory_j_per_byte),
        cap=platform_usable_power_w,
        copies=budget_copies,
    )
    return model.bandwidth(where(workload_intensity_op_per_byte, least=0.0))


def platform_power_w(
    *,
    workload_intensity_op_per_byte: Values,
    platform_peak_op_per_s: Values,
    platform_j_per_op: Values,
    budget_memory_byte_per_s: Values,
    budget_memory_j_per_byte: Values,
    platform_usable_power_w: Values,
    budget_constant_power_w: Values,
    budget_copies: Values = 1.0,
) -> Column:
    """Average power while the workload runs on all copies, constant power included."""
    model = _roofline(
        ops=(platform_peak_op_per_s, platform_j_per_op),
        memory=(budget_memory_byte_per_s, budget_memory_j_per_byte),
        cap=platform_usable_power_w,
        copies=budget_copies,
        constant=budget_constant_power_w,
    )
    return model.power(where(workload_intensity_op_per_byte, least=0.0))


def platform_peak_power_w(
    *,
    platform_peak_op_per_s: Values,
    platform_j_per_op: Values,
    budget_memory_byte_per_s: Values,
    budget_memory_j_per_byte: Values,
    platform_usable_power_w: Values,
    budget_constant_power_w: Values,
    budget_copies: Values = 1.0,
) -> Column:
    """Most power that any workload draws on all copies together."""
    return _roofline(
        ops=(platform_peak_op_per_s, platform_j_per_op),
        memory=(budget_memory_byte_per_s, budget_memory_j_per_byte),
        cap=platform_usable_power_w,
        copies=budget_copies,
        constant=budget_constant_power_w,
    ).peak_power


def platform_regime(
    *,
    workload_intensity_op_per_byte: Values,
    platform_peak_op_per_s: Values,
    platform_j_per_op: Values,
    budget_memory_byte_per_s: Values,
    budget_memory_j_per_byte: Values,
    platform_usable_power_w: Values,
) -> Column:
    """What limits the workload: memory, the power cap or compute."""
    model = _roofline(
        ops=(platform_peak_op_per_s, platform_j_per_op),
        memory=(budget_memory_byte_per_s, budget_memory_j_per_byte),
        cap=platform_usable_power_w,
    )
    return model.regime(where(workload_intensity_op_per_byte, least=0.0))


def platform_performance_op_per_s(
    *, workload_intensity_op_per_byte: Values, platform_memory_byte_per_s: Values
) -> Column:
    """Operations per second that the workload reaches on all copies together."""
    return np.multiply(workload_intensity_op_per_byte, platform_memory_byte_per_s)


def platform_efficiency_op_per_j(
    *, platform_performance_op_per_s: Values, platform_power_w: Values
) -> Column:
    """Operations per joule, constant power included."""
    return _ratio(platform_performance_op_per_s, platform_power_w)


def platform_energy_j_per_byte(
    *, platform_power_w: Values, platform_memory_byte_per_s: Values
) -> Column:
    """Energy per byte of memory traffic, operations and constant power included."""
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


_RATES = ("platform_peak_op_per_s", "budget_memory_byte_per_s", "platform_usable_power_w")
_ENERGIES = ("platform_j_per_op", "budget_memory_j_per_byte")

objectives: tuple[Objective, ...] = (
    *platform_terms.objectives,
    Objective(
        function=platform_memory_byte_per_s,
        source=f"{SOURCE}, eq. 3",
        partial=True,
        rises_with=(*_RATES, "budget_copies"),
        falls_with=_ENERGIES,
    ),
    Objective(
        function=platform_power_w,
        source=f"{SOURCE}, eqs. 1 and 3 (eq. 7)",
        partial=True,
        rises_with=(*_RATES, "budget_constant_power_w", "budget_copies"),
        told=True,
    ),
    Objective(
        function=platform_peak_power_w,
        source=f"{SOURCE}, section III",
        partial=True,
        rises_with=(*_RATES, *_ENERGIES, "budget_constant_power_w", "budget_copies"),
    ),
    Objective(
        function=platform_regime,
        source=f"{SOURCE}, eqs. 5 to 7",
        labels=REGIMES,
        partial=True,
        limits=(
            Limit(words="memory bandwidth"),
            Limit(words="the power cap"),
            Limit(words="compute"),
        ),
        limited="platform_performance_op_per_s",
    ),
    Objective(
        function=platform_performance_op_per_s,
        source=f"{SOURCE}, eq. 4",
        partial=True,
        rises_with=("workload_intensity_op_per_byte", "platform_memory_byte_per_s"),
        told=True,
    ),
    Objective(
        function=platform_efficiency_op_per_j,
        source=f"{SOURCE}, eq. 2",
        partial=True,
        rises_with=("platform_performance_op_per_s",),
        falls_with=("platform_power_w",),
        told=True,
    ),
    Objective(
        function=platform_energy_j_per_byte,
        source=f"{SOURCE}, section V-C",
        partial=True,
        rises_with=("platform_power_w",),
        falls_with=("platform_memory_byte_per_s",),
    ),
)
