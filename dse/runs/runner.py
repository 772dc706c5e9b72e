"""Runs of a study, one for each value of its sweep, their answers, and fronts of other sources."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from dse import search
from dse.contract import Column
from dse.errors import MeasurementError, TooLargeError
from dse.files.document import Document
from dse.files.inputs import Input
from dse.model import invariants, tables
from dse.model.cells import Cells
from dse.model.evaluation import Ledger
from dse.model.front import nondominated_by
from dse.model.measured import MemoryCache
from dse.model.problem import Problem
from dse.model.space import Index
from dse.model.volume import NO_VOLUME, Volume, hypervolume, reference_point
from dse.search import Outcome, Progress, SearchSettings, Stop
from dse.search.archive import Matrix
from dse.search.exact.work import limited
from dse.search.outcome import FAILING, INTERRUPTED
from dse.study import study
from dse.study.goals import Options as Options
from dse.study.measuring import Working, measuring
from dse.study.overrides import Sweep, at_value, sweep_of
from dse.study.study import Study, whole_document

ENUMERABLE = 10_000_000
"""Largest space in which a heuristic's front is compared with the exact one."""

OPEN_CELLS = 50_000
"""Most open cells of a bound, for a time of about a second."""


@dataclass(frozen=True)
class Quality:
    """The hypervolume of a front.

    It is a share of the box between the front's best values and the `reference` point, which is in
    units of the losses.  `share` is its share of the exact front's, and `at_least` a proven lower
    bound of that, None if they are unknown.
    """

    reference: tuple[float, ...] = ()
    hypervolume: Volume = NO_VOLUME
    share: Volume | None = None
    at_least: Volume | None = None


