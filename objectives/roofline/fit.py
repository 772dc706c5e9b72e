"""Fit the energy roofline to measurements, with a power cap or without, and say what they tell.

Source: Choi, Dukhan, Liu, Vuduc, IPDPS 2014, section V-A: regression for all six parameters, and
whether a cap is needed.  The paper leaves the details of its regression to earlier work; this one
minimises the logarithms of the ratios of model to measured time and energy, so that large and
small runs count alike.  Where the paper compares errors with and without a cap by a
Kolmogorov-Smirnov test, this is an F test of the two nested models.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from types import MappingProxyType

import numpy as np
from scipy import stats
from scipy.optimize import least_squares, nnls

from dse.contract import Column
from dse.objectives.roofline.measurements import Measurements
from dse.objectives.roofline.model import REGIMES, EnergyRoofline

_CAP_STARTS = (0.75, 1.0)
"""Quantiles of observed active power from which the cap is sought; the closer fit is kept.
The model has corners, and one search alone may stop at one of them."""
_POSITIVE = ("time_per_op", "time_per_byte", "power_cap")
_PARAMETERS = tuple(item.name for item in fields(EnergyRoofline))
_LIMITS = ("power_cap", "time_per_op", "time_per_byte")
_ENERGIES = ("constant_power", "energy_per_op", "energy_per_byte")
"""Of those that show only as a sum, the first is taken as zero."""

SIGNIFICANCE = 0.001
"""A limit is there when runs are this unlikely without it; where it begins is sought, too."""

CONFIDENCE = 0.95
_TINY = 1e-9  # a share of a time that bounds no run
_EXACT = 1e-12  # square of the error of a run that is exact up to rounding
_NULL = 1e-6  # singular value of a change that no run shows


@dataclass(frozen=True, kw_only=True, eq=False)
class RooflineFit:
    """A fitted model and what supports it.

    Attributes
    ----------
    model
        The fitted roofline; its cap is infinite when fitted without one.
    runs_per_regime
        How many runs the model puts in each of ``REGIMES``.
    intervals
        95 % interval of each parameter; all that is possible where it is not identified.
    unidentified
        Parameters that these runs do not tell, each with those that make up for a change of it;
        none for a limit that no run is bound by.  Their values are those of a model that fits as
        well as any: the fastest seen, no cap, and no energy of the first of a sum.
    cap_p
        How likely the runs are without a cap; NaN when none was tried.
    """

    model: EnergyRoofline
    runs_per_regime: Mapping[str, int]
    intervals: Mapping[str, tuple[float, float]]
    unidentified: Mapping[str, tuple[str, ...]]
    cap_p: float

    def relative_error(self, runs: Measurements, quantity: str = "performance") -> Column:
        """Return (model - measured) / measured of each run.

        Parameters
        ----------
        runs
            Measured runs, those of the fit or others.
        quantity
            ``performance`` (figure 4), ``time``, ``energy`` or ``power``.

        Raises
        ------
        ValueError
            Unknown quantity.
        """
        try:
            ratio = _RATIOS[quantity]
        except KeyError:
            known = ", ".join(_RATIOS)
            raise ValueError(f"quantity {quantity!r} is unknown; known: {known}") from None
        time, energy = _time_and_energy(self.model, runs)
        return ratio(time / runs.time_s, energy / runs.energy_j) - 1.0


_RATIOS: Mapping[str, Callable[[Column, Column], Column]] = MappingProxyType(
    {
        "performance": lambda time, energy: 1.0 / time,
        "time": lambda time, energy: time,
        "energy": lambda time, energy: energy,
        "power": lambda time, energy: energy / time,
    }
)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Solution:
    """A fit: which parameters were sought, in which units, and residuals with their Jacobian."""

    model: EnergyRoofline
    sought: tuple[str, ...]
    size: Column
    residuals: Column
    jacobian: Column

    @property
    def squares(self) -> float:
        return float(np.sum(self.residuals**2))

    @property
    def freedom(self) -> int:
        return len(self.residuals) - len(self.sought)


def fit_roofline(runs: Measurements, *, capped: bool = True) -> RooflineFit:
    """Fit the parameters of the roofline that runs tell: all, or all but the cap.

    Least squares over the logarithms of model over measured time and energy, parameters not
    negative.  Runs should cover low, middle and high intensity; see `RooflineFit.unidentified`.
    """
    held = {} if capped else {"power_cap": np.inf}
    found, cap_p = _closest(runs, held), float("nan")
    unidentified: dict[str, tuple[str, ...]] = {}
    for name in _LIMITS[not capped :]:
        beyond = np.inf if name == "power_cap" else _TINY * _most(runs)[name]
        without = _closest(runs, held | {name: beyond})
        p = _nested_p(without, found)
        cap_p = p if name == "power_cap" else cap_p
        if p >= SIGNIFICANCE:
            held[name], found, unidentified[name] = beyond, without, ()
    alone = {}
    while group := _sum_of(found):
        for name in group:
            unidentified[name] = tuple(other for other in group if other != name)
            others = dict.fromkeys(unidentified[name], 0.0)
            alone[name] = (0.0, _intervals(_closest(runs, held | others))[name][1])
        held[group[0]] = 0.0
        found = _closest(runs, held)
    time, energy = _time_and_energy(found.model, runs)
    most = _most(replace(runs, time_s=time, energy_j=energy))  # without the noise
    model = replace(found.model, **{name: most[name] for name in held if name.startswith("time")})
    intervals = _intervals(found) | {name: (0.0, most[name]) for name in held} | alone
    if "power_cap" in held:
        intervals["power_cap"] = (most["power_cap"], np.inf)
    code = found.model.regime(_intensity(runs))
    return RooflineFit(
        model=model,
        runs_per_regime={name: int(np.sum(code == place)) for place, name in enumerate(REGIMES)},
        intervals=intervals,
        unidentified=unidentified,
        cap_p=cap_p,
    )


def _nested_p(without: _Solution, found: _Solution) -> float:
    """Return how likely the runs are under a model with one parameter less (F test)."""
    if without.squares <= _EXACT * len(without.residuals):
        return 1.0
    gain = max(without.squares - found.squares, 0.0)
    spread = max(found.squares, _EXACT**2) / found.freedom
    return float(stats.f.sf(gain / spread, 1, found.freedom))


def _sum_of(found: _Solution) -> tuple[str, ...]:
    """Return energies of which runs show only a sum: a change of some makes up for the others."""
    places = [found.sought.index(name) for name in _ENERGIES if name in found.sought]
    columns = found.jacobian[:, places]
    length = np.linalg.norm(columns, axis=0)
    _, values, changes = np.linalg.svd(columns / np.where(length > 0, length, 1.0))
    if not len(values) or values[-1] > _NULL:
        return ()
    moved = np.abs(changes[-1]) > 1e-3
    return tuple(found.sought[place] for place, one in zip(places, moved, strict=True) if one)


def _intervals(found: _Solution) -> dict[str, tuple[float, float]]:
    """Return 95 % intervals of what was sought, linearised; not below zero.

    Errors of time and energy may differ in size, and go together within a run.
    """
    count = len(found.residuals) // 2
    freedom = count - len(found.sought) / 2
    pairs = found.residuals.reshape(2, count)
    noise = np.kron(pairs @ pairs.T / freedom, np.eye(count))
    inverse = np.linalg.pinv(found.jacobian)
    errors = np.sqrt(np.einsum("pi,ij,pj->p", inverse, noise, inverse))
    margins = stats.t.ppf((1 + CONFIDENCE) / 2, freedom) * errors * found.size
    return {
        name: (max(value - margin, 0.0), value + margin)
        for name, margin in zip(found.sought, margins.tolist(), strict=True)
        for value in [float(np.asarray(getattr(found.model, name)))]
    }


def _most(runs: Measurements) -> dict[str, float]:
    """Return the most that each parameter can be, alone; for the cap the active power seen."""
    with np.errstate(divide="ignore"):
        found = {
            "time_per_op": np.min(runs.time_s / runs.operations),
            "time_per_byte": np.min(runs.time_s / runs.traffic_byte),
            "energy_per_op": np.min(runs.energy_j / runs.operations),
            "energy_per_byte": np.min(runs.energy_j / runs.traffic_byte),
            "constant_power": np.min(runs.energy_j / runs.time_s),
        }
    power = runs.energy_j / runs.time_s
    found["power_cap"] = np.max(power) - np.min(power)
    return {name: float(value) for name, value in found.items()}


def _intensity(runs: Measurements) -> Column:
    with np.errstate(divide="ignore"):
        return np.divide(runs.operations, runs.traffic_byte)


def _time_and_energy(model: EnergyRoofline, runs: Measurements) -> tuple[Column, Column]:
    task = (runs.operations, runs.traffic_byte)
    return model.time(*task), model.energy(*task)


def _closest(runs: Measurements, held: Mapping[str, float]) -> _Solution:
    """Return the closest of the fits from every start; `held` parameters stay as they are."""
    starts = _starts(runs)
    kept = starts if "power_cap" not in held else starts[:1]
    return min((_solve(runs, *start, held) for start in kept), key=lambda one: one.squares)


def _starts(runs: Measurements) -> list[tuple[dict[str, float], dict[str, float]]]:
    """Return the size of each parameter and first guesses as shares of it, once per cap start.

    Times come from the runs of highest and lowest intensity, the energies from the linear
    equation (1) at measured times.  Guesses may not be zero, where a search would stick.
    """
    with np.errstate(divide="ignore"):
        per_op, per_byte = runs.time_s / runs.operations, runs.time_s / runs.traffic_byte
    order = np.argsort(_intensity(runs), kind="stable")
    few = max(1, len(order) // 10)
    size = {
        "time_per_op": float(np.median(per_op[order[-few:]])),
        "time_per_byte": float(np.median(per_byte[order[:few]])),
    }
    most = _most(runs)
    energies = ("energy_per_op", "energy_per_byte", "constant_power")
    scale = np.array([most[name] for name in energies])  # no term can exceed the energy of a run
    terms = np.stack([runs.operations, runs.traffic_byte, runs.time_s], axis=1) * scale
    rows = terms / runs.energy_j[:, None]
    shares = np.maximum(nnls(rows, np.ones(len(rows)))[0], 1e-3)
    active_power = terms[:, :2] @ shares[:2] / runs.time_s
    size |= dict(zip(energies, scale.tolist(), strict=True))
    first = dict.fromkeys(_PARAMETERS, 1.0) | dict(zip(energies, shares.tolist(), strict=True))
    caps = np.quantile(active_power, _CAP_STARTS)
    return [(size | {"power_cap": float(cap)}, first) for cap in caps]


def _solve(
    runs: Measurements,
    size: Mapping[str, float],
    start: Mapping[str, float],
    held: Mapping[str, float],
) -> _Solution:
    sought = tuple(name for name in _PARAMETERS if name not in held)
    scale = np.array([size[name] for name in sought])

    def model(shares: Column) -> EnergyRoofline:
        return EnergyRoofline(**held, **dict(zip(sought, scale * shares, strict=True)))

    def residual(shares: Column) -> Column:
        time, energy = _time_and_energy(model(shares), runs)
        ratio = np.concatenate([time / runs.time_s, energy / runs.energy_j])
        return np.asarray(np.log(ratio))

    # Times and the cap may not reach zero.
    least = np.where([name in _POSITIVE for name in sought], _TINY, 0.0)
    found = least_squares(
        residual,
        [start[name] for name in sought],
        jac="3-point",
        bounds=(least, np.inf),
        xtol=1e-12,
        ftol=1e-12,
        max_nfev=200,
    )
    return _Solution(
        model=model(found.x),
        sought=sought,
        size=scale,
        residuals=found.fun,
        jacobian=np.asarray(found.jac),
    )
