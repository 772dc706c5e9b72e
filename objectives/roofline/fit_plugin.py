"""A platform record from measured runs: the energy roofline fitted to work, traffic, time, energy.

Source: Choi, Dukhan, Liu, Vuduc, IPDPS 2014, section V-A.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from dse.contract import PRECISIONS, Column, Platform
from dse.contract.fits import Fit, FittedPlatform
from dse.objectives.roofline.closest import Measurements
from dse.objectives.roofline.fit import RooflineFit, fit_roofline
from dse.objectives.roofline.model import REGIMES

_ENERGIES = {
    "constant_power": "constant power",
    "energy_per_op": "the energy of operations",
    "energy_per_byte": "the energy of traffic",
    "power_cap": "the power cap",
}
_BOUND = {
    "memory": "every run is bound by the memory, and takes time in proportion to its traffic",
    "compute": "every run is bound by its operations, and takes time in proportion to them",
    "cap": "every run is slowed by the power cap, and takes time in proportion to its energy",
}


def roofline_platform(
    *, work_op: Column, traffic_byte: Column, time_s: Column, energy_j: Column, precision: str
) -> FittedPlatform:
    """Return the platform whose roofline is nearest to the runs.

    Parameters
    ----------
    work_op, traffic_byte
        Operations and memory traffic of each run (W and Q).
    time_s, energy_j
        Its duration and energy, constant power included.
    precision
        Of the operations: ``single`` or ``double``.

    Raises
    ------
    ValueError
        Fewer than seven runs, or runs that are out of range.
    """
    if precision not in PRECISIONS:
        raise ValueError(f"precision {precision!r} is unknown; write {' or '.join(PRECISIONS)}")
    runs = Measurements(
        operations=work_op, traffic_byte=traffic_byte, time_s=time_s, energy_j=energy_j
    )
    found = fit_roofline(runs)
    columns = _columns(precision)
    figures: dict[str, tuple[Any, float, float]] = {
        column: _figure(found, name) for name, column in columns.items()
    }
    return FittedPlatform(
        platform=replace(
            Platform(name="fitted"), **{name: value for name, (value, *_) in figures.items()}
        ),
        errors=found.errors(runs),
        intervals={name: (low, high) for name, (_, low, high) in figures.items()},
        unidentified={columns[name]: _why(found, name) for name in found.unidentified},
    )


def _columns(precision: str) -> dict[str, str]:
    """Return the field of a platform that each parameter of the roofline gives."""
    return {
        "constant_power": "constant_power_w",
        "power_cap": "usable_power_w",
        "time_per_byte": "memory_byte_per_s",
        "energy_per_byte": "memory_j_per_byte",
        "time_per_op": f"{precision}_op_per_s",
        "energy_per_op": f"{precision}_j_per_op",
    }


def _figure(found: RooflineFit, name: str) -> tuple[float | None, float, float]:
    """Return a figure with its interval: rates for times, none for a cap that does not show."""
    value, (low, high) = float(np.asarray(getattr(found.model, name))), found.intervals[name]
    if name.startswith("time"):
        return 1.0 / value, 1.0 / high, 1.0 / low if low > 0 else math.inf
    return value if math.isfinite(value) else None, low, high


def _why(found: RooflineFit, name: str) -> str:
    """Return why the runs do not tell a parameter, and what the record takes it as."""
    partners = found.unidentified[name]
    taken = "as zero" if getattr(found.model, name) == 0.0 else "for all of it"
    if name.startswith("time"):
        limit = "memory" if name == "time_per_byte" else "operations"
        if not partners:
            return f"no run is bound by the {limit}: the record has the fastest seen"
        drawn = "traffic alone draws" if limit == "memory" else "operations alone draw"
        return f"hidden by the power cap: the record has the rate at which {drawn} the cap"
    if name == "power_cap" and not partners:
        return f"no run is slowed by a power cap (p = {found.cap_p:.2g}): the record has none"
    if "power_cap" in (name, *partners):
        return f"{_BOUND['cap']}, so that constant power may be any share of it"
    reached = [regime for regime in REGIMES if found.runs_per_regime[regime]]
    why = _BOUND[reached[0]] if len(reached) == 1 else "no run separates them"
    others = " and ".join(_ENERGIES[other] for other in partners)
    return f"only its sum with {others} shows: {why}; the record takes it {taken}"


platform_fit = Fit(
    name="platform",
    function=roofline_platform,
    method="least squares over the logarithms of modelled over measured time and energy",
    source="Choi et al., IPDPS 2014, section V-A",
)
