"""Work and surroundings of the cores: workload, interface and budget, as columns and axes.

A record of a catalogue (`Interface`, `Platform`, `Kernel`) sets a group of columns, named
``<section>_<field>``.  Fields of the study override single columns, and axes come last.  Offloads
have a rate, sizes, arrivals, and a program that they are of.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse import contract, removed
from dse.algebra import units
from dse.contract import SIZE
from dse.errors import UnitError, nearest
from dse.model.mixed import PAYLOAD_OFFLOADED, TASKS_OFFLOADED, Parted
from dse.model.problem import Problem
from dse.model.space import Axis
from dse.study import schema
from dse.study.field_kinds import (
    Coded,
    Given,
    Mix,
    StudySection,
    choices,
    expand,
    free_axis,
    numeric,
)
from dse.study.reader import Path, Reader
from dse.study.records import record_of
from dse.study.scenario import (
    Scenario,
    field_path,
    interface_columns,
    kernel_columns,
    platform_columns,
)
from dse.study.schema import UNWRITTEN, declared_neutral, unspecified_fields

DEVICE, KERNEL, PLATFORM = "interface.device", "workload.kernel", "budget.platform"
RECORD_READERS: Mapping[str, tuple[Any, Callable[[Any], dict[str, float]]]] = {
    DEVICE: (contract.Interface, interface_columns),
    KERNEL: (contract.Kernel, kernel_columns),
    PLATFORM: (contract.Platform, platform_columns),
}
"""Axes of records: their kind, and the columns that a record sets."""


def resolve(study: schema.StudyFile, reader: Reader) -> Scenario:
    """Return the scenario of a study.  Errors go to `reader`."""
    workload, axes, own = study.workload, dict(study.axes), study.evaluate is not None
    scenario = Scenario()
    if isinstance(workload.granularity, Mix) and "workload.granularity" not in axes:
        scenario.mix = workload.granularity
    if isinstance(workload.kernel, schema.KernelSection) and KERNEL not in axes:
        scenario.constants.update(workload.kernel.givens())
    else:
        scenario.kernels, axis = _named(KERNEL, workload.kernel, axes, scenario, reader)
        reader.notes += scenario.sureness.keep(scenario.kernels, axis=axis)
    scenario.constants.update(workload.givens())
    if workload.chained or "workload.chained" in axes:
        scenario.constants["workload_chained"] = float(workload.chained)
        scenario.constants.setdefault("workload_streams", 1.0)
    if study.interface is not None or any(path.startswith("interface.") for path in axes):
        _interface(study, axes, scenario, reader)
    platforms, axis = _named(PLATFORM, study.budget.platform, axes, scenario, reader)
    reader.notes += scenario.sureness.keep(platforms, study.budget, axis)
    _override(study.budget, scenario)
    for path, written in axes.items():
        open_axis(path, written, scenario, reader, own=own)
    _check_cycles(scenario, reader)
    check_program(study, scenario, reader)
    settle_demand(study, scenario, reader)
    if "interface_in_flight" in scenario.names:
        settle_attachments(study, scenario, reader)
    return scenario


def _interface(
    study: schema.StudyFile, axes: dict[str, Any], scenario: Scenario, reader: Reader
) -> None:
    written = study.interface or schema.InterfaceSection()
    area, leakage = written.buffer_area, written.buffer_leakage
    if area is not None and area.value == 0.0 and leakage is None:  # nothing is stored
        none = Given(column="interface_buffer_leakage_w_per_bit", value=0.0)
        written = written.model_copy(update={"buffer_leakage": none})
        study = study.model_copy(update={"interface": written})
    if written.link is not None and written.pcie is not None:
        reader.notes.append("interface: of `link` and `pcie`, the slower counts")
    found, axis = _named(DEVICE, written.device, axes, scenario, reader)
    if not (found or axis):
        nameless = "the interface of the study"
        found = [contract.Interface(name=nameless, unspecified=tuple(UNWRITTEN))]
        scenario.constants.update(interface_columns(found[0]))
    scenario.interfaces = found
    _note_unspecified(study, scenario, reader)
    _note_hosts(study, scenario, reader)
    reader.notes += scenario.sureness.keep(found, written, axis)
    _override(written, scenario)
    if not study.gives("workload.granularity"):
        rule = "a study with an interface needs workload.granularity, the size of one offload"
        remedy = "add for instance `granularity: 4 KiB` to `workload`"
        reader.fault(("interface",), rule, remedy, "")
    if written.host_power is not None and scenario.highest("interface_host_cores") == math.inf:
        rule = "the power of a busy core is host_power / host_cores, and the cores are unknown"
        reader.fault(("interface", "host_power"), rule, "add for instance `host_cores: 8`")


def _check_cycles(scenario: Scenario, reader: Reader) -> None:
    """Report cycles of a host whose clock is unknown, for each record separately."""
    device = next((axis for axis in scenario.axes if axis.name == DEVICE), None)
    in_cycles = sorted(name for name in scenario.names if "_cycle" in name)
    for row in range(1 if device is None else device.size):
        values = {name: _value_at(row, name, device, scenario) for name in in_cycles}
        given = [name for name, value in values.items() if value not in (0.0, math.inf)]
        if given and _value_at(row, "interface_host_clock_hz", device, scenario) == math.inf:
            place = ("interface",) if device is None else ("axes", DEVICE, row)
            field = field_path(given[0]).rpartition(".")[2]
            rule = f"{field} is in cycles of a host whose clock is unknown"
            remedy = "add for instance `host_clock: 3 GHz`, or write times in seconds"
            reader.fault(place, rule, remedy, "" if device is None else None)


def _value_at(row: int, name: str, device: Axis | None, scenario: Scenario) -> float | None:
    """Return the value of a column for the device at a row, or the largest of another axis."""
    values = scenario.column(name)
    own = device is not None and values is device.columns.get(name)
    return None if values is None else float(values[row] if own else values.max())


def _named(
    path: str, name: Any, axes: dict[str, Any], scenario: Scenario, reader: Reader
) -> tuple[list[Any], str]:
    """Return the records that an axis names, and the axis, or the record that a field names."""
    if path in axes:
        return _record_axis(path, axes.pop(path), scenario, reader), path
    found = []
    kind, columns_of = RECORD_READERS[path]
    if name is not None:
        with reader.at(tuple(path.split("."))):
            found.append(record_of(kind, name, reader))
            columns = columns_of(found[0]).items()
            scenario.constants.update({n: value for n, value in columns if not math.isnan(value)})
    return found, ""


def _override(section: StudySection, scenario: Scenario) -> None:
    """Replace the values of a record by the fields of a section, all columns of the field."""
    scenario.override(section.givens())
    amounts = (one for one in vars(section).values() if isinstance(one, Given))
    scenario.sureness.zeros |= {("", 0, one.column) for one in amounts if one.value == 0.0}
    for name, declared in type(section).declared().items():
        column, chosen = declared.columns[0], getattr(section, name)
        if isinstance(declared, Coded) and chosen is not None:
            scenario.override({column: schema.code(column, chosen)})


def _note_unspecified(study: schema.StudyFile, scenario: Scenario, reader: Reader) -> None:
    """Note the assumptions for fields that neither record nor study nor an axis gives."""
    names = schema.InterfaceSection.model_fields
    omitted = unspecified_fields({name for name in names if study.gives(f"interface.{name}")})
    silent: dict[str, list[str]] = {}
    for row, record in enumerate(scenario.interfaces):
        assumed = {name: UNWRITTEN[name] for name in omitted if name in record.unspecified}
        if assumed:
            scenario.sureness.unspecified[row] = tuple(assumed)
            silent.setdefault(", ".join(assumed.values()), []).append(record.name)
    reader.notes += [
        f"interface: not specified by {', '.join(records)}, so assumed: {words}"
        for words, records in silent.items()
    ]


def _note_hosts(study: schema.StudyFile, scenario: Scenario, reader: Reader) -> None:
    records, powered = scenario.interfaces, study.gives("interface.host_power")
    own = None if study.interface is None else study.interface.host
    for kernel in scenario.kernels:
        hosts = {record.name: own or record.host for record in records}
        others = [name for name, host in hosts.items() if host and host != kernel.host]
        if kernel.host and others:
            reader.notes.append(
                f"kernel {kernel.name} was measured on {kernel.host}, not the host of "
                f"{', '.join(others)}: speedup, break-even and the host alone refer "
                f"to {kernel.host}"
            )
    for row, record in enumerate(records):
        if record.note and len(records) == 1:
            reader.notes.append(f"{record.name}: {record.note}")
        if record.host_power_w is None and not powered:
            unspecified = scenario.sureness.unspecified
            unspecified[row] = (*unspecified.get(row, ()), "host_power")
            reader.notes.append(
                f"{record.name}: the host's power is unknown and not part of total power"
            )


def open_axis(path: str, written: Any, scenario: Scenario, reader: Reader, *, own: bool) -> None:
    """Add one axis.  With `own`, it may have its own name, as in a measured study."""
    where, unit = ("axes", path), schema.FIELDS.get(path)
    if path in RECORD_READERS:
        _record_axis(path, written, scenario, reader)
    elif path not in schema.DECLARED and ("." in path or not own):
        rule = (
            "an axis is a field of workload, interface or budget (instances, clock and "
            "parameters of a stage take their values in the stage)"
        )
        instead = removed.remedy("field", path)
        remedy = instead or nearest(path, schema.DECLARED)
        reader.fault(where, removed.RULE if instead else rule, remedy, repr(path))
    else:
        with reader.at(where):
            if unit is not None:
                axis = numeric(path, unit, written)
            elif path in schema.DECLARED:
                axis = _code_axis(path, written)
            else:
                axis = free_axis(path, written, scenario.names)
            scenario.axes.append(axis)


def _code_axis(path: str, written: Any) -> Axis:
    column = path.replace(".", "_")
    known = schema.CHOICES.get(column)
    if known is None:
        raise UnitError(f"{path} cannot be an axis", "write one value in its section")
    listed = [str(value).lower() for value in (written if isinstance(written, list) else [written])]
    for value in listed:
        if value not in known:
            raise UnitError(f"{value!r} is not a value of {path}", nearest(value, known))
    values = np.array([known.index(value) for value in listed], dtype=np.float64)
    return choices(path, {column: values}, listed)


def _record_axis(path: str, written: Any, scenario: Scenario, reader: Reader) -> list[Any]:
    """Add an axis over records of a catalogue, and return the records."""
    kind, columns_of = RECORD_READERS[path]
    here, found = reader.below("axes", path), list[Any]()
    names: dict[Path, Any] = {(): written}
    if isinstance(written, list):
        names = {(place,): name for place, name in enumerate(written)}
    with here.at(()):
        texts = [name for name in names.values() if isinstance(name, str)]
        expand(texts, lambda name: name, integer=False)
    for place, name in names.items():
        with here.at(place):
            found.append(record_of(kind, str(name), reader))
    if len(found) != len(names) or not found or _alike(found, [*names], here):
        return []
    rows = [columns_of(record) for record in found]
    columns = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    scenario.axes.append(choices(path, columns, [record.name for record in found]))
    return found


def _alike(found: Sequence[Any], places: Sequence[Path], reader: Reader) -> bool:
    """Return whether two records have one name or label, which is reported."""
    read = [getattr(record, "label", "") or record.name for record in found]
    for what, words in (("name", [record.name for record in found]), ("label", read)):
        for place, word in zip(places, words, strict=True):
            if words.index(word) < places.index(place):
                rule = f"another of the choices is called {word!r} too"
                reader.fault(place, rule, f"give the record another {what}")
                return True
    return False


_SHARE, _RETRANSMIT = "interface_overhead_share", "interface_retransmit_share"

_SPLIT = (
    "interface: of overhead_plus_latency only the sum is known: all of it is taken as overhead, "
    "unless overhead_share is another part"
)

_OWNERS = {
    "overhead_plus_latency": (
        "it divides overhead_plus_latency, and no interface of the study has one",
        "remove it, or write the sum in place of overhead and latency",
    ),
    "pcie": (
        "it describes a PCI Express link, and no interface of the study has one",
        "add for instance `pcie: gen4 x8` to `interface`",
    ),
    "attachment": (
        "an engine that reads its record again is on the way of the data, and no interface of the "
        "study is",
        "write `attachment: inline` in that interface",
    ),
    "retransmit_share": (
        "it describes segments that are sent again, and no interface of the study has any",
        "add for instance `retransmit_share: 1 %` to `interface`",
    ),
}
"""Errors of a field that belongs to another field, which no interface of a study has."""


def settle_attachments(study: schema.StudyFile, scenario: Scenario, reader: Reader) -> None:
    """Omit columns that no interface of a study has, complete the rest, and note assumptions.

    A field that describes a missing link is an error.
    """
    gone = _leave_out_unused(scenario)
    if _SHARE in scenario.names and not study.gives("interface.overhead_share"):
        reader.notes.append(_SPLIT)
    written = study.interface or schema.InterfaceSection()
    parts = [name for name in ("overhead", "latency") if getattr(written, name) is not None]
    if written.overhead_plus_latency is not None and parts:
        rule = f"overhead_plus_latency is the sum already, and {parts[0]} would be added to it"
        reader.fault(("interface", parts[0]), rule, "remove one of the two")
    if _RETRANSMIT in scenario.names and not study.gives("interface.segment"):
        shown = units.show(declared_neutral("interface_segment_byte"), "interface_segment_byte")
        reader.notes.append(f"interface: segments are taken as {shown}")
    for path, owners in gone.items():
        name = path.removeprefix("interface.")
        if name not in owners and owners[0] in _OWNERS and study.gives(path):
            reader.fault(study.place(path), *_OWNERS[owners[0]])
    if assumed := _complete_usual(scenario):
        reader.notes.append(f"interface: assumed of PCI Express: {', '.join(assumed)}")


def _leave_out_unused(scenario: Scenario) -> dict[str, tuple[str, ...]]:
    """Remove the columns of fields that belong to neutral ones, and return each field and those."""
    known = {path: one for path, one in schema.DECLARED.items() if one}
    gone = {
        path: one.belongs_to
        for path, one in known.items()
        if one.belongs_to
        and all(
            (values == declared_neutral(column)).all()
            for column in schema.owners_of(one.columns[0])
            for values in scenario.setters(column)
        )
    }
    columns = {column for path in gone for column in known[path].columns}
    for column in columns:
        scenario.constants.pop(column, None)
    scenario.remove(columns)
    return gone


def _complete_usual(scenario: Scenario) -> list[str]:
    """Set omitted values of a link to their usual values, and return these in words."""
    constants, assumed = scenario.constants, []
    fields = schema.FIELDS.values()
    for name, usual in ((unit.columns[0], unit.usual) for unit in fields):
        if usual is None:
            continue
        field = units.stem(name).removeprefix("interface_")
        if any(np.isinf(values).any() for values in scenario.setters(name)):
            assumed.append(f"{field} {units.show(usual, name)}")
        if constants.get(name) == math.inf:
            constants[name] = usual
        for place, axis in enumerate(scenario.axes):
            if name in axis.columns:
                values = axis.columns[name]
                columns = {**axis.columns, name: np.where(np.isinf(values), usual, values)}
                scenario.axes[place] = replace(axis, columns=columns)
    return assumed


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
    mix, here = scenario.mix, reader.below(*written.place(POLICY))
    if mix is None:
        rule = "sizes that stay on the host are some of a mix, and workload.granularity is none"
        here.fault((), rule, "write for instance granularity: {64 B: 3/4, 1500 B: 1/4}")
        return
    _check_policy(mix, thresholds, scenario, here)
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
    place = next((n for n, one in enumerate(scenario.axes) if ABOVE in one.columns), None)
    if place is None:
        del scenario.constants[ABOVE]
        scenario.constants |= {name: float(values[0]) for name, values in columns.items()}
    else:
        axis = scenario.axes[place]
        scenario.axes[place] = replace(axis, columns={**axis.columns, **columns})
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


def _check_policy(
    mix: Mix, thresholds: NDArray[np.float64], scenario: Scenario, reader: Reader
) -> None:
    """Report thresholds that part no sizes, and missing facts about the work on the host."""
    if "kernel_index_s_per_byte" not in scenario.names:
        rule = "the time of the host for the sizes that stay is unknown"
        reader.fault((), rule, "add workload.kernel; `dse list kernels` shows the names")
    if RATE not in scenario.names:
        rule = "without workload.rate the work that stays on the host is unknown"
        reader.fault((), rule, "set workload.rate, or workload.offload_rate")
    if "workload_program_offloads_hz" in scenario.names:
        rule = "every call of the kernel in workload.program_offloads is taken to be offloaded"
        reader.fault((), rule, "remove it, or workload.program_offloads and its share")
    least, most = min(mix.sizes), max(mix.sizes)
    for threshold in thresholds.tolist():
        shown = [units.show(value, SIZE) for value in (threshold, least, most)]
        if threshold >= most:
            rule = f"no size is above {shown[0]}: all stay, which is the host alone"
            reader.fault((), rule, f"write less than {shown[2]}; answers include the host alone")
        elif 0 < threshold < least:
            rule = f"the least size is {shown[1]}, so that none stays on the host"
            reader.fault((), rule, f"write at least {shown[1]}, or 0 B to offload every size")


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
    if most is None or not (most or scenario.mix):
        return
    place = written.place(ARRIVALS)
    if "interface_in_flight" not in scenario.names:
        rule = "only offloads arrive, and a study without an interface has none"
        reader.fault(place, rule, "add `interface`, or remove it")
        return
    forever = f"and offloads that {_VARY[most > 0]} would wait forever"
    if scenario.highest("workload_rate_bit_per_s") is None:
        rule = f"without workload.rate a design carries all that it can, {forever}"
        reader.fault(place, rule, "set workload.rate")
    if meet:
        rule = f"clocks that meet the rate leave nothing to spare, {forever}"
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
    if "interface_in_flight" not in scenario.names:
        rule = "offloads of a program pass an interface, and this study has none"
        reader.fault(written.place(given[0]), rule, "add `interface`, or remove it")
