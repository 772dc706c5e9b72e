"""The measurements of a run on disk: ``measurements.json``, of every design that was asked for."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, replace
from pathlib import Path

from dse.contract.evaluators import Measurement, RecordedEvaluator
from dse.errors import OutputError
from dse.files.document import Document
from dse.files.json import json_text
from dse.study.study import Study

MEASUREMENTS = "measurements.json"
EVALUATE = "evaluate"
"""The path of the section that says what measures."""


def recorded_of(studies: Iterable[Study]) -> dict[str, RecordedEvaluator]:
    """Return what measured studies that differ in the value of a sweep, if anything did."""
    benches = [one.problem.measured.bench for one in studies if one.problem.measured is not None]
    if not benches:
        return {}
    seen = {name: pair for bench in benches for name, pair in bench.seen.items()}
    return {EVALUATE: RecordedEvaluator(benches[0].evaluator.identity, [*seen.values()])}


def write_measurements(studies: Iterable[Study], folder: Path) -> None:
    """Write what was measured for studies that differ in the value of a sweep, if anything was."""
    for recorded in recorded_of(studies).values():
        listed = [{"design": dict(design)} | asdict(found) for design, found in recorded.found]
        said = {"identity": recorded.identity, "measurements": listed}
        (folder / MEASUREMENTS).write_text(json_text(said) + "\n", encoding="utf-8")


def with_measurements(document: Document, folder: Path) -> Document:
    """Return the study of a run with what was measured for it; nothing measures any more.

    Raises
    ------
    OutputError
        The measurements are missing or cannot be read.
    """
    if document.data.get(EVALUATE) is None:
        return document
    try:
        said = json.loads((folder / MEASUREMENTS).read_text(encoding="utf-8"))
        found = [(entry.pop("design"), Measurement(**entry)) for entry in said["measurements"]]
        recorded = RecordedEvaluator(said["identity"], found)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise OutputError(f"{folder / MEASUREMENTS} cannot be read: {error}") from error
    return replace(document, recorded={EVALUATE: recorded})
