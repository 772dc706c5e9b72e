"""Times of calls in the outputs of openssl speed, tcrypt, DPDK's two programs and accel_perf."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from dse.errors import DseError, Fault, Position, nearest, quoted
from dse.files.json import read_bytes
from dse.reports.text import listed

Key = tuple[str, str]
"""Algorithm and direction, empty if the output names none."""


@dataclass(eq=False)
class ProgramOutput:
    """Times of calls, in s, by algorithm and size.  Several of one size are repetitions.

    `in_flight` is the number of calls under way, 1 if each waits for the one before, None if
    unknown.  `elapsed` is whether the seconds are of a clock on the wall.  `loads` are
    shares of a host core that are busy meanwhile, by size.
    """

    path: Path
    data: bytes = b""
    text: str = ""
    in_flight: int | None = 1
    elapsed: bool = True
    times: dict[Key, dict[float, list[float]]] = field(default_factory=dict)
    loads: dict[float, float] = field(default_factory=dict)
    facts: dict[str, str] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)

    def add(self, key: Key, size: float, time: float) -> None:
        """Keep the time of a call."""
        self.times.setdefault(key, {}).setdefault(size, []).append(time)

    def time_s(self, key: Key, size: float) -> float:
        """Return the time of a call: the median of its repetitions."""
        return median(self.times[key][size])

    def fault(self, at: int, written: str, rule: str, remedy: str) -> None:
        """Keep an error at a place of the text."""
        line, column = self.text.count("\n", 0, at) + 1, at - self.text.rfind("\n", 0, at)
        shown = quoted(written) if written else ""
        self.faults.append(Position(line, column, str(self.path)).fault((), shown, rule, remedy))

    def side_by_side(self, at: int, written: str, remedy: str) -> None:
        """Keep that rates of calls side by side were found."""
        rule = "rates of calls side by side are a sum, and no time of one"
        self.fault(at, written, rule, remedy)


def read_text(path: Path) -> tuple[bytes, str]:
    """Return a file as it is and as text."""
    data = read_bytes(path)
    return data, data.decode("utf-8-sig", errors="replace").replace("\r\n", "\n")


def parse_output(
    text: str, path: Path, data: bytes = b"", clock_hz: float | None = None
) -> ProgramOutput:
    """Return the contents of an output, with cycles of `clock_hz`.  Errors are kept, not raised."""
    found = ProgramOutput(path, data, text)
    parse = next((parse for sign, parse in _KINDS if re.search(sign, text, re.M)), None)
    if parse is None:
        programs = "openssl speed, tcrypt, dpdk-test-crypto-perf, -compress-perf or accel_perf"
        rule = f"it is no output of {programs}, and no CSV of granularity and time"
        found.fault(0, "", rule, "write the whole output of the program into it")
        return found
    parse(found, clock_hz or math.nan)
    if not found.times and not found.faults:
        found.fault(0, "", "no line of it holds a time or a rate", "keep the program's table")
    if any(math.isnan(one[0]) for sizes in found.times.values() for one in sizes.values()):
        found.fault(0, "", "the time of a cycle is missing", 'add --clock "3 GHz"')
    return found


def algorithm_name(written: str, bits: int = 0) -> str:
    """Return the one name of an algorithm, of whichever program: ``aes-128-gcm``."""
    name = re.sub(r"^id-aes([0-9])", r"aes-\1", written.casefold().replace(" ", "-"))
    if nested := re.fullmatch(r"([a-z0-9]+)\(([a-z0-9_]+)\)", name):
        name = f"{nested[2]}-{nested[1]}"
    if bits and (plain := re.fullmatch(r"([a-z0-9_]+)-(cbc|ecb|ctr|gcm|xts|cfb|ofb)", name)):
        return f"{plain[1]}-{bits // 2 if plain[2] == 'xts' else bits}-{plain[2]}"
    return name


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
_FACTS = {"version": r"^(?:version: |OpenSSL )(\S.*?)\s*$", "cpu": r"^CPUINFO: (\S.*?)\s*$"}


def _openssl(found: ProgramOutput, _: float) -> None:
    """Read a table, the form of ``-mr``, or, if there is neither, lines ``Doing ...``."""
    text, runs = found.text, [*_RUN.finditer(found.text)]
    found.elapsed = bool(runs) or _ELAPSED in text
    found.facts = {
        name: one[1] for name, sign in _FACTS.items() for one in re.finditer(sign, text, re.M)
    }
    if several := _SIDE_BY_SIDE.search(text):
        found.side_by_side(several.start(), several[0], "measure without -multi and -async_jobs")
    for run in [run for run in runs if float(run[5]) < _LEAST_COUNTED * int(run[2])][:1]:
        rule = "these seconds are of the CPU, and a call that waits for an accelerator takes none"
        start, written = text.rfind("\n", 0, run.start(4)) + 1, f"{float(run[5]):.2f} of {run[2]} s"
        found.fault(start, written, rule, "measure with -elapsed")
    _tables(found)
    for run in [] if found.times or found.faults else runs:
        name, _seconds, size, calls, counted = run.groups()
        rate = float(calls) * float(size) / (float(counted) or math.inf)
        _rates(found, (run.start(4), run[0]), [int(size)], name, [f"{rate:.6f}"])


def _lines(text: str) -> Iterator[tuple[int, str]]:
    return ((one.start(), one[0]) for one in re.finditer("^.*$", text, re.M))


def _tables(found: ProgramOutput) -> None:
    """Keep the rates of tables and of the machine-readable form."""
    sizes: list[int] = []
    table = False
    for at, line in _lines(found.text):
        if line.startswith("+H:"):
            sizes, table = [int(part) for part in re.findall(r"[0-9]+", line)], False
        elif line.startswith("+F:"):
            parts = line.split(":")
            _rates(found, (at, line), sizes, "".join(parts[2:3]), parts[3:])
        elif line.startswith("type ") and _SIZE.search(line):
            sizes, table = [int(size) for size in _SIZE.findall(line)], True
        elif not line.strip() or line.startswith((" ", "Doing ", "version:", _ELAPSED)):
            table = False
        elif table:
            words, count = line.split(), len(sizes)
            _rates(found, (at, line), sizes, " ".join(words[:-count]), words[-count:])


def _rates(
    found: ProgramOutput, place: tuple[int, str], sizes: list[int], name: str, written: list[str]
) -> None:
    """Keep the rates of one line, which is given with its place."""
    at, line = place
    if not name or len(written) != len(sizes):
        rule = f"a line of rates has a name and {len(sizes)} rates, one per size"
        found.fault(at, line, rule, "restore the line")
        return
    for size, cell in zip(sizes, written, strict=True):
        match = _RATE.fullmatch(cell.strip())
        if match is None or float(match[1]) <= 0 or size <= 0:
            remedy = "measure again, for longer (-seconds)"
            found.fault(at + max(line.rfind(cell), 0), cell, "it must be a rate above zero", remedy)
            continue
        rate = float(match[1]) * (1000 if match[2] else 1)
        found.add((algorithm_name(name), ""), size, size / rate)


_HEADING = re.compile(
    r"testing speed of (async |multibuffer )?(\S+?)(?: \(([^\n]+?)\))?"
    r"(?: (encryption|decryption))?$",
    re.M,
)
_RESULT = re.compile(
    r"test +[0-9]+ \( *(?:([0-9]+) bit key, *)?([0-9]+) byte blocks"
    r"(?:, *([0-9]+) bytes per update, *[0-9]+ updates)?\):"
    r"[\s>]*(?:\[[^\]]*\]\s*)?(?:tcrypt: *)?"
    r"([0-9]+)[\s>]+(?:operations? in ([0-9]+) (seconds|cycles)|(cycles)/operation|(?:op|oper)s/s)"
)
"""Bits of the key, size, bytes per update, number, and its unit.  Mails may quote them."""


def _tcrypt(found: ProgramOutput, clock_hz: float) -> None:
    """Read a log of the kernel, of hashes only runs with the data in one piece."""
    headings = [*_HEADING.finditer(found.text)]
    for match in _RESULT.finditer(found.text):
        above = [one for one in headings if one.start() < match.start()]
        if not above or not int(match[4]):
            rule = "it needs a line 'testing speed of ...' above, and a call that ended"
            found.fault(match.start(), match[0], rule, "keep the whole log, of longer runs")
            return
        _, size, update, *_ = match.groups()
        if update in (None, size):
            plain, name = (algorithm_name(above[-1][2], int(one or 0)) for one in (0, match[1]))
            key = name + f"-{match[1]}" * bool(match[1] and name == plain), above[-1][4] or ""
            found.add(key, int(size), _tcrypt_time(match, clock_hz))
    for heading in headings:
        found.in_flight = None if heading[1] == "multibuffer " else found.in_flight
        found.facts["driver"] = heading[3] or "not named"


def _tcrypt_time(match: re.Match[str], clock_hz: float) -> float:
    """Return the time (s) of a call of a line that has it, or calls in some seconds or cycles."""
    number, span, unit, cycles = match.groups()[3:]
    time = float(number) if cycles else float(span or 1) / float(number)
    return time / clock_hz if cycles or unit == "cycles" else time


_DPDK_SAYS = re.compile(
    r"(?:--|# )(cipher|auth|aead)[- ](algo(?:rithm)?|op(?:eration)?|key[- ]si?ze?):? +(\S+)"
    r"|(?:--seg-sz[ =]|segment size = )(?P<segment>[0-9]+)"
    r"|(?:--max-num-sgl-segs[ =]|segments per SGL = )(?P<segments>[0-9]+)"
)
_TABLE = re.compile(r"\s*#? *(?:lcore(?: id)?(?:,| +[A-Z])|Level +Comp size).*")
_CELLS = re.compile(r"[0-9.]+(?:(?:,\s*|\s+)[0-9.]+)+")
_COLUMNS = {
    "buf size": "size",
    "buffer size": "size",
    "burst size": "burst",
    "lcore id": "lcore",
    "ops": "mops",
    "throughput": "gbps",
    "time": "us",
    "comp": "compression",
    "decomp": "decompression",
}
"""Headings of DPDK's two programs without their unit, and their meaning.  Others are kept."""
_DIRECTIONS = {"encrypt": "encryption", "decrypt": "decryption"}
_Row = dict[str, float]


