"""From values as written in a study to axes of the space."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from dse.contract import Column, Parameter
from dse.errors import UnitError
from dse.fields import Given, Range, Unit
from dse.records import neutral
from dse.space import Axis

MOST_VALUES = 1_000_000
"""Most values of one axis; a longer one is a typing mistake rather than a question."""

Reader = Callable[[Any], float]


def expand(written: Any, read: Reader, *, integer: bool) -> list[float]:
    """Return the values that a range, a list or a single scalar stands for, in SI.

    Raises
    ------
    UnitError
        With rule and remedy, when a value cannot be read or the range is empty.
    """
    if isinstance(written, Range):
        return _expand_range(written, read, integer=integer)
    values = [read(value) for value in (written if isinstance(written, list) else [written])]
    _refuse_equal(values, written)
    return values


def _refuse_equal(values: Sequence[Any], written: Any) -> None:
    for position, value in enumerate(values):
        if value in values[:position]:
            raise UnitError(f"{written[position]!r} stands twice in the list", "write it once")


def _expand_range(written: Range, read: Reader, *, integer: bool) -> list[float]:
    start, stop = read(written.start), read(written.to)
    if stop < start:
        raise UnitError(
            f"the range from {written.start} to {written.to} is empty",
            "write the smaller value at `from`",
        )
    if written.grid == "log" and start <= 0:
        raise UnitError("a logarithmic grid has to start above 0", "raise `from`")
    if written.step is not None and written.points is not None:
        raise UnitError("`step` and `points` exclude each other", "remove one of them")
    if written.points is None and (integer or written.step is not None):
        return _by_step(start, stop, written, read)
    if written.points is None:
        raise UnitError(
            "a range of real numbers needs `points` or `step`", "add for instance points: 11"
        )
    grid = np.geomspace if written.grid == "log" else np.linspace
    # twelve digits undo the rounding of the logarithm, so that 64 .. 65536 holds exactly 1024
    values = [float(f"{value:.12g}") for value in grid(start, stop, written.points)]
    if integer:
        values = sorted({float(round(value)) for value in values})
    return values


def _by_step(start: float, stop: float, written: Range, read: Reader) -> list[float]:
    if written.grid == "log":
        raise UnitError("a logarithmic grid needs `points`", "add for instance points: 9")
    step = 1.0 if written.step is None else read(written.step)
    if step <= 0:
        raise UnitError("the step must be more than 0", "write for instance step: 1")
    count = int((stop - start) / step * (1 + 1e-12)) + 1
    if count > MOST_VALUES:
        raise UnitError(
            f"the range has {count:,} values, more than {MOST_VALUES:,}", "widen the step"
        )
    return [start + position * step for position in range(count)]


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


def numeric(path: str, unit: Unit, written: Any) -> tuple[Axis, str]:
    """Return the axis of a field with a unit, and the column it sets.

    All values set the same column; the other columns of the field get their neutral value.
    """
    read = read_unit(unit)
    columns: set[str] = set()

    def value(scalar: Any) -> float:
        given = read(scalar)
        columns.add(given.column)
        return given.value

    values = expand(written, value, integer=unit.integer)
    if len(columns) > 1:
        raise UnitError("the values have different kinds of unit", "write all in one unit")
    column = columns.pop()
    data = {name: np.full(len(values), value) for name, value in neutral(unit).items()}
    data[column] = np.array(values)
    return Axis(path, data, _number_labels(values), column), column


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


def counted(name: str, values: Sequence[float], column: str) -> Axis:
    """Return an axis of plain numbers that sets one column."""
    return Axis(name, {column: np.array(values, dtype=np.float64)}, _number_labels(values), column)


def choices(name: str, columns: Mapping[str, Column], labels: Sequence[str]) -> Axis:
    """Return an axis of named choices without an order."""
    return Axis(name, columns, tuple(labels), "", ordered=False)


def _number_labels(values: Sequence[float]) -> tuple[str, ...]:
    return tuple(f"{value:.12g}" for value in values)
