"""The answers of a study, and the fronts of other sources."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from dse.files.document import Document
from dse.files.inputs import Input
from dse.model.evaluation import Ledger
from dse.model.space import Index
from dse.model.volume import NO_VOLUME, Volume
from dse.search.outcome import FAILING, INTERRUPTED, Outcome
from dse.search.settings import SearchSettings
from dse.study.goals import Options as Options
from dse.study.overrides import Sweep
from dse.study.study import Study, prepare, whole_document


@dataclass(frozen=True)
class Quality:
    """The hypervolume of a front.

    Attributes
    ----------
    reference, hypervolume
        The reference point in units of the losses, and the volume up to it as a share of the box
        between the front's best values and the reference.
    share
        The hypervolume as a share of the exact front's, None if that is unknown.
    at_least
        A proven lower bound of the share, or None.
    """

    reference: tuple[float, ...] = ()
    hypervolume: Volume = NO_VOLUME
    share: Volume | None = None
    at_least: Volume | None = None


@dataclass(frozen=True)
class SolvedStudy:
    """The front of one study, or of one value of a sweep.

    Attributes
    ----------
    study
        The study.
    outcome
        The result of the search, with the front in the order of front.csv.
    quality
        The hypervolume, if a run writes the front.
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
        """Return whether any design is feasible, at any value of a sweep."""
        return any(answer.outcome.feasible for answer in self.answers)

    @property
    def interrupted(self) -> bool:
        """Return whether the search was stopped before its end."""
        ways = INTERRUPTED, FAILING
        return any(answer.outcome.certificate.way in ways for answer in self.answers)

    @property
    def failing(self) -> str:
        """Return the reason of a stop after too many failed designs, or an empty text."""
        found = (answer.outcome.certificate for answer in self.answers)
        return next((one.reason for one in found if one.way == FAILING), "")

    @property
    def ledger(self) -> Ledger:
        """Return the ledger of all values of a sweep together."""
        return sum((answer.outcome.ledger for answer in self.answers), Ledger())

    @property
    def first(self) -> Study:
        """Return the study of the first value of a sweep."""
        return self.answers[0].study


@dataclass(frozen=True)
class KnownFront:
    """The front of one study from any source, with facts `found` by its search."""

    study: Study
    front: Index
    found: Mapping[str, Any]


@dataclass(frozen=True)
class KnownFronts:
    """The fronts of a study, one for each value of its sweep, and options of further searches."""

    points: tuple[KnownFront, ...]
    sweep: Sweep | None
    options: Options


def inputs_of(studies: Iterable[Study]) -> dict[str, Input]:
    """Return the files that studies name."""
    return {name: entry for study in studies for name, entry in study.inputs.items()}
