"""Placed designs from mapped gates: factors of public routed runs, and their spread."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from dse.contract import CoreMetrics
from dse.contract.published import read_published

_RUNS = files("dse.contract") / "placement.csv"
_METRICS = {
    "area_m2": "area_um2",
    "clock_hz": "period_ns",
    "dynamic_power_w": "whole_power_w",
    "leakage_power_w": "leakage_w",
}
MAPPED_IN = "mapped_in"
"""Column of a table of `dse characterise`: the library of its gates."""

KITS = ("asap7", "sky130")
"""Kits with runs.  Any other kit has the runs of all kits together."""

_RANGE = (10.0, 50.0, 90.0)
_DEVIATIONS = 2.5631031
"""Between the 10th and the 90th percentile of a normal distribution."""


def kit_of(library: str) -> str:
    """Return the kit that the name of a library begins with, or ``other``."""
    return next((kit for kit in KITS if library.startswith(kit)), "other")


@cache
def routed_over_unplaced(kit: str = "other") -> Mapping[str, NDArray[np.float64]]:
    """Return the 10th, 50th and 90th percentile of metrics, routed over unplaced designs.

    By field of `CoreMetrics`, over the rows of ``placement.csv`` with `kit`, or over all rows if
    those lack the metric.  For a clock it divides the periods.
    """
    rows = read_published(_RUNS).rows
    found = {}
    for metric, column in _METRICS.items():
        known = [row for row in rows if row[column]]
        own = [row for row in known if kit_of(row["library"]) == kit != "other"] or known
        ratios = [float(row[f"routed_{column}"]) / float(row[column]) for row in own]
        found[metric] = np.percentile(ratios, _RANGE)
    return found


def routed(metrics: CoreMetrics, kit: str) -> CoreMetrics:
    """Return metrics of mapped gates times the medians of routed runs.

    Power is of runs at one clock, and follows the clock that placement slows down.
    """
    middle = {name: float(of[1]) for name, of in routed_over_unplaced(kit).items()}
    slower = middle["clock_hz"]
    return replace(
        metrics,
        area_m2=metrics.area_m2 * middle["area_m2"],
        clock_hz=metrics.clock_hz / slower,
        dynamic_power_w=metrics.dynamic_power_w * middle["dynamic_power_w"] / slower,
        leakage_power_w=metrics.leakage_power_w * middle["leakage_power_w"],
    )


@cache
def placed_range(kit: str) -> Mapping[str, NDArray[np.float64]]:
    """Return the 10th and 90th percentile of metrics over the median, lower first."""
    found = {name: of[[0, 2]] / of[1] for name, of in routed_over_unplaced(kit).items()}
    return found | {"clock_hz": 1.0 / found["clock_hz"][::-1]}


@cache
def placed_uncertainty(kit: str) -> Mapping[str, float]:
    """Return the relative standard uncertainty of metrics of designs as `routed`.

    It belongs to a log-normal factor with the two outer percentiles of `routed_over_unplaced`.
    """
    return {
        metric: float(np.sqrt(np.expm1((np.log(high / low) / _DEVIATIONS) ** 2)))
        for metric, (low, high) in placed_range(kit).items()
    }


def placement_text(kit: str) -> str:
    """Return the percentiles of `routed_over_unplaced` in one line."""
    names = (column.rpartition("_")[0].replace("_", " ") for column in _METRICS.values())
    shown = [
        f"{name} {middle:.2f} ({low:.2f} to {high:.2f})"
        for name, (low, middle, high) in zip(names, routed_over_unplaced(kit).values(), strict=True)
    ]
    whose = "all kits" if kit == "other" else kit
    return (
        f"medians (10th to 90th percentile) of routed over unplaced designs of {whose} in "
        f"OpenROAD-flow-scripts: {', '.join(shown)}"
    )
