"""The rate that a chain of fleets reaches, and the clock at which it does.

The reached rate is the least of what compute, link or memory, power cap, offload and dependence
allow (`rate_limits`).  Clocks meet but do not exceed the demand (Battle & Hempstead, sections IV-C
and V-C), or run as fast as allowed; a demand is never exceeded either way.  In the equations, R is
the throughput, r the rate of the pipelines, c a capacity, j a stage.
"""

from __future__ import annotations

from typing import cast

import numpy as np

from dse.contract import Column, Limit, objective
from dse.objectives.system.fleet import Stages, largest
from dse.objectives.system.sources import BATTLE_HEMPSTEAD, ENERGY_ROOFLINE


def limits_in_order(
    *,
    compute: Column,
    link: Column | float,
    memory: Column | float,
    power: Column | float,
    offload: Column | float,
    dependence: Column | float,
) -> Stages:
    """Return the limits in the order of the labels of `bound`."""
    return cast(Stages, (compute, np.minimum(link, memory), power, offload, dependence))


@objective(
    source=BATTLE_HEMPSTEAD,
    rises_with=("rate_limit_bit_per_s", "demand_bit_per_s"),
    at_most=(
        "stage_capacity_bit_per_s",
        "accelerated_limit_bit_per_s",
        "link_bit_per_s",
        "pcie_payload_bit_per_s",
    ),
    report=True,
    simulated="rate",
)
def throughput_bit_per_s(
    *, rate_limit_bit_per_s: Column, demand_bit_per_s: Column | float = np.inf
) -> Column:
    """Payload rate reached: what the design can carry, and no more than is demanded of it.

    ``R = min(rate limit, demand)``, in bit/s, without the sizes that stay on the host.

    References
    ----------
    Battle & Hempstead, section IV-C.
    """
    return np.minimum(rate_limit_bit_per_s, demand_bit_per_s)


@objective(
    source=BATTLE_HEMPSTEAD,
    rises_with=("throughput_bit_per_s",),
    falls_with=("stage_payload_bit",),
)
def task_throughput_task_per_s(
    *, throughput_bit_per_s: Column, stage_payload_bit: Stages
) -> Column:
    """Tasks of the first stage per second.

    ``R / payload_first``, in task/s.

    References
    ----------
    Battle & Hempstead, Tables I to III.
    """
    return throughput_bit_per_s / stage_payload_bit[0]


@objective(
    source=ENERGY_ROOFLINE,
    labels=("compute", "link", "power", "offload", "dependence"),
    limits=(
        Limit(words="compute", quantities=("peak_bit_per_s",)),
        Limit(
            words="the link or memory",
            quantities=("link_limit_bit_per_s", "memory_limit_bit_per_s"),
        ),
        Limit(words="the power cap", quantities=("power_limit_bit_per_s",)),
        Limit(words="offload overhead", quantities=("offload_limit_bit_per_s",)),
        Limit(words="dependence", quantities=("dependence_limit_bit_per_s",)),
    ),
    limited="throughput_bit_per_s",
)
def bound(
    *,
    peak_bit_per_s: Column,
    power_limit_bit_per_s: Column | float = np.inf,
    link_limit_bit_per_s: Column | float = np.inf,
    memory_limit_bit_per_s: Column | float = np.inf,
    offload_limit_bit_per_s: Column | float = np.inf,
    dependence_limit_bit_per_s: Column | float = np.inf,
) -> Column:
    """Limit that is reached first when the rate rises (memory counts as link).

    The position of the least limit; of equal limits, the first.

    References
    ----------
    Choi et al., IPDPS 2014, eq. 3: the terms of the maximum.
    """
    limits = np.broadcast_arrays(
        *limits_in_order(
            compute=peak_bit_per_s,
            link=link_limit_bit_per_s,
            memory=memory_limit_bit_per_s,
            power=power_limit_bit_per_s,
            offload=offload_limit_bit_per_s,
            dependence=dependence_limit_bit_per_s,
        )
    )
    first: Column = np.argmin(np.stack(limits), axis=0).astype(np.float64)
    return first


