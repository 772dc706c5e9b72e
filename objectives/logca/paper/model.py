"""LogCA: the time of an offload to an accelerator, and the speedup over the host.

Altaf and Wood, "LogCA: A High-Level Performance Model for Hardware Accelerators", ISCA 2017.
First, for linear kernels only, in IEEE Computer Architecture Letters 14(2), 2015.  Numbers of
equations, sections and tables are the ISCA paper's.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dse.contract import Column
from dse.objectives.logca.roots import ADDRESSED_BYTE, first_nonnegative, flat, roots, shaped


@dataclass(frozen=True, kw_only=True)
class LogCA:
    """An accelerator behind an interface, running one kernel (Table 1).

    The host takes ``host_offset + index * g**exponent``, an offload ``overhead + latency
    [* g] + index * g**exponent / acceleration``.  All times are in one unit, for instance the
    paper's host cycles.  Granularities g are in bytes, one or a column of them, and
    results have their shape.

    Parameters
    ----------
    latency
        Time to move the data across the interface, per call or per byte.
    overhead
        Time the host spends on setting up one offload.
    index
        Computational index C: time on the host per ``byte**exponent``.
    acceleration
        Peak speedup A, or infinity if `latency` includes the accelerator's time.
    exponent
        Power of the granularity that the computation grows with.
    latency_per_byte
        Whether `latency` is per byte (eq 8) or per call (eq 2).
    host_offset
        Fixed time of a call on the host.  The paper's model has no such time.

    Raises
    ------
    ValueError
        A value that is negative, zero, infinite or NaN and must not be.

    Notes
    -----
    A granularity beyond `largest` (by default all that 64 bits address) counts as missing.
    With ``largest=math.inf`` every root counts.  It matters for exponents just
    above 1: with Table 5 as printed, AES on the discrete GPU breaks even at 1e125 bytes.
    """

    latency: float
    overhead: float
    index: float
    acceleration: float
    exponent: float = 1.0
    latency_per_byte: bool = False
    host_offset: float = 0.0

    def __post_init__(self) -> None:
        """Raise ValueError if a value is invalid."""
        for name in ("latency", "overhead", "host_offset"):
            _require(name, getattr(self, name), above_zero=False)
        for name in ("index", "exponent"):
            _require(name, getattr(self, name), above_zero=True)
        _require("acceleration", self.acceleration, above_zero=True, infinite=True)
        if not isinstance(self.latency_per_byte, bool):
            raise ValueError(
                f"latency_per_byte is {self.latency_per_byte!r}; it states whether latency counts "
                "per byte; write True or False"
            )

    @property
    def fixed(self) -> float:
        """Return the time of an offload per call, without the accelerator's."""
        return self.overhead + (0.0 if self.latency_per_byte else self.latency)

    @property
    def per_byte(self) -> float:
        """Return the time of an offload per byte, without the accelerator's."""
        return self.latency if self.latency_per_byte else 0.0

    def host_time(self, g: ArrayLike) -> Column:
        """Return the time without the accelerator, T0."""
        size, shape = _sizes(g)
        return shaped(self.host_offset + self.index * _power(size, self.exponent), shape)

    def offload_time(self, g: ArrayLike) -> Column:
        """Return the time of an offload, T1."""
        size, shape = _sizes(g)
        with np.errstate(over="ignore"):
            computing = self.index * _power(size, self.exponent) / self.acceleration
        return shaped(self.fixed + self.per_byte * size + computing, shape)

    def speedup(self, g: ArrayLike) -> Column:
        """Return T0 / T1 (eqs 1, 2, 8), infinity if the offload takes no time at all."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.divide(self.host_time(g), self.offload_time(g))

    def intensity_bound(self, g: ArrayLike) -> Column:
        """Return ``C / L * g**(exponent - 1)``: limit of latency per byte (eq 9), else infinity."""
        size, shape = _sizes(g)
        with np.errstate(divide="ignore"):
            return shaped(self.index * _power(size, self.exponent) / (self.per_byte * size), shape)

    def granularities(self, speedup: float) -> Column:
        """Return every granularity that gives a speedup, ascending, or an empty column."""
        _require("speedup", speedup, above_zero=True)
        found = roots(*self._lead(speedup))
        return found[~np.isnan(found)]

    def _lead(self, speedup: float) -> tuple[float, float, float, float]:
        """Return a, b, c, d of ``T0 - speedup T1 = a g**b - c g - d``."""
        left = self.index * (1 - speedup / self.acceleration)
        fixed = speedup * self.fixed - self.host_offset
        return left, self.exponent, speedup * self.per_byte, fixed

    def break_even(self, *, largest: float = ADDRESSED_BYTE) -> Column:
        """Return g_1: the least granularity without an advantage of the host, else NaN.

        Exact for latency per call (eq 5) and per byte alike.  0 if a host offset lets every
        small offload pay.
        """
        return first_nonnegative(*self._lead(1.0), largest=largest)

    def half_acceleration(self, *, largest: float = ADDRESSED_BYTE) -> Column:
        """Return g_{A/2}: the least granularity with half the acceleration, else NaN (eq 6)."""
        wanted = math.nan if math.isinf(self.acceleration) else self.acceleration / 2
        return first_nonnegative(*self._lead(wanted), largest=largest)

    def bound(self, g: ArrayLike = ADDRESSED_BYTE) -> str | NDArray[np.str_]:
        """Return the bound of offloads of some size: ``compute-bound`` or ``latency-bound``.

        An offload is latency-bound if its latency per byte takes longer than its computing, so that
        ``intensity_bound`` is below the acceleration (eqs 3, 9).  Section 3.1 names the bound by
        the exponent only, as for g to infinity, which gives a fitted 1.01 another name than 1.
        """
        size, shape = _sizes(g)
        computing = self.index * _power(size, self.exponent) / self.acceleration
        by_latency = self.per_byte * size > computing
        names = np.where(by_latency, "latency-bound", "compute-bound").reshape(shape)
        return names if shape else str(names)


def _sizes(g: ArrayLike) -> tuple[Column, tuple[int, ...]]:
    """Return granularities as a row, and their shape."""
    _require("granularity", g, above_zero=False)
    (size,), shape = flat(g)
    return size, shape


def _require(name: str, value: ArrayLike, *, above_zero: bool, infinite: bool = False) -> None:
    """Raise a ValueError that shows the first value out of range."""
    values = np.asarray(value, dtype=np.float64).ravel()
    good = ((values > 0) if above_zero else (values >= 0)) & (infinite | np.isfinite(values))
    if not good.all():
        rule = "above zero" if above_zero else "zero or more"
        rule += " (infinity is allowed)" if infinite else " and finite"
        raise ValueError(f"{name} is {values[~good][0]}; it must be {rule}")


def _power(size: Column, exponent: float) -> Column:
    """Return ``size**exponent``: numpy's own power takes other code for a row of one."""
    with np.errstate(divide="ignore"):
        return size if exponent == 1 else np.exp(exponent * np.log(size))
