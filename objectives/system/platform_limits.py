"""What each limit of a platform allows of a workload: memory, the power cap, compute.

The columns are those of `platform_roofline`.
"""

from __future__ import annotations

from dse.contract import Column, objective
from dse.objectives.roofline.model import Values
from dse.objectives.system.platform_roofline import where
from dse.objectives.system.sources import PLATFORMS


@objective(
    source=f"{PLATFORMS}, eq. 3",
    partial=True,
    rises_with=("workload_intensity_op_per_byte", "budget_memory_byte_per_s", "budget_copies"),
)
def platform_memory_limit_op_per_s(
    *,
    workload_intensity_op_per_byte: Values,
    budget_memory_byte_per_s: Values,
    budget_copies: Values = 1.0,
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


@objective(
    source=f"{PLATFORMS}, eq. 3",
    partial=True,
    rises_with=("workload_intensity_op_per_byte", "platform_usable_power_w", "budget_copies"),
    falls_with=("platform_j_per_op", "budget_memory_j_per_byte"),
)
def platform_power_limit_op_per_s(
    *,
    workload_intensity_op_per_byte: Values,
    platform_j_per_op: Values,
    budget_memory_j_per_byte: Values,
    platform_usable_power_w: Values,
    budget_copies: Values = 1.0,
) -> Column:
    """Operations per second that the power cap allows on all copies together.

    ``N usable / (e_op + e_mem / I)``, in op/s; infinite without any cap.

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


@objective(
    source=f"{PLATFORMS}, eq. 3",
    partial=True,
    rises_with=("platform_peak_op_per_s", "budget_copies"),
)
def platform_compute_limit_op_per_s(
    *, platform_peak_op_per_s: Values, budget_copies: Values = 1.0
) -> Column:
    """Operations per second that all copies together compute at full rate.

    ``N F``, in op/s.

    References
    ----------
    Choi, Dukhan, Liu, Vuduc, IPDPS 2014, eq. 3: the third term of the maximum.
    """
    one = where(platform_peak_op_per_s, above=0.0, finite=True)
    return one * where(budget_copies, above=0.0, finite=True)
