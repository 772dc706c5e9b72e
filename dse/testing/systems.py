"""Random systems: what studies set, fleets of random designs, and the quantities of them.

Some declarations speak of how arguments are made by other quantities, so they can only be tried
on whole systems.  Part of the conformance kit `dse.testing`; nothing else uses it.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, cast

import numpy as np

from dse.algebra import units
from dse.contract import Column, CoreMetrics, Objective, Requirement
from dse.model.designs import BLOCKS, Designs
from dse.model.fleet import STAGE_COLUMNS, Fleet
from dse.model.graph import Graph, Step, argument_names, wire
from dse.model.stage import SHARED_COLUMNS, Stage
from dse.plugins import registry
from dse.testing.probe import Ranges, code_count, draw_argument

SCENARIOS, FLEETS = 112, 24
_DESIGNS, _MOST = 4, 5
"""Designs of a stage, and most instances of each."""

_M2_PER_GATE, _M2_PER_CELL = 1e-12, 1e-11

_VARY = "workload_size_cv2"
"""Sizes that vary, which a study with clocks that meet its rate has not."""

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
    """Return the installed requirements that say what every feasible design reaches."""
    found = registry.records(Requirement).values()
    return tuple(requirement for requirement in found if requirement.at_least)


@dataclass(frozen=True)
class Systems:
    """Systems to look at: `SCENARIOS` x `FLEETS` of them.

    Attributes
    ----------
    graph
        What can be computed of them.
    inputs
        What the studies set, one value per scenario: shape (scenarios, 1); of the quantities among
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
        """Columns by name; those of stages are tuples."""
        given = {**self.counts, **self.inputs}
        return _Columns(self.graph, self.inputs, [stage.fleet(given) for stage in self.stages])

    def column(self, name: str) -> Column:
        """Return a column as it is for every system, shape (scenarios, fleets)."""
        return full(self.columns[name])

    def value(self, step: Step) -> Column:
        """Return what a plug-in gives, shape (scenarios, fleets)."""
        with np.errstate(all="ignore"):
            return full(step(self.columns))

    @cached_property
    def feasible(self) -> Column:
        """Which systems reach all that is demanded, shape (scenarios, fleets)."""
        steps = [step for step in map(self.graph.bind, demands()) if step is not None]
        met = [self.value(step) <= 0 for step in steps] or [full(1.0) > 0]
        return np.asarray(np.all(met, axis=0))

    def with_input(self, name: str, values: Column) -> Systems:
        """Return the same systems with one column that the studies set replaced."""
        return replace(self, inputs={**self.inputs, name: values})

    def with_one_more(self) -> Iterator[Systems]:
        """Yield the systems with one instance more: of each design of each stage in turn."""
        for name, count in self.counts.items():
            yield replace(self, counts={**self.counts, name: count + 1.0})


class _Columns(dict[str, Any]):
    """Columns of systems; each is made when it is needed."""

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
    """Yield systems in which a plug-in has its arguments: of one to three stages, and of studies
    that set everything, everything but one section, and only what it must have."""
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
    """Return systems of which some reach what is demanded of them, and some only just fail to."""
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


def calibrated_bound(systems: Systems, requirement: Requirement, seed: int) -> Systems:
    """Return the systems with what studies bound a quantity by where the quantity lies.

    A bound drawn for its unit alone may be met in odd systems only, by what is odd about them.
    """
    bound = requirement.at_most or requirement.at_least
    if bound not in systems.inputs or not systems.graph.provides(requirement.quantity):
        return systems
    rng = np.random.default_rng(seed)
    values = systems.column(requirement.quantity)
    spot = rng.integers(FLEETS, size=SCENARIOS)
    typical = np.take_along_axis(values, spot[:, np.newaxis], axis=1)
    usable = np.isfinite(typical) & (typical > 0)
    near = typical * 10 ** rng.uniform(-0.3, 0.3, (SCENARIOS, 1))
    return systems.with_input(bound, np.where(usable, near, full(systems.inputs[bound])[:, :1]))


def switches(systems: Systems) -> list[str]:
    """Return the columns that are no or yes whatever the fleets are."""
    found = [name for name in systems.inputs if code_count(name) == 2]
    graph = systems.graph
    pairs = {name for name, one in graph.quantities.items() if len(one.labels) == 2}
    for name in filter(graph.provides, sorted(pairs - {*systems.inputs})):
        values = systems.column(name)
        found += [name] * bool((values == values[:, :1]).all())
    return found
