"""Why a design of a study is on the front of a run, or not."""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.algebra import units
from dse.algebra.expression import Expression
from dse.algebra.expression_grammar import LabelCode
from dse.audit.challenge import at_most
from dse.errors import Fault, UnitError, nearest, refuse
from dse.files.document import Assignments
from dse.model import tables
from dse.model.evaluation import ledger_of
from dse.model.measured import MEASURED
from dse.model.problem import Problem
from dse.model.space import NOWHERE, Axis, Index
from dse.model.stage import Stage
from dse.reports.designs import objective_values
from dse.reports.text import (
    Printable,
    change,
    in_words,
    paragraph,
    relative_change,
    violation_text,
)
from dse.runs import finished
from dse.runs.design_names import exact_name, read_design
from dse.runs.finished import Finished
from dse.runs.measurements import measurement_of
from dse.study import study
from dse.study.overrides import Sweep
from dse.study.study import Study

MOST_VALUES = 12
"""Most values of an axis that a message names."""


def named_design(run: Finished, given: dict[str, str]) -> tuple[int, Study, Index]:
    """Return the design (1, d) that `given` names, its study, and which value of the sweep.

    Names are those of axes (``workload.granularity=64 KiB``), of columns of front.csv
    (``workload.granularity_byte=65536``) and of counts (``des.u16=3``; those of a stage that
    are omitted are 0).  An axis with one value may be omitted.

    Raises
    ------
    StudyError
        For everything that is missing, unknown or not in the space, all at once.
    """
    left = dict(given)
    faults: list[Fault] = []
    value = 0
    if run.sweep is not None:
        swept = (run.sweep.path, run.sweep.header)
        value = _swept(run.sweep, swept[1], left, faults)
        left = {name: text for name, text in left.items() if name not in swept}
    prepared = study.prepare(run.document_at(value))
    problem = prepared.problem
    alone = len(problem.hosts) > 0 and left.pop(tables.HOST_COLUMN, "0") == "1"
    taken = problem.alone.places if alone and problem.alone else range(len(problem.sizes))
    mixed = [stage for stage in problem.stages if alone or stage.mixed]
    counts = [_single(s, problem, left, faults) for s in problem.stages if s not in mixed]
    places = [*enumerate(problem.space.axes)]
    index = np.array(
        [[_choice_of(a, problem, left, faults) if n in taken else NOWHERE for n, a in places]]
    )
    index = index.reshape(1, len(problem.sizes)).astype(np.int64)
    names = (f"{stage.name}.{one}" for stage in problem.stages for one in stage.designs.names)
    columns = {name: name for name in names}
    columns |= {tables.HOST_COLUMN: tables.HOST_COLUMN} if len(problem.hosts) else {}
    columns |= {axis.name: tables.axis_column(axis) for axis in problem.space.axes}
    known = {*columns, *columns.values()}
    for name in sorted(left.keys() & given.keys() - known):
        faults.append(
            Fault(name, given[name], "this study has no such axis", nearest(name, columns))
        )
    if not faults:
        made = {name.partition(".")[0]: count for name, count in problem.counts(index)[0].items()}
        right = {name: made.get(name.partition(".")[0], 0) for name, _ in counts}
        faults += [
            Fault(name, count, f"in this study it is {right[name]}", "write that")
            for name, count in counts
            if count and _number(count) != right[name]
        ]
    refuse(faults)
    return value, prepared, index


def _swept(sweep: Sweep, column: str, left: dict[str, str], faults: list[Fault]) -> int:
    """Return which value of the sweep is written."""
    if sweep.column:
        values = np.array(sweep.values, dtype=np.float64)
        axis = Axis(sweep.path, {sweep.column: values}, sweep.written, sweep.column)
    else:
        axis = Axis(sweep.path, {}, sweep.written, ordered=False)
    return _read_choice(axis, column, left, faults)


def _single(
    stage: Stage, problem: Problem, left: dict[str, str], faults: list[Fault]
) -> tuple[str, str]:
    """Turn the count of a design, in a stage of one design, into that choice and its number.

    Return column and count as they were written; no count when it was not.
    """
    instances = f"{stage.name}.instances"
    free = any(axis.name == instances for axis in problem.space.axes)
    names = {f"{stage.name}.{design}": design for design in stage.designs.names}
    written = {name: left.pop(name) for name in names if name in left}
    used = {name: count for name, count in written.items() if _number(count) != 0}
    if not written:
        return instances, "" if free else left.pop(instances, "")
    if len(used) != 1:
        shown = " ".join(f"{name}={count}" for name, count in written.items())
        rule = f"a fleet of {stage.name} is of one design"
        faults.append(Fault(stage.name, shown, rule, "give one count above 0"))
        left[f"{stage.name}.design"] = stage.designs.names[0]
        return instances, ""
    ((name, count),) = used.items()
    left[f"{stage.name}.design"] = names[name]
    if free:
        left[instances] = count
    return name, count


