"""Fleets: instances of the designs of a core family, as stage columns.

Battle & Hempstead replicate one design until it carries the rate (sections IV-C, V-C); here a
fleet may also mix designs of the family.  Capacities, areas and powers of instances add.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dse.contract import Column, CoreMetrics
from dse.errors import ContractError

ROUNDING = 1e-12
"""Relative slack when an instance count is rounded up, so that 2 x 50 Gbit/s carries 100."""


@dataclass(frozen=True)
class Designs:
    """The designs a stage may use: names and one column per metric, shape (m,) or (draws, m).

    `uncertainty` has, for metrics whose source states it, the relative standard uncertainty of
    each design: 0.1 is 10 %.
    """

    names: tuple[str, ...]
    metrics: CoreMetrics
    uncertainty: Mapping[str, Column] = field(default_factory=dict)

    def take(self, rows: NDArray[np.intp]) -> Designs:
        """Return the designs at the positions `rows`, in that order."""
        fields = CoreMetrics.__dataclass_fields__
        metrics = {name: getattr(self.metrics, name)[rows] for name in fields}
        uncertainty = {name: values[rows] for name, values in self.uncertainty.items()}
        names = tuple(self.names[row] for row in rows)
        return Designs(names, CoreMetrics(**metrics), uncertainty)

    @property
    def bandwidth_bit_per_s(self) -> Column:
        """Payload rate of one instance at full clock (Battle & Hempstead, Table I)."""
        metrics = self.metrics
        return metrics.clock_hz / metrics.cycles_per_task * metrics.payload_bit


@dataclass(frozen=True)
class Stage:
    """One step of the chain and how its fleet is chosen.

    Attributes
    ----------
    name
        Prefix of its columns.
    designs
        What the fleet is made of.
    mixed
        True: the columns ``<name>.<design>`` hold a count for each design.  False:
        ``<name>.design`` holds a position in `designs` and ``<name>.instances`` a count; when
        the latter is absent the count is the least that carries the demand.
    """

    name: str
    designs: Designs
    mixed: bool

    def counts(self, columns: Mapping[str, Column]) -> list[Column]:
        """Return the number of instances of each design, in the order of `designs`."""
        if self.mixed:
            return [columns[f"{self.name}.{design}"] for design in self.designs.names]
        chosen = columns[f"{self.name}.design"]
        instances = self._instances(chosen, columns)
        return [
            np.where(chosen == position, instances, 0.0)
            for position in range(len(self.designs.names))
        ]

    def _instances(self, chosen: Column, columns: Mapping[str, Column]) -> Column:
        if f"{self.name}.instances" in columns:
            return columns[f"{self.name}.instances"]
        bandwidth = _of(self.designs.bandwidth_bit_per_s, chosen.astype(np.int64))
        clock = columns.get(f"{self.name}.clock", np.ones(1))
        least = np.ceil(columns["workload_rate_bit_per_s"] / (bandwidth * clock) * (1 - ROUNDING))
        return np.maximum(least, 1.0)

    def one_more(self, columns: Mapping[str, Column]) -> list[dict[str, Column]]:
        """Return the columns to replace for one instance more, of each design in turn."""
        if self.mixed:
            names = [f"{self.name}.{design}" for design in self.designs.names]
            return [{name: columns[name] + 1.0} for name in names]
        chosen = columns[f"{self.name}.design"]
        return [{f"{self.name}.instances": self._instances(chosen, columns) + 1.0}]

    def fleet(self, columns: Mapping[str, Column]) -> Fleet:
        """Return the fleet that the study columns choose."""
        clock = columns.get(f"{self.name}.clock", np.ones(1))
        streams = dependent_streams(columns)
        if self.mixed:
            positions = [np.array([position]) for position in range(len(self.designs.names))]
            return Fleet(self.counts(columns), positions, self.designs, clock, streams)
        chosen = columns[f"{self.name}.design"]
        counts = [self._instances(chosen, columns)]
        return Fleet(counts, [chosen.astype(np.int64)], self.designs, clock, streams)


SHARED_COLUMNS = ("workload_chained", "workload_streams", "workload_rate_bit_per_s")
"""Columns besides a stage's own that decide what its fleets are."""


def dependent_streams(columns: Mapping[str, Column]) -> Column:
    """Return how many tasks may be in flight: one per stream in a chained mode, else any."""
    chained = columns.get("workload_chained", np.zeros(1))
    streams = columns.get("workload_streams", np.full(1, np.inf))
    return np.where(chained > 0, streams, np.inf)


@dataclass(frozen=True)
class Fleet:
    """Groups of equal instances.

    Attributes
    ----------
    counts, positions
        How many of which design, group by group.
    designs
        What positions refer to.
    clock
        Top clock as a fraction.
    streams
        Tasks that may be in flight at once; infinite when tasks are independent.
    """

    counts: list[Column]
    positions: list[NDArray[np.int64]]
    designs: Designs
    clock: Column
    streams: Column

    @cached_property
    def peak_bit_per_s(self) -> Column:
        """Payload rate at the top clock when every slot for a task is filled."""
        return self.total(self.designs.bandwidth_bit_per_s) * self.clock

    @cached_property
    def tasks_in_flight(self) -> Column:
        """Slots for independent tasks."""
        return self.total(self.designs.metrics.tasks_in_flight)

    @cached_property
    def filled(self) -> Column:
        """Share of the slots that dependent tasks can fill; 1 when they are independent."""
        if np.isinf(self.streams).all():
            return np.ones(1)
        return np.minimum(self.streams / np.maximum(self.tasks_in_flight, 1.0), 1.0)

    def total(self, metric: Column) -> Column:
        """Return the sum of `metric` (one value per design) over all instances."""
        result = self.counts[0] * _of(metric, self.positions[0])
        for count, position in zip(self.counts[1:], self.positions[1:], strict=True):
            result = result + count * _of(metric, position)
        return result

    def largest(self, metric: Column) -> Column:
        """Return the largest `metric` of any design in use, 0 for an empty fleet."""
        result = np.where(self.counts[0] > 0, _of(metric, self.positions[0]), 0.0)
        for count, position in zip(self.counts[1:], self.positions[1:], strict=True):
            result = np.maximum(result, np.where(count > 0, _of(metric, position), 0.0))
        return result

    def column(self, name: str) -> Column:
        """Return one of `STAGE_COLUMNS`, shape as the counts broadcast."""
        return STAGE_COLUMNS[name](self)