def _dpdk(found: ProgramOutput, _: float) -> None:
    """Read tables of throughput, of latency, or of compression, each after its options."""
    found.in_flight = None
    options: dict[str, str] = {}
    columns: list[str] = []
    rows: list[_Row] = []
    for at, line in _lines(found.text):
        options = {} if "dpdk-test-" in line else options
        for match in _DPDK_SAYS.finditer(line):
            sizes = {name: size for name, size in match.groupdict().items() if size}
            options |= sizes or {f"{match[1]} {match[2][:2]}": match[3]}
        if _TABLE.fullmatch(line):
            columns = _dpdk_columns(line)
        elif columns and _CELLS.fullmatch(line.strip()):
            rows += _dpdk_rows(found, (at, line), columns, options)
            if found.faults:
                return
    for name in ("lcore", "burst"):
        _dpdk_one(found, name, sorted({row[name] for row in rows if name in row}))


def _dpdk_one(found: ProgramOutput, name: str, values: list[float]) -> None:
    """Keep the value of a column that is the same in all rows."""
    shown = " and ".join(f"{one:g}" for one in values[:2])
    found.facts |= {name: shown} if values else {}
    if len(values) > 1:
        found.side_by_side(0, f"{name} {shown}", f"keep the rows of one {name}")


def _dpdk_rows(
    found: ProgramOutput, place: tuple[int, str], columns: list[str], options: dict[str, str]
) -> Iterator[_Row]:
    """Keep the times of one row, and yield its cells."""
    at, line = place
    cells = re.split(r",\s*|\s+", line.strip())
    if len(cells) != len(columns):
        rule = f"a row has {len(columns)} cells, as the header"
        found.fault(at, line, rule, "restore the line")
        return
    row = dict(zip(columns, map(float, cells), strict=True))
    (_compressed if "compression" in row else _encrypted)(found, at, row, options)
    yield row


