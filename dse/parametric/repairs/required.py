"""Feasible designs, required: the error where there are none says why, and what would admit one."""

from __future__ import annotations

import time

from dse.algebra import units
from dse.errors import InfeasibleError, NothingFoundError
from dse.runs.solved import Run, SolvedStudy
from dse.search import Stop
from dse.search.settings import Budget
from dse.study.overrides import Sweep


def require_feasible(
    answer: SolvedStudy,
    where: str = "",
    stop: Stop | None = None,
    budget: Budget | None = None,
) -> None:
    """Raise `InfeasibleError` when a study has no feasible design: why, and what would admit one.

    `where` is said first, of one value of a sweep for instance.  The explanation takes what is left
    of a budget, or what the search has left of the study's effort.
    """
    if not answer.outcome.feasible:
        from dse.parametric.repairs.infeasible import explain_infeasible  # takes long

        whole = budget or Budget(start_s=time.process_time() - answer.seconds)
        left = whole.within(answer.study.settings).left_s
        text, facts = explain_infeasible(answer.study, answer.outcome, seconds=left, stop=stop)
        raise InfeasibleError(where + text, facts)


def require_any_feasible(run: Run, stop: Stop | None = None, budget: Budget | None = None) -> None:
    """Raise `InfeasibleError` when no design is feasible, at any value of a sweep.

    After an interrupt nobody knows, and it is a `NothingFoundError`; `stop` may end the search for
    what would admit one.
    """
    if not run.feasible:
        if run.interrupted:
            raise NothingFoundError(_nothing_found(run))
        sweep = run.sweep
        where = f"at {_first_value(sweep)}: " if sweep else ""
        require_feasible(run.answers[0], where, stop, budget)


def _nothing_found(run: Run) -> str:
    evaluated = sum(answer.outcome.evaluated for answer in run.answers)
    if not evaluated:
        return "interrupted before any designs were compared; no front is written"
    none = f"none of the {evaluated:,} designs evaluated so far is feasible"
    return f"interrupted: {none}; no front is written"


def _first_value(sweep: Sweep) -> str:
    value = sweep.values[0]
    return f"{sweep.path} = {value if isinstance(value, str) else units.show(value, sweep.column)}"
