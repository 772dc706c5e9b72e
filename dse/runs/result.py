"""What a run leaves: tables, manifest, pictures.  The only user of pandas and pyarrow."""

from __future__ import annotations

import hashlib
import json
import platform
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from dse.algebra import units
from dse.errors import OutputError
from dse.files.folder import new_folder
from dse.files.json import json_text
from dse.model import tables
from dse.model.tables import Table
from dse.reports import plots
from dse.reports.front_text import front_text
from dse.reports.front_view import FrontView
from dse.runs import finished
from dse.runs.runner import Run, SolvedStudy, knee_row
from dse.study import inputs
from dse.study.inputs import Input

FILES = ("front.csv", "evaluations.parquet", "manifest.json", "front.png", "front.svg")
MOST_EVALUATIONS = 120_000
"""Most designs in evaluations.parquet; of more, a uniform sample is kept."""

FLOAT_POLICY = (
    "losses are compared at 40 significant bits (relative 9e-13); a part is given up only when a "
    "bound is worse by more than 1e-9, relative"
)

LIBRARIES = ("accel-dse", "numpy", "moocore", "pymoo", "optuna", "pandas", "pyarrow")


class Result:
    """A finished run.

    Attributes
    ----------
    front : pandas.DataFrame
        One row per design on the front; numbers in SI with their unit suffix.
    evaluations : pandas.DataFrame
        Evaluated designs (a uniform sample of many) with a column ``feasible``.
    manifest : dict
        Everything needed to repeat and to judge the run.
    """

    def __init__(self, run: Run) -> None:
        """Keep the run; tables are made when they are asked for."""
        self.run = run
        self.folder: Path | None = None
        """Where it was saved last; None before."""

    def __repr__(self) -> str:
        """Return the summary that the command line prints."""
        return self.text()

    @cached_property
    def front(self) -> pd.DataFrame:
        """The front as a table."""
        return pd.DataFrame(self._table(lambda answer: answer.outcome.front_index))

    @cached_property
    def evaluations(self) -> pd.DataFrame:
        """Evaluated designs as a table."""
        most = max(1, MOST_EVALUATIONS // len(self.run.answers))
        return pd.DataFrame(self._table(lambda answer: _thin(answer.outcome.sample_index, most)))

    def _table(self, rows: Callable[[SolvedStudy], Any]) -> Table:
        parts = []
        for position, answer in enumerate(self.run.answers):
            index = rows(answer)
            if not len(index):
                continue
            problem = answer.study.problem
            swept = self._swept(position, len(index))
            part = swept | tables.design_table(problem, index) | swept
            if rows(answer) is not answer.outcome.front_index:
                part["feasible"] = problem.evaluate(index).feasible
            parts.append(part)
        return tables.join(parts)

    @property
    def sweep_column(self) -> str | None:
        """Name of the column of the swept field."""
        sweep = self.run.sweep
        if sweep is None:
            return None
        suffix = units.suffix(sweep.column) if sweep.column else ""
        return f"{sweep.path}_{suffix}" if suffix else sweep.path

    def _swept(self, position: int, count: int) -> Table:
        if self.run.sweep is None or self.sweep_column is None:
            return {}
        value = self.run.sweep.values[position]
        kind = object if isinstance(value, str) else float
        return {self.sweep_column: np.full(count, value, dtype=kind)}

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """What was run, with which versions, and what came out."""
        run = self.run
        study = run.first
        text = run.document.text
        first = run.answers[0].outcome
        return {
            "question": study.question,
            "study": text,
            "study_file": Path(run.document.file).name,
            "study_sha256": hashlib.sha256(text.encode()).hexdigest(),
            "overrides": dict(run.document.overrides),
            "inputs": inputs.copies(self._inputs()),
            "versions": {"python": platform.python_version()}
            | {name: version(name) for name in LIBRARIES},
            "objectives": {goal.name: goal.sense for goal in study.problem.goals},
            "constraints": list(first.constraint_names),
            "method": run.settings.method,
            "seed": run.settings.seed,
            "designs": study.problem.size,
            "evaluated": sum(answer.outcome.evaluated for answer in run.answers),
            "feasible": sum(answer.outcome.feasible for answer in run.answers),
            "front": sum(len(answer.outcome.front_index) for answer in run.answers),
            "exact": all(answer.outcome.exact for answer in run.answers),
            "certificate": _certificate(run.answers),
            "wall_s": round(run.seconds, 3),
            "evaluations_stored": len(self.evaluations),
            "notes": self._notes(),
            **self._quality(),
            "picture": _picture(run, self.sweep_column),
        }

    def _inputs(self) -> dict[str, Input]:
        """Return the files that the study names, at any value of its sweep."""
        studies = (answer.study for answer in self.run.answers)
        return {name: entry for study in studies for name, entry in study.inputs.items()}

    def _notes(self) -> list[str]:
        notes = dict.fromkeys(note for answer in self.run.answers for note in answer.study.notes)
        evaluated = sum(answer.outcome.evaluated for answer in self.run.answers)
        for name, reason in {**self.run.answers[0].opaque}.items():
            notes[
                f"{name} cannot be bounded ({reason}), so that nothing is pruned by it: "
                f"{evaluated:,} designs were evaluated"
            ] = None
        if self.run.sweep is not None:
            pairs = zip(self.run.sweep.written, self.run.answers, strict=True)
            empty = [written for written, answer in pairs if not answer.outcome.feasible]
            if empty:
                shown = ", ".join(empty[:8]) + (f" and {len(empty) - 8} more" * (len(empty) > 8))
                notes[f"no feasible design at {self.run.sweep.path} = {shown}"] = None
        return list(notes)

    def _quality(self) -> dict[str, Any]:
        if self.run.sweep is None:
            return _quality(self.run.answers[0])
        return {
            "sweep": self.sweep_column,
            "points": [
                {"value": value, "front": len(answer.outcome.front_index)} | _quality(answer)
                for value, answer in zip(self.run.sweep.values, self.run.answers, strict=True)
            ],
        }

    @cached_property
    def view(self) -> FrontView:
        """The front as pictures and reports see it."""
        return _view(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the manifest and the designs of the front as plain data, for JSON."""
        rows = [dict(row) for row in self.front.to_dict(orient="records")]
        return self.manifest | {"designs_on_front": rows}

    def text(self) -> str:
        """Return the text that the command line prints."""
        return front_text(self.view, self.manifest)

    def save(self, folder: str | Path) -> Path:
        """Write the run to `folder`: all files, or none.

        A folder that holds an earlier run is replaced; any other folder that is not empty is
        left alone.

        Raises
        ------
        OutputError
            When the folder holds something else, or cannot be written.
        """
        target = Path(folder)
        with new_folder(target, (*FILES, *inputs.owned(target))) as fresh:
            self.front.to_csv(fresh / "front.csv", index=False, lineterminator="\n")
            arrow = pa.Table.from_pandas(self.evaluations, preserve_index=False)
            pq.write_table(arrow, fresh / "evaluations.parquet")
            manifest = json_text(self.manifest) + "\n"
            (fresh / "manifest.json").write_text(manifest, encoding="utf-8")
            plots.draw_front(self.view, fresh)
            inputs.write_inputs(self._inputs(), fresh)
        self.folder = target
        return target


def _quality(answer: SolvedStudy) -> dict[str, Any]:
    goals = answer.study.problem.goals
    reference = {
        goal.name: -value if goal.maximise else value
        for goal, value in zip(goals, answer.reference, strict=False)
    }
    return {
        "reference_point": reference,
        "hypervolume": answer.hypervolume,
        "hypervolume_share_of_exact": answer.share,
        "hypervolume_share_at_least": answer.at_least if answer.share is None else answer.share,
    }


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


def _view(result: Result) -> FrontView:
    picture = result.manifest["picture"]
    return _drawn(result.front, result.evaluations, result.manifest, picture)


def _picture(run: Run, sweep: str | None) -> dict[str, Any]:
    """Return what a picture needs besides the tables."""
    problem = run.first.problem
    names: list[str] = []
    for answer in run.answers:
        names += tables.design_names(answer.study.problem, answer.outcome.front_index)
    return {
        "title": run.first.question or Path(run.document.file).stem,
        "axes": [
            tables.axis_column(axis)
            for axis in problem.space.axes
            if axis.size > 1
            and tables.is_choice_of_scenario(problem, axis)
            and (problem.stages or axis.ordered)  # other choices are the names of the designs
        ],
        "category": tables.category(problem),
        "limits": bool(problem.graph.steps),
        "sweep": sweep,
        "names": names,
        "knee": knee_row(run.answers[0]) if sweep is None else None,
    }


def _drawn(
    front: pd.DataFrame, evaluations: pd.DataFrame, manifest: Mapping[str, Any], picture: Any
) -> FrontView:
    cloud = evaluations[evaluations["feasible"]]
    return FrontView(
        title=picture["title"],
        objectives=tuple(manifest["objectives"].items()),
        front={str(name): front[name].to_numpy() for name in front},
        cloud={str(name): cloud[name].to_numpy() for name in cloud},
        axes=tuple(picture["axes"]),
        category=picture["category"],
        limits=picture.get("limits", True),
        sweep=picture["sweep"],
        names=picture["names"],
        knee=picture["knee"],
    )


def plot(run: Path, folder: Path) -> tuple[Path, ...]:
    """Draw the pictures of the run in folder `run` again, into `folder`.

    Raises
    ------
    OutputError
        When `run` is not the folder of a run, or `folder` cannot be written.
    """
    try:
        front = pd.read_csv(run / "front.csv")
        evaluations = pd.read_parquet(run / "evaluations.parquet")
        manifest = json.loads((run / "manifest.json").read_text(encoding="utf-8"))
        view = _drawn(front, evaluations, manifest, manifest["picture"])
    except (OSError, ValueError, KeyError) as error:
        raise finished.not_a_run(run, error) from error
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as fresh:
            return tuple(
                path.replace(folder / path.name) for path in plots.draw_front(view, Path(fresh))
            )
    except OSError as error:
        raise OutputError(f"{folder} cannot be written: {error.strerror}") from error


def _thin(index: Any, most: int) -> Any:
    """Return at most `most` rows, the same ones for the same rows."""
    if len(index) <= most:
        return index
    chosen = np.random.default_rng(0).choice(len(index), most, replace=False)
    return index[np.sort(chosen)]
