"""Conformance of quantities and requirements: plausible arguments, batches, and random systems.

Random pairs and systems try to refute each declaration.
"""

from __future__ import annotations

import inspect
import re
from collections import ChainMap
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from dse.algebra import units
from dse.contract import (
    ATTACHMENTS,
    PCIE_LINKS,
    PRECISIONS,
    SIZE,
    TRANSFERS,
    WAIT_MODES,
    Column,
    CoreMetrics,
    Objective,
    Requirement,
)
from dse.errors import UnitError
from dse.model.designs import BLOCKS, Designs
from dse.model.fleet import STAGE_COLUMNS, Fleet
from dse.model.graph import Graph, Step, argument_names, each_column, wire
from dse.model.influence import JOINS
from dse.model.mixed import Mixed, Parted
from dse.model.stage import SHARED_COLUMNS, Stage
from dse.plugins import registry

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


def _stage_counts(names: tuple[str, ...]) -> tuple[int, ...]:
    """Return for how many stages to try functions of these arguments."""
    return (1, 2, 3) if any(name.startswith("stage_") for name in names) else (1,)


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
        for stages in _stage_counts(names) if name in names else ():
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
    rule = f"{where}: takes no arguments; name the columns that it needs"
    require(bool(sum(argument_names(plugin), ())), rule)


def _result(plugin: Objective | Requirement) -> Call:
    if isinstance(plugin, Objective) and plugin.over_sizes == "together":
        plugin = Mixed({plugin.name: plugin}, [_MIX])[plugin.name]
    return lambda given: {plugin.name: plugin.function(**given)}


def batches(plugin: Objective | Requirement, where: str, ranges: Ranges) -> Iterator[Column]:
    """Yield the values of the plug-in for random arguments, checked to be elementwise."""
    for names in given_arguments(plugin):
        for stages in _stage_counts(names):
            rng = np.random.default_rng(SEED)
            given = drawn_arguments(names, rng, FEW, stages, ranges)
            yield elementwise(_result(plugin), given, FEW, where)[plugin.name]
            wide = drawn_arguments(names, rng, MANY, stages, ranges)
            yield evaluate_once(_result(plugin), wide, MANY, where)[plugin.name]


Rows = NDArray[np.intp]

SCENARIOS, FLEETS = 112, 24
_DESIGNS, _MOST = 4, 5
"""Designs of a stage, and most instances of each."""

_M2_PER_GATE, _M2_PER_CELL = 1e-12, 1e-11

_VARY = "workload_size_cv2"
"""Variation of sizes, which a study with clocks that meet its rate does not have."""

_METRICS: Mapping[str, tuple[float, float]] = {
    "area_m2": (1e-9, 1e-6),
    "dynamic_power_w": (1e-4, 1e-1),
    "leakage_power_w": (1e-5, 1e-2),
    "clock_hz": (1e8, 1e9),
    "payload_bit": (32.0, 512.0),
    "cycles_per_task": (1.0, 30.0),
    "latency_cycles": (1.0, 300.0),
    "tasks_in_flight": (1.0, 30.0),
    "read_byte": (1.0, 64.0),
    "written_byte": (1.0, 64.0),
}


def installed(plugin: Objective | Requirement) -> Mapping[str, Objective]:
    """Return every installed objective by name, and the one that is examined."""
    own = {plugin.name: plugin} if isinstance(plugin, Objective) else {}
    return ChainMap(own, registry.Catalogue(Objective))  # type: ignore[arg-type]


def demands() -> tuple[Requirement, ...]:
    """Return the installed requirements with a demand that every feasible design meets."""
    found = registry.records(Requirement).values()
    return tuple(requirement for requirement in found if requirement.at_least)


