"""Fit the energy roofline to measurements, and say what they tell.

Source: Choi, Dukhan, Liu, Vuduc, IPDPS 2014, section V-A: regression for all six parameters, and
whether a cap is needed.  The paper leaves the details of its regression to earlier work; this one
minimises the logarithms of the ratios of model to measured time and energy, so that large and
small runs count alike.  Where the paper compares errors with and without a cap by a
Kolmogorov-Smirnov test, this is an F test of the two nested models.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from scipy import stats

from dse.contract import Column
from dse.objectives.roofline.closest import (
    TINY,
    Measurements,
    Solution,
    closest_roofline,
    intensities,
    most_possible,
    time_and_energy,
)
from dse.objectives.roofline.model import REGIMES, EnergyRoofline

_LIMITS = ("power_cap", "time_per_op", "time_per_byte")
_ENERGIES = ("constant_power", "energy_per_op", "energy_per_byte", "power_cap")
"""Of those that make up for each other, the first is taken as zero."""

_WORK = {"time_per_op": "energy_per_op", "time_per_byte": "energy_per_byte"}
"""The energy that goes with a time."""

SIGNIFICANCE = 0.001
"""A limit is there when runs are this unlikely without it; where it begins is sought, too."""

CONFIDENCE = 0.95
_EXACT = 1e-12  # square of the error of a run that is exact up to rounding
_NULL = 1e-6  # singular value of a change that no run shows
_STEP = 0.02  # of the logarithm of a limit, doubled until the runs refuse it
_STEPS = 10
_CLOSE = 1e-4  # to the limit that they just do not refuse


@dataclass(frozen=True, kw_only=True, eq=False)
class RooflineFit:
    """A fitted model and what supports it.

    Attributes
    ----------
    model
        The fitted roofline.
    runs_per_regime
        How many runs the model puts in each of ``REGIMES``.
    intervals
        95 % interval of each parameter; all that is possible where it is not identified.
    unidentified
        Parameters that these runs do not tell, each with those that make up for a change of it:
        the cap for a limit that it hides, none for a limit that no run is bound by.  Their values
        are those of a model that fits as well as any: the time in which the cap is drawn, the
        fastest seen, no cap, and no energy of the first of a sum.
    cap_p
        How likely the runs are without a cap.
    """

    model: EnergyRoofline
    runs_per_regime: Mapping[str, int]
    intervals: Mapping[str, tuple[float, float]]
    unidentified: Mapping[str, tuple[str, ...]]
    cap_p: float

    def errors(self, runs: Measurements) -> dict[str, Column]:
        """Return (model - measured) / measured of the ``time`` and the ``energy`` of each run."""
        time, energy = time_and_energy(self.model, runs)
        return {"time": time / runs.time_s - 1.0, "energy": energy / runs.energy_j - 1.0}


def fit_roofline(runs: Measurements) -> RooflineFit:
    """Fit the parameters of the roofline that runs tell.

    Least squares over the logarithms of model over measured time and energy, parameters not
    negative.  Runs should cover low, middle and high intensity; see `RooflineFit.unidentified`.
    """
    held: dict[str, float] = {}
    found, cap_p = closest_roofline(runs, held), math.nan
    unidentified: dict[str, tuple[str, ...]] = {}
    for name in _LIMITS:
        beyond = np.inf if name == "power_cap" else TINY * most_possible(runs)[name]
        without = closest_roofline(runs, held | {name: beyond})
        p = _nested_p(without, found)
        cap_p = p if name == "power_cap" else cap_p
        if p >= SIGNIFICANCE:
            held[name], found, unidentified[name] = beyond, without, ()
    alone: dict[str, tuple[float, float]] = {}
    while group := _sum_of(found):
        alone |= _alone(runs, held, group)
        for name in group:
            unidentified[name] = tuple(other for other in group if other != name)
        held[group[0]] = 0.0
        found = closest_roofline(runs, held)
    intervals = _intervals(found) | alone
    for name in (name for name in _LIMITS if name in unidentified and name in held):
        if _is_hidden(found, runs, name):
            unidentified[name] = ("power_cap",)
        intervals[name] = _possible(runs, held, name, unidentified.get("constant_power", ()))
    model = replace(
        found.model, **{name: _seen(found, runs, name) for name in _WORK if name in held}
    )
    code = found.model.regime(intensities(runs))
    return RooflineFit(
        model=model,
        runs_per_regime={name: int(np.sum(code == place)) for place, name in enumerate(REGIMES)},
        intervals=intervals,
        unidentified=unidentified,
        cap_p=cap_p,
    )


def _alone(
    runs: Measurements, held: Mapping[str, float], group: tuple[str, ...]
) -> dict[str, tuple[float, float]]:
    """Return the intervals of what makes up for each other: from nothing to all of it.

    Where every run is slowed by the cap, constant power may be any share of the power that they
    draw, and the others are at their most without it.
    """
    if "power_cap" not in group:
        others = {name: dict.fromkeys(set(group) - {name}, 0.0) for name in group}
        most = {
            name: _intervals(closest_roofline(runs, {**held, **others[name]}))[name]
            for name in group
        }
    else:
        most = _intervals(closest_roofline(runs, {**held, group[0]: 0.0}))
        most[group[0]] = most["power_cap"]
    return {name: (0.0, most[name][1]) for name in group}


def _is_hidden(found: Solution, runs: Measurements, name: str) -> bool:
    """Tell whether the cap slows the very run that comes nearest to a time."""
    if name not in _WORK or not np.all(getattr(found.model, _WORK[name])):
        return False
    extreme = intensities(runs).max() if name == "time_per_op" else intensities(runs).min()
    return bool(found.model.regime(extreme) == REGIMES.index("cap"))


def _seen(found: Solution, runs: Measurements, name: str) -> float:
    """Return the tightest of a limit that slows no run of a model.

    Of a time that the cap hides the one in which its energy draws the cap, since a longer one
    would show where nothing else is done; of the others the shortest of all runs.
    """
    if _is_hidden(found, runs, name):
        return float(np.divide(getattr(found.model, _WORK[name]), found.model.power_cap))
    time, energy = time_and_energy(found.model, runs)  # without the noise
    if name == "power_cap":
        return float(np.max(energy / time) - found.model.constant_power)
    return most_possible(replace(runs, time_s=time, energy_j=energy))[name]


def _possible(
    runs: Measurements, held: Mapping[str, float], name: str, energies: tuple[str, ...]
) -> tuple[float, float]:
    """Return the 95 % interval of a limit that does not show: whatever the runs do not refuse.

    A limit is refused where the closest model with it is farther from the runs than the closest
    of all by Student's t squared times the noise, the larger of two where the errors of time and
    energy go together.  The least cap is that of a constant power that is all of the `energies`
    with which it shows as a sum.
    """
    if name == "power_cap" and energies:
        kept = {key: value for key, value in held.items() if key != "constant_power"}
        held = kept | dict.fromkeys(energies, 0.0)
    found = closest_roofline(runs, held)
    free = closest_roofline(runs, {key: value for key, value in held.items() if key != name})
    pairs, freedom = _pairs(free)
    noise = max(float(np.linalg.eigvalsh(pairs @ pairs.T / freedom)[-1]), _EXACT)
    enough = free.squares + noise * stats.t.ppf((1 + CONFIDENCE) / 2, freedom) ** 2

    def is_refused(log: float) -> bool:
        given = {**held, name: math.exp(log)}
        return (
            min(closest_roofline(runs, given, one.model).squares for one in (free, found)) > enough
        )

    sign = -1.0 if name == "power_cap" else 1.0
    best = math.log(float(np.asarray(getattr(free.model, name))))
    seen = math.log(_seen(found, runs, name))
    fits = best if sign * best > sign * seen or is_refused(seen) else seen
    for power in range(_STEPS):
        beyond = sign * max(sign * seen, sign * best) + sign * 2.0**power * _STEP
        if is_refused(beyond):
            while abs(beyond - fits) > _CLOSE:
                middle = (beyond + fits) / 2
                fits, beyond = (fits, middle) if is_refused(middle) else (middle, beyond)
            return (0.0, math.exp(beyond)) if sign > 0 else (math.exp(beyond), math.inf)
        fits = beyond
    return 0.0, math.inf


def _nested_p(without: Solution, found: Solution) -> float:
    """Return how likely the runs are under a model with one parameter less (F test)."""
    if without.squares <= _EXACT * len(without.residuals):
        return 1.0
    gain = max(without.squares - found.squares, 0.0)
    spread = max(found.squares, _EXACT**2) / found.freedom
    return float(stats.f.sf(gain / spread, 1, found.freedom))


def _sum_of(found: Solution) -> tuple[str, ...]:
    """Return energies of which runs show only a sum: a change of some makes up for the others."""
    places = [found.sought.index(name) for name in _ENERGIES if name in found.sought]
    columns = found.jacobian[:, places]
    length = np.linalg.norm(columns, axis=0)
    _, values, changes = np.linalg.svd(columns / np.where(length > 0, length, 1.0))
    if not len(values) or values[-1] > _NULL:
        return ()
    moved = np.abs(changes[-1]) > 1e-3
    return tuple(found.sought[place] for place, one in zip(places, moved, strict=True) if one)


def _intervals(found: Solution) -> dict[str, tuple[float, float]]:
    """Return 95 % intervals of what was sought, linearised; not below zero.

    Errors of time and energy may differ in size, and go together within a run.
    """
    pairs, freedom = _pairs(found)
    noise = np.kron(pairs @ pairs.T / freedom, np.eye(pairs.shape[1]))
    inverse = np.linalg.pinv(found.jacobian)
    errors = np.sqrt(np.einsum("pi,ij,pj->p", inverse, noise, inverse))
    margins = stats.t.ppf((1 + CONFIDENCE) / 2, freedom) * errors * found.size
    return {
        name: (max(value - margin, 0.0), value + margin)
        for name, margin in zip(found.sought, margins.tolist(), strict=True)
        for value in [float(np.asarray(getattr(found.model, name)))]
    }


def _pairs(found: Solution) -> tuple[Column, float]:
    """Return residuals of time and of energy, shape (2, runs), and degrees of freedom of each."""
    pairs = found.residuals.reshape(2, -1)
    return pairs, pairs.shape[1] - len(found.sought) / 2