def _dpdk_columns(line: str) -> list[str]:
    parts = re.split(r",\s*|\s{2,}", line.strip("# \t").replace("lcore id ", "lcore id  ", 1))
    plain = [re.sub(r"\s*[\[(].*", "", part).casefold() for part in parts]
    return [_COLUMNS.get(name, name) for name in plain]


def _compressed(found: ProgramOutput, at: int, row: _Row, options: dict[str, str]) -> None:
    if not {"segment", "segments"} <= options.keys():
        remedy = "keep the command, with --seg-sz and --max-num-sgl-segs, before its table"
        found.fault(at, "", "the size of a call is missing", remedy)
        return
    size = float(options["segment"]) * float(options["segments"])
    for direction in ("compression", "decompression"):
        if gbps := row.get(direction, 0.0):
            found.add((f"deflate-{row['level']:g}", direction), size, size * 8e-9 / gbps)


def _encrypted(found: ProgramOutput, at: int, row: _Row, options: dict[str, str]) -> None:
    size, mops, gbps = row.get("size", 0.0), row.get("mops", 0.0), row.get("gbps", 0.0)
    if not size or not (mops or gbps or row.get("us")):
        rule = "a row needs a size above zero, and a rate or a time"
        found.fault(at, "", rule, "measure again, with more operations (--total-ops)")
        return
    # both rates have few digits: the larger one has more
    time = size * 8e-9 / gbps if gbps > mops else 1e-6 / mops if mops else row["us"] * 1e-6
    parts = [
        algorithm_name(name, 8 * int(options.get(f"{kind} ke", 0)))
        for kind in ("aead", "cipher", "auth")
        if (name := options.get(f"{kind} al", "null")) != "null"
    ]
    direction = _DIRECTIONS.get(options.get("aead op", options.get("cipher op", "")), "")
    found.add(("+".join(parts), direction), size, time)


