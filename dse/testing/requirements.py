"""Conformance of what a requirement declares to bound and to imply.

Part of the conformance kit `dse.testing`: random arguments and systems try to refute each
declaration, and where none refutes what is not declared, the declaration is proposed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.algebra import units
from dse.contract import Objective, Requirement
from dse.model.graph import argument_names
from dse.plugins import registry
from dse.testing import probe
from dse.testing.directions import batches, check_directions, check_wiring, given_arguments
from dse.testing.probe import Ranges, code_count, propose, require
from dse.testing.systems import Systems, calibrated_bound, drawn_systems

SEEDS_OF_DOUBT = range(2016, 2026)
"""Further systems are drawn before a declaration is requested that the first ones suggest, as they
are and with the requirement's bound where its quantity lies."""


def check_requirement(requirement: Requirement, *, ranges: Ranges | None = None) -> None:
    """Raise AssertionError unless `requirement` keeps the contract.

    As `check_objective` does; the declarations are `rises_with`, `falls_with`, what it bounds a
    `quantity` by, and `implies`.
    """
    where = f"requirement {requirement.name!r}"
    require(bool(requirement.rule.strip()), f"{where}: no rule; say in words what must hold")
    check_wiring(requirement, where)
    for values in batches(requirement, where, ranges or {}):
        require(not np.isnan(values).any(), f"{where}: gives NaN; a violation is a number")
    check_directions(requirement, where, ranges or {})
    check_bounds(requirement, where, ranges or {})
    check_implied(requirement, where, ranges or {})


def check_bounds(requirement: Requirement, where: str, ranges: Ranges) -> None:
    """Raise AssertionError when a requirement is met beyond what it declares to bound.

    Proposed are pairs of its arguments, of one unit, that it keeps in order.
    """
    pair = (requirement.quantity, requirement.at_most)
    if requirement.at_least:
        pair = (requirement.at_least, requirement.quantity)
    names = sum(argument_names(requirement), ())
    for name in pair if any(pair) else ():
        require(name in names, f"{where}: bounds {name!r}, which is not an argument")
    for given in given_arguments(requirement):
        drawn = probe.drawn_arguments(
            given, np.random.default_rng(probe.SEED), probe.MANY, 1, ranges
        )
        met = np.broadcast_to(requirement(**drawn) <= 0, probe.MANY)
        if {*pair} <= {*given}:
            low, high = (drawn[name] for name in pair)
            word = "below" if requirement.at_least else "above"
            require(
                not (met & (low > high * (1 + probe.ROUNDING))).any(),
                f"{where}: is met by a {requirement.quantity} {word} "
                f"{requirement.at_least or requirement.at_most}; prove or remove the declaration",
            )
        elif not any(pair):
            _propose_bound(requirement, drawn, met, where)


def _propose_bound(
    requirement: Requirement, drawn: Mapping[str, Any], met: NDArray[np.bool_], where: str
) -> None:
    numbers = [name for name in drawn if not name.startswith("stage_") and not code_count(name)]
    for low, high in permutations(numbers, 2):
        if units.suffix(low) == units.suffix(high):
            below = drawn[low] <= drawn[high]
            seems = met.sum() >= probe.FEWEST and not (met & ~below).any() and not below.all()
            found = (
                f"{where}: is met only by a {low} that is at most {high}, in {probe.MANY} samples"
            )
            how = f"quantity={low!r}, at_most={high!r} (or at_least, the other way round)"
            propose(bool(seems), requirement.undeclared, ["at_most", "at_least"], found, how)


@dataclass(frozen=True)
class _Evaluated:
    """Systems, where a requirement is met in them, and which columns are behind it."""

    systems: Systems
    met: NDArray[np.bool_]
    behind: frozenset[str]


def check_implied(requirement: Requirement, where: str, ranges: Ranges) -> None:
    """Raise AssertionError when a requirement is met without what it `implies`.

    Proposed are pairs of columns, of one unit, that are in order wherever it is met and are not
    where it is missed; the first of them a quantity that its arguments are made of.
    """
    arguments = sum(argument_names(requirement), ())
    for name in requirement.implies:
        rule = f"{where}: implies something of {name!r}, which is an argument"
        require(name not in arguments, f"{rule}; bound it as `quantity`")
    every = list(_evaluated(requirement, drawn_systems(requirement, probe.SEED, ranges)))
    for name, column in requirement.implies.items():
        met, lower, _ = _implied(every, name, column)
        require(met > 0, f"{where}: no random system tries that it implies {name} >= {column}")
        require(
            not lower,
            f"{where}: declares that it implies {name} of at least {column}, but is met where "
            f"they are {lower}; prove or remove the declaration",
        )
    quantities = [name for name in registry.records(Objective) if units.suffix(name)]
    columns = {name for one in every for name in [*quantities, *one.systems.inputs]}
    behind = set().union(*(one.behind for one in every)) - {*arguments, *requirement.implies}
    for name in sorted(behind & {*quantities}) if "implies" not in requirement.undeclared else ():
        for column in sorted(columns - {name}):
            if units.suffix(column) == units.suffix(name):
                met, lower, otherwise = _implied(every, name, column)
                seems = met >= probe.FEWEST and not lower and otherwise
                further = _evaluated(requirement, _doubts(requirement, ranges))
                found = f"{where}: met only by a {name} of at least {column}, in {met} systems"
                how = f"implies={{{name!r}: {column!r}}}"
                seems = seems and not any(_implied([one], name, column)[1] for one in further)
                propose(seems, requirement.undeclared, ["implies"], found, how)


def _doubts(requirement: Requirement, ranges: Ranges) -> Iterator[Systems]:
    for seed in SEEDS_OF_DOUBT:
        for systems in drawn_systems(requirement, seed, ranges):
            yield systems
            if {requirement.at_most, requirement.at_least}.isdisjoint(ranges):
                yield calibrated_bound(systems, requirement, seed)


def _evaluated(requirement: Requirement, drawn: Iterable[Systems]) -> Iterator[_Evaluated]:
    for systems in drawn:
        step = systems.graph.bind(requirement)
        if step is not None:
            behind = frozenset(one.name for one in systems.graph.closure(step.arguments))
            yield _Evaluated(systems, systems.value(step) <= 0, behind)


def _implied(every: Iterable[_Evaluated], name: str, column: str) -> tuple[int, str, bool]:
    """Return in how many systems a requirement is met, two values that are out of order there, and
    whether there are some where it is missed."""
    met, lower, otherwise = 0, "", False
    for one in every:
        if all(map(one.systems.graph.provides, (name, column))):
            low, high = one.systems.column(name), one.systems.column(column)
            below = low < high * (1 - probe.MARGIN)
            met += int(one.met.sum())
            otherwise |= bool((below & ~one.met).any())
            wrong = np.argwhere(below & one.met)
            if len(wrong) and not lower:
                lower = f"{low[tuple(wrong[0])]:.6g} and {high[tuple(wrong[0])]:.6g}"
    return met, lower, otherwise