def _of(metric: Column, positions: NDArray[np.int64]) -> Column:
    """Return a metric of the designs at `positions`, in each draw where there are several."""
    return np.take(metric, positions, axis=-1)


def _instances(fleet: Fleet) -> Column:
    return fleet.total(np.ones(len(fleet.designs.names)))


def _per_bit(power: Column, capacity: Column) -> Column:
    """Power over what a stage carries; an empty fleet switches nothing."""
    with np.errstate(invalid="ignore"):
        return np.where(capacity > 0, power / capacity, 0.0)


def _traffic_per_bit(fleet: Fleet, moved_byte: Column) -> Column:
    """Mean over the fleet, weighted with what each design carries; 0 for an empty fleet."""
    bandwidth = fleet.designs.bandwidth_bit_per_s
    per_bit = moved_byte / fleet.designs.metrics.payload_bit
    carried = fleet.total(bandwidth)
    return fleet.total(bandwidth * per_bit) / np.where(carried > 0, carried, 1.0)


STAGE_COLUMNS: dict[str, Callable[[Fleet], Column]] = {
    "stage_area_m2": lambda fleet: fleet.total(fleet.designs.metrics.area_m2),
    "stage_capacity_bit_per_s": lambda fleet: fleet.peak_bit_per_s * fleet.filled,
    "stage_clock_hz": lambda fleet: fleet.largest(fleet.designs.metrics.clock_hz) * fleet.clock,
    "stage_clock_limit": lambda fleet: fleet.clock,
    "stage_dynamic_energy_j_per_bit": lambda fleet: _per_bit(
        fleet.total(fleet.designs.metrics.dynamic_power_w) * fleet.clock,
        fleet.peak_bit_per_s * fleet.filled,
    ),
    "stage_dynamic_power_w": lambda fleet: (
        fleet.total(fleet.designs.metrics.dynamic_power_w) * fleet.clock
    ),
    "stage_extrapolated": lambda fleet: fleet.largest(fleet.designs.metrics.extrapolated),
    "stage_instances": _instances,
    "stage_latency_s": lambda fleet: (
        fleet.largest(fleet.designs.metrics.latency_cycles / fleet.designs.metrics.clock_hz)
        / fleet.clock
    ),
    "stage_leakage_power_w": lambda fleet: fleet.total(fleet.designs.metrics.leakage_power_w),
    "stage_peak_bit_per_s": lambda fleet: fleet.peak_bit_per_s,
    "stage_payload_bit": lambda fleet: fleet.largest(fleet.designs.metrics.payload_bit),
    "stage_read_byte_per_bit": lambda fleet: _traffic_per_bit(
        fleet, fleet.designs.metrics.read_byte
    ),
    "stage_serial_tasks": lambda fleet: np.where(
        np.isinf(fleet.streams), 1.0, np.minimum(fleet.streams, fleet.tasks_in_flight)
    ),
    "stage_tasks_in_flight": lambda fleet: fleet.tasks_in_flight,
    "stage_written_byte_per_bit": lambda fleet: _traffic_per_bit(
        fleet, fleet.designs.metrics.written_byte
    ),
}
"""What a stage offers to the objectives; each reaches them as a tuple, one column per stage.

``stage_capacity_bit_per_s`` is what the stage carries: in a chained mode (CBC, for instance) a
stream has one task in flight, so the streams fill only as many slots of the pipelines, and the
stage carries streams * payload / latency of its ``stage_peak_bit_per_s``; slots that dependent
tasks leave empty switch as well, which ``stage_dynamic_energy_j_per_bit`` charges to the payload.
``stage_serial_tasks`` is how many streams share the pipelines then, 1 for independent tasks.
"""


def check_metrics(core: str, names: tuple[str, ...], metrics: CoreMetrics) -> None:
    """Raise `ContractError` unless every metric is a finite, sensible column of its design."""
    for name in CoreMetrics.__dataclass_fields__:
        values = getattr(metrics, name)
        if values.shape != (len(names),):
            raise ContractError(
                f"core {core!r}: {name} has shape {values.shape}, expected ({len(names)},)"
            )
        positive = name in ("area_m2", "clock_hz", "cycles_per_task", "payload_bit")
        wrong = ~np.isfinite(values) | (values <= 0 if positive else values < 0)
        if wrong.any():
            position = int(np.flatnonzero(wrong)[0])
            rule = "finite and positive" if positive else "finite and not negative"
            raise ContractError(
                f"core {core!r}, design {names[position]!r}: {name} is {values[position]}, "
                f"and must be {rule}"
            )
