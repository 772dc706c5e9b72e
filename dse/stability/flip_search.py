"""Searching what would change an answer: every assumption moved until the answer changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from dse.infeasible.explanation import require_feasible
from dse.model.preference import prefer
from dse.model.space import Index
from dse.reports.designs import parts
from dse.runs import runner
from dse.stability.boundary import Edge, Line
from dse.stability.flips import FACTOR, NOTHING_FITS, Flips, IntervalEnd, Stability
from dse.stability.tracking import Answering, Pool, TrackedAnswer, look
from dse.study import assumptions
from dse.study.assumptions import Assumption
from dse.study.study import Study


def find_flips(
    study: Study,
    *,
    written: str | None = None,
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
    written
        What is preferred, as `dse.model.preference.prefer` takes it.
    only
        Names of assumptions, or parts of their dotted names; all of them when empty.
    factor
        Each assumption is moved between its value over this and its value times this.
    known
        The exact front (n, d) where it is known already.
    progress
        Called with the name of an assumption, its number and how many there are.

    Raises
    ------
    InfeasibleError
        When the study has no answer.
    TooLargeError
        When the space cannot be searched exactly.
    UnitError
        When there is no assumption of a name.
    """
    every = assumptions.assumptions_of(study)
    chosen = every
    if only:
        wanted = {
            entry.name for name in only for entry in assumptions.choose_assumptions(every, name)
        }
        chosen = tuple(entry for entry in every if entry.name in wanted)
    question = TrackedAnswer(prefer(study.problem, written))
    front = _front(study) if known is None else known
    pool = Pool(np.empty((0, len(study.problem.sizes)), dtype=np.int64))
    pool.add(front)
    today = look(study.problem, front, question)
    found = []
    for number, assumption in enumerate(chosen):
        if progress is not None:
            progress(assumption.name, number + 1, len(chosen))
        found.append(_stability(assumption, question, pool, today, factor))
    ranked = sorted(found, key=lambda entry: (float(f"{entry.least_change:.6g}"), entry.name))
    told = parts(study.problem, today.rows)[0]
    return Flips(study, question.preference.text, told, tuple(ranked), factor)


def _front(study: Study) -> Index:
    answer = runner.solve_study(study, runner.Options(method="exact"), None)
    require_feasible(answer)
    return answer.outcome.front_index


def _stability(
    assumption: Assumption, question: TrackedAnswer, pool: Pool, today: Answering, factor: float
) -> Stability:
    line = Line(
        assumption.at,
        question,
        pool,
        integer=assumption.integer,
        known=(assumption.value, today),
        touched=assumption.touched,
    )
    low, high = assumption.value / factor, assumption.value * factor
    if assumption.integer:
        low, high = max(1.0, float(round(low))), float(round(high))
    if line.holds(assumption.value, low, high):
        edges = [Edge(limit, None, complete=True) for limit in (low, high)]
    else:
        edges = [line.edge(assumption.value, limit) for limit in (low, high)]
    sides = [_side(line, edge) for edge in edges]
    return Stability(assumption.name, assumption.quantity, assumption.value, sides[0], sides[1])


def _side(line: Line, edge: Edge) -> IntervalEnd:
    becomes: tuple[str, ...] = ()
    if edge.outside is not None:
        found = line.exact(edge.outside)
        texts = parts(line.problem(edge.outside), found.rows)
        becomes = texts[0] if texts else (NOTHING_FITS,)
    return IntervalEnd(edge.inside, edge.outside, becomes, edge.complete, edge.limited)
