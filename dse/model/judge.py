"""What becomes of designs that cannot be evaluated: the first is refused, or all are infeasible."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dse.errors import ContractError, NotFiniteError
from dse.model.evaluation import Evaluation, Problem
from dse.model.graph import EVALUATED, REMEDY
from dse.model.measured import MEASURED
from dse.model.space import Points, as_index


def judged_measured(
    problem: Problem,
    found: Evaluation,
    failed: NDArray[np.bool_],
    reason: str,
    excluded: NDArray[np.bool_],
) -> Evaluation:
    """Let designs of which there are no values miss the constraint for that; judge others.

    Those that are `excluded` by rules on axes alone lack nothing.
    """
    measurements = problem.measured.found(problem.space, found.points, ask=False)
    missing = np.array([not one.has_values for one in measurements], dtype=bool)
    if excluded.any():
        missing, failed = missing & ~excluded, failed & ~excluded
    if not missing.any():
        return judged(problem, found, failed, reason)
    rows = np.tile(missing, len(found.loss) // len(missing))  # draws of each design
    _exclude(problem, found, rows, MEASURED)
    done = judged(problem, found, failed & ~rows, reason)
    row = int(np.argmax(missing))
    failure = f"{measurements[row].cause}, for the design {_text(problem, found.points, row)}"
    return replace(done, failed=done.failed | rows, failure=done.failure or failure)


def judged(
    problem: Problem, found: Evaluation, failed: NDArray[np.bool_], reason: str
) -> Evaluation:
    """Refuse designs that cannot be evaluated, or let them miss the constraint for that.

    Parameters
    ----------
    problem
        What they are designs of; whether it is tolerant decides.
    found
        Losses and violations of n designs; those of infeasible ones are replaced.
    failed
        Designs for which a function raised an error, shape (n,).
    reason
        What the first of these errors said.

    Raises
    ------
    ContractError
        A function failed, and the problem is not tolerant.
    NotFiniteError
        A violation is NaN, or a loss of a feasible design is not finite; likewise.
    """
    infinite = found.feasible & ~np.isfinite(found.loss).all(axis=1)
    wrong = np.asarray(failed | infinite | np.isnan(found.violation).any(axis=1))
    if not wrong.any():
        return replace(found, failed=wrong)
    row = int(np.argmax(wrong))
    said, remedy = (reason, REMEDY) if failed[row] else _complaint(problem, found, row)
    failure = f"{said} for the design {_text(problem, found.points, row)}"
    if not problem.tolerant:
        kind = ContractError if failed[row] else NotFiniteError
        raise kind(f"{failure}; {remedy}")
    _exclude(problem, found, wrong, EVALUATED)
    return replace(found, failed=wrong, failure=failure)


def _exclude(problem: Problem, found: Evaluation, rows: NDArray[np.bool_], rule: str) -> None:
    """Let designs miss a rule, and each other one of which nothing can be said."""
    violation = found.violation[rows]
    found.violation[rows] = np.where(np.isnan(violation), np.inf, violation)
    found.violation[rows, problem.constraint_names.index(rule)] = np.inf
    found.loss[rows] = np.inf


def _complaint(problem: Problem, found: Evaluation, row: int) -> tuple[str, str]:
    """Say which number of a design is none, and what must hold."""
    missing = np.flatnonzero(np.isnan(found.violation[row]))
    if len(missing):
        rule = f"requirement {problem.constraint_names[missing[0]]!r} gives NaN"
        return rule, "a violation must be a number"
    column = int(np.argmin(np.isfinite(found.loss[row])))
    rule = f"{problem.goals[column].name} is {found.loss[row, column]}"
    return rule, "an objective must be a finite number"


def _text(problem: Problem, points: Points, row: int) -> str:
    index = as_index(points, np.array([row % len(points)]))
    return str(problem.space.point_text(index[0]))
