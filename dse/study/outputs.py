"""The outputs of what measures, as a study writes them: quantities, units, ranges."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from dse.algebra import units
from dse.contract import Objective
from dse.contract.evaluators import Measurer
from dse.errors import UnitError
from dse.files.headers import DIMENSIONLESS
from dse.plugins import registry
from dse.study import schema
from dse.study.faults import Faults, Path

PLAIN = ("", *DIMENSIONLESS)
"""What stands for no unit."""


@dataclass(frozen=True)
class Outputs:
    """What is measured: quantity in SI -> unit in which it is told, and its place in the study.

    `ranges` has least and most of those that have one, in SI.
    """

    units: Mapping[str, str]
    places: Mapping[str, Path]
    expected: Mapping[str, str]
    ranges: Mapping[str, tuple[float, float]]


def outputs_of(
    section: schema.EvaluateSection,
    path: Path,
    faults: Faults,
    *,
    known: Collection[str] | None = None,
) -> Outputs:
    """Return the outputs of a section, or those of the plug-in that it names."""
    written = dict(section.outputs)
    if not written and section.using is not None:
        with faults.at((*path, "using")):
            written = dict(registry.get(Measurer, section.using).outputs)
    found: dict[str, str] = {}
    places: dict[str, Path] = {}
    expected: dict[str, str] = {}
    ranges: dict[str, tuple[float, float]] = {}
    known = registry.names(Objective) if known is None else known
    for name, said in written.items():
        place = (*path, "outputs", name)
        about = said if isinstance(said, schema.OutputSection) else schema.OutputSection(unit=said)
        with faults.at(place):
            quantity, unit = _quantity(name, about.unit, known)
            if quantity in found:
                raise UnitError(f"two outputs are {quantity}", "write one of them")
            found[quantity], places[quantity] = unit, place
            if about.expect is not None:
                expected[quantity] = about.expect
            ranges |= _range(quantity, unit, about, quantity in known)
    if not written:
        rule = "a measurement has at least one output"
        faults.add((*path, "outputs"), rule, "add for instance `outputs: {area: um2}`", "")
    return Outputs(found, places, expected, ranges)


def _range(
    quantity: str, unit: str, said: schema.OutputSection, known: bool
) -> dict[str, tuple[float, float]]:
    """Return least and most of an output, if any: what models compute is rarely less than 0."""
    ends = []
    for written in (said.least, said.most):
        plain = isinstance(written, int | float)
        text = f"{written} {unit}".rstrip() if plain else written
        ends.append(None if text is None else units.parse(text, quantity))
    least, most = ends
    if least is None and known and not registry.get(Objective, quantity).signed:
        least = 0.0
    if least is None and most is None:
        return {}
    found = -math.inf if least is None else least, math.inf if most is None else most
    if found[0] >= found[1]:
        raise UnitError("its least is not below its most", "correct one of them")
    return {quantity: found}


def _quantity(name: str, unit: str | int | None, known: Collection[str]) -> tuple[str, str]:
    """Return the quantity that an output is, with its SI unit, and the unit it is told in."""
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name):
        raise UnitError("the name of an output is letters, digits and _", "rename it")
    if unit is None:
        rule = "an output is told in a unit"
        raise UnitError(
            rule, f"write for instance `{name}: um2`, or `{name}: 1` for a plain number"
        )
    unit = "" if str(unit) in PLAIN else str(unit)
    suffix = units.factor(unit)[1]
    own = units.suffix(name)
    if own and own != suffix:
        raise UnitError(
            f"{name} is in {units.label(name)}, not in {unit or 'no unit'}", "rename it"
        )
    quantity = name if own or not suffix else f"{name}_{suffix}"
    alike = sorted(one for one in known if units.stem(one) == units.stem(quantity))
    if alike and quantity not in known:
        shown = " or ".join(units.label(one) or "no unit" for one in alike)
        rule = (
            f"{units.stem(quantity)} is a quantity of models, in {shown}, not in {unit or 'none'}"
        )
        raise UnitError(rule, "choose a unit of that kind, or another name")
    return quantity, unit
