"""Running a study: once, or for every value of its sweep."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from dse import search
from dse.files.document import Document
from dse.model import invariants, tables
from dse.model.cells import opaque
from dse.model.front import hypervolume, knee, reference_point
from dse.model.problem import Problem
from dse.search import Outcome, Progress
from dse.search.completeness import share_at_least
from dse.search.exact.enumeration import WHOLE
from dse.study import study
from dse.study.study import Study, Sweep

ENUMERABLE = 10_000_000
"""A heuristic's front is held against the exact one on spaces up to this size."""


@dataclass(frozen=True)
class SolvedStudy:
    """The front of one study, or of one value of a sweep.

    Attributes
    ----------
    study
        What was asked.
    outcome
        What the search found; the front in the order in which it is written.
    reference, hypervolume
        The reference point in the units of the losses, and the volume up to it as a share of
        the box between the front's best values and the reference; None where it is too much work.
    share
        The hypervolume as a share of the exact front's, None when that is not known.
    at_least
        A share that it surely has where `share` is not known; None when nothing is proven.
    opaque
        Quantities of a large space that no bound can be put on, each with the reason: designs
        were evaluated one by one where bounds might have ruled out many.
    seconds
        Wall time of the search.
    """

    study: Study
    outcome: Outcome
    reference: tuple[float, ...]
    hypervolume: float | None
    share: float | None
    seconds: float
    at_least: float | None = None
    opaque: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Run:
    """All answers of a study, one per value of its sweep."""

    document: Document
    sweep: Sweep | None
    answers: tuple[SolvedStudy, ...]
    settings: search.SearchSettings
    seconds: float

    @property
    def first(self) -> Study:
        """The study of the first answer; the others differ in the swept field only."""
        return self.answers[0].study


@dataclass(frozen=True, kw_only=True)
class Options:
    """What a call may say over the search section of its study."""

    method: str | None = None
    seed: int | None = None
    budget: int | None = None

    def apply(self, settings: search.SearchSettings) -> search.SearchSettings:
        """Return `settings` with what is given here."""
        given = {name: value for name, value in vars(self).items() if value is not None}
        if self.method not in (None, settings.method):
            given["options"] = {}  # those of the study are of its own method
        return replace(settings, **given)


def run_study(document: Document, options: Options, progress: Progress | None = None) -> Run:
    """Run a study, or every point of its sweep.

    Raises
    ------
    StudyError, TooLargeError
        Before anything is searched.
    """
    start = time.perf_counter()
    sweep = study.sweep_of(document)
    if sweep is None:
        answers = [solve_study(study.prepare(document), options, progress)]
    else:
        total = len(sweep.values)
        answers = []
        for position in range(total):
            point = study.prepare(study.at(document, sweep, position))
            answers.append(solve_study(point, options, None))
            if progress is not None:
                progress(position + 1, total)
    settings = options.apply(answers[0].study.settings)
    return Run(document, sweep, tuple(answers), settings, time.perf_counter() - start)


def solve_study(prepared: Study, options: Options, progress: Progress | None) -> SolvedStudy:
    """Search one study and measure its front."""
    start = time.perf_counter()
    settings = options.apply(prepared.settings)
    outcome = search.run_search(prepared.problem, settings, progress)
    seconds = time.perf_counter() - start
    invariants.check_invariants(prepared.problem, outcome.front_index, outcome.sample_index)
    order = tables.sort_order(prepared.problem, outcome.front_index, outcome.front_loss)
    unbounded = opaque(prepared.problem) if prepared.problem.size > WHOLE else {}
    outcome = replace(
        outcome, front_index=outcome.front_index[order], front_loss=outcome.front_loss[order]
    )
    if not len(outcome.front_loss):
        return SolvedStudy(prepared, outcome, (), 0.0, None, seconds, opaque=unbounded)
    front = _exact_front(prepared.problem, outcome)
    best = front if front is not None else outcome.front_loss
    reference = reference_point(best)
    ideal = best.min(axis=0)
    reached = tuple(reference.tolist())
    volume = hypervolume(outcome.front_loss, reference, ideal=ideal)
    if math.isnan(volume):
        return SolvedStudy(prepared, outcome, reached, None, None, seconds, opaque=unbounded)
    share = None if front is None else volume / hypervolume(front, reference, ideal=ideal)
    least = None
    if share is None:
        problem = prepared.problem
        least = share_at_least(problem, outcome.front_loss, reference, problem.floor)
    return SolvedStudy(prepared, outcome, reached, volume, share, seconds, least, unbounded)


def _exact_front(problem: Problem, outcome: Outcome) -> np.ndarray | None:
    """Return the losses of the exact front, None when the space cannot be enumerated."""
    if outcome.exact:
        return outcome.front_loss
    if problem.continuous or problem.size > ENUMERABLE:
        return None
    exact = search.run_search(problem, search.SearchSettings(method="exact"), None)
    return exact.front_loss


def knee_row(answer: SolvedStudy) -> int | None:
    """Return the row of the knee in a front, None for an empty one."""
    return knee(answer.outcome.front_loss) if len(answer.outcome.front_loss) else None
