"""Searching what would change an answer: every assumption varied until the answer changes."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import chain

from dse import workers
from dse.infeasible.required import require_feasible
from dse.model.preference import Preference
from dse.model.space import Index
from dse.reports.designs import parts
from dse.reports.sections import Section
from dse.runs import runner
from dse.runs.measurements import has_evaluator
from dse.runs.options import Options
from dse.search.exact.work import limited
from dse.stability.deadline import Deadline
from dse.stability.flips import FACTOR, NEAR, SECTION, Flips, Stability
from dse.stability.holding import is_screened
from dse.stability.looking import Looking
from dse.stability.tracking import TrackedAnswer, answer_among
from dse.study.assumptions import Assumption, assumptions_of, choose_assumptions
from dse.study.study import Study

Progress = Callable[[str, int, int], None]

TOGETHER, SPACE = 128, 200_000
"""Assumptions that are looked at together, and in spaces of how many designs; fewer in larger."""

SOON = 0.5
"""CPU time after which the next ones should be taken up."""

PARTS = 4
"""Groups of assumptions for each process: those that take long come first."""

LIGHT = 30
"""Of the work of the first ones, in what a design takes to be evaluated: most of it bounds many
designs at once, and the first ones take more than the rest."""


def find_flips(
    study: Study,
    *,
    preference: Preference | None = None,
    only: Sequence[str] = (),
    factor: float = FACTOR,
    known: Index | None = None,
    progress: Progress | None = None,
    until: Deadline | None = None,
    jobs: int = 1,
) -> Flips:
    """Return for every assumption of a study how far the answer holds.

    Each is looked at on its own, so that what is found does not depend on the others, nor on how
    many there is time for.

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
    until
        When to stop; assumptions that are left then are named.
    jobs
        Most processes that look at assumptions.
    """
    chosen = every = assumptions_of(study)
    if only:
        wanted = {entry.name for name in only for entry in choose_assumptions(every, name)}
        chosen = tuple(entry for entry in every if entry.name in wanted)
    tracked = TrackedAnswer(preference or study.preference)
    front = _front(study) if known is None else known
    nominal = answer_among(study.problem, front, tracked)
    order = sorted(chosen, key=lambda entry: _place(entry, nominal.rows, front))
    until = until or Deadline()
    looking = Looking(study.document, tracked, front, factor)
    found: dict[str, Stability] = {}
    left = tuple(entry.name for entry in order)
    for done in chain([found], _looked_at(looking, study, order, until, jobs)):
        found |= done
        left = tuple(name for name in left if name not in found)
        if left and progress is not None:
            progress(left[0], len(found), len(order))
    ranked = sorted(
        found.values(), key=lambda entry: (float(f"{entry.least_factor:.6g}"), entry.name)
    )
    answer = parts(study.problem, nominal.rows)[0]
    return Flips(study, tracked.preference.text, answer, tuple(ranked), factor, until.seconds, left)


def _looked_at(
    looking: Looking, study: Study, order: Sequence[Assumption], until: Deadline, jobs: int
) -> Iterator[dict[str, Stability]]:
    """Yield what is found of assumptions, some at a time, until the time is over.

    The work of the first ones tells whether it is worth it to share the others.
    """
    pending = deque(order)
    most = size = max(1, min(TOGETHER, TOGETHER * SPACE // study.problem.size))
    if has_evaluator(study.document):
        jobs = 1  # measurements are in this process
    while pending and until.left:
        group = [pending.popleft() for _ in range(min(size, len(pending)))]
        start = time.process_time()
        with limited() as work:
            done = looking.at(study, group, until)
        yield done
        pending.extendleft(entry for entry in reversed(group) if entry.name not in done)
        if done and jobs > 1:
            rest = work.spent / len(done) * len(pending)
            count, jobs = workers.processes(jobs, len(pending), rest / LIGHT), 1
            if count > 1:
                names = [entry.name for entry in pending]
                yield from _shared(looking, names, count, most, until)
                return
        size = min(TOGETHER, 4 * size) if time.process_time() - start < SOON else max(1, size // 4)


def _shared(
    looking: Looking, names: Sequence[str], count: int, most: int, until: Deadline
) -> Iterator[dict[str, Stability]]:
    """Yield what processes find, up to `most` assumptions together; all their time counts."""
    size = min(most, -(-len(names) // (PARTS * count)))
    groups = [names[first : first + size] for first in range(0, len(names), size)]
    each = replace(looking, seconds=until.left / count)
    with workers.shared(each.look, groups, count) as answers:
        for done, seconds in answers:
            until.take(seconds)
            yield done


def _place(entry: Assumption, answer: Index, front: Index) -> int:
    """Return 0 for what the answer depends on, 1 for another design of the front, 2 for neither."""
    return next((place for place, rows in enumerate((answer, front)) if entry.concerns(rows)), 2)


def flips_section(
    study: Study,
    front: Index,
    preference: Preference,
    *,
    exact: bool,
    full: bool,
    until: Deadline | None = None,
    progress: Progress | None = None,
    jobs: int = 1,
) -> Section | None:
    """Return what would change the answer to a study; None where it is not worth a word.

    `exact` says whether its `front`, (n, d), is proven; `full` searches the whole range and shows
    every flip, until the time is over.
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
    if not full and not is_screened(problem):
        return without_flips("The space is large, and to track the answer takes long: use --flips.")
    factor = FACTOR if full else NEAR
    found = find_flips(
        study,
        preference=preference,
        factor=factor,
        known=front,
        until=until,
        progress=progress,
        jobs=jobs,
    )
    return found.section(full=full)


def without_flips(reason: str) -> Section:
    """Return the section of an answer whose flips are not searched."""
    return Section(*SECTION, (reason,), facts={"reason": reason}, brief=(reason,))


def _front(study: Study) -> Index:
    answer = runner.solve_study(study, Options(method="exact"), None)
    require_feasible(answer)
    return answer.outcome.front_index
