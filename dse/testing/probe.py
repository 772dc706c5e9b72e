"""Probing a model function: plausible arguments, batches, and its rising and falling arguments.

Random pairs try to refute each direction that is declared.

Part of the conformance kit `dse.testing`.  Nothing else in the engine uses it.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.algebra import units
from dse.contract import (
    ATTACHMENTS,
    PCIE_LINKS,
    PRECISIONS,
    TRANSFERS,
    WAIT_MODES,
    Column,
    Objective,
    Requirement,
)
from dse.errors import UnitError
from dse.model.graph import argument_names, each_column
from dse.model.mixed import Mixed, Parted

SEED = 2015
FEW, MANY = 16, 400

ROUNDING, MARGIN = 1e-12, 1e-9
"""Relative: powers and exponentials are not rounded monotonically, but the effect of rounding on
quantities of quantities stays far below the margin."""

Ranges = Mapping[str, tuple[float, float]]
"""Plausible values by argument name: ``{"kernel_exponent": (0.5, 2.0)}``, positive."""

Arguments = dict[str, Any]
"""One column for each argument, for ``stage_<metric>`` a tuple with one for each stage."""

Call = Callable[[Arguments], dict[str, Column]]
"""A model function as the engine calls it, its results by name."""

_CODES = {"wait": len(WAIT_MODES), "transfer": len(TRANSFERS), "precision": len(PRECISIONS)}
_CODES |= {"pcie": len(PCIE_LINKS), "attachment": len(ATTACHMENTS)}
_CODES |= dict.fromkeys(("chained", "meet", "common", "clocked", "alone", "extrapolated"), 2)
_PLAUSIBLE = {
    "m2": (1e-10, 1e-4),
    "w": (1e-5, 1e2),
    "s": (1e-9, 1e-3),
    "hz": (1e7, 1e10),
    "bit": (8.0, 1e6),
    "byte": (1.0, 1e6),
    "cycles": (1.0, 1e5),
    "bit_per_s": (1e8, 1e12),
    "byte_per_s": (1e8, 1e12),
    "task_per_s": (1e6, 1e10),
    "op_per_s": (1e8, 1e13),
    "op_per_byte": (1e-2, 1e3),
    "byte_per_bit": (0.05, 1.0),
    "byte_per_cycle": (1.0, 64.0),
    "cycles_per_byte": (0.1, 1e3),
    "s_per_byte": (1e-11, 1e-7),
    "j_per_bit": (1e-14, 1e-9),
    "j_per_byte": (1e-12, 1e-8),
    "j_per_op": (1e-12, 1e-8),
    "m2_per_bit": (1e-14, 1e-11),
    "w_per_bit": (1e-13, 1e-9),
}
_NOT_SI = re.compile(r"[afpnumkgt](m2|w|j|s|hz|b|bit|byte|bps)|bps|bits|bytes|watts?|seconds?")
_EXPONENT = (0.3, 2.0)
_NUMBER = (0.1, 100.0)
_SHARE, _PART = (0.01, 1.2), (0.01, 1.0)
_STEADY = 0.5
"""Least squared coefficient of variation of a draw.  A lower one counts as 0."""

_STAGES = (1, 2, 3)
_MIX = Parted(1.0, ((64.0, 7 / 12), (576.0, 4 / 12), (1500.0, 1 / 12)))
"""The mix with which quantities of all sizes together are tried (simple IMIX)."""


def require(holds: bool, message: str) -> None:
    """Raise AssertionError with `message` unless `holds`."""
    if not holds:
        raise AssertionError(message)


def check_function(function: Callable[..., Any], where: str) -> None:
    """Check keyword-only arguments, their units, and the docstring."""
    parameters = inspect.signature(function).parameters
    for name, parameter in parameters.items():
        require(
            parameter.kind is inspect.Parameter.KEYWORD_ONLY,
            f"{where}: argument {name!r} is not keyword-only; put it after '*'",
        )
    require(bool(inspect.getdoc(function)), f"{where}: no docstring; reports show its first line")
    check_units(parameters, where)


def check_units(names: Iterable[str], where: str) -> None:
    """Raise AssertionError for names whose unit is unfinished or spelled other than in SI."""
    for name in names:
        try:
            last = "" if units.suffix(name) else name.rpartition("_")[2]
        except UnitError as error:
            raise AssertionError(f"{where}: {error}") from error
        require(
            not _NOT_SI.fullmatch(last),
            f"{where}: {name!r} ends in {last!r}, which is no SI unit; "
            "use one, such as _m2, _w, _s, _hz or _bit_per_s",
        )


def code_count(name: str) -> int:
    """Return how many codes a column holds, 0 for one that holds numbers."""
    return _CODES.get(name.rpartition("_")[2], 0)


def draw_argument(name: str, rng: np.random.Generator, rows: int, ranges: Ranges) -> Column:
    """Return values for an argument, shape (rows,): codes, or log-uniform in a plausible range."""
    codes = code_count(name)
    if codes and name not in ranges:
        return rng.integers(codes, size=rows).astype(np.float64)
    words = {"exponent": _EXPONENT, "load": _SHARE, "offloaded": _PART}
    usual = _PLAUSIBLE.get(units.suffix(name), words.get(name.rpartition("_")[2], _NUMBER))
    low, high = ranges.get(name, usual)
    values = np.exp(rng.uniform(np.log(low), np.log(high), rows))
    return np.where(values < _STEADY, 0.0, values) if name.endswith("_cv2") else values


def drawn_arguments(
    names: Iterable[str], rng: np.random.Generator, rows: int, stages: int, ranges: Ranges
) -> Arguments:
    """Return drawn values for every argument in `names`, with `stages` columns if staged."""
    return {
        name: tuple(draw_argument(name, rng, rows, ranges) for _ in range(stages))
        if name.startswith("stage_")
        else draw_argument(name, rng, rows, ranges)
        for name in names
    }


def same(one: Column, other: Column) -> NDArray[np.bool_]:
    """Return a mask of rows in which two columns have the same bits, any NaN like any other."""
    bits = (np.ascontiguousarray(column).view(np.int64) for column in (one, other))
    return np.equal(*bits) | (np.isnan(one) & np.isnan(other))


def evaluate_once(call: Call, given: Arguments, rows: int, where: str) -> dict[str, Column]:
    """Call once, as the engine does, on read-only copies.  Return columns of shape (rows,)."""
    try:
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            columns = call(_taken(given, slice(None)))
    except ValueError as error:
        require("read-only" not in str(error), f"{where}: writes to its arguments; copy them")
        raise
    for name, column in columns.items():
        require(
            isinstance(column, np.ndarray | np.float64) and column.dtype == np.float64,
            f"{where}: {name} is not a float64 column; build it with numpy",
        )
        require(
            column.shape in ((rows,), (1,), ()),
            f"{where}: {name} has shape {column.shape} for {rows} rows; work elementwise",
        )
    return {name: np.broadcast_to(column, (rows,)) for name, column in columns.items()}


def elementwise(call: Call, given: Arguments, rows: int, where: str) -> dict[str, Column]:
    """Compare a batch with itself, with single rows and with a broadcast.  Return the batch."""
    whole = evaluate_once(call, given, rows, where)
    again = evaluate_once(call, given, rows, where)
    single = [
        evaluate_once(call, _taken(given, slice(row, row + 1)), 1, where) for row in range(rows)
    ]
    for name, column in whole.items():
        require(
            bool(same(column, again[name]).all()),
            f"{where}: {name} differs between two equal calls; make the function pure",
        )
        alone = np.concatenate([columns[name] for columns in single])
        require(
            bool(same(column, alone).all()),
            f"{where}: {name} differs between a batch and single calls; work elementwise",
        )
    for narrow in given:
        one = _taken(given, slice(0, 1))[narrow]
        short = evaluate_once(call, given | {narrow: one}, rows, where)
        repeated = each_column(one, lambda column: np.repeat(column, rows))
        full = evaluate_once(call, given | {narrow: repeated}, rows, where)
        for name, column in short.items():
            require(
                bool(same(column, full[name]).all()),
                f"{where}: {name} changes when {narrow!r} has one row; let it broadcast",
            )
    return whole


def _taken(given: Arguments, rows: slice) -> Arguments:
    """Return read-only copies of some rows of every argument."""

    def part(column: Column) -> Column:
        copy = column[rows].copy()
        copy.setflags(write=False)
        return copy

    return {name: each_column(value, part) for name, value in given.items()}


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
    """Raise AssertionError for a direction that is refuted."""
    names = sum(argument_names(plugin), ())
    declared = [(name, 1.0) for name in plugin.rises_with]
    declared += [(name, -1.0) for name in plugin.falls_with]
    for name, sign in declared:
        require(
            name in names, f"{where}: declares how it depends on {name!r}, which is not an argument"
        )
        for given, before, after in _moves(plugin, name, where, ranges):
            slack = ROUNDING * np.minimum(np.abs(before), np.abs(after))
            with np.errstate(invalid="ignore"):
                wrong = np.flatnonzero(sign * after < sign * before - slack)
            for row in wrong[:1]:
                raise AssertionError(
                    f"{where}: declares that it never {'falls' if sign > 0 else 'rises'} with "
                    f"{name}, but goes from {before[row]:.6g} to {after[row]:.6g} when "
                    f"{name} grows at {_row(given, row)}; prove or remove the declaration"
                )


def _moves(
    plugin: Objective | Requirement, name: str, where: str, ranges: Ranges
) -> Iterator[tuple[Arguments, Column, Column]]:
    """Yield random arguments, the values there, and those with one argument grown in a stage."""

    def value(given: Arguments) -> Column:
        return evaluate_once(_result(plugin), given, MANY, where)[plugin.name]

    for names in given_arguments(plugin):
        rng = np.random.default_rng(SEED)
        for stages in stage_counts(names) if name in names else ():
            given = drawn_arguments(names, rng, MANY, stages, ranges)
            before = value(given)
            for stage in range(stages if name.startswith("stage_") else 1):
                larger = given | {name: _enlarged(given[name], stage, rng, code_count(name))}
                yield given, before, value(larger)


def _enlarged(value: Any, stage: int, rng: np.random.Generator, codes: int) -> Any:
    """Return `value` grown, in one stage if staged: half of the rows a little, half a lot."""
    if isinstance(value, tuple):
        grown = _enlarged(value[stage], 0, rng, codes)
        return (*value[:stage], grown, *value[stage + 1 :])
    if codes:
        return np.minimum(value + 1.0, codes - 1.0)
    step = np.where(rng.random(MANY) < 0.5, 0.01, 3.0)
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


def _result(plugin: Objective | Requirement) -> Call:
    if isinstance(plugin, Objective) and plugin.over_sizes == "together":
        plugin = Mixed({plugin.name: plugin}, [_MIX])[plugin.name]
    return lambda given: {plugin.name: plugin.function(**given)}


def batches(plugin: Objective | Requirement, where: str, ranges: Ranges) -> Iterator[Column]:
    """Yield the values of the plug-in for random arguments, checked to be elementwise."""
    for names in given_arguments(plugin):
        for stages in stage_counts(names):
            rng = np.random.default_rng(SEED)
            given = drawn_arguments(names, rng, FEW, stages, ranges)
            yield elementwise(_result(plugin), given, FEW, where)[plugin.name]
            wide = drawn_arguments(names, rng, MANY, stages, ranges)
            yield evaluate_once(_result(plugin), wide, MANY, where)[plugin.name]
