"""LogCA: the time of an offload to an accelerator, and the speedup over the host.

Altaf and Wood, "LogCA: A High-Level Performance Model for Hardware Accelerators", ISCA 2017;
first, for linear kernels only, in IEEE Computer Architecture Letters 14(2), 2015.  Numbers of
equations, sections and tables are those of the ISCA paper.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dse.contract import Column
from dse.objectives.logca.break_even import (
    LARGEST_BYTE,
    break_even_granularity,
    first_nonnegative,
    flat,
    roots,
    shaped,
)

__all__ = ["LARGEST_BYTE", "LogCA", "break_even_granularity"]


@dataclass(frozen=True, kw_only=True)
class DeviceRows:
    """The fields of `LogCA` as contiguous rows, with the latency sorted into its kind."""

    fixed: Column
    per_byte: Column
    index: Column
    acceleration: Column
    exponent: Column
    offset: Column


@dataclass(frozen=True, kw_only=True)
class LogCA:
    """An accelerator behind an interface, running one kernel (Table 1).

    The host takes ``host_offset + index * g**exponent``, an offload ``overhead + latency
    [* g] + index * g**exponent / acceleration``.  All times are in one unit, whichever (the
    paper's are cycles of the host); granularities g are in bytes.  Fields and arguments are
    scalars or columns that broadcast; results have their common shape.

    Parameters
    ----------
    latency
        Time to move the data across the interface, per call or per byte.
    overhead
        Time the host spends on setting up one offload.
    index
        Computational index C: time on the host per ``byte**exponent``.
    acceleration
        Peak speedup A; infinity where `latency` carries the accelerator's own time.
    exponent
        Power of the granularity that the computation grows with.
    latency_per_byte
        Whether `latency` is per byte (eq 8) or per call (eq 2).
    host_offset
        Fixed time of a call on the host; the paper's model has none.

    Raises
    ------
    ValueError
        A value that is negative, zero, infinite or NaN where that has no meaning; shapes
        that do not broadcast.

    Notes
    -----
    A granularity beyond `largest` (by default all that 64 bits address) counts as one that
    does not exist; with ``largest=math.inf`` every root does.  It matters for exponents just
    above 1: with Table 5 as printed, AES on the discrete GPU breaks even at 1e125 bytes.
    """

    latency: ArrayLike
    overhead: ArrayLike
    index: ArrayLike
    acceleration: ArrayLike
    exponent: ArrayLike = 1.0
    latency_per_byte: ArrayLike = False
    host_offset: ArrayLike = 0.0

    def __post_init__(self) -> None:
        """Refuse what is no device."""
        for name in ("latency", "overhead", "host_offset"):
            _require(name, getattr(self, name), above_zero=False)
        for name in ("index", "exponent"):
            _require(name, getattr(self, name), above_zero=True)
        _require("acceleration", self.acceleration, above_zero=True, infinite=True)
        if np.asarray(self.latency_per_byte).dtype != np.bool_:
            raise ValueError(
                f"latency_per_byte is {self.latency_per_byte!r}; it says whether latency counts "
                "per byte; write True or False"
            )
        try:
            self.shape  # noqa: B018
        except ValueError:
            shapes = {field.name: np.shape(getattr(self, field.name)) for field in fields(self)}
            raise ValueError(f"columns must broadcast, but their shapes are {shapes}") from None

    @property
    def shape(self) -> tuple[int, ...]:
        """Common shape of the fields; () for one device."""
        return np.broadcast_shapes(*(np.shape(getattr(self, field.name)) for field in fields(self)))

    def devices(self) -> Iterator[LogCA]:
        """Iterate over the single devices of columns, in C order."""
        names = [field.name for field in fields(self)]
        columns = np.broadcast_arrays(*(np.asarray(getattr(self, name)) for name in names))
        for row in zip(*(column.ravel().tolist() for column in columns), strict=True):
            yield LogCA(**dict(zip(names, row, strict=True)))

    def host_time(self, g: ArrayLike) -> Column:
        """Return the time without the accelerator, T0."""
        rows, size, shape = self._at(g)
        return shaped(rows.offset + rows.index * _power(size, rows.exponent), shape)

    def offload_time(self, g: ArrayLike) -> Column:
        """Return the time of an offload, T1."""
        rows, size, shape = self._at(g)
        with np.errstate(over="ignore"):
            computing = rows.index * _power(size, rows.exponent) / rows.acceleration
        return shaped(rows.fixed + rows.per_byte * size + computing, shape)

    def speedup(self, g: ArrayLike) -> Column:
        """Return T0 / T1 (eqs 1, 2, 8); infinity where the offload takes no time at all."""
        host, offload = np.atleast_1d(self.host_time(g), self.offload_time(g))
        with np.errstate(divide="ignore", invalid="ignore"):
            return shaped(host / offload, np.broadcast_shapes(self.shape, np.shape(g)))

    def intensity_bound(self, g: ArrayLike) -> Column:
        """Return ``C / L * g**(exponent - 1)``: limit of latency per byte (eq 9), else infinity."""
        rows, size, shape = self._at(g)
        with np.errstate(divide="ignore"):
            return shaped(rows.index * _power(size, rows.exponent) / (rows.per_byte * size), shape)

    def granularities(self, speedup: ArrayLike, *, largest: float = LARGEST_BYTE) -> Column:
        """Return every granularity that gives a speedup, ascending.

        One device and one speedup give a plain array, empty when there is none;
        columns give a new last axis of two, padded with NaN.
        """
        _require("speedup", speedup, above_zero=True)
        rows, (wanted,), shape = self.rows(speedup)
        with np.errstate(invalid="ignore"):
            found = roots(
                rows.index * (1 - wanted / rows.acceleration),
                rows.exponent,
                wanted * rows.per_byte,
                wanted * rows.fixed - rows.offset,
                largest=largest,
            )
        return found.reshape((*shape, 2)) if shape else found[~np.isnan(found)]

    def break_even(self, *, largest: float = LARGEST_BYTE) -> Column:
        """Return g_1: the least granularity from which the host is not faster, else NaN.

        Exact for latency per call (eq 5) and per byte alike; 0 when a host offset lets every
        small offload pay.
        """
        rows, _, shape = self.rows()
        found = first_nonnegative(
            rows.index * (1 - 1 / rows.acceleration),
            rows.exponent,
            rows.per_byte,
            rows.fixed - rows.offset,
            largest=largest,
        )
        return shaped(found, shape)

    def half_acceleration(self, *, largest: float = LARGEST_BYTE) -> Column:
        """Return g_{A/2}: the least granularity with half the acceleration, else NaN (eq 6)."""
        rows, _, shape = self.rows()
        wanted = np.where(np.isinf(rows.acceleration), np.nan, rows.acceleration / 2)
        found = first_nonnegative(
            rows.index / 2,
            rows.exponent,
            wanted * rows.per_byte,
            wanted * rows.fixed - rows.offset,
            largest=largest,
        )
        return shaped(found, shape)

    def break_even_one_newton_step(self) -> Column:
        """Return the paper's g_1 (eq 11): one Newton step from g = 1 towards the root.

        Exact for a linear kernel; elsewhere it can even be negative.  `break_even` is exact.
        """
        rows, _, shape = self.rows()
        return shaped(_newton_step(rows, 1 - 1 / rows.acceleration, 1.0), shape)

    def half_acceleration_one_newton_step(self) -> Column:
        """Return the paper's g_{A/2} (eq 12): one Newton step from g = 1 towards the root."""
        rows, _, shape = self.rows()
        return shaped(_newton_step(rows, 0.5, rows.acceleration / 2), shape)

    def acceleration_one_newton_step(self) -> Column:
        """Return the paper's g_A (eq 13): like eq 12, for speedup A with infinite acceleration.

        Equal to eq 12 but for a host offset, which counts once here and twice there.
        """
        rows, _, shape = self.rows()
        return shaped(_newton_step(rows, 1.0, rows.acceleration), shape)

    def bound(self, g: ArrayLike = LARGEST_BYTE) -> str | NDArray[np.str_]:
        """Say what bounds offloads of some size: ``compute-bound`` or ``latency-bound``.

        Latency-bound is one whose latency per byte takes longer than its computing, so that
        ``intensity_bound`` is below the acceleration (eqs 3, 9).  Section 3.1 names by the
        exponent alone, as for g to infinity, where a fitted 1.01 gives another name than 1.
        """
        rows, size, shape = self._at(g)
        computing = rows.index * _power(size, rows.exponent) / rows.acceleration
        by_latency = rows.per_byte * size > computing
        names = np.where(by_latency, "latency-bound", "compute-bound").reshape(shape)
        return names if shape else str(names)

    def _at(self, g: ArrayLike) -> tuple[DeviceRows, Column, tuple[int, ...]]:
        """Return the fields and a granularity in rows."""
        _require("granularity", g, above_zero=False)
        rows, (size,), shape = self.rows(g)
        return rows, size, shape

    def rows(self, *others: ArrayLike) -> tuple[DeviceRows, list[Column], tuple[int, ...]]:
        """Broadcast the fields and `others` to contiguous rows; also return their shape."""
        columns, shape = flat(*(getattr(self, field.name) for field in fields(self)), *others)
        latency, overhead, index, acceleration, exponent, per_byte, offset = columns[:7]
        rows = DeviceRows(
            fixed=overhead + np.where(per_byte == 1, 0.0, latency),
            per_byte=np.where(per_byte == 1, latency, 0.0),
            index=index,
            acceleration=acceleration,
            exponent=exponent,
            offset=offset,
        )
        return rows, columns[7:], shape


def _require(name: str, value: ArrayLike, *, above_zero: bool, infinite: bool = False) -> None:
    """Raise a ValueError that shows the first value out of range."""
    values = np.asarray(value, dtype=np.float64).ravel()
    good = ((values > 0) if above_zero else (values >= 0)) & (infinite | np.isfinite(values))
    if not good.all():
        rule = "above zero" if above_zero else "zero or more"
        rule += " (infinity is allowed)" if infinite else " and finite"
        raise ValueError(f"{name} is {values[~good][0]}; it must be {rule}")


def _power(size: Column, exponent: Column) -> Column:
    """Return ``size**exponent``: numpy's own power takes other code for a row of one."""
    with np.errstate(divide="ignore"):
        return np.where(exponent == 1, size, np.exp(exponent * np.log(size)))


def _newton_step(rows: DeviceRows, share: Column | float, speedup: Column | float) -> Column:
    """Step once from g = 1 towards ``share C g**b = speedup (o + L [g]) - offset``."""
    index = rows.index * share
    with np.errstate(all="ignore"):
        fixed, per_byte = speedup * rows.fixed - rows.offset, speedup * rows.per_byte
        return (index * (rows.exponent - 1) + fixed) / (index * rows.exponent - per_byte)
