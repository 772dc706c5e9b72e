"""The result of a run, and its folder: tables, manifest, pictures."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dse.contract import Matrix
from dse.errors import FOREIGN, ArgumentError, OutputError
from dse.files import inputs
from dse.files.document import Document
from dse.files.json import json_text
from dse.files.whole_folders import WorkingFolder, working_folder
from dse.model.evaluation import Evaluation, distinct_rows
from dse.model.problem import Problem
from dse.model.space import Index, as_index
from dse.model.tables import EQUALS, Table
from dse.reports.front_text import MOST_ROWS, front_html, front_text, in_units
from dse.reports.front_view import FrontView, Recommended
from dse.reports.text import Printable
from dse.runs import record
from dse.runs.manifest import FEASIBLE, manifest_of, recommended_of, view_of
from dse.runs.record import EVALUATIONS, FRONT, MANIFEST
from dse.runs.runner import Options, Run, SolvedStudy, inputs_of, points_of
from dse.search.open_problem import opened
from dse.study.measuring import STORED, Keeping, measuring
from dse.study.overrides import sweep_of
from dse.study.study import Study, prepare, whole_document

if TYPE_CHECKING:
    import pandas as pd

    from dse.reports.drawing import Picture
    from dse.search.heuristic.optuna import Trials

PICTURES = ("front.png", "front.svg")
PAGE = "report.html"
SLIDE = ("slide.png", "slide.svg")
FILES = (FRONT, EVALUATIONS, MANIFEST, *PICTURES)
"""Files of a run with all extras."""

REPLACED = (*FILES, PAGE, *SLIDE)
"""Files that a run may replace, besides copies of tables."""

_UNKEPT = (
    f"evaluations are not kept: {EVALUATIONS} needs pyarrow, which is not installed; pip install "
    '"accel-dse[parquet]"'
)

EVALUATIONS_ROWS = 120_000
"""Most designs in the file of evaluations, a uniform sample of more."""

BEGUN_AGAIN = (
    "nothing of this study is measured, and models are computed faster than results are read: it "
    "ran again from the beginning"
)
"""Warning after --resume without measurements."""


class Result(Printable):
    """A finished run.

    Attributes
    ----------
    front : pandas.DataFrame
        One row per design on the front, with numbers in SI and their unit suffix.
    evaluations : pandas.DataFrame
        Evaluated designs (a uniform sample of many) with a column ``feasible``.
    manifest : dict
        Everything needed to repeat and to check the run.
    """

    def __init__(self, run: Run) -> None:
        """Keep the run.  Tables are made when they are requested."""
        self.run = run
        self.folder: Path | None = None
        """The folder in which it was saved last."""
        self.warnings: tuple[str, ...] = ()
        """Warnings when it was saved: pictures, remains of killed runs."""
        self.resume = ""
        """The command that goes on with it, or empty without measurements in a folder."""

    def __getstate__(self) -> dict[str, Any]:
        """Return the manifest, and studies as they are written.  Tables follow from these."""
        run, shown = self.run, ("front", "evaluations", "_front", "_evaluations", "_arrays")
        whole = whole_document(run.document, [answer.study for answer in run.answers])
        state = {"manifest": self.manifest, **vars(self), "run": replace(run, document=whole)}
        return {name: of for name, of in state.items() if name not in shown}

    def __eq__(self, other: object) -> bool:
        """Return whether another result has the same front, evaluations and manifest."""
        if not isinstance(other, Result):
            return NotImplemented
        same = self.front.equals(other.front) and self.evaluations.equals(other.evaluations)
        return same and self.manifest == other.manifest

    @cached_property
    def front(self) -> pd.DataFrame:
        """Return the front as a table."""
        return _data_frame(self._front)

    @cached_property
    def evaluations(self) -> pd.DataFrame:
        """Return the evaluated designs as a table."""
        return _data_frame(self._evaluations)

    @cached_property
    def _front(self) -> Table:
        parts = [self._with_equals(answer) for answer in self.run.answers]
        return record.run_table(parts, self.run.sweep)

    @cached_property
    def _evaluations(self) -> Table:
        parts = []
        for answer in self.run.answers:
            problem, index = answer.study.problem, self._sample(answer)
            feasible = {FEASIBLE: problem.evaluate(index).feasible} if len(index) else {}
            parts.append((answer.study, index, feasible))
        return record.run_table(parts, self.run.sweep)

    @staticmethod
    def _with_equals(answer: SolvedStudy) -> tuple[Study, Index, Table]:
        """Return a front, with the numbers of equal designs if there are any."""
        index, equals = answer.outcome.front_index, answer.outcome.equals
        if equals is None or len(equals) != len(index) or max(equals, default=1) <= 1:
            return answer.study, index, {}
        return answer.study, index, {EQUALS: equals}

    def _sample(self, answer: SolvedStudy) -> Index:
        """Return the evaluated designs that are kept of an answer."""
        most = max(1, EVALUATIONS_ROWS // len(self.run.answers))
        return _counted(answer.study.problem, _thin(answer.outcome.sample_index, most))

    @property
    def F(self) -> Matrix:  # noqa: N802
        """Return the losses of the front, (n, m), with maximised objectives negated."""
        return self._arrays.loss

    @property
    def X(self) -> Index:  # noqa: N802
        """Return the positions of the front on the axes, (n, d), -1 for the host alone."""
        return as_index(self._arrays.points)

    @property
    def G(self) -> Matrix:  # noqa: N802
        """Return the violations of the front, (n, k), at most 0."""
        return self._arrays.violation

    @property
    def names(self) -> dict[str, tuple[str, ...]]:
        """Return the names of the columns of `F`, `X` and `G`, by these letters."""
        problem = self.run.first.problem
        goals = tuple(goal.loss for goal in problem.goals)
        axes = tuple(axis.name for axis in problem.space.axes)
        return {"F": goals, "X": axes, "G": problem.constraint_names}

    @cached_property
    def _arrays(self) -> Evaluation:
        """Return the front as numbers, or raise `UnitError` for a study with a sweep."""
        if self.run.sweep is not None:
            raise self.run.sweep.refused("F, X and G are of one front")
        problem = self.run.first.problem
        return problem.evaluate(self.run.answers[0].outcome.front_index)

    def to_optuna(self, *, trials: int = 1000, **settings: Any) -> Trials:
        """Return the front, and other evaluated designs, as an `optuna.Study` of as many trials.

        Its values are `F`, with their names, and ``problem.optuna`` goes on with it.  `settings`
        are arguments of `optuna.create_study`: a storage, a sampler.  Optuna knows no host alone.
        """
        found, problem = self.X, self.run.first.problem
        others = _thin(self.run.answers[0].outcome.sample_index, max(trials - len(found), 0))
        rows = np.concatenate([found, _counted(problem, others)])
        rows = rows[distinct_rows(rows)][:trials]
        return opened(problem).to_optuna(rows[(rows >= 0).all(axis=1)], **settings)

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """Return study, versions and results of the run as plain data."""
        stored = sum(len(self._sample(answer)) for answer in self.run.answers)
        return manifest_of(self.run, stored if record.has_parquet() else 0)

    def to_dict(self) -> dict[str, Any]:
        """Return the manifest and the designs of the front as plain data, for JSON."""
        columns = (values.tolist() for values in self._front.values())
        rows = [dict(zip(self._front, row, strict=True)) for row in zip(*columns, strict=True)]
        return self.manifest | {"designs_on_front": rows}

    def text(self, *, rows: int = MOST_ROWS) -> str:
        """Return the text of the command line, with at most `rows` designs."""
        return front_text(self.shown, self._facts, rows=rows)

    def _repr_html_(self) -> str:
        """Return the same for a notebook."""
        return front_html(self.shown, self._facts, rows=MOST_ROWS)

    @property
    def shown(self) -> FrontView:
        """Return the front as in pictures and reports."""
        return self._view({})

    def _view(self, evaluations: Table) -> FrontView:
        run = self.run
        points = [(answer.study, answer.outcome.front_index) for answer in run.answers]
        return view_of(run.document, run.sweep, points, self._front, evaluations, self.manifest)

    @property
    def _facts(self) -> dict[str, Any]:
        said = [note for answer in self.run.answers for note in answer.study.unchecked]
        said += [] if record.has_parquet() else [_UNKEPT]
        return self.manifest | {"unchecked": [*dict.fromkeys(said)]}

    @property
    def recommended(self) -> Recommended | None:
        """Return the recommended ``row`` of `front`, ``design`` and rule, None with a sweep."""
        return recommended_of(self.manifest)

    def to_pandas(self) -> pd.DataFrame:
        """Return choices and objectives of the front, with the units in their headers."""
        return _data_frame(in_units(self.shown))

    def plot(self) -> Picture:
        """Return the picture of the front for a notebook."""
        from dse.reports.plots import front_figure  # matplotlib, only now

        return front_figure(self._view(self._evaluations))

    def save(self, folder: str | Path, *, plots: bool = True) -> Path:
        """Write all files of the run to a folder, or none.  Pictures are drawn with `plots`.

        An earlier run in the folder is replaced.  Pictures that cannot be drawn are in `warnings`.
        If it has other content, or cannot be written, the `OutputError` names a temporary folder
        with the run.
        """
        with run_folder(folder, self.run.document) as place:
            return self.fill(place, plots=plots)

    def fill(self, place: WorkingFolder, *, plots: bool = True) -> Path:
        """Write the run to the folder that was made for it, as `save`."""
        place.fill(partial(self.write, plots, place.place))
        self.folder = place.target
        self.warnings = (*place.notes, *self.warnings)
        return place.target

    def write(self, plots: bool, before: Path, fresh: Path) -> None:
        """Write all files.  Of a resumed run, measurements in the folder `before` are copied."""
        record.write_front(self._front, fresh)
        record.write_evaluations(self._evaluations, fresh)
        self.warnings = tuple(self._draw(fresh)) if plots else ()
        studies = [answer.study for answer in self.run.answers]
        inputs.write_inputs(inputs_of(studies), fresh)
        facts = self.manifest
        if (recorded := self.run.document.recorded) is not None:
            count = measuring().carry(before if self.resume else None, recorded, fresh)
            facts = facts | {"measured": facts["measured"] | {"stored": count}}
        text = json_text(record.with_checksums(facts, fresh)) + "\n"
        (fresh / MANIFEST).write_text(text, encoding="utf-8")

    def _draw(self, fresh: Path) -> Iterator[str]:
        """Draw the pictures, or yield the reason why there are none."""
        try:
            from dse.reports.plots import draw_front  # matplotlib, only now

            draw_front(self._view(self._evaluations), fresh)
        except FOREIGN as error:  # anything that the library raises
            for name in PICTURES:
                (fresh / name).unlink(missing_ok=True)
            names, kind = " and ".join(PICTURES), type(error).__name__
            yield f"{names} cannot be drawn: {kind}: {error}; all else is written"


@contextmanager
def run_place(
    out: str | Path | None, document: Document, options: Options
) -> Iterator[tuple[WorkingFolder | None, Keeping]]:
    """Yield the folder of a run, if it has one, and its measurements.

    An option for measurements is an `ArgumentError` without measurements.
    """
    measures, plain = document.measures, nullcontext((document, options, ""))
    useless = [name for name in ("workers", "dask", "reuse") if getattr(options, name)]
    if useless and not measures:
        raise ArgumentError(f"{useless[0]}: nothing of this study is measured; leave it out")
    if out is None:
        if options.reuse:
            raise ArgumentError("reuse: the run has no folder to keep measurements in; name `out`")
        yield None, plain
        return
    with run_folder(out, document, STORED if measures else ()) as place:
        if measures:
            yield place, measuring().keeps(place, document, options)
        else:
            place.notes += (BEGUN_AGAIN,) * options.resume
            yield place, plain


@contextmanager
def run_folder(
    folder: str | Path, document: Document, kept: Collection[str] = ()
) -> Iterator[WorkingFolder]:
    """Yield a new folder for the run of a study, which replaces `folder` when it is filled.

    Files of an earlier run that are `kept` may be there, but none that the study reads.
    """
    target = Path(folder)
    owned = inputs.owned(target)
    points = points_of(document, sweep_of(document)) if owned else []
    for written in inputs_of(prepare(point) for point in points).keys() - document.contents.keys():
        if inputs.locate(document, written).resolve().is_relative_to(target.resolve()):
            raise OutputError(
                f"{target} holds {written!r}, which the study reads; name another folder"
            )
    with working_folder(target, (*REPLACED, *owned, *kept)) as place:
        record.begin_manifest(place.path / MANIFEST, document.file)
        yield place


def _counted(problem: Problem, index: Index) -> Index:
    """Return the designs without those whose measurement failed."""
    measured = problem.measured
    return index if measured is None else measured.counted(problem.space, index)


def _thin(index: Any, most: int) -> Any:
    """Return at most `most` rows, drawn with a fixed seed."""
    if len(index) <= most:
        return index
    chosen = np.random.default_rng(0).choice(len(index), most, replace=False)
    return index[np.sort(chosen)]


def _data_frame(table: Table) -> pd.DataFrame:
    import pandas as pd  # takes longer than most searches

    return pd.DataFrame(table)
