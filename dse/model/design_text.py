"""A design that is measured, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dse.algebra import units
from dse.contract.evaluators import Value
from dse.model.space import Axis


def unit_names_of(axes: Sequence[Axis]) -> dict[str, str]:
    """Return the column of each axis whose values have a unit."""
    return {axis.name: axis.unit_name for axis in axes if units.suffix(axis.unit_name)}


def design_text(design: Mapping[str, Value], unit_names: Mapping[str, str]) -> str:
    """Return a design as ``name = value`` pairs, numbers in the units of `unit_names`."""
    return ", ".join(
        f"{name} = {axis_value_text(v, unit_names.get(name))}" for name, v in design.items()
    )


def axis_value_text(value: Value, unit_name: str | None) -> str:
    """Return the value of an axis, a number in the unit of `unit_name` if there is one."""
    if isinstance(value, str):
        return value
    return f"{value:.12g}" if unit_name is None else units.show_exactly(value, unit_name)
