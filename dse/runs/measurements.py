"""Texts on measurements of a run, and refusals without them."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from dse.contract.evaluators import Measurement, RecordedEvaluator
from dse.errors import MeasurementError
from dse.files.document import EVALUATE, Document
from dse.model.measured import UNKNOWN, Design
from dse.model.problem import Problem
from dse.model.space import Index, design_text
from dse.reports.text import plural
from dse.study.study import Study

CAUSES, CAUSE_DESIGNS = 8, 3
"""Most causes of failures in a message, and designs of each."""

ONLY_RUNS = (
    "the designs of this study are measured, and only `dse run` measures: run it, and name the "
    "folder of the run"
)


def retry_text(folder: Path) -> str:
    """Return the options that measure failed designs again."""
    taken = f"--reuse {shlex.quote(str(folder))} --out NEW"
    return f"measure again what failed, in another run: {taken} (`reuse` and `out` in Python)"


def programs_of(document: Document) -> Iterator[str]:
    """Yield the command or the function that measures for a study."""
    section = document.section(EVALUATE)
    if isinstance(command := section.get("command"), list):
        yield shlex.join(map(str, command))
    elif function := section.get("function"):
        yield f"the function {function}"


def require_nothing_measured(prepared: Study) -> None:
    """Raise `MeasurementError` for a study whose designs are measured."""
    if prepared.problem.measured is not None:
        raise MeasurementError(ONLY_RUNS)


def require_figures(prepared: Study) -> None:
    """Raise `MeasurementError` for a study whose designs are measured, except in a run."""
    measured = prepared.problem.measured
    if measured is not None and not isinstance(measured.setup.evaluator, RecordedEvaluator):
        raise MeasurementError(ONLY_RUNS)


def measurement_of(problem: Problem, index: Index, name: str) -> Measurement | None:
    """Return the measurement of a design (1, d), or None if nothing is measured.

    It is a `MeasurementError` if the design, called `name`, has not been measured.
    """
    if problem.measured is None:
        return None
    (found,) = problem.measured.found(problem.space, index, ask=False)
    if found is UNKNOWN:
        if problem.beforehand is not None and problem.beforehand.excluded(index)[0]:
            raise MeasurementError(f"{name}: axes alone rule it out, so that it is never measured")
        raise MeasurementError(f"{name}: {found.cause}; only `dse run` measures designs")
    return found


def causes_of(
    found: Iterable[tuple[Design, Measurement]], *, failed: bool
) -> dict[str, list[Design]]:
    """Return the designs that failed, or are infeasible, by cause, the most frequent first."""
    grouped: dict[str, list[Design]] = {}
    for design, measurement in found:
        if not measurement.has_values and measurement.failed == failed:
            grouped.setdefault(measurement.cause, []).append(design)
    return dict(sorted(grouped.items(), key=lambda entry: (-len(entry[1]), entry[0])))


def causes_text(
    causes: Mapping[str, Sequence[Design]], unit_names: Mapping[str, str]
) -> Iterator[str]:
    """Yield a line for each frequent cause, with the first designs of each."""
    for cause, designs in [*causes.items()][:CAUSES]:
        shown = "; ".join(design_text(design, unit_names) for design in designs[:CAUSE_DESIGNS])
        more = f"; and {len(designs) - CAUSE_DESIGNS} more" * (len(designs) > CAUSE_DESIGNS)
        yield f"{plural(len(designs), 'design')}: {cause}; {shown}{more}"
    if others := [*causes.values()][CAUSES:]:
        count = plural(sum(map(len, others)), "design")
        yield f"{count}: {plural(len(others), 'other cause')}; `dse status RUN --json` lists them"
