"""A platform record from measured runs: the energy roofline fitted to work, traffic, time, energy.

Source: Choi, Dukhan, Liu, Vuduc, IPDPS 2014, section V-A.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from dse.contract import PRECISIONS, Column, Platform
from dse.contract.fits import Fit, FittedPlatform
from dse.objectives.roofline.fit import Measurements, RooflineFit, fit_roofline

_FELT = 0.01
"""A unit bounds a run whose time changes by this share when the unit is twice as fast."""


def roofline_platform(
    *, work_op: Column, traffic_byte: Column, time_s: Column, energy_j: Column, precision: str
) -> FittedPlatform:
    """Return the platform whose roofline is nearest to the runs.

    Without a run that the cap slows, the cap is not determined: the runs are fitted without one
    and the record has none.

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
    notes = []
    if not found.runs_per_regime["cap"]:
        found = fit_roofline(runs, capped=False)
        notes.append("no run is slowed by a power cap, so that the record has none")
    for cost, figure in (("time_per_byte", "bandwidth"), ("time_per_op", "rate of operations")):
        faster = replace(found.model, **{cost: getattr(found.model, cost) / 2})
        change = faster.time(work_op, traffic_byte) / found.model.time(work_op, traffic_byte) - 1
        if np.abs(change).max() < _FELT:
            notes.append(f"no run is bound by the {figure}, which may as well be higher")
    return FittedPlatform(
        platform=_record(found, precision),
        errors={name: found.relative_error(runs, name) for name in ("time", "energy")},
        notes=tuple(notes),
    )


def _record(found: RooflineFit, precision: str) -> Platform:
    model = found.model
    rate, energy = 1.0 / float(model.time_per_op), float(model.energy_per_op)
    single = precision == "single"
    cap = float(np.asarray(model.power_cap))
    return Platform(
        name="fitted",
        constant_power_w=float(model.constant_power),
        usable_power_w=cap if math.isfinite(cap) else None,
        memory_byte_per_s=1.0 / float(model.time_per_byte),
        memory_j_per_byte=float(model.energy_per_byte),
        single_op_per_s=rate if single else None,
        single_j_per_op=energy if single else None,
        double_op_per_s=None if single else rate,
        double_j_per_op=None if single else energy,
    )


platform_fit = Fit(
    name="platform",
    function=roofline_platform,
    method="least squares over the logarithms of modelled over measured time and energy",
    source="Choi et al., IPDPS 2014, section V-A",
)
