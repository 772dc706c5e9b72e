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
from dse.fitting.interface.curves import LEAST_SIZES, Array
from dse.fitting.interface.outputs import (
    ProgramOutput,
    common_keys,
    key_text,
    parse_output,
    read_text,
)
from dse.reports.text import listed

_TIMES = ("s", "op_per_s", "byte_per_s", "bit_per_s", "cycles", "cycles_per_byte")
COLUMNS: Mapping[str, tuple[str, ...]] = {
    "granularity": ("byte",),
    "host": _TIMES,
    "offload": _TIMES,
    "host_cpu": ("",),
    "offload_cpu": ("",),
}
"""What a header says before its unit -> the units that it may have; the first is the usual one."""

_REMARK = re.compile(r"^# (machine|version|algorithm|repetitions): (.*\S)\s*$", re.MULTILINE)
_OF_CSV = re.compile(r"\A(?:[\ufeff\s]*#[^\n]*\n)*[^\n]*\bgranularity", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True, eq=False)
class Timings:
    """Times by granularity, ascending.

    Attributes
    ----------
    size
        Bytes, (sizes,).
    host, offload
        Seconds, (sizes,); None without a host.
    files
        Names of the files they come from, and what stands there.
    facts
        What the files say of themselves: machine, version, algorithm.
    host_cpu, offload_cpu
        Share of a host core that is busy meanwhile, (sizes,); None where nobody says.
    in_flight
        Offloads under way at a time; 1 where each waits for the one before.
    notes
        What was omitted.
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

    def of_cpu(self) -> Timings | None:
        """Return the times that a host core is busy; None where no load of an offload is known."""
        if self.host is None or self.offload_cpu is None:
            return None
        busy = 1.0 if self.host_cpu is None else self.host_cpu
        return replace(self, host=self.host * busy, offload=self.offload * self.offload_cpu)


@dataclass(frozen=True, kw_only=True)
class TimingOptions:
    """What the command gives besides the files: see `dse.fit.interface`."""

    algorithm: str | None = None
    clock: str | None = None
    cpu_load: str | None = None
    in_flight: int | None = None

    @property
    def clock_hz(self) -> float | None:
        """The clock of times in cycles."""
        return None if self.clock is None else _clock_hz(self.clock)


NOTHING = TimingOptions()


def read_timings(
    data: Path | None, software: Path | None, hardware: Path | None, given: TimingOptions = NOTHING
) -> Timings:
    """Return the times in a CSV of both curves, or in one file of each, or of the offload alone.

    Raises
    ------
    DseError
        When it is neither, or both; `StudyError` when they cannot be read.
    """
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
    return replace(found, offload_cpu=np.full(len(found.size), _share(given.cpu_load)))


def _share(written: str) -> float:
    load = units.parse(written, "load")
    if not 0 < load <= 1:
        raise UnitError(f"--cpu-load {written!r}: a share of one core", 'write "38%"')
    return load


def _clock_hz(written: str) -> float:
    try:
        clock = units.parse_clock(written)
    except UnitError as error:
        raise UnitError(f"--clock {written!r}: {error.rule}", error.remedy) from error
    if clock <= 0:
        raise UnitError(f"--clock {written!r}: it must be positive", 'write "3 GHz"')
    return clock


def read_csv(path: Path, clock_hz: float | None = None, in_flight: int | None = None) -> Timings:
    """Read granularity, host time and offload time; other columns are left alone.

    Times may also be given as rates of calls or of data, or in cycles of `clock_hz`.

    Raises
    ------
    StudyError
        With every fault at once, by file, line and column.
    """
    data, text = read_text(path)
    table = parse_csv(data, str(path))
    columns, rates = _columns(table, ("granularity", "offload"), clock_hz)
    order = np.argsort(columns["granularity"])
    picked = {name: column[order] for name, column in columns.items()}
    return Timings(
        size=picked["granularity"],
        host=picked.get("host"),
        offload=picked["offload"],
        files=((path.name, data),),
        facts=dict(_REMARK.findall(text)),
        host_cpu=picked.get("host_cpu"),
        offload_cpu=picked.get("offload_cpu"),
        in_flight=_under_way(path, None if "offload" in rates else 1, in_flight),
    )


def _columns(
    table: CsvTable, needed: Sequence[str], clock_hz: float | None
) -> tuple[dict[str, Array], set[str]]:
    """Return the columns in SI, times of calls in s, and which of them were rates."""
    faults: list[Fault] = []
    places = _places(table, needed, clock_hz, faults)
    columns = {
        name: _positive(table, column, header, faults) for name, (column, header) in places.items()
    }
    if "granularity" in columns:
        faults += _repeated(table, places["granularity"][0], columns["granularity"])
        faults += too_few(table.file, len(table))
    refuse(faults)
    written = {name: units.suffix(places[name][1].name) for name in columns}
    size = columns["granularity"]
    for name, unit in written.items():
        if COLUMNS[name] is _TIMES:
            columns[name] = _seconds(columns[name], size, unit, clock_hz or math.nan)
    return columns, {name for name, unit in written.items() if unit.endswith("per_s")}


def too_few(file: str, count: int) -> list[Fault]:
    """Return a fault if a fit would have no size left to check it."""
    if count >= LEAST_SIZES:
        return []
    rule = f"a curve has {LEAST_SIZES - 1} parameters or more, and needs one size more"
    remedy = f"measure at least {LEAST_SIZES}"
    return [Position(1, 1, file).fault((), f"{count} sizes", rule, remedy)]


def _under_way(path: Path, known: int | None, given: int | None) -> int:
    """Return how many offloads are under way at a time: as the file says, else the command."""
    if known is None and given is None:
        raise ArgumentError(
            f"{path} does not say how many offloads are under way at a time; add --in-flight N, "
            "1 if each waits for the one before"
        )
    if given is not None and known not in (None, given):
        raise ArgumentError(f"--in-flight {given}: {path} says {known}; leave it out")
    return int(known or given or 1)


def _seconds(written: Array, size: Array, unit: str, clock_hz: float) -> Array:
    """Return the times of calls, given in any unit of `COLUMNS`."""
    if unit.endswith("per_s"):
        work = {"op": np.ones(len(size)), "byte": size, "bit": 8 * size}
        return work[unit.removesuffix("_per_s")] / written
    if unit.startswith("cycles"):
        written = written / clock_hz
    return written * size if unit.endswith("per_byte") else written


def _places(
    table: CsvTable, needed: Sequence[str], clock_hz: float | None, faults: list[Fault]
) -> dict[str, tuple[int, headers.Header]]:
    """Return where each column stands, and its header."""
    found: dict[str, tuple[int, headers.Header]] = {}
    for column, written in enumerate(table.headers):
        try:
            header = headers.read_header(written)
        except UnitError as error:
            if written.casefold().startswith(tuple(COLUMNS)):  # others are left alone
                faults.append(table.fault(None, column, error.rule, error.remedy))
            continue
        name = _called(units.stem(header.name) or header.name, needed)
        if name in found:
            faults.append(table.fault(None, column, f"there is a {name} already", "remove one"))
        elif name in COLUMNS:
            found[name] = column, header
            faults += _unit_faults(table, column, name, units.suffix(header.name), clock_hz)
    for name in needed:
        if name not in found:
            place = Position(table.lines[0], 1, table.file)
            rule, remedy = f"the column {name!r} is missing", f"add {_example(name)}"
            faults.append(place.fault((), "", rule, remedy))
    return found


def _called(stem: str, needed: Sequence[str]) -> str:
    """Return which of `COLUMNS` a header is; `time` and `cpu` are those of the curve needed."""
    name = stem.casefold().removesuffix("_time")
    return {"time": needed[-1], "cpu": f"{needed[-1]}_cpu"}.get(name, name)


def _unit_faults(
    table: CsvTable, column: int, name: str, unit: str, clock_hz: float | None
) -> Iterator[Fault]:
    if unit not in COLUMNS[name]:
        known = listed([units.label(f"_{one}") or "a share" for one in COLUMNS[name]], "or")
        rule = f"{name} is given in {known}, with any prefix"
        yield table.fault(None, column, rule, f"write {_example(name)}")
    elif unit.startswith("cycles") and clock_hz is None:
        rule, remedy = "nothing says how long a cycle is", 'add --clock "3 GHz"'
        yield table.fault(None, column, rule, remedy)


def _example(name: str) -> str:
    unit = COLUMNS[name][0]
    return f"{name}_us" if unit == "s" else f"{name}_{unit or 'percent'}"


def _positive(table: CsvTable, column: int, header: headers.Header, faults: list[Fault]) -> Array:
    values = table.numbers(column, header.factor, faults)
    for row in np.flatnonzero(values <= 0):
        rule, remedy = "it must be above zero", "correct it, or remove the row"
        faults.append(table.fault(int(row), column, rule, remedy))
    return values


def _repeated(table: CsvTable, column: int, sizes: Array) -> Iterator[Fault]:
    first: dict[float, int] = {}
    for row, size in enumerate(sizes.tolist()):
        if first.setdefault(size, row) != row:
            rule = f"line {table.lines[first[size] + 1]} has this size already"
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
    for size, time in zip(columns["granularity"], columns[curve], strict=True):
        found.add((name, direction), float(size), float(time))
    if f"{curve}_cpu" in columns:
        loads = columns[f"{curve}_cpu"].tolist()
        found.loads = dict(zip(columns["granularity"].tolist(), loads, strict=True))
    return found


def _paired(slow: ProgramOutput | None, fast: ProgramOutput, given: TimingOptions) -> Timings:
    """Return the times of the sizes that both outputs have, or those of the engine alone."""
    outputs = {"software": slow, "hardware": fast} if slow else {"hardware": fast}
    refuse(fault for one in outputs.values() for fault in one.faults)
    keys = common_keys([*outputs.values()], given.algorithm)
    each = [set(one.times[key]) for one, key in zip(outputs.values(), keys, strict=True)]
    sizes = sorted(each[0] & each[-1])
    refuse(too_few(str(fast.path), len(sizes)))
    times, loads = [], []
    for one, key in zip(outputs.values(), keys, strict=True):
        times.append(np.array([one.time_s(key, size) for size in sizes]))
        loads.append(np.array([one.loads[size] for size in sizes]) if one.loads else None)
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
        notes=tuple(_notes(fast, each[0] ^ each[-1])),
    )


def _notes(fast: ProgramOutput, lonely: set[float]) -> Iterator[str]:
    if lonely:
        shown = ", ".join(units.show(size, "size_byte") for size in sorted(lonely))
        yield f"omitted, because only one output has it: {shown}"
    if not fast.elapsed:
        yield (
            f"{fast.path.name} does not say that its seconds elapsed, and of the CPU they leave "
            "waiting out: measure with -elapsed, and keep what openssl writes to standard error"
        )
