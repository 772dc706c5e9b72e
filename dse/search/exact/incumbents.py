"""The incumbents and the log of a composition, and its first designs."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dse.model.evaluation import Evaluation, distinct, distinct_rows
from dse.model.front import dominated, nondominated
from dse.model.space import Index
from dse.model.stage import StageParts
from dse.search.archive import Archive
from dse.search.exact.partial import Batch
from dse.search.exact.work import CALL, SORTED, spend, spend_comparing


@dataclass
class Log:
    """The certificate of a composition: the number of designs that each reduction settled.

    Attributes
    ----------
    reduction
        The current reduction.
    dominated, infeasible
        Pruned designs by reduction.  Dominated ones include those with replaceable fleets.
    """

    reduction: str = ""
    dominated: dict[str, int] = field(default_factory=dict)
    infeasible: dict[str, int] = field(default_factory=dict)

    def settle(self, designs: int, *, infeasible: bool = False) -> None:
        """Count designs that are pruned."""
        count = self.infeasible if infeasible else self.dominated
        count[self.reduction] = count.get(self.reduction, 0) + designs

    @property
    def pruned(self) -> int:
        """Number of pruned designs."""
        return sum(self.dominated.values()) + sum(self.infeasible.values())

    def by_reduction(self) -> dict[str, int]:
        """Return the number of designs that each reduction settled."""
        names = dict.fromkeys([*self.infeasible, *self.dominated])
        return {n: self.infeasible.get(n, 0) + self.dominated.get(n, 0) for n in names}

    def copy(self) -> Log:
        """Return the log so far."""
        return Log(self.reduction, dict(self.dominated), dict(self.infeasible))


class Incumbents:
    """The best known losses and designs, to compare bounds with."""

    def __init__(self, archive: Archive, objectives: int) -> None:
        """Start with nothing known."""
        self.archive = archive
        self.loss = np.empty((0, objectives))
        self.designs: Index = np.empty((0, len(archive.sizes)), dtype=np.int64)
        self._evaluated: set[bytes] = set()

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
            self._evaluated.update(map(_key, index))
            self._remember(index, self.archive.evaluate_new(index))
            spend(len(index) + CALL)

    def settle(self) -> None:
        """Evaluate the designs of the front so far, at the end of an unfinished proof."""
        new = [row for row, one in enumerate(self.designs) if _key(one) not in self._evaluated]
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


def _key(design: NDArray[np.int64]) -> bytes:
    return design.tobytes()


RANDOM = 2048
"""Designs drawn at random."""

_SEEDS = 16_384
"""Designs in all scenarios of a batch together."""

_FEW = 64
"""Fleets per stage and scenario."""


def seeds(batch: Batch) -> Index:
    """Return some designs of each scenario: fleets of one or two designs that just suffice."""
    rng = np.random.default_rng(0)
    choices = [_fleets(batch, part, rng) for part in batch.parts]
    picks = _picks([choice.shape[1] for choice in choices], _SEEDS // len(batch.index), rng)
    index = np.repeat(batch.index, len(picks), axis=0)
    for place, (part, choice) in enumerate(zip(batch.parts, choices, strict=True)):
        chosen = choice[:, picks[:, place]].reshape(len(index), len(part.places))
        index[:, part.places] = chosen
    return distinct(index)


def _picks(sizes: Sequence[int], most: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Return every combination of choices, a row each, or `most` random ones of more."""
    number = math.prod(sizes)
    if number > most:
        return np.stack([rng.integers(size, size=most) for size in sizes], axis=1)
    every = list(itertools.product(*map(range, sizes)))
    return np.array(every, dtype=np.intp).reshape(number, len(sizes))


def _fleets(batch: Batch, part: StageParts, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return fleets of a stage as positions on its axes, (scenarios, fleets, axes)."""
    space = batch.bounds.problem.space
    sizes = [space.sizes[place] for place in part.places]
    scenarios = len(batch.index)
    if not part.designs:
        whole = math.prod(sizes)
        some = np.arange(whole) if whole <= _FEW else rng.integers(whole, size=_FEW)
        positions = np.stack(np.unravel_index(some, sizes), axis=1).astype(np.int64)
        return np.repeat(positions[np.newaxis], scenarios, axis=0)
    floor = np.broadcast_to(batch.floor(np.arange(scenarios)), (scenarios,))
    found = []
    fastest = [0 if place in part.designs else space.sizes[place] - 1 for place in part.places]
    filled = part.stage.filled(space.columns(batch.index))
    for pair in itertools.product(part.designs, repeat=2):
        positions = np.tile(np.array(fastest, dtype=np.int64), (scenarios, 1))
        missing = floor
        for place in dict.fromkeys(pair):
            axis = space.axes[place]
            values = axis.columns[axis.unit_name]
            design = part.designs[place]
            bandwidth = part.stage.designs.bandwidth_bit_per_s[design] * filled[design]
            wanted = missing / bandwidth * (1 - 1e-12)
            wanted = np.ceil(wanted) if place == pair[1] else np.floor(wanted)
            order = np.argsort(values, kind="stable")
            at = np.searchsorted(values[order], wanted).clip(max=len(values) - 1)
            positions[:, part.places.index(place)] = order[at]
            missing = np.maximum(missing - values[order[at]] * bandwidth, 0.0)
        found.append(positions)
    return np.stack(found, axis=1)
