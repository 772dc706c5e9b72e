"""Runs on one platform, and least squares of the energy roofline over them: the closest model.

Any parameters may be held.  It minimises the logarithms of the ratios of model to measured time and
energy, so that large and small runs count alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

import numpy as np
from scipy.optimize import least_squares, nnls

from dse.contract import Column
from dse.objectives.roofline.model import EnergyRoofline


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


_CAP_STARTS = (0.75, 1.0)
"""Quantiles of observed active power from which the cap is sought; the closer fit is kept.
The model has corners, and one search alone may stop at one of them."""
_POSITIVE = ("time_per_op", "time_per_byte", "power_cap")
_PARAMETERS = tuple(item.name for item in fields(EnergyRoofline))
_FIRST = 1e-3
"""The least share from which a search starts: at zero it would stick."""
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
        """Sum of the squares of the residuals."""
        return float(np.sum(self.residuals**2))

    @property
    def freedom(self) -> int:
        """Degrees of freedom, time and energy of a run counted as two."""
        return len(self.residuals) - len(self.sought)


def most_possible(runs: Measurements) -> dict[str, float]:
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
    """Return the closest of the fits from every start; `held` parameters stay as they are.

    The only start is `near`, where it is given.
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