_OF_RUN = re.compile(r"^\s*(Workload Type|Transfer size|Queue depth|Module|Engine): +(\S+)", re.M)
_ACCEL = re.compile(
    r"^\s*(?:[0-9]+(?:,[0-9a-fx]+)?|Total:?) +([0-9]+)/s(?: +[0-9]+ MiB/s)? +([0-9]+)", re.M
)


def _accel_perf(found: ProgramOutput, _: float) -> None:
    """Read one run after the other, each of one size."""
    depths, start = set(), 0
    for run in re.split(r"(?=Accel Perf Configuration)", found.text):
        own = {match[1]: match[2] for match in _OF_RUN.finditer(run)}
        rows = [*_ACCEL.finditer(run)]
        if rows and not {"Transfer size", "Workload Type", "Queue depth"} <= own.keys():
            rule = "workload, transfer size or queue depth of this run is missing"
            found.fault(start + rows[0].start(), "", rule, "keep the whole output of accel_perf")
        elif len(rows) > 2:  # the last one is the total
            remedy = "measure with one core and one thread"
            found.side_by_side(start + rows[1].start(), rows[1][0].strip(), remedy)
        elif rows and (int(rows[-1][2]) or not int(rows[-1][1])):
            place, rule = start + rows[-1].start(), "calls failed, or none ended"
            found.fault(place, rows[-1][0].strip(), rule, "measure again")
        elif rows:
            name = own["Workload Type"].replace("_", "-")
            key = ("cipher", _DIRECTIONS[name]) if name in _DIRECTIONS else (name, "")
            found.add(key, float(own["Transfer size"]), 1 / float(rows[-1][1]))
            found.facts["module"] = own.get("Module", own.get("Engine", "not named"))
            depths.add(int(own["Queue depth"]))
        start += len(run)
    found.in_flight = min(depths, default=None)
    if len(depths) > 1:
        shown = " and ".join(map(str, sorted(depths)[:2]))
        found.side_by_side(0, f"queue depth {shown}", "keep the runs of one queue depth")


