"""Conformance kit: what the engine relies on in any plug-in, whoever wrote it.

Call `check_core`, `check_objective`, `check_requirement` and `check_method` from a test of your
own.  Each returns when the plug-in keeps its contract, and raises AssertionError naming the
plug-in, what it does and what it should do.  Arguments are drawn at random from a fixed seed,
log-uniformly from a plausible range for the unit of their name; where a declaration speaks of how
they are made, whole systems are drawn and the quantities of everything installed computed.

May import `dse.search` and lower floors.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dse.contract import Column, Objective, Requirement
from dse.model.graph import argument_names as argument_names
from dse.testing import probe
from dse.testing.cores import check_core
from dse.testing.directions import check_directions, given_arguments, stage_counts
from dse.testing.methods import check_method
from dse.testing.probe import Ranges, check_function, check_undeclared, check_units, require
from dse.testing.quantities import check_at_most, check_growth, check_settled, check_stages
from dse.testing.requirements import check_bounds, check_implied

__all__ = ["check_core", "check_method", "check_objective", "check_requirement"]

_ROWS = 16
_MANY = 400
_SEED = 2015


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
    _check_wiring(objective, where)
    check_units((objective.name,), where)
    require(
        len(objective.limits) in (0, len(objective.labels)),
        f"{where}: says what {len(objective.limits)} of its {len(objective.labels)} labels limit; "
        "give one limit per label",
    )
    for values in _batches(objective, where, ranges or {}):
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
    check_at_most(objective, where, ranges or {})
    check_growth(objective, where, ranges or {})
    check_settled(objective, where, ranges or {})


def check_requirement(requirement: Requirement, *, ranges: Ranges | None = None) -> None:
    """Raise AssertionError unless `requirement` keeps the contract.

    As `check_objective` does; the declarations are `rises_with`, `falls_with`, what it bounds a
    `quantity` by, and `implies`.
    """
    where = f"requirement {requirement.name!r}"
    require(bool(requirement.rule.strip()), f"{where}: no rule; say in words what must hold")
    _check_wiring(requirement, where)
    for values in _batches(requirement, where, ranges or {}):
        require(not np.isnan(values).any(), f"{where}: gives NaN; a violation is a number")
    check_directions(requirement, where, ranges or {})
    check_bounds(requirement, where, ranges or {})
    check_implied(requirement, where, ranges or {})


def _check_wiring(plugin: Objective | Requirement, where: str) -> None:
    check_function(plugin.function, where)
    names = sum(argument_names(plugin), ())
    require(bool(names), f"{where}: takes no arguments; name the columns that it needs")
    check_undeclared(plugin, where)


def _result(plugin: Objective | Requirement) -> probe.Call:
    return lambda given: {plugin.name: plugin.function(**given)}


def _batches(plugin: Objective | Requirement, where: str, ranges: Ranges) -> Iterator[Column]:
    """Yield what the plug-in gives for random arguments, checked to be elementwise."""
    for names in given_arguments(plugin):
        for stages in stage_counts(names):
            rng = np.random.default_rng(_SEED)
            given = probe.drawn_arguments(names, rng, _ROWS, stages, ranges)
            yield probe.elementwise(_result(plugin), given, _ROWS, where)[plugin.name]
            wide = probe.drawn_arguments(names, rng, _MANY, stages, ranges)
            yield probe.evaluate_once(_result(plugin), wide, _MANY, where)[plugin.name]
