"""Stages: the steps of the chain, and the possible fleets of each."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.algebra.enclosure import Enclosure
from dse.algebra.expression import Expression
from dse.contract import Column, Requirement
from dse.model.designs import Designs
from dse.model.evaluation import Goal, full_column
from dse.model.fleet import Fleet, offered
from dse.model.graph import Graph, Step, missed_by
from dse.model.mixed import DECIDING, PAYLOAD_OFFLOADED, Parted, filled_designs
from dse.model.space import Space

Groups = list[tuple[Column, NDArray[np.int64]]]
"""For each group of equal instances in designs: the count (n,), and the position of its design."""

Columns = dict[str, Any]
"""A column or an enclosure of every input and quantity.  Columns of stages are tuples."""

ROUNDING = 1e-12
"""Relative slack when an instance count is rounded up, so that 2 x 50 Gbit/s carries 100."""


@dataclass(frozen=True)
class Stage:
    """One step of the chain and the choice of its fleet.

    Attributes
    ----------
    name
        Prefix of its columns.
    designs
        The designs of the fleet.
    mixed
        True: the columns ``<name>.<design>`` hold a count for each design.  False:
        ``<name>.design`` holds a position in `designs` and ``<name>.instances`` a count.  If
        the latter is absent, the count is the least that carries the demand.
    clocked
        True if pipelines switch while they idle.  Otherwise their clocks are gated.
    common
        True if it is clocked to the one rate of the chain.  Otherwise it runs at its top clock.
        The column ``<name>.common`` overrides it for each design.
    alone
        True if it is the only stage of the chain.
    messages
        The sizes of messages, whose tasks are whole, or empty for a stream.
    most_hz
        Cap of its clock, for which `designs` are rated.
    """

    name: str
    designs: Designs
    mixed: bool
    clocked: bool = False
    common: bool = False
    alone: bool = False
    messages: tuple[Parted, ...] = ()
    most_hz: float = np.inf

    def with_metrics(self, **columns: Column) -> Stage:
        """Return the stage with other values of some metrics of its designs."""
        metrics = replace(self.designs.metrics, **columns)
        return replace(self, designs=replace(self.designs, metrics=metrics))

    def least_filled(self, values: Callable[[str], Column | None]) -> Designs:
        """Return the designs with the least filled share over all sizes, of `values` by name."""
        columns = {name: one for name in DECIDING if (one := values(name)) is not None and len(one)}
        return replace(self.designs, filled=self.filled(columns).min(axis=1))

    def filled(self, columns: Mapping[str, Column]) -> NDArray[np.float64]:
        """Return the share of each design's tasks that messages fill, (m, rows)."""
        every = [np.arange(len(self.designs.names))[:, np.newaxis]]
        designs, (at,) = filled_designs(self.designs, self.messages, columns, every)
        share = np.broadcast_to(designs.filled, designs.metrics.clock_hz.shape)
        return np.asarray(share[at])

    @property
    def policy(self) -> str:
        """Return the column that selects, if present, designs that run it at the one rate."""
        return f"{self.name}.common"

    def reads(self, column: str) -> bool:
        """Return whether its fleets depend on a column."""
        shared = CHAINED_COLUMNS if self.mixed else SHARED_COLUMNS
        filled = bool(self.messages) and column in DECIDING
        return filled or column.startswith(f"{self.name}.") or column in shared

    def at(self, columns: Mapping[str, Column]) -> Stage:
        """Return the stage with the designs' tasks filled by messages of one size."""
        designs, _ = filled_designs(self.designs, self.messages, columns, [])
        return replace(self, designs=designs, messages=())

    def counts(self, columns: Mapping[str, Column]) -> list[Column]:
        """Return the number of instances of each design of a mixed fleet, as in `designs`."""
        return [columns[f"{self.name}.{design}"] for design in self.designs.names]

    def _instances(self, chosen: Column, columns: Mapping[str, Column]) -> Column:
        if f"{self.name}.instances" in columns:
            return columns[f"{self.name}.instances"]
        at = [chosen.astype(np.int64)]
        designs, (at_size,) = filled_designs(self.designs, self.messages, columns, at)
        bandwidth = designs.bandwidth_bit_per_s[..., at_size]
        clock = columns.get(f"{self.name}.clock", np.ones(1))
        rate = columns["workload_rate_bit_per_s"] * columns.get(PAYLOAD_OFFLOADED, 1.0)
        least = np.ceil(rate / (bandwidth * clock) * (1 - ROUNDING))
        return np.maximum(least, 1.0)

    def one_more(self, columns: Mapping[str, Column]) -> list[dict[str, Column]]:
        """Return the columns to replace for one more instance, of each design in turn."""
        if self.mixed:
            names = [f"{self.name}.{design}" for design in self.designs.names]
            return [{name: columns[name] + 1.0} for name in names]
        chosen = columns[f"{self.name}.design"]
        return [{f"{self.name}.instances": self._instances(chosen, columns) + 1.0}]

    def fleet(self, columns: Mapping[str, Column]) -> Fleet:
        """Return the fleet that the study columns choose."""
        if self.mixed:
            positions = [np.array([position]) for position in range(len(self.designs.names))]
            return self.fleet_of(self.counts(columns), positions, columns)
        chosen = columns[f"{self.name}.design"]
        counts = [self._instances(chosen, columns)]
        return self.fleet_of(counts, [chosen.astype(np.int64)], columns)

    def groups(
        self, columns: Mapping[str, Column], count: int, alone: NDArray[np.bool_] | None
    ) -> Groups:
        """Return the groups of equal instances of `count` designs, empty for designs `alone`."""
        fleet = self.fleet(columns)
        counts = [full_column(column, count) for column in fleet.counts]
        counts = counts if alone is None else [np.where(alone, 0, one) for one in counts]
        return [
            (one, full_column(column, count) % len(self.designs.names))
            for one, column in zip(counts, fleet.positions, strict=True)
        ]

    def fleet_of(
        self,
        counts: list[Any],
        positions: list[NDArray[np.int64]],
        columns: Mapping[str, Column],
        *,
        clock: Column | None = None,
        floor: Column | None = None,
        ceiling: float = np.inf,
    ) -> Fleet:
        """Return a fleet of groups of equal instances, whose counts may be enclosed.

        Its clock is given, or set by the study columns.  It carries a floor at least, and a
        ceiling at most.
        """
        if clock is None:
            clock = columns.get(f"{self.name}.clock", np.ones(1))
        streams = dependent_streams(columns)
        common = columns.get(self.policy, np.full(1, float(self.common)))
        own = self.clocked, common, self.alone
        designs, at = filled_designs(self.designs, self.messages, columns, positions)
        return Fleet(counts, at, designs, clock, streams, floor, *own, ceiling)


