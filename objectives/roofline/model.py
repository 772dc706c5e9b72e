"""The energy roofline with a power cap: time, energy and power of an algorithm on a platform.

Source: Choi, Dukhan, Liu, Vuduc, "Algorithmic time, energy, and power on candidate HPC compute
building blocks", IPDPS 2014.  Equation numbers are from its section III.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from dse.contract import PRECISIONS, Column, Platform

REGIMES = ("memory", "cap", "compute")
"""Limits of execution.  A column holds the position in this tuple."""

Values = float | Column
"""A number, or a column of them.  Columns broadcast against each other."""


@dataclass(frozen=True, kw_only=True, eq=False)
class EnergyRoofline:
    """Costs of a platform, in SI, each a number or a column, mutually broadcastable.

    NaN is an unknown value and makes all results that depend on it unknown.

    Attributes
    ----------
    time_per_op, time_per_byte
        Seconds per operation and per byte of memory traffic at full throughput, above zero.
    energy_per_op, energy_per_byte
        Joules per operation and per byte, on top of constant power.
    constant_power
        Watts drawn by any workload (pi_1).
    power_cap
        Usable power (delta pi): watts that may be spent *above* `constant_power`, so the
        platform draws at most their sum.  Infinity means uncapped.

    Raises
    ------
    ValueError
        A time or the cap is not above zero, an energy or the constant power is negative, only
        the cap may be infinite, or columns do not broadcast.
    """

    time_per_op: Values
    time_per_byte: Values
    energy_per_op: Values
    energy_per_byte: Values
    constant_power: Values
    power_cap: Values

    def __post_init__(self) -> None:
        """Keep float64 copies, so that a caller's column cannot change the model later."""
        for item in fields(self):
            value = np.array(getattr(self, item.name), dtype=np.float64)[()]
            _refuse(item.name, value)
            object.__setattr__(self, item.name, value)
        shapes = {item.name: np.shape(getattr(self, item.name)) for item in fields(self)}
        try:
            np.broadcast_shapes(*shapes.values())
        except ValueError as error:
            raise ValueError(f"columns must broadcast against each other; got {shapes}") from error

    @classmethod
    def of(cls, platform: Platform, *, precision: str = "single") -> EnergyRoofline:
        """Return the roofline of a catalogued platform.

        The rates of the catalogue are the *sustained* ones of Table I.  Section III requires
        "peak" throughput, yet the numbers printed in section V follow from the sustained
        columns and from no others.

        Raises
        ------
        ValueError
            Unknown precision, or a value that the source of the platform does not give.
        """
        if precision not in PRECISIONS:
            raise ValueError(f"precision {precision!r} is unknown; write {' or '.join(PRECISIONS)}")
        wanted = ("memory_byte_per_s", f"{precision}_op_per_s", f"{precision}_j_per_op")
        missing = [name for name in wanted if getattr(platform, name) is None]
        if missing:
            raise ValueError(
                f"platform {platform.name!r} has no {', '.join(missing)}; "
                "choose another precision or platform"
            )
        byte_rate, op_rate, energy_per_op = (getattr(platform, name) for name in wanted)
        cap = platform.usable_power_w
        return cls(
            time_per_op=1.0 / op_rate,
            time_per_byte=1.0 / byte_rate,
            energy_per_op=energy_per_op,
            energy_per_byte=platform.memory_j_per_byte,
            constant_power=platform.constant_power_w,
            power_cap=np.inf if cap is None else cap,
        )

    # --- equations (1) and (3), from which everything else follows ---

    def time(self, operations: Values, traffic: Values) -> Column:
        """Return seconds for `operations` and `traffic` bytes: the slowest of three (3)."""
        memory, cap, compute = self._times(operations, traffic)
        return np.maximum(np.maximum(memory, compute), cap)

    def energy(self, operations: Values, traffic: Values) -> Column:
        """Return joules for `operations` and `traffic` bytes (1)."""
        active = self._active_energy(operations, traffic)
        return active + self.constant_power * self.time(operations, traffic)

    def _active_energy(self, operations: Values, traffic: Values) -> Column:
        operations, traffic = np.asarray(operations), np.asarray(traffic)
        return operations * self.energy_per_op + traffic * self.energy_per_byte

    def _times(self, operations: Values, traffic: Values) -> tuple[Column, ...]:
        """Return the time that memory, cap and compute ask for, in the order of `REGIMES`."""
        operations, traffic = np.asarray(operations), np.asarray(traffic)
        return tuple(
            np.broadcast_arrays(
                traffic * self.time_per_byte,
                self._active_energy(operations, traffic) / self.power_cap,
                operations * self.time_per_op,
            )
        )

    # --- against operational intensity I = operations / traffic, from 0 to infinity ---

    def performance(self, intensity: Values) -> Column:
        """Return operations per second at `intensity` (operations per byte) (4)."""
        operations, traffic = _task(intensity)
        return operations / self.time(operations, traffic)

    def bandwidth(self, intensity: Values) -> Column:
        """Return bytes of memory traffic per second at `intensity`."""
        operations, traffic = _task(intensity)
        return traffic / self.time(operations, traffic)

    def efficiency(self, intensity: Values) -> Column:
        """Return operations per joule at `intensity`, constant power included (2)."""
        operations, traffic = _task(intensity)
        return operations / self.energy(operations, traffic)

    def power(self, intensity: Values) -> Column:
        """Return average watts at `intensity`: energy over time, which (7) expands.

        Written as constant power plus active energy over time, so that rounding cannot make it
        fall when the cap rises.
        """
        operations, traffic = _task(intensity)
        active = self._active_energy(operations, traffic)
        return self.constant_power + active / self.time(operations, traffic)

    def regime(self, intensity: Values) -> Column:
        """Return the limit of execution at `intensity`, as codes into `REGIMES`.

        The cap counts only if it slows execution down.  Memory and compute meet at the time
        balance, which counts as compute (7).
        """
        memory, cap, compute = self._times(*_task(intensity))
        unknown = np.isnan(memory + cap + compute)
        throttled = cap > np.maximum(memory, compute)
        code = np.select([unknown, throttled, compute >= memory], [np.nan, 1.0, 2.0], 0.0)
        return np.asarray(code)[()]

    # --- balances ---

    @property
    def time_balance(self) -> Column:
        """Return the intensity at which operations and traffic take equal time (B_tau)."""
        return np.divide(self.time_per_byte, self.time_per_op)

    @property
    def lower_balance(self) -> Column:
        """Return the intensity up to which memory limits execution (B-), 0 if it never does.

        The printed (6) goes negative if the cap is below the power of memory traffic (NUC CPU,
        APU CPU in Table I) and divides by zero if operations are free.
        """
        spare = np.subtract(self.power_cap, self.memory_power)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(self.op_power == 0, np.inf, spare / self.op_power)
        ratio = np.where(spare < 0, 0.0, np.where(np.isnan(spare), np.nan, ratio))
        return np.asarray(self.time_balance * np.minimum(1.0, ratio))[()]

    @property
    def upper_balance(self) -> Column:
        """Return the intensity from which compute limits execution (B+), infinity if it never does.

        The printed (5) goes negative, and its maximum falls back to the time balance, if the
        cap is below the power of operations (NUC GPU in Table I).
        """
        spare = np.subtract(self.power_cap, self.op_power)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(self.memory_power == 0, 0.0, self.memory_power / spare)
        ratio = np.where(spare < 0, np.inf, np.where(np.isnan(spare), np.nan, ratio))
        return np.asarray(self.time_balance * np.maximum(1.0, ratio))[()]

    # --- powers and peaks ---

    @property
    def op_power(self) -> Column:
        """Return the active watts of operations at full rate (pi_flop)."""
        return np.divide(self.energy_per_op, self.time_per_op)

    @property
    def memory_power(self) -> Column:
        """Return the active watts of memory at full rate (pi_mem)."""
        return np.divide(self.energy_per_byte, self.time_per_byte)

    @property
    def peak_power(self) -> Column:
        """Return the most watts drawn: at the time balance, with both at full rate or capped."""
        return self.constant_power + np.minimum(self.power_cap, self.op_power + self.memory_power)

    @property
    def peak_efficiency(self) -> Column:
        """Operations per joule without traffic."""
        return self.efficiency(np.inf)

    # --- variants of a platform ---

    def capped(self, divisor: Values) -> EnergyRoofline:
        """Return this platform with its power cap divided by `divisor` (figures 6 and 7)."""
        _refuse_unless_positive("divisor", divisor)
        return replace(self, power_cap=np.divide(self.power_cap, divisor))

    def times(self, copies: Values) -> EnergyRoofline:
        """Return `copies` platforms side by side, sharing the work without a network (fig. 1)."""
        _refuse_unless_positive("copies", copies)
        return replace(
            self,
            time_per_op=np.divide(self.time_per_op, copies),
            time_per_byte=np.divide(self.time_per_byte, copies),
            constant_power=np.multiply(self.constant_power, copies),
            power_cap=np.multiply(self.power_cap, copies),
        )


def _task(intensity: Values) -> tuple[Column, Column]:
    """Return operations and bytes in the ratio `intensity`, the larger of them 1.

    Neither is ever zero over zero, so intensities 0 and infinity need no special case.
    """
    intensity = np.asarray(intensity, dtype=np.float64)
    if np.any(intensity < 0):
        raise ValueError(f"intensity {np.min(intensity)} is negative; it runs from 0 to infinity")
    return np.minimum(intensity, 1.0), 1.0 / np.maximum(intensity, 1.0)


def _refuse(name: str, value: Any) -> None:
    if name.startswith("time") or name == "power_cap":
        _refuse_unless_positive(name, value)
    elif np.any(value < 0):
        raise ValueError(f"{name} = {float(np.min(value))} is negative; write 0 or more")
    if name != "power_cap" and np.any(np.isinf(value)):
        raise ValueError(f"{name} is infinite; only power_cap may be, for an uncapped platform")


def _refuse_unless_positive(name: str, value: Any) -> None:
    if np.any(np.asarray(value) <= 0):
        raise ValueError(f"{name} = {float(np.min(value))} is not above zero")
