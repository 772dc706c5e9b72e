"""A chain of fleets: the sums over its instances.

Area and leakage add over instances and stages.  The chain carries the rate of its slowest stage
(Battle & Hempstead, sections IV-C and V-C).  In the equations, j is a stage.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from functools import reduce

import numpy as np

from dse.contract import Column, Rising, objective
from dse.objectives.system.sources import BATTLE_HEMPSTEAD

Stages = tuple[Column, ...]
"""One column per stage, in the order of the chain."""

CARRIERS = (
    *("stage_capacity_bit_per_s", "accelerated_limit_bit_per_s"),
    *("link_bit_per_s", "pcie_payload_bit_per_s"),
)
"""Whatever the payload passes carries at least the rate that is reached."""


def total(columns: Iterable[Column]) -> Column:
    """Return the sum over the stages, always added in the same order."""
    return reduce(operator.add, columns)


def least(columns: Iterable[Column]) -> Column:
    """Return the smallest value of any stage."""
    return reduce(np.minimum, columns)


def largest(columns: Iterable[Column]) -> Column:
    """Return the largest value of any stage."""
    return reduce(np.maximum, columns)


@objective(source=BATTLE_HEMPSTEAD, grows_with_instances=True, over_stages="sum")
def instances(*, stage_instances: Rising[Stages]) -> Column:
    """Core instances in all stages.

    ``n = sum_j n_j``, a number.

    References
    ----------
    Battle & Hempstead, sections IV-C and V-C.
    """
    return total(stage_instances)


@objective(source=BATTLE_HEMPSTEAD, grows_with_instances=True, over_stages="sum")
def fleet_area_m2(*, stage_area_m2: Rising[Stages]) -> Column:
    """Silicon area of all core instances.

    ``A = sum_j A_j``, in m2.

    References
    ----------
    Battle & Hempstead, sections IV-C and V-C.
    """
    return total(stage_area_m2)


@objective(source="fleet, buffers and attachment add", report=True)
def area_m2(
    *,
    fleet_area_m2: Rising[Column],
    buffer_area_m2: Rising[Column | float] = 0.0,
    interface_attachment_area_m2: Rising[Column | float] = 0.0,
) -> Column:
    """Silicon area of the fleet, of the buffers for offloads in flight, and of the attachment.

    ``A + A_buffer + A_attachment``, in m2.
    """
    return fleet_area_m2 + buffer_area_m2 + interface_attachment_area_m2


@objective(source=BATTLE_HEMPSTEAD, grows_with_instances=True, over_stages="sum", report=True)
def area_ge(*, stage_area_ge: Rising[Stages]) -> Column:
    """Gate equivalents of all core instances, without buffers, whose area is in m2.

    ``A = sum_j A_j``, in GE.

    References
    ----------
    Battle & Hempstead, sections IV-C and V-C.
    """
    return total(stage_area_ge)


@objective(source=BATTLE_HEMPSTEAD, grows_with_instances=True, over_stages="sum", report=True)
def area_lc(*, stage_area_lc: Rising[Stages]) -> Column:
    """Logic cells of all core instances on FPGAs, without interconnect between them.

    ``A = sum_j A_j``, in LC.

    References
    ----------
    Battle & Hempstead, sections IV-C and V-C.
    """
    return total(stage_area_lc)


@objective(source=BATTLE_HEMPSTEAD, grows_with_instances=True, over_stages="sum")
def block_rams(*, stage_block_rams: Rising[Stages]) -> Column:
    """Block RAMs of all core instances on FPGAs.

    ``B = sum_j B_j``, a number.

    References
    ----------
    They add like area: Battle & Hempstead, sections IV-C and V-C.
    """
    return total(stage_block_rams)


@objective(source=BATTLE_HEMPSTEAD, grows_with_instances=True, over_stages="sum")
def multipliers(*, stage_multipliers: Rising[Stages]) -> Column:
    """Multipliers of all core instances on FPGAs.

    ``M = sum_j M_j``, a number.

    References
    ----------
    They add like area: Battle & Hempstead, sections IV-C and V-C.
    """
    return total(stage_multipliers)


@objective(
    source=BATTLE_HEMPSTEAD,
    at_most=("stage_capacity_bit_per_s", "accelerated_limit_bit_per_s"),
    over_stages="least",
)
def capacity_bit_per_s(
    *,
    stage_capacity_bit_per_s: Rising[Stages],
    accelerated_limit_bit_per_s: Rising[Column | float] = np.inf,
) -> Column:
    """Payload rate that the slowest stage carries at its top clock.

    ``c = min_j c_j``, in bit/s, or the rate of a whole accelerator in place of stages.

    References
    ----------
    Battle & Hempstead, section V-C.
    """
    return np.minimum(least(stage_capacity_bit_per_s), accelerated_limit_bit_per_s)


@objective(source=BATTLE_HEMPSTEAD, at_most=("accelerated_limit_bit_per_s",), over_stages="least")
def peak_bit_per_s(
    *,
    stage_peak_bit_per_s: Rising[Stages],
    accelerated_limit_bit_per_s: Rising[Column | float] = np.inf,
) -> Column:
    """Payload rate of the slowest stage with independent tasks: the compute limit.

    ``min_j peak_j``, in bit/s, or the rate of a whole accelerator in place of stages.

    References
    ----------
    Battle & Hempstead, section V-C.
    """
    return np.minimum(least(stage_peak_bit_per_s), accelerated_limit_bit_per_s)


@objective(source="one task in flight per stream of a chained mode", over_stages="largest")
def serial_tasks(*, stage_serial_tasks: Rising[Stages]) -> Column:
    """Streams of dependent tasks that share the pipelines, 1 for independent tasks.

    ``max_j serial_j``, a number.
    """
    return largest(stage_serial_tasks)


@objective(source="latency of a task, Battle & Hempstead, section IV-B", over_stages="sum")
def fill_bit(
    *, stage_latency_s: Rising[Stages], stage_capacity_bit_per_s: Rising[Stages]
) -> Column:
    """Payload that enters the pipelines before the first result, whatever the clock.

    ``sum_j latency_j c_j``, in bit.

    References
    ----------
    Latency: Battle & Hempstead, sections IV-B and V-A.
    """
    pairs = zip(stage_latency_s, stage_capacity_bit_per_s, strict=True)
    # no latency, and no end to the rate, of a whole accelerator
    return total(np.where(t > 0, t * capacity, 0.0) for t, capacity in pairs)


@objective(source="latency of a task, Battle & Hempstead, section IV-B", over_stages="sum")
def chain_latency_s(*, stage_latency_s: Rising[Stages]) -> Column:
    """Time of one task through all stages at the clocks allowed.

    ``sum_j latency_j``, in s.

    References
    ----------
    Latency: Battle & Hempstead, sections IV-B and V-A.
    """
    return total(stage_latency_s)


@objective(source="Battle & Hempstead, Tables I to III", over_stages="largest")
def tasks_in_flight(*, stage_tasks_in_flight: Rising[Stages]) -> Column:
    """Independent tasks that keep the widest stage busy.

    ``max_j tasks_j``, a number.

    References
    ----------
    Battle & Hempstead, Tables I to III.
    """
    return largest(stage_tasks_in_flight)


@objective(source="traffic of a task, from the core's model")
def memory_byte_per_bit(
    *, stage_read_byte_per_bit: Rising[Stages], stage_written_byte_per_bit: Rising[Stages]
) -> Column:
    """Memory traffic per payload bit: the first stage reads, the last one writes.

    ``m = read_first + written_last``, in B/bit.
    """
    return stage_read_byte_per_bit[0] + stage_written_byte_per_bit[-1]


@objective(source="fitted range of the core's law", labels=("no", "yes"), over_stages="largest")
def extrapolated(*, stage_extrapolated: Rising[Stages]) -> Column:
    """Whether a law predicts a design outside the range it was fitted on.

    ``max_j extrapolated_j``, no or yes.
    """
    return largest(stage_extrapolated)
