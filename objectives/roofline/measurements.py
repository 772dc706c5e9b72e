"""Runs on one platform: what they did, how long they took, and what they drew."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from dse.contract import Column


@dataclass(frozen=True, kw_only=True, eq=False)
class Measurements:
    """Runs on one platform, one per row.

    Attributes
    ----------
    operations, traffic_byte
        Work and memory traffic of each run (W and Q); zero is allowed, but not in both.
    time_s, energy_j
        Measured duration and energy, constant power included; above zero.

    Raises
    ------
    ValueError
        Columns differ in length, fewer than seven rows, no row with traffic or none with
        operations, or a value that is out of range or not finite.
    """

    operations: Column
    traffic_byte: Column
    time_s: Column
    energy_j: Column

    def __post_init__(self) -> None:
        """Keep float64 columns."""
        for item in fields(self):
            values = np.array(getattr(self, item.name), dtype=np.float64)
            object.__setattr__(self, item.name, values)
            positive = item.name in ("time_s", "energy_j")
            wrong = ~np.isfinite(values) | (values <= 0 if positive else values < 0)
            if values.ndim != 1 or np.any(wrong):
                rule = "finite and above zero" if positive else "finite and not negative"
                raise ValueError(f"{item.name} must be one column, {rule}; got {values[wrong]}")
        lengths = {item.name: len(getattr(self, item.name)) for item in fields(self)}
        if len(set(lengths.values())) > 1:
            raise ValueError(f"columns must be equally long, one value per run; got {lengths}")
        if len(self.time_s) < 7:
            raise ValueError(f"{len(self.time_s)} runs cannot fix six parameters; give 7 or more")
        if not np.any(self.operations) or not np.any(self.traffic_byte):
            raise ValueError("no run has operations, or none has traffic; give runs with both")
        if np.any((self.operations == 0) & (self.traffic_byte == 0)):
            raise ValueError("a run has neither operations nor traffic; leave it out")
