"""The rate and the clock of a chain of fleets, and their limits.

The reached rate is the least of the limits of compute, link or memory, power cap, offload and
dependence.  Clocks meet but do not exceed the demand (Battle & Hempstead, sections IV-C and V-C),
or run as fast as allowed.  A demand is never exceeded either way.  In the equations, R is the
throughput, r the rate of the pipelines, c a capacity, j a stage, m the memory traffic per payload
bit.
"""

from __future__ import annotations

from typing import cast

import numpy as np

from dse.contract import Column, Falling, Limit, Rising, objective
from dse.objectives.system.fleet import CARRIERS, Stages, largest, least
from dse.objectives.system.sources import BATTLE_HEMPSTEAD, ENERGY_ROOFLINE


@objective(source=BATTLE_HEMPSTEAD, at_most=CARRIERS, report=True, simulated="rate")
def throughput_bit_per_s(
    *, rate_limit_bit_per_s: Rising[Column], demand_bit_per_s: Rising[Column | float] = np.inf
) -> Column:
    """Payload rate reached: the rate that the design can carry, up to the demand.

    ``R = min(rate limit, demand)``, in bit/s, without the sizes that stay on the host.

    References
    ----------
    Battle & Hempstead, section IV-C.
    """
    return np.minimum(rate_limit_bit_per_s, demand_bit_per_s)


