"""Whole accelerators without stages: of measured offloads, or of a published acceleration.

A record `includes` the device's computing, or says how many times faster it is than the host.
What computes is then no fleet of cores: one stage that carries any rate in no time stands for it,
without area and without power.
"""

from __future__ import annotations

import numpy as np

from dse.contract import CoreMetrics
from dse.model.designs import Designs
from dse.model.stage import Stage
from dse.study import schema
from dse.study.axes import counted
from dse.study.faults import Faults, Path
from dse.study.scenario import Scenario
from dse.study.stages import Built

NAME = "accelerator"

ACCELERATION = "interface.acceleration"

PART = "computing included: a stage would count it twice"


def check_whole(study: schema.StudyFile, scenario: Scenario, faults: Faults) -> bool:
    """Tell whether the interfaces of a study are whole accelerators, which stand without stages.

    With stages they are faults, and so are interfaces that hold no computing beside some that do.
    """
    section = study.interface or schema.InterfaceSection()
    faster = ACCELERATION in study.axes or section.acceleration is not None
    inside = [section.includes or record.includes for record in scenario.interfaces]
    scaled = [faster or record.acceleration is not None for record in scenario.interfaces]
    if not any(inside) and not any(scaled):
        return False
    if any(scaled) and "kernel_index_s_per_byte" not in scenario.names:
        rule = "an acceleration is that over the host, whose time is unknown"
        faults.add(("workload",), rule, "add `workload.kernel`; `dse list kernels` has some", "")
    on_axis = "interface.device" in study.axes
    for row, record in enumerate(scenario.interfaces):
        path: Path = ("axes", "interface.device", row) if on_axis else ("interface", "device")
        if not on_axis and (study.interface is None or study.interface.device is None):
            path = ("interface", "includes" if section.includes else "acceleration")
        if inside[row] and scaled[row]:
            rule = f"{record.name} holds the device's computing already, and has an acceleration"
            faults.add(path, rule, "remove `includes` or `acceleration`")
        elif scaled[row] and study.stages:
            rule = f"{record.name} has an acceleration, and the stages compute as well"
            faults.add(path, rule, "remove `stages`, or the acceleration")
        elif inside[row] and study.stages:
            rule = f"{record.name} holds whole offloads, the device's {PART}"
            remedy = (
                "remove `stages`, or fit the record with `dse fit interface --per-byte computing`"
            )
            faults.add(path, rule, remedy)
        elif not (inside[row] or scaled[row] or study.stages):
            rule = f"{record.name} holds no computing, beside others that do"
            faults.add(path, rule, "compare it in a study with `stages`")
    return not study.stages


def whole_accelerator() -> Built:
    """Return the stage that stands for a whole accelerator."""
    one, none, unknown = np.ones(1), np.zeros(1), np.full(1, np.nan)
    metrics = CoreMetrics(
        clock_hz=np.full(1, np.inf),
        payload_bit=8.0 * one,
        cycles_per_task=one,
        latency_cycles=none,
        tasks_in_flight=one,
        read_byte=unknown,
        written_byte=unknown,
        extrapolated=none,
    )
    column = f"{NAME}.{NAME}"
    stage = Stage(NAME, Designs((NAME,), metrics), mixed=True, alone=True)
    return Built(stage, (counted(column, [1.0], column),))
