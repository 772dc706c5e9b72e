"""The contract of measuring: parsing `evaluate:`, measuring, listing and opening measurements.

`dse.measure` is found by its name, and only where a study or a folder has something measured.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from dse.contract import Objective
from dse.contract.evaluators import Measurement, RecordedEvaluator, Value
from dse.files.document import Document, parse_document
from dse.files.whole_folders import WorkingFolder
from dse.model.measured import MeasuredColumns, Spending
from dse.model.problem import Problem
from dse.model.space import Space
from dse.search import Progress, SearchSettings, Stop
from dse.study.overrides import override
from dse.study.reader import Reader
from dse.study.schema import EvaluateSection, StudyFile
from dse.study.search_section import Options

STORE = "evaluations.sqlite"
STORE_FILES = (STORE, *(f"{STORE}-{end}" for end in ("wal", "shm", "journal", "new")))
"""What a store has in the folder of a run; all but the first while it is open, or was killed."""

MEASURING = "measuring"
STORED = (*STORE_FILES, MEASURING)
"""What a run that measures has in its folder from the first measurement on: its store, and the
working folders of designs that failed."""


@dataclass(frozen=True, kw_only=True)
class StoredMeasurement:
    """A measurement and what it is of.

    Attributes
    ----------
    number
        The how-manieth it is in its store, from 1.
    key, identity, design
        See `dse.contract.evaluators.key`.
    measurement
        What came of it.
    kept_at
        When, in UTC and ISO 8601.
    """

    number: int
    key: str
    identity: str
    design: Mapping[str, Value]
    measurement: Measurement
    kept_at: str


def time_measuring(rows: Iterable[StoredMeasurement]) -> float:
    """Return the time in seconds during which at least one of some measurements ran.

    From when each was kept and how long it took; waiting between two attempts counts as running,
    and values of other runs do not count.
    """
    ends = [
        (datetime.fromisoformat(row.kept_at).timestamp(), row.measurement.seconds)
        for row in rows
        if row.measurement.attempts
    ]
    total, until = 0.0, -math.inf
    for begin, end in sorted((end - seconds, end) for end, seconds in ends):
        total += max(0.0, end - max(begin, until))
        until = max(until, end)
    return total


@dataclass(frozen=True)
class StoredRun:
    """What lies in the store of a run: what the run is, and its measurements in their order.

    `resume` is the command that goes on with it.
    """

    folder: Path
    facts: Mapping[str, Any]
    rows: tuple[StoredMeasurement, ...]
    resume: str

    @property
    def document(self) -> Document:
        """The study, with what was measured of it; nothing measures any more."""
        run = self.facts["run"]
        identity, pairs = run["identity"], [(path, str(to)) for path, to in run["overrides"]]
        own = [(one.design, one.measurement) for one in self.rows if one.identity == identity]
        found = override(parse_document(run["text"], run["file"]), pairs)
        return replace(found, recorded=RecordedEvaluator(identity, own))

    def unit_names(self, row: StoredMeasurement) -> Mapping[str, str]:
        """Return what numbers of a design are in; nothing where another run measured it."""
        run = self.facts["run"]
        names: Mapping[str, str] = run["unit_names"] if row.identity == run["identity"] else {}
        return names


@dataclass(frozen=True)
class Working:
    """How designs are measured.

    Attributes
    ----------
    options
        By how many workers, or which cluster, in which folder (None: a temporary one, of which
        nothing stays), and in which file other processes see how far it is.
    stop
        Polled while measurements run: whether they are to end.
    progress
        Called with each measurement that ends.
    spending
        What measuring takes, and may.
    """

    options: Options
    stop: Stop | None = None
    progress: Progress | None = None
    spending: Spending = field(default_factory=Spending)


Keeping = AbstractContextManager[tuple[Document, Options]]
"""Opens the store of a run, and closes it: with the study and how it is run."""


@dataclass(frozen=True)
class Measuring:
    """All that other packages use of `dse.measure`.

    Attributes
    ----------
    quantities
        Returns what measures the designs of a study, and what it tells of them; faults are added.
    pool_axes
        Returns a study whose axes are the columns of its pool of designs.
    lines
        Yields what measures the designs of a study, and what that takes at most; the last argument
        is said of counts where the study runs for each value of a sweep.
    measures
        Lets a search measure designs inside, and refuses that without a `Working`.
    keeps
        Returns the command that goes on with a run, and what keeps its measurements.
    carry
        Gives the second folder of a run the measurements that were kept in the first.
    stored
        Returns what lies in the store of a run, which may go on meanwhile.
    """

    quantities: Callable[
        [StudyFile, Space, Reader], tuple[MeasuredColumns | None, dict[str, Objective]]
    ]
    pool_axes: Callable[[StudyFile, Reader], StudyFile]
    lines: Callable[[Problem, SearchSettings, str], Iterator[str]]
    measures: Callable[
        [Problem, EvaluateSection | None, Working | None, SearchSettings],
        AbstractContextManager[None],
    ]
    keeps: Callable[[WorkingFolder, Document, Options], tuple[str, Keeping]]
    carry: Callable[[Path, Path], None]
    stored: Callable[[Path], StoredRun]


def measuring() -> Measuring:
    """Return the wing that measures."""
    found: Measuring = resolve_name("dse.measure.public:WING")
    return found
