"""One way to name a design: ``1 u8 + 2 u16, apu, in flight 8`` as printed, and read back."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dse.algebra import units
from dse.errors import Fault, StudyError, nearest
from dse.files.document import Assignments, assignments
from dse.model import tables
from dse.model.problem import Problem
from dse.model.space import ALONE, Axis
from dse.model.stage import Stage
from dse.reports.designs import open_axes
from dse.reports.front_view import ARROW
from dse.reports.text import in_words, plural

EXAMPLE = "1 u8 + 2 u16"
"""A design, for remedies."""


def exact_name(problem: Problem, point: NDArray[np.int64]) -> str:
    """Return one design, (d,), as it is printed, with all digits: `read_design` reads it back."""
    chosen = [
        axis.shown(int(point[place])) if not axis.unit_name else _words(axis, int(point[place]))
        for place, axis in open_axes(problem)
        if point[place] >= 0
    ]
    if not problem.stages:
        named = [axis for axis in problem.space.axes if not axis.ordered]
        chosen = [axis.shown(int(point[problem.space.axes.index(axis)])) for axis in named] + chosen
        return ", ".join(chosen) or tables.AS_GIVEN
    return ", ".join([tables.design_names(problem, point[None, :])[0], *chosen])


def _words(axis: Axis, choice: int) -> str:
    return f"{in_words(axis.name)} {axis.shown(choice)}"


def read_design(design: Assignments | None, problem: Callable[[], Problem]) -> dict[str, str]:
    """Return a design as assignments, whether it is written as printed or as assignments.

    Parameters
    ----------
    design
        ``1 u8 + 2 u16, apu, in flight 8``, ``2 u16 with device apu and in flight 8``, or
        ``des.u8=1 des.u16=2``; parts of both may be mixed.
    problem
        Returns the problem whose names are read; called only for what is no assignment.

    Raises
    ------
    StudyError
        For each part that names nothing of the problem, all at once.
    """
    texts = [design] if isinstance(design, str) else design
    if not isinstance(texts, list | tuple) or not all(isinstance(text, str) for text in texts):
        return assignments(design, EXAMPLE, joined=True)
    parts = [part for text in texts for part in _split(text)]
    if all("=" in part for part in parts):
        return assignments(design, EXAMPLE, joined=True)
    reader = _Reader(problem())
    given = [part for part in parts if "=" in part]
    for part in parts:
        if part not in given:
            reader.read(part)
    if reader.faults:
        raise StudyError(reader.faults)
    return assignments(given, EXAMPLE, joined=True) | reader.found


def _split(text: str) -> list[str]:
    """Return the parts of a design: its fleet, then its choices."""
    fleet, _, choices = text.partition(" with ")
    parts = [*fleet.split(","), *re.split(r",| and ", choices)]
    return [part.strip() for part in parts if part.strip()]


class _Reader:
    """What parts of a printed design say, as assignments, and the faults of those that do not."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.found: dict[str, str] = {}
        self.faults: list[Fault] = []
        self.choices = [
            axis
            for axis in problem.space.axes
            if tables.is_choice_of_scenario(problem, axis) or not problem.stages
        ]

    def read(self, part: str) -> None:
        """Read a fleet, or one choice."""
        if part == tables.AS_GIVEN:
            return
        if part == ALONE:
            self.found[tables.HOST_COLUMN] = "1"
            return
        named = [axis for axis in self.choices if not axis.unit_name and part in axis.labels]
        written = {axis.name: part for axis in named}
        if not named:
            pairs = ((axis, {axis.name, in_words(axis.name)}) for axis in self.choices)
            starts = ((axis, f"{name} ") for axis, names in pairs for name in names)
            written = {
                axis.name: _value(axis, part[len(start) :])
                for axis, start in starts
                if part.startswith(start)
            }
        if len(written) > 1:
            shown = " or ".join(f'"{name}={value}"' for name, value in written.items())
            self._refuse(part, "it may mean several axes", f"write {shown}")
        elif written:
            self.found |= written
        else:
            self._fleets(part)

    def _fleets(self, part: str) -> None:
        stages = self.problem.stages
        fleets = part.split(ARROW)
        if len(fleets) > 1 and len(fleets) != len(stages):
            known = f"{plural(len(stages), 'stage')}: {', '.join(stage.name for stage in stages)}"
            rule = f"it has {len(fleets)} fleets, and the study {known}"
            self._refuse(part, rule, f'join one fleet per stage by "{ARROW}"')
            return
        for place, fleet in enumerate(fleets):
            for piece in re.split(r"\s*\+\s*(?=\d)", fleet):
                self._piece(piece.strip(), stages[place : place + 1] if place else stages)

    def _piece(self, piece: str, stages: tuple[Stage, ...]) -> None:
        """Read ``2 u16`` or ``2 des.u16``; ``u16`` where its number follows from the study."""
        count, _, name = piece.partition(" ")
        if not count.isdecimal():
            count, name = "", piece
        for stage in stages:
            design = name.removeprefix(f"{stage.name}.")
            if design in stage.designs.names:
                self._take(stage, design, count)
                return
        names = [design for stage in stages for design in stage.designs.names]
        names = names if count else [*names, *self._texts()]
        rule = "the study has no such design" if count else "the study has no such design or choice"
        self._refuse(piece, rule, nearest(name, names))

    def _take(self, stage: Stage, design: str, count: str) -> None:
        path = f"{stage.name}.{design}"
        if path in self.found:
            self._refuse(f"{count} {design}".strip(), f"{design} stands twice", "write it once")
        elif count:
            self.found[path] = count
        elif stage.mixed:
            self._refuse(design, "it has no number", f'write "1 {design}"')
        else:
            self.found[f"{stage.name}.design"] = design

    def _texts(self) -> list[str]:
        """Return choices as they may be written."""
        named = [text for axis in self.choices if not axis.unit_name for text in axis.labels]
        return named + [_words(axis, -1) for axis in self.choices if axis.unit_name]

    def _refuse(self, part: str, rule: str, remedy: str) -> None:
        self.faults.append(Fault("design", part, rule, remedy))


def _value(axis: Axis, text: str) -> str:
    """Return a value of an axis; of one that is shown with four digits, all of them."""
    if axis.unit_name:
        values = axis.columns[axis.unit_name]
        shown = [i for i, v in enumerate(values) if units.show(float(v), axis.unit_name) == text]
        if len(shown) == 1:
            return axis.shown(shown[0])
    return text
