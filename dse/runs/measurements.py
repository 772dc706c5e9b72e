"""The measurements of a run on disk, of every design requested; what is refused without them."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from dse.contract.evaluators import Measurement, RecordedEvaluator
from dse.errors import MeasurementError, OutputError, shortened, visible
from dse.files.document import EVALUATE, Document
from dse.files.json import json_text, read_json
from dse.files.yaml import flow_yaml
from dse.model.measured import UNKNOWN, Bench, Design
from dse.model.problem import Problem
from dse.model.space import Index, design_text
from dse.reports.text import plural
from dse.runs.limits import ALIKE_CHARACTERS, CAUSE_DESIGNS, CAUSES
from dse.runs.typed_entries import MeasurementsFile, wrong_entries
from dse.store.rows import STORE_FILES
from dse.study.study import Study

MEASUREMENTS = "measurements.json"
MEASURING = "measuring"
STORED = (*STORE_FILES, MEASURING)
"""What a run that measures has in its folder from the first measurement on: its store, and the
working folders of designs that failed."""


ONLY_RUNS = (
    "the designs of this study are measured, and only `dse run` measures: run it, and name the "
    "folder of the run"
)


def write_measurements(recorded: RecordedEvaluator, folder: Path) -> None:
    """Write what was measured."""
    found = [{"design": dict(design)} | asdict(of) for design, of in recorded.found]
    said = {"identity": recorded.identity, "measurements": found}
    (folder / MEASUREMENTS).write_text(json_text(said) + "\n", encoding="utf-8")


def with_measurements(document: Document, folder: Path) -> Document:
    """Return the study of a run with what was measured for it; nothing measures any more.

    Raises
    ------
    OutputError
        The measurements are missing or cannot be read.
    """
    if not document.measures:
        return document
    try:
        said = read_json(folder / MEASUREMENTS)
        for line in wrong_entries(MeasurementsFile, said):
            raise ValueError(line)
        found = [(entry.pop("design"), Measurement(**entry)) for entry in said["measurements"]]
        recorded = RecordedEvaluator(said["identity"], found)
    except (OSError, ValueError) as error:
        raise OutputError(f"{folder / MEASUREMENTS} cannot be read: {error}") from error
    return replace(document, recorded=recorded)


def programs_of(document: Document) -> Iterator[str]:
    """Yield the command lines by which a study measures, as a shell would take them; functions."""
    said = document.section(EVALUATE)
    if isinstance(command := said.get("command"), list):
        yield shlex.join(map(str, command))
    elif function := said.get("function"):
        yield f"the function {function}"


def require_nothing_measured(prepared: Study) -> None:
    """Raise `MeasurementError` where designs of a study are measured, and its run is not over."""
    if prepared.problem.measured is not None:
        raise MeasurementError(ONLY_RUNS)


def require_figures(prepared: Study) -> None:
    """Raise `MeasurementError` where designs of a study are measured, and it is of no run."""
    measured = prepared.problem.measured
    if measured is not None and not isinstance(measured.bench.evaluator, RecordedEvaluator):
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
        if problem.beforehand is not None and problem.beforehand.excluded(index)[0]:
            raise MeasurementError(f"{name}: axes alone rule it out, so that it is never measured")
        raise MeasurementError(f"{name}: {found.cause}; only `dse run` measures designs")
    return found


def causes_text(bench: Bench, *, failed: bool) -> list[str]:
    """Return a line for each frequent cause of designs that failed, or are infeasible."""
    causes = bench.causes(failed=failed)
    lines = [
        f"{plural(len(designs), 'design')}: {cause}; {_some(designs, bench.unit_names)}"
        for cause, designs in [*causes.items()][:CAUSES]
    ]
    others = [*causes.values()][CAUSES:]
    if others:
        count = plural(sum(map(len, others)), "design")
        lines.append(f"{count}: {plural(len(others), 'other cause')}; `dse status RUN` lists them")
    return lines


def _some(designs: Sequence[Design], unit_names: Mapping[str, str]) -> str:
    shown = "; ".join(design_text(design, unit_names) for design in designs[:CAUSE_DESIGNS])
    more = len(designs) - CAUSE_DESIGNS
    return f"{shown}; and {more} more" if more > 0 else shown


_NOTHING = object()


def changed_fields(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """Return a line ``search.budget: 100 -> 200`` for each field of plain data that differs.

    Lists of one length that hold mappings are compared item by item, others as a whole.

    Examples
    --------
    >>> changed_fields({"seed": 1, "axes": {"u": [1, 2]}}, {"seed": 1, "axes": {"u": [1, 2, 4]}})
    ['axes.u: [1, 2] -> [1, 2, 4]']
    >>> changed_fields({"study": {}}, {"study": {"seed": 7}})
    ['study.seed: not set -> 7']
    """
    return [f"{path}: {_beside(old, new)}" for path, old, new in _changes("", before, after)]


def _changes(path: str, before: Any, after: Any) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for name in dict.fromkeys((*before, *after)):
            inside = f"{path}.{name}" if path else str(name)
            yield from _changes(inside, before.get(name, _NOTHING), after.get(name, _NOTHING))
    elif _is_itemised(before) and _is_itemised(after) and len(before) == len(after):
        for number, (old, new) in enumerate(zip(before, after, strict=True), 1):
            yield from _changes(f"{path}.{number}", old, new)
    elif before != after or isinstance(before, bool) != isinstance(after, bool):
        yield path, before, after


def _is_itemised(value: Any) -> bool:
    return isinstance(value, list | tuple) and any(isinstance(item, Mapping) for item in value)


def _beside(before: Any, after: Any) -> str:
    """Return both values; long ones that begin alike are shown from where they differ."""
    texts = ["not set" if value is _NOTHING else flow_yaml(value) for value in (before, after)]
    alike = next((at for at, (old, new) in enumerate(zip(*texts, strict=False)) if old != new), 0)
    if alike > ALIKE_CHARACTERS:
        texts = [f"...{text[alike - ALIKE_CHARACTERS // 2 :]}" for text in texts]
    return " -> ".join(visible(shortened(text)) for text in texts)
