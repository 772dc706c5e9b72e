"""Evolutionary search with pymoo: any genetic algorithm of it, on rows of indices."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import pymoo.core.problem
from numpy.typing import NDArray
from pymoo.algorithms.base.genetic import GeneticAlgorithm
from pymoo.algorithms.moo.nsga2 import NSGA2 as NSGA2
from pymoo.algorithms.moo.nsga3 import NSGA3
from pymoo.algorithms.moo.sms import cv_and_dom_tournament
from pymoo.core.crossover import Crossover
from pymoo.core.duplicate import DuplicateElimination
from pymoo.core.mutation import Mutation
from pymoo.core.population import Population
from pymoo.core.termination import NoTermination
from pymoo.operators.crossover.sbx import cross_sbx
from pymoo.operators.mutation.pm import mut_pm
from pymoo.operators.selection.tournament import TournamentSelection
from pymoo.util.ref_dirs import get_reference_directions
from pymoo.util.reference_direction import get_partition_closest_to_points

from dse.contract import Index, Matrix, Search
from dse.model.evaluation import distinct_rows
from dse.model.problem import Problem
from dse.search import run_search
from dse.search.heuristic.scales import Scales, clipped
from dse.search.settings import SearchSettings

ETA = 20.0
"""Distribution index of mutations along ordered axes: steps of about 1 / ETA of the axis."""

MATING_ATTEMPTS = 20
"""Matings in search of designs not yet seen, before a generation is filled up at random."""


def evolve(
    search: Search,
    create: Callable[..., GeneticAlgorithm],
    *,
    seed: int,
    population: int,
    eta: float = ETA,
) -> None:
    """Run a genetic algorithm, which sees every design once, until the room is used.

    `create` makes it, given ``pop_size``, ``sampling``, ``crossover``, ``mutation`` and
    ``eliminate_duplicates``: a class of pymoo, or a function that sets more.  `eta` is the
    distribution index of mutations along an order.
    """
    random, scales = np.random.default_rng(seed), Scales(search)
    algorithm = create(
        pop_size=population,
        sampling=search.unseen(random, min(population, search.room)),
        crossover=_MixedCrossover(scales),
        mutation=_MixedMutation(search.sizes, scales, eta),
        eliminate_duplicates=_Unseen(search),
    )
    algorithm.mating.n_max_iterations = MATING_ATTEMPTS
    sizes = {"n_var": len(search.sizes), "n_obj": search.objective_count}
    problem = pymoo.core.problem.Problem(n_ieq_constr=search.constraint_count, **sizes)
    algorithm.setup(problem, termination=NoTermination(), seed=seed)
    scale = _Scale()
    while search.room:
        with _silent():
            generation = algorithm.ask()
        generation = _bred(generation, search, random, min(population, search.room))
        if not len(generation):
            return
        loss, violation = search.evaluate(generation.get("X"))
        feasible = np.asarray((violation <= 0).all(axis=1))
        generation.set("F", scale(loss, feasible))
        generation.set("G", clipped(violation))
        with _silent():
            algorithm.tell(infills=generation)


def niching(objectives: int, population: int) -> tuple[Callable[..., GeneticAlgorithm], int]:
    """Return what makes NSGA-III for so many objectives, and its population (`dse.methods`)."""
    parts = max(1, get_partition_closest_to_points(population, objectives))
    directions = get_reference_directions("das-dennis", objectives, n_partitions=parts)
    # pymoo's own tournament for NSGA-III breaks ties with an unseeded generator
    tournament = TournamentSelection(func_comp=cv_and_dom_tournament)
    return partial(NSGA3, directions, selection=tournament), max(population, len(directions))


@contextmanager
def _silent() -> Iterator[None]:
    """Suppress the warnings of pymoo."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


class ProblemOfStudy(pymoo.core.problem.Problem):  # type: ignore[misc]
    """A study as a problem of pymoo, for algorithms and operators of the user's own."""

    def __init__(self, problem: Problem) -> None:
        """Take sizes and numbers of objectives and constraints from the problem of a study."""
        self.problem = problem
        super().__init__(
            n_var=len(problem.sizes),
            n_obj=problem.objective_count,
            n_ieq_constr=len(problem.constraint_names),
            xl=0,
            xu=np.array(problem.sizes) - 1,
            vtype=int,
        )

    def _evaluate(self, x: Any, out: dict[str, Any], *_args: Any, **_kwargs: Any) -> None:
        found = self.problem.evaluate(x.astype(np.int64))
        out["F"] = np.where(found.feasible[:, None], found.loss, 0.0)
        out["G"] = clipped(found.violation)

    def _calc_pareto_front(self) -> Matrix | None:
        return self._proven[1] if len(self._proven[0]) else None

    def _calc_pareto_set(self) -> Index | None:
        return self._proven[0] if len(self._proven[0]) else None

    @cached_property
    def _proven(self) -> tuple[Index, Matrix]:
        """The exact front without the host alone, which pymoo does not know.

        In the order of the first loss, in which pymoo shows a front of two.
        """
        found = run_search(replace(self.problem, beside=False), SearchSettings())
        order = np.argsort(found.front_loss[:, 0], kind="stable")
        return found.front_index[order], found.front_loss[order]


