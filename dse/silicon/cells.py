"""Standard cells as records in SI: Boolean functions, tables, pins, flip-flops."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dse.errors import ExpressionError, nearest, shortened

_TOKEN = re.compile(r"\s*(?:([A-Za-z_][\w\[\].]*|[01])|([!'&*|+^()])|(\S))")
_NAME = re.compile(r"[A-Za-z_][\w\[\].]*")

MOST_PINS = 16
"""Most pins of a function, whose table has 2**n entries."""

MOST_DEEP = 100
"""Most nested brackets and ``!``."""

_JOINING = ((("+", "|"), np.logical_or), (("*", "&"), np.logical_and), (("^",), np.logical_xor))
"""Signs between two values, those that bind tightest last."""


class FunctionError(ExpressionError):
    """A Boolean expression of liberty that cannot be read."""


def truth_table(function: str, pins: Sequence[str]) -> NDArray[np.bool_]:
    """Return the values of a function of liberty, shape (2**n,).

    Entry k is the value for inputs that are the bits of k: pin i is bit i.  Signs, binding tightest
    first: ``!`` before and ``'`` after, ``^``, then ``*``, ``&`` or a blank, then ``+`` or ``|``
    (Liberty User Guide, "function").

    Raises
    ------
    FunctionError
        The expression has an unknown name or sign, or more than `MOST_PINS` pins are given.

    Examples
    --------
    >>> truth_table("!(A B)", ["A", "B"]).astype(int).tolist()
    [1, 1, 1, 0]
    """
    if len(pins) > MOST_PINS:
        rule = f"a function of {len(pins)} pins has more than 2**{MOST_PINS} entries"
        raise FunctionError(f"{function!r}: {rule}", "use cells with fewer pins")
    return _Reader(function, pins).read()


def names_in(function: str) -> list[str]:
    """Return the names in a function, sorted, each once.

    Examples
    --------
    >>> names_in("!(B A1) + B'")
    ['A1', 'B']
    """
    return sorted(set(_NAME.findall(function)))


class _Reader:
    """A recursive descent over the tokens of one expression."""

    def __init__(self, function: str, pins: Sequence[str]) -> None:
        self.function = function
        entries = np.arange(2 ** len(pins))
        self.columns = {pin: (entries >> i) & 1 == 1 for i, pin in enumerate(pins)}
        self.columns |= {"0": np.zeros(len(entries), bool), "1": np.ones(len(entries), bool)}
        self.tokens = [found.group().strip() for found in _TOKEN.finditer(function)]
        self.next = 0
        self.deep = 0

    def read(self) -> NDArray[np.bool_]:
        value = self._joined()
        if self.next < len(self.tokens):
            raise self._fault(f"{self.tokens[self.next]!r} does not belong here")
        return value

    def _fault(
        self, rule: str, remedy: str = "write names with ! ' ^ * & + | ( )"
    ) -> FunctionError:
        return FunctionError(f"{self.function!r}: {rule}", remedy)

    def _peek(self) -> str:
        return self.tokens[self.next] if self.next < len(self.tokens) else ""

    def _joined(self, level: int = 0) -> NDArray[np.bool_]:
        """Return the terms joined by the signs of a level, adjacent terms as a product."""
        if level == len(_JOINING):
            return self._single()
        signs, join = _JOINING[level]
        value = self._joined(level + 1)
        while self._peek() in signs or ("*" in signs and self._peek() not in ("", "+", "|", ")")):
            self.next += self._peek() in signs
            value = join(value, self._joined(level + 1))
        return value

    def _single(self) -> NDArray[np.bool_]:
        self.deep += 1
        if self.deep > MOST_DEEP:
            rule = f"brackets and ! are more than {MOST_DEEP} deep"
            raise FunctionError(f"{shortened(self.function)!r}: {rule}", "simplify it")
        value = self._within(self._peek())
        self.deep -= 1
        return value

    def _within(self, sign: str) -> NDArray[np.bool_]:
        self.next += 1
        if sign == "!":
            return ~self._single()
        if sign == "(":
            value = self._joined()
            if self._peek() != ")":
                raise self._fault("a bracket is not closed")
            self.next += 1
        elif sign in self.columns:
            value = self.columns[sign]
        elif not sign:
            raise self._fault("it ends too early")
        else:
            known = [name for name in self.columns if name not in "01"]
            raise self._fault(f"{sign!r} is no pin", nearest(sign, known))
        while self._peek() == "'":
            self.next += 1
            value = ~value
        return value


# Records of cells

Sense = Literal["positive_unate", "negative_unate", "non_unate"]
"""To which edge of an output a rising input leads, in the words of liberty."""


@dataclass(frozen=True, eq=False)
class LookupTable:
    """A table of the nonlinear delay model (NLDM).  A scalar has one row and one column.

    Attributes
    ----------
    rows
        Slew (s) at the input, shape (n,).  For constraints, slew of the data.
    columns
        Load (F) at the output, shape (m,).  For constraints, slew (s) of the clock.
    values
        Shape (n, m): s, or J for tables of internal power.
    """

    rows: NDArray[np.float64]
    columns: NDArray[np.float64]
    values: NDArray[np.float64]

    def at(
        self, row: NDArray[np.float64] | float, column: NDArray[np.float64] | float
    ) -> NDArray[np.float64]:
        """Return values, bilinear between rows and columns, on the edge's plane beyond them."""
        row, column = np.broadcast_arrays(np.asarray(row, float), np.asarray(column, float))
        which = np.zeros(row.size, dtype=np.intp)
        return TableStack((self,)).at(which, row.ravel(), column.ravel()).reshape(row.shape)