@objective(
    source=BATTLE_HEMPSTEAD,
    report=True,
    rises_with=("stage_clock_hz", "stream_rate_bit_per_s", "clocked_rate_bit_per_s"),
    falls_with=("stage_capacity_bit_per_s",),
    over_stages="largest",
    undeclared={"settled_while": "a power cap limits own clocks however offloads are transferred"},
)
def clock_hz(
    *,
    stage_clock_hz: Stages,
    stage_capacity_bit_per_s: Stages,
    stage_common: Stages,
    stream_rate_bit_per_s: Column,
    clocked_rate_bit_per_s: Column,
) -> Column:
    """Fastest clock of any instance, after scaling.

    ``max_j f_j min(1, a_j / c_j)``, in Hz, where a_j is r for a stage at the one rate, else a.

    References
    ----------
    Battle & Hempstead, section IV-C.
    """
    rates = stream_rate_bit_per_s, clocked_rate_bit_per_s
    return _fastest(stage_clock_hz, stage_capacity_bit_per_s, stage_common, *rates)


@objective(
    source=BATTLE_HEMPSTEAD,
    rises_with=("stage_clock_limit", "stream_rate_bit_per_s", "clocked_rate_bit_per_s"),
    falls_with=("stage_capacity_bit_per_s",),
    over_stages="largest",
    undeclared={"settled_while": "a power cap limits own clocks however offloads are transferred"},
)
def clock_fraction(
    *,
    stage_clock_limit: Stages,
    stage_capacity_bit_per_s: Stages,
    stage_common: Stages,
    stream_rate_bit_per_s: Column,
    clocked_rate_bit_per_s: Column,
) -> Column:
    """Largest share of its top clock at which any stage runs.

    ``max_j limit_j min(1, a_j / c_j)``, a share, with the rates of `clock_hz`.

    References
    ----------
    Battle & Hempstead, section IV-C.
    """
    rates = stream_rate_bit_per_s, clocked_rate_bit_per_s
    return _fastest(stage_clock_limit, stage_capacity_bit_per_s, stage_common, *rates)


def _fastest(
    tops: Stages, capacities: Stages, commons: Stages, stream: Column, clocked: Column
) -> Column:
    """Return the largest of what stages have at their top clocks, scaled down to a rate."""

    def scaled(top: Column, capacity: Column, common: Column) -> Column:
        rate = np.where(common > 0, stream, clocked)
        return top * np.minimum(rate / capacity, 1.0)

    with np.errstate(divide="ignore", invalid="ignore"):
        return largest(tuple(map(scaled, tops, capacities, commons)))


@objective(
    source="each stage at its own clock, or all at one rate",
    rises_with=("stream_rate_bit_per_s", "power_limit_bit_per_s"),
    settled_while={"power_limit_bit_per_s": "clocks_common"},
)
def clocked_rate_bit_per_s(
    *,
    stream_rate_bit_per_s: Column,
    clocks_common: Column,
    power_limit_bit_per_s: Column | float = np.inf,
) -> Column:
    """Payload rate for which no stage is clocked higher than needed; infinite: at the top clock.

    ``a = r`` where all stages share one rate, else the rate that the power cap allows, in bit/s.
    """
    return np.where(np.greater(clocks_common, 0), stream_rate_bit_per_s, power_limit_bit_per_s)


@objective(
    source="throughput over capacity",
    rises_with=("throughput_bit_per_s",),
    falls_with=("capacity_bit_per_s",),
)
def utilisation(*, throughput_bit_per_s: Column, capacity_bit_per_s: Column) -> Column:
    """Throughput as a share of what the slowest stage could carry, at the clock allowed.

    ``R / c``, a share.
    """
    return throughput_bit_per_s / capacity_bit_per_s
