"""Fleets: instances of the designs of a core family, as stage columns.

Battle & Hempstead replicate one design until it carries the rate (sections IV-C, V-C).  Here a
fleet may also mix designs of the family.  Capacities, areas and powers of instances add.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.algebra.enclosure import Enclosure, ends, is_exact
from dse.contract import Column
from dse.model.designs import AREAS, BLOCKS, POWERS, Designs

_WHOLE = 1e-9
"""Rounding error allowed in a whole number."""

SLACK = 1e-9
"""Relative reduction of least values, so that rounding excludes no design."""


class OpenCounts:
    """Enclosed counts of a partial fleet, as bandwidth that they add at full clock.

    The least carries the floor.  `any` is True if an instance may be added to the least counts.
    """

    def __init__(self, fleet: Fleet, floor: Column) -> None:
        """Read the counts of a fleet that carries at least a floor."""
        bandwidth, clock = fleet.designs.bandwidth_bit_per_s, fleet.clock
        groups = zip(fleet.counts, fleet.positions, strict=True)
        pairs = [(*ends(count), at) for count, at in groups]
        self._least = [(low, at) for low, _, at in pairs]
        self._used = [at for low, _, at in pairs if np.any(low > 0)]
        self._open = [at for low, high, at in pairs if np.any(high > low)]
        self._bandwidth = bandwidth
        self._floor = floor
        self.any = len(self._open) > 0
        self.known = self._sum(bandwidth)
        self.least = floor / clock * (1.0 - SLACK) - self.known
        most = sum(((high - low) * bandwidth[at] for low, high, at in pairs), np.zeros(1))
        self.most = np.minimum(most, fleet.ceiling / clock * (1.0 + SLACK) - self.known)

    def ratios(self, metric: Column) -> Column:
        """Return a metric over the bandwidth of each design that may be added."""
        return self._each(metric / self._bandwidth, self._open)

    def ratio(self, metric: Column) -> Enclosure:
        """Return the ratio of the sums of a metric and of bandwidth, at its extremes.

        If x is the bandwidth that is added at a ratio between the designs' least and largest, the
        ratio (p + q x) / (c + x) moves towards q, so its extremes are at the ends of x.
        """
        power, known = self._sum(metric), self.known
        if not self.any:
            exact = power / np.where(known > 0, known, 1.0)
            return Enclosure(exact, exact)
        ratios = self.ratios(metric)
        added = np.maximum(self.least, 0.0), np.maximum(np.maximum(self.least, self.most), 0.0)
        found = []
        for ratio, choose in ((ratios.min(axis=0), np.minimum), (ratios.max(axis=0), np.maximum)):
            values = [
                np.where(known + x > 0, (power + ratio * x) / np.maximum(known + x, 1e-300), 0.0)
                for x in added
            ]
            found.append(choose(*values))
        return Enclosure(*found)

    def least_added(self, metric: Column) -> Column:
        """Return the least metric of a design if one has to be added, else 0."""
        return np.where(self.least > 0, self._each(metric, self._open).min(axis=0), 0.0)

    def mean(self, metric: Column) -> Enclosure:
        """Return the enclosure of a mean over the fleet, from all designs that may be in it."""
        some = self._each(metric, [*self._used, *self._open])
        empty = np.all(self.known <= 0) and np.any(self._floor <= 0)
        low = some.min(axis=0, initial=np.inf)
        return Enclosure(np.zeros_like(low) if empty else low, some.max(axis=0, initial=0.0))

    @staticmethod
    def _each(metric: Column, positions: list[NDArray[np.int64]]) -> Column:
        """Return a metric of the designs at some positions, one row each."""
        if not positions:
            return np.empty((0, 1))
        return np.stack(np.broadcast_arrays(*(metric[at] for at in positions)))

    def _sum(self, metric: Column) -> Column:
        return sum((low * metric[at] for low, at in self._least), np.zeros(1))


@dataclass(frozen=True)
class Fleet:
    """Groups of equal instances.  Counts may be enclosed.

    Attributes
    ----------
    counts, positions
        Number of instances and position of the design, group by group.
    designs
        The designs that positions refer to.
    clock
        Top clock as a fraction.
    streams
        Tasks that may be in flight at once.  Infinite if tasks are independent.
    floor
        For partial fleets, some of whose counts are only enclosed: least rate of the stage, in
        bit/s, which sharpens every enclosure.  If None, arithmetic encloses.
    clocked
        True: idle pipelines switch like busy ones.  False: their clocks are gated.
    common
        1: clocked to the one rate of the chain.  0: to its top clock.
    alone
        True for the only stage.
    ceiling
        For partial fleets of independent tasks: largest rate of the stage, in bit/s.
    """

    counts: list[Any]
    positions: list[NDArray[np.int64]]
    designs: Designs
    clock: Any
    streams: Column
    floor: Column | None = None
    clocked: bool = False
    common: Column = field(default_factory=lambda: np.zeros(1))
    alone: bool = False
    ceiling: float = np.inf

    @cached_property
    def peak_bit_per_s(self) -> Any:
        """Return the payload rate at the top clock if every slot for a task is filled."""
        return self.total(self.designs.bandwidth_bit_per_s) * self.clock

    @cached_property
    def capacity_bit_per_s(self) -> Any:
        """Return the payload rate that the stage carries."""
        carried = self.peak_bit_per_s * self.filled
        if self.floor is None or not isinstance(carried, Enclosure):
            return carried
        return Enclosure(
            np.maximum(carried.low, self.floor), np.minimum(carried.high, self.ceiling)
        )

    @cached_property
    def tasks_in_flight(self) -> Any:
        """Return the number of slots for independent tasks."""
        return self.total(self.designs.metrics.tasks_in_flight)

    @cached_property
    def filled(self) -> Any:
        """Return the share of the slots that dependent tasks can fill, 1 for independent tasks."""
        if np.isinf(ends(self.streams)[0]).all():
            return np.ones(1)
        return np.minimum(self.streams / np.maximum(self.tasks_in_flight, 1.0), 1.0)

    def total(self, metric: Column) -> Any:
        """Return the sum of `metric` (one value per design) over all instances."""
        result = self._sum(metric)
        if self.opened is None or not self.opened.any:
            return result
        ratios = self.opened.ratios(metric)
        least, most = (np.maximum(end, 0.0) for end in (self.opened.least, self.opened.most))
        high = np.minimum(result.high, result.low + ratios.max(axis=0) * most)
        return Enclosure(result.low + ratios.min(axis=0) * least, high)

    def largest(self, metric: Column) -> Any:
        """Return the largest `metric` of any design in use, 0 for an empty fleet."""
        groups = zip(self.counts, self.positions, strict=True)
        used = (np.where(count > 0, metric[..., at], 0.0) for count, at in groups)
        known = reduce(np.maximum, used)
        if self.opened is None or not self.opened.any:
            return known
        return np.maximum(known, self.opened.least_added(metric))

    def per_bit(self, power: Column) -> Any:
        """Return the sum of `power` over the capacity of the stage, or 0 for an empty fleet.

        Slots that dependent tasks leave empty switch as well.
        """
        if self.opened is not None:
            return self.opened.ratio(power) / self.filled
        capacity = self.capacity_bit_per_s
        with np.errstate(invalid="ignore"):
            return np.where(capacity > 0, self.total(power) * self.clock / capacity, 0.0)

    def mean(self, metric: Column) -> Any:
        """Return the mean of `metric` weighted by the designs' rates, or 0 for an empty fleet."""
        if self.opened is not None:
            return self.opened.mean(metric)
        bandwidth = self.designs.bandwidth_bit_per_s
        carried = self.total(bandwidth)
        return self.total(bandwidth * metric) / np.where(carried > 0, carried, 1.0)

    @property
    def instances(self) -> Any:
        """Return the number of instances, a whole number."""
        found = self.total(np.ones(self.designs.metrics.clock_hz.shape[-1]))
        if not isinstance(found, Enclosure):
            return found
        return Enclosure(np.ceil(found.low - _WHOLE), np.floor(found.high + _WHOLE))

    def column(self, name: str) -> Any:
        """Return one of `STAGE_COLUMNS`, in the shape to which the counts broadcast."""
        return STAGE_COLUMNS[name](self)

    @cached_property
    def opened(self) -> OpenCounts | None:
        """Return the effect of enclosed counts, or None for a fleet that is not partial."""
        if self.floor is None or all(map(is_exact, self.counts)):
            return None
        return OpenCounts(self, self.floor)

    def _sum(self, metric: Column) -> Any:
        """Return the sum over all instances of a metric that is not negative."""
        values = [metric[..., at] for at in self.positions]
        if all(map(is_exact, self.counts)):
            return _weighted(self.counts, values)
        low, high = (_weighted(some, values) for some in zip(*map(ends, self.counts), strict=True))
        return Enclosure(ends(low)[0], ends(high)[1])