class TableStack:
    """Tables of any shapes as arrays of one shape, so that many are read at once."""

    def __init__(self, tables: Sequence[LookupTable]) -> None:
        """Pad axes with infinity.  A table's number is its position in the sequence."""
        self._rows, self._row_last = _padded([table.rows for table in tables])
        self._columns, self._column_last = _padded([table.columns for table in tables])
        shape = (len(tables), self._rows.shape[1], self._columns.shape[1])
        self._values = np.zeros(shape)
        for place, table in enumerate(tables):
            height, width = table.values.shape
            self._values[place, :height, :width] = table.values

    def at(
        self, which: NDArray[np.intp], row: NDArray[np.float64], column: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the value of table `which` at each row and column, all of shape (n,).

        Bilinear between four neighbours, ``(1-r)(1-c) v00 + (1-r) c v01 + r (1-c) v10 + r c v11``
        with r and c the shares of the way.  Beyond the table the same plane continues, so that r or
        c is below 0 or above 1 (Liberty User Guide, "Table Lookup and Interpolation").
        """
        i, above, down = _between(self._rows[which], self._row_last[which], row)
        j, right, across = _between(self._columns[which], self._column_last[which], column)
        values = self._values
        upper = values[which, i, j] * (1 - across) + values[which, i, right] * across
        lower = values[which, above, j] * (1 - across) + values[which, above, right] * across
        return np.asarray(upper * (1 - down) + lower * down)


def _padded(axes: list[NDArray[np.float64]]) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    longest = max((len(axis) for axis in axes), default=1)
    padded = np.full((len(axes), longest), np.inf)
    for place, axis in enumerate(axes):
        padded[place, : len(axis)] = axis
    return padded, np.array([len(axis) - 1 for axis in axes], dtype=np.intp)


def _between(
    axes: NDArray[np.float64], last: NDArray[np.intp], wanted: NDArray[np.float64]
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float64]]:
    """Return the two entries of an axis beside each value, and how far along it is."""
    at = (axes <= wanted[:, None]).sum(axis=1) - 1
    at = np.clip(at, 0, np.maximum(last - 1, 0))
    following = np.minimum(at + 1, last)
    every = np.arange(len(wanted))
    start = axes[every, at]
    length = axes[every, following] - start
    share = np.divide(wanted - start, length, out=np.zeros(len(wanted)), where=length > 0)
    return at, following, share


DELAY_TABLES = ("cell_rise", "cell_fall", "rise_transition", "fall_transition")
"""Tables of an arc that a signal passes."""

STABLE_TABLES = ("rise_constraint", "fall_constraint")
"""Tables of an arc that requires stable data."""


@dataclass(frozen=True)
class Arc:
    """Delays from an input to an output, or times of required stability of an input around another.

    Attributes
    ----------
    related_pin
        The input that causes the change, or the clock of a constraint.
    sense
        "positive_unate": a rising input raises the output.  "negative_unate": it lowers it.
        "non_unate": both.
    kind
        The ``timing_type`` of liberty: "combinational", "rising_edge", "setup_rising", ...
    cell_rise, cell_fall
        Delay (s) to a rising and to a falling output, from 50 % to 50 % as the library has it.
    rise_transition, fall_transition
        Slew (s) of the output.
    rise_constraint, fall_constraint
        Time (s) for which rising and falling data must be stable.
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


@dataclass(frozen=True)
class InternalPower:
    """Energy (J) inside a cell per transition of a pin, for an output by slew and load.

    `related_pin` is empty for inputs.  Energies from several supply rails add up.

    """

    related_pin: str
    when: str
    rise: LookupTable | None
    fall: LookupTable | None
    rail: str = ""


@dataclass(frozen=True)
class Pin:
    """A pin of a cell, with `function`, the Boolean expression that drives it.

    `edge_capacitance_f` is the capacitance at a rising and at a falling edge, if the library
    distinguishes them, the largest of a range.
    """

    name: str
    direction: str
    capacitance_f: float = 0.0
    function: str | None = None
    arcs: tuple[Arc, ...] = ()
    power: tuple[InternalPower, ...] = ()
    clock: bool = False
    max_capacitance_f: float | None = None
    edge_capacitance_f: tuple[float, float] | None = None


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
class ClockGate:
    """Pins of an integrated clock gate, which passes the clock's pulse if enabled before it.

    `tied` are those that are 0 but in tests.
    """

    clock: str
    enable: str
    output: str
    tied: tuple[str, ...] = ()


@dataclass(frozen=True)
class Cell:
    """A standard cell.  `latch` is false for clock gates, which contain one."""

    name: str
    area_m2: float
    leakage_w: float
    pins: Mapping[str, Pin]
    flip_flop: FlipFlop | None = None
    latch: bool = False
    clock_gate: ClockGate | None = None
    dont_use: bool = False

    @cached_property
    def inputs(self) -> tuple[str, ...]:
        """Return the names of its inputs."""
        return tuple(pin.name for pin in self.pins.values() if pin.direction == "input")

    @cached_property
    def outputs(self) -> tuple[Pin, ...]:
        """Return its outputs."""
        return tuple(pin for pin in self.pins.values() if pin.direction == "output")


@dataclass(frozen=True)
class CellLibrary:
    """Cells of one process at one corner, from the files named in `sources`."""

    name: str
    voltage_v: float
    temperature_c: float
    corner: str
    cells: Mapping[str, Cell]
    sources: tuple[str, ...]
    notes: tuple[str, ...] = ()


def unateness(function: str | None, related: str, known: Sequence[str] | None) -> Sense:
    """Return the sense of a function in one of its pins: both ways if it is unknown.

    Examples
    --------
    >>> unateness("!(A B)", "A", ["A", "B"])
    'negative_unate'
    """
    if not function or known is None or related not in known:
        return "non_unate"
    table = truth_table(function, known).reshape((2,) * len(known))
    axis = len(known) - 1 - list(known).index(related)
    low, high = np.take(table, 0, axis), np.take(table, 1, axis)
    rises, falls = bool(np.any(high & ~low)), bool(np.any(low & ~high))
    return "non_unate" if rises == falls else "positive_unate" if rises else "negative_unate"
