"""Conformance of what a quantity declares about stages, instances, bounds and settled arguments.

Part of the conformance kit `dse.testing`: random systems try to refute each declaration, and where
none refutes what is not declared, the declaration is proposed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from dse.algebra import units
from dse.contract import SIZE, Column, Objective
from dse.model.fleet import STAGE_COLUMNS
from dse.model.graph import argument_names
from dse.plugins import registry
from dse.testing import probe
from dse.testing.directions import batches, check_directions, check_wiring
from dse.testing.probe import Ranges, check_units, propose, require
from dse.testing.systems import Systems, drawn_systems, every_stage, switches

Rows = NDArray[np.intp]

_JOINS = {"sum": np.add, "least": np.minimum, "largest": np.maximum}


def check_objective(objective: Objective, *, ranges: Ranges | None = None) -> None:
    """Raise AssertionError unless `objective` keeps the contract.

    Checked: source, docstring and signature; names with units in SI; columns that are float64,
    elementwise, equal to single calls bit for bit; inputs left alone; NaN only where `partial`;
    codes that have a label.  Random pairs and systems try to refute `rises_with`, `falls_with`,
    `at_most`, `over_stages`, `grows_with_instances` and `settled_while`; where nothing refutes
    what is not declared, and `undeclared` does not say why, that is refused as well.  Infinity
    passes: as a limit it means that there is none.

    Parameters
    ----------
    objective
        What to check.
    ranges
        Where an argument makes sense, when the plausible range of its unit does not fit.
    """
    where = f"objective {objective.name!r}"
    require(bool(objective.source.strip()), f"{where}: no source; name the paper or the reason")
    check_wiring(objective, where)
    check_units((objective.name,), where)
    require(
        len(objective.limits) in (0, len(objective.labels)),
        f"{where}: says what {len(objective.limits)} of its {len(objective.labels)} labels limit; "
        "give one limit per label",
    )
    require(
        not objective.over_sizes or SIZE in sum(argument_names(objective), ()),
        f"{where}: declares over_sizes, but does not take {SIZE}; remove the declaration",
    )
    for values in batches(objective, where, ranges or {}):
        known = values[~np.isnan(values)]
        require(
            objective.partial or known.size == values.size,
            f"{where}: gives NaN; give a number, or declare it partial",
        )
        require(
            not objective.labels or bool(np.isin(known, range(len(objective.labels))).all()),
            f"{where}: gives codes beyond its {len(objective.labels)} labels",
        )
    check_directions(objective, where, ranges or {})
    check_stages(objective, where, ranges or {})
    drawn = list(drawn_systems(objective, probe.SEED, ranges or {}))
    check_at_most(objective, where, drawn)
    check_growth(objective, where, drawn)
    check_settled(objective, where, drawn)


def check_stages(objective: Objective, where: str, ranges: Ranges) -> None:
    """Raise AssertionError when stages join other than `over_stages` declares.

    What is no stage column is the same for a stage alone as for the chain.
    """
    names = sum(argument_names(objective), ())
    stages = [name for name in names if name in STAGE_COLUMNS]
    declared = objective.over_stages
    if not stages:
        rule = f"{where}: declares over_stages, but takes no stage column"
        require(not declared, f"{rule}; remove the declaration")
        return
    chain = probe.drawn_arguments(names, np.random.default_rng(probe.SEED), probe.MANY, 3, ranges)
    alone = [
        objective(**chain | {name: (chain[name][stage],) for name in stages}) for stage in range(3)
    ]
    whole = objective(**chain)
    holding = [word for word, join in _JOINS.items() if np.array_equal(reduce(join, alone), whole)]
    values = ", ".join(f"{one[0]:.6g}" for one in alone)
    require(
        not declared or declared in holding,
        f"{where}: declares over_stages={declared!r}, but {values} of three stages give "
        f"{whole[0]:.6g}; correct or remove the declaration",
    )
    found = f"{where}: stages join by {' and '.join(holding)} in every sample"
    seems = bool(holding) and not declared
    propose(seems, objective.undeclared, ["over_stages"], found, f"over_stages={holding[:1]}")


def check_at_most(objective: Objective, where: str, drawn: Sequence[Systems]) -> None:
    """Raise AssertionError when a quantity exceeds what it is declared `at_most`.

    Proposed are columns of its unit that some installed quantity is declared to be at most.
    """
    unit = units.suffix(objective.name)
    known = {name for one in registry.records(Objective).values() for name in one.at_most}
    known = {name for name in known - {objective.name} if units.suffix(name) == unit}
    tried = dict.fromkeys([*objective.at_most, *known], 0)
    exceeded: dict[str, str] = {}
    for systems in drawn:
        for name in filter(systems.graph.provides, tried):
            value = systems.column(objective.name)
            for most in every_stage(systems.columns[name]):
                tried[name] += int(np.isfinite(value).sum())
                wrong = np.argwhere(value > most * (1 + probe.ROUNDING))
                if len(wrong):
                    text = f"{_at(value, wrong)} at a {name} of {_at(most, wrong)}"
                    exceeded.setdefault(name, text)
    for name in objective.at_most:
        require(tried[name] > 0, f"{where}: declares at_most {name!r}, which nothing provides")
        require(
            name not in exceeded,
            f"{where}: declares that it is at most {name}, but is {exceeded.get(name)}; prove or "
            "remove the declaration",
        )
    for name in sorted(known - {*objective.at_most}):
        seems = tried[name] >= probe.FEWEST and name not in exceeded
        found = f"{where}: never exceeds {name} in {tried[name]} random systems"
        propose(seems, objective.undeclared, ["at_most"], found, f"at_most=({name!r},)")


def check_growth(objective: Objective, where: str, drawn: Sequence[Systems]) -> None:
    """Raise AssertionError when a quantity does not grow with instances as declared."""
    tried, declared = 0, objective.grows_with_instances
    if objective.labels and not declared:
        return
    for systems in drawn:
        before = systems.column(objective.name)
        for more in systems.with_one_more():
            after = more.column(objective.name)
            known = ~np.isnan(before) & ~np.isnan(after)
            wrong = np.argwhere(known & ~(after > before))
            tried += int(known.sum())
            if len(wrong) and not declared:
                return
            require(
                not len(wrong),
                f"{where}: declares that it grows with instances, but goes from "
                f"{_at(before, wrong)} to {_at(after, wrong)} with one more; prove or remove the "
                "declaration",
            )
    found = f"{where}: grows with every instance in {tried} random systems"
    keys = ["grows_with_instances"]
    seems = tried >= probe.FEWEST and not declared
    propose(seems, objective.undeclared, keys, found, "grows_with_instances=True")


def check_settled(objective: Objective, where: str, drawn: Sequence[Systems]) -> None:
    """Raise AssertionError when an argument matters that `settled_while` declares settled.

    Tried on pairs of systems of one scenario that reach what is demanded, ordered by all arguments
    but this one, which stands against them.  Proposed are columns that studies set to no or yes:
    where they are yes no pair is out of order, where they are no some are.
    """
    directed = (*objective.rises_with, *objective.falls_with)
    for name in objective.settled_while:
        require(name in directed, f"{where}: declares {name!r} settled, but no direction of it")
    columns = {name for systems in drawn for name in switches(systems)}
    for name in directed if len(directed) > 1 or objective.settled_while else ():
        declared = objective.settled_while.get(name, "")
        compared = [(systems, _against(objective, name, systems)) for systems in drawn]
        for column in sorted({*columns, declared} - {""}):
            trial = _Trial()
            for systems, pairs in compared:
                trial.take(systems, column, *pairs)
            if column == declared:
                _refute_settled(trial, name, column, where)
            elif not declared:
                found = (
                    f"{where}: while {column}, {name} matters through the other arguments alone in "
                    f"{trial.pairs} random pairs"
                )
                how = f"settled_while={{{name!r}: {column!r}}}"
                keys = ["settled_while", f"{name} settled"]
                propose(trial.seems, objective.undeclared, keys, found, how)


@dataclass
class _Trial:
    """What pairs of systems say of an argument: how many there are while a column is positive, and
    an example of values out of order while it is, and while it is not."""

    pairs: int = 0
    differ: bool = False
    wrong: dict[bool, str] = field(default_factory=dict)

    @property
    def seems(self) -> bool:
        """Whether the argument is settled while the column is positive, and only then."""
        return self.pairs >= probe.FEWEST and self.differ and [*self.wrong] == [False]

    def take(
        self, systems: Systems, column: str, scenario: Rows, first: Column, second: Column
    ) -> None:
        """Take the values of pairs of systems, whose first is to be the lower one."""
        if not (column in systems.inputs or systems.graph.provides(column)):
            return
        positive = systems.column(column)[scenario, 0] > 0
        wrong = first > second + probe.MARGIN * np.abs(second)
        for kind in (True, False):
            rows = np.flatnonzero(wrong & (positive == kind))[:1]
            for one, other in zip(first[rows], second[rows], strict=True):
                self.wrong.setdefault(kind, f"{one:.6g} to {other:.6g}")
        self.pairs += int(positive.sum())
        self.differ |= bool((first != second)[positive].any())


def _refute_settled(trial: _Trial, name: str, column: str, where: str) -> None:
    require(trial.pairs > 0, f"{where}: no random system tries that {name} is settled by {column}")
    require(
        True not in trial.wrong,
        f"{where}: declares that {name} is settled while {column}, but goes from "
        f"{trial.wrong.get(True)} when all other arguments let it rise; prove or remove the "
        "declaration",
    )


def _against(objective: Objective, name: str, systems: Systems) -> tuple[Rows, Column, Column]:
    """Return pairs of systems of one scenario that all arguments but `name` put in order.

    The scenario of each, and the values of both: all other arguments let the first one be the
    lower, or equal, and this one stands against it.
    """
    step = systems.graph.bind(objective)
    if step is None or name not in step.arguments:
        return np.empty(0, dtype=np.intp), np.empty(0), np.empty(0)
    value = systems.column(objective.name)
    usable = systems.feasible & ~np.isnan(value)
    ordered = usable[:, :, np.newaxis] & usable[:, np.newaxis, :]
    for argument in step.arguments:
        for column in every_stage(systems.columns[argument]):
            first, second = column[:, :, np.newaxis], column[:, np.newaxis, :]
            if argument in objective.rises_with:
                rises = first <= second
            elif argument in objective.falls_with:
                rises = first >= second
            else:
                rises = first == second
            ordered &= ~rises if argument == name else rises
    scenario, one, other = np.nonzero(ordered)
    return scenario, value[scenario, one], value[scenario, other]


def _at(column: Column, rows: NDArray[np.int64]) -> str:
    return f"{column[tuple(rows[0])]:.6g}" if len(rows) else ""