def _bred(generation: Any, search: Search, random: np.random.Generator, size: int) -> Population:
    """Return `size` new designs: the generation, filled up at random."""
    bred = Population.empty() if generation is None else generation[:size]
    if len(bred) == size:
        return bred
    known = {one.X.tobytes() for one in bred}
    new = [row for row in search.unseen(random, size) if row.tobytes() not in known]
    added = Population.new("X", np.array(new[: size - len(bred)]))
    return Population.merge(bred, added) if new else bred


class _Scale:
    """Maps losses to about [0, 1], because pymoo's tolerances are absolute.

    The range of the first feasible designs stays: a moving scale would make generations
    incomparable.  Infeasible designs get 0: only their violation is compared.
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


class _MixedCrossover(Crossover):  # type: ignore[misc]
    """Simulated binary crossover along ordered axes, on their scale. Choices change sides."""

    def __init__(self, scales: Scales) -> None:
        super().__init__(2, 2)
        self.scales = scales

    def _do(self, problem: Any, X: Index, *, random_state: Any, **_: Any) -> Index:  # noqa: N803
        ordered = self.scales.ordered
        swapped = random_state.random(X.shape[1:]) < 0.5
        children = np.where(swapped, X[::-1], X)
        if ordered.any():
            parents = self.scales.coordinates(X)
            low, high = np.zeros(parents.shape[2]), np.ones(parents.shape[2])
            half = np.full((X.shape[1], 1), 0.5)
            mixed = cross_sbx(parents, low, high, 30 * half, half, half, random_state=random_state)
            children[:, :, ordered] = self.scales.nearest(mixed)
        return children


class _MixedMutation(Mutation):  # type: ignore[misc]
    """Changes one axis on average: polynomially along an order, to any other value else."""

    def __init__(self, sizes: tuple[int, ...], scales: Scales, eta: float = ETA) -> None:
        super().__init__()
        self.sizes = np.array(sizes)
        self.scales = scales
        self.eta = eta

    def _do(self, problem: Any, X: Index, *, random_state: Any, **_: Any) -> Index:  # noqa: N803
        shape, ordered = X.shape, self.scales.ordered
        changed = (X + random_state.integers(1, np.maximum(self.sizes, 2), shape)) % self.sizes
        if ordered.any():
            coordinates = self.scales.coordinates(X)
            low, high = np.zeros(coordinates.shape[1]), np.ones(coordinates.shape[1])
            eta, always = np.full(len(X), self.eta), np.ones(len(X))
            moved = mut_pm(coordinates, low, high, eta, always, False, random_state=random_state)
            changed[:, ordered] = self._elsewhere(X[:, ordered], coordinates, moved)
        return np.where(random_state.random(shape) < 1.0 / len(self.sizes), changed, X)

    def _elsewhere(self, before: Index, coordinates: Matrix, moved: Matrix) -> Index:
        """Return positions near `moved`, at least one step from `before` in its direction."""
        last = self.sizes[self.scales.ordered] - 1
        near = self.scales.nearest(moved)
        step = np.where(moved < coordinates, -1, 1)
        beyond = (before + step < 0) | (before + step > last)
        return np.where(near == before, before + np.where(beyond, -step, step), near).clip(0, last)


class _Unseen(DuplicateElimination):  # type: ignore[misc]
    """Drops evaluated designs."""

    def __init__(self, search: Search) -> None:
        super().__init__()
        self.search = search

    def _do(self, pop: Any, other: Any, is_duplicate: NDArray[np.bool_]) -> NDArray[np.bool_]:
        if other is None:
            index = pop.get("X")
            is_duplicate[:] = True
            is_duplicate[distinct_rows(index)] = False
            return is_duplicate | self.search.seen(index)
        taken = {individual.X.tobytes() for individual in other}
        is_duplicate[:] = [individual.X.tobytes() in taken for individual in pop]
        return is_duplicate
