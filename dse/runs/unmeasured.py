"""What looks at a study without running it: nothing is measured by surprise."""

from __future__ import annotations

from dse.errors import MeasurementError
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
