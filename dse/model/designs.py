"""Designs of a core family as columns, of which fleets are made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from dse.contract import Column, CoreMetrics
from dse.errors import ContractError
from dse.model.labels import Labels

_NORMAL = np.array([-1.2815516, 1.2815516])
"""The 10th and the 90th percentile of a standard normal distribution."""


@dataclass(frozen=True)
class Designs:
    """The designs a stage may use: names and one column per metric, shape (m,) or (draws, m).

    `uncertainty` has, for metrics whose source states it, the relative standard uncertainty of
    each design: 0.1 is 10 %.  `percentiles`, (m, 2), are the 10th and the 90th percentile of a
    metric over its nominal value, if they are known better than from `uncertainty`.  `filled` is
    the share of a task's payload that messages fill.  `labels` are shown to people in place of
    names.
    """

    names: tuple[str, ...]
    metrics: CoreMetrics
    uncertainty: Mapping[str, Column] = field(default_factory=dict)
    filled: Column = field(default_factory=lambda: np.ones(1))
    percentiles: Mapping[str, Column] = field(default_factory=dict)
    labels: Labels = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Drop the uncertainty of metrics without values."""
        kept = {name: share for name, share in self.uncertainty.items() if self.has_figures(name)}
        known = {name: of for name, of in self.percentiles.items() if name in kept}
        object.__setattr__(self, "uncertainty", kept)
        object.__setattr__(self, "percentiles", known)

    def take(self, rows: NDArray[np.intp]) -> Designs:
        """Return the designs at the positions `rows`, in that order."""
        fields = CoreMetrics.__dataclass_fields__
        taken = {name: getattr(self.metrics, name)[rows] for name in fields}
        uncertainty = {name: values[rows] for name, values in self.uncertainty.items()}
        percentiles = {name: values[rows] for name, values in self.percentiles.items()}
        names = tuple(self.names[row] for row in rows)
        own = {name: self.labels[name] for name in names if name in self.labels}
        metrics = CoreMetrics(**taken)
        return Designs(names, metrics, uncertainty, percentiles=percentiles, labels=own)

    def has_figures(self, metric: str) -> bool:
        """Return whether a metric has a finite value for every design."""
        return bool(np.isfinite(getattr(self.metrics, metric)).all())

    def intervals(self) -> dict[str, Column]:
        """Return the 10th and 90th percentile of uncertain metrics over their nominal values.

        A metric with only an uncertainty has the percentiles of a log-normal factor.
        """
        normal = {
            name: np.exp(np.multiply.outer(np.sqrt(np.log1p(share**2)), _NORMAL))
            for name, share in self.uncertainty.items()
        }
        return {**normal, **self.percentiles}

    def rated(self, most_hz: float) -> Designs:
        """Return the designs clocked at `most_hz` at most.  Power follows the clock.

        The clock of a design that could run faster has no uncertainty.
        """
        top = self.metrics.clock_hz
        slower = np.minimum(most_hz / top, 1.0)
        if (slower == 1.0).all():
            return self
        power = self.metrics.dynamic_power_w * slower
        clock = np.minimum(top, most_hz)
        metrics = replace(self.metrics, clock_hz=clock, dynamic_power_w=power)
        known = self.uncertainty.get("clock_hz")
        sure = {} if known is None else {"clock_hz": np.where(slower < 1.0, 0.0, known)}
        uncertainty = {**self.uncertainty, **sure}
        spread = {name: of for name, of in self.percentiles.items() if name != "clock_hz"}
        return replace(self, metrics=metrics, uncertainty=uncertainty, percentiles=spread)

    @property
    def bandwidth_bit_per_s(self) -> Column:
        """Return the payload rate of one instance at full clock (Battle & Hempstead, Table I)."""
        metrics = self.metrics
        return metrics.clock_hz / metrics.cycles_per_task * self.carried_bit

    @property
    def filled_share(self) -> Column:
        """Return the share of a task's payload that messages fill, of each design."""
        return self.filled * np.ones_like(self.metrics.payload_bit)

    @property
    def carried_bit(self) -> Column:
        """Return the payload of a task that messages fill."""
        return self.metrics.payload_bit * self.filled

    @property
    def round_bit(self) -> Column:
        """Return the payload that one instance starts at once, perhaps of several tasks."""
        return self.metrics.payload_bit / np.minimum(self.metrics.cycles_per_task, 1.0)

    @property
    def round_s(self) -> Column:
        """Return the time between starts at full clock: `round_bit` over the payload rate."""
        return np.maximum(self.metrics.cycles_per_task, 1.0) / self.metrics.clock_hz


AREAS = ("area_m2", "area_ge", "area_lc")
"""Metrics of the area.  A core has values of at least one."""

BLOCKS = ("block_rams", "multipliers")
"""Metrics of an FPGA's blocks.  A core may have no values of them."""

POWERS = ("dynamic_power_w", "leakage_power_w")
"""Metrics of power.  A core has values of both or of neither."""

PACED = ("clock_hz", "cycles_per_task", "payload_bit")
"""Metrics that decide the rate of an instance, and so the number of instances."""

_POSITIVE = (*AREAS, "clock_hz", "cycles_per_task", "payload_bit")


def check_metrics(core: str, names: tuple[str, ...], metrics: CoreMetrics) -> None:
    """Raise ContractError unless every metric is a finite, sensible column of its design.

    An area, blocks, or all power, may be NaN for every design.
    """
    omitted = (*AREAS, *BLOCKS, *POWERS)
    missing = {name for name in omitted if np.isnan(getattr(metrics, name)).all()}
    if missing.issuperset(AREAS):
        raise ContractError(f"core {core!r} has no values of area; give {' or '.join(AREAS)}")
    if not missing.issuperset(POWERS):
        missing.difference_update(POWERS)
    for name in CoreMetrics.__dataclass_fields__:
        values = getattr(metrics, name)
        if values.shape != (len(names),):
            raise ContractError(
                f"core {core!r}: {name} has shape {values.shape}, expected ({len(names)},)"
            )
        if name in missing:
            continue
        positive = name in _POSITIVE
        wrong = ~np.isfinite(values) | (values <= 0 if positive else values < 0)
        if wrong.any():
            position = int(np.flatnonzero(wrong)[0])
            rule = "finite and positive" if positive else "finite and not negative"
            raise ContractError(
                f"core {core!r}, design {names[position]!r}: {name} is {values[position]}, "
                f"and must be {rule}"
            )
