"""The contract of measuring: parsing `evaluate:`, measuring, listing and opening measurements.

`dse.measure` is found by its name, and only if a study or a folder has measurements.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from dse.contract import Objective
from dse.contract.evaluators import Measurement, RecordedEvaluator, Value, key
from dse.files.document import Document, parse_document
from dse.files.whole_folders import WorkingFolder
from dse.model.measured import MeasuredColumns, Spending
from dse.model.problem import Problem
from dse.model.space import Space
from dse.search.exact.work import Stop
from dse.search.settings import Progress, SearchSettings
from dse.study.goals import Options
from dse.study.overrides import override
from dse.study.reader import Reader
from dse.study.schema import EvaluateSection, StudyFile

STORE = "evaluations.sqlite"
STORE_FILES = (STORE, *(f"{STORE}-{end}" for end in ("wal", "shm", "journal", "new")))
"""Files of a store in the folder of a run.  All but the first exist only while it is open."""

MEASURING = "measuring"
STORED = (*STORE_FILES, MEASURING)
"""Content of the folder of a run from the first measurement on: its store, and the working folders
of failed designs."""


@dataclass(frozen=True, kw_only=True)
class StoredMeasurement:
    """A measurement and its design.

    Attributes
    ----------
    identity, design
        See `dse.contract.evaluators.key`.
    measurement
        The result.
    kept_at
        Time of storage, in seconds since the epoch.
    """

    identity: str
    design: Mapping[str, Value]
    measurement: Measurement
    kept_at: float

    @property
    def key(self) -> str:
        """Return the key of its design."""
        return key(self.identity, self.design)


def time_measuring(rows: Iterable[StoredMeasurement]) -> float:
    """Return the time in seconds during which at least one of some measurements ran.

    It follows from the time of storage and the duration of each.  The wait between two attempts
    counts.  Values of other runs do not.
    """
    ends = [(row.kept_at, row.measurement.seconds) for row in rows if row.measurement.attempts]
    total, until = 0.0, -math.inf
    for begin, end in sorted((end - seconds, end) for end, seconds in ends):
        total += max(0.0, end - max(begin, until))
        until = max(until, end)
    return total


@dataclass(frozen=True, kw_only=True)
class RunSearch:
    """The settings of a search that decide which designs are measured."""

    method: str
    seed: int
    budget: int | None
    options: dict[str, Any]
    time_s: float | None


@dataclass(frozen=True, kw_only=True)
class RunRecord:
    """The record of a run that measures, from its first second.

    Attributes
    ----------
    study, search, identity, inputs
        The fields of the study but its search, the settings of the search, the text of the
        evaluator, and the hashes of files by name.  A resumed run has the same.
    question, text, file, overrides
        Question, text, file and overrides of the study.
    planned
        Most designs that are measured.
    unit_names
        Columns that carry the unit of a number of designs, by name.
    arguments
        Options of the command.
    """

    study: dict[str, Any]
    search: RunSearch
    identity: str
    inputs: dict[str, str]
    question: str
    text: str
    file: str
    overrides: list[tuple[str, str]]
    planned: int
    unit_names: dict[str, str]
    arguments: list[str]


@dataclass(frozen=True)
class StoredRun:
    """The content of a run's store: the record of the run, and its measurements in their order.

    `resume` is the command that resumes it.
    """

    folder: Path
    record: RunRecord
    rows: Sequence[StoredMeasurement]
    resume: str

    @property
    def document(self) -> Document:
        """Return the study with its measurements, without a program that measures."""
        one = self.record
        found = override(parse_document(one.text, one.file), one.overrides)
        return replace(found, recorded=recorded_in(self.rows, one.identity))


def recorded_in(rows: Iterable[StoredMeasurement], identity: str) -> RecordedEvaluator:
    """Return the evaluator of a finished run with its own measurements among some."""
    own = [(row.design, row.measurement) for row in rows if row.identity == identity]
    return RecordedEvaluator(identity, own)


@dataclass(frozen=True)
class Working:
    """The way in which designs are measured.

    Attributes
    ----------
    options
        The number of workers or the cluster, the folder (None: a temporary one), and the file in
        which other processes see the progress.
    stop
        Polled while measurements run.  They end if it returns True.
    progress
        Called with each measurement that ends.
    spending
        The time used for measurements, and its limit.
    """

    options: Options
    stop: Stop | None = None
    progress: Progress | None = None
    spending: Spending = field(default_factory=Spending)


Keeping = AbstractContextManager[tuple[Document, Options, str]]
"""Opens the store of a run with its study, options and the command that resumes it, and closes
it."""


@dataclass(frozen=True)
class Measuring:
    """The functions of `dse.measure` that other packages use, whose docstrings describe them."""

    quantities: Callable[
        [StudyFile, Space, Reader], tuple[MeasuredColumns | None, dict[str, Objective]]
    ]
    pool_axes: Callable[[StudyFile, Reader], StudyFile]
    lines: Callable[[Problem, SearchSettings, str], Iterator[str]]
    measures: Callable[
        [Problem, EvaluateSection | None, Working | None, SearchSettings],
        AbstractContextManager[None],
    ]
    keeps: Callable[[WorkingFolder, Document, Options], Keeping]
    carry: Callable[[Path | None, RecordedEvaluator, Path], int]
    rows: Callable[[Path], Sequence[StoredMeasurement]]
    stored: Callable[[Path], StoredRun | None]


def measuring() -> Measuring:
    """Return the wing that measures."""
    found: Measuring = resolve_name("dse.measure.attempts:WING")
    return found
