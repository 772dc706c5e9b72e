"""Of which axes the fleets of each stage are chosen, and in which order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dse.algebra.enclosure import Enclosure
from dse.model.space import Space
from dse.model.stage import Columns, Stage, Wired


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

    Whether its clock meets the rate is no axis of the stage: other stages depend on it.
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