@dataclass(frozen=True)
class Systems:
    """Random systems, `SCENARIOS` x `FLEETS` of them.

    Attributes
    ----------
    graph
        The computable quantities.
    inputs
        Inputs of the studies, one value per scenario: shape (scenarios, 1).  For quantities among
        them, these are the values.
    stages
        The chain.
    counts
        Instances of each design of each stage, one value per fleet: shape (1, fleets).
    """

    graph: Graph
    inputs: Mapping[str, Column]
    stages: tuple[Stage, ...]
    counts: Mapping[str, Column] = field(repr=False)

    @cached_property
    def columns(self) -> _Columns:
        """Return columns by name, tuples for columns of stages."""
        given = {**self.counts, **self.inputs}
        return _Columns(self.graph, self.inputs, [stage.fleet(given) for stage in self.stages])

    def column(self, name: str) -> Column:
        """Return a column as it is for every system, shape (scenarios, fleets)."""
        return full(self.columns[name])

    def value(self, step: Step) -> Column:
        """Return the values of a plug-in, shape (scenarios, fleets)."""
        with np.errstate(all="ignore"):
            return full(step(self.columns))

    @cached_property
    def feasible(self) -> Column:
        """Return whether each system meets all demands, shape (scenarios, fleets)."""
        steps = [step for step in map(self.graph.bind, demands()) if step is not None]
        met = [self.value(step) <= 0 for step in steps] or [full(1.0) > 0]
        return np.asarray(np.all(met, axis=0))

    def with_input(self, name: str, values: Column) -> Systems:
        """Return the same systems with one column that the studies set replaced."""
        return replace(self, inputs={**self.inputs, name: values})


class _Columns(dict[str, Any]):
    """Columns of systems, each computed when it is needed."""

    def __init__(self, graph: Graph, given: Mapping[str, Column], fleets: Sequence[Fleet]) -> None:
        super().__init__(given)
        self.graph, self.fleets = graph, fleets

    def __missing__(self, name: str) -> Any:
        with np.errstate(all="ignore"):
            if name in STAGE_COLUMNS:
                self[name] = tuple(fleet.column(name) for fleet in self.fleets)
            else:
                self[name] = cast(Step, self.graph.bind(self.graph.quantities[name]))(self)
        return self[name]


def full(column: Any) -> Column:
    """Return a column as it is for every system, shape (scenarios, fleets)."""
    return np.broadcast_to(np.asarray(column, dtype=np.float64), (SCENARIOS, FLEETS))


def every_stage(column: Column | tuple[Column, ...]) -> Iterator[Column]:
    """Yield the columns of all stages of a staged one, or the only one, as `full` ones."""
    yield from map(full, column if isinstance(column, tuple) else (column,))


def drawn_systems(plugin: Objective | Requirement, seed: int, ranges: Ranges) -> Iterator[Systems]:
    """Yield systems in which a plug-in has its arguments: of one to three stages, for studies
    that set everything, everything but one section, and only the required inputs."""
    quantities = installed(plugin)
    required, every = _inputs((plugin, *demands()), quantities)
    sections = sorted({name.partition("_")[0] for name in every})
    omitted = [set(), every - required]
    omitted += [{name for name in every if name.startswith(f"{one}_")} for one in sections]
    rng = np.random.default_rng(seed)
    tried: list[set[str]] = []
    for less in omitted:
        given = every - less
        if given in tried:
            continue
        tried.append(given)
        graph = wire(quantities, given | set(STAGE_COLUMNS))
        if graph.bind(plugin) is None:
            continue
        for stages in (1, 2, 3):
            yield _calibrated(_draw(graph, given, stages, rng, ranges), rng)


def _inputs(
    plugins: Iterable[Objective | Requirement], quantities: Mapping[str, Objective]
) -> tuple[set[str], set[str]]:
    """Return the columns that studies have to set for the first of `plugins`, and that they may."""
    required: set[str] = set()
    every = set(SHARED_COLUMNS)
    seen: set[str] = set()

    def visit(plugin: Objective | Requirement, must: bool) -> None:
        if plugin.name in seen:
            return
        seen.add(plugin.name)
        needed, optional = argument_names(plugin)
        for name in (*needed, *optional):
            if name in quantities:
                visit(quantities[name], must and name in needed)
            elif name not in STAGE_COLUMNS:
                every.add(name)
                if must and name in needed:
                    required.add(name)

    for position, plugin in enumerate(plugins):
        visit(plugin, position == 0)
    return required, every