def _choice_of(axis: Axis, problem: Problem, left: dict[str, str], faults: list[Fault]) -> int:
    """Return which value of an axis is written; a count that is omitted is 0."""
    if tables.is_choice_of_scenario(problem, axis):
        return _read_choice(axis, tables.axis_column(axis), left, faults)
    stage = axis.name.partition(".")[0]
    named = any(name.startswith(f"{stage}.") and name != f"{stage}.clock" for name in left)
    mixed = any(entry.mixed and entry.name == stage for entry in problem.stages)
    values = tables.axis_values(axis).tolist()
    if mixed and axis.name not in left and named and 0.0 in values:
        return int(values.index(0.0))
    return _read_choice(axis, axis.name, left, faults)


def _read_choice(axis: Axis, column: str, left: dict[str, str], faults: list[Fault]) -> int:
    """Return which value of an axis is written; a fault and 0 when it is none of its values."""
    name = axis.name if axis.name in left else column
    written = left.get(name)
    if written is None:
        if axis.size > 1:
            rule = f"{axis.name} is not given; its values are {_written_values(axis)}"
            faults.append(Fault("", "", rule, f'add "{axis.name}={axis.shown(-1)}"'))
        return 0
    if written in axis.labels:
        return axis.labels.index(written)
    rule = f"it is not among the values of {axis.name}: {_written_values(axis)}"
    if not axis.unit_name:
        faults.append(Fault(name, written, rule, nearest(written, axis.labels)))
        return 0
    values = axis.columns[axis.unit_name]
    number = _number(written)
    if name == axis.name or math.isnan(number):
        try:
            number = units.parse(written, axis.unit_name)
        except UnitError as error:
            faults.append(Fault(name, written, error.rule, error.remedy))
            return 0
    (choices,) = np.nonzero(np.isclose(values, number, rtol=1e-12, atol=0.0))
    if len(choices):
        return int(choices[0])
    closest = axis.shown(int(np.argmin(np.abs(values - number))))
    faults.append(Fault(name, written, rule, f"the closest is {closest}"))
    return 0


def _written_values(axis: Axis) -> str:
    few = axis.size <= MOST_VALUES
    shown = [axis.shown(choice) for choice in range(axis.size if few else 3)]
    return ", ".join(shown + [f"..., {axis.shown(-1)} ({axis.size} values)"] * (not few))


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


VERDICTS = {
    "front": "it is on the front",
    "infeasible": "it is infeasible",
    "failed": "it failed, and nothing is known of it",
    "dominated": "it is feasible, and a design on the front dominates it",
    "equal": "it is feasible, with the same objectives as a design on the front",
    "improvement": "it is feasible, and no design on the heuristic's front dominates it",
    "refutation": "it is feasible and missing from a front that claims to be exact",
}


@dataclass(frozen=True)
class ViolatedConstraint:
    """A constraint that a design violates: its rule, and by how much, relative to the limit.

    `quantities` are what it compares, in SI by name.
    """

    rule: str
    relative: float
    quantities: Mapping[str, float]

    @property
    def text(self) -> str:
        """The violation in words, with units."""
        values = ", ".join(
            f"{in_words(name)} {units.show(value, name)}" for name, value in self.quantities.items()
        )
        return "; ".join(filter(None, [f"{self.rule}: {violation_text(self.relative)}", values]))


