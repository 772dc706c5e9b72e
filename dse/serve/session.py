"""Requests of a served page: the page itself, exact answers, flip points, maps, the study."""

from __future__ import annotations

import base64
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any

import numpy as np

from dse.algebra import units
from dse.algebra.thresholds import ConstraintThreshold, thresholds_of
from dse.answers.answer import Answer
from dse.answers.design import Pick
from dse.api.answers import answer
from dse.api.changes import flips
from dse.api.pages import begun_page, infeasible_page, page_text
from dse.api.runs import known, run, status, study_of
from dse.api.studies import load
from dse.errors import (
    ArgumentError,
    DseError,
    Fault,
    InfeasibleError,
    OutputError,
    UnitError,
    faults_of,
    nearest,
    quoted,
    refuse,
)
from dse.files.document import Document
from dse.files.json import json_text
from dse.files.whole_folders import under_way
from dse.files.yaml import to_yaml
from dse.parametric.decision_map import DecisionMap, continue_map, find_map, range_around
from dse.parametric.plots import map_svg
from dse.reports import sections
from dse.reports.designs import objective_values
from dse.reports.text import change, in_words, listed
from dse.runs.measurements import require_figures
from dse.runs.record import MANIFEST, read_manifest
from dse.search.settings import budget_of
from dse.study.assumptions import assumptions_of
from dse.study.overrides import override
from dse.study.scenario import field_path
from dse.study.study import Study, ready

SLICE = "4 s"
"""CPU time of one request, so that answers come between two of them."""

MOST_MAPS = 8

HOW = ("prefer", "within")
"""Keys of a question that define the comparison of designs."""

_FIRST = ("workload.rate", "workload.granularity")
"""Numbers of most questions, placed before the rest."""

BRIEF = ("answer", "undemanded", "plausible", "limits", "constraints", "bought")
"""Sections of an answer that a move shows."""


