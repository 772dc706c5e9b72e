"""Sizes of a mix that stay on the host: what they take of it, and what is left to offload.

A study's policy offloads the sizes above a threshold.  In the equations, q is the share of all
tasks that is offloaded and q_b that of the payload, R the payload rate of what is offloaded, g its
mean size in bytes.  Everything of stages, link, slots and waits is of what is offloaded.  Without
a policy q = q_b = 1, and all quantities are those of the whole demand, to the last digit.
"""

from __future__ import annotations

import numpy as np

from dse.contract import Column, objective
from dse.objectives.system.offload_terms import BIT_PER_BYTE


@objective(
    source="share of the demand",
    rises_with=("workload_rate_bit_per_s", "workload_payload_offloaded"),
)
def demand_bit_per_s(
    *, workload_rate_bit_per_s: Column, workload_payload_offloaded: Column | float = 1.0
) -> Column:
    """Payload rate demanded of the accelerators: what the policy offloads of the whole demand.

    ``q_b demand``, in bit/s.
    """
    return workload_rate_bit_per_s * workload_payload_offloaded


@objective(
    source="Whitt 1983, splitting",
    rises_with=("workload_arrival_cv2",),
    undeclared={"workload_tasks_offloaded": "rises with it where arrivals are bursts, else falls"},
)
def offload_arrival_cv2(
    *, workload_arrival_cv2: Column, workload_tasks_offloaded: Column | float = 1.0
) -> Column:
    """Squared coefficient of variation of the gaps between offloads.

    ``q c_a2 + 1 - q``, a number: each task is offloaded or not whatever those before it were, so
    that a gap is a sum of gaps, as many as it takes.  Poisson arrivals stay so.

    References
    ----------
    Whitt, "The queueing network analyzer", Bell System Technical Journal 62, 1983, on splitting.
    """
    kept = workload_tasks_offloaded
    return workload_arrival_cv2 * kept + (1.0 - kept)


@objective(
    source="Altaf & Wood, ISCA 2017, eq. 1",
    rises_with=("kernel_index_s_per_byte", "kernel_offset_s", "workload_granularity_byte"),
    falls_with=("workload_tasks_offloaded",),
    undeclared={"kernel_exponent": "time falls with it below one byte"},
    over_sizes="staying",
)
def staying_time_s(
    *,
    workload_granularity_byte: Column,
    kernel_index_s_per_byte: Column,
    kernel_exponent: Column,
    kernel_offset_s: Column,
    workload_tasks_offloaded: Column,
) -> Column:
    """Host time of the tasks that stay, for each task that is offloaded.

    ``(1 - q) / q T0``, in s, with T0 for each size that stays, averaged.

    References
    ----------
    Altaf & Wood, ISCA 2017, eq. 1, for T0.
    """
    power = np.asarray(workload_granularity_byte) ** kernel_exponent
    each = kernel_offset_s + kernel_index_s_per_byte * power
    return each * np.maximum(1.0 / workload_tasks_offloaded - 1.0, 0.0)


@objective(
    staying=True,
    source="Altaf & Wood, ISCA 2017, eq. 1",
    rises_with=("throughput_bit_per_s", "staying_time_s"),
    falls_with=("workload_granularity_byte",),
)
def staying_cores(
    *, throughput_bit_per_s: Column, staying_time_s: Column, workload_granularity_byte: Column
) -> Column:
    """Host cores that the sizes which stay keep busy.

    ``R / (8 g) staying time``, a number.

    References
    ----------
    As `staying_time_s`.
    """
    return throughput_bit_per_s / (BIT_PER_BYTE * workload_granularity_byte) * staying_time_s


@objective(
    staying=True,
    source="vendor figures for power and cores",
    rises_with=("staying_cores", "interface_host_power_w"),
    falls_with=("interface_host_cores",),
)
def staying_power_w(
    *, staying_cores: Column, interface_host_power_w: Column, interface_host_cores: Column
) -> Column:
    """Power of the host cores that the sizes which stay keep busy, a part of the host's.

    ``staying cores P_host / N_host``, in W.
    """
    return staying_cores * (interface_host_power_w / interface_host_cores)


@objective(
    source="cores set apart",
    rises_with=("interface_host_cores",),
    falls_with=("staying_cores",),
)
def free_host_cores(*, interface_host_cores: Column, staying_cores: Column | float = 0.0) -> Column:
    """Host cores that the sizes which stay leave to offloads.

    ``max(N_host - staying cores, 0)``, a number.
    """
    return np.maximum(interface_host_cores - staying_cores, 0.0)
