"""What a served page asks of the program: itself, exact answers, flip points, maps, the study."""

from __future__ import annotations

import math
import os
import platform
import signal
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from itertools import takewhile
from pathlib import Path
from typing import Any

from dse.algebra import units
from dse.api.arguments import known, study_of
from dse.api.changes import decision_map
from dse.api.moving import Moving
from dse.api.pages import begun_page, infeasible_page, page_text
from dse.api.studies import load, run, status
from dse.errors import ArgumentError, DseError, InfeasibleError, OutputError, faults_of
from dse.files.json import json_text
from dse.files.whole_folders import under_way
from dse.files.yaml import block_yaml
from dse.page.sliders import Slider
from dse.parametric.decision_map import DecisionMap
from dse.parametric.flips import NOTHING_FITS
from dse.reports import sections
from dse.reports.drawing import FILLS
from dse.runs.finished import read_manifest
from dse.runs.run_files import begun_manifest
from dse.study.overrides import override

SPAN = 4.0
"""Each number of a map goes from its value divided by this to that multiplied by it."""

SLICE = "4 s"
"""CPU time of one request, so that answers come between two of them."""

MOST_MAPS = 8

HOW = ("prefer", "within")
"""What of a question says how designs are compared."""


class Session:
    """A study, or a run, as it was read; what moves is a question to the study.

    Attributes
    ----------
    live
        Whether it is a run, whose folder may still grow.
    moving
        What moves; None of a run that goes on, and of a study whose program may not run.
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
        self._maps: dict[str, str] = {}  # that pages have begun, each as its JSON
        self.live = source.is_dir() or bool(under_way(source))
        self.read()

    def read(self) -> None:
        """Read it again."""
        if not self.live:
            known(self.source)  # refuses what is not there
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
        """What the page moves."""
        return [*self.moving.sliders.values()] if self.moving is not None else []

    def _is_exact(self) -> bool:
        """Whether a run ended with a proven front: what else would cost is then found in time."""
        try:
            return bool(read_manifest(self.source).get("exact"))
        except OutputError:
            return False

    def refresh(self) -> None:
        """Read a run again that went on when it was read."""
        if self.live and self.moving is None:
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

    def answer(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Return the exact answer with what was moved, or the faults of that."""
        prefer, within = (str(request[key]) if request.get(key) else None for key in HOW)
        try:
            return self._moves.answer(request.get("moved", {}), prefer, within)
        except DseError as error:
            return {"faults": [*faults_of(error)]}

    @property
    def _moves(self) -> Moving:
        if self.moving is None:
            raise ArgumentError("this run goes on, or its study runs a program: nothing moves here")
        return self.moving

    def flips(self, path: str) -> dict[str, Any]:
        """Return where the answer changes as one number moves alone, in SI."""
        return {"flips": self._moves.flips(path)}

    def map(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Return a decision map around what was moved, with more rows each time."""
        prefer, within = (str(request[key]) if request.get(key) else None for key in HOW)
        paths = [str(path) for path in request.get("axes", [])]
        pairs = self._moves.overrides(request.get("moved", {}))
        moved = Moving(load(self._moves.study, overrides=pairs).document, time=self.time)
        if len({*paths} & moved.sliders.keys()) != 2:
            raise ArgumentError("a map has two numbers of the study that move")
        study, one, other = moved.study, *(moved.sliders[path] for path in paths)
        key = json_text([study.document.data, *paths, prefer, within])
        before = self._maps.get(key)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "map.json")
            if before is not None:
                file.write_text(before, encoding="utf-8")
            found = decision_map(
                study,
                _range(one),
                _range(other),
                prefer=prefer,
                tolerance=within,
                known=None if before is None else file,
                time=self.time if before is None else SLICE,
            )
        self._maps[key] = json_text(found.to_dict())
        while len(self._maps) > MOST_MAPS:
            self._maps.pop(next(iter(self._maps)))
        return _drawn(found, (one, other))

    def page(self, request: Mapping[str, str], *, live: Mapping[str, Any] | None) -> str:
        """Return the page with what was set: of the run, or of a search that is made now."""
        if self.live and not self.source.is_dir():
            return begun_page(self.source, status(self.source).sections, live=live)
        if self.live and not request:
            return page_text(self.source, live=live, time=self.time, all=self._is_exact())
        study = load(self._moves.study, overrides=dict(request)) if request else self._moves.study
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / self.source.stem
            try:
                run(study, out=out, plots=False)
            except InfeasibleError as error:
                return infeasible_page(study, error, live=live)
            return page_text(out, live=live, time=self.time)

    def study_text(self, request: Mapping[str, str]) -> str:
        """Return the study with what was set, below its own first comment."""
        document = override(self._moves.study.document, [*request.items()])
        leading = takewhile(lambda line: line.startswith("#"), document.text.splitlines())
        return "\n".join([*leading, block_yaml(document.data)])

    def status(self) -> dict[str, Any]:
        """Return how far a run is, as `dse status` prints it."""
        found = status(self.source)
        facts = {section.key: section.facts for section in found.sections}
        pictures = {"growth": facts.get("hypervolume"), "axes": facts.get("axes")}
        shown = [section for section in found.sections if section.key != "hypervolume"]
        return {"state": found.state, "html": sections.html("", shown)} | pictures

    def stop(self) -> dict[str, Any]:
        """End a run as Ctrl-C does."""
        stop_run(self.source)
        return {}


def _range(slider: Slider) -> str:
    ends = (slider.value / SPAN, slider.value * SPAN)
    if slider.whole:
        ends = (max(math.floor(ends[0]), 1.0), math.ceil(ends[1]))
    low, high = (units.exact_text(value, slider.quantity) for value in ends)
    return f"{slider.name}={low}..{high}"


def _drawn(found: DecisionMap, sliders: tuple[Slider, Slider]) -> dict[str, Any]:
    """Return what a page draws: areas by answer, each with a colour; numbers in SI."""
    answers = [name for name in found.shares if name != NOTHING_FITS]
    cells = [
        {"from": cell.low, "to": cell.high, "low": low, "high": high, "answer": name}
        for (low, high), row in zip(found.bands(), found.rows, strict=True)
        for name, cell in zip(row.names, row.intervals, strict=True)
    ]
    return {
        "axes": [slider.to_dict() for slider in sliders],
        "ends": found.ranges,
        "cells": cells,
        "colours": dict(zip(answers, FILLS, strict=False)),
        "shares": found.shares,
        "rows": len(found.rows),
        "more": bool(found.unfinished),
    }


PROCESSES = Path("/proc")


def stop_run(folder: Path) -> None:
    """Send the process that writes a run one SIGTERM, which it obeys as Ctrl-C.

    Raises
    ------
    OutputError
        The run does not go on, or not in a process of this machine that surely writes it.
    """
    path, alive = under_way(folder) or (folder, False)
    if not alive:
        raise OutputError(f"{folder}: no process writes this run")
    watch = begun_manifest(path)
    process = watch.get("process")
    # What a folder says is no reason to end a process: it must hold the folder open as well.
    if watch.get("host") != platform.node() or not _holds(process, path):
        raise OutputError(f"{folder}: it is not written by a process that is surely its own")
    # A run that a shell started in the background ignores SIGINT.
    os.kill(int(str(process)), signal.SIGTERM)


def _holds(process: object, path: Path) -> bool:
    """Tell whether a process of this user has a folder open; never where that cannot be seen."""
    if not isinstance(process, int) or process <= 1:
        return False
    opened = []
    with suppress(OSError):
        for one in (PROCESSES / str(process) / "fd").iterdir():
            with suppress(FileNotFoundError):  # a file that is closed meanwhile
                opened.append(os.readlink(one))
    return os.path.realpath(path) in opened
