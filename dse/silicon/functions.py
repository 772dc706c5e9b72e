"""Boolean functions of nets, evaluated side by side on two or three values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dse.silicon.boolean import truth_table

UNKNOWN = 2
"""The third value of a net, beside 0 and 1."""

BINARY, TERNARY = 2, 3
"""How many values a net can have: without and with `UNKNOWN`."""

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class NetFunction:
    """A function of nets that drives a net; `table` is a truth table over `inputs` as bytes."""

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
        By number of values: where the table of each begins in `tables`, shape (n,).
    tables
        By number of values: truth tables, one after the other.
    """

    outputs: Integers
    columns: tuple[Integers, ...]
    starts: Mapping[int, Integers]
    tables: Mapping[int, Integers]

    def at(self, values: Integers, radix: int) -> Integers:
        """Return the value of each function, given those of all nets, shape (nets,)."""
        entries = self.starts[radix].copy()
        for pin, nets in enumerate(self.columns):
            entries[: len(nets)] += values[nets] * radix**pin
        return self.tables[radix][entries]


def side_by_side(functions: Sequence[NetFunction]) -> Functions:
    """Return functions as arrays, in their order, which must be that of falling inputs."""
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

    A value is unknown where it depends on the unknown inputs of this one function; entry k is
    that where input i is digit i of k to the base of three.

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
    """Return the pins on which a function depends, and its truth table over them as bytes.

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