def _draw(
    graph: Graph, names: Collection[str], stages: int, rng: np.random.Generator, ranges: Ranges
) -> Systems:
    inputs = {}
    for name in sorted({*names} - {_VARY}):
        values = draw_argument(name, rng, SCENARIOS, ranges)
        fraction = name.endswith(("exponent", "offloaded"))
        whole = not units.suffix(name) and not code_count(name) and not fraction
        inputs[name] = (np.ceil(values) if whole else values)[:, np.newaxis]
    chain = tuple(
        Stage(f"stage_{number}", _designs(rng), mixed=True, alone=stages == 1)
        for number in range(stages)
    )
    following = rng.integers(2, size=(stages, SCENARIOS, 1))
    inputs |= {stage.policy: one * 1.0 for stage, one in zip(chain, following, strict=True)}
    if _VARY in names:
        own = draw_argument(_VARY, rng.spawn(1)[0], SCENARIOS, ranges)[:, np.newaxis]
        inputs[_VARY] = own * ~following.any(axis=0)
    counts: dict[str, Column] = {}
    for stage in chain:
        drawn = rng.integers(0, _MOST + 1, (_DESIGNS, 1, FLEETS)).astype(np.float64)
        drawn[rng.integers(_DESIGNS)] += drawn.sum(axis=0) == 0
        counts |= {
            f"{stage.name}.{design}": count
            for design, count in zip(stage.designs.names, drawn, strict=True)
        }
    return Systems(graph, inputs, chain, counts)


def _designs(rng: np.random.Generator) -> Designs:
    drawn = {
        name: np.exp(rng.uniform(np.log(low), np.log(high), _DESIGNS))
        for name, (low, high) in _METRICS.items()
    }
    extrapolated = rng.integers(2, size=_DESIGNS).astype(np.float64)
    names = tuple(f"d{number}" for number in range(_DESIGNS))
    blocks = dict.fromkeys(BLOCKS, np.ceil(drawn["tasks_in_flight"] / 8))
    gates, logic = drawn["area_m2"] / _M2_PER_GATE, drawn["area_m2"] / _M2_PER_CELL
    return Designs(
        names,
        CoreMetrics(**drawn, **blocks, area_ge=gates, area_lc=logic, extrapolated=extrapolated),
    )


def _calibrated(systems: Systems, rng: np.random.Generator) -> Systems:
    """Return systems of which some meet their demands, and some only just miss them."""
    for requirement in demands():
        column = requirement.at_least
        if all(map(systems.graph.provides, (column, requirement.quantity))):
            drawn = systems.column(column)[:, :1]
            unbounded = systems.with_input(column, np.full((SCENARIOS, 1), 1e30))
            most = unbounded.column(requirement.quantity)
            spot = rng.integers(FLEETS, size=SCENARIOS)
            reached = np.take_along_axis(np.sort(most, axis=1), spot[:, np.newaxis], axis=1)
            usable = np.isfinite(reached) & (reached > 0) & (reached < 1e29)
            share = 10 ** rng.uniform(-1.0, 0.3, (SCENARIOS, 1))
            systems = systems.with_input(column, np.where(usable, reached * share, drawn))
    return systems


