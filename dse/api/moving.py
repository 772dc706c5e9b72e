"""The answer of a study as its numbers move, as a page shows it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dse.algebra import units
from dse.answers.design import Pick
from dse.api.answers import answer
from dse.api.changes import flips
from dse.api.results import Answer
from dse.api.studies import evaluate, load
from dse.errors import ArgumentError, DseError, InfeasibleError
from dse.files.document import Document
from dse.page.sliders import Slider, sliders_of
from dse.reports import sections
from dse.reports.text import change, in_words, listed
from dse.study.scenario import field_path
from dse.study.study import Study, ready

BRIEF = ("answer", "undemanded", "plausible", "limits", "constraints", "bought")
"""Sections of an answer that a move shows."""


class Moving:
    """A study of which numbers move.

    Attributes
    ----------
    document
        The study as it was read.
    sliders
        What moves, by the path that ``--set`` takes.
    """

    def __init__(self, document: Document, *, time: str | None) -> None:
        """Find what moves; `time` is the most CPU time of one answer."""
        study = ready(document)
        self.document = document
        self.sliders: dict[str, Slider] = {one.path: one for one in sliders_of(study)}
        self._goals = [goal.name for goal in study.problem.goals]
        self._time = time
        self._today: Pick | None = None

    @property
    def study(self) -> Study:
        """The study as it was read."""
        return ready(self.document)

    def overrides(self, moved: Mapping[str, Any]) -> dict[str, str]:
        """Return what was moved, numbers in SI or texts by path, as ``--set`` takes it.

        Raises
        ------
        ArgumentError
            Something is moved that this study does not have.
        """
        unknown = [path for path in moved if path not in self.sliders]
        if unknown:
            raise ArgumentError(f"{unknown[0]}: this study has nothing of that name to move")
        return {path: self.sliders[path].written(value) for path, value in moved.items()}

    def answer(
        self, moved: Mapping[str, Any], prefer: str | None = None, within: str | None = None
    ) -> dict[str, Any]:
        """Return the answer with what was moved, as HTML.

        Raises
        ------
        DseError
            When what was moved makes no sense, or there was no time; not where nothing fits.
        """
        pairs = self.overrides(moved)
        said: dict[str, Any] = {"set": [f"{path}={value}" for path, value in pairs.items()]}
        try:
            study = load(self.study, overrides=pairs) if pairs else self.study
            found = self._answered(study, prefer, within)
        except InfeasibleError as error:
            lines = tuple(str(error).split("\n"))
            shown = sections.html("", [sections.Section("infeasible", "", lines)])
            found = {"html": shown}
        numbers = {path: self.sliders[path].number(value) for path, value in moved.items()}
        return said | {"numbers": numbers} | found

    def _answered(self, study: Study, prefer: str | None, within: str | None) -> dict[str, Any]:
        found = answer(
            study, prefer=prefer, tolerance=within, all=False, flips=False, time=self._time
        )
        shown = [one for one in found.sections if one.key in BRIEF or not isinstance(found, Answer)]
        brief = [sections.Section(one.key, lines=one.brief or one.lines) for one in shown]
        facts: dict[str, Any] = {"html": sections.html("", brief)}
        if isinstance(found, Answer):
            facts["pick"] = found.pick.line
            if self._today is None and study.document.overrides == self.document.overrides:
                self._today = found.pick
            if self._today is not None and self._today.line != found.pick.line:
                facts["regret"] = self._regret(study, self._today, found.pick)
        return facts

    def _regret(self, study: Study, today: Pick, best: Pick) -> str:
        """Say what the design that the study recommends as it stands would cost instead."""
        choices = {
            field_path(name): value if isinstance(value, str) else units.exact_text(value, name)
            for name, value in today.choices.items()
        }
        try:
            terms = evaluate(study, {**today.counts, **choices})
        except DseError:
            return f"{today.line}, the answer of the study, is no design with these numbers."
        if not terms.feasible:
            return f"{today.line}, the answer of the study, does not meet the constraints here."
        values = {t.name: t.value for t in terms.terms if isinstance(t.value, float)}
        changes = [
            f"{in_words(name)} {units.show(values[name], name)} "
            f"({change(values[name], best.quantities[name])})"
            for name in self._goals
            if name in values
        ]
        return f"{today.line}, the answer of the study, would have {listed(changes)}."

    def flips(self, path: str) -> list[dict[str, Any]]:
        """Return where, in SI, the answer changes as one number moves alone, either way."""
        try:
            found = flips(self.study, only=[self.sliders[path].name], time=self._time)
            (entry,) = found.to_dict()["assumptions"]
        except (DseError, KeyError, ValueError):  # none, or a name that several have
            return []
        sides = []
        for facts in (entry["below"], entry["above"]):
            at = next((value for key, value in facts.items() if key.startswith("flips_at")), None)
            if at is not None:
                becomes = facts["becomes"] or "no feasible design"
                sides.append({"at": at, "becomes": becomes})
        return sides
