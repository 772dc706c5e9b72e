"""Axes of a study's own names: what a program or a function that measures designs is told."""

from __future__ import annotations

import keyword
import re
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from dse.algebra import units
from dse.errors import UnitError
from dse.model.space import Axis
from dse.study.axes import choices, expand, scaled, spread_values
from dse.study.faults import Faults, Path
from dse.study.fields import Range

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_NUMBER = re.compile(r"\s*[-+]?\.?\d|\s*$")


def free_axis(
    name: str, written: Any, taken: Collection[str], faults: Faults, path: Path = ()
) -> list[Axis]:
    """Return the axis that a study calls `name` at a `path`, none where it is faulty.

    Its column has the name and the SI unit of its values: ``clock: [100 MHz]`` is ``clock_hz``.
    """
    with faults.at(path or ("axes", name)):
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
    """Return the unit in which the first value of an axis is written, empty for none."""
    if isinstance(written, Range):
        written = written.start
    first = written[0] if isinstance(written, list) else written
    if not isinstance(first, str):
        return ""
    found = re.fullmatch(r"\s*[-+]?[\d.,]+(?:[eE][-+]?\d+)?\s*(.*?)\s*", first)
    return found[1] if found else ""


def _texts(name: str, written: Any) -> Axis | None:
    """Return the axis of choices, None where a value is a number."""
    values = written if isinstance(written, list) else [written]
    if isinstance(written, Range) or not all(map(_is_text, values)):
        return None
    labels = [str(value).lower() if isinstance(value, bool) else str(value) for value in values]
    expand(labels, lambda label: label, integer=False)
    return choices(name, {name: np.arange(len(labels), dtype=np.float64)}, labels)


def _is_text(value: Any) -> bool:
    """Tell a choice from a number, which may have a unit: ``-O2``, ``./a.json``, ``8b10b``."""
    if isinstance(value, bool) or not isinstance(value, str):
        return isinstance(value, bool)
    if not _NUMBER.match(value):
        return True
    try:
        units.parse_any(value)
    except UnitError:
        return not value.split()[1:]  # a number and a word are a unit that is not known
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
    return scaled(name, values, name if own else f"{name}_{suffix}")


def axes_labels(axes: Sequence[Axis]) -> dict[str, Sequence[str]]:
    """Return the texts of the axes that are choices of their own name."""
    return {
        axis.name: axis.labels for axis in axes if axis.name in axis.columns and not axis.ordered
    }
