"""What the columns of a stage are made of: sums over its instances, and the largest of any in use.

Two fleets that lack the same designs yet can be compared by their ingredients: each ingredient of
a whole fleet rises with that of its part, and each stage column rises or falls with ingredients.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from dse.contract import Column
from dse.model.designs import Designs


@dataclass(frozen=True)
class Ingredient:
    """A metric of the designs of a fleet.

    Attributes
    ----------
    metric
        One value per design, not negative.
    largest
        Whether the largest value of any design in use counts, or the sum over all instances.
    """

    metric: Callable[[Designs], Column] = field(repr=False)
    largest: bool = False


BANDWIDTH = "bandwidth"

INGREDIENTS: Mapping[str, Ingredient] = {
    BANDWIDTH: Ingredient(lambda designs: designs.bandwidth_bit_per_s),
    "area": Ingredient(lambda designs: designs.metrics.area_m2),
    "gates": Ingredient(lambda designs: designs.metrics.area_ge),
    "logic": Ingredient(lambda designs: designs.metrics.area_lc),
    "switching": Ingredient(lambda designs: designs.metrics.dynamic_power_w),
    "leakage": Ingredient(lambda designs: designs.metrics.leakage_power_w),
    "instances": Ingredient(lambda designs: np.ones(len(designs.names))),
    "tasks": Ingredient(lambda designs: designs.metrics.tasks_in_flight),
    "read": Ingredient(
        lambda designs: (
            designs.bandwidth_bit_per_s * designs.metrics.read_byte / designs.metrics.payload_bit
        )
    ),
    "written": Ingredient(
        lambda designs: (
            designs.bandwidth_bit_per_s * designs.metrics.written_byte / designs.metrics.payload_bit
        )
    ),
    "clock": Ingredient(lambda designs: designs.metrics.clock_hz, largest=True),
    "extrapolated": Ingredient(lambda designs: designs.metrics.extrapolated, largest=True),
    "latency": Ingredient(
        lambda designs: designs.metrics.latency_cycles / designs.metrics.clock_hz, largest=True
    ),
    "payload": Ingredient(lambda designs: designs.metrics.payload_bit, largest=True),
    "started": Ingredient(lambda designs: designs.round_bit),
    "interval": Ingredient(lambda designs: designs.round_s, largest=True),
}

MADE_OF: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "stage_alone": ((), ()),
    "stage_area_m2": (("area",), ()),
    "stage_area_ge": (("gates",), ()),
    "stage_area_lc": (("logic",), ()),
    "stage_capacity_bit_per_s": ((BANDWIDTH,), ()),
    "stage_clock_hz": (("clock",), ()),
    "stage_clock_limit": ((), ()),
    "stage_clocked": ((), ()),
    "stage_common": ((), ()),
    "stage_dynamic_energy_j_per_bit": (("switching",), (BANDWIDTH,)),
    "stage_dynamic_power_w": (("switching",), ()),
    "stage_extrapolated": (("extrapolated",), ()),
    "stage_instances": (("instances",), ()),
    "stage_latency_s": (("latency",), ()),
    "stage_leakage_power_w": (("leakage",), ()),
    "stage_peak_bit_per_s": ((BANDWIDTH,), ()),
    "stage_payload_bit": (("payload",), ()),
    "stage_read_byte_per_bit": (("read",), (BANDWIDTH,)),
    "stage_round_bit": (("started",), ()),
    "stage_round_s": (("interval",), ()),
    "stage_serial_tasks": ((), ()),
    "stage_tasks_in_flight": (("tasks",), ()),
    "stage_written_byte_per_bit": (("written",), (BANDWIDTH,)),
}
"""Which ingredients a stage column rises and falls with, where tasks are independent.

At one clock, and for fleets with an instance at least.
"""
