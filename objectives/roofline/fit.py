"""A platform record from measured runs: the energy roofline fitted to work, traffic, time, energy.

Source: Choi, Dukhan, Liu, Vuduc, IPDPS 2014, section V-A.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from scipy import stats
from scipy.optimize import least_squares, nnls

from dse.contract import PRECISIONS, Column, Platform
from dse.contract.fits import Fit, FittedPlatform
from dse.objectives.roofline.model import REGIMES, EnergyRoofline


@dataclass(frozen=True, kw_only=True, eq=False)
class Measurements:
    """Runs on one platform, one per row.

    Attributes
    ----------
    operations, traffic_byte
        Work and memory traffic of each run (W and Q).  Zero is allowed, but not in both.
    time_s, energy_j
        Measured duration and energy, constant power included, above zero.

    Raises
    ------
    ValueError
        Columns differ in length, there are fewer than seven rows, no row has traffic or no row has
        operations, or a value is out of range or not finite.
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


_CAP_STARTS = (0.75, 1.0)
"""Quantiles of observed active power as starting caps, keeping the closer fit.
The model has corners, and a single search may stop at one of them."""
_POSITIVE = ("time_per_op", "time_per_byte", "power_cap")
_PARAMETERS = tuple(item.name for item in fields(EnergyRoofline))
_FIRST = 1e-3
"""The least share at the start of a search, because it would stay at zero."""
TINY = 1e-9
"""A share of a time that bounds no run."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Solution:
    """A fit: which parameters were sought, in which units, and residuals with their Jacobian."""

    model: EnergyRoofline
    sought: tuple[str, ...]
    size: Column
    residuals: Column
    jacobian: Column

    @property
    def squares(self) -> float:
        """Return the sum of the squares of the residuals."""
        return float(np.sum(self.residuals**2))

    @property
    def freedom(self) -> int:
        """Return the degrees of freedom, with time and energy of a run counted as two."""
        return len(self.residuals) - len(self.sought)


def most_possible(runs: Measurements) -> dict[str, float]:
    """Return the largest possible value of each parameter, for the cap the active power seen."""
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


def intensities(runs: Measurements) -> Column:
    """Return operations per byte of each run."""
    with np.errstate(divide="ignore"):
        return np.divide(runs.operations, runs.traffic_byte)


def time_and_energy(model: EnergyRoofline, runs: Measurements) -> tuple[Column, Column]:
    """Return the modelled time and energy of each run."""
    task = (runs.operations, runs.traffic_byte)
    return model.time(*task), model.energy(*task)


def closest_roofline(
    runs: Measurements, held: Mapping[str, float], near: EnergyRoofline | None = None
) -> Solution:
    """Return the closest of the fits from every start, in which `held` parameters are fixed.

    If `near` is given, it is the only start.
    """
    starts = _starts(runs)
    if near is not None:
        size = starts[0][0]
        values = {name: float(np.asarray(getattr(near, name))) / size[name] for name in size}
        first = {name: min(max(value, _FIRST), 1 / _FIRST) for name, value in values.items()}
        return _solve(runs, size, first, held)
    kept = starts if "power_cap" not in held else starts[:1]
    return min((_solve(runs, *start, held) for start in kept), key=lambda one: one.squares)


def _starts(runs: Measurements) -> list[tuple[dict[str, float], dict[str, float]]]:
    """Return the size of each parameter and first guesses as shares of it, once per cap start.

    Times come from the runs of highest and lowest intensity, the energies from the linear
    equation (1) at measured times.
    """
    with np.errstate(divide="ignore"):
        per_op, per_byte = runs.time_s / runs.operations, runs.time_s / runs.traffic_byte
    order = np.argsort(intensities(runs), kind="stable")
    few = max(1, len(order) // 10)
    size = {
        "time_per_op": float(np.median(per_op[order[-few:]])),
        "time_per_byte": float(np.median(per_byte[order[:few]])),
    }
    most = most_possible(runs)
    energies = ("energy_per_op", "energy_per_byte", "constant_power")
    scale = np.array([most[name] for name in energies])  # no term can exceed the energy of a run
    terms = np.stack([runs.operations, runs.traffic_byte, runs.time_s], axis=1) * scale
    rows = terms / runs.energy_j[:, None]
    shares = np.maximum(nnls(rows, np.ones(len(rows)))[0], _FIRST)
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
) -> Solution:
    sought = tuple(name for name in _PARAMETERS if name not in held)
    scale = np.array([size[name] for name in sought])

    def model(shares: Column) -> EnergyRoofline:
        return EnergyRoofline(**held, **dict(zip(sought, scale * shares, strict=True)))

    def residual(shares: Column) -> Column:
        time, energy = time_and_energy(model(shares), runs)
        ratio = np.concatenate([time / runs.time_s, energy / runs.energy_j])
        return np.asarray(np.log(ratio))

    def jacobian(shares: Column) -> Column:
        slopes = _slopes(model(shares), runs)
        return np.asarray(np.stack([slopes[name] for name in sought], axis=1) * scale)

    # Times and the cap may not reach zero.
    least = np.where([name in _POSITIVE for name in sought], TINY, 0.0)
    found = least_squares(
        residual,
        [start[name] for name in sought],
        jac=jacobian,
        bounds=(least, np.inf),
        xtol=1e-12,
        ftol=1e-12,
        max_nfev=200,
    )
    return Solution(
        model=model(found.x),
        sought=sought,
        size=scale,
        residuals=found.fun,
        jacobian=np.asarray(found.jac),
    )


def _slopes(model: EnergyRoofline, runs: Measurements) -> dict[str, Column]:
    """Return by parameter the derivatives of the logarithms of time and of energy, in a row."""
    work, traffic, none = runs.operations, runs.traffic_byte, np.zeros_like(runs.time_s)
    time, energy = time_and_energy(model, runs)
    active = energy - model.constant_power * time
    regime = model.regime(intensities(runs))
    memory, capped, compute = (np.where(regime == code, 1.0, 0.0) for code in range(3))
    per_cap = capped / model.power_cap
    changes = {  # of time, and of energy at that time
        "time_per_op": (work * compute, none),
        "time_per_byte": (traffic * memory, none),
        "energy_per_op": (work * per_cap, work),
        "energy_per_byte": (traffic * per_cap, traffic),
        "constant_power": (none, time),
        "power_cap": (-active * per_cap / model.power_cap, none),
    }
    return {
        name: np.concatenate([slower / time, (more + model.constant_power * slower) / energy])
        for name, (slower, more) in changes.items()
    }


_LIMITS = ("power_cap", "time_per_op", "time_per_byte")
_ENERGIES = ("constant_power", "energy_per_op", "energy_per_byte", "power_cap")
"""Parameters that may compensate for each other, with the first taken as zero."""

_WORK = {"time_per_op": "energy_per_op", "time_per_byte": "energy_per_byte"}
"""The energy that goes with a time."""

SIGNIFICANCE = 0.001
"""Probability of the runs without a limit, below which the limit exists and is located."""

CONFIDENCE = 0.95
_EXACT = 1e-12  # square of the error of a run that is exact up to rounding
_NULL = 1e-6  # singular value of a change that no run shows
_STEP = 0.02  # of the logarithm of a limit, doubled until the runs refuse it
_STEPS = 10
_CLOSE = 1e-4  # to the limit that they just do not refuse


@dataclass(frozen=True, kw_only=True, eq=False)
class RooflineFit:
    """A fitted model and its support.

    Attributes
    ----------
    model
        The fitted roofline.
    runs_per_regime
        Number of runs in each of ``REGIMES`` by the model.
    intervals
        95 % interval of each parameter, or all possible values if it is not identified.
    unidentified
        Parameters that these runs do not identify, each with the parameters that compensate for a
        change of it: the cap for a limit that it hides, an empty tuple for a limit that binds no
        run.  Their values are from a model with an equally good fit: the time for drawing
        the cap, the fastest seen, no cap, and no energy of the first of a sum.
    cap_p
        Probability of the runs without a cap.
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
    """Fit the parameters of the roofline that the runs identify.

    Least squares over the logarithms of model over measured time and energy, with parameters that
    are not negative.  Runs should cover low, middle and high intensity: `RooflineFit.unidentified`.
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
    """Return the intervals of parameters that compensate for each other: from nothing to all.

    If every run is slowed by the cap, constant power may be any share of the power that they
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
    """Return whether the cap slows the very run that comes nearest to a time."""
    if name not in _WORK or not np.all(getattr(found.model, _WORK[name])):
        return False
    extreme = intensities(runs).max() if name == "time_per_op" else intensities(runs).min()
    return bool(found.model.regime(extreme) == REGIMES.index("cap"))


