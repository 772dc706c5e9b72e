"""Evolutionary search with pymoo: NSGA-II, NSGA-III and SMS-EMOA on rows of indices."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pymoo.core.problem
from numpy.typing import NDArray
from pymoo.algorithms.base.genetic import GeneticAlgorithm
from pymoo.algorithms.moo.nsga2 import NSGA2
from pymoo.algorithms.moo.nsga3 import NSGA3
from pymoo.algorithms.moo.sms import SMSEMOA, cv_and_dom_tournament
from pymoo.core.duplicate import DuplicateElimination
from pymoo.core.mutation import Mutation
from pymoo.core.population import Population
from pymoo.core.termination import NoTermination
from pymoo.operators.crossover.ux import UX
from pymoo.operators.selection.tournament import TournamentSelection
from pymoo.util.ref_dirs import get_reference_directions
from pymoo.util.reference_direction import get_partition_closest_to_points

from dse.search.archive import Archive, Matrix
from dse.space import Index

WORST = 1e12
"""Stands for an infinite violation, so that sums and differences of violations stay finite."""

STEP = 0.1
"""Mean step of a mutation along an ordered axis, relative to the number of its values."""

MATING_ATTEMPTS = 20
"""Matings in search of designs not yet seen, before a generation is filled up at random."""


def nsga2(archive: Archive, *, seed: int, population: int) -> None:
    """Search with NSGA-II (Deb et al. 2002): rank, then crowding distance."""
    _evolve(archive, seed, population, NSGA2)


def nsga3(archive: Archive, *, seed: int, population: int) -> None:
    """Search with NSGA-III (Deb and Jain 2014): niches around reference directions.

    There are as many Das-Dennis directions as fit into the population, which grows to the
    number of objectives where it is smaller.
    """
    objectives = archive.problem.objective_count
    parts = max(1, get_partition_closest_to_points(population, objectives))
    directions = get_reference_directions("das-dennis", objectives, n_partitions=parts)
    # pymoo's own tournament for NSGA-III breaks ties with an unseeded generator.
    tournament = TournamentSelection(func_comp=cv_and_dom_tournament)

    def create(**settings: Any) -> GeneticAlgorithm:
        return NSGA3(directions, selection=tournament, **settings)

    _evolve(archive, seed, max(population, len(directions)), create)


def sms_emoa(archive: Archive, *, seed: int, population: int) -> None:
    """Search with SMS-EMOA (Beume et al. 2007): least hypervolume contribution leaves.

    A single objective has no hypervolume contributions to compare: there it is NSGA-II.
    """
    several = archive.problem.objective_count > 1
    _evolve(archive, seed, population, SMSEMOA if several else NSGA2)


def _evolve(
    archive: Archive, seed: int, size: int, create: Callable[..., GeneticAlgorithm]
) -> None:
    """Run a genetic algorithm, which sees every design once, until the room is used."""
    random = np.random.default_rng(seed)
    problem = archive.problem
    algorithm = create(
        pop_size=size,
        sampling=archive.unseen(random, min(size, archive.room)),
        crossover=UX(),
        mutation=_IndexMutation(problem.sizes, problem.ordered),
        eliminate_duplicates=_Unseen(archive),
    )
    algorithm.mating.n_max_iterations = MATING_ATTEMPTS
    algorithm.setup(
        pymoo.core.problem.Problem(
            n_var=len(problem.sizes),
            n_obj=problem.objective_count,
            n_ieq_constr=len(problem.constraint_names),
        ),
        termination=NoTermination(),
        seed=seed,
    )
    scale = _Scale()
    while archive.room:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            generation = algorithm.ask()
        generation = _filled(generation, archive, random, min(size, archive.room))
        loss, violation = archive.evaluate(generation.get("X"))
        feasible = np.asarray((violation <= 0).all(axis=1))
        generation.set("F", scale(loss, feasible))
        generation.set("G", np.clip(np.nan_to_num(violation, nan=WORST), -WORST, WORST))
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            algorithm.tell(infills=generation)


def _filled(
    generation: Any, archive: Archive, random: np.random.Generator, size: int
) -> Population:
    """Return `size` new designs: those of the generation, filled up at random."""
    bred = Population.empty() if generation is None else generation[:size]
    missing = size - len(bred)
    if not missing:
        return bred
    known = {individual.X.tobytes() for individual in bred}
    drawn = archive.unseen(random, size)
    new = [row for row in drawn if row.tobytes() not in known][:missing]
    return Population.merge(bred, Population.new("X", np.array(new)))


class _Scale:
    """Maps losses to about [0, 1], because pymoo's tolerances are absolute.

    The range is that of the first feasible designs, and stays: a scale that moved would make
    generations incomparable.  Infeasible designs get 0: only their violation is compared.
    """

    def __init__(self) -> None:
        self.range: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None

    def __call__(self, loss: Matrix, feasible: NDArray[np.bool_]) -> Matrix:
        scaled = np.zeros_like(loss)
        if not feasible.any():
            return scaled
        if self.range is None:
            origin = loss[feasible].min(axis=0)
            span = np.ptp(loss[feasible], axis=0)
            span = np.where(span > 0, span, np.abs(origin))
            self.range = origin, np.where(span > 0, span, 1.0)
        origin, span = self.range
        scaled[feasible] = (loss[feasible] - origin) / span
        return scaled


class _IndexMutation(Mutation):  # type: ignore[misc]
    """Changes one axis on average: a step along an ordered one, any other value else."""

    def __init__(self, sizes: tuple[int, ...], ordered: tuple[bool, ...]) -> None:
        super().__init__()
        self.sizes = np.array(sizes)
        self.ordered = np.array(ordered)

    def _do(self, problem: Any, X: Index, *, random_state: Any, **_: Any) -> Index:  # noqa: N803
        shape = X.shape
        other = (X + random_state.integers(1, np.maximum(self.sizes, 2), shape)) % self.sizes
        step = 1 + np.floor(random_state.exponential(STEP * self.sizes, shape)).astype(np.int64)
        moved = X + np.where(random_state.random(shape) < 0.5, step, -step)
        inside = self.ordered & (moved >= 0) & (moved < self.sizes)
        mutated = random_state.random(shape) < 1.0 / len(self.sizes)
        return np.where(mutated, np.where(inside, moved, other), X)


class _Unseen(DuplicateElimination):  # type: ignore[misc]
    """Drops designs that were evaluated before, so that none is spent twice."""

    def __init__(self, archive: Archive) -> None:
        super().__init__()
        self.archive = archive

    def _do(self, pop: Any, other: Any, is_duplicate: NDArray[np.bool_]) -> NDArray[np.bool_]:
        if other is None:
            index = pop.get("X")
            is_duplicate[:] = True
            is_duplicate[np.unique(index, axis=0, return_index=True)[1]] = False
            return is_duplicate | self.archive.seen(index)
        taken = {individual.X.tobytes() for individual in other}
        is_duplicate[:] = [individual.X.tobytes() in taken for individual in pop]
        return is_duplicate
