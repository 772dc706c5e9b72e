"""Names of designs: ``1 u8 + 2 u16, apu, in flight 8`` as printed, and read back."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from dse.algebra import units
from dse.errors import Fault, UnitError, nearest, refuse
from dse.files.document import Assignments, Document, assignments
from dse.model import tables
from dse.model.labels import unlabelled
from dse.model.problem import Problem
from dse.model.space import ALONE, HOST, NOWHERE, Axis, Index
from dse.model.stage import Stage
from dse.reports.designs import open_axes
from dse.reports.front_view import ARROW
from dse.reports.text import in_words, plural
from dse.runs.runner import points_of
from dse.study import study
from dse.study.overrides import Sweep
from dse.study.study import Study

_EXAMPLE = "1 u8 + 2 u16"

_MOST_VALUES = 12
"""Most values of an axis in a message."""

HOST_NEEDS = (
    "state what it takes: workload.kernel, workload.rate, interface.host_cores and "
    "interface.host_power; an answer notes what is missing"
)
"""Remedy in a study that does not compare the host alone."""


def exact_name(problem: Problem, point: NDArray[np.int64]) -> str:
    """Return the name of a design, (d,), with all digits, as `read_design` takes it."""
    chosen = [
        axis.shown(int(point[place])) if not axis.unit_name else _words(axis, int(point[place]))
        for place, axis in open_axes(problem)
        if point[place] >= 0
    ]
    named = tables.design_names(problem, point[None, :])
    return ", ".join(chosen if chosen and named == [tables.UNNAMED] else [*named, *chosen])


def _words(axis: Axis, choice: int) -> str:
    return f"{in_words(axis.name)} {axis.shown(choice)}"


def read_design(
    design: Assignments | None, found: Document, sweep: Sweep | None
) -> tuple[int, Study, Index]:
    """Return the position of a sweep's value, the study there, and a design, (1, d).

    A design is a printed name (``1 u8 + 2 u16, apu, in flight 8``), with or without labels,
    assignments to axes, columns of front.csv or counts (``des.u16=2 interface.in_flight=8``), or
    both.  Omitted counts of a stage are 0, and an axis with one value may be omitted.

    Raises
    ------
    StudyError
        With everything that is missing, unknown or not in the space.
    """
    points = points_of(found, sweep)
    prepared = study.prepare(points[0])
    reader = _Reader(prepared.problem)
    reader.read_all(design)
    refuse(reader.faults)
    value = 0 if sweep is None else reader.swept(sweep)
    if value:
        prepared = study.prepare(points[value])
        reader.problem = prepared.problem
    index = reader.index()
    refuse(reader.faults)
    return value, prepared, index


def _split(text: str) -> list[str]:
    """Return the parts of a printed name: fleets and choices."""
    fleet, _, choices = text.partition(" with ")
    parts = [*fleet.split(","), *re.split(r",| and ", choices)]
    return [part.strip() for part in parts if part.strip()]


class _Reader:
    """A design as assignments, and the errors so far."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.found: dict[str, str] = {}
        self.faults: list[Fault] = []
        self.choices = [
            axis
            for axis in problem.space.axes
            if tables.is_choice_of_scenario(problem, axis) or not problem.stages
        ]

    def read_all(self, design: Assignments | None) -> None:
        texts = [design] if isinstance(design, str) else design
        if isinstance(texts, list | tuple) and all(isinstance(text, str) for text in texts):
            codes = [unlabelled(text, self.problem.labels) for text in texts]
            parts = [part for text in codes for part in _split(text)]
            printed = [part for part in parts if "=" not in part]
            if printed:
                design = [part for part in parts if "=" in part]
            for part in printed:
                self.read(part)
        self.found |= assignments(design, _EXAMPLE, joined=True)

    def read(self, part: str) -> None:
        """Read a fleet, or one choice."""
        if part == tables.UNNAMED or (part == HOST and tables.HOST_COLUMN in self.found):
            return
        if part == ALONE:
            self.found[tables.HOST_COLUMN] = "1"
            if not len(self.problem.hosts):
                self._refuse(part, "this study does not compare it", HOST_NEEDS)
            return
        written = dict(self._choices_of(part))
        if len(written) > 1:
            shown = " or ".join(f'"{name}={value}"' for name, value in written.items())
            self._refuse(part, "it may mean several axes", f"write {shown}")
        elif written:
            self.found |= written
        else:
            self._fleets(part)

    def _choices_of(self, part: str) -> Iterator[tuple[str, str]]:
        """Yield each axis that a part may name, with its value."""
        named = [axis for axis in self.choices if not axis.unit_name and part in axis.labels]
        yield from ((axis.name, part) for axis in named)
        for axis in self.choices if not named else ():
            for name in {axis.name, in_words(axis.name)}:
                if part.startswith(f"{name} "):
                    yield axis.name, _value(axis, part.removeprefix(f"{name} "))

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
        """Read ``2 u16`` or ``2 des.u16``, or ``u16`` if its number follows from the study."""
        count, _, name = piece.partition(" ")
        if not count.isdecimal():
            count, name = "", piece
        for stage in stages:
            design = name.removeprefix(f"{stage.name}.")
            if design in stage.designs.names:
                self._take(stage, design, count)
                return
        names = [design for stage in stages for design in stage.designs.names]
        if not count:
            for axis in self.choices:
                names += [_words(axis, -1)] if axis.unit_name else axis.labels
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

    def _refuse(self, part: str, rule: str, remedy: str) -> None:
        self.faults.append(Fault("design", part, rule, remedy))

    def swept(self, sweep: Sweep) -> int:
        """Return the position of the written value of a sweep."""
        columns = {sweep.column: np.array(sweep.values, dtype=np.float64)} if sweep.column else {}
        axis = Axis(sweep.path, columns, sweep.written, sweep.column, ordered=bool(columns))
        value = self._choice(axis, sweep.header)
        for name in (sweep.path, sweep.header):
            self.found.pop(name, None)
        return value

    def index(self) -> Index:
        """Return the design (1, d)."""
        problem, given = self.problem, {*self.found}
        alone = len(problem.hosts) > 0 and self.found.pop(tables.HOST_COLUMN, "0") == "1"
        taken = problem.alone.places if alone and problem.alone else range(len(problem.sizes))
        counts = [self._single(one) for one in problem.stages if not (alone or one.mixed)]
        axes = enumerate(problem.space.axes)
        row = [self._place(axis) if place in taken else NOWHERE for place, axis in axes]
        index = np.array(row, dtype=np.int64).reshape(1, len(problem.sizes))
        self._refuse_unknown(given)
        if not self.faults:
            self._refuse_counts(counts, index)
        return index

    def _refuse_unknown(self, given: set[str]) -> None:
        """Report the assignments to nothing."""
        stages, axes = self.problem.stages, self.problem.space.axes
        known = {f"{stage.name}.{one}" for stage in stages for one in stage.designs.names}
        known |= {axis.name for axis in axes}
        known |= {tables.HOST_COLUMN} if len(self.problem.hosts) else set()
        for name in sorted(self.found.keys() & given - known - {*map(tables.axis_column, axes)}):
            rule = "this study has no such axis"
            self.faults.append(Fault(name, self.found[name], rule, nearest(name, known)))

    def _refuse_counts(self, counts: list[tuple[str, str]], index: Index) -> None:
        """Report written numbers of instances that the study computes differently."""
        made = {name.partition(".")[0]: n for name, n in self.problem.counts(index)[0].items()}
        for name, count in counts:
            stage = name.partition(".")[0]
            right = made.get(stage, 0)
            if count and _number(count) != right:
                changed = f'--set "{stage}.instances={count}"'
                remedy = f"write that, or evaluate this number with {changed}"
                self.faults.append(Fault(name, count, f"in this study it is {right}", remedy))

    def _single(self, stage: Stage) -> tuple[str, str]:
        """Turn the count of a design, in a stage of one design, into that choice and its number.

        Return column and count as written, or an empty count.
        """
        instances = f"{stage.name}.instances"
        free = any(axis.name == instances for axis in self.problem.space.axes)
        names = {f"{stage.name}.{design}": design for design in stage.designs.names}
        written = {name: self.found.pop(name) for name in names if name in self.found}
        used = {name: count for name, count in written.items() if _number(count) != 0}
        if not written:
            return instances, "" if free else self.found.pop(instances, "")
        if len(used) != 1:
            shown = " ".join(f"{name}={count}" for name, count in written.items())
            rule = f"a fleet of {stage.name} is of one design"
            self.faults.append(Fault(stage.name, shown, rule, "give one count above 0"))
            self.found[f"{stage.name}.design"] = stage.designs.names[0]
            return instances, ""
        ((name, count),) = used.items()
        self.found[f"{stage.name}.design"] = names[name]
        if free:
            self.found[instances] = count
        return name, count

    def _place(self, axis: Axis) -> int:
        """Return the position of the written value of an axis.  An omitted count is 0."""
        if tables.is_choice_of_scenario(self.problem, axis):
            return self._choice(axis, tables.axis_column(axis))
        stage = axis.name.partition(".")[0]
        mixed = any(entry.mixed and entry.name == stage for entry in self.problem.stages)
        if not mixed or axis.name in self.found or axis.size == 1:
            return self._choice(axis, axis.name)
        if any(n.startswith(f"{stage}.") and n != f"{stage}.clock" for n in self.found):
            values = tables.axis_values(axis).tolist()
            return int(values.index(0.0)) if 0.0 in values else self._choice(axis, axis.name)
        rule = f"how many of each design of {stage} is open"
        if all(fault.rule != rule for fault in self.faults):
            remedy = f'add for instance "{axis.name}=1"; those that are not named are then 0'
            self.faults.append(Fault("", "", rule, remedy))
        return 0

    def _choice(self, axis: Axis, column: str) -> int:
        """Return the position of the written value of an axis, or report an error and return 0."""
        name = axis.name if axis.name in self.found else column
        written = self.found.get(name)
        if written is None:
            if axis.size > 1:
                rule = f"{axis.name} is not given; its values are {_written_values(axis)}"
                self.faults.append(Fault("", "", rule, f'add "{axis.name}={axis.shown(-1)}"'))
            return 0
        if written in axis.labels:
            return axis.labels.index(written)
        rule = f"it is not among the values of {axis.name}: {_written_values(axis)}"
        if not axis.unit_name:
            self.faults.append(Fault(name, written, rule, nearest(written, axis.labels)))
            return 0
        values, number = axis.columns[axis.unit_name], _number(written)
        if name == axis.name or math.isnan(number):
            try:
                number = units.parse(written, axis.unit_name)
            except UnitError as error:
                self.faults.append(Fault(name, written, error.rule, error.remedy))
                return 0
        (choices,) = np.nonzero(np.isclose(values, number, rtol=1e-12, atol=0.0))
        if len(choices):
            return int(choices[0])
        closest = axis.shown(int(np.argmin(np.abs(values - number))))
        self.faults.append(Fault(name, written, rule, f"the closest is {closest}"))
        return 0


def _written_values(axis: Axis) -> str:
    few = axis.size <= _MOST_VALUES
    shown = [axis.shown(choice) for choice in range(axis.size if few else 3)]
    return ", ".join(shown + [f"..., {axis.shown(-1)} ({axis.size} values)"] * (not few))


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def _value(axis: Axis, text: str) -> str:
    """Return a value of an axis with all digits, if it is printed with four."""
    if axis.unit_name:
        values = axis.columns[axis.unit_name]
        shown = [i for i, v in enumerate(values) if units.show(float(v), axis.unit_name) == text]
        if len(shown) == 1:
            return axis.shown(shown[0])
    return text
