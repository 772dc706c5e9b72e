"""The designs of a core family as columns: what fleets are made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dse.contract import Column, CoreMetrics
from dse.errors import ContractError


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