def check_objective(objective: Objective, *, ranges: Ranges | None = None) -> None:
    """Raise AssertionError unless `objective` keeps the contract.

    Checked: source, docstring and signature, names with units in SI, columns that are float64,
    elementwise, equal to single calls bit for bit, unchanged inputs, NaN only if `partial`,
    codes that have a label.  Random pairs and systems try to refute `rises_with`, `falls_with`,
    `at_most`, `over_stages` and `settled_while`.  Every run checks `grows_with_instances`.
    Infinity passes: as a limit it means no limit.

    Parameters
    ----------
    objective
        The objective to check.
    ranges
        Valid ranges of arguments, if the plausible range of the unit does not fit.
    """
    where, ranges = f"objective {objective.name!r}", ranges or {}
    _check_record(objective, where)
    _check_values(objective, where, ranges)
    check_directions(objective, where, ranges)
    check_stages(objective, where, ranges)
    drawn = list(drawn_systems(objective, SEED, ranges))
    check_at_most(objective, where, drawn)
    check_settled(objective, where, drawn)


def _check_record(objective: Objective, where: str) -> None:
    """Raise AssertionError for a source, a name, an argument or a limit that is not as declared."""
    require(bool(objective.source.strip()), f"{where}: no source; name the paper or the reason")
    check_wiring(objective, where)
    check_units((objective.name,), where)
    require(
        len(objective.limits) in (0, len(objective.labels)),
        f"{where}: declares limits for {len(objective.limits)} of its {len(objective.labels)} "
        "labels; give one limit per label",
    )
    require(
        not objective.over_sizes or SIZE in sum(argument_names(objective), ()),
        f"{where}: declares over_sizes, but does not take {SIZE}; remove the declaration",
    )


def _check_values(objective: Objective, where: str, ranges: Ranges) -> None:
    """Raise AssertionError for undeclared NaN, and codes without a label."""
    for values in batches(objective, where, ranges):
        known = values[~np.isnan(values)]
        require(
            objective.partial or known.size == values.size,
            f"{where}: gives NaN; give a number, or declare it partial",
        )
        require(
            not objective.labels or bool(np.isin(known, range(len(objective.labels))).all()),
            f"{where}: gives codes beyond its {len(objective.labels)} labels",
        )


def check_stages(objective: Objective, where: str, ranges: Ranges) -> None:
    """Raise AssertionError if stages join other than `over_stages` declares.

    Arguments that are no stage columns are the same for a single stage and for the chain.
    """
    names = sum(argument_names(objective), ())
    stages = [name for name in names if name in STAGE_COLUMNS]
    declared = objective.over_stages
    if not stages:
        rule = f"{where}: declares over_stages, but takes no stage column"
        require(not declared, f"{rule}; remove the declaration")
        return
    chain = drawn_arguments(names, np.random.default_rng(SEED), MANY, 3, ranges)
    alone = [
        objective(**chain | {name: (chain[name][stage],) for name in stages}) for stage in range(3)
    ]
    whole = objective(**chain)
    holding = [word for word, join in JOINS.items() if np.array_equal(reduce(join, alone), whole)]
    values = ", ".join(f"{one[0]:.6g}" for one in alone)
    require(
        not declared or declared in holding,
        f"{where}: declares over_stages={declared!r}, but {values} of three stages give "
        f"{whole[0]:.6g}; correct or remove the declaration",
    )


Cases = Iterable[tuple[NDArray[np.bool_], Column, Column]]
"""Which systems count, and two of their columns, of which the first must not exceed the second."""


def _hold(where: str, claim: str, cases: Cases) -> None:
    """Raise AssertionError if a declaration is refuted, or if no system tries it."""
    tried = 0
    for counted, low, high in cases:
        tried += int(counted.sum())
        with np.errstate(invalid="ignore"):
            wrong = [*np.argwhere(counted & (low > high + MARGIN * np.abs(high)))][:1]
        for row in map(tuple, wrong):
            raise AssertionError(
                f"{where}: declares that {claim}, but a system has {low[row]:.6g} and "
                f"{high[row]:.6g}; prove or remove the declaration"
            )
    require(tried > 0, f"{where}: no random system tries that {claim}")


