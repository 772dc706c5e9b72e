"""What looks at a study without running it: nothing is measured by surprise."""

from __future__ import annotations

from dse.contract.evaluators import Measurement, RecordedEvaluator
from dse.errors import MeasurementError
from dse.model.measured import UNKNOWN
from dse.model.problem import Problem
from dse.model.space import Index
from dse.study.study import Study

ONLY_RUNS = (
    "the designs of this study are measured, and only `dse run` measures: run it, and name the "
    "folder of the run"
)


def require_nothing_measured(prepared: Study) -> None:
    """Raise `MeasurementError` where designs of a study are measured, and its run is not over."""
    unknown = any(not core.measured for core in prepared.cores)
    if prepared.problem.measured is not None or unknown:
        raise MeasurementError(ONLY_RUNS)


def require_figures(prepared: Study) -> None:
    """Raise `MeasurementError` where designs of a study are measured, and it is of no run."""
    measured = prepared.problem.measured
    recorded = measured is None or isinstance(measured.bench.evaluator, RecordedEvaluator)
    if not recorded or not all(core.measured for core in prepared.cores):
        raise MeasurementError(ONLY_RUNS)


def measurement_of(problem: Problem, index: Index, name: str) -> Measurement | None:
    """Return what came of measuring a design (1, d), None where nothing is measured.

    Raises
    ------
    MeasurementError
        Nobody has measured the design, which is called `name`.
    """
    if problem.measured is None:
        return None
    (found,) = problem.measured.found(problem.space, index, ask=False)
    if found is UNKNOWN:
        raise MeasurementError(f"{name}: {found.cause}; only `dse run` measures designs")
    return found


def require_measured(problem: Problem, index: Index) -> None:
    """Raise `MeasurementError` where there are no figures of a design (1, d): why."""
    name = problem.space.point_text(index[0])
    found = measurement_of(problem, index, name)
    if found is not None and not found.has_values:
        what = "it could not be measured" if found.failed else "it is infeasible"
        raise MeasurementError(f"{name}: {what}: {found.cause}")
