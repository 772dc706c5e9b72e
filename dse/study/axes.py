"""Axes of the space from values written in a study: fields, and axes with their own names."""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dse.algebra import units
from dse.contract import Column, Parameter
from dse.errors import UnitError
from dse.model.space import Axis, Numbers
from dse.study.field_kinds import Given, Range, Unit, neutral
from dse.study.reader import Reader

MOST_VALUES = 1_000_000
"""Most values of one axis.  A longer axis is a typing mistake rather than a question."""

MOST_LISTED = 4_000_000
"""Most values of all axes of a stage together, which bounds the memory to about 100 MiB."""

STEPS = 2**20
"""Steps into which a continuous range is divided, so that equal designs are equal rows."""

_DIGITS = 12
"""Significant digits of a computed value, which undo the rounding of the logarithm."""

Read = Callable[[Any], float]


Spread = tuple[ArrayLike, bool, bool]
"""Values of an axis in SI, then True for a logarithmic grid, and True for a continuous range."""


def spread_values(written: Any, read: Read, *, integer: bool) -> Spread:
    """Return the values of a range, a list or a scalar.  A range may be continuous.

    A continuous range of whole numbers has all of them, if they are no more than `STEPS`.

    Raises
    ------
    UnitError
        With rule and remedy: a value cannot be read or the range is empty.
    """
    log = isinstance(written, Range) and written.grid == "log"
    if not isinstance(written, Range) or not written.continuous:
        return expand(written, read, integer=integer), log, False
    start, stop = _ends(written, read)
    if written.step is not None or written.points is not None:
        raise UnitError("`continuous` is any value of the range", "remove `step` and `points`")
    if stop == start:
        raise UnitError("the range is a single value", "write it without `from` and `to`")
    if integer and stop - start <= STEPS:
        return np.arange(start, stop + 1), log, False
    grid = np.geomspace if log else np.linspace
    numbers = _digits(grid(start, stop, STEPS + 1))
    numbers = np.unique(np.rint(numbers) if integer else numbers)
    return numbers, log, True


def _digits(values: Column) -> Column:
    """Return values, not negative, with `_DIGITS` significant digits.  The ends are unchanged."""
    powers = np.floor(np.log10(np.where(values > 0, values, 1.0)))
    places = 10.0 ** np.abs(_DIGITS - 1 - powers)
    up = powers <= _DIGITS - 1
    rounded: Column = np.where(
        up, np.rint(values * places) / places, np.rint(values / places) * places
    )
    rounded[[0, -1]] = values[[0, -1]]
    return rounded


def expand(written: Any, read: Read, *, integer: bool) -> list[float]:
    """Return the values of a range, a list or a single scalar, in SI.

    Raises
    ------
    UnitError
        With rule and remedy: a value cannot be read or the range is empty.
    """
    if isinstance(written, Range):
        return _expand_range(written, read, integer=integer)
    values = [read(value) for value in (written if isinstance(written, list) else [written])]
    seen: set[float] = set()
    for position, value in enumerate(values):
        if value in seen:
            raise UnitError(f"{written[position]!r} is twice in the list", "write it once")
        seen.add(value)
    return values


def _ends(written: Range, read: Read) -> tuple[float, float]:
    start, stop = read(written.start), read(written.to)
    if stop < start:
        raise UnitError(
            f"the range from {written.start} to {written.to} is empty",
            "write the smaller value at `from`",
        )
    if written.grid == "log" and start <= 0:
        raise UnitError("a logarithmic grid has to start above 0", "raise `from`")
    return start, stop


def _expand_range(written: Range, read: Read, *, integer: bool) -> list[float]:
    start, stop = _ends(written, read)
    if written.continuous:
        raise UnitError("only a clock, or a field with a unit, is continuous", "give `points`")
    if written.step is not None and written.points is not None:
        raise UnitError("`step` and `points` exclude each other", "remove one of them")
    if written.points is None and (integer or written.step is not None):
        return _by_step(start, stop, written, read)
    if written.points is None:
        raise UnitError(
            "a range of real numbers needs `points` or `step`", "add for instance points: 11"
        )
    grid = np.geomspace if written.grid == "log" else np.linspace
    # rounded, so that 64 .. 65536 holds exactly 1024
    values = [float(f"{value:.{_DIGITS}g}") for value in grid(start, stop, written.points)]
    if integer:
        values = sorted({float(round(value)) for value in values})
    return values


def _by_step(start: float, stop: float, written: Range, read: Read) -> list[float]:
    if written.grid == "log":
        raise UnitError("a logarithmic grid needs `points`", "add for instance points: 9")
    step = 1.0 if written.step is None else read(written.step)
    if step <= 0:
        raise UnitError("the step must be more than 0", "write for instance step: 1")
    steps = (stop - start) / step * (1 + 1e-12)  # counted before any value is listed
    if steps >= MOST_VALUES:
        count = f"{int(steps) + 1:,}" if steps < 1e15 else f"some {steps:.1g}"
        raise UnitError(
            f"the range has {count} values, more than {MOST_VALUES:,}",
            "widen the step, or give `points`; are all units right, GHz and Hz for instance?",
        )
    values: list[float] = (start + step * np.arange(int(steps) + 1)).tolist()
    return values


def read_unit(unit: Unit) -> Callable[[Any], Given]:
    """Return a function that reads one scalar of a field, raising `UnitError`."""

    def read(written: Any) -> Given:
        try:
            given = unit.read(written)
        except Exception as error:
            context = getattr(error, "context", None)
            if not context:
                raise
            raise UnitError(context["rule"], context["remedy"]) from error
        if given is None:
            raise UnitError("a value is missing", "write one")
        return given

    return read


