"""How far figures taken before placement may be off: the spread of wires and clock trees."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files

import numpy as np

from dse.contract.published import read_published

_RUNS = files("dse.contract") / "placement.csv"
_METRICS = {
    "area_m2": "area_um2",
    "clock_hz": "period_ns",
    "dynamic_power_w": "whole_power_w",
    "leakage_power_w": "leakage_w",
}
_RANGE = (10.0, 50.0, 90.0)
_DEVIATIONS = 2.5631031
"""Between the 10th and the 90th percentile of a normal distribution."""


@cache
def routed_over_unplaced() -> Mapping[str, tuple[float, float, float]]:
    """Return the 10th, 50th and 90th percentile of metrics, routed over unplaced designs.

    By field of `CoreMetrics`, over the rows of ``placement.csv``; a clock stands for its period.
    """
    rows = read_published(_RUNS).rows
    found = {}
    for metric, column in _METRICS.items():
        ratios = [float(r[f"routed_{column}"]) / float(r[column]) for r in rows if r[column]]
        low, middle, high = np.percentile(ratios, _RANGE).tolist()
        found[metric] = (low, middle, high)
    return found


@cache
def before_placement() -> Mapping[str, float]:
    """Return the relative standard uncertainty of metrics of designs that are not placed.

    That of a log-normal factor with the two outer percentiles of `routed_over_unplaced`: how far
    designs lie apart.  The median, which moves all of them alike, is not in it.
    """
    return {
        metric: float(np.sqrt(np.expm1((np.log(high / low) / _DEVIATIONS) ** 2)))
        for metric, (low, _, high) in routed_over_unplaced().items()
    }


def placement_text() -> str:
    """Return the percentiles of `routed_over_unplaced` in one line."""
    names = (column.rpartition("_")[0].replace("_", " ") for column in _METRICS.values())
    shown = [
        f"{name} {middle:.2f} ({low:.2f} to {high:.2f})"
        for name, (low, middle, high) in zip(names, routed_over_unplaced().values(), strict=True)
    ]
    return (
        "before placement: routed designs of OpenROAD-flow-scripts have, median and 10th to 90th "
        f"percentile, times as much {', '.join(shown)}"
    )
