"""How far a fitted interface can be believed: residuals, sizes omitted, tests of adequacy."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dse.fitting.interface.fit import SIGNIFICANCE, InterfaceFit, nested_p
from dse.fitting.interface.powers import Array, Powers, fit_powers

MOST_NOISE = 0.1
"""Scatter beyond this is no noise of a timer, but a shape that the model does not have."""

CLOSE = 0.05
"""A model that is nowhere further off is good enough, however sure it is that it is not exact."""

_DEGREES = (2, 3, 4, 5)
_MOST_EXTRA = 2
_NEW = 0.1  # share of a bend that the model's own parameters must not already make


@dataclass(frozen=True, kw_only=True)
class Curve:
    """How well one curve fits.

    Attributes
    ----------
    noise
        Relative standard deviation of the times around it.
    worst, worst_byte
        Largest relative residual, and at which size.
    held_out, held_out_worst
        Relative error at a size that the fit did not see: root mean square, and largest.
    p
        How likely residuals so bent are if the model is true; NaN when too few sizes tell.
    """

    noise: float
    worst: float
    worst_byte: float
    held_out: float
    held_out_worst: float
    p: float

    @property
    def is_close(self) -> bool:
        """Whether no size is off by more than `CLOSE`."""
        return abs(self.worst) < CLOSE

    @property
    def fits(self) -> bool:
        """Whether it is close, or nothing speaks against it: neither a bend nor much scatter."""
        return self.is_close or (not self.p < SIGNIFICANCE and self.noise <= MOST_NOISE)


@dataclass(frozen=True, kw_only=True)
class Checks:
    """Both curves, and the host without a fixed time per call (LogCA as published).

    Attributes
    ----------
    offset_p
        How likely the host's data are without a fixed time, against the model with it; NaN when
        it was not tested for.
    """

    host: Curve
    offload: Curve
    pure: Curve
    offset_p: float

    @property
    def pure_p(self) -> float:
        """How likely the host's data are under LogCA as published: the worse of two tests."""
        return float(np.fmin(self.pure.p, self.offset_p))

    @property
    def pure_fits(self) -> bool:
        """Whether LogCA as published fits the host."""
        return self.pure.is_close or (self.pure.fits and not self.offset_p < SIGNIFICANCE)


def check_adequacy(size: Array, host: Array, offload: Array, fit: InterfaceFit) -> Checks:
    """Return what speaks for and against a fit; a fixed time is tested for in any case."""
    pure = fit_powers(size, host, np.array([1.0]), free=True)
    offset = fit_powers(size, host, np.array([0.0, 1.0]), free=True)
    return Checks(
        host=_curve(size, host, fit.model.host, free=not fit.linear),
        offload=_curve(size, offload, fit.model.offload, free=False),
        pure=_curve(size, host, pure, free=True),
        offset_p=nested_p(pure, offset) if offset.coefficients[0] > 0 else math.nan,
    )


def _curve(size: Array, time: Array, found: Powers, *, free: bool) -> Curve:
    errors = np.expm1(found.residuals)
    worst = int(np.argmax(np.abs(errors)))
    unseen = _held_out(size, time, found, free=free)
    return Curve(
        noise=math.sqrt(found.noise),
        worst=float(errors[worst]),
        worst_byte=float(size[worst]),
        held_out=float(np.sqrt(np.mean(unseen**2))),
        held_out_worst=float(unseen[np.argmax(np.abs(unseen))]),
        p=lack_of_fit(found, size),
    )


def _held_out(size: Array, time: Array, found: Powers, *, free: bool) -> Array:
    """Return the relative error at each size, predicted from the others."""
    used = found.coefficients != 0
    errors = []
    for gone in range(len(size)):
        kept = np.arange(len(size)) != gone
        again = fit_powers(size[kept], time[kept], found.exponents, free=free, used=used)
        errors.append(float(time[gone] / again.at(size[[gone]])[0] - 1))
    return np.array(errors)


def lack_of_fit(found: Powers, size: Array) -> float:
    """Return how likely residuals so bent over the log of the size are if the model is true.

    An F test of the model against itself with one or two bends (polynomials of the logarithm,
    orthogonal to what its parameters can do); NaN with fewer than two degrees of freedom.
    """
    from scipy.special import fdtrc

    residuals, freedom = found.residuals, found.freedom
    if np.max(np.abs(residuals)) < 1e-9:
        return 1.0  # exact data, up to rounding
    if freedom < 2:
        return math.nan
    x = np.log(size)
    x = 2 * (x - x.min()) / (x.max() - x.min()) - 1
    own = found.jacobian
    basis = np.linalg.qr(own[:, np.any(own != 0, axis=0)])[0]
    bends = []
    for degree in _DEGREES:
        column = np.polynomial.chebyshev.chebval(x, np.eye(degree + 1)[degree])
        rest = column - basis @ (basis.T @ column)
        if np.linalg.norm(rest) > _NEW * np.linalg.norm(column):
            bends.append(rest / np.linalg.norm(rest))
            basis = np.column_stack([basis, bends[-1]])
        if len(bends) == (_MOST_EXTRA if freedom >= 2 * _MOST_EXTRA else 1):
            break
    explained = float(sum((bend @ residuals) ** 2 for bend in bends))
    left = freedom - len(bends)
    ratio = (explained / len(bends)) / ((found.squares - explained) / left)
    return float(fdtrc(len(bends), left, ratio))
