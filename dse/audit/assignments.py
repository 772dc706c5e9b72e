"""One design of a study, chosen by what its axes and counts are called."""

from __future__ import annotations

import math

import numpy as np

from dse.algebra import units
from dse.errors import Fault, UnitError, nearest, refuse
from dse.model import tables
from dse.model.problem import Problem
from dse.model.space import NOWHERE, Axis, Index
from dse.model.stage import Stage
from dse.runs.finished import Finished
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
            rule = f"{axis.name} is not given; its values are {_values(axis)}"
            faults.append(Fault("", "", rule, f'add "{axis.name}={axis.shown(-1)}"'))
        return 0
    if written in axis.labels:
        return axis.labels.index(written)
    rule = f"it is not among the values of {axis.name}: {_values(axis)}"
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


def _values(axis: Axis) -> str:
    few = axis.size <= MOST_VALUES
    shown = [axis.shown(choice) for choice in range(axis.size if few else 3)]
    return ", ".join(shown + [f"..., {axis.shown(-1)} ({axis.size} values)"] * (not few))


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan
