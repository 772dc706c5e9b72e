"""What a call says over the search of a study, and what a run has found."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dse.contract import Method
from dse.errors import ArgumentError
from dse.files.document import Document
from dse.files.inputs import Input
from dse.model.evaluation import Ledger
from dse.model.measured import Spending
from dse.model.space import Index
from dse.model.volume import NOTHING, Volume
from dse.plugins import registry
from dse.search.outcome import FAILING, INTERRUPTED, Outcome
from dse.search.settings import SearchSettings
from dse.study.overrides import Sweep
from dse.study.study import Study, prepare, whole_document


@dataclass(frozen=True, kw_only=True)
class Options:
    """What a call may say over the search section of its study, and of measuring its designs.

    These are measured only where `measures` says so, `workers` at once or by the
    cluster whose scheduler is at `dask`, in folders in `folder`; the file `record` then tells
    other processes how far it is.  Earlier processes of this run have measured for `spent_s`.
    With what was measured before, `resume` goes on where it lies, and `fresh` removes it; values
    of the runs in `reuse` are taken where they hold.
    """

    method: str | None = None
    seed: int | None = None
    budget: int | None = None
    effort_s: float | None = None
    memory_byte: float | None = None
    workers: int | None = None
    dask: str | None = None
    folder: Path | None = None
    record: Path | None = None
    measures: bool = False
    spent_s: float = 0.0
    resume: bool = False
    fresh: bool = False
    reuse: tuple[Path, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what excludes each other."""
        if self.workers is not None and self.dask is not None:
            raise ArgumentError(
                "workers and dask: a Dask cluster has workers of its own; give --workers to "
                "measure on this machine or --dask to measure on the cluster (`workers` or `dask` "
                "in Python), not both"
            )

    def apply(self, settings: SearchSettings) -> SearchSettings:
        """Return `settings` with what is given here."""
        names = ("method", "seed", "budget", "effort_s", "memory_byte")
        own = {name: getattr(self, name) for name in names}
        given = {name: value for name, value in own.items() if value is not None}
        if self.method not in (None, settings.method):
            given["options"] = {}  # those of the study are of its own method
        if settings.assumed and registry.get(Method, self.method or settings.method).proves:
            given.setdefault("budget", None)
        return replace(settings, **given)

    def spending(self, settings: SearchSettings) -> Spending:
        """Return what measuring may take in a run that is searched so, and has taken."""
        time_s = math.inf if settings.time_s is None else settings.time_s
        return Spending(time_s=time_s, spent_s=self.spent_s)


@dataclass(frozen=True)
class Quality:
    """How good a front is.

    Attributes
    ----------
    reference, hypervolume
        The reference point in the units of the losses, and the volume up to it as a share of
        the box between the front's best values and the reference.
    share
        The hypervolume as a share of the exact front's, None when that is not known.
    at_least
        A share that it surely has: `share` where that is known; None when nothing is proven.
    """

    reference: tuple[float, ...] = ()
    hypervolume: Volume = NOTHING
    share: Volume | None = None
    at_least: Volume | None = None


@dataclass(frozen=True)
class SolvedStudy:
    """The front of one study, or of one value of a sweep.

    Attributes
    ----------
    study
        The question.
    outcome
        What the search found; the front in the order in which it is written.
    quality
        How good the front is; nothing is known of those that no run writes.
    seconds
        Wall time of the search.
    """

    study: Study
    outcome: Outcome
    quality: Quality
    seconds: float

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the study, at this value of its sweep, as it is written; it is read again."""
        whole = whole_document(self.study.document, [self.study])
        return _read_again, (whole, self.outcome, self.quality, self.seconds)


def _read_again(whole: Document, *found: Any) -> SolvedStudy:
    return SolvedStudy(prepare(whole), *found)


@dataclass(frozen=True)
class Run:
    """All answers of a study, one per value of its sweep."""

    document: Document
    sweep: Sweep | None
    answers: tuple[SolvedStudy, ...]
    settings: SearchSettings
    seconds: float

    @property
    def feasible(self) -> bool:
        """Whether any design is, at any value of a sweep."""
        return any(answer.outcome.feasible for answer in self.answers)

    @property
    def interrupted(self) -> bool:
        """Whether the search was stopped before it was done."""
        ways = INTERRUPTED, FAILING
        return any(answer.outcome.certificate.way in ways for answer in self.answers)

    @property
    def failing(self) -> str:
        """Why it stopped where too many designs failed; empty where they did not."""
        found = (answer.outcome.certificate for answer in self.answers)
        return next((one.reason for one in found if one.way == FAILING), "")

    @property
    def ledger(self) -> Ledger:
        """What is known of the designs, of all values of a sweep together."""
        return sum((answer.outcome.ledger for answer in self.answers), Ledger())

    @property
    def first(self) -> Study:
        """The study of the first answer; the others differ in the swept field only."""
        return self.answers[0].study


@dataclass(frozen=True)
class KnownFront:
    """The front of one study, wherever it comes from; `found` is known of its search."""

    study: Study
    front: Index
    found: Mapping[str, Any]


@dataclass(frozen=True)
class KnownFronts:
    """The fronts of a study, one for every value of its sweep; and how to search further."""

    points: tuple[KnownFront, ...]
    sweep: Sweep | None
    options: Options


def inputs_of(studies: Iterable[Study]) -> dict[str, Input]:
    """Return the files that a study names, at any value of its sweep."""
    return {name: entry for study in studies for name, entry in study.inputs.items()}