@dataclass(frozen=True, repr=False)
class Explanation(Printable):
    """What a run says of one design.

    Attributes
    ----------
    verdict
        A key of `VERDICTS`.
    design, objectives
        Its name as `read_design` takes it, and its objectives in SI.
    violations
        The constraints it violates.
    row, rival, rival_objectives
        The row of front.csv, counted from 1, that it is, equals or is dominated by, the name of
        that design and its objectives; None and empty otherwise.
    """

    verdict: str
    design: str
    objectives: Mapping[str, float]
    violations: tuple[ViolatedConstraint, ...] = ()
    row: int | None = None
    rival: str = ""
    rival_objectives: Mapping[str, float] | None = None

    @property
    def difference(self) -> dict[str, float | None]:
        """How much each objective differs from the rival's, as a share of that; None of 0."""
        rivals = self.rival_objectives or {}
        return {
            name: relative_change(self.objectives[name], value) for name, value in rivals.items()
        }

    def text(self) -> str:
        """Return the answer as text."""
        place = f" (row {self.row})" if self.verdict == "front" else ""
        lines = [self.design, f"{VERDICTS[self.verdict]}{place}"]
        lines += [f"  {violated.text}" for violated in self.violations]
        if self.verdict != "front" and self.rival_objectives is not None:
            lines.append(f"  row {self.row} of the front: {self.rival}")
        for name, value in self.objectives.items():
            lines.append(f"  {in_words(name)} {units.show(value, name)}{self._against(name)}")
        return "\n".join(paragraph(line, "    ") for line in lines)

    def _against(self, name: str) -> str:
        if self.rival_objectives is None or self.verdict == "front":
            return ""
        own, rival = self.objectives[name], self.rival_objectives[name]
        if own == rival:
            return " (the same)"
        by = change(own, rival)
        return f" against {units.show(rival, name)}" + (f" ({by})" if by else "")

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON."""
        return {**asdict(self), "difference": self.difference}


def explain_design(folder: Path, design: Assignments) -> Explanation:
    """Say why a design is on the front of the run in `folder`, or not.

    `design` is for instance ``3 u16, apu``; see `read_design`.
    """
    run = finished.read_run(folder)
    given = read_design(design, lambda: study.prepare(run.document_at(0)).problem)
    value, prepared, index = named_design(run, given)
    problem = prepared.problem
    name = ", ".join(filter(None, [run.where(value), exact_name(problem, index[0])]))
    found = measurement_of(problem, index, name)
    if found is not None and not found.has_values:
        failed = ViolatedConstraint(f"{MEASURED} ({found.cause})", np.inf, {})
        return Explanation("failed" if found.failed else "infeasible", name, {}, (failed,))
    evaluation = problem.evaluate(index)
    objectives = objective_values(problem, evaluation.loss[0])
    if not evaluation.feasible[0]:
        violations = _violations(problem, index, evaluation.violation[0])
        return Explanation("infeasible", name, objectives, violations)
    numbers = run.row_numbers(value)
    front = finished.find_designs(problem, tuple(run.rows[number] for number in numbers))
    row, verdict = _compare(problem, index, evaluation.loss[0], front)
    if row is None:
        verdict = "refutation" if ledger_of(run.manifest).settled else "improvement"
        return Explanation(verdict, name, objectives)
    rival = front[[row]]
    return Explanation(
        verdict,
        name,
        objectives,
        row=numbers[row] + 1,
        rival=exact_name(problem, rival[0]),
        rival_objectives=objective_values(problem, problem.evaluate(rival).loss[0]),
    )


def _compare(
    problem: Problem, index: Index, loss: NDArray[np.float64], front: Index
) -> tuple[int | None, str]:
    """Return the row of `front` that a feasible design is, equals, or is dominated by."""
    rows = np.flatnonzero((front == index[0]).all(axis=1))
    if len(rows):
        return int(rows[0]), "front"
    losses = problem.evaluate(front).loss
    no_worse = np.flatnonzero((losses <= at_most(loss)).all(axis=1))
    if not len(no_worse):
        return None, ""
    better = (at_most(losses[no_worse]) < loss).sum(axis=1)
    if better.max() == 0:
        return int(no_worse[0]), "equal"
    return int(no_worse[np.argmax(better)]), "dominated"


def _violations(
    problem: Problem, index: Index, violation: NDArray[np.float64]
) -> tuple[ViolatedConstraint, ...]:
    """Return every violated constraint of a design, with what it compares."""
    columns = _values(problem, index)
    steps, names = problem.requirement_steps, problem.constraint_names
    rules = dict(enumerate(problem.constraints, len(names) - len(problem.constraints)))
    found = []
    for number in np.flatnonzero(~(violation <= 0)).tolist():
        relative, taken = float(violation[number]), []
        if number < len(steps):
            needs = steps[number].arguments
            taken = [name for name in columns if {name, name.partition(".")[2]} & {*needs}]
        elif number in rules and _is_of_texts(rules[number]):
            relative = np.inf  # texts are not apart by anything
        elif number in rules:
            taken = sorted(rules[number].names)
        values = {name: columns[name] for name in taken}
        found.append(ViolatedConstraint(names[number], relative, values))
    return tuple(found)


def _is_of_texts(rule: Expression) -> bool:
    """Return whether a constraint compares texts, whose columns are codes."""
    nodes = ast.walk(rule.tree)
    return any(isinstance(getattr(node, "value", None), LabelCode) for node in nodes)


def _values(problem: Problem, index: Index) -> dict[str, float]:
    """Return every column of one design; those of stages under the stage's name."""
    values: dict[str, float] = {}
    for name, column in problem.terms(index).items():
        if isinstance(column, tuple):
            for stage, part in zip(problem.stages, column, strict=True):
                values[f"{stage.name}.{name}"] = float(np.asarray(part).flat[0])
        else:
            values[name] = float(np.asarray(column).flat[0])
    return values
