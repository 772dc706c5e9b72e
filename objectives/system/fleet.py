"""A chain of fleets: what its instances add up to.

Area and leakage add over instances and stages; the chain carries what its slowest stage carries
(Battle & Hempstead, sections IV-C and V-C).
"""

from __future__ import annotations

from dse.contract import Column, Objective, Requirement
from dse.objectives.system.chain import Stages, largest, least, total

BATTLE_HEMPSTEAD = "Battle & Hempstead, sections IV-C and V-C"


def instances(*, stage_instances: Stages) -> Column:
    """Core instances in all stages."""
    return total(stage_instances)


def fleet_area_m2(*, stage_area_m2: Stages) -> Column:
    """Silicon area of all core instances."""
    return total(stage_area_m2)


def area_m2(*, fleet_area_m2: Column, buffer_area_m2: Column | float = 0.0) -> Column:
    """Silicon area of the fleet and of the buffers that hold offloads in flight."""
    return fleet_area_m2 + buffer_area_m2


def capacity_bit_per_s(*, stage_capacity_bit_per_s: Stages) -> Column:
    """Payload rate that the slowest stage carries at its top clock."""
    return least(stage_capacity_bit_per_s)


def peak_bit_per_s(*, stage_peak_bit_per_s: Stages) -> Column:
    """Payload rate of the slowest stage with independent tasks: the compute limit."""
    return least(stage_peak_bit_per_s)


def serial_tasks(*, stage_serial_tasks: Stages) -> Column:
    """Streams of dependent tasks that share the pipelines; 1 for independent tasks."""
    return largest(stage_serial_tasks)


def fill_bit(*, stage_latency_s: Stages, stage_capacity_bit_per_s: Stages) -> Column:
    """Payload that enters the pipelines before the first result; clock does not change it."""
    pairs = zip(stage_latency_s, stage_capacity_bit_per_s, strict=True)
    return total(tuple(latency * capacity for latency, capacity in pairs))


def tasks_in_flight(*, stage_tasks_in_flight: Stages) -> Column:
    """Independent tasks that keep the widest stage busy."""
    return largest(stage_tasks_in_flight)


def memory_byte_per_bit(
    *, stage_read_byte_per_bit: Stages, stage_written_byte_per_bit: Stages
) -> Column:
    """Memory traffic per payload bit: the first stage reads, the last one writes."""
    return stage_read_byte_per_bit[0] + stage_written_byte_per_bit[-1]


def extrapolated(*, stage_extrapolated: Stages) -> Column:
    """Whether a law was asked for a design outside the range it was fitted on."""
    return largest(stage_extrapolated)


def has_instances(*, stage_instances: Stages) -> Column:
    """Return how many instances the emptiest stage lacks."""
    return 1.0 - least(stage_instances)


objectives = (
    Objective(
        function=instances,
        source=BATTLE_HEMPSTEAD,
        rises_with=("stage_instances",),
        over_stages="sum",
    ),
    Objective(
        function=fleet_area_m2,
        source=BATTLE_HEMPSTEAD,
        grows_with_instances=True,
        rises_with=("stage_area_m2",),
        over_stages="sum",
    ),
    Objective(
        function=area_m2,
        source="fleet and buffers add",
        rises_with=("fleet_area_m2", "buffer_area_m2"),
        told=True,
    ),
    Objective(
        function=capacity_bit_per_s,
        source=BATTLE_HEMPSTEAD,
        rises_with=("stage_capacity_bit_per_s",),
        over_stages="least",
    ),
    Objective(
        function=peak_bit_per_s,
        source=BATTLE_HEMPSTEAD,
        rises_with=("stage_peak_bit_per_s",),
        over_stages="least",
    ),
    Objective(
        function=serial_tasks,
        source="one task in flight per stream of a chained mode",
        rises_with=("stage_serial_tasks",),
        over_stages="largest",
    ),
    Objective(
        function=fill_bit,
        source="latency of a task, Battle & Hempstead, section IV-B",
        rises_with=("stage_latency_s", "stage_capacity_bit_per_s"),
        over_stages="sum",
    ),
    Objective(
        function=tasks_in_flight,
        source="Battle & Hempstead, Tables I to III",
        rises_with=("stage_tasks_in_flight",),
        over_stages="largest",
    ),
    Objective(
        function=memory_byte_per_bit,
        source="traffic of a task, from the core's model",
        rises_with=("stage_read_byte_per_bit", "stage_written_byte_per_bit"),
    ),
    Objective(
        function=extrapolated,
        source="fitted range of the core's law",
        labels=("no", "yes"),
        rises_with=("stage_extrapolated",),
        over_stages="largest",
    ),
)

requirements = (
    Requirement(
        function=has_instances,
        rule="every stage has at least one instance",
        falls_with=("stage_instances",),
    ),
)