def _weighted(counts: Sequence[Column], values: Sequence[Column]) -> Column:
    result = counts[0] * values[0]
    for count, value in zip(counts[1:], values[1:], strict=True):
        result = result + count * value
    return result


Traits = Mapping[str, Column]
"""Traits of the fleets of one stage, by name."""

STAGE_CAPACITY = "stage_capacity_bit_per_s"

STAGE_COLUMNS: dict[str, Callable[[Fleet], Any]] = {
    "stage_alone": lambda fleet: np.full(1, float(fleet.alone)),
    "stage_area_m2": lambda fleet: fleet.total(fleet.designs.metrics.area_m2),
    "stage_area_ge": lambda fleet: fleet.total(fleet.designs.metrics.area_ge),
    "stage_area_lc": lambda fleet: fleet.total(fleet.designs.metrics.area_lc),
    "stage_block_rams": lambda fleet: fleet.total(fleet.designs.metrics.block_rams),
    STAGE_CAPACITY: lambda fleet: fleet.capacity_bit_per_s,
    "stage_clock_hz": lambda fleet: fleet.largest(fleet.designs.metrics.clock_hz) * fleet.clock,
    "stage_clock_limit": lambda fleet: fleet.clock,
    "stage_clocked": lambda fleet: np.full(1, float(fleet.clocked)),
    "stage_common": lambda fleet: fleet.common,
    "stage_dynamic_energy_j_per_bit": lambda fleet: fleet.per_bit(
        fleet.designs.metrics.dynamic_power_w
    ),
    "stage_dynamic_power_w": lambda fleet: (
        fleet.total(fleet.designs.metrics.dynamic_power_w) * fleet.clock
    ),
    "stage_extrapolated": lambda fleet: fleet.largest(fleet.designs.metrics.extrapolated),
    "stage_filled": lambda fleet: fleet.largest(fleet.designs.filled_share),
    "stage_instances": lambda fleet: fleet.instances,
    "stage_latency_s": lambda fleet: (
        fleet.largest(fleet.designs.metrics.latency_cycles / fleet.designs.metrics.clock_hz)
        / fleet.clock
    ),
    "stage_leakage_power_w": lambda fleet: fleet.total(fleet.designs.metrics.leakage_power_w),
    "stage_message_end_bit": lambda fleet: fleet.largest(fleet.designs.metrics.message_end_bit),
    "stage_multipliers": lambda fleet: fleet.total(fleet.designs.metrics.multipliers),
    "stage_peak_bit_per_s": lambda fleet: fleet.peak_bit_per_s,
    "stage_payload_bit": lambda fleet: fleet.largest(fleet.designs.metrics.payload_bit),
    "stage_read_byte_per_bit": lambda fleet: fleet.mean(
        fleet.designs.metrics.read_byte / fleet.designs.carried_bit
    ),
    "stage_round_bit": lambda fleet: fleet.total(fleet.designs.round_bit),
    "stage_round_s": lambda fleet: fleet.largest(fleet.designs.round_s) / fleet.clock,
    "stage_serial_tasks": lambda fleet: np.where(
        np.isinf(fleet.streams), 1.0, np.minimum(fleet.streams, fleet.tasks_in_flight)
    ),
    "stage_start_task_per_s": lambda fleet: (
        fleet.total(fleet.designs.metrics.clock_hz / fleet.designs.metrics.cycles_per_task)
        * fleet.clock
    ),
    "stage_tasks_in_flight": lambda fleet: fleet.tasks_in_flight,
    "stage_written_byte_per_bit": lambda fleet: fleet.mean(
        fleet.designs.metrics.written_byte / fleet.designs.carried_bit
    ),
}
"""Columns that a stage may offer to the objectives, each as a tuple with one column per stage.

``stage_capacity_bit_per_s`` is the rate that the stage carries.  In a chained mode (CBC, for
instance) a stream has one task in flight, so the streams fill only as many slots of the
pipelines, and the stage carries streams * payload / latency of its ``stage_peak_bit_per_s``.
Slots that dependent tasks leave empty switch as well, which ``stage_dynamic_energy_j_per_bit``
charges to the payload.
Instances start tasks in rounds: ``stage_round_bit`` of payload together, and again after
``stage_round_s``, the round time of the slowest design in use.
``stage_filled`` is the share of their tasks' payload that messages fill.
``stage_start_task_per_s`` is the number of tasks started each second at the top clock.
``stage_serial_tasks`` is the number of streams that share the pipelines then, 1 for independent
tasks.
"""