_KINDS: tuple[tuple[str, Callable[[ProgramOutput, float], None]], ...] = (
    (r"testing speed of |\btest +[0-9]+ \( *[0-9]+ b(?:it|yte) ", _tcrypt),
    (rf"^(?:{_TABLE.pattern})$", _dpdk),
    (r"Accel Perf Configuration|^\s*Core,Thread ", _accel_perf),
    (r"^(?:type  *[0-9]|\+[HFR]:|Doing |Forked child )|\bopenssl speed ", _openssl),
)


def key_text(key: Key) -> str:
    """Return algorithm and direction in words."""
    return " ".join(filter(None, key)) or "an algorithm without a name"


def common_keys(outputs: list[ProgramOutput], wanted: str | None) -> tuple[Key, ...]:
    """Return the algorithm and direction to take of each output, or raise for none or several."""
    each = [_wanted(one, wanted) for one in outputs]
    named = wanted is not None or len(each) == 1
    other_side = each[1] if len(each) > 1 else None
    pairs = {
        (one[0] or other[0], one[1] or other[1]): (one, other)
        for one in each[0]
        for other in other_side or [one]
        if _alike(one[0], other[0], named=named) and _alike(one[1], other[1], named=True)
    }
    if len(pairs) == 1:
        return next(iter(pairs.values()))[: len(each)]
    if pairs:
        holder = "the outputs hold" if len(each) > 1 else f"{outputs[0].path} holds"
        names = listed(sorted(map(key_text, pairs)))
        raise DseError(f"{holder} {names}; choose one with --algorithm")
    raise _nothing_in_common(outputs, each)


def _nothing_in_common(outputs: list[ProgramOutput], each: list[list[Key]]) -> DseError:
    """Return the error of two outputs of which no keys may be compared."""
    (one, slow), (other, fast) = zip(outputs, each, strict=True)
    same = {name for name, _ in slow} & {name for name, _ in fast}
    remedy = f"measure one {'direction' if same else 'algorithm'} with both"
    if ("", "") in [*slow, *fast]:
        remedy = "name the algorithm of the other with --algorithm"
    held, others = (listed(sorted(map(key_text, keys))) for keys in each)
    return DseError(f"{one.path} holds {held} and {other.path} {others}; {remedy}")


def _alike(one: str, other: str, *, named: bool) -> bool:
    """Return whether two words may be compared: one that is missing, only if it is named."""
    return one == other or (named and not (one and other))


def _wanted(output: ProgramOutput, wanted: str | None) -> list[Key]:
    """Return the keys of an output that are wanted.  One without a name may be any."""
    if wanted is None:
        return [*output.times]
    name, _, direction = wanted.rpartition(" ")
    if not direction.endswith(("cryption", "compression")):
        name, direction = wanted, ""
    names, directions = ("", algorithm_name(name)), ("", direction)
    keys = [
        key for key in output.times if key[0] in names and (not direction or key[1] in directions)
    ]
    if not keys:
        known = nearest(wanted, [key_text(key) for key in output.times])
        raise DseError(f"--algorithm {wanted!r} is not in {output.path}; {known}")
    return keys
