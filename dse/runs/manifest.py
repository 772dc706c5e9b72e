"""The manifest of a run: what was run, with which versions, and what came out."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from dse.model import tables
from dse.reports.designs import objective_values, open_axes
from dse.reports.words import unit_suffix
from dse.runs.runner import Run, SolvedStudy, knee_row
from dse.study import inputs
from dse.study.inputs import Input
from dse.study.study import Sweep

FLOAT_POLICY = (
    "losses are compared at 40 significant bits (relative 9e-13); a part is pruned only when a "
    "bound is worse by more than 1e-9, relative"
)

LIBRARIES = ("accel-dse", "numpy", "moocore", "pymoo", "optuna", "pandas", "pyarrow")


def manifest_of(run: Run, stored: int) -> dict[str, Any]:
    """Return everything needed to repeat and to evaluate a run, of which `stored` designs are kept.

    With a sweep, counts are those of all its values together, but that of designs.
    """
    first, text = run.first, run.document.text
    return {
        "question": first.question,
        "study": text,
        "study_file": Path(run.document.file).name,
        "study_sha256": hashlib.sha256(text.encode()).hexdigest(),
        "overrides": dict(run.document.overrides),
        "inputs": inputs.copies(inputs_of(run)),
        "versions": {"python": platform.python_version()}
        | {name: version(name) for name in LIBRARIES},
        "objectives": {goal.name: goal.sense for goal in first.problem.goals},
        "constraints": list(run.answers[0].outcome.constraint_names),
        "method": run.settings.method,
        **({"options": dict(run.settings.options)} if run.settings.options else {}),
        "seed": run.settings.seed,
        "designs": first.problem.size,
        "evaluated": sum(answer.outcome.evaluated for answer in run.answers),
        "feasible": sum(answer.outcome.feasible for answer in run.answers),
        "feasible_in_space": _feasible_in_space(run.answers),
        "front": sum(len(answer.outcome.front_index) for answer in run.answers),
        "exact": all(answer.outcome.exact for answer in run.answers),
        "certificate": _certificate(run.answers),
        "wall_s": round(run.seconds, 3),
        "evaluations_stored": stored,
        "notes": list(dict.fromkeys(_notes(run))),
        **_points(run),
        "picture": _picture(run),
    }


def inputs_of(run: Run) -> dict[str, Input]:
    """Return the files that a study names, at any value of its sweep."""
    studies = (answer.study for answer in run.answers)
    return {name: entry for study in studies for name, entry in study.inputs.items()}


def swept_column(sweep: Sweep) -> str:
    """Return the name of the column of the swept field."""
    return sweep.path + (unit_suffix(sweep.column) if sweep.column else "")


def _notes(run: Run) -> Iterator[str]:
    for answer in run.answers:
        yield from answer.study.notes
    evaluated = sum(answer.outcome.evaluated for answer in run.answers)
    for name, reason in run.answers[0].opaque.items():
        yield (
            f"{name} cannot be bounded ({reason}), so that nothing is pruned by it: "
            f"{evaluated:,} designs were evaluated"
        )
    if run.sweep is not None:
        pairs = zip(run.sweep.written, run.answers, strict=True)
        empty = [written for written, answer in pairs if not answer.outcome.feasible]
        if empty:
            more = f" and {len(empty) - 8} more" if len(empty) > 8 else ""
            yield f"no feasible design at {run.sweep.path} = {', '.join(empty[:8])}{more}"


def _points(run: Run) -> dict[str, Any]:
    if run.sweep is None:
        return _quality(run.answers[0])
    return {
        "sweep": swept_column(run.sweep),
        "points": [
            {"value": value, "front": len(answer.outcome.front_index)} | _quality(answer)
            for value, answer in zip(run.sweep.values, run.answers, strict=True)
        ],
    }


def _quality(answer: SolvedStudy) -> dict[str, Any]:
    problem, reference = answer.study.problem, np.array(answer.reference)
    return {
        "reference_point": objective_values(problem, reference) if len(reference) else {},
        "hypervolume": answer.hypervolume,
        "hypervolume_share_of_exact": answer.share,
        "hypervolume_share_at_least": answer.at_least if answer.share is None else answer.share,
    }


def _feasible_in_space(answers: Sequence[SolvedStudy]) -> int | None:
    """Return how many designs of the whole spaces are feasible, None where one is not known."""
    known = [answer.outcome.feasible_in_space for answer in answers]
    return sum(count for count in known if count is not None) if None not in known else None


def _certificate(answers: Sequence[SolvedStudy]) -> dict[str, Any]:
    """Return how the designs of all answers were accounted for."""
    outcomes = [answer.outcome for answer in answers]
    parts = [outcome.certificate for outcome in outcomes]
    return {
        "way": sorted({part.way for part in parts}),
        "reason": sorted({part.reason for part in parts}),
        "designs": sum(answer.study.problem.size for answer in answers),
        "evaluated": sum(outcome.evaluated for outcome in outcomes),
        "pruned_as_dominated": sum(part.dominated for part in parts),
        "pruned_as_infeasible": sum(part.infeasible for part in parts),
        "evaluated_as_reference": sum(outcome.reference_evaluations for outcome in outcomes),
        "ties": sum(outcome.ties for outcome in outcomes),
        "floats": FLOAT_POLICY,
    }


def _picture(run: Run) -> dict[str, Any]:
    """Return what a picture needs besides the tables."""
    problem = run.first.problem
    names: list[str] = []
    for answer in run.answers:
        names += tables.design_names(answer.study.problem, answer.outcome.front_index)
    return {
        "title": run.first.question or Path(run.document.file).stem,
        "axes": [tables.axis_column(axis) for _, axis in open_axes(problem)],
        "category": tables.category(problem),
        "limits": bool(problem.graph.steps),
        "sweep": swept_column(run.sweep) if run.sweep else None,
        "names": names,
        "knee": None if run.sweep else knee_row(run.answers[0]),
    }
