"""Boolean functions: expressions of liberty as truth tables, and functions of many nets as arrays.

Values are two, or three if some may be unknown.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

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


UNKNOWN = 2
"""The third value of a net, beside 0 and 1."""

BINARY, TERNARY = 2, 3
"""Number of values of a net: without and with `UNKNOWN`."""

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class NetFunction:
    """A function of nets that drives a net.  Its values over `inputs` are `table`, as bytes."""

    output: int
    inputs: tuple[int, ...]
    table: bytes


@dataclass(frozen=True, eq=False)
class Functions:
    """Functions of nets, those with most inputs first.

    Attributes
    ----------
    outputs
        Net of each, shape (n,).
    columns
        ``columns[p]`` has the net of input p of the first ``len(columns[p])`` functions.
    starts
        By number of values: the start of each function's table in `tables`, shape (n,).
    tables
        By number of values: truth tables, one after the other.
    """

    outputs: Integers
    columns: tuple[Integers, ...]
    starts: Mapping[int, Integers]
    tables: Mapping[int, Integers]

    def at(self, values: Integers, radix: int) -> Integers:
        """Return the value of each function from the values of all nets, shape (nets,)."""
        entries = self.starts[radix].copy()
        for pin, nets in enumerate(self.columns):
            entries[: len(nets)] += values[nets] * radix**pin
        return self.tables[radix][entries]


def side_by_side(functions: Sequence[NetFunction]) -> Functions:
    """Return functions as arrays, in the given order, which must be by falling number of inputs."""
    places: dict[bytes, tuple[int, int]] = {}
    pools: dict[int, list[Integers]] = {BINARY: [], TERNARY: []}
    sizes = dict.fromkeys(pools, 0)
    for table in dict.fromkeys(function.table for function in functions):
        places[table] = sizes[BINARY], sizes[TERNARY]
        plain = np.frombuffer(table, dtype=np.bool_)
        for radix, values in ((BINARY, plain.astype(np.int64)), (TERNARY, ternary(plain))):
            pools[radix].append(values)
            sizes[radix] += len(values)
    inputs = [function.inputs for function in functions]
    widest = len(inputs[0]) if inputs else 0
    starts = np.array([places[function.table] for function in functions], np.int64).reshape(-1, 2)
    return Functions(
        outputs=np.array([function.output for function in functions], np.int64),
        columns=tuple(
            np.array([nets[pin] for nets in inputs if len(nets) > pin], np.int64)
            for pin in range(widest)
        ),
        starts={BINARY: starts[:, 0], TERNARY: starts[:, 1]},
        tables={radix: np.concatenate([*pool, _NONE]) for radix, pool in pools.items()},
    )


_NONE = np.zeros(0, np.int64)


def ternary(table: NDArray[np.bool_]) -> Integers:
    """Return a truth table, shape (2**n,), for inputs that may be unknown, shape (3**n,).

    A value is unknown if it depends on the unknown inputs of this one function.  Entry k is the
    value for inputs that are the digits of k to the base of three.

    Examples
    --------
    >>> ternary(truth_table("A B", ["A", "B"])).tolist()
    [0, 0, 0, 0, 1, 2, 0, 2, 2]
    """
    pins = len(table).bit_length() - 1
    values = table.astype(np.int64).reshape((2,) * pins)
    for axis in range(pins):
        low, high = np.take(values, 0, axis), np.take(values, 1, axis)
        values = np.stack([low, high, np.where(low == high, low, UNKNOWN)], axis)
    return values.ravel()


def essential(table: NDArray[np.bool_], pins: Sequence[str]) -> tuple[tuple[str, ...], bytes]:
    """Return the pins that a function depends on, and its truth table over them as bytes.

    Examples
    --------
    >>> names, table = essential(truth_table("A B + A !B", ["A", "B"]), ["A", "B"])
    >>> names, np.frombuffer(table, bool).tolist()
    (('A',), [False, True])
    """
    values = table.reshape((2,) * len(pins))
    names = list(pins)
    for place in reversed(range(len(pins))):
        axis = len(names) - 1 - place
        low, high = np.take(values, 0, axis), np.take(values, 1, axis)
        if np.array_equal(low, high):
            values = low
            del names[place]
    return tuple(names), values.tobytes()


def of_state(function: str, pins: Sequence[str], state: str, inverted: str) -> NDArray[np.bool_]:
    """Return the truth table over pins and a state that a function may also use inverted.

    Examples
    --------
    >>> of_state("D IQN", ["D"], "IQ", "IQN").tolist()
    [False, True, False, False]
    """
    values = truth_table(function, (*pins, state, inverted)).reshape(2, 2, -1)
    return np.concatenate([values[1, 0], values[0, 1]])
