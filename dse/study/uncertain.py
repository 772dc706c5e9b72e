"""How sure the metrics of a stage's designs are: stated by a study, or how far a law is off."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dse.algebra import units
from dse.contract import Column, Model
from dse.errors import UnitError, nearest
from dse.model.designs import AREAS
from dse.study.faults import Faults, Path

NINETY_FIVE = 1.96
"""Standard deviations to either side that hold 95 % of a normal distribution."""

_PACE = ("cycles_per_task",)

STATED: dict[str, tuple[str, ...]] = {
    "area": AREAS,
    "area_ge": ("area_ge",),
    "area_lc": ("area_lc",),
    "clock": ("clock_hz",),
    "dynamic_power": ("dynamic_power_w",),
    "leakage_power": ("leakage_power_w",),
    "power": ("dynamic_power_w", "leakage_power_w"),
    "latency": ("latency_cycles",),
    "cycles_per_task": _PACE,
    "bandwidth": _PACE,
    "throughput": _PACE,
    "rate": _PACE,
}
"""What an uncertainty may be stated for, and the metrics that it makes uncertain."""

COMPARED = STATED | {"capacity": _PACE}
"""What the residuals of a law may be of, and the metrics that they make uncertain."""


def share(written: Any) -> float:
    """Return a relative standard uncertainty: 0.1 for ``10 %``.

    Raises
    ------
    UnitError
        When it is no percentage, or negative.
    """
    value = units.parse(written, "share")
    if value < 0:
        raise UnitError("an uncertainty is not negative", "write 5 %")
    return value


def share_of_interval(value: float, low: float, high: float) -> float:
    """Return the relative standard uncertainty whose 95 % are an interval, from its longer side."""
    return max(value - low, high - value) / NINETY_FIVE / value


def stated(written: Mapping[str, Any], path: Path, faults: Faults) -> dict[str, float]:
    """Return the relative standard uncertainty of metrics that a stage states."""
    found: dict[str, float] = {}
    for name, value in written.items():
        where = (*path, "uncertainty", name)
        if name not in STATED:
            rule = "an uncertainty is stated for a metric of a core"
            faults.add(where, rule, nearest(name, STATED), repr(name))
            continue
        with faults.at(where):
            found |= dict.fromkeys(STATED[name], share(value))
    return found


def of_core(
    model: Model, written: Mapping[str, Any], count: int, path: Path, faults: Faults
) -> dict[str, Column]:
    """Return the relative standard uncertainty of a core's metrics, (count,) each.

    What the study states counts, then what the model does; else a law is as sure as the table that
    it describes: the root mean square of (law - table) / table.
    """
    spread = residual_spread(model) | dict(model.uncertainty) | stated(written, path, faults)
    return {metric: np.full(count, value) for metric, value in spread.items()}


def residual_spread(model: Model) -> dict[str, float]:
    """Return how far a law is off its table, by metric; nothing for a model without residuals."""
    found: dict[str, float] = {}
    for name, (_, table, law) in (model.residuals() if model.residuals else {}).items():
        compared = np.asarray(table) != 0
        ratio = np.asarray(law)[compared] / np.asarray(table)[compared] - 1.0
        if compared.any() and units.stem(name) in COMPARED:
            spread = float(np.sqrt(np.mean(ratio**2)))
            found |= dict.fromkeys(COMPARED[units.stem(name)], spread)
    return found
