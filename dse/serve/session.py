"""What a served page asks of the program: itself, exact answers, flip points, the study."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dse.algebra import units
from dse.answers.design import Pick
from dse.api.answers import answer
from dse.api.changes import flips
from dse.api.reports import begun_page, infeasible_page, page_text
from dse.api.results import Answer
from dse.api.runs import status
from dse.api.sources import known, study_of
from dse.api.studies import evaluate, load, run
from dse.errors import ArgumentError, DseError, InfeasibleError, OutputError, faults_of
from dse.files.document import Document
from dse.files.working import under_way
from dse.files.yaml import block_yaml
from dse.reports import sections
from dse.reports.words import change, in_words, listed
from dse.runs.finished import read_manifest
from dse.runs.stopping import stop_run
from dse.serve.sliders import Slider, sliders_of
from dse.study.overrides import override
from dse.study.scenario import field_path
from dse.study.study import Study, ready

BRIEF = ("answer", "undemanded", "plausible", "limits", "constraints", "bought")
"""Sections of an answer that a move shows."""


class Session:
    """A study, or a run, as it was read; what moves is a question to the study.

    Attributes
    ----------
    live
        Whether it is a run, whose folder may still grow.
    version
        How often it was read: pages of an earlier version are refused.
    """

    def __init__(self, source: Path, *, allow_run: bool, time: str) -> None:
        """Read it.

        Raises
        ------
        DseError
            It cannot be read, or a study runs a program and `allow_run` does not hold.
        """
        self.source, self.time, self.version = source, time, 0
        self._allow_run = allow_run
        self.live = source.is_dir() or bool(under_way(source))
        self.read()

    def read(self) -> None:
        """Read it again."""
        if not self.live:
            known(self.source)  # refuses what is not there
        self.version += 1
        self._text = self._now()
        self.document: Document | None = None
        self.sliders: dict[str, Slider] = {}
        if self.live and status(self.source).state != "finished":
            return
        document = study_of(self.source)
        if document.measures and not self._allow_run:
            if self.live:  # it is shown, and nothing of it is run
                return
            rule = f"{self.source}: its designs are measured by a program of the study"
            raise ArgumentError(f"{rule}; --allow-run lets the page run it")
        study = ready(document)
        self.document = document
        self.sliders = {one.path: one for one in sliders_of(study)}
        self.goals = [goal.name for goal in study.problem.goals]
        self._today: Pick | None = None

    def _is_exact(self) -> bool:
        """Whether a run ended with a proven front: what else would cost is then found in time."""
        try:
            return bool(read_manifest(self.source).get("exact"))
        except OutputError:
            return False

    def refresh(self) -> None:
        """Read a run again that went on when it was read."""
        if self.live and self.document is None:
            self.read()

    def _now(self) -> bytes:
        """Return what is at the source now, to tell whether it was changed."""
        return b"" if self.live else self.source.read_bytes()

    @property
    def is_changed(self) -> bool:
        """Whether the study file is another one than was read."""
        try:
            return self._now() != self._text
        except OSError:
            return True

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

    def answer(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Return the exact answer with what was moved, or the faults of that."""
        moved = request.get("moved", {})
        try:
            pairs = self.overrides(moved)
            said: dict[str, Any] = {"set": [f"{path}={value}" for path, value in pairs.items()]}
            found = self._answer(pairs, request.get("prefer"), request.get("within"))
            numbers = {path: self.sliders[path].number(value) for path, value in moved.items()}
            return said | {"numbers": numbers} | found
        except InfeasibleError as error:
            lines = tuple(str(error).split("\n"))
            return said | {"html": sections.html("", [sections.Section("infeasible", "", lines)])}
        except DseError as error:
            return {"faults": [*faults_of(error)]}

    def _answer(self, pairs: dict[str, str], prefer: Any, within: Any) -> dict[str, Any]:
        study = load(self._document, overrides=pairs) if pairs else self._document
        found = answer(
            study,
            prefer=str(prefer) if prefer else None,
            tolerance=str(within) if within else None,
            all=False,
            flips=False,
            time=self.time,
        )
        shown = [one for one in found.sections if one.key in BRIEF or not isinstance(found, Answer)]
        brief = [sections.Section(one.key, lines=one.brief or one.lines) for one in shown]
        facts: dict[str, Any] = {"html": sections.html("", brief), "exact": True}
        if isinstance(found, Answer):
            facts["pick"] = found.pick.line
            if self._today is None and not pairs:
                self._today = found.pick
            if self._today is not None and self._today.line != found.pick.line:
                facts["regret"] = self._regret(study, found.pick)
        return facts

    def _regret(self, study: Study, best: Pick) -> str:
        """Say what the design that the study recommends as it stands would cost instead."""
        today = self._today
        if today is None:
            return ""
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
            for name in self.goals
            if name in values
        ]
        return f"{today.line}, the answer of the study, would have {listed(changes)}."

    @property
    def _document(self) -> Study:
        if self.document is None:
            raise ArgumentError("this run goes on, or its study runs a program: nothing moves here")
        return ready(self.document)

    def flips(self, path: str) -> dict[str, Any]:
        """Return where the answer changes as one number moves alone, in SI."""
        try:
            found_flips = flips(self._document, only=[path], time=self.time)
            (entry,) = found_flips.to_dict()["assumptions"]
        except (DseError, ValueError):  # none, or a name that several have
            return {"flips": []}
        found = []
        for side in ("below", "above"):
            facts = entry[side]
            at = next((v for k, v in facts.items() if k.startswith("flips_at")), None)
            if at is not None:
                found.append({"at": at, "becomes": facts["becomes"] or "no feasible design"})
        return {"flips": found}

    def page(self, request: Mapping[str, str], *, live: Mapping[str, Any] | None) -> str:
        """Return the page with what was set: of the run, or of a search that is made now."""
        if self.live and not self.source.is_dir():
            return begun_page(self.source, status(self.source).sections, live=live)
        if self.live and not request:
            return page_text([self.source], live=live, time=self.time, all=self._is_exact())
        study = load(self._document, overrides=dict(request)) if request else self._document
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / self.source.stem
            try:
                run(study, out=out, plots=False)
            except InfeasibleError as error:
                return infeasible_page(study, error, live=live)
            return page_text([out], live=live, time=self.time)

    def study_text(self, request: Mapping[str, str]) -> str:
        """Return the study with what was set, below its own first comment."""
        document = override(self._document.document, [*request.items()])
        leading = document.text.splitlines()[: _leading(document.text)]
        return "\n".join([*leading, block_yaml(document.data)])

    def status(self) -> dict[str, Any]:
        """Return how far a run is, as `dse status` prints it."""
        found = status(self.source)
        return {"state": found.state, "html": sections.html("", found.sections)}

    def stop(self) -> dict[str, Any]:
        """End a run as Ctrl-C does."""
        try:
            stop_run(self.source)
        except OutputError as error:
            return {"faults": [*faults_of(error)]}
        return {}


def _leading(text: str) -> int:
    """Return how many lines of comment a text begins with."""
    lines = text.splitlines()
    return next((n for n, line in enumerate(lines) if not line.startswith("#")), len(lines))
