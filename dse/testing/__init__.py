"""Conformance kit: what the engine relies on in any plug-in, whoever wrote it.

Call `check_core`, `check_objective`, `check_requirement` and `check_method` from a test of your
own.  Each
returns when the plug-in keeps its contract, and raises AssertionError naming the plug-in, what it
does and what it should do.  Arguments are drawn at random from a fixed seed, log-uniformly from a
plausible range for the unit of their name.

May import `dse.search` and lower floors.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from dse.contract import Column, Objective, Requirement
from dse.model.graph import argument_names as argument_names
from dse.testing import probe
from dse.testing.cores import check_core
from dse.testing.methods import check_method
from dse.testing.probe import Arguments, Ranges, check_function, check_units, require

__all__ = ["check_core", "check_method", "check_objective", "check_requirement"]

_ROWS = 16
_PAIRS = 400
_SEED = 2015
_STAGES = (1, 2, 3)
_ROUNDING = 1e-12
"""Relative; powers and exponentials are not rounded monotonically."""


def check_objective(objective: Objective, *, ranges: Ranges | None = None) -> None:
    """Raise AssertionError unless `objective` keeps the contract.

    Checked: source, docstring and signature; names with units in SI; columns that are float64,
    elementwise, equal to single calls bit for bit; inputs left alone; NaN only where `partial`;
    codes that have a label; `rises_with` and `falls_with`, which random pairs try to refute.
    Infinity passes: as a limit it means that there is none.

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
    _check_monotone(objective, where, ranges or {})


def check_requirement(requirement: Requirement, *, ranges: Ranges | None = None) -> None:
    """Raise AssertionError unless `requirement` keeps the contract; see `check_objective`."""
    where = f"requirement {requirement.name!r}"
    require(bool(requirement.rule.strip()), f"{where}: no rule; say in words what must hold")
    _check_wiring(requirement, where)
    for values in _batches(requirement, where, ranges or {}):
        require(not np.isnan(values).any(), f"{where}: gives NaN; a violation is a number")
    _check_monotone(requirement, where, ranges or {})
    _check_at_least(requirement, where, ranges or {})


def _check_wiring(plugin: Objective | Requirement, where: str) -> None:
    check_function(plugin.function, where)
    names = sum(argument_names(plugin), ())
    require(bool(names), f"{where}: takes no arguments; name the columns that it needs")


def _given(plugin: Objective | Requirement) -> Iterator[tuple[str, ...]]:
    """Yield the arguments that a study may provide: all, and only those without a default."""
    required, optional = argument_names(plugin)
    yield required + optional
    if required and optional:
        yield required


def _result(plugin: Objective | Requirement) -> probe.Call:
    return lambda given: {plugin.name: plugin.function(**given)}


def _batches(plugin: Objective | Requirement, where: str, ranges: Ranges) -> Iterator[Column]:
    """Yield what the plug-in gives for random arguments, checked to be elementwise."""
    for names in _given(plugin):
        for stages in _STAGES if any(name.startswith("stage_") for name in names) else (1,):
            rng = np.random.default_rng(_SEED)
            given = probe.drawn_arguments(names, rng, _ROWS, stages, ranges)
            yield probe.elementwise(_result(plugin), given, _ROWS, where)[plugin.name]
            wide = probe.drawn_arguments(names, rng, _PAIRS, stages, ranges)
            yield probe.evaluate_once(_result(plugin), wide, _PAIRS, where)[plugin.name]


def _check_at_least(requirement: Requirement, where: str, ranges: Ranges) -> None:
    """Raise AssertionError when the requirement is met below a bound that it declares."""
    names = sum(argument_names(requirement), ())
    low, high = requirement.quantity, requirement.at_least
    if high and low in names and high in names:
        given = probe.drawn_arguments(names, np.random.default_rng(_SEED), _PAIRS, 1, ranges)
        met = _evaluated(requirement, given, where) <= 0
        require(
            not (met & (given[low] < given[high])).any(),
            f"{where}: is met by a {low} below {high}; prove or remove the declaration",
        )


def _check_monotone(objective: Objective | Requirement, where: str, ranges: Ranges) -> None:
    declared = [(name, 1.0) for name in objective.rises_with]
    declared += [(name, -1.0) for name in objective.falls_with]
    for name, sign in declared:
        require(
            name in sum(argument_names(objective), ()),
            f"{where}: declares how it depends on {name!r}, which is not an argument",
        )
        for names in _given(objective):
            if name in names:
                _refute(objective, name, sign, names, where, ranges)


def _refute(
    objective: Objective | Requirement,
    name: str,
    sign: float,
    names: tuple[str, ...],
    where: str,
    ranges: Ranges,
) -> None:
    """Raise AssertionError when a larger `name` moves the objective against `sign`."""
    rng = np.random.default_rng(_SEED)
    for stages in _STAGES if any(other.startswith("stage_") for other in names) else (1,):
        given = probe.drawn_arguments(names, rng, _PAIRS, stages, ranges)
        before = _evaluated(objective, given, where)
        for stage in range(stages if name.startswith("stage_") else 1):
            larger = given | {name: _enlarged(given[name], stage, rng)}
            after = _evaluated(objective, larger, where)
            slack = _ROUNDING * np.minimum(np.abs(before), np.abs(after))
            with np.errstate(invalid="ignore"):
                wrong = np.flatnonzero(sign * after < sign * before - slack)
            if wrong.size:
                raise AssertionError(
                    f"{where}: declares that it never {'falls' if sign > 0 else 'rises'} with "
                    f"{name}, but goes from {before[wrong[0]]:.6g} to {after[wrong[0]]:.6g} when "
                    f"{name} grows at {_row(given, int(wrong[0]))}; prove or remove the declaration"
                )


def _evaluated(objective: Objective | Requirement, given: Arguments, where: str) -> Column:
    return probe.evaluate_once(_result(objective), given, _PAIRS, where)[objective.name]


def _enlarged(value: Any, stage: int, rng: np.random.Generator) -> Any:
    """Return `value` grown, in one stage if staged: half of the rows a little, half a lot."""
    if isinstance(value, tuple):
        return (*value[:stage], _enlarged(value[stage], 0, rng), *value[stage + 1 :])
    step = np.where(rng.random(_PAIRS) < 0.5, 0.01, 3.0)
    return value * 10 ** rng.uniform(0, step) if (value > 0).all() else value + 1.0


def _row(given: Arguments, row: int) -> str:
    def shown(value: Any) -> str:
        if isinstance(value, tuple):
            return "(" + ", ".join(shown(column) for column in value) + ")"
        return f"{value[row]:.6g}"

    return ", ".join(f"{name} = {shown(value)}" for name, value in given.items())
