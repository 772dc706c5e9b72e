"""Searching what would change an answer: every assumption varied until the answer changes."""

from __future__ import annotations

import math
import sys
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress

from dse.infeasible.required import require_feasible
from dse.model.preference import Preference
from dse.model.space import Index
from dse.reports.designs import parts
from dse.reports.sections import Section
from dse.runs import runner
from dse.search.exact.work import EffortError, limited
from dse.stability.deadline import Deadline
from dse.stability.flips import FACTOR, NEAR, SECTION, Flips, Stability
from dse.stability.follow import Follower
from dse.stability.holding import Searched, is_screened
from dse.stability.together import follow_together
from dse.stability.tracking import AnswerDesigns, TrackedAnswer, answer_among, spread
from dse.study.assumptions import Assumption, assumptions_of, choose_assumptions
from dse.study.study import Study

Progress = Callable[[str, int, int], None]

TOGETHER, SPACE = 128, 200_000
"""Assumptions that are looked at together, and in spaces of how many designs; fewer in larger."""

SOON = 0.5
"""CPU time after which the next ones should be taken up."""


def find_flips(
    study: Study,
    *,
    preference: Preference | None = None,
    only: Sequence[str] = (),
    factor: float = FACTOR,
    known: Index | None = None,
    progress: Progress | None = None,
    until: Deadline | None = None,
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
    """
    chosen = every = assumptions_of(study)
    if only:
        wanted = {entry.name for name in only for entry in choose_assumptions(every, name)}
        chosen = tuple(entry for entry in every if entry.name in wanted)
    tracked = TrackedAnswer(preference or study.preference)
    front = _front(study) if known is None else known
    nominal = answer_among(study.problem, front, tracked)
    pending = deque(sorted(chosen, key=lambda entry: _place(entry, nominal.rows, front)))
    known_designs = spread(front, study.problem, tracked), nominal
    until = until or Deadline()
    found: list[Stability] = []
    size = max(1, min(TOGETHER, TOGETHER * SPACE // study.problem.size))
    while pending and until.left:
        group = [pending.popleft() for _ in range(min(size, len(pending)))]
        if progress is not None:
            progress(group[0].name, len(found), len(chosen))
        start = time.process_time()
        done = _look(study, group, tracked, known_designs, factor, until)
        pending.extendleft(entry for entry in reversed(group) if entry.name not in done)
        found += done.values()
        size = min(TOGETHER, 4 * size) if time.process_time() - start < SOON else max(1, size // 4)
    ranked = sorted(found, key=lambda entry: (float(f"{entry.least_factor:.6g}"), entry.name))
    answer = parts(study.problem, nominal.rows)[0]
    left = tuple(entry.name for entry in pending)
    return Flips(study, tracked.preference.text, answer, tuple(ranked), factor, until.seconds, left)


def _place(entry: Assumption, answer: Index, front: Index) -> int:
    """Return 0 for what the answer depends on, 1 for another design of the front, 2 for neither."""
    return next((place for place, rows in enumerate((answer, front)) if entry.concerns(rows)), 2)


def _look(
    study: Study,
    group: Sequence[Assumption],
    tracked: TrackedAnswer,
    known: tuple[Index, AnswerDesigns],
    factor: float,
    until: Deadline,
) -> dict[str, Stability]:
    """Return what was found of assumptions in time, by name; a front and the answer are known."""
    followers: dict[str, Follower] = {}
    with suppress(EffortError), limited(seconds=until.left):
        for entry in group:
            searched = Searched(entry, tracked, study.settings)
            searched.know(entry.value, *known)
            followers[entry.name] = Follower(entry, searched, _limits(entry, factor))
        ends = follow_together(study.problem, followers)
        return {
            entry.name: Stability(
                entry.name, entry.quantity, entry.value, *ends[entry.name], entry.fitted
            )
            for entry in group
            if entry.name in ends
        }
    return {}


def flips_section(
    study: Study,
    front: Index,
    preference: Preference,
    *,
    exact: bool,
    full: bool,
    until: Deadline | None = None,
    progress: Progress | None = None,
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
        study, preference=preference, factor=factor, known=front, until=until, progress=progress
    )
    return found.section(full=full)


def without_flips(reason: str) -> Section:
    """Return the section of an answer whose flips are not searched."""
    return Section(*SECTION, (reason,), facts={"reason": reason}, brief=(reason,))


def _front(study: Study) -> Index:
    answer = runner.solve_study(study, runner.Options(method="exact"), None)
    require_feasible(answer)
    return answer.outcome.front_index


def _limits(assumption: Assumption, factor: float) -> tuple[float, float]:
    """Return the ends of the range in which an assumption is varied."""
    low, high = _range(assumption.value, factor)
    if assumption.integer:
        low, high = max(1.0, float(round(low))), float(round(high))
    return low, high


def _range(value: float, factor: float) -> tuple[float, float]:
    """Return the ends of the range in which a value is varied, neither of them 0 nor infinite."""
    most, least = sys.float_info.max, sys.float_info.min
    near, far = max(abs(value) / factor, min(abs(value), least)), min(abs(value) * factor, most)
    low, high = sorted((math.copysign(near, value), math.copysign(far, value)))
    return low, high
