"""What an offload is worth beside the host: its time, its speedup, and from where on it pays.

LogCA (Altaf & Wood, ISCA 2017) with a fleet as the accelerator: one offload of g bytes takes
``T1 = o + L(g) + C1(g)``, the host alone takes T0; behind a fleet C1 is the fleet's own time.
"""

from __future__ import annotations

import numpy as np

from dse.contract import Column, Threshold, objective
from dse.objectives.logca.model import break_even_granularity
from dse.objectives.system.offload_terms import BIT_PER_BYTE
from dse.objectives.system.sources import LOGCA


@objective(source=LOGCA, rises_with=("transfer_s", "accelerator_s"), told=True)
def offload_latency_s(*, transfer_s: Column, accelerator_s: Column) -> Column:
    """Time of one offload, T1(g).

    ``T1 = T_oh + C1``, in s.

    References
    ----------
    Altaf & Wood, ISCA 2017, eqs 2 and 8.
    """
    return transfer_s + accelerator_s


@objective(source=LOGCA, rises_with=("host_time_s",), falls_with=("offload_latency_s",), told=True)
def speedup(*, host_time_s: Column, offload_latency_s: Column) -> Column:
    """How many times faster one offload is than the host, T0 / T1.

    ``T0 / T1``, a number.

    References
    ----------
    Altaf & Wood, ISCA 2017, eqs 1, 2 and 8.
    """
    return host_time_s / offload_latency_s


@objective(
    source="Altaf & Wood, ISCA 2017, eq. 5",
    partial=True,
    threshold=Threshold(
        column="workload_granularity_byte",
        above="use the accelerator",
        below="leave the work on the host",
        never="the host is faster at every granularity",
    ),
    undeclared=dict.fromkeys(
        ("rises_with", "falls_with"), "a root is found to rounding, which need not be monotone"
    ),
)
def break_even_byte(
    *,
    overhead_s: Column,
    fixed_latency_s: Column,
    latency_s_per_byte: Column,
    fill_bit: Column,
    stream_rate_bit_per_s: Column,
    kernel_index_s_per_byte: Column,
    kernel_exponent: Column,
    kernel_offset_s: Column,
    serial_tasks: Column,
) -> Column:
    """Granularity from which an offload is no slower than the host, g_1; may not exist.

    ``T0(g_1) = T1(g_1)``, in B.  The accelerators stay clocked as they are.  In a chained mode T1
    is the larger of two lines, and g_1 the larger of their two break-even points.

    References
    ----------
    Altaf & Wood, ISCA 2017, eq. 5; the exact root in place of one Newton step.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        fixed = overhead_s + fixed_latency_s
        per_byte = latency_s_per_byte + BIT_PER_BYTE / stream_rate_bit_per_s
        serial = latency_s_per_byte + BIT_PER_BYTE * serial_tasks / stream_rate_bit_per_s
        fill = fill_bit / stream_rate_bit_per_s
    streamed = break_even_granularity(
        fixed_s=fixed + fill,
        per_byte_s=per_byte,
        index_s_per_byte=kernel_index_s_per_byte,
        exponent=kernel_exponent,
        offset_s=kernel_offset_s,
    )
    chained = break_even_granularity(
        fixed_s=fixed,
        per_byte_s=serial,
        index_s_per_byte=kernel_index_s_per_byte,
        exponent=kernel_exponent,
        offset_s=kernel_offset_s,
    )
    return np.maximum(streamed, chained)
