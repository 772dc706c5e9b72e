"""Standard cells as records: pins, arcs, tables, flip-flops; all in SI."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Sense = Literal["positive", "negative", "both"]
"""Unateness: to which edge of an output a rising input leads."""


@dataclass(frozen=True, eq=False)
class LookupTable:
    """A table of the nonlinear delay model (NLDM); a scalar has one row and one column.

    Attributes
    ----------
    rows
        Slew (s) at the input, shape (n,); for constraints, slew of the data.
    columns
        Load (F) at the output, shape (m,); for constraints, slew (s) of the clock.
    values
        Shape (n, m): s, or J for tables of internal power.
    """

    rows: NDArray[np.float64]
    columns: NDArray[np.float64]
    values: NDArray[np.float64]

    def at(
        self, row: NDArray[np.float64] | float, column: NDArray[np.float64] | float
    ) -> NDArray[np.float64]:
        """Return values between the rows and columns, bilinear; beyond them the edge's plane."""
        i, above, down = _place(self.rows, row)
        j, right, across = _place(self.columns, column)
        upper = self.values[i, j] * (1 - across) + self.values[i, right] * across
        lower = self.values[above, j] * (1 - across) + self.values[above, right] * across
        return np.asarray(upper * (1 - down) + lower * down)


def _place(
    axis: NDArray[np.float64], wanted: NDArray[np.float64] | float
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float64]]:
    """Return the two entries of an axis beside each value, and how far along it is."""
    wanted = np.asarray(wanted, dtype=np.float64)
    if len(axis) == 1:
        first = np.zeros(wanted.shape, dtype=np.intp)
        return first, first, np.zeros(wanted.shape)
    at = np.clip(np.searchsorted(axis, wanted, side="right") - 1, 0, len(axis) - 2)
    return at, at + 1, (wanted - axis[at]) / (axis[at + 1] - axis[at])


@dataclass(frozen=True)
class Arc:
    """How an output follows an input, or when an input must be stable before or after another.

    Attributes
    ----------
    related_pin
        The input that causes; of a constraint, the clock.
    sense
        "positive": a rising input raises the output; "negative": it lowers it; "both".
    kind
        The ``timing_type`` of liberty: "combinational", "rising_edge", "setup_rising", ...
    cell_rise, cell_fall
        Delay (s) to a rising and to a falling output, from 50 % to 50 % as the library has it.
    rise_transition, fall_transition
        Slew (s) of the output.
    rise_constraint, fall_constraint
        Time (s) for which rising and falling data must be stable.
    when
        Condition on other pins, empty if there is none.
    """

    related_pin: str
    sense: Sense
    kind: str = "combinational"
    cell_rise: LookupTable | None = None
    cell_fall: LookupTable | None = None
    rise_transition: LookupTable | None = None
    fall_transition: LookupTable | None = None
    rise_constraint: LookupTable | None = None
    fall_constraint: LookupTable | None = None
    when: str = ""


@dataclass(frozen=True)
class InternalPower:
    """Energy (J) inside a cell per transition of a pin; of an output, by slew and load.

    `related_pin` is empty for inputs.
    """

    related_pin: str
    when: str
    rise: LookupTable | None
    fall: LookupTable | None


@dataclass(frozen=True)
class Pin:
    """A pin of a cell; `function` is the Boolean expression that drives it."""

    name: str
    direction: str
    capacitance_f: float = 0.0
    function: str | None = None
    arcs: tuple[Arc, ...] = ()
    power: tuple[InternalPower, ...] = ()
    clock: bool = False
    max_capacitance_f: float | None = None


@dataclass(frozen=True)
class FlipFlop:
    """The state of a flip-flop, as liberty's group `ff` has it: names and Boolean expressions.

    `state` and `inverted` are names that functions of outputs use.
    """

    state: str
    inverted: str
    next_state: str
    clocked_on: str
    clear: str | None = None
    preset: str | None = None


@dataclass(frozen=True)
class Cell:
    """A standard cell."""

    name: str
    area_m2: float
    leakage_w: float
    pins: Mapping[str, Pin]
    flip_flop: FlipFlop | None = None
    latch: bool = False
    dont_use: bool = False


@dataclass(frozen=True)
class WireLoad:
    """Capacitance (F) of a net by its fan-out; beyond the last, `slope_f` for each further pin."""

    name: str
    capacitance_f: tuple[float, ...]
    slope_f: float


@dataclass(frozen=True)
class CellLibrary:
    """Cells of one process at one corner; `sources` has the sha256 of each file by its name."""

    name: str
    voltage_v: float
    temperature_c: float
    corner: str
    cells: Mapping[str, Cell]
    sources: Mapping[str, str]
    wire_loads: Mapping[str, WireLoad]
    notes: tuple[str, ...] = ()
