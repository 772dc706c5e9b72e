"""Times of calls by size, read from a CSV file or from the output of ``openssl speed``."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import numpy as np

from dse.algebra import units
from dse.errors import DseError, Fault, Position, UnitError, nearest, quoted, refuse
from dse.files import headers
from dse.files.csv import CsvTable, parse_csv
from dse.files.json import read_bytes
from dse.fitting.interface.powers import Array
from dse.reports.text import listed

LEAST_SIZES = 3
"""One more than either curve has parameters when the exponent is taken as 1."""

COLUMNS: Mapping[str, tuple[str, ...]] = {
    "granularity": ("byte",),
    "host": ("s", "op_per_s", "byte_per_s", "bit_per_s", "cycles", "cycles_per_byte"),
    "offload": ("s", "op_per_s", "byte_per_s", "bit_per_s", "cycles", "cycles_per_byte"),
}
"""What a header says before its unit -> the units that it may have; the first is the usual one."""

_REMARK = re.compile(r"^# (machine|version|algorithm|repetitions): (.*\S)\s*$", re.MULTILINE)


@dataclass(frozen=True, kw_only=True, eq=False)
class Timings:
    """Times by granularity, ascending.

    Attributes
    ----------
    size
        Bytes, (sizes,).
    host, offload
        Seconds, (sizes,).
    files
        Names of the files they come from, and what stands there.
    facts
        What the files say of themselves: machine, version, algorithm.
    notes
        What was omitted.
    """

    size: Array
    host: Array
    offload: Array
    files: tuple[tuple[str, bytes], ...]
    facts: Mapping[str, str]
    notes: tuple[str, ...] = ()


def read_csv(path: Path, clock_hz: float | None = None) -> Timings:
    """Read granularity, host time and offload time; other columns are left alone.

    Times may also be given as rates of calls or of data, or in cycles of `clock_hz`.

    Raises
    ------
    StudyError
        With every fault at once, by file, line and column.
    """
    data = read_bytes(path)
    table = parse_csv(data, str(path))
    faults: list[Fault] = []
    places = _places(table, clock_hz, faults)
    columns = {
        name: _positive(table, column, header, faults) for name, (column, header) in places.items()
    }
    if "granularity" in columns:
        faults += _repeated(table, places["granularity"][0], columns["granularity"])
        faults += too_few(str(path), len(table))
    refuse(faults)
    size = columns["granularity"]
    host, offload = (
        _seconds(columns[name], size, units.suffix(places[name][1].name), clock_hz or math.nan)
        for name in ("host", "offload")
    )
    order = np.argsort(size)
    return Timings(
        size=size[order],
        host=host[order],
        offload=offload[order],
        files=((path.name, data),),
        facts=dict(_REMARK.findall(table.text)),
    )


def too_few(file: str, count: int) -> list[Fault]:
    """Return a fault if a fit would have no size left to check it."""
    if count >= LEAST_SIZES:
        return []
    rule = f"a curve has {LEAST_SIZES - 1} parameters or more, and needs one size more"
    remedy = f"measure at least {LEAST_SIZES}"
    return [Position(1, 1, file).fault((), f"{count} sizes", rule, remedy)]


def _seconds(written: Array, size: Array, unit: str, clock_hz: float) -> Array:
    """Return the times of calls, given in any unit of `COLUMNS`."""
    if unit.endswith("per_s"):
        work = {"op": np.ones(len(size)), "byte": size, "bit": 8 * size}
        return work[unit.removesuffix("_per_s")] / written
    if unit.startswith("cycles"):
        written = written / clock_hz
    return written * size if unit.endswith("per_byte") else written


def _places(
    table: CsvTable, clock_hz: float | None, faults: list[Fault]
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
        name = units.stem(header.name).casefold().removesuffix("_time")
        if name in found:
            faults.append(table.fault(None, column, f"there is a {name} already", "remove one"))
        elif name in COLUMNS:
            found[name] = column, header
            unit = units.suffix(header.name)
            if unit not in COLUMNS[name]:
                known = listed([units.label(f"_{one}") for one in COLUMNS[name]], "or")
                rule = f"{name} is given in {known}, with any prefix"
                faults.append(table.fault(None, column, rule, f"write {_example(name)}"))
            elif unit.startswith("cycles") and clock_hz is None:
                rule, remedy = "nothing says how long a cycle is", 'add --clock "3 GHz"'
                faults.append(table.fault(None, column, rule, remedy))
    for name in COLUMNS:
        if name not in found:
            place = Position(table.lines[0], 1, table.file)
            rule, remedy = f"the column {name!r} is missing", f"add {_example(name)}"
            faults.append(place.fault((), "", rule, remedy))
    return found


def _example(name: str) -> str:
    return f"{name}_{'us' if COLUMNS[name][0] == 's' else COLUMNS[name][0]}"


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


_SIZE = re.compile(r"([0-9]+) bytes")
_RATE = re.compile(r"([0-9]+(?:\.[0-9]+)?)(k?)")
_RUN = re.compile(
    r"^(?:Doing |\+DT:)(.+?)(?: ops)?(?: for |:)([0-9]+)(?:s on |:)([0-9]+)"
    r"(?: size blocks: |\n\+R:)([0-9]+)(?: .* in |:.*:)([0-9]+[.][0-9]+)s?[ \t]*$",
    re.M,
)
"""Algorithm, seconds of the run, size, calls, seconds that were counted."""
_LEAST_COUNTED = 0.8
"""A run of which less was counted did not count the time that elapsed."""
_SIDE_BY_SIDE = re.compile(r"^Forked child .*|--?(?:multi|async_jobs)[ =](?!1\b)[0-9]+", re.M)
_ELAPSED = "You have chosen to measure elapsed time"
_FACTS = (
    ("version", re.compile(r"^(?:version: |OpenSSL )(\S.*?)\s*$", re.M)),
    ("cpu", re.compile(r"^CPUINFO: (\S.*?)\s*$", re.M)),
)


@dataclass(eq=False)
class Speeds:
    """Rates in bytes per second by algorithm and size; several of one size are repetitions.

    `elapsed` is whether the output shows that its seconds are those of a clock on the wall.
    """

    path: Path
    data: bytes = b""
    elapsed: bool = False
    rates: dict[str, dict[int, list[float]]] = field(default_factory=dict)
    facts: dict[str, str] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)

    def time_s(self, algorithm: str, size: int) -> float:
        """Return the time of a call: the median of its repetitions."""
        return size / median(self.rates[algorithm][size])


def read_speed(path: Path) -> Speeds:
    """Read one output; faults are collected, not raised."""
    data = read_bytes(path)
    text = data.decode("utf-8-sig", errors="replace").replace("\r\n", "\n")
    return parse_speed(text, path, data)


def parse_speed(text: str, path: Path, data: bytes = b"") -> Speeds:
    """Return the rates in one output, or in several one after the other.

    Lines ``Doing ...``, which come before a table, count where there is none.
    """
    runs = [*_RUN.finditer(text)]
    found = Speeds(path, data, bool(runs) or _ELAPSED in text)
    found.faults += _no_times_of_calls(text, runs, str(path))
    _tables(found, list(enumerate(text.split("\n"), start=1)))
    for run in [] if found.rates or found.faults else runs:
        name, _, size, calls, counted = run.groups()
        rate = float(calls) * float(size) / (float(counted) or math.inf)
        number = text.count("\n", 0, run.start(4)) + 1
        _add(found, number, run[0], [int(size)], name, [f"{rate:.6f}"])
    if not found.rates and not found.faults:
        rule = "it holds no rates of `openssl speed`: no line begins with 'type', '+H:' or 'Doing'"
        remedy = "write the output of openssl speed -evp ALGORITHM into it, or that with -mr"
        found.faults.append(Position(1, 1, str(path)).fault((), "", rule, remedy))
    matches = [(name, pattern.search(text)) for name, pattern in _FACTS]
    found.facts = {name: match[1] for name, match in matches if match}
    return found


def _no_times_of_calls(text: str, runs: list[re.Match[str]], file: str) -> Iterator[Fault]:
    """Yield why rates are no inverse of the time of a call, at the first line that shows it."""
    if side_by_side := _SIDE_BY_SIDE.search(text):
        rule = "rates of calls side by side are a sum, and no time of one"
        place = _place(text, side_by_side.start(), file)
        yield place.fault(
            (), quoted(side_by_side[0]), rule, "measure without -multi and -async_jobs"
        )
    for run in runs:
        if float(run[5]) < _LEAST_COUNTED * float(run[2]):
            written = quoted(f"{float(run[5]):.2f} of {run[2]} s")
            rule = "these seconds are of the CPU, and a call that waits for an accelerator"
            place = _place(text, text.rfind("\n", 0, run.start(4)) + 1, file)
            yield place.fault((), written, f"{rule} takes none", "measure with -elapsed")
            return


def _place(text: str, at: int, file: str) -> Position:
    return Position(text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at), file)


def _common_name(algorithm: str) -> str:
    """Return what an algorithm is called whatever the version of OpenSSL: ``aes-128-gcm``."""
    return re.sub(r"^id-aes([0-9])", r"aes-\1", algorithm.casefold().replace(" ", "-"))


def _tables(found: Speeds, lines: list[tuple[int, str]]) -> None:
    """Keep the rates of tables and of the machine-readable form."""
    sizes: list[int] = []
    table = False
    for number, line in lines:
        if line.startswith("+H:"):
            sizes, table = [int(part) for part in re.findall(r"[0-9]+", line)], False
        elif line.startswith("+F:"):
            parts = line.split(":")
            _add(found, number, line, sizes, parts[2] if len(parts) > 2 else "", parts[3:])
        elif line.startswith("type ") and _SIZE.search(line):
            sizes, table = [int(size) for size in _SIZE.findall(line)], True
        elif (
            not line.strip()
            or not line[0].strip()
            or line.startswith(("Doing ", "version:", _ELAPSED))
        ):
            table = False
        elif table:
            words = line.split()
            _add(found, number, line, sizes, " ".join(words[: -len(sizes)]), words[-len(sizes) :])


def _add(
    found: Speeds, number: int, line: str, sizes: list[int], name: str, written: list[str]
) -> None:
    """Keep the rates of one line."""
    if not name or len(written) != len(sizes):
        rule = f"a line of rates has a name and {len(sizes)} rates, one per size"
        place = Position(number, 1, str(found.path))
        found.faults.append(place.fault((), quoted(line), rule, "restore the line"))
        return
    for size, text in zip(sizes, written, strict=True):
        match = _RATE.fullmatch(text.strip())
        if match is None or float(match[1]) <= 0 or size <= 0:
            place = Position(number, max(line.rfind(text), 0) + 1, str(found.path))
            rule = "it must be a rate above zero"
            remedy = "measure again, for longer (-seconds)"
            found.faults.append(place.fault((), quoted(text), rule, remedy))
            continue
        rate = float(match[1]) * (1000 if match[2] else 1)
        found.rates.setdefault(_common_name(name), {}).setdefault(size, []).append(rate)


def openssl_timings(software: Path, hardware: Path, algorithm: str | None = None) -> Timings:
    """Return the times of the sizes that both outputs have.

    Raises
    ------
    StudyError
        With every fault of both files at once.
    DseError
        When it is not clear which algorithm to take.
    """
    slow, fast = read_speed(software), read_speed(hardware)
    refuse([*slow.faults, *fast.faults])
    name = _algorithm(slow, fast, algorithm)
    sizes = sorted(set(slow.rates[name]) & set(fast.rates[name]))
    lonely = sorted(set(slow.rates[name]) ^ set(fast.rates[name]))
    shown = ", ".join(units.show(size, "size_byte") for size in lonely)
    refuse(too_few(str(hardware), len(sizes)))
    facts = {"algorithm": name}
    facts |= {
        f"{kind}_{fact}": text
        for kind, speeds in (("software", slow), ("hardware", fast))
        for fact, text in speeds.facts.items()
    }
    of_cpu = (
        f"{hardware.name} does not say that its seconds elapsed, and of the CPU they leave waiting "
        "out: measure with -elapsed, and keep what openssl writes to standard error"
    )
    return Timings(
        size=np.array(sizes, dtype=np.float64),
        host=np.array([slow.time_s(name, size) for size in sizes]),
        offload=np.array([fast.time_s(name, size) for size in sizes]),
        files=((software.name, slow.data), (hardware.name, fast.data)),
        facts=facts,
        notes=(
            *(f"omitted, because only one output has it: {shown}",) * bool(lonely),
            *(of_cpu,) * (not fast.elapsed),
        ),
    )


def _algorithm(slow: Speeds, fast: Speeds, wanted: str | None) -> str:
    """Return the algorithm to take of both outputs."""
    both = sorted(set(slow.rates) & set(fast.rates))
    if not both:
        raise DseError(
            f"{slow.path} holds {', '.join(sorted(slow.rates))} and {fast.path} "
            f"{', '.join(sorted(fast.rates))}; measure one algorithm with both"
        )
    if wanted is None and len(both) > 1:
        raise DseError(f"the outputs hold {', '.join(both)}; choose one with --algorithm")
    name = both[0] if wanted is None else _common_name(wanted)
    if name not in both:
        raise DseError(f"--algorithm {wanted!r} is not in both outputs; {nearest(name, both)}")
    return name
