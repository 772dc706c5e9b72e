"""Runs of a study, one for each value of its sweep."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from itertools import product

import numpy as np

from dse import search
from dse.contract import Column
from dse.errors import MeasurementError, TooLargeError
from dse.files.document import Document
from dse.model import invariants, tables
from dse.model.cells import Cells
from dse.model.front import nondominated_by
from dse.model.measured import MemoryCache
from dse.model.problem import Problem
from dse.model.space import Index
from dse.model.volume import Volume, hypervolume, reference_point
from dse.runs.solved import Options, Quality, Run, SolvedStudy
from dse.search import Outcome, Progress, Stop
from dse.search.archive import Matrix, Searchable
from dse.search.exact.work import limited
from dse.study import study
from dse.study.measuring import Working, measuring
from dse.study.overrides import Sweep, at_value, sweep_of
from dse.study.study import Study

ENUMERABLE = 10_000_000
"""Largest space in which a heuristic's front is compared with the exact one."""

OPEN_CELLS = 50_000
"""Most open cells of a bound, for a time of about a second."""


def run_study(
    document: Document,
    options: Options,
    progress: Progress | None = None,
    *,
    stop: Stop | None = None,
) -> Run:
    """Run a study, until `stop`, polled before each batch of designs, is True.

    Raises
    ------
    StudyError, TooLargeError
        Before the search.
    """
    start = time.perf_counter()
    sweep = sweep_of(document)
    if document.measures:
        document = _with_shelves(document)
    with limited(stop=stop):
        answers = [*_answers(document, sweep, options, progress, stop)]
    if not options.measures:
        _require_any_measured(answers)
    settings = options.apply(answers[0].study.settings)
    if document.measures:
        document = replace(document, recorded=study.recorded_of(answer.study for answer in answers))
    return Run(document, sweep, tuple(answers), settings, time.perf_counter() - start)


def _with_shelves(document: Document) -> Document:
    """Return a document with storage for measurements."""
    if document.caches is not None:
        return document
    cache = MemoryCache()
    return replace(document, caches=lambda identity, ranges: cache)


def _require_any_measured(answers: Sequence[SolvedStudy]) -> None:
    """Raise `MeasurementError` if no design is measured."""
    measured = [one.outcome for one in answers if one.study.problem.measured is not None]
    if measured and all(one.ledger.unknown and not one.evaluated for one in measured):
        raise MeasurementError(
            "none of these designs has been measured, and only `dse run` measures designs"
        )


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
        found = _solved(prepared, options, within, partial=True, working=working)
        yield _checked(with_quality(found))
        if progress is not None and sweep is not None:
            progress(position + 1, len(points))


def points_of(document: Document, sweep: Sweep | None) -> list[Document]:
    """Return a study at each value of its sweep."""
    if sweep is None:
        return [document]
    return [at_value(document, sweep, position) for position in range(len(sweep.values))]


def _checked(answer: SolvedStudy) -> SolvedStudy:
    """Return an answer after a check of its invariants."""
    found = answer.outcome
    invariants.check_invariants(answer.study.problem, found.front_index, found.sample_index)
    return answer


def solve_study(prepared: Study, options: Options, *, partial: bool = False) -> SolvedStudy:
    """Search one study without new measurements, and without the quality of its front.

    Raises
    ------
    TooLargeError
        The proof is unfinished, and `partial` is False.
    """
    return _checked(_solved(prepared, options, None, partial=partial))


def _solved(
    prepared: Study,
    options: Options,
    progress: Progress | None,
    *,
    partial: bool,
    working: Working | None = None,
) -> SolvedStudy:
    """Search one study."""
    start = time.perf_counter()
    settings = replace(options.apply(prepared.settings), partial=partial)
    with ExitStack() as opened:
        if prepared.document.measures:
            problem, section = prepared.problem, prepared.measuring
            opened.enter_context(measuring().measures(problem, section, working, settings))
        outcome = search.run_search(prepared.problem, settings, progress)
    return answer_of(prepared, outcome, time.perf_counter() - start)


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


def with_quality(answer: SolvedStudy) -> SolvedStudy:
    """Return an answer with the quality of its front."""
    outcome = answer.outcome
    quality = measure_front(
        answer.study.problem,
        outcome.front_loss,
        exact=outcome.exact,
        compare=outcome.certificate.finished,
    )
    return replace(answer, quality=quality)


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
    if front is None and partly:
        return Quality(reached, volume)
    if front is None:
        least = share_at_least(problem, loss, reference, floor_of(problem))
        return Quality(reached, volume, at_least=least)
    share = volume.share_of(hypervolume(front, reference, ideal=ideal))
    return Quality(reached, volume, share, at_least=share)


def _exact_front(problem: Problem) -> Matrix | None:
    """Return the losses of the exact front, or None if its proof takes too long."""
    if problem.size > ENUMERABLE:
        return None
    with suppress(TooLargeError):
        return search.run_search(problem, search.SearchSettings(), None).front_loss
    return None


def share_at_least(
    problem: Searchable, loss: Matrix, reference: Matrix, floor: Matrix
) -> Volume | None:
    """Return a lower bound of a front's share of the exact hypervolume, or None.

    The space is divided into cells again and again.  The front and the bounds of all cells
    together have at least the hypervolume of the exact front.  Cells without a feasible design,
    beyond the reference, or dominated by the front drop out.

    Parameters
    ----------
    problem
        The searched space.
    loss
        The front, (n, m), n >= 1.
    reference
        The reference point, (m,).
    floor
        Lower bounds of all losses, (m,), or -inf.
    """
    if not isinstance(problem, Problem):
        return None
    least = _least(Cells(problem, (1,) * len(problem.sizes)), loss, reference, floor)
    if least is None:
        return None
    every = np.concatenate([loss, least])
    ideal = every.min(axis=0)
    whole = hypervolume(every, reference, ideal=ideal)
    return hypervolume(loss, reference, ideal=ideal).share_of(whole)


def _least(single: Cells, loss: Matrix, reference: Matrix, floor: Matrix) -> Matrix | None:
    """Return the least losses of the cells that stay open, or None if one is unknown."""
    problem = single.problem
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


def floor_of(problem: Problem) -> Column:
    """Return lower bounds of losses (m,): 0 for minimised quantities that are never negative."""
    signed = {quantity.name for quantity in problem.quantities if quantity.signed}
    free = [goal.maximise or goal.name in signed for goal in problem.goals]
    return np.where(free, -np.inf, 0.0)
