"""Whether what a study leaves out decides the answer: searched with figures of the catalogue."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from dse import search
from dse.errors import TooLargeError
from dse.model.preference import Preference
from dse.model.space import Index
from dse.parametric.flips import NOTHING_FITS, not_checked
from dse.parametric.tracking import AnswerDesigns, TrackedAnswer, answer_among
from dse.reports.designs import parts
from dse.reports.sections import Section
from dse.reports.words import listed, plural, unit_suffix
from dse.search.budget import Budget
from dse.search.exact.work import limited
from dse.study.study import Study
from dse.study.unspecified import UnspecifiedFigure, unspecified_figures

HEADERS = ("unspecified", "assumed", "tried", "answer then")
UNCHANGED = "the same"


@dataclass(frozen=True)
class Probe:
    """A figure that is left out, the values tried, and the answer at the last of them.

    `becomes` is empty where no value changes the answer.
    """

    figure: UnspecifiedFigure
    tried: tuple[float, ...]
    becomes: tuple[str, ...] = ()

    @property
    def row(self) -> tuple[str, ...]:
        """The probe as a row of `HEADERS`; (!) marks what decides."""
        name = f"{self.figure.name} (!)" if self.becomes else self.figure.name
        shown = ", ".join(self.figure.show(value) for value in self.tried)
        return name, self.figure.words, shown, ", ".join(self.becomes) or UNCHANGED

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON."""
        return {
            "field": self.figure.name,
            "assumed": self.figure.words,
            f"tried{unit_suffix(self.figure.quantity)}": list(self.tried),
            "decides": bool(self.becomes),
            "becomes": ", ".join(self.becomes) or None,
        }


def unspecified_section(
    study: Study,
    front: Index,
    preference: Preference,
    *,
    exact: bool,
    budget: Budget | None = None,
) -> Section | None:
    """Return whether what a study leaves out decides the answer, None where nothing is.

    `exact` says whether the `front`, (n, d), is proven; only then searches can be compared.  It
    stops when the time is over.
    """
    figures = tuple(unspecified_figures(study)) if exact else ()
    if not figures:
        return None
    budget = budget or Budget()
    probes = tuple(_probes(study, figures, front, preference, budget))
    unlooked = [figure.name for figure in figures[len(probes) :]]
    line = (
        "Each was set alone to the middle figure of the catalogue, then to the least and the "
        "largest, until another design is the answer. (!) marks what decides."
    )
    return Section(
        "unspecified",
        "Unspecified inputs",
        (line,),
        HEADERS,
        tuple(probe.row for probe in probes),
        (not_checked(unlooked, budget.seconds),) if unlooked else (),
        facts=[probe.to_dict() for probe in probes],
        brief=_brief(probes, unlooked),
    )


def _brief(probes: Sequence[Probe], unlooked: Sequence[str]) -> tuple[str, ...]:
    """Return which unspecified inputs decide, and how many were not examined."""
    deciding = [f"{probe.figure.name} ({probe.figure.words})" for probe in probes if probe.becomes]
    lines = [f"Not specified, but decisive: {listed(deciding)}."] * bool(deciding)
    if unlooked:
        lines.append(f"Not specified, and not examined in time: {plural(len(unlooked), 'input')}.")
    return tuple(lines)


def _probes(
    study: Study,
    figures: Sequence[UnspecifiedFigure],
    front: Index,
    preference: Preference,
    budget: Budget,
) -> Iterator[Probe]:
    """Yield what each figure does, as far as there is time."""
    tracked = TrackedAnswer(preference)
    answer = answer_among(study.problem, front, tracked)
    for figure in figures:
        try:
            with limited(seconds=budget.left_s, byte=budget.byte) as work:
                probe = _probe(study, figure, tracked, answer, figure.typical)
        except TooLargeError:
            if not work.ended:
                raise
            return
        yield probe


def _probe(
    study: Study,
    figure: UnspecifiedFigure,
    tracked: TrackedAnswer,
    answer: AnswerDesigns,
    values: tuple[float, ...],
) -> Probe:
    settings = search.SearchSettings(method="exact")
    for number, value in enumerate(values, 1):
        problem = figure.change(study.problem, value)
        found = search.run_search(problem, settings).front_index
        new = answer_among(problem, found, tracked)
        if new.keys != answer.keys:
            becomes = parts(problem, new.rows)[0] if len(new.rows) else (NOTHING_FITS,)
            return Probe(figure, values[:number], becomes)
    return Probe(figure, values)
