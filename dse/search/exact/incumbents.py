"""The incumbents of a composition, the log of its reductions, and its first designs."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dse.model.evaluation import Evaluation, distinct, distinct_rows
from dse.model.front import dominated, nondominated
from dse.model.space import Index, as_index, one_block
from dse.model.stage import StageParts
from dse.search.archive import Archive
from dse.search.exact.partial import Batch
from dse.search.exact.work import CALL, SORTED, spend, spend_comparing
from dse.search.outcome import Certificate

RANDOM = 2048
"""Designs drawn at random."""

_SEEDS = 16_384
"""Designs in all scenarios of a batch together."""

_FEW = 64
"""Fleets per stage and scenario."""


class Log(list[tuple[str, bool, int]]):
    """Numbers of pruned designs: by which reduction, and whether as infeasible, or dominated.

    Designs with replaceable fleets are dominated ones.
    """

    reduction = ""
    """The current reduction."""

    def settle(self, designs: int, *, infeasible: bool = False) -> None:
        """Count designs that are pruned."""
        self.append((self.reduction, infeasible, designs))

    @property
    def pruned(self) -> int:
        """Number of pruned designs."""
        return sum(designs for _, _, designs in self)

    def certificate(self, way: str, reason: str, most: float) -> Certificate:
        """Return the account of these designs, of which at most so many are different ones."""
        dominated_, infeasible = Counter[str](), Counter[str]()
        for name, missing, designs in self:
            (infeasible if missing else dominated_)[name] += designs
        over = max(0, self.pruned - most)
        for name, designs in dominated_.items():
            dominated_[name] -= int(min(over, designs))
            over -= min(over, designs)
        return Certificate(
            way=way,
            reason=reason,
            dominated=dominated_.total(),
            infeasible=infeasible.total(),
            log=infeasible + dominated_,
        )


class Incumbents:
    """The best known losses and designs, to compare bounds with."""

    def __init__(self, archive: Archive, objectives: int) -> None:
        """Start with nothing known."""
        self.archive = archive
        self.loss = np.empty((0, objectives))
        self.designs: Index = np.empty((0, len(archive.sizes)), dtype=np.int64)

    def dominated(self, loss: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return which losses (n, m) an evaluated design dominates."""
        spend_comparing(len(loss), self.loss)
        return dominated(loss, self.loss)

    def draw(self) -> None:
        """Evaluate random designs."""
        sizes = self.archive.sizes
        drawn = np.random.default_rng(0).integers(0, sizes, size=(RANDOM, len(sizes)))
        self.compare(distinct(drawn))

    def compare(self, index: Index) -> tuple[Evaluation, NDArray[np.bool_]]:
        """Evaluate designs to compare bounds with, and return the feasible, undominated ones."""
        found = self.archive.evaluate_reference(index)
        hopeful = self._remember(index, found)  # before the effort may end
        spend(len(index) + CALL)
        return found, hopeful

    def evaluate(self, index: Index) -> None:
        """Evaluate designs that may be on the front and have not been evaluated before."""
        if len(index):
            self._remember(index, self.archive.evaluate_new(index))
            spend(len(index) + CALL)

    def settle(self) -> None:
        """Put the incumbents on the front, at the end of an unfinished proof."""
        known = {loss.tobytes() for loss in self.archive.front[1]}
        new = [row for row, loss in enumerate(self.loss) if loss.tobytes() not in known]
        if new:
            self.archive.evaluate_new(self.designs[new])

    def _remember(self, index: Index, evaluation: Evaluation) -> NDArray[np.bool_]:
        """Return which designs are feasible, and not dominated by any that was evaluated."""
        hopeful = evaluation.feasible.copy()
        every = np.concatenate([self.loss, evaluation.loss[hopeful]])
        if len(every):
            best = nondominated(every)
            hopeful[hopeful] = best[len(self.loss) :]
            known = self.designs[best[: len(self.loss)]]
            designs, every = np.concatenate([known, index[hopeful]]), every[best]
            rows = distinct_rows(every)
            self.loss, self.designs = every[rows], designs[rows]
            spend(len(best) * len(every) // SORTED)
        return hopeful


def seeds(batch: Batch) -> Index:
    """Return some designs of each scenario: fleets of one or two designs that just suffice."""
    rng = np.random.default_rng(0)
    choices = [_fleets(batch, part, rng) for part in batch.parts]
    picks = _picks([choice.shape[1] for choice in choices], _SEEDS // len(batch.index), rng)
    index = np.repeat(batch.index, len(picks), axis=0)
    for place, (part, choice) in enumerate(zip(batch.parts, choices, strict=True)):
        own = choice[:, picks[:, place]]
        index[:, part.places] = own.reshape(len(index), len(part.places))
    return distinct(index)


def _picks(sizes: Sequence[int], most: int, rng: np.random.Generator) -> Index:
    """Return every combination of choices, a row each, or `most` random ones of more."""
    if math.prod(sizes) > most:
        return np.stack([rng.integers(size, size=most) for size in sizes], axis=1)
    return as_index(one_block(tuple(sizes)))


def _fleets(batch: Batch, part: StageParts, rng: np.random.Generator) -> Index:
    """Return fleets of a stage as positions on its axes, (scenarios, fleets, axes)."""
    space, scenarios = batch.space, len(batch.index)
    sizes = [space.sizes[place] for place in part.places]
    if not part.designs:
        whole = math.prod(sizes)
        some = np.arange(whole) if whole <= _FEW else rng.integers(whole, size=_FEW)
        positions = np.stack(np.unravel_index(some, sizes), axis=1).astype(np.int64)
        return np.repeat(positions[np.newaxis], scenarios, axis=0)
    floor = np.broadcast_to(batch.floor(np.arange(scenarios)), (scenarios,))
    fastest = [0 if place in part.designs else space.sizes[place] - 1 for place in part.places]
    filled = part.stage.filled(batch.columns)
    found = []
    for pair in itertools.product(part.designs, repeat=2):
        positions, missing = np.tile(np.array(fastest, dtype=np.int64), (scenarios, 1)), floor
        for place in dict.fromkeys(pair):
            axis, design = space.axes[place], part.designs[place]
            values = axis.columns[axis.unit_name]
            bandwidth = part.stage.designs.bandwidth_bit_per_s[design] * filled[design]
            wanted = missing / bandwidth * (1 - 1e-12)
            wanted = np.ceil(wanted) if place == pair[1] else np.floor(wanted)
            order = np.argsort(values, kind="stable")
            at = np.searchsorted(values[order], wanted).clip(max=len(values) - 1)
            positions[:, part.places.index(place)] = order[at]
            missing = np.maximum(missing - values[order[at]] * bandwidth, 0.0)
        found.append(positions)
    return np.stack(found, axis=1)