CHAINED_COLUMNS = ("workload_chained", "workload_streams")

SHARED_COLUMNS = (
    *CHAINED_COLUMNS,
    "workload_rate_bit_per_s",
    PAYLOAD_OFFLOADED,
)
"""Columns besides the stage's own that decide its fleets."""


def dependent_streams(columns: Mapping[str, Column]) -> Column:
    """Return the most tasks in flight: one per stream in a chained mode, else infinite."""
    chained = columns.get("workload_chained", np.zeros(1))
    streams = columns.get("workload_streams", np.full(1, np.inf))
    return np.where(chained > 0, streams, np.inf)


@dataclass(frozen=True)
class Wired:
    """Parts of a `dse.model.problem.Problem` on which its bounds depend."""

    space: Space
    stages: tuple[Stage, ...]
    graph: Graph
    goals: tuple[Goal, ...]
    constraints: tuple[Expression, ...] = ()
    requirements: tuple[Requirement, ...] = field(default=())

    @cached_property
    def in_use(self) -> tuple[str, ...]:
        """Return the quantities of the goals, then those that only constraints name."""
        bounded = [name for rule in self.constraints for name in sorted(rule.names)]
        return tuple(dict.fromkeys([*(goal.name for goal in self.goals), *bounded]))

    @cached_property
    def search_plan(self) -> tuple[Step, ...]:
        """Return the quantities that losses and violations need, in order."""
        wanted = {*self.in_use}
        wanted |= {name for step in self.requirement_steps for name in step.arguments}
        return self.graph.closure(wanted)

    @cached_property
    def requirement_steps(self) -> tuple[Step, ...]:
        """Return the requirements whose columns the study provides."""
        return tuple(filter(None, map(self.graph.bind, self.requirements)))

    @cached_property
    def partial_in_use(self) -> tuple[str, ...]:
        """Return the quantities in use that may not exist."""
        known = self.graph.quantities
        return tuple(name for name in self.in_use if name in known and known[name].partial)

    @cached_property
    def offered(self) -> tuple[str, ...]:
        """Return the stage columns with values for every stage."""
        return offered(stage.designs for stage in self.stages)

    def stage_columns(
        self, columns: Mapping[str, Any], wanted: Collection[str]
    ) -> dict[str, tuple[Any, ...]]:
        """Return the wanted columns of stages, from columns or enclosures of inputs."""
        fleets = [stage.fleet(columns) for stage in self.stages]
        names = [name for name in self.offered if name in wanted]
        return {name: tuple(fleet.column(name) for fleet in fleets) for name in names}

    def missed(self, columns: Mapping[str, Any], made: Callable[[Step, Any], Any]) -> list[Any]:
        """Return the misses of requirements, whose functions are `made` of columns.

        Then the misses of quantities in use that do not exist.
        """
        found = [missed_by(step, made(step, columns)) for step in self.requirement_steps]
        found += [np.where(np.isnan(columns[name]), np.inf, -1.0) for name in self.partial_in_use]
        return found


@dataclass(frozen=True)
class StageParts:
    """The axes of one stage, in the order in which a partial design chooses them."""

    stage: Stage
    places: tuple[int, ...]
    designs: Mapping[int, int]
    """Place of a count axis -> position of its design."""

    def counts(self, space: Space, columns: Columns, chosen: Sequence[int]) -> list[Any]:
        """Return the counts of fleets whose axes `chosen` are chosen, the others enclosed."""
        counts: list[Any] = self.stage.counts(columns)
        for place, design in self.designs.items():
            if place not in chosen:
                axis = space.axes[place]
                values = axis.columns[axis.unit_name]
                counts[design] = Enclosure(values.min(keepdims=True), values.max(keepdims=True))
        return counts


def stage_parts(problem: Wired) -> Iterator[StageParts]:
    """Yield the axes of each stage: the clock, then counts from the fastest design on.

    The choice to clock a stage to the one rate is no axis of it, as other stages depend on it.
    """
    names = [axis.name for axis in problem.space.axes]
    for stage in problem.stages:
        own = [
            k
            for k, axis in enumerate(problem.space.axes)
            if axis.name.partition(".")[0] == stage.name and stage.policy not in axis.columns
        ]
        designs = {
            k: stage.designs.names.index(names[k].partition(".")[2])
            for k in own
            if stage.mixed and names[k] != f"{stage.name}.clock"
        }
        rate = stage.designs.bandwidth_bit_per_s
        order = sorted(own, key=lambda k: (k in designs, -rate[designs.get(k, 0)], k))
        yield StageParts(stage, tuple(order), designs)