def check_at_most(objective: Objective, where: str, drawn: Sequence[Systems]) -> None:
    """Raise AssertionError if a quantity exceeds a quantity that it is declared `at_most`."""
    for name in objective.at_most:
        known = [systems for systems in drawn if systems.graph.provides(name)]
        values = ((systems.column(objective.name), systems.columns[name]) for systems in known)
        cases = ((~np.isnan(low), low, most) for low, high in values for most in every_stage(high))
        _hold(where, f"it is at most {name}", cases)


def check_settled(objective: Objective, where: str, drawn: Sequence[Systems]) -> None:
    """Raise AssertionError if an argument matters that `settled_while` declares settled.

    Tried on pairs of systems of one scenario that meet their demands, ordered by all arguments
    but this one, which has the opposite order.
    """
    for name, column in objective.settled_while.items():
        directed = name in (*objective.rises_with, *objective.falls_with)
        require(directed, f"{where}: declares {name!r} settled, but no direction of it")
        pairs = (
            (systems.column(column)[:, 0] > 0, _against(objective, name, systems))
            for systems in drawn
            if column in systems.inputs or systems.graph.provides(column)
        )
        cases = ((settled[rows], low, high) for settled, (rows, low, high) in pairs)
        _hold(where, f"{name} is settled while {column}", cases)


def _against(objective: Objective, name: str, systems: Systems) -> tuple[Rows, Column, Column]:
    """Return pairs of systems of one scenario that all arguments but `name` put in order.

    The scenario of each, and the values of both: all other arguments let the first one be the
    lower, or equal, and this one has the opposite order.
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


def check_requirement(requirement: Requirement, *, ranges: Ranges | None = None) -> None:
    """Raise AssertionError unless `requirement` keeps the contract.

    As in `check_objective`.  The declarations are `rises_with`, `falls_with`, the bound of a
    `quantity`, and `implies`.
    """
    where = f"requirement {requirement.name!r}"
    require(bool(requirement.rule.strip()), f"{where}: no rule; state the requirement in words")
    check_wiring(requirement, where)
    for values in batches(requirement, where, ranges or {}):
        require(not np.isnan(values).any(), f"{where}: gives NaN; a violation is a number")
    check_directions(requirement, where, ranges or {})
    check_bounds(requirement, where, ranges or {})
    check_implied(requirement, where, ranges or {})


def check_bounds(requirement: Requirement, where: str, ranges: Ranges) -> None:
    """Raise AssertionError if a requirement is met beyond the bound that it declares."""
    low, high = requirement.quantity, requirement.at_most
    if requirement.at_least:
        low, high = requirement.at_least, requirement.quantity
    names = sum(argument_names(requirement), ())
    for name in (low, high) if low or high else ():
        require(name in names, f"{where}: bounds {name!r}, which is not an argument")
    drawn = [
        drawn_arguments(given, np.random.default_rng(SEED), MANY, 1, ranges)
        for given in given_arguments(requirement)
        if {low, high} <= {*given}
    ]
    met = (np.broadcast_to(requirement(**given) <= 0, MANY) for given in drawn)
    cases = ((rows, given[low], given[high]) for rows, given in zip(met, drawn, strict=True))
    if low or high:
        _hold(where, f"its {low} is at most its {high}", cases)


def check_implied(requirement: Requirement, where: str, ranges: Ranges) -> None:
    """Raise AssertionError if a requirement is met without the bound that it `implies`."""
    arguments = sum(argument_names(requirement), ())
    drawn = list(drawn_systems(requirement, SEED, ranges)) if requirement.implies else []
    for name, column in requirement.implies.items():
        rule = f"{where}: implies something of {name!r}, which is an argument"
        require(name not in arguments, f"{rule}; bound it as `quantity`")
        bound = ((systems, systems.graph.bind(requirement)) for systems in drawn)
        cases = (
            (systems.value(step) <= 0, systems.column(column), systems.column(name))
            for systems, step in bound
            if step is not None and all(map(systems.graph.provides, (name, column)))
        )
        _hold(where, f"it implies {name} of at least {column}", cases)
