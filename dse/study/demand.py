"""What is demanded: a rate of tasks, each of them one offload, and offloads of several sizes."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from dse.algebra import units
from dse.contract import Column
from dse.model.problem import Problem
from dse.model.space import Axis, constant
from dse.study import schema
from dse.study.faults import Faults, Path
from dse.study.scenario import Scenario
from dse.study.sizes import Mix

TASKS = "workload_task_rate_task_per_s"
SIZE = "workload_granularity_byte"
RATE = "workload_rate_bit_per_s"
_SAME = 1e-9
"""Relative; by how much a rate may differ from that of the tasks and still say the same."""


def settle_demand(
    written: schema.StudyFile, constants: dict[str, float], axes: list[Axis], faults: Faults
) -> list[str]:
    """Set the rate for which a demanded rate of tasks stands; return what to note of it.

    ``rate = 8 granularity * task rate``, set where either of the two is an axis, else once.
    """
    places = [place for place, axis in enumerate(axes) if {TASKS, SIZE} & {*axis.columns}]
    tasks, size = (_values(name, constants, axes) for name in (TASKS, SIZE))
    if tasks is None:
        return []
    if size is None:
        rule = "tasks are offloads, and without workload.granularity their size is unknown"
        faults.add(_path(written, "task_rate"), rule, "add for instance `granularity: 1500 B`")
        return []
    if len(places) > 1:
        rule = "only one of workload.task_rate and workload.granularity can be an axis"
        faults.add(_path(written, "task_rate"), rule, "set one of them to one value")
        return []
    rate = 8.0 * size * tasks
    stated = _values(RATE, constants, axes)
    if stated is not None and not _agree(stated, rate):
        _contradicts(written, rate, faults)
        return []
    if places:
        axis = axes[places[0]]
        axes[places[0]] = replace(axis, columns={**axis.columns, RATE: rate})
        return []
    if stated is None:
        constants[RATE] = float(rate[0])
    else:  # the study says so itself
        del constants[TASKS]
    shown = [units.show(float(one[0]), name) for one, name in ((tasks, TASKS), (size, SIZE))]
    of_rate = units.show(float(rate[0]), RATE)
    return [f"workload.task_rate: {shown[0]} of {shown[1]} stand for workload.rate {of_rate}"]


def followers(problem: Problem, column: str) -> dict[str, float]:
    """Return the columns that a value of `column` sets as well, each a multiple of that value.

    Where a study demands tasks, the rate follows their number and their size.
    """
    constants = problem.space.constants
    other = {TASKS: SIZE, SIZE: TASKS}.get(column)
    if other is None or TASKS not in constants or other not in constants:
        return {}
    return {RATE: 8.0 * float(constants[other][0])}


def _values(name: str, constants: dict[str, float], axes: list[Axis]) -> Column | None:
    """Return what a column takes, the last axis that sets it first; None where nothing does."""
    for axis in reversed(axes):
        if name in axis.columns:
            return axis.columns[name]
    return constant(constants[name]) if name in constants else None


def _agree(stated: Column, rate: Column) -> bool:
    same = len(stated) == len(rate) == 1
    return same and math.isclose(float(stated[0]), float(rate[0]), rel_tol=_SAME)


def _contradicts(written: schema.StudyFile, rate: Column, faults: Faults) -> None:
    least, most = (units.show(float(end), RATE) for end in (np.min(rate), np.max(rate)))
    shown = least if least == most else f"{least} to {most}"
    rule = f"the tasks of workload.task_rate are {shown}, which contradicts workload.rate"
    faults.add(_path(written, "rate"), rule, "remove one of the two")


def _path(written: schema.StudyFile, name: str) -> Path:
    path = f"workload.{name}"
    return ("axes", path) if path in written.axes else ("workload", name)


def mix_of(written: schema.StudyFile) -> Mix | None:
    """Return the mix of sizes of a study, None for offloads of one size."""
    mix = written.workload.granularity
    return mix if isinstance(mix, Mix) and "workload.granularity" not in written.axes else None


def check_mix(scenario: Scenario, *, meet: bool, faults: Faults) -> None:
    """Refuse what a mix of sizes excludes; `meet` says that clocks meet the rate."""
    if scenario.mix is None:
        return
    columns = scenario.names
    path = ("workload", "granularity")
    if "interface_in_flight" not in columns:
        rule = "a mix is one of offloads, and a study without an interface has none"
        faults.add(path, rule, "add `interface`, or write one size")
    if "workload_chained" in columns:
        rule = "tasks of a stream that wait for each other are not modelled for a mix of sizes"
        faults.add(path, rule, "write one size, or remove `chained`")
    if meet:
        rule = "at clocks that only just meet the rate, offloads of several sizes do not reach it"
        faults.add(path, rule, "write `clock: 1`, or other fractions, in the stages")
