"""Demand of a study: rates, offloads of several sizes, their arrivals, and their program."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dse.algebra import units
from dse.contract import SIZE
from dse.model.mixed import PAYLOAD_OFFLOADED, TASKS_OFFLOADED, Parted
from dse.model.problem import Problem
from dse.study import schema
from dse.study.field_kinds import Mix
from dse.study.reader import Reader
from dse.study.scenario import Scenario

OFFERED = "workload_offload_rate_offload_per_s"
RATE = "workload_rate_bit_per_s"
_SAME = 1e-9
"""Relative difference within which a stated rate equals the rate of the offloads."""


def settle_demand(written: schema.StudyFile, scenario: Scenario, reader: Reader) -> None:
    """Set the rate that follows from a demanded rate of offloads, and note it.

    ``rate = 8 granularity * offload rate``, set on the axis if either of the two is one, else once.
    """
    constants, axes = scenario.constants, scenario.axes
    places = [place for place, axis in enumerate(axes) if {OFFERED, SIZE} & {*axis.columns}]
    offloads, size = map(scenario.column, (OFFERED, SIZE))
    where = written.place("workload.offload_rate")
    if offloads is None:
        return
    if size is None:
        rule = "without workload.granularity the size of an offload is unknown"
        reader.fault(where, rule, "add for instance `granularity: 1500 B`")
        return
    if len(places) > 1:
        rule = "only one of workload.offload_rate and workload.granularity can be an axis"
        reader.fault(where, rule, "set one of them to one value")
        return
    rate = 8.0 * size * offloads
    stated = scenario.column(RATE)
    alone = stated is not None and len(stated) == len(rate) == 1
    if stated is not None and not (alone and math.isclose(stated[0], rate[0], rel_tol=_SAME)):
        least, most = (units.show(float(end), RATE) for end in (np.min(rate), np.max(rate)))
        shown = least if least == most else f"{least} to {most}"
        rule = f"workload.offload_rate is {shown}, which contradicts workload.rate"
        reader.fault(written.place("workload.rate"), rule, "remove one of the two")
    elif places:
        axis = axes[places[0]]
        axes[places[0]] = replace(axis, columns={**axis.columns, RATE: rate})
    else:
        if stated is None:
            constants[RATE] = float(rate[0])
        else:  # the study states the rate itself
            del constants[OFFERED]
        pairs = ((offloads, OFFERED), (size, SIZE), (rate, RATE))
        count, one, all_ = (units.show(float(value[0]), name) for value, name in pairs)
        reader.notes.append(f"workload.offload_rate: {count} of {one} are a rate of {all_}")


def followers(problem: Problem, column: str) -> dict[str, float]:
    """Return the columns that a value of `column` sets as well, each a multiple of that value.

    If a study demands offloads, the rate follows their number and their size.
    """
    constants = problem.space.constants
    other = {OFFERED: SIZE, SIZE: OFFERED}.get(column)
    if other is None or OFFERED not in constants or other not in constants:
        return {}
    return {RATE: 8.0 * float(constants[other][0])}


def mix_of(written: schema.StudyFile) -> Mix | None:
    """Return the mix of sizes of a study, or None for offloads of one size."""
    mix = written.workload.granularity
    return mix if isinstance(mix, Mix) and "workload.granularity" not in written.axes else None


def check_mix(scenario: Scenario, *, meet: bool, reader: Reader) -> None:
    """Report errors of a study with a mix of sizes.  With `meet`, clocks meet the rate."""
    if scenario.mix is None:
        return
    columns = scenario.names
    path = ("workload", "granularity")
    if "interface_in_flight" not in columns:
        rule = "a mix is one of offloads, and a study without an interface has none"
        reader.fault(path, rule, "add `interface`, or write one size")
    if "workload_chained" in columns:
        rule = "tasks of a stream that wait for each other are not modelled for a mix of sizes"
        reader.fault(path, rule, "write one size, or remove `chained`")
    if meet:
        rule = "at clocks that only just meet the rate, offloads of several sizes do not reach it"
        reader.fault(path, rule, "write `clock: 1`, or other fractions, in the stages")


POLICY, ABOVE = "workload.offload_above", "workload_offload_above_byte"
CV2 = "workload_size_cv2"


def _replace_threshold(scenario: Scenario, columns: Mapping[str, NDArray[np.float64]]) -> None:
    """Put the columns of all thresholds on the axis of these, or among the constants."""
    place = next((n for n, one in enumerate(scenario.axes) if ABOVE in one.columns), None)
    if place is None:
        del scenario.constants[ABOVE]
        scenario.constants |= {name: float(values[0]) for name, values in columns.items()}
    else:
        axis = scenario.axes[place]
        scenario.axes[place] = replace(axis, columns={**axis.columns, **columns})


def settle_policy(written: schema.StudyFile, scenario: Scenario, reader: Reader) -> None:
    """Part the mix of a study by its policy, and report errors of the policy.

    Every threshold, one or several of an axis, sets the mean offloaded size, the variation of
    sizes, and the offloaded shares of all tasks and of all payload.
    """
    if scenario.mix is not None:
        scenario.parts = (parted(scenario.mix),)
    thresholds = scenario.column(ABOVE)
    if thresholds is None:
        return
    mix, here = mix_of(written), reader.below(*written.place(POLICY))
    if mix is None:
        rule = "sizes that stay on the host are some of a mix, and workload.granularity is none"
        here.fault((), rule, "write for instance granularity: {64 B: 3/4, 1500 B: 1/4}")
        return
    _check_rest(scenario, here)
    for threshold in thresholds.tolist():
        _check_threshold(mix, threshold, here)
    if thresholds.max() >= max(mix.sizes):
        return
    sent = [parted(mix, threshold) for threshold in thresholds.tolist()]
    scenario.parts = tuple({one.share: one for one in sent}.values())
    columns = {
        SIZE: np.array([one.mean for one in sent]),
        CV2: np.array([one.cv2 for one in sent]),
        TASKS_OFFLOADED: np.array([one.share for one in sent]),
        PAYLOAD_OFFLOADED: np.array([one.share * one.mean / mix.value for one in sent]),
    }
    _replace_threshold(scenario, columns)
    reader.notes.append(
        f"{POLICY}: throughput, limits, times and waits are of what is offloaded; host cores, "
        "power and energy are of all; cores for the sizes that stay are set apart"
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


def _check_threshold(mix: Mix, threshold: float, reader: Reader) -> None:
    least, most = min(mix.sizes), max(mix.sizes)
    shown = [units.show(value, SIZE) for value in (threshold, least, most)]
    if threshold >= most:
        rule = f"no size is above {shown[0]}: all stay, which is the host alone"
        reader.fault((), rule, f"write less than {shown[2]}; answers include the host alone")
    elif 0 < threshold < least:
        rule = f"the least size is {shown[1]}, so that none stays on the host"
        reader.fault((), rule, f"write at least {shown[1]}, or 0 B to offload every size")


def _check_rest(scenario: Scenario, reader: Reader) -> None:
    """Report an error if a study lacks the facts about the work that stays on the host."""
    if "kernel_index_s_per_byte" not in scenario.names:
        rule = "the time of the host for the sizes that stay is unknown"
        reader.fault((), rule, "add workload.kernel; `dse list kernels` shows the names")
    if RATE not in scenario.names:
        rule = "without workload.rate the work that stays on the host is unknown"
        reader.fault((), rule, "set workload.rate, or workload.offload_rate")
    if "workload_program_offloads_hz" in scenario.names:
        rule = "every call of the kernel in workload.program_offloads is taken to be offloaded"
        reader.fault((), rule, "remove it, or workload.program_offloads and its share")


ARRIVAL_CV2 = "workload_arrival_cv2"
ARRIVALS = "workload.arrivals"
_VARY = ("are of several sizes", "do not arrive steadily")


def check_arrivals(
    written: schema.StudyFile, scenario: Scenario, *, meet: bool, reader: Reader
) -> None:
    """Report arrivals that make no sense in a study, and note their assumed law.

    With `meet`, clocks meet the rate.
    """
    most = scenario.highest(ARRIVAL_CV2)
    if most is None:
        return
    if not most and scenario.mix is None:
        return
    place = written.place(ARRIVALS)
    if "interface_in_flight" not in scenario.names:
        rule = "only offloads arrive, and a study without an interface has none"
        reader.fault(place, rule, "add `interface`, or remove it")
        return
    if scenario.highest("workload_rate_bit_per_s") is None:
        rule = (
            "without workload.rate a design carries all that it can, and offloads that "
            f"{_VARY[most > 0]} would wait forever"
        )
        reader.fault(place, rule, "set workload.rate")
    if meet:
        rule = (
            "clocks that meet the rate leave nothing to spare, and offloads that "
            f"{_VARY[most > 0]} would wait forever"
        )
        reader.fault(place, rule, "write `clock: 1`, or other fractions, in the stages")
    laws = {"hyperexponential with balanced means": most > 1, "gamma distributed": 0 < most < 1}
    for law, taken in laws.items():
        if taken:
            reader.notes.append(
                f"gaps between arrivals with a cv2 of {most:g} are taken to be {law}; others of "
                "that cv2 wait longer or less, see docs/models/waiting.md"
            )


SHARE, OFFLOADS = "workload.program_share", "workload.program_offloads"


def check_program(written: schema.StudyFile, scenario: Scenario, reader: Reader) -> None:
    """Report a program with a missing part, or whose kernel takes more than all of it."""
    given = [name for name in (SHARE, OFFLOADS) if written.gives(name)]
    if not given:
        return
    if len(given) == 1:
        other, example = (OFFLOADS, "100 kHz") if given == [SHARE] else (SHARE, "30 %")
        rule = f"what offloads do for a program needs {SHARE} and {OFFLOADS}"
        reader.fault(written.place(given[0]), rule, f"add for instance {other}: {example}")
    if (scenario.highest("workload_program_share") or 0.0) > 1.0:
        reader.fault(written.place(SHARE), "a share is at most 1", "write for instance 30 %")
    if "interface_in_flight" not in scenario.names:
        rule = "offloads of a program pass an interface, and this study has none"
        reader.fault(written.place(given[0]), rule, "add `interface`, or remove it")