@dataclass(frozen=True)
class SolvedStudy:
    """The front of one study, or of one value of a sweep.

    The `outcome` of its search of some `seconds` has the front in the order of front.csv.  Its
    `quality` is known if a run writes it.
    """

    study: Study
    outcome: Outcome
    quality: Quality
    seconds: float

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the study, at this value of its sweep, as it is written; it is read again."""
        whole = whole_document(self.study.document, [self.study])
        return _read_again, (whole, self.outcome, self.quality, self.seconds)


def _read_again(whole: Document, *found: Any) -> SolvedStudy:
    return SolvedStudy(study.prepare(whole), *found)


@dataclass(frozen=True)
class Run:
    """All answers of a study, one per value of its sweep."""

    document: Document
    sweep: Sweep | None
    answers: tuple[SolvedStudy, ...]
    settings: SearchSettings
    seconds: float

    @property
    def feasible(self) -> bool:
        """Return whether any design is feasible, at any value of a sweep."""
        return any(answer.outcome.feasible for answer in self.answers)

    @property
    def interrupted(self) -> bool:
        """Return whether the search was stopped before its end."""
        ways = {answer.outcome.certificate.way for answer in self.answers}
        return not ways.isdisjoint((INTERRUPTED, FAILING))

    @property
    def failing(self) -> str:
        """Return the reason of a stop after too many failed designs, or an empty text."""
        found = (answer.outcome.certificate for answer in self.answers)
        return next((one.reason for one in found if one.way == FAILING), "")

    @property
    def ledger(self) -> Ledger:
        """Return the ledger of all values of a sweep together."""
        return sum((answer.outcome.ledger for answer in self.answers), Ledger())

    @property
    def first(self) -> Study:
        """Return the study of the first value of a sweep."""
        return self.answers[0].study


@dataclass(frozen=True)
class KnownFront:
    """The front of one study from any source, with facts `found` by its search."""

    study: Study
    front: Index
    found: Mapping[str, Any]


@dataclass(frozen=True)
class KnownFronts:
    """The fronts of a study, one for each value of its sweep, and options of further searches."""

    points: tuple[KnownFront, ...]
    sweep: Sweep | None
    options: Options


def inputs_of(studies: Iterable[Study]) -> dict[str, Input]:
    """Return the files that studies name."""
    return {name: entry for study in studies for name, entry in study.inputs.items()}


def run_study(
    document: Document,
    options: Options,
    progress: Progress | None = None,
    *,
    stop: Stop | None = None,
) -> Run:
    """Run a study, until `stop`, polled before each batch of designs, is True."""
    start = time.perf_counter()
    sweep = sweep_of(document)
    if document.measures and document.caches is None:  # shared by all values of a sweep
        cache = MemoryCache()
        document = replace(document, caches=lambda identity, ranges: cache)
    with limited(stop=stop):
        answers = [*_answers(document, sweep, options, progress, stop)]
    if not options.measures:
        _require_any_measured(answers)
    settings = options.apply(answers[0].study.settings)
    if document.measures:
        document = replace(document, recorded=study.recorded_of(answer.study for answer in answers))
    return Run(document, sweep, tuple(answers), settings, time.perf_counter() - start)


def _require_any_measured(answers: Sequence[SolvedStudy]) -> None:
    """Raise `MeasurementError` if no design is measured."""
    measured = [one.outcome for one in answers if one.study.problem.measured is not None]
    if measured and all(one.ledger.unknown and not one.evaluated for one in measured):
        rule = "none of these designs has been measured, and only `dse run` measures designs"
        raise MeasurementError(rule)


def _answers(
    document: Document,
    sweep: Sweep | None,
    options: Options,
    progress: Progress | None,
    stop: Stop | None,
) -> Iterator[SolvedStudy]:
    """Yield an answer for each value of a sweep."""
    points = points_of(document, sweep)
    first = study.prepare(points[0])
    within = progress if sweep is None else None  # of a sweep, values are counted
    working = None
    if options.measures:
        spending = options.spending(first.settings)  # of all values together
        working = Working(options, stop, within, spending)
    for position, point in enumerate(points):
        prepared = study.prepare(point) if position else first
        found = solve_study(prepared, options, within, partial=True, working=working)
        problem, outcome = prepared.problem, found.outcome
        exact, compare = outcome.exact, outcome.certificate.finished
        quality = measure_front(problem, outcome.front_loss, exact=exact, compare=compare)
        yield replace(found, quality=quality)
        if progress is not None and sweep is not None:
            progress(position + 1, len(points))


def points_of(document: Document, sweep: Sweep | None) -> list[Document]:
    """Return a study at each value of its sweep."""
    if sweep is None:
        return [document]
    return [at_value(document, sweep, position) for position in range(len(sweep.values))]


def solve_study(
    prepared: Study,
    options: Options,
    progress: Progress | None = None,
    *,
    partial: bool = False,
    working: Working | None = None,
) -> SolvedStudy:
    """Search one study, without the quality of its front.  Only with `working` it measures.

    Unless the front may be `partial`, an unfinished proof is a `TooLargeError`.
    """
    start = time.perf_counter()
    settings = replace(options.apply(prepared.settings), partial=partial)
    with ExitStack() as opened:
        if prepared.document.measures:
            problem, section = prepared.problem, prepared.measuring
            opened.enter_context(measuring().measures(problem, section, working, settings))
        outcome = search.run_search(prepared.problem, settings, progress)
    answer = answer_of(prepared, outcome, time.perf_counter() - start)
    found = answer.outcome
    invariants.check_invariants(prepared.problem, found.front_index, found.sample_index)
    return answer


def answer_of(prepared: Study, outcome: Outcome, seconds: float) -> SolvedStudy:
    """Return the result of a search of some seconds, in the order of front.csv."""
    order = tables.sort_order(prepared.problem, outcome.front_index, outcome.front_loss)
    outcome = replace(
        outcome,
        front_index=outcome.front_index[order],
        front_loss=outcome.front_loss[order],
        equals=None if outcome.equals is None else outcome.equals[order],
    )
    return SolvedStudy(prepared, outcome, Quality(), seconds)


def measure_front(problem: Problem, loss: Matrix, *, exact: bool, compare: bool = True) -> Quality:
    """Return the quality of a front of losses (n, m).

    With `compare`, one that is not `exact` is compared with the exact one of a small space.
    """
    if not len(loss):
        return Quality()
    partly = problem.measured is not None
    compare = compare and not partly  # the rest is unknown
    front = loss if exact else _exact_front(problem) if compare else None
    best = front if front is not None else loss
    reference, ideal = reference_point(best), best.min(axis=0)
    reached = tuple(reference.tolist())
    volume = hypervolume(loss, reference, ideal=ideal)
    if front is None:
        bound = None if partly else share_at_least(problem, loss, reference)
        return Quality(reached, volume, at_least=bound)
    share = volume.share_of(hypervolume(front, reference, ideal=ideal))
    return Quality(reached, volume, share, at_least=share)


def _exact_front(problem: Problem) -> Matrix | None:
    """Return the losses of the exact front, or None if its proof takes too long."""
    if problem.size > ENUMERABLE:
        return None
    with suppress(TooLargeError):
        return search.run_search(problem, SearchSettings(), None).front_loss
    return None


def share_at_least(problem: Problem, loss: Matrix, reference: Matrix) -> Volume | None:
    """Return a lower bound of a front's share of the exact hypervolume, or None.

    The space is divided into cells again and again.  The front and the bounds of all cells
    together have at least the hypervolume of the exact front.  Cells without a feasible design,
    beyond the reference point (m,), or dominated by the front (n, m) drop out.
    """
    least = _least(problem, loss, reference)
    if least is None:
        return None
    every = np.concatenate([loss, least])
    ideal = every.min(axis=0)
    whole = hypervolume(every, reference, ideal=ideal)
    return hypervolume(loss, reference, ideal=ideal).share_of(whole)


def _least(problem: Problem, loss: Matrix, reference: Matrix) -> Matrix | None:
    """Return the least losses of the cells that stay open, or None if one is unknown."""
    single, floor = Cells(problem, tuple([1] * len(problem.sizes))), _floor_of(problem)
    axes = list(zip(problem.sizes, problem.ordered, strict=True))
    steps = [1 << (size - 1).bit_length() if ordered else 1 for size, ordered in axes]
    choices = [1 if ordered else size for size, ordered in axes]
    if math.prod(choices) > OPEN_CELLS:
        return None
    cells = np.array([*product(*map(range, choices))], dtype=np.int64)
    found: list[Matrix] = []
    while True:
        loss_low, violation_low = Cells(problem, tuple(steps)).bounds(cells)
        least = np.fmax(loss_low, floor)
        useless = (violation_low > 0).any(axis=1) | (least >= reference).any(axis=1)
        kept = np.setdiff1d(nondominated_by(least, loss), np.flatnonzero(useless))
        cells, least = cells[kept], least[kept]
        wide = [axis for axis, step in enumerate(steps) if step > 1]
        if not wide or 2 * len(cells) > OPEN_CELLS:
            known = np.isfinite(least).all(axis=1)
            found.append(least[known])
            cells = cells[~known]  # only these go on
            if not len(cells):
                return np.concatenate(found)
            if not wide or 2 * len(cells) > OPEN_CELLS:
                return None
        widest = max(wide, key=lambda axis: single.spread(axis, steps[axis]))
        steps[widest] //= 2
        cells = _halved(cells, widest, -(-problem.sizes[widest] // steps[widest]))


def _halved(cells: Index, axis: int, count: int) -> Index:
    """Return the two halves of each cell along an axis that has `count` cells now."""
    halves = np.repeat(cells, 2, axis=0)
    halves[:, axis] = 2 * halves[:, axis] + np.tile([0, 1], len(cells))
    return halves[halves[:, axis] < count]


def _floor_of(problem: Problem) -> Column:
    """Return lower bounds of losses (m,): 0 for minimised quantities that are never negative."""
    signed = {quantity.name for quantity in problem.quantities if quantity.signed}
    free = [goal.maximise or goal.name in signed for goal in problem.goals]
    return np.where(free, -np.inf, 0.0)