def numeric(path: str, unit: Unit, written: Any) -> Axis:
    """Return the axis of a field with a unit.

    All values set the same column.  The other columns of the field get their neutral value.
    """
    read = read_unit(unit)
    columns: set[str] = set()

    def value(scalar: Any) -> float:
        given = read(scalar)
        columns.add(given.column)
        return given.value

    values = spread_values(written, value, integer=unit.integer)
    if len(columns) > 1:
        raise UnitError("the values have different kinds of unit", "write all in one unit")
    axis = scaled(path, *values, column=columns.pop())
    others = {name: np.broadcast_to(value, axis.size) for name, value in neutral(unit).items()}
    return replace(axis, columns=others | dict(axis.columns))


def parameter_values(parameter: Parameter, written: Any) -> list[float]:
    """Return the values of a core parameter, dimensionless numbers."""

    def read(scalar: Any) -> float:
        if isinstance(scalar, bool) or not isinstance(scalar, int | float):
            raise UnitError(f"{scalar!r} is not a number", "write a number")
        if parameter.integer and scalar != round(scalar):
            raise UnitError(f"{parameter.name} is a whole number", f"write {round(scalar)}")
        if scalar <= 0:
            raise UnitError(f"{parameter.name} must be more than 0", f"write {parameter.low:g}")
        return float(scalar)

    return expand(written, read, integer=parameter.integer)


def scaled(
    name: str, values: ArrayLike, log: bool = False, continuous: bool = False, column: str = ""
) -> Axis:
    """Return an axis of numbers on their scale that sets one column, by default its own."""
    numbers, column = np.array(values, dtype=np.float64), column or name
    return Axis(name, {column: numbers}, Numbers(numbers), column, log=log, continuous=continuous)


def resolution(axis: Axis) -> list[str]:
    """Return a note with the resolution of a continuous axis, and no note for any other."""
    if not axis.continuous:
        return []
    values = axis.columns[axis.unit_name]
    if axis.log:
        step = f"each {values[-1] / values[-2] - 1:.1e} more than the one before"
    else:
        step = f"{units.show(float(values[-1] - values[-2]), axis.unit_name)} apart"
    return [f"{axis.name} is continuous: {axis.size:,} values, {step}"]


def choices(name: str, columns: Mapping[str, Column], labels: Sequence[str]) -> Axis:
    """Return an axis of named choices without an order."""
    return Axis(name, columns, tuple(labels), "", ordered=False)


_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_NUMBER = re.compile(r"\s*[-+]?\.?\d|\s*$")


def free_axis(name: str, written: Any, taken: Collection[str], reader: Reader) -> list[Axis]:
    """Return the axis that a study calls `name`, at the place of `reader`, if it has no error.

    Its column has the name and the SI unit of its values: ``clock: [100 MHz]`` is ``clock_hz``.
    """
    with reader.at(()):
        if not _NAME.fullmatch(name) or keyword.iskeyword(name):
            rule = "an axis of its own name is letters, digits and _, and no word of Python"
            raise UnitError(rule, "rename it")
        axis = _texts(name, written) or _numbers(name, written)
        for column in axis.columns:
            if column in taken:
                raise UnitError(f"{column} is a column of this study already", "rename the axis")
        return [axis]
    return []


def written_unit(written: Any) -> str:
    """Return the unit in which the first value of an axis is written, or an empty text."""
    if isinstance(written, Range):
        written = written.start
    first = written[0] if isinstance(written, list) else written
    if not isinstance(first, str):
        return ""
    found = re.fullmatch(r"\s*[-+]?[\d.,]+(?:[eE][-+]?\d+)?\s*(.*?)\s*", first)
    return found[1] if found else ""


def _texts(name: str, written: Any) -> Axis | None:
    """Return the axis of choices, or None if a value is a number."""
    values = written if isinstance(written, list) else [written]
    if isinstance(written, Range) or not all(map(_is_text, values)):
        return None
    labels = [str(value).lower() if isinstance(value, bool) else str(value) for value in values]
    expand(labels, lambda label: label, integer=False)
    return choices(name, {name: np.arange(len(labels), dtype=np.float64)}, labels)


def _is_text(value: Any) -> bool:
    """Return whether a value is a choice: ``-O2``, ``./a.json``, ``8b10b``, but no number."""
    if isinstance(value, bool) or not isinstance(value, str):
        return isinstance(value, bool)
    if not _NUMBER.match(value):
        return True
    try:
        units.parse_any(value)
    except UnitError:
        return not value.split()[1:]  # a number and a word are an unknown unit
    return False


def _numbers(name: str, written: Any) -> Axis:
    suffixes: dict[str, None] = {}

    def read(scalar: Any) -> float:
        if isinstance(scalar, bool):
            raise UnitError("numbers and choices cannot be mixed", "write one kind of value")
        value, suffix = units.parse_any(scalar)
        suffixes[suffix] = None
        return value

    whole = isinstance(written, Range) and written.points is None and isinstance(written.start, int)
    values = spread_values(written, read, integer=whole and isinstance(written.to, int))
    if len(suffixes) > 1:
        raise UnitError("the values have different kinds of unit", "write all in one unit")
    suffix = next(iter(suffixes))
    own = not suffix or units.suffix(name) == suffix
    return scaled(name, *values, column=name if own else f"{name}_{suffix}")


def axes_labels(axes: Sequence[Axis]) -> dict[str, Sequence[str]]:
    """Return the texts of the axes that are choices with their own names."""
    return {
        axis.name: axis.labels for axis in axes if axis.name in axis.columns and not axis.ordered
    }