AREA_COLUMNS = tuple(f"stage_{name}" for name in AREAS)
"""Stage columns of the area in units that never mix.  A core has values of at least one."""

BLOCK_COLUMNS = tuple(f"stage_{name}" for name in BLOCKS)
"""Stage columns of an FPGA's blocks, which other cores do not need."""

POWER_COLUMNS = (
    "stage_dynamic_energy_j_per_bit",
    "stage_dynamic_power_w",
    "stage_leakage_power_w",
)
"""Stage columns of power, which a core may lack."""

_FIGURES = {f"stage_{name}": name for name in (*AREAS, *BLOCKS, *POWERS, "clock_hz")} | {
    "stage_clock_limit": "clock_hz",
    "stage_dynamic_energy_j_per_bit": "dynamic_power_w",
    "stage_read_byte_per_bit": "read_byte",
    "stage_start_task_per_s": "clock_hz",
    "stage_written_byte_per_bit": "written_byte",
}
"""Stage columns that a core may lack, and the metric that is NaN then."""


def offered(stages: Iterable[Designs]) -> tuple[str, ...]:
    """Return the `STAGE_COLUMNS` of a chain: the columns with values for every stage."""
    chain = tuple(stages)
    lacking = {
        name
        for name, metric in _FIGURES.items()
        if not all(designs.has_figures(metric) for designs in chain)
    }
    return tuple(name for name in STAGE_COLUMNS if chain and name not in lacking)
