"""Which sizes of a mix stay on the host: those up to a threshold, ``offload_above: 512 B``."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from dse.algebra import units
from dse.model.mixed import PAYLOAD_OFFLOADED, TASKS_OFFLOADED, Parted
from dse.model.space import Axis
from dse.study import schema
from dse.study.demand import RATE, SIZE
from dse.study.faults import Faults, Path
from dse.study.scenario import Scenario
from dse.study.sizes import Mix

FIELD, ABOVE = "workload.offload_above", "workload_offload_above_byte"
CV2 = "workload_size_cv2"


def settle_policy(written: schema.StudyFile, scenario: Scenario, faults: Faults) -> None:
    """Part the mix of a study as its policy says; refuse a policy that makes no sense in it.

    Every threshold, one or those of an axis, sets what is offloaded: the mean size, how sizes vary,
    the shares of all tasks and of all payload.
    """
    if ABOVE not in scenario.names:
        return
    mix = written.workload.granularity
    path: Path = ("axes", FIELD) if FIELD in written.axes else ("workload", "offload_above")
    if not isinstance(mix, Mix) or "workload.granularity" in written.axes:
        rule = "sizes that stay on the host are some of a mix, and workload.granularity is none"
        faults.add(path, rule, "write for instance granularity: {64 B: 3/4, 1500 B: 1/4}")
        return
    _check_rest(scenario, path, faults)
    thresholds = _thresholds(scenario)
    for threshold in thresholds:
        _check_threshold(mix, threshold, path, faults)
    if not all(threshold < max(mix.sizes) for threshold in thresholds):
        return
    sent = [parted(mix, threshold) for threshold in thresholds]
    scenario.parts = tuple({one.share: one for one in sent}.values())
    columns = {
        SIZE: np.array([one.mean for one in sent]),
        CV2: np.array([one.cv2 for one in sent]),
        TASKS_OFFLOADED: np.array([one.share for one in sent]),
        PAYLOAD_OFFLOADED: np.array([one.share * one.mean / mix.value for one in sent]),
    }
    axis = _axis(scenario)
    if axis is None:
        del scenario.constants[ABOVE]
        scenario.constants |= {name: float(values[0]) for name, values in columns.items()}
    else:
        place = scenario.axes.index(axis)
        scenario.axes[place] = replace(axis, columns={**axis.columns, **columns})
    scenario.notes.append(
        f"{FIELD}: throughput, limits, times and waits are of what is offloaded; host cores, power "
        "and energy are of all; cores for the sizes that stay are set apart"
    )


def parted(mix: Mix, threshold: float = 0.0) -> Parted:
    """Return the parts of a mix whose sizes up to a threshold, in bytes, stay on the host."""
    pairs = [*zip(mix.sizes, mix.shares, strict=True)]
    offloaded = [(size, share) for size, share in pairs if size > threshold]
    staying = [(size, share) for size, share in pairs if size <= threshold]
    if not staying:
        return Parted(1.0, tuple(pairs))
    sent, kept = (math.fsum(share for _, share in part) for part in (offloaded, staying))
    return Parted(
        sent,
        tuple((size, share / sent) for size, share in offloaded),
        tuple((size, share / kept) for size, share in staying),
    )


def _thresholds(scenario: Scenario) -> list[float]:
    axis = _axis(scenario)
    return [scenario.constants[ABOVE]] if axis is None else axis.columns[ABOVE].tolist()


def _axis(scenario: Scenario) -> Axis | None:
    return next((axis for axis in scenario.axes if ABOVE in axis.columns), None)


def _check_threshold(mix: Mix, threshold: float, path: Path, faults: Faults) -> None:
    least, most = min(mix.sizes), max(mix.sizes)
    shown = [units.show(value, SIZE) for value in (threshold, least, most)]
    if threshold >= most:
        rule = f"no size is above {shown[0]}: all stay, which is the host alone"
        faults.add(path, rule, f"write less than {shown[2]}; answers tell of the host alone")
    elif 0 < threshold < least:
        rule = f"the least size is {shown[1]}, so that none stays on the host"
        faults.add(path, rule, f"write at least {shown[1]}, or 0 B to offload every size")


def _check_rest(scenario: Scenario, path: Path, faults: Faults) -> None:
    """Refuse a policy in a study that lacks what tells the work that stays."""
    if "kernel_index_s_per_byte" not in scenario.names:
        rule = "nothing tells how long the host takes for the sizes that stay"
        faults.add(path, rule, "add workload.kernel; `dse list kernels` shows the names")
    if RATE not in scenario.names:
        rule = "without workload.rate nobody says how much work stays on the host"
        faults.add(path, rule, "set workload.rate, or workload.task_rate")
    if "workload_program_offloads_hz" in scenario.names:
        rule = "every call of the kernel in workload.program_offloads is taken to be offloaded"
        faults.add(path, rule, "remove it, or workload.program_offloads and its share")