def _seen(found: Solution, runs: Measurements, name: str) -> float:
    """Return the tightest value of a limit that slows no run of a model.

    If the cap hides a time, it is the time in which its energy draws the cap, since a longer one
    would show when nothing else is done.  For the others it is the shortest of all runs.
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
    """Return the 95 % interval of a limit that does not show: all values that runs do not reject.

    A limit is rejected if the squares of the closest model with it exceed those without by
    Student's t squared times the noise, the larger of two if the errors of time and
    energy go together.  The least cap is the cap with a constant power that is all of the
    `energies` with which it shows as a sum.
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
    """Return 95 % intervals of the fitted parameters, linearised and not below zero.

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


_SHARES = {
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
    """Return a value with its interval: rates for times, None for a cap that does not show."""
    value, (low, high) = float(np.asarray(getattr(found.model, name))), found.intervals[name]
    if name.startswith("time"):
        return 1.0 / value, 1.0 / high, 1.0 / low if low > 0 else math.inf
    return value if math.isfinite(value) else None, low, high


def _why(found: RooflineFit, name: str) -> str:
    """Return why the runs do not identify a parameter, and its value in the record."""
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
    others = " and ".join(_SHARES[other] for other in partners)
    return f"only its sum with {others} shows: {why}; the record takes it {taken}"


platform_fit = Fit(
    name="platform",
    function=roofline_platform,
    method="least squares over the logarithms of modelled over measured time and energy",
    source="Choi et al., IPDPS 2014, section V-A",
)
