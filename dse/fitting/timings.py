"""Times of calls by size, on the host and offloaded, read from CSV files and programs' outputs."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from dse.algebra import units
from dse.errors import ArgumentError, DseError, Fault, Position, UnitError, refuse
from dse.files import headers
from dse.files.csv import CsvTable, parse_csv
from dse.fitting.curves import LEAST_SIZES, Array
from dse.fitting.outputs import ProgramOutput, common_keys, key_text, parse_output, read_text
from dse.reports.text import listed

_TIMES = ("s", "op_per_s", "byte_per_s", "bit_per_s", "cycles", "cycles_per_byte")
COLUMNS: Mapping[str, tuple[str, ...]] = {
    "granularity": ("byte",),
    "host": _TIMES,
    "offload": _TIMES,
    "host_cpu": ("",),
    "offload_cpu": ("",),
}
"""Names of headers before the unit, and the units of each, the usual one first."""

_REMARK = re.compile(r"^# (machine|version|algorithm|repetitions): (.*\S)\s*$", re.MULTILINE)
_OF_CSV = re.compile(r"\A(?:[\ufeff\s]*#[^\n]*\n)*[^\n]*\bgranularity", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True, eq=False)
class Timings:
    """Times by granularity, ascending: sizes in B, times in s, of (sizes,).

    `files` are names and contents, `facts` statements in them.  Loads are shares of a host core,
    None if unknown.  Of several offloads `in_flight`, times are between results.
    """

    size: Array
    host: Array | None
    offload: Array
    files: tuple[tuple[str, bytes], ...]
    facts: Mapping[str, str]
    host_cpu: Array | None = None
    offload_cpu: Array | None = None
    in_flight: int = 1
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class TimingOptions:
    """Arguments of the command besides the files: see `dse.fit.interface`."""

    algorithm: str | None = None
    clock: str | None = None
    cpu_load: str | None = None
    in_flight: int | None = None

    @property
    def clock_hz(self) -> float | None:
        """The clock of times in cycles."""
        if self.clock is None:
            return None
        try:
            clock = units.parse_clock(self.clock)
        except UnitError as error:
            raise UnitError(f"--clock {self.clock!r}: {error.rule}", error.remedy) from error
        if clock <= 0:
            raise UnitError(f"--clock {self.clock!r}: it must be positive", 'write "3 GHz"')
        return clock


def read_timings(
    data: Path | None, software: Path | None, hardware: Path | None, given: TimingOptions
) -> Timings:
    """Return the times in a CSV of both curves, or in one file of each, or of the offload only."""
    if data is not None and software is None and hardware is None:
        if given.algorithm is not None:
            raise DseError("--algorithm chooses among outputs of programs; remove it")
        found = read_csv(data, given.clock_hz, given.in_flight)
    elif data is None and hardware is not None:
        slow = None if software is None else _read(software, "host", given.clock_hz)
        fast = _read(hardware, "offload", given.clock_hz)
        found = _paired(slow, fast, given)
    else:
        raise DseError(
            "a fit needs a CSV of granularity, host and offload times, or --hardware, the "
            "accelerator's output, best with --software, the host's; name one or the other"
        )
    if given.cpu_load is None:
        return found
    if found.offload_cpu is not None:
        raise ArgumentError("--cpu-load: the file has a load already; leave it out")
    load = units.parse(given.cpu_load, "load")
    if not 0 < load <= 1:
        raise UnitError(f"--cpu-load {given.cpu_load!r}: a share of one core", 'write "38%"')
    return replace(found, offload_cpu=np.full(len(found.size), load))


def read_csv(path: Path, clock_hz: float | None = None, in_flight: int | None = None) -> Timings:
    """Read granularity, host and offload, times perhaps as rates or in cycles of `clock_hz`."""
    data, text = read_text(path)
    columns, rates = _columns(parse_csv(data, str(path)), ("granularity", "offload"), clock_hz)
    order = np.argsort(columns["granularity"])
    picked = {name: column[order] for name, column in columns.items()}
    return Timings(
        size=picked["granularity"],
        host=picked.get("host"),
        offload=picked["offload"],
        host_cpu=picked.get("host_cpu"),
        offload_cpu=picked.get("offload_cpu"),
        files=((path.name, data),),
        facts=dict(_REMARK.findall(text)),
        in_flight=_under_way(path, None if "offload" in rates else 1, in_flight),
    )


def _columns(
    table: CsvTable, needed: Sequence[str], clock_hz: float | None
) -> tuple[dict[str, Array], set[str]]:
    """Return the columns in SI, times of calls in s, and which of them were rates."""
    faults: list[Fault] = []
    found: dict[str, Array] = {}
    written: dict[str, str] = {}
    for column, text in enumerate(table.headers):
        try:
            header = headers.read_header(text)
        except UnitError as error:
            if text.casefold().startswith(tuple(COLUMNS)):  # others are ignored
                faults.append(table.fault(None, column, error.rule, error.remedy))
            continue
        name = (units.stem(header.name) or header.name).casefold().removesuffix("_time")
        name = {"time": needed[-1], "cpu": f"{needed[-1]}_cpu"}.get(name, name)
        if name in found:
            faults.append(table.fault(None, column, f"there is a {name} already", "remove one"))
        elif name in COLUMNS:
            written[name] = units.suffix(header.name)
            faults += _unit_faults(table, column, name, written[name], clock_hz)
            found[name] = table.numbers(column, header.factor, faults)
            faults += _value_faults(table, column, found[name], once=name == "granularity")
    for name in needed:
        if name not in found:
            rule, remedy = f"the column {name!r} is missing", f"add {_example(name)}"
            faults.append(Position(table.lines[0], 1, table.file).fault((), "", rule, remedy))
    refuse([*faults, *_too_few(table.file, len(table))])
    for name in found.keys() & {"host", "offload"}:
        unit = written[name]
        found[name] = _seconds(found[name], found["granularity"], unit, clock_hz or math.nan)
    return found, {name for name, unit in written.items() if unit.endswith("per_s")}


def _too_few(file: str, count: int) -> Iterator[Fault]:
    """Yield an error if a fit would have no size left to check it."""
    if count < LEAST_SIZES:
        rule = f"a curve has {LEAST_SIZES - 1} parameters or more, and needs one size more"
        remedy = f"measure at least {LEAST_SIZES}"
        yield Position(1, 1, file).fault((), f"{count} sizes", rule, remedy)


def _under_way(path: Path, known: int | None, given: int | None) -> int:
    """Return how many offloads are under way at a time: by the file, else by the command."""
    if known is None and given is None:
        raise ArgumentError(
            f"{path} does not state the number of offloads under way at a time; add --in-flight N, "
            "1 if each waits for the one before"
        )
    if given is not None and known not in (None, given):
        raise ArgumentError(f"--in-flight {given}: {path} has {known}; leave it out")
    return int(known or given or 1)


def _seconds(written: Array, size: Array, unit: str, clock_hz: float) -> Array:
    """Return the times of calls, given in any unit of `COLUMNS`."""
    if unit.endswith("per_s"):
        work = {"op": np.ones(len(size)), "byte": size, "bit": 8 * size}
        return work[unit.removesuffix("_per_s")] / written
    if unit.startswith("cycles"):
        written = written / clock_hz
    return written * size if unit.endswith("per_byte") else written


def _unit_faults(
    table: CsvTable, column: int, name: str, unit: str, clock_hz: float | None
) -> Iterator[Fault]:
    if unit not in COLUMNS[name]:
        known = listed([units.label(f"_{one}") or "a share" for one in COLUMNS[name]], "or")
        rule = f"{name} is given in {known}, with any prefix"
        yield table.fault(None, column, rule, f"write {_example(name)}")
    elif unit.startswith("cycles") and clock_hz is None:
        rule, remedy = "the time of a cycle is missing", 'add --clock "3 GHz"'
        yield table.fault(None, column, rule, remedy)


def _example(name: str) -> str:
    unit = COLUMNS[name][0]
    return f"{name}_us" if unit == "s" else f"{name}_{unit or 'percent'}"


def _value_faults(table: CsvTable, column: int, values: Array, *, once: bool) -> Iterator[Fault]:
    """Yield an error for each value that is not positive, or that may be there only once."""
    seen = values.tolist()
    for row, value in enumerate(seen):
        if value <= 0:
            rule, remedy = "it must be above zero", "correct it, or remove the row"
            yield table.fault(row, column, rule, remedy)
        if once and (first := seen.index(value)) != row:
            rule = f"line {table.lines[first + 1]} has this size already"
            remedy = "keep one row per size: the median of its repetitions"
            yield table.fault(row, column, rule, remedy)


def _read(path: Path, curve: str, clock_hz: float | None) -> ProgramOutput:
    """Return one curve of a file: of a program's output, or of a CSV."""
    data, text = read_text(path)
    if not _OF_CSV.match(text):
        return parse_output(text, path, data, clock_hz)
    columns, rates = _columns(parse_csv(data, str(path)), ("granularity", curve), clock_hz)
    found = ProgramOutput(path, data, in_flight=None if curve in rates else 1)
    found.facts = dict(_REMARK.findall(text))
    name, _, direction = found.facts.pop("algorithm", "").partition(" ")
    sizes = columns["granularity"].tolist()
    for size, time in zip(sizes, columns[curve].tolist(), strict=True):
        found.add((name, direction), size, time)
    found.loads = dict(zip(sizes, columns.get(f"{curve}_cpu", np.array([])).tolist(), strict=False))
    return found


