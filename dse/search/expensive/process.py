"""Gaussian process regression: a Matern 5/2 kernel with a length for each feature."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_solve, cholesky, solve_triangular
from scipy.optimize import Bounds, minimize

from dse.contract import Column, Index, Matrix
from dse.contract.methods import Axes

LENGTH, LENGTH_SPREAD = 0.7, 1.5
"""Median and standard deviation of log of the prior of a length, in units of a feature's range."""

_STEPS = 40
"""Most steps of the optimiser of lengths and variances."""

JITTER, _MOST_NOISE = 1e-8, float(np.exp(0.5))
"""Least noise relative to the variance, so that a factor exists, and the most."""

MOST_FITTED, BLOCK = 300, 8_192
"""Most designs to fit parameters to, evenly through their order, and that are predicted at once."""

_MOST_CHOICES = 32
"""Choices among more values than this are taken in the order in which they are written."""


class Features:
    """Designs as rows of numbers in [0, 1].

    An ordered axis is one feature, its place on the axis's scale.  A choice has a feature of 0 or 1
    for each of its values but the first.  Axes of one value have none.
    """

    def __init__(self, axes: Axes) -> None:
        """Tabulate the features of each value of each axis."""
        self._tables: dict[int, Matrix] = {}
        for axis, (size, scale) in enumerate(zip(axes.sizes, axes.coordinates, strict=True)):
            if scale is None and size <= _MOST_CHOICES:
                self._tables[axis] = np.eye(size)[:, 1:]
            elif size > 1:
                values = np.linspace(0.0, 1.0, size) if scale is None else scale
                self._tables[axis] = np.asarray(values, dtype=np.float64)[:, None]

    def of(self, index: Index) -> Matrix:
        """Return the features (n, f) of designs (n, d), one of zeros if no axis has two values."""
        found = [table[index[:, axis]] for axis, table in self._tables.items()]
        joined = np.concatenate([np.zeros((len(index), 0)), *found], axis=1)
        return joined if joined.shape[1] else np.zeros((len(index), 1))


@dataclass(frozen=True)
class Process:
    """A Gaussian process, given observations (`docs/expensive.md`: its model and equations).

    Attributes
    ----------
    features
        (n, d), each in [0, 1].
    constant
        The mean of the observations.
    parameters
        Logarithms of the d lengths, of s and of the variance of the noise.
    factor, weights
        Lower Cholesky factor (n, n) of the covariance of the observations, and its inverse times
        the observations less their mean, (n,).
    """

    features: Matrix
    constant: float
    parameters: Column
    factor: Matrix
    weights: Column

    def mean(self, features: Matrix) -> Column:
        """Return the posterior mean, (q,), of designs (q, d), block by block."""
        blocks = np.array_split(features, 1 + len(features) // BLOCK)
        parts = [self.between(block, self.features) @ self.weights for block in blocks]
        return self.constant + np.concatenate(parts)

    def between(self, first: Matrix, second: Matrix) -> Matrix:
        """Return the prior covariances, (p, q), of designs (p, f) with others (q, f)."""
        return _between(first, second, self.parameters)

    def whitened(self, features: Matrix) -> Matrix:
        """Return V (n, q), whose V.T @ V is the covariance that the observations explain."""
        prior = self.between(features, self.features).T
        solved: Matrix = solve_triangular(self.factor, prior, lower=True)
        return solved

    @property
    def variance(self) -> float:
        """The prior variance s of f."""
        return float(np.exp(self.parameters[-2]))

    @property
    def noise(self) -> float:
        """The variance of e."""
        return _noise(self.parameters)

    def leave_one_out(self) -> Column:
        """Return y_i less its mean when y_i itself is omitted, (n,): eq. 5.12, c as it is."""
        inverse = cho_solve((self.factor, True), np.eye(len(self.weights)))
        left: Column = self.weights / np.diag(inverse)
        return left


def fitted(
    features: Matrix, values: Column, start: Column | None = None, *, noise: float = _MOST_NOISE
) -> Process:
    """Return the process with the most probable parameters.

    They maximise the marginal likelihood (eq. 5.8) times a log-normal prior of the lengths, from
    `start`, the parameters of an earlier process.  The variance of the noise is at most `noise`
    times the variance of the observations.
    """
    constant = float(values.mean())
    y = values - constant
    level = np.log(max(float(y.var()), 1e-12))
    d = features.shape[1]
    low = np.r_[np.full(d, -2.5), level - 4, level - 11]
    high = np.r_[np.full(d, 3.0), level + 4, level + np.log(noise)]
    first = np.r_[np.full(d, np.log(LENGTH)), level, level - 4.6] if start is None else start
    some = np.unique(np.linspace(0, len(y) - 1, MOST_FITTED).round().astype(int))
    squares = (features[some, None] - features[None, some]) ** 2
    found = minimize(
        _loss,
        np.clip(first, low, high),
        args=(squares, y[some]),
        jac=True,
        method="L-BFGS-B",
        bounds=Bounds(low, high),
        options={"maxiter": _STEPS},
    )
    covariance = _between(features, features, found.x)
    np.fill_diagonal(covariance, np.exp(found.x[-2]) + _noise(found.x))
    factor = cholesky(covariance, lower=True)
    return Process(features, constant, found.x, factor, cho_solve((factor, True), y))


def _kernel(squared: Matrix, parameters: Column) -> tuple[Matrix, Matrix]:
    """Return the kernel at scaled squared distances, and the factor of its derivatives."""
    r = np.sqrt(5.0 * squared)
    decay = np.exp(parameters[-2] - r)
    return decay * (1.0 + r + r * r / 3.0), decay * (1.0 + r)


def _between(first: Matrix, second: Matrix, parameters: Column) -> Matrix:
    inverse = np.exp(-parameters[:-2])
    here, there = first * inverse, second * inverse
    squared = (here**2).sum(axis=1)[:, None] + (there**2).sum(axis=1) - 2 * here @ there.T
    return _kernel(np.maximum(squared, 0.0), parameters)[0]


def _noise(parameters: Column) -> float:
    return float(np.exp(parameters[-1]) + JITTER * np.exp(parameters[-2]))


def _loss(parameters: Column, squares: NDArray[np.float64], y: Column) -> tuple[float, Column]:
    """Return minus the logarithm of the posterior of the parameters and its gradient (eq. 5.9)."""
    kernel, slope = _kernel(squares @ np.exp(-2 * parameters[:-2]), parameters)
    covariance = kernel + _noise(parameters) * np.eye(len(kernel))
    try:
        factor = cholesky(covariance, lower=True)
    except LinAlgError:
        return 1e10, np.zeros_like(parameters)
    weights = cho_solve((factor, True), y)
    outer = np.outer(weights, weights) - cho_solve((factor, True), np.eye(len(y)))
    away = (parameters[:-2] - np.log(LENGTH)) / LENGTH_SPREAD**2
    loss = 0.5 * y @ weights + np.log(np.diag(factor)).sum()
    loss += 0.5 * away @ away * LENGTH_SPREAD**2
    n, d = len(y), squares.shape[2]
    lengths = (outer * slope).reshape(1, n * n) @ squares.reshape(n * n, d)
    lengths = (5.0 / 3.0) * lengths[0] * np.exp(-2 * parameters[:-2])
    trace = np.trace(outer)
    jitter = JITTER * np.exp(parameters[-2]) * trace
    return float(loss), np.r_[
        -0.5 * lengths + away,
        -0.5 * ((outer * kernel).sum() + jitter),
        -0.5 * trace * np.exp(parameters[-1]),
    ]