class Moving:
    """A study with movable numbers.

    Attributes
    ----------
    study
        The study as it was read.
    sliders
        Movable numbers, by the path that ``--set`` takes.
    choices
        Choices of the study, as it writes them, by path: a request may fix one.
    """

    def __init__(self, document: Document, *, time: str | None) -> None:
        """Find the movable numbers, and keep `time`, the most CPU time of one answer."""
        self.study = ready(document)
        self.sliders: dict[str, Slider] = {one.path: one for one in sliders_of(self.study)}
        axes = document.section("axes").items()
        self.choices = {path: [*map(str, one)] for path, one in axes if isinstance(one, list)}
        self._time = time
        self._today: Pick | None = None

    def overrides(self, moved: Mapping[str, Any]) -> dict[str, str]:
        """Return the moved values, numbers in SI or texts by path, in the form of ``--set``.

        A request may set nothing else: other fields of a study could run a program, read a
        file or search for hours.

        Raises
        ------
        StudyError
            A path is moved that this study does not have, or to a value of another kind.
        """
        found, faults = {}, []
        for path, value in moved.items():
            try:
                found[path] = self._written(path, value)
            except UnitError as error:
                faults.append(Fault(path, quoted(value), error.rule, error.remedy))
        refuse(faults)
        return found

    def _written(self, path: str, value: Any) -> str:
        if path in self.sliders:
            return self.sliders[path].written(value)
        choices = self.choices.get(path, [])
        if value in choices:
            return str(value)
        known = (value, choices) if choices else (path, [*self.sliders, *self.choices])
        raise UnitError("a page sets sliders and choices of its study alone", nearest(*known))

    def at(self, moved: Mapping[str, Any]) -> Study:
        """Return the study with the moved values."""
        return load(self.study, overrides=self.overrides(moved)) if moved else self.study

    def limited(self, study: Study, limits: Mapping[str, Any]) -> Study:
        """Return a study with limits on its objectives, by name, in SI, as constraints."""
        senses = {goal.name: ">=" if goal.maximise else "<=" for goal in study.problem.goals}
        refuse(
            Fault(
                name, quoted(value), "a page limits objectives of its study", nearest(name, senses)
            )
            for name, value in limits.items()
            if name not in senses
        )
        rules = [
            f"{units.stem(name)} {senses[name]} {units.exact_text(float(value), name)}"
            for name, value in limits.items()
        ]
        written = [*map(str, study.document.data.get("constraints") or ()), *rules]
        return load(study, overrides={"constraints": json_text(written)}) if rules else study

    def answer(
        self,
        moved: Mapping[str, Any],
        prefer: str | None = None,
        within: str | None = None,
        limits: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Return the answer with the moved values, as HTML, and its objectives in SI.

        Raises
        ------
        DseError
            The moved values are invalid, or there was no time.  An infeasible study is no error.
        """
        pairs = self.overrides(moved)
        said: dict[str, Any] = {"set": [f"{path}={value}" for path, value in pairs.items()]}
        try:
            study = self.limited(self.at(moved), limits or {})
            found = self._answered(study, prefer, within)
        except InfeasibleError as error:
            lines = tuple(str(error).split("\n"))
            shown = sections.html("", [sections.Section("infeasible", "", lines)])
            found = {"html": shown}
        sliders = {path: self.sliders[path] for path in moved if path in self.sliders}
        numbers = {path: slider.number(moved[path]) for path, slider in sliders.items()}
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
            goals = (goal.name for goal in study.problem.goals)
            facts["values"] = {name: found.pick.quantities[name] for name in goals}
            if self._today is None and study.document.overrides == self.study.document.overrides:
                self._today = found.pick
            if self._today is not None and self._today.line != found.pick.line:
                facts["regret"] = self._regret(study, self._today, found.pick)
        return facts

    def _regret(self, study: Study, today: Pick, best: Pick) -> str:
        """Return in words the cost of the study's recommended design with the moved values."""
        choices = {
            field_path(name): value if isinstance(value, str) else units.exact_text(value, name)
            for name, value in today.choices.items()
        }
        try:
            moved = load(study, overrides={**today.counts, **choices})
            require_figures(moved)
        except DseError:
            return f"{today.line}, the answer of the study, is no design with these numbers."
        problem = moved.problem
        index = np.zeros((1, len(problem.sizes)), dtype=np.int64)
        found = problem.evaluate(index if today.counts or not problem.stages else problem.hosts)
        if not found.feasible.any():
            return f"{today.line}, the answer of the study, does not meet the constraints here."
        changes = [
            f"{in_words(name)} {units.show(value, name)} ({change(value, best.quantities[name])})"
            for name, value in objective_values(problem, found.loss[0]).items()
        ]
        return f"{today.line}, the answer of the study, would have {listed(changes)}."

    def flips(self, path: str) -> list[dict[str, Any]]:
        """Return the breakpoints of the answer, in SI, as one number moves either way."""
        try:
            found = flips(self.study, only=[self.sliders[path].name], time=self._time)
            (entry,) = found.to_dict()["assumptions"]
        except (DseError, KeyError, ValueError):  # no flips, or a name that several have
            return []
        sides = []
        for facts in (entry["below"], entry["above"]):
            at = next((value for key, value in facts.items() if key.startswith("flips_at")), None)
            if at is not None:
                becomes = facts["becomes"] or "no feasible design"
                sides.append({"at": at, "becomes": becomes})
        return sides


@dataclass(frozen=True)
class Slider:
    """A number of a study that ``--set`` changes.

    Attributes
    ----------
    path
        The path for ``--set``.
    name
        Its name: the path, or the constraint.
    quantity
        A name with the unit of `value` as suffix, in SI.
    bound
        The bound that it is, of a constraint.
    first
        Whether it is placed before the rest.
    whole
        Whether only whole numbers are valid.
    """

    path: str
    name: str
    quantity: str
    value: float
    bound: ConstraintThreshold | None = None
    first: bool = False
    whole: bool = False

    def written(self, value: float | str) -> str:
        """Return the value for ``--set``, from a number in SI or a text as typed."""
        text = value if isinstance(value, str) else units.exact_text(float(value), self.quantity)
        units.parse(text, self.quantity)  # a number, and no list, file or expression
        return text if self.bound is None else self.bound.text(text)

    def number(self, value: float | str) -> float:
        """Return the moved value in SI."""
        return units.parse(value, self.quantity) if isinstance(value, str) else value

    @property
    def around(self) -> str:
        """The range around the value that a map has."""
        return range_around(self.name, self.value, self.quantity, whole=self.whole)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for the page."""
        factor, unit = units.scale([self.value], self.quantity)
        return {
            "path": self.path,
            "words": self.name,
            "value": self.value,
            "factor": factor,
            "unit": unit,
            "first": self.first,
            "whole": self.whole,
        }


def sliders_of(study: Study) -> Iterator[Slider]:
    """Yield the movable numbers: numbers written in the study, and bounds of its constraints."""
    written = study.document.data
    for entry in assumptions_of(study):
        section, _, field = entry.name.partition(".")
        fields = written.get(section)
        plain = entry.touched is None and entry.metric is None and entry.bound is None
        if plain and isinstance(fields, Mapping) and field in fields and entry.value > 0:
            first = entry.name in _FIRST
            yield Slider(
                entry.name,
                entry.name,
                entry.quantity,
                entry.value,
                first=first,
                whole=entry.integer,
            )
    for place, constraint in enumerate(study.problem.constraints):
        bounds = thresholds_of(constraint)
        if len(bounds) == 1 and bounds[0].up != bounds[0].down and bounds[0].value > 0:
            path = f"constraints.{place}"
            (bound,) = bounds
            yield Slider(path, constraint.text, bound.name, bound.value, bound, first=True)


class Session:
    """A study, or a run, as it was read, with questions on moved values.

    Attributes
    ----------
    live
        Whether it is a run, whose folder may still grow.
    moving
        The movable study.  None for a run that goes on, and for a study whose program may not run.
    version
        Number of times it was read: pages of an earlier version are refused.
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
        self._maps: dict[str, DecisionMap] = {}  # that pages have begun
        self.live = source.is_dir() or bool(under_way(source))
        self.read()

    def read(self) -> None:
        """Read it again."""
        if not self.live:
            known(self.source)  # raises if it does not exist
        self.version += 1
        self._text = self._now()
        self.moving: Moving | None = None
        if self.live and status(self.source).state != "finished":
            return
        document = study_of(self.source)
        if document.measures and not self._allow_run:
            if self.live:  # it is shown, and nothing of it is run
                return
            rule = f"{self.source}: its designs are measured by a program of the study"
            raise ArgumentError(f"{rule}; --allow-run lets the page run it")
        self.moving = Moving(document, time=self.time)

    @property
    def sliders(self) -> list[Slider]:
        """Return the sliders of the page."""
        return [*self.moving.sliders.values()] if self.moving is not None else []

    def _is_exact(self) -> bool:
        """Return whether a run ended with a proven front, so that costs of changes are quick."""
        try:
            return bool(read_manifest(self.source).get("exact"))
        except OutputError:
            return False

    def refresh(self) -> None:
        """Read a run again that went on when it was read."""
        if self.live and self.moving is None:
            self.read()

    def _now(self) -> bytes:
        """Return the current content of the source, to detect changes."""
        return b"" if self.live else self.source.read_bytes()

    @property
    def is_changed(self) -> bool:
        """Return whether the study file has changed since it was read."""
        try:
            return self._now() != self._text
        except OSError:
            return True

    def answer(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Return the exact answer with the moved values, or their errors."""
        prefer, within = (str(request[key]) if request.get(key) else None for key in HOW)
        try:
            limits = request.get("limits")
            return self._moves.answer(request.get("moved", {}), prefer, within, limits)
        except DseError as error:
            return {"faults": [*faults_of(error)]}

    @property
    def _moves(self) -> Moving:
        if self.moving is None:
            raise ArgumentError("this run goes on, or its study runs a program: nothing moves here")
        return self.moving

    def flips(self, path: str) -> dict[str, Any]:
        """Return the breakpoints of the answer in SI, as one number moves."""
        return {"flips": self._moves.flips(path)}

    def map(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Return a decision map around the moved values, with more rows each time."""
        prefer, within = (str(request[key]) if request.get(key) else None for key in HOW)
        paths = [str(path) for path in request.get("axes", [])]
        moved = Moving(self._moves.at(request.get("moved", {})).document, time=self.time)
        if len({*paths} & moved.sliders.keys()) != 2:
            raise ArgumentError("a map has two numbers of the study that move")
        study, one, other = moved.study, *(moved.sliders[path] for path in paths)
        key = json_text([study.document.data, *paths, prefer, within])
        before = self._maps.get(key)
        if before is not None:
            found = continue_map(before, budget=budget_of(SLICE))
        else:
            set_ = [] if within is None else [("tolerance", within)]
            document, ranges = override(study.document, set_), (one.around, other.around)
            found = find_map(document, ranges, prefer=prefer, budget=budget_of(self.time))
        self._maps[key] = found
        while len(self._maps) > MOST_MAPS:
            self._maps.pop(next(iter(self._maps)))
        return _drawn(found, (one, other), [*map(str, request.get("hues", []))])

    def page(self, request: Mapping[str, str], *, live: Mapping[str, Any] | None) -> str:
        """Return the page with the set values: of the run, or of a new search."""
        if self.live and not (self.source / MANIFEST).exists() and not request:
            return begun_page(self.source, status(self.source).sections, live=live)
        if self.live and not request:
            return page_text(self.source, live=live, time=self.time, all=self._is_exact())
        study = self._moves.at(request)
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / self.source.stem
            try:
                run(study, out=out, plots=False, time=self.time)
            except InfeasibleError as error:
                return infeasible_page(study, error, live=live)
            return page_text(out, live=live, time=self.time)

    def study_text(self, request: Mapping[str, str]) -> str:
        """Return the study with the set values, below its first comment."""
        document = self._moves.at(request).document
        lines = document.text.lstrip("\ufeff").splitlines()
        leading = takewhile(lambda line: line.startswith("#"), lines)
        return "\n".join([*leading, to_yaml(document.data)])

    def status(self) -> dict[str, Any]:
        """Return how far a run is, as `dse status` prints it."""
        found = status(self.source)
        facts = {section.key: section.facts for section in found.sections}
        html = sections.html("", found.sections)
        return {"state": found.state, "html": html, "axes": facts.get("axes")}


def _drawn(found: DecisionMap, sliders: tuple[Slider, Slider], hues: list[str]) -> dict[str, Any]:
    """Return the picture of a map in base 64, and the ends of its axes in it and in SI.

    `hues` are the texts that have colours on the page.
    """
    svg, frame = map_svg(found, hues)
    return {
        "axes": [slider.to_dict() for slider in sliders],
        "ends": found.ranges,
        "svg": base64.b64encode(svg).decode("ascii"),
        "frame": frame,
        "shares": found.shares,
        "rows": len(found.rows),
        "more": bool(found.unfinished),
    }
