"""Searching what would change an answer: every assumption varied until the answer changes."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence

from dse.infeasible.required import require_feasible
from dse.model.preference import Preference
from dse.model.space import Index
from dse.reports.designs import parts
from dse.reports.sections import Section
from dse.runs import runner
from dse.search import SearchSettings
from dse.stability import rivals
from dse.stability.boundary import SCREENED, Line
from dse.stability.edge import Edge
from dse.stability.flips import FACTOR, NEAR, NOTHING_FITS, SECTION, Flips, IntervalEnd, Stability
from dse.stability.tracking import AnswerDesigns, Pool, TrackedAnswer, answer_among
from dse.study.assumptions import Assumption, assumptions_of, choose_assumptions
from dse.study.study import Study


def find_flips(
    study: Study,
    *,
    preference: Preference | None = None,
    only: Sequence[str] = (),
    factor: float = FACTOR,
    known: Index | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> Flips:
    """Return for every assumption of a study how far the answer holds.

    Parameters
    ----------
    study
        A prepared study.
    preference
        Which design is the answer; the study's own.
    only, progress
        As in `dse.flips`.
    factor
        Each assumption is varied between its value over this and its value times this.
    known
        The exact front (n, d) where it is known already.
    """
    chosen = every = assumptions_of(study)
    if only:
        wanted = {entry.name for name in only for entry in choose_assumptions(every, name)}
        chosen = tuple(entry for entry in every if entry.name in wanted)
    tracked = TrackedAnswer(preference or study.preference)
    front = _front(study) if known is None else known
    pool = Pool.over(study.problem)
    pool.add(front)
    nominal = answer_among(study.problem, front, tracked)
    found = []
    for number, assumption in enumerate(chosen):
        if progress is not None:
            progress(assumption.name, number + 1, len(chosen))
        found.append(_stability(assumption, tracked, pool, nominal, factor, study.settings))
    ranked = sorted(found, key=lambda entry: (float(f"{entry.least_change:.6g}"), entry.name))
    answer = parts(study.problem, nominal.rows)[0]
    return Flips(study, tracked.preference.text, answer, tuple(ranked), factor)


def flips_section(
    study: Study, front: Index, preference: Preference, *, exact: bool, full: bool
) -> Section | None:
    """Return what would change the answer to a study; None where it is not worth a word.

    `exact` says whether its `front`, (n, d), is proven; `full` searches the whole range and shows
    every flip, however long it takes.
    """
    if not exact:
        reason = "The front is not proven, so it cannot tell; dse flips searches every design."
        return without_flips(reason) if full else None
    problem = study.problem
    if not full and TrackedAnswer(preference).column(problem) is None:
        return without_flips(
            "A knee, an expression or a tolerance is tracked from point to point, which takes "
            "longer: ask with --flips."
        )
    if not full and problem.size > SCREENED and not rivals.composes(problem):
        return without_flips("The space is large, and to track the answer takes long: use --flips.")
    factor = FACTOR if full else NEAR
    return find_flips(study, preference=preference, factor=factor, known=front).section(full=full)


def without_flips(reason: str) -> Section:
    """Return the section of an answer whose flips are not searched."""
    return Section(*SECTION, (reason,), facts={"reason": reason})


def _front(study: Study) -> Index:
    answer = runner.solve_study(study, runner.Options(method="exact"), None)
    require_feasible(answer)
    return answer.outcome.front_index


def _stability(
    assumption: Assumption,
    tracked: TrackedAnswer,
    pool: Pool,
    nominal: AnswerDesigns,
    factor: float,
    settings: SearchSettings,
) -> Stability:
    line = Line(
        assumption.at,
        tracked,
        pool,
        integer=assumption.integer,
        known=(assumption.value, nominal),
        touched=assumption.touched,
        settings=settings,
    )
    low, high = _range(assumption.value, factor)
    if assumption.integer:
        low, high = max(1.0, float(round(low))), float(round(high))
    if line.holds(assumption.value, low, high):
        edges = [Edge(holds_to=limit) for limit in (low, high)]
    else:
        edges = [line.edge(assumption.value, limit) for limit in (low, high)]
    ends = [_end(line, edge) for edge in edges]
    return Stability(
        assumption.name, assumption.quantity, assumption.value, ends[0], ends[1], assumption.fitted
    )


def _range(value: float, factor: float) -> tuple[float, float]:
    """Return the ends of the range in which a value is varied, neither of them 0 nor infinite."""
    most, least = sys.float_info.max, sys.float_info.min
    near, far = max(abs(value) / factor, min(abs(value), least)), min(abs(value) * factor, most)
    low, high = sorted((math.copysign(near, value), math.copysign(far, value)))
    return low, high


def _end(line: Line, edge: Edge) -> IntervalEnd:
    becomes: tuple[str, ...] = ()
    if edge.flips_at is not None:
        found = line.exact(edge.flips_at)
        texts = parts(line.problem(edge.flips_at), found.rows)
        becomes = texts[0] if texts else (NOTHING_FITS,)
    return IntervalEnd(**vars(edge), becomes=becomes)