def _paired(slow: ProgramOutput | None, fast: ProgramOutput, given: TimingOptions) -> Timings:
    """Return the times of the sizes that both outputs have, or only the times of the engine."""
    outputs = {"software": slow, "hardware": fast} if slow else {"hardware": fast}
    refuse(fault for one in outputs.values() for fault in one.faults)
    keys = common_keys([*outputs.values()], given.algorithm)
    pairs = [*zip(outputs.values(), keys, strict=True)]
    each = [set(one.times[key]) for one, key in pairs]
    sizes = sorted(each[0] & each[-1])
    refuse(_too_few(str(fast.path), len(sizes)))
    times = [np.array([one.time_s(key, size) for size in sizes]) for one, key in pairs]
    loads = [
        np.array([one.loads[size] for size in sizes]) if one.loads else None for one, _ in pairs
    ]
    named = key_text(max(keys, key=lambda key: (bool(key[0]), bool(key[1]))))
    facts = {"algorithm": named} | {
        f"{kind}_{fact}": text for kind, one in outputs.items() for fact, text in one.facts.items()
    }
    return Timings(
        size=np.array(sizes, dtype=np.float64),
        host=times[0] if slow else None,
        offload=times[-1],
        files=tuple((one.path.name, one.data) for one in outputs.values()),
        facts=facts,
        host_cpu=loads[0] if slow else None,
        offload_cpu=loads[-1],
        in_flight=_under_way(fast.path, fast.in_flight, given.in_flight),
        notes=tuple(_pair_notes(fast, sorted(each[0] ^ each[-1]))),
    )


def _pair_notes(fast: ProgramOutput, lonely: list[float]) -> Iterator[str]:
    """Yield the sizes that only one output has, and a doubt about the clock of the engine's."""
    if lonely:
        shown = ", ".join(units.show(size, "size_byte") for size in lonely)
        yield f"omitted, because only one output has it: {shown}"
    if not fast.elapsed:
        yield (
            f"{fast.path.name} does not state that its seconds elapsed, and seconds of the CPU "
            "omit waits: measure with -elapsed, and keep the standard error of openssl"
        )
