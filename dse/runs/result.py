"""What a run leaves: tables, manifest, pictures.  The only user of pandas and pyarrow."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from dse.errors import OutputError
from dse.files.csv import as_written, inert
from dse.files.folder import new_folder, require_folder
from dse.files.json import json_text
from dse.model import tables
from dse.model.tables import Table
from dse.reports import plots
from dse.reports.front_text import MOST_ROWS, front_text
from dse.reports.front_view import FrontView, Recommended
from dse.runs import checksums, finished
from dse.runs.manifest import inputs_of, manifest_of
from dse.runs.runner import Run, SolvedStudy
from dse.study import inputs

FILES = ("front.csv", "evaluations.parquet", "manifest.json", "front.png", "front.svg")
MOST_EVALUATIONS = 120_000
"""Most designs in evaluations.parquet; of more, a uniform sample is kept."""


class Result:
    """A finished run.

    Attributes
    ----------
    front : pandas.DataFrame
        One row per design on the front; numbers in SI with their unit suffix.
    evaluations : pandas.DataFrame
        Evaluated designs (a uniform sample of many) with a column ``feasible``.
    manifest : dict
        Everything needed to repeat and to check the run.
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
        for number, answer in enumerate(self.run.answers):
            index = rows(answer)
            if not len(index):
                continue
            problem = answer.study.problem
            swept = self._swept(number, len(index))
            part = swept | tables.design_table(problem, index) | swept
            if rows(answer) is not answer.outcome.front_index:
                part["feasible"] = problem.evaluate(index).feasible
            parts.append(part)
        return tables.join(parts)

    def _swept(self, number: int, count: int) -> Table:
        if self.run.sweep is None:
            return {}
        value = self.run.sweep.values[number]
        kind = object if isinstance(value, str) else float
        return {self.run.sweep.header: np.full(count, value, dtype=kind)}

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """What was run, with which versions, and what came out."""
        return manifest_of(self.run, len(self.evaluations))

    @cached_property
    def view(self) -> FrontView:
        """The front as pictures and reports see it."""
        return _view(self.front, self.evaluations, self.manifest)

    def to_dict(self) -> dict[str, Any]:
        """Return the manifest and the designs of the front as plain data, for JSON."""
        rows = [dict(row) for row in self.front.to_dict(orient="records")]
        return self.manifest | {"designs_on_front": rows}

    def text(self, *, rows: int = MOST_ROWS) -> str:
        """Return the text that the command line prints, with at most `rows` designs."""
        return front_text(self.view, self.manifest, rows=rows)

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
            _texts(self.front, inert).to_csv(fresh / "front.csv", index=False, lineterminator="\n")
            arrow = pa.Table.from_pandas(self.evaluations, preserve_index=False)
            pq.write_table(arrow, fresh / "evaluations.parquet")
            plots.draw_front(self.view, fresh)
            studies = (answer.study for answer in self.run.answers)
            inputs.write_inputs(inputs_of(studies), fresh)
            manifest = json_text(checksums.with_checksums(self.manifest, fresh)) + "\n"
            (fresh / checksums.MANIFEST).write_text(manifest, encoding="utf-8")
        self.folder = target
        return target


def require_place(folder: str | Path) -> None:
    """Raise `OutputError` when a run cannot be written to `folder`, before it is searched."""
    require_folder(Path(folder), (*FILES, *inputs.owned(Path(folder))))


def _view(front: pd.DataFrame, evaluations: pd.DataFrame, manifest: Mapping[str, Any]) -> FrontView:
    cloud, picture = evaluations[evaluations["feasible"]], manifest["picture"]
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
        recommended=_recommended(manifest),
    )


def _recommended(manifest: Mapping[str, Any]) -> Recommended | None:
    """Return the recommended design; None for a sweep, and for a run from before it was written."""
    said = manifest.get("recommended")
    return Recommended(said["row"] - 1, said["design"], said["rule"]) if said else None


def read_evaluations(run: Path) -> Table:
    """Return evaluations.parquet of the run in folder `run`.

    Raises
    ------
    OutputError
        When it cannot be read.
    """
    path = run / "evaluations.parquet"
    try:
        found = pd.read_parquet(path)
    except (OSError, ValueError) as error:
        raise OutputError(f"{path} cannot be read: {error}") from error
    return {str(name): found[name].to_numpy() for name in found}


def plot(run: Path, folder: Path) -> tuple[Path, ...]:
    """Draw the pictures of the run in folder `run` again, into `folder`.

    Raises
    ------
    OutputError
        When `run` is not the folder of a run, or `folder` cannot be written.
    """
    try:
        front = _texts(pd.read_csv(run / "front.csv"), as_written)
        evaluations = pd.read_parquet(run / "evaluations.parquet")
        manifest = json.loads((run / "manifest.json").read_text(encoding="utf-8"))
        view = _view(front, evaluations, manifest)
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


def _texts(table: pd.DataFrame, change: Callable[[str], str]) -> pd.DataFrame:
    """Return a table with its texts and headers changed."""
    changed = {
        name: [change(cell) if isinstance(cell, str) else cell for cell in table[name]]
        for name in table.columns
        if not pd.api.types.is_numeric_dtype(table[name])
    }
    return table.assign(**changed).rename(columns=change)
