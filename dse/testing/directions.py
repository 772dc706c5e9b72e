"""Conformance of directions: what a function rises and falls with, argument by argument.

Part of the conformance kit `dse.testing`: random pairs try to refute what is declared, and where
they refute nothing although nothing is declared, the declaration is proposed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from dse.contract import Column, Objective, Requirement
from dse.model.graph import argument_names
from dse.model.mixed import Mixed, Parted
from dse.testing import probe
from dse.testing.probe import (
    Arguments,
    Call,
    Ranges,
    check_function,
    check_undeclared,
    code_count,
    propose,
    require,
)

_STAGES = (1, 2, 3)
_MIX = Parted(1.0, ((64.0, 7 / 12), (576.0, 4 / 12), (1500.0, 1 / 12)))
"""The mix with which quantities of all sizes together are tried (simple IMIX)."""

_UNORDERED = ("wait", "transfer", "precision", "pcie")
"""Last words of columns whose codes have no order."""


@dataclass(frozen=True)
class _Move:
    """An argument that grew, and what became of the function's values."""

    name: str
    given: Arguments
    before: Column
    after: Column

    def row(self, sign: float) -> int | None:
        """Return a row in which the value moves against `sign`, None when there is none."""
        slack = probe.ROUNDING * np.minimum(np.abs(self.before), np.abs(self.after))
        with np.errstate(invalid="ignore"):
            wrong = np.flatnonzero(sign * self.after < sign * self.before - slack)
        return int(wrong[0]) if wrong.size else None


def given_arguments(plugin: Objective | Requirement) -> Iterator[tuple[str, ...]]:
    """Yield the arguments that a study may provide: all, and only those without a default."""
    required, optional = argument_names(plugin)
    yield required + optional
    if required and optional:
        yield required


def stage_counts(names: tuple[str, ...]) -> tuple[int, ...]:
    """Return for how many stages to try functions of these arguments."""
    return _STAGES if any(name.startswith("stage_") for name in names) else (1,)


def check_directions(plugin: Objective | Requirement, where: str, ranges: Ranges) -> None:
    """Raise AssertionError for a direction that is refuted, or one that nothing refutes."""
    names = sum(argument_names(plugin), ())
    declared = [(name, 1.0) for name in plugin.rises_with]
    declared += [(name, -1.0) for name in plugin.falls_with]
    for name, sign in declared:
        require(
            name in names, f"{where}: declares how it depends on {name!r}, which is not an argument"
        )
        for move in _moves(plugin, name, where, ranges):
            _refute(move, sign, where)
    labels = plugin.labels if isinstance(plugin, Objective) else ()
    known = {name for name, _ in declared}
    for name in names if not labels else ():
        if name not in known and name.rpartition("_")[2] not in _UNORDERED:
            _propose(plugin, name, where, ranges)


def _refute(move: _Move, sign: float, where: str) -> None:
    """Raise AssertionError when a larger argument moves the function against `sign`."""
    row = move.row(sign)
    if row is not None:
        raise AssertionError(
            f"{where}: declares that it never {'falls' if sign > 0 else 'rises'} with "
            f"{move.name}, but goes from {move.before[row]:.6g} to {move.after[row]:.6g} when "
            f"{move.name} grows at {_row(move.given, row)}; prove or remove the declaration"
        )


def _propose(plugin: Objective | Requirement, name: str, where: str, ranges: Ranges) -> None:
    """Raise AssertionError when one direction holds in every pair, and nothing says why not."""
    moves = list(_moves(plugin, name, where, ranges))
    pairs = sum(int((~np.isnan(one.before) & ~np.isnan(one.after)).sum()) for one in moves)
    for sign, field, word in ((1.0, "rises_with", "falls"), (-1.0, "falls_with", "rises")):
        holds = pairs >= probe.FEWEST and all(move.row(sign) is None for move in moves)
        found = f"{where}: never {word} with {name} in {pairs} random pairs"
        propose(holds, plugin.undeclared, (name, field), found, f"{field}=({name!r},)")


def _moves(
    plugin: Objective | Requirement, name: str, where: str, ranges: Ranges
) -> Iterator[_Move]:
    """Yield random pairs of arguments that differ in one, of one stage if it is staged."""

    def value(given: Arguments) -> Column:
        return probe.evaluate_once(_result(plugin), given, probe.MANY, where)[plugin.name]

    for names in given_arguments(plugin):
        rng = np.random.default_rng(probe.SEED)
        for stages in stage_counts(names) if name in names else ():
            given = probe.drawn_arguments(names, rng, probe.MANY, stages, ranges)
            before = value(given)
            for stage in range(stages if name.startswith("stage_") else 1):
                larger = given | {name: _enlarged(given[name], stage, rng, code_count(name))}
                yield _Move(name, given, before, value(larger))


def _enlarged(value: Any, stage: int, rng: np.random.Generator, codes: int) -> Any:
    """Return `value` grown, in one stage if staged: half of the rows a little, half a lot."""
    if isinstance(value, tuple):
        grown = _enlarged(value[stage], 0, rng, codes)
        return (*value[:stage], grown, *value[stage + 1 :])
    if codes:
        return np.minimum(value + 1.0, codes - 1.0)
    step = np.where(rng.random(probe.MANY) < 0.5, 0.01, 3.0)
    times = 10 ** rng.uniform(0, step)
    return np.where(value > 0, value * times, times - 1.0)


def _row(given: Arguments, row: int) -> str:
    def shown(value: Any) -> str:
        if isinstance(value, tuple):
            return "(" + ", ".join(shown(column) for column in value) + ")"
        return f"{value[row]:.6g}"

    return ", ".join(f"{name} = {shown(value)}" for name, value in given.items())


def check_wiring(plugin: Objective | Requirement, where: str) -> None:
    """Raise AssertionError unless the function and its arguments are as wiring needs them."""
    check_function(plugin.function, where)
    names = sum(argument_names(plugin), ())
    require(bool(names), f"{where}: takes no arguments; name the columns that it needs")
    check_undeclared(plugin, where)


def _result(plugin: Objective | Requirement) -> Call:
    if isinstance(plugin, Objective) and plugin.over_sizes == "together":
        plugin = Mixed({plugin.name: plugin}, [_MIX])[plugin.name]
    return lambda given: {plugin.name: plugin.function(**given)}


def batches(plugin: Objective | Requirement, where: str, ranges: Ranges) -> Iterator[Column]:
    """Yield what the plug-in gives for random arguments, checked to be elementwise."""
    for names in given_arguments(plugin):
        for stages in stage_counts(names):
            rng = np.random.default_rng(probe.SEED)
            given = probe.drawn_arguments(names, rng, probe.FEW, stages, ranges)
            yield probe.elementwise(_result(plugin), given, probe.FEW, where)[plugin.name]
            wide = probe.drawn_arguments(names, rng, probe.MANY, stages, ranges)
            yield probe.evaluate_once(_result(plugin), wide, probe.MANY, where)[plugin.name]
