"""One way to name a design: ``1 u8 + 2 u16, apu, in flight 8`` as printed, and read back."""

from __future__ import annotations

import math
import re

import numpy as np
from numpy.typing import NDArray

from dse.algebra import units
from dse.errors import Fault, UnitError, nearest, refuse
from dse.files.document import Assignments, Document, assignments
from dse.model import tables
from dse.model.problem import Problem
from dse.model.space import ALONE, HOST, NOWHERE, Axis, Index
from dse.model.stage import Stage
from dse.reports.designs import open_axes
from dse.reports.front_view import ARROW
from dse.reports.text import in_words, plural
from dse.study import study
from dse.study.overrides import Sweep, at_value
from dse.study.study import Study

_EXAMPLE = "1 u8 + 2 u16"
"""A design, for remedies."""

_MOST_VALUES = 12
"""Most values of an axis that a message names."""

HOST_NEEDS = (
    "state what it takes: workload.kernel, workload.rate, interface.host_cores and "
    "interface.host_power; an answer notes what is missing"
)
"""What to do where the host alone is no design of a study."""


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
        return ", ".join(chosen) or tables.UNNAMED
    return ", ".join([tables.design_names(problem, point[None, :])[0], *chosen])


def _words(axis: Axis, choice: int) -> str:
    return f"{in_words(axis.name)} {axis.shown(choice)}"


def read_design(
    design: Assignments | None, found: Document, sweep: Sweep | None
) -> tuple[int, Study, Index]:
    """Return which value of the sweep a design is of, the study there, and the design, (1, d).

    Names are those that are printed, and those of axes (``workload.granularity=64 KiB``), of
    columns of front.csv (``workload.granularity_byte=65536``) and of counts (``des.u16=3``; those
    of a stage that are omitted are 0).  An axis with one value may be omitted.

    Parameters
    ----------
    design
        ``1 u8 + 2 u16, apu, in flight 8``, ``2 u16 with device apu and in flight 8``, or
        ``des.u8=1 des.u16=2``; parts of both may be mixed.  None is nothing.
    found, sweep
        The study, and its sweep if it has one.

    Raises
    ------
    StudyError
        For everything that is missing, unknown or not in the space, all at once.
    """
    prepared = study.prepare(found if sweep is None else at_value(found, sweep, 0))
    reader = _Reader(prepared.problem)
    reader.read_all(design)
    refuse(reader.faults)
    value = 0 if sweep is None else reader.swept(sweep)
    if sweep is not None and value:
        prepared = study.prepare(at_value(found, sweep, value))
        reader.problem = prepared.problem
    index = reader.index()
    refuse(reader.faults)
    return value, prepared, index


def _split(text: str) -> list[str]:
    """Return the parts of a design: its fleet, then its choices."""
    fleet, _, choices = text.partition(" with ")
    parts = [*fleet.split(","), *re.split(r",| and ", choices)]
    return [part.strip() for part in parts if part.strip()]


class _Reader:
    """A design as assignments, what it is among those of a problem, and the faults of both."""

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
        """Read a design, whether it is written as printed or as assignments."""
        texts = [design] if isinstance(design, str) else design
        if isinstance(texts, list | tuple) and all(isinstance(text, str) for text in texts):
            parts = [part for text in texts for part in _split(text)]
            given = [part for part in parts if "=" in part]
            if len(given) < len(parts):
                for part in parts:
                    if part not in given:
                        self.read(part)
                design = given
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

    def swept(self, sweep: Sweep) -> int:
        """Return which value of the sweep is written."""
        columns, ordered = {}, bool(sweep.column)
        if ordered:
            columns = {sweep.column: np.array(sweep.values, dtype=np.float64)}
        axis = Axis(sweep.path, columns, sweep.written, sweep.column, ordered=ordered)
        value = self._choice(axis, sweep.header)
        for name in (sweep.path, sweep.header):
            self.found.pop(name, None)
        return value

    def index(self) -> Index:
        """Return the design (1, d)."""
        problem, given = self.problem, {*self.found}
        alone = len(problem.hosts) > 0 and self.found.pop(tables.HOST_COLUMN, "0") == "1"
        taken = problem.alone.places if alone and problem.alone else range(len(problem.sizes))
        single = [stage for stage in problem.stages if not (alone or stage.mixed)]
        counts = [self._single(stage) for stage in single]
        places = [*enumerate(problem.space.axes)]
        index = np.array([[self._place(axis) if n in taken else NOWHERE for n, axis in places]])
        index = index.reshape(1, len(problem.sizes)).astype(np.int64)
        names = (f"{stage.name}.{one}" for stage in problem.stages for one in stage.designs.names)
        columns = {name: name for name in names}
        columns |= {tables.HOST_COLUMN: tables.HOST_COLUMN} if len(problem.hosts) else {}
        columns |= {axis.name: tables.axis_column(axis) for axis in problem.space.axes}
        rule = "this study has no such axis"
        for name in sorted(self.found.keys() & given - {*columns, *columns.values()}):
            self.faults.append(Fault(name, self.found[name], rule, nearest(name, columns)))
        if not self.faults:
            made = {name.partition(".")[0]: n for name, n in problem.counts(index)[0].items()}
            for name, count in counts:
                right = made.get(name.partition(".")[0], 0)
                if count and _number(count) != right:
                    rule = f"in this study it is {right}"
                    fixed = f"{name.partition('.')[0]}.instances={count}"
                    remedy = f'write that, or evaluate this number with --set "{fixed}"'
                    self.faults.append(Fault(name, count, rule, remedy))
        return index

    def _single(self, stage: Stage) -> tuple[str, str]:
        """Turn the count of a design, in a stage of one design, into that choice and its number.

        Return column and count as they were written; no count when it was not.
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
        """Return which value of an axis is written; a count that is omitted is 0."""
        if tables.is_choice_of_scenario(self.problem, axis):
            return self._choice(axis, tables.axis_column(axis))
        stage = axis.name.partition(".")[0]
        named = any(n.startswith(f"{stage}.") and n != f"{stage}.clock" for n in self.found)
        mixed = any(entry.mixed and entry.name == stage for entry in self.problem.stages)
        if not mixed or axis.name in self.found or axis.size == 1:
            return self._choice(axis, axis.name)
        if named:
            values = tables.axis_values(axis).tolist()
            return int(values.index(0.0)) if 0.0 in values else self._choice(axis, axis.name)
        rule = f"how many of each design of {stage} is open"
        if all(fault.rule != rule for fault in self.faults):
            remedy = f'add for instance "{axis.name}=1"; those that are not named are then 0'
            self.faults.append(Fault("", "", rule, remedy))
        return 0

    def _choice(self, axis: Axis, column: str) -> int:
        """Return which value of an axis is written; a fault and 0 when it is none of its values."""
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
        values = axis.columns[axis.unit_name]
        number = _number(written)
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
    """Return a value of an axis; of one that is shown with four digits, all of them."""
    if axis.unit_name:
        values = axis.columns[axis.unit_name]
        shown = [i for i, v in enumerate(values) if units.show(float(v), axis.unit_name) == text]
        if len(shown) == 1:
            return axis.shown(shown[0])
    return text