@objective(source=BATTLE_HEMPSTEAD)
def task_throughput_task_per_s(
    *,
    throughput_bit_per_s: Rising[Column],
    stage_payload_bit: Falling[Stages],
    stage_filled: Falling[Stages],
) -> Column:
    """Tasks of the first stage per second.

    ``R / (payload_first filled_first)``, in task/s, of whole tasks.

    References
    ----------
    Battle & Hempstead, Tables I to III.
    """
    return throughput_bit_per_s / (stage_payload_bit[0] * stage_filled[0])


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

    The position of the least limit, or of the first of equal limits.

    References
    ----------
    Choi et al., IPDPS 2014, eq. 3: the terms of the maximum.
    """
    limits = np.broadcast_arrays(
        peak_bit_per_s,
        np.minimum(link_limit_bit_per_s, memory_limit_bit_per_s),
        power_limit_bit_per_s,
        offload_limit_bit_per_s,
        dependence_limit_bit_per_s,
    )
    first: Column = np.argmin(np.stack(limits), axis=0).astype(np.float64)
    return first


@objective(source=BATTLE_HEMPSTEAD, report=True, over_stages="largest")
def clock_hz(
    *,
    stage_clock_hz: Rising[Stages],
    stage_capacity_bit_per_s: Falling[Stages],
    stage_common: Stages,
    stream_rate_bit_per_s: Rising[Column],
    clocked_rate_bit_per_s: Rising[Column],
) -> Column:
    """Fastest clock of any instance, after scaling.

    ``max_j f_j min(1, a_j / c_j)``, in Hz, with a_j = r for a stage at the one rate, else a.

    References
    ----------
    Battle & Hempstead, section IV-C.
    """
    rates = stream_rate_bit_per_s, clocked_rate_bit_per_s
    return _fastest(stage_clock_hz, stage_capacity_bit_per_s, stage_common, *rates)


@objective(source=BATTLE_HEMPSTEAD, over_stages="largest")
def clock_fraction(
    *,
    stage_clock_limit: Rising[Stages],
    stage_capacity_bit_per_s: Falling[Stages],
    stage_common: Stages,
    stream_rate_bit_per_s: Rising[Column],
    clocked_rate_bit_per_s: Rising[Column],
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
    """Return the largest value of stages, given at their top clocks and scaled down to a rate."""

    def scaled(top: Column, capacity: Column, common: Column) -> Column:
        rate = np.where(common > 0, stream, clocked)
        return top * np.minimum(rate / capacity, 1.0)

    return largest(map(scaled, tops, capacities, commons))


@objective(
    source="each stage at its own clock, or all at one rate",
    settled_while={"power_limit_bit_per_s": "clocks_common"},
)
def clocked_rate_bit_per_s(
    *,
    stream_rate_bit_per_s: Rising[Column],
    clocks_common: Column,
    power_limit_bit_per_s: Rising[Column | float] = np.inf,
) -> Column:
    """Payload rate for which no stage is clocked higher than needed, infinite at the top clock.

    ``a = r`` if all stages share one rate, else the rate that the power cap allows, in bit/s.
    """
    return np.where(np.greater(clocks_common, 0), stream_rate_bit_per_s, power_limit_bit_per_s)


@objective(source="throughput over capacity")
def utilisation(
    *, throughput_bit_per_s: Rising[Column], capacity_bit_per_s: Falling[Column]
) -> Column:
    """Throughput as a share of the slowest stage's capacity at the allowed clock.

    ``R / c``, a share.
    """
    return throughput_bit_per_s / capacity_bit_per_s


@objective(source=ENERGY_ROOFLINE, at_most=CARRIERS)
def rate_limit_bit_per_s(
    *,
    capacity_bit_per_s: Rising[Column],
    power_limit_bit_per_s: Rising[Column | float] = np.inf,
    link_limit_bit_per_s: Rising[Column | float] = np.inf,
    memory_limit_bit_per_s: Rising[Column | float] = np.inf,
    offload_limit_bit_per_s: Rising[Column | float] = np.inf,
    mixed_limit_bit_per_s: Rising[Column | float] = np.inf,
) -> Column:
    """Least of all limits at the top clock: the most that this design can carry.

    ``min(c, power, link, memory, offload limit, mixed limit)``, in bit/s.  The limit of dependent
    tasks is part of the capacity.  `bound` distinguishes the two.

    References
    ----------
    Choi et al., IPDPS 2014, eq. 3, as rates.
    """
    others = (power_limit_bit_per_s, link_limit_bit_per_s, memory_limit_bit_per_s)
    slots = (offload_limit_bit_per_s, mixed_limit_bit_per_s)
    return least(cast(Stages, (capacity_bit_per_s, *others, *slots)))


@objective(source=ENERGY_ROOFLINE)
def memory_limit_bit_per_s(
    *, memory_byte_per_bit: Falling[Column], budget_memory_byte_per_s: Rising[Column]
) -> Column:
    """Payload rate that the memory bandwidth allows (energy roofline, eq. 3, second term).

    ``bandwidth / m``, in bit/s.

    References
    ----------
    Choi et al., IPDPS 2014, eq. 3.
    """
    return budget_memory_byte_per_s / memory_byte_per_bit


@objective(
    source="one task in flight per stream: rate <= streams * payload / latency",
    # up to the peak it is the capacity, from there on infinite
)
def dependence_limit_bit_per_s(
    *, capacity_bit_per_s: Rising[Column], peak_bit_per_s: Falling[Column]
) -> Column:
    """Payload rate when each stream has one task in flight (a chained mode such as CBC).

    The least over the stages of streams * payload / latency, in bit/s: the capacity, infinite
    if dependence costs nothing.
    """
    return np.where(capacity_bit_per_s < peak_bit_per_s, capacity_bit_per_s, np.inf)


@objective(
    source=ENERGY_ROOFLINE, at_most=("stage_capacity_bit_per_s", "accelerated_limit_bit_per_s")
)
def stream_limit_bit_per_s(
    *, capacity_bit_per_s: Rising[Column], power_limit_bit_per_s: Rising[Column | float] = np.inf
) -> Column:
    """Highest payload rate of the chain.

    ``r_max = min(c, power limit)``, in bit/s.

    References
    ----------
    Choi et al., IPDPS 2014, eq. 3.
    """
    return np.minimum(capacity_bit_per_s, power_limit_bit_per_s)


@objective(source=BATTLE_HEMPSTEAD, labels=("no", "yes"), over_stages="largest")
def clocks_meet(
    *, stage_common: Rising[Stages], demand_bit_per_s: Column | float = np.inf
) -> Column:
    """Whether the clock of a stage follows the demand, as slowly as that allows.

    Yes if a stage is at the one rate and there is a demand.

    References
    ----------
    Battle & Hempstead, section IV-C.
    """
    common = np.greater(largest(stage_common), 0) & np.less(demand_bit_per_s, np.inf)
    return np.where(common, 1.0, 0.0)


@objective(source=BATTLE_HEMPSTEAD, labels=("no", "yes"), over_stages="least")
def clocks_common(*, stage_common: Rising[Stages]) -> Column:
    """Whether all stages stream at one rate, or some run at their own clocks.

    Yes if all stages are at the one rate.

    References
    ----------
    Battle & Hempstead, section IV-C.
    """
    return least(stage_common)


@objective(source=BATTLE_HEMPSTEAD)
def met_rate_bit_per_s(
    *,
    throughput_bit_per_s: Rising[Column],
    clocks_meet: Falling[Column],
    offload_stream_bit_per_s: Rising[Column | float] = 0.0,
) -> Column:
    """Least payload rate of pipelines that meet the demand, infinite if clocks do not follow it.

    ``max(R, offload stream)``, in bit/s: it carries the demand, also through offloads that have to
    finish in time.

    References
    ----------
    Battle & Hempstead, section IV-C.
    """
    needed = np.maximum(throughput_bit_per_s, offload_stream_bit_per_s)
    return np.where(np.greater(clocks_meet, 0), needed, np.inf)


@objective(
    source=BATTLE_HEMPSTEAD,
    at_most=("stage_capacity_bit_per_s", "accelerated_limit_bit_per_s"),
    # a design that carries the demand may stream as fast as that takes
    settled_while={"stream_limit_bit_per_s": "clocks_meet"},
)
def stream_rate_bit_per_s(
    *, met_rate_bit_per_s: Rising[Column], stream_limit_bit_per_s: Rising[Column]
) -> Column:
    """Payload rate at which the pipelines stream.

    ``r = min(r_max, met rate)``, in bit/s: the rate that meets the demand, or as fast as allowed.
    If each stage has its own clock, the slowest stage's rate.

    References
    ----------
    Battle & Hempstead, section IV-C.
    """
    return np.minimum(met_rate_bit_per_s, stream_limit_bit_per_s)
