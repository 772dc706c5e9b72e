"""Fit the energy roofline to measurements, with and without a power cap, and compare the two.

Source: Choi, Dukhan, Liu, Vuduc, IPDPS 2014, section V-A: regression for all six parameters,
relative errors of both models, Kolmogorov-Smirnov test of their distributions (figure 4).  The
paper leaves the details of its regression to earlier work; this one minimises the logarithms of
the ratios of model to measured time and energy, so that large and small runs count alike.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType

import numpy as np
from scipy.optimize import least_squares, nnls
from scipy.stats import ks_2samp

from dse.contract import Column
from dse.objectives.roofline.model import REGIMES, EnergyRoofline

_CAP_STARTS = (0.75, 1.0)
"""Quantiles of observed active power from which the cap is sought; the closer fit is kept.
The model has corners, and one search alone may stop at one of them."""
_POSITIVE = ("time_per_op", "time_per_byte", "power_cap")


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


@dataclass(frozen=True, kw_only=True, eq=False)
class RooflineFit:
    """A fitted model and what supports it.

    Attributes
    ----------
    model
        The fitted roofline; its cap is infinite when fitted without one.
    runs_per_regime
        How many runs the model puts in each of ``REGIMES``.  Where a regime has none, its
        parameter (time per byte, cap, time per operation) is not determined by these runs:
        it is only not contradicted by them.
    """

    model: EnergyRoofline
    runs_per_regime: Mapping[str, int]

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


@dataclass(frozen=True, kw_only=True, eq=False)
class FitComparison:
    """The capped and the uncapped model on the same runs.

    Attributes
    ----------
    capped, uncapped
        Relative errors, one per run.
    statistic, p_value
        Two-sample Kolmogorov-Smirnov test of both; below 0.05 the paper calls them different.
    """

    capped: Column
    uncapped: Column
    statistic: float
    p_value: float

    def quartiles(self) -> Mapping[str, Column]:
        """Return 25 %, 50 % and 75 % of each distribution (the boxes of figure 4)."""
        shares = (0.25, 0.5, 0.75)
        return {
            "capped": np.quantile(self.capped, shares),
            "uncapped": np.quantile(self.uncapped, shares),
        }


_RATIOS: Mapping[str, Callable[[Column, Column], Column]] = MappingProxyType(
    {
        "performance": lambda time, energy: 1.0 / time,
        "time": lambda time, energy: time,
        "energy": lambda time, energy: energy,
        "power": lambda time, energy: energy / time,
    }
)


def fit_roofline(runs: Measurements, *, capped: bool = True) -> RooflineFit:
    """Fit all parameters of the roofline, or all but the cap.

    Least squares over the logarithms of model over measured time and energy, parameters not
    negative.  Runs should cover low, middle and high intensity; see `runs_per_regime`.
    """
    attempts = [_solve(runs, *start, capped=capped) for start in _starts(runs)]
    _, model = min(attempts, key=lambda attempt: attempt[0])
    code = model.regime(_intensity(runs))
    counts = {name: int(np.sum(code == position)) for position, name in enumerate(REGIMES)}
    return RooflineFit(model=model, runs_per_regime=MappingProxyType(counts))


def compare_fits(runs: Measurements, quantity: str = "performance") -> FitComparison:
    """Fit both models to the same runs and compare their relative errors (section V-A)."""
    capped = fit_roofline(runs).relative_error(runs, quantity)
    uncapped = fit_roofline(runs, capped=False).relative_error(runs, quantity)
    test = ks_2samp(uncapped, capped)
    return FitComparison(
        capped=capped,
        uncapped=uncapped,
        statistic=float(test.statistic),
        p_value=float(test.pvalue),
    )


def _intensity(runs: Measurements) -> Column:
    with np.errstate(divide="ignore"):
        return np.divide(runs.operations, runs.traffic_byte)


def _time_and_energy(model: EnergyRoofline, runs: Measurements) -> tuple[Column, Column]:
    task = (runs.operations, runs.traffic_byte)
    return model.time(*task), model.energy(*task)


def _starts(runs: Measurements) -> list[tuple[Column, Column]]:
    """Return the size of each parameter and first guesses as shares of it, once per cap start.

    Times come from the runs of highest and lowest intensity, the energies from the linear
    equation (1) at measured times.  Guesses may not be zero, where a search would stick.
    """
    with np.errstate(divide="ignore"):
        per_op, per_byte = runs.time_s / runs.operations, runs.time_s / runs.traffic_byte
    order = np.argsort(_intensity(runs), kind="stable")
    few = max(1, len(order) // 10)
    times = [np.median(per_op[order[-few:]]), np.median(per_byte[order[:few]])]
    terms = np.stack([runs.operations, runs.traffic_byte, runs.time_s], axis=1)
    rows = terms / runs.energy_j[:, None]
    most = 1.0 / np.max(rows, axis=0)  # no single term can exceed the energy of a run
    shares = np.maximum(nnls(rows * most, np.ones(len(rows)))[0], 1e-3)
    active_power = terms[:, :2] @ (most * shares)[:2] / runs.time_s
    first = np.array([1.0, 1.0, *shares, 1.0])
    caps = np.quantile(active_power, _CAP_STARTS)
    return [(np.array([*times, *most, cap]), first) for cap in caps]


def _solve(
    runs: Measurements, size: Column, start: Column, *, capped: bool
) -> tuple[float, EnergyRoofline]:
    fitted = [item.name for item in fields(EnergyRoofline) if capped or item.name != "power_cap"]
    count = len(fitted)

    def model(shares: Column) -> EnergyRoofline:
        values = dict(zip(fitted, size[:count] * shares, strict=True))
        return EnergyRoofline(**{"power_cap": np.inf} | values)

    def residual(shares: Column) -> Column:
        time, energy = _time_and_energy(model(shares), runs)
        ratio = np.concatenate([time / runs.time_s, energy / runs.energy_j])
        return np.asarray(np.log(ratio))

    # Times and the cap may not reach zero.
    least = np.where([name in _POSITIVE for name in fitted], 1e-9, 0.0)
    found = least_squares(
        residual, start[:count], bounds=(least, np.inf), xtol=1e-12, ftol=1e-12, max_nfev=200
    )
    return float(found.cost), model(found.x)
