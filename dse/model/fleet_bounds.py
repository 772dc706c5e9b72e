"""Partial fleets: some designs counted, others not yet, and what their columns can become."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dse.contract import Column
from dse.model.fleet import Designs

Ends = tuple[Column, Column]
"""The ends of an interval."""

SLACK = 1e-9
"""Relative; what is needed at least is taken this much smaller, so that rounding cuts nothing."""


@dataclass(frozen=True)
class PartialFleets:
    """Fleets of which some designs are counted; columns (n,) or (1,).

    Attributes
    ----------
    designs
        All designs, shape (m,).
    counts
        Position of a design -> how many of it, for those counted.
    least, most
        Bounds of the counts of all designs, shape (m,).
    clock, streams
        As in `Fleet`.
    floor
        What the stage has to carry, bit/s.
    """

    designs: Designs
    counts: Mapping[int, Column]
    least: Column
    most: Column
    clock: Column
    streams: Column
    floor: Column

    @cached_property
    def left(self) -> NDArray[np.intp]:
        """Positions of the designs not yet counted."""
        return np.array([k for k in range(len(self.most)) if k not in self.counts], dtype=np.intp)

    @cached_property
    def usable(self) -> NDArray[np.intp]:
        """Positions of the designs not yet counted of which there may be any."""
        return self.left[self.most[self.left] > 0]

    def counted(self, metric: Column) -> Column:
        """Return the sum of `metric` over the instances counted so far."""
        total = np.zeros(1)
        for position, count in self.counts.items():
            total = total + count * metric[position]
        return total

    @cached_property
    def missing(self) -> Ends:
        """Full-clock bandwidth that the designs left add: the least needed, the most possible."""
        bandwidth = self.designs.bandwidth_bit_per_s
        needed = self.floor / self.clock * (1.0 - SLACK) - self.counted(bandwidth)
        least = np.maximum(needed, (self.least * bandwidth)[self.left].sum())
        return least, np.full(1, (self.most * bandwidth)[self.left].sum())

    def total(self, metric: Column) -> Ends:
        """Return the sum of `metric` over all instances."""
        known = self.counted(metric)
        least = np.full(1, (self.least * metric)[self.left].sum())
        if len(self.usable):
            rate = (metric / self.designs.bandwidth_bit_per_s)[self.usable].min()
            least = np.maximum(least, rate * self.missing[0])
        return known + least, known + (self.most * metric)[self.left].sum()

    def largest(self, metric: Column) -> Ends:
        """Return the largest `metric` of any design in use, 0 for an empty fleet."""
        known = np.zeros(1)
        for position, count in self.counts.items():
            known = np.maximum(known, np.where(count > 0, metric[position], 0.0))
        return known, np.maximum(known, metric[self.usable].max(initial=0.0))

    @cached_property
    def filled(self) -> Ends:
        """Share of the slots that dependent tasks fill."""
        low, high = self.total(self.designs.metrics.tasks_in_flight)
        return tuple(  # type: ignore[return-value]
            np.minimum(self.streams / np.maximum(slots, 1.0), 1.0) for slots in (high, low)
        )

    @cached_property
    def peak(self) -> Ends:
        """Payload rate with every slot filled."""
        low, high = self.total(self.designs.bandwidth_bit_per_s)
        return low * self.clock, high * self.clock

    @cached_property
    def capacity(self) -> Ends:
        """Payload rate that the stage carries."""
        low, high = (peak * filled for peak, filled in zip(self.peak, self.filled, strict=True))
        return np.maximum(low, self.floor), high

    @cached_property
    def energy(self) -> Ends:
        """Switching energy per payload bit: the ratio of two sums, at its extremes.

        With x the bandwidth that is added at a ratio between the designs' least and largest, the
        ratio (p + q x) / (c + x) moves towards q, so its extremes are at the ends of x.
        """
        metrics, bandwidth = self.designs.metrics, self.designs.bandwidth_bit_per_s
        ratios = (metrics.dynamic_power_w / bandwidth)[self.usable]
        power, known = self.counted(metrics.dynamic_power_w), self.counted(bandwidth)
        if not len(ratios):
            exact = power / np.where(known > 0, known, 1.0)
            return exact / self.filled[1], exact / self.filled[0]
        first, last = self.missing
        added = np.maximum(first, 0.0), np.maximum(np.maximum(first, last), 0.0)
        ends = []
        for ratio, choose in ((ratios.min(), np.minimum), (ratios.max(), np.maximum)):
            values = [
                np.where(known + x > 0, (power + ratio * x) / np.maximum(known + x, 1e-300), 0.0)
                for x in added
            ]
            ends.append(choose(*values))
        return ends[0] / self.filled[1], ends[1] / self.filled[0]

    def columns(self, names: Collection[str]) -> tuple[dict[str, Column], dict[str, Column]]:
        """Return the low and high ends of the stage columns `names`."""
        ends = {name: self._ends(name) for name in names}
        return (
            {name: interval[0] for name, interval in ends.items()},
            {name: interval[1] for name, interval in ends.items()},
        )

    def _ends(self, name: str) -> Ends:
        metrics = self.designs.metrics
        match name:
            case "stage_area_m2":
                return self.total(metrics.area_m2)
            case "stage_leakage_power_w":
                return self.total(metrics.leakage_power_w)
            case "stage_dynamic_power_w":
                low, high = self.total(metrics.dynamic_power_w)
                return low * self.clock, high * self.clock
            case "stage_instances":
                return self.total(np.ones(len(self.most)))
            case "stage_tasks_in_flight":
                return self.total(metrics.tasks_in_flight)
            case "stage_serial_tasks":
                low, high = self.total(metrics.tasks_in_flight)
                alone = np.isinf(self.streams)
                return (
                    np.where(alone, 1.0, np.minimum(self.streams, low)),
                    np.where(alone, 1.0, np.minimum(self.streams, high)),
                )
            case "stage_peak_bit_per_s":
                return self.peak
            case "stage_capacity_bit_per_s":
                return self.capacity
            case "stage_dynamic_energy_j_per_bit":
                return self.energy
            case "stage_clock_limit":
                return self.clock, self.clock
            case "stage_clock_hz":
                low, high = self.largest(metrics.clock_hz)
                return low * self.clock, high * self.clock
            case "stage_latency_s":
                low, high = self.largest(metrics.latency_cycles / metrics.clock_hz)
                return low / self.clock, high / self.clock
            case "stage_payload_bit":
                return self.largest(metrics.payload_bit)
            case "stage_extrapolated":
                return self.largest(metrics.extrapolated)
            case "stage_read_byte_per_bit":
                return self._mean(metrics.read_byte / metrics.payload_bit)
            case "stage_written_byte_per_bit":
                return self._mean(metrics.written_byte / metrics.payload_bit)
        return np.full(1, -np.inf), np.full(1, np.inf)

    def _mean(self, metric: Column) -> Ends:
        """Return the bounds of a mean over the fleet: those of the designs that may be in it."""
        used = [position for position, count in self.counts.items() if np.any(count > 0)]
        some = metric[[*used, *self.usable.tolist()]]
        return np.full(1, some.min(initial=np.inf)), np.full(1, some.max(initial=0.0))
