"""The designs of a core family as columns: what fleets are made of."""

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
    each design: 0.1 is 10 %.  `percentiles`, (m, 2), are the 10th and the 90th of a metric over
    its nominal value, where they are known better than from `uncertainty`.  `filled` is the share
    of a task's payload that messages fill.  `labels` are what people read in place of names.
    """

    names: tuple[str, ...]
    metrics: CoreMetrics
    uncertainty: Mapping[str, Column] = field(default_factory=dict)
    filled: Column = field(default_factory=lambda: np.ones(1))
    percentiles: Mapping[str, Column] = field(default_factory=dict)
    labels: Labels = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Keep no uncertainty of what there are no figures of."""
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
        """Tell whether a metric has a value for every design; a clock without end is none."""
        return bool(np.isfinite(getattr(self.metrics, metric)).all())

    def intervals(self) -> dict[str, Column]:
        """Return the 10th and 90th percentile of uncertain metrics over their nominal values.

        Of a metric of which only the uncertainty is known, those of a log-normal factor.
        """
        normal = {
            name: np.exp(np.multiply.outer(np.sqrt(np.log1p(share**2)), _NORMAL))
            for name, share in self.uncertainty.items()
        }
        return {**normal, **self.percentiles}

    def rated(self, most_hz: float) -> Designs:
        """Return the designs clocked at no more than so much; power follows the clock.

        The clock of one that could run faster has no uncertainty.
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
        """Payload rate of one instance at full clock (Battle & Hempstead, Table I)."""
        metrics = self.metrics
        return metrics.clock_hz / metrics.cycles_per_task * self.carried_bit

    @property
    def filled_share(self) -> Column:
        """Share of a task's payload that messages fill, of each design."""
        return self.filled * np.ones_like(self.metrics.payload_bit)

    @property
    def carried_bit(self) -> Column:
        """Payload of a task as far as messages fill it."""
        return self.metrics.payload_bit * self.filled

    @property
    def round_bit(self) -> Column:
        """Payload that one instance starts at once; that of several tasks in a cycle, maybe."""
        return self.metrics.payload_bit / np.minimum(self.metrics.cycles_per_task, 1.0)

    @property
    def round_s(self) -> Column:
        """Time from one start to the next at full clock: `round_bit` over the payload rate."""
        return np.maximum(self.metrics.cycles_per_task, 1.0) / self.metrics.clock_hz


AREAS = ("area_m2", "area_ge", "area_lc")
"""Metrics of the area; a core has figures of one of them at least."""

BLOCKS = ("block_rams", "multipliers")
"""Metrics of what an FPGA has in blocks; a core may have figures of none."""

POWERS = ("dynamic_power_w", "leakage_power_w")
"""Metrics of power; a core has figures of both or of none."""

PACED = ("clock_hz", "cycles_per_task", "payload_bit")
"""Metrics of how much an instance carries, and so of how many may be needed."""

_POSITIVE = (*AREAS, "clock_hz", "cycles_per_task", "payload_bit")


def check_metrics(core: str, names: tuple[str, ...], metrics: CoreMetrics) -> None:
    """Raise `ContractError` unless every metric is a finite, sensible column of its design.

    An area, blocks, or all power, may be NaN for every design.
    """
    omitted = (*AREAS, *BLOCKS, *POWERS)
    missing = {name for name in omitted if np.isnan(getattr(metrics, name)).all()}
    if missing.issuperset(AREAS):
        raise ContractError(f"core {core!r} has no figures of area; give {' or '.join(AREAS)}")
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
