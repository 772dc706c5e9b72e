"""Times of calls in the outputs of openssl speed, tcrypt, DPDK's two programs and accel_perf."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from dse.errors import DseError, Fault, Position, nearest, quoted
from dse.files.json import read_bytes
from dse.reports.text import listed

PROGRAMS = "openssl speed, tcrypt, dpdk-test-crypto-perf, -compress-perf or accel_perf"

Key = tuple[str, str]
"""Algorithm and direction, empty where the output does not say."""


@dataclass(eq=False)
class ProgramOutput:
    """Times of calls, in s, by algorithm and size; several of one size are repetitions.

    Attributes
    ----------
    in_flight
        Calls under way at a time, 1 where each waits for the one before; None where the output
        does not say.
    elapsed
        Whether the output shows that its seconds are those of a clock on the wall.
    loads
        Share of a host core that is busy meanwhile, by size.
    """

    path: Path
    data: bytes = b""
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

    def fault(self, text: str, at: int, written: str, rule: str, remedy: str) -> None:
        """Keep what is wrong at a place of the text."""
        line, column = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
        shown = quoted(written) if written else ""
        self.faults.append(Position(line, column, str(self.path)).fault((), shown, rule, remedy))

    def side_by_side(self, text: str, at: int, written: str, remedy: str) -> None:
        """Keep that rates of calls side by side were found."""
        self.fault(
            text, at, written, "rates of calls side by side are a sum, and no time of one", remedy
        )


def read_text(path: Path) -> tuple[bytes, str]:
    """Return a file as it is and as text."""
    data = read_bytes(path)
    return data, data.decode("utf-8-sig", errors="replace").replace("\r\n", "\n")


def parse_output(
    text: str, path: Path, data: bytes = b"", clock_hz: float | None = None
) -> ProgramOutput:
    """Return what an output holds; faults are collected, not raised.

    Cycles are those of `clock_hz`.
    """
    found = ProgramOutput(path, data)
    for sign, parse in _KINDS:
        if re.search(sign, text, re.M):
            parse(found, text, clock_hz or math.nan)
            break
    else:
        rule = f"it is no output of {PROGRAMS}, and no CSV of granularity and time"
        found.fault(text, 0, "", rule, "write what the program prints into it, header and all")
    if not found.times and not found.faults:
        found.fault(text, 0, "", "no line of it holds a time or a rate", "keep the program's table")
    for sizes in found.times.values():
        if clock_hz is None and any(map(math.isnan, next(iter(sizes.values())))):
            rule, remedy = "nothing says how long a cycle is", 'add --clock "3 GHz"'
            found.fault(text, 0, "", rule, remedy)
            break
    return found


def algorithm_name(written: str, bits: int = 0) -> str:
    """Return what an algorithm is called whichever program names it: ``aes-128-gcm``."""
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
_FACTS = (
    ("version", re.compile(r"^(?:version: |OpenSSL )(\S.*?)\s*$", re.M)),
    ("cpu", re.compile(r"^CPUINFO: (\S.*?)\s*$", re.M)),
)


def _openssl(found: ProgramOutput, text: str, _: float) -> None:
    """Read a table, the form of ``-mr``, or, where there is neither, lines ``Doing ...``."""
    runs = [*_RUN.finditer(text)]
    found.elapsed = bool(runs) or _ELAPSED in text
    _no_times_of_calls(found, text, runs)
    _tables(found, text)
    for run in [] if found.times or found.faults else runs:
        name, _seconds, size, calls, counted = run.groups()
        rate = float(calls) * float(size) / (float(counted) or math.inf)
        _rates(found, text, run.start(4), run[0], [int(size)], name, [f"{rate:.6f}"])
    found.facts = {name: match[1] for name, of in _FACTS for match in of.finditer(text)}


def _no_times_of_calls(found: ProgramOutput, text: str, runs: list[re.Match[str]]) -> None:
    """Keep why rates are no inverse of the time of a call, at the first line that shows it."""
    if side_by_side := _SIDE_BY_SIDE.search(text):
        remedy = "measure without -multi and -async_jobs"
        found.side_by_side(text, side_by_side.start(), side_by_side[0], remedy)
    for run in runs:
        if float(run[5]) < _LEAST_COUNTED * float(run[2]):
            written = f"{float(run[5]):.2f} of {run[2]} s"
            rule = "these seconds are of the CPU, and a call that waits for an accelerator"
            start = text.rfind("\n", 0, run.start(4)) + 1
            found.fault(text, start, written, f"{rule} takes none", "measure with -elapsed")
            return


def _tables(found: ProgramOutput, text: str) -> None:
    """Keep the rates of tables and of the machine-readable form."""
    sizes: list[int] = []
    table, at = False, 0
    for line in text.split("\n"):
        if line.startswith("+H:"):
            sizes, table = [int(part) for part in re.findall(r"[0-9]+", line)], False
        elif line.startswith("+F:"):
            parts = line.split(":")
            _rates(found, text, at, line, sizes, parts[2] if len(parts) > 2 else "", parts[3:])
        elif line.startswith("type ") and _SIZE.search(line):
            sizes, table = [int(size) for size in _SIZE.findall(line)], True
        elif (
            not line.strip() or line[0] == " " or line.startswith(("Doing ", "version:", _ELAPSED))
        ):
            table = False
        elif table:
            words = line.split()
            name = " ".join(words[: -len(sizes)])
            _rates(found, text, at, line, sizes, name, words[-len(sizes) :])
        at += len(line) + 1


def _rates(
    found: ProgramOutput,
    text: str,
    at: int,
    line: str,
    sizes: list[int],
    name: str,
    written: list[str],
) -> None:
    """Keep the rates of one line that begins at a place."""
    if not name or len(written) != len(sizes):
        rule = f"a line of rates has a name and {len(sizes)} rates, one per size"
        found.fault(text, at, line, rule, "restore the line")
        return
    for size, cell in zip(sizes, written, strict=True):
        match = _RATE.fullmatch(cell.strip())
        if match is None or float(match[1]) <= 0 or size <= 0:
            rule = "it must be a rate above zero"
            place = at + max(line.rfind(cell), 0)
            found.fault(text, place, cell, rule, "measure again, for longer (-seconds)")
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
    r"\s*(?:[>\s]*\[[^\]]*\]\s*)?(?:tcrypt: *)?"
    r"([0-9]+) (?:operations? in ([0-9]+) (seconds|cycles)|(cycles)/operation|(?:ops|opers)/s)"
)
"""Bits of the key, size, bytes per update, number, and what it is a number of."""


def _tcrypt(found: ProgramOutput, text: str, clock_hz: float) -> None:
    """Read a log of the kernel; of hashes the runs that take the data in one piece."""
    headings = [*_HEADING.finditer(text)]
    for match in _RESULT.finditer(text):
        above = [one for one in headings if one.start() < match.start()]
        bits, size, update, number = match.groups()[:4]
        if not above or not int(number):
            rule = "it needs a line 'testing speed of ...' above, and a call that ended"
            found.fault(text, match.start(), match[0], rule, "keep the whole log, of longer runs")
            return
        if update in (None, size):
            name = algorithm_name(above[-1][2], int(bits or 0))
            name += f"-{bits}" * bool(bits and name == algorithm_name(above[-1][2]))
            time = _tcrypt_time(match, clock_hz)
            found.add((name, above[-1][4] or ""), int(size), time)
    for heading in headings:
        found.in_flight = None if heading[1] == "multibuffer " else found.in_flight
        found.facts["driver"] = heading[3] or "not named"


def _tcrypt_time(match: re.Match[str], clock_hz: float) -> float:
    """Return the time of a call from its cycles, from calls in a span, or from calls in 1 s."""
    number, span, unit, cycles = match.groups()[3:]
    if cycles:
        return float(number) / clock_hz
    return float(span or 1) / float(number) / (clock_hz if unit == "cycles" else 1)


_DPDK_SAYS = re.compile(
    r"(?:--|# )(cipher|auth|aead)[- ](algo(?:rithm)?|op(?:eration)?|key[- ]si?ze?):? +(\S+)"
    r"|--(seg-sz|max-num-sgl-segs)[ =]([0-9]+)"
)
_TABLE = re.compile(r"\s*#? *lcore(?: id)?(?:,| +[A-Z]).*")
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
"""Headings of DPDK's two programs without their unit -> what they are; others as they are."""


def _dpdk(found: ProgramOutput, text: str, _: float) -> None:
    """Read tables of throughput, of latency, or of compression, each after its options."""
    found.in_flight = None
    options: dict[str, str] = {}
    columns: list[str] = []
    several: dict[str, set[float]] = {"lcore": set(), "burst": set()}
    at = 0
    for line in text.split("\n"):
        for match in _DPDK_SAYS.finditer(line):
            options[match[4] or f"{match[1]} {match[2][:2]}"] = match[5] or match[3]
        if _TABLE.fullmatch(line):
            columns = _dpdk_columns(line)
        elif columns and _CELLS.fullmatch(line.strip()):
            cells = re.split(r",\s*|\s+", line.strip())
            if len(cells) != len(columns):
                rule = f"a row has {len(columns)} cells, as the header"
                found.fault(text, at, line, rule, "restore the line")
                return
            row = dict(zip(columns, map(float, cells), strict=True))
            _dpdk_row(found, text, at, row, options)
            if found.faults:
                return
            for name in several.keys() & row.keys():
                several[name].add(row[name])
        at += len(line) + 1
    for name, values in several.items():
        shown = " and ".join(f"{one:g}" for one in sorted(values)[:2])
        found.facts |= {name: shown} if values else {}
        if len(values) > 1:
            found.side_by_side(text, 0, f"{name} {shown}", f"keep the rows of one {name}")


def _dpdk_columns(line: str) -> list[str]:
    spaced = line.strip("# \t").replace("lcore id ", "lcore id  ", 1)
    parts = re.split(r",\s*|\s{2,}", spaced)
    plain = [re.sub(r"\s*[\[(].*", "", part).casefold() for part in parts]
    return [_COLUMNS.get(name, name) for name in plain]


def _dpdk_row(
    found: ProgramOutput, text: str, at: int, row: dict[str, float], options: dict[str, str]
) -> None:
    if "compression" in row:
        segments = ("seg-sz", "max-num-sgl-segs")
        if not set(segments) <= options.keys():
            rule = "nothing says the size of a call"
            remedy = f"keep the command, with --{' and --'.join(segments)}, before its table"
            found.fault(text, at, "", rule, remedy)
            return
        size = math.prod(float(options[name]) for name in segments)
        for direction in ("compression", "decompression"):
            if gbps := row.get(direction, 0.0):
                found.add((f"deflate-{row['level']:g}", direction), size, size * 8e-9 / gbps)
        return
    size, mops, gbps = row.get("size", 0.0), row.get("mops", 0.0), row.get("gbps", 0.0)
    if not size or not (mops or gbps or row.get("us")):
        rule = "a row needs a size above zero, and a rate or a time"
        found.fault(text, at, "", rule, "measure again, with more operations (--total-ops)")
        return
    # both rates have few digits: the larger one has more
    time = size * 8e-9 / gbps if gbps > mops else 1e-6 / mops if mops else row["us"] * 1e-6
    parts = [
        algorithm_name(name, 8 * int(options.get(f"{kind} ke", 0)))
        for kind in ("aead", "cipher", "auth")
        if (name := options.get(f"{kind} al", "null")) != "null"
    ]
    word = options.get("aead op", options.get("cipher op", ""))
    direction = {"encrypt": "encryption", "decrypt": "decryption"}.get(word, "")
    found.add(("+".join(parts), direction), size, time)


_OF_RUN = re.compile(r"^\s*(Workload Type|Transfer size|Queue depth|Module|Engine): +(\S+)", re.M)
_ACCEL = re.compile(
    r"^\s*(?:[0-9]+,[0-9a-fx]+|Total:?) +([0-9]+)/s(?: +[0-9]+ MiB/s)? +([0-9]+)", re.M
)


def _accel_perf(found: ProgramOutput, text: str, _: float) -> None:
    """Read one run after the other, each of one size."""
    depths, start = set(), 0
    for run in re.split(r"(?=Accel Perf Configuration)", text):
        own = {match[1]: match[2] for match in _OF_RUN.finditer(run)}
        rows = [*_ACCEL.finditer(run)]
        if rows and not {"Transfer size", "Workload Type", "Queue depth"} <= own.keys():
            rule = "nothing says workload, transfer size and queue depth of this run"
            found.fault(text, start + rows[0].start(), "", rule, "keep all that accel_perf prints")
        elif len(rows) > 2:  # the last one is the total
            remedy = "measure with one core and one thread"
            found.side_by_side(text, start + rows[1].start(), rows[1][0].strip(), remedy)
        elif rows and (int(rows[-1][2]) or not int(rows[-1][1])):
            rule, remedy = "calls failed, or none ended", "measure again"
            found.fault(text, start + rows[-1].start(), rows[-1][0].strip(), rule, remedy)
        elif rows:
            name = own["Workload Type"].replace("_", "-")
            direction = {"encrypt": "encryption", "decrypt": "decryption"}.get(name, "")
            key = "cipher" if direction else name, direction
            found.add(key, float(own["Transfer size"]), 1 / float(rows[-1][1]))
            found.facts["module"] = own.get("Module", own.get("Engine", "not named"))
            depths.add(int(own["Queue depth"]))
        start += len(run)
    found.in_flight = min(depths, default=None)
    if len(depths) > 1:
        shown = " and ".join(map(str, sorted(depths)[:2]))
        found.side_by_side(text, 0, f"queue depth {shown}", "keep the runs of one queue depth")


_KINDS: tuple[tuple[str, Callable[[ProgramOutput, str, float], None]], ...] = (
    (r"testing speed of |\btest +[0-9]+ \( *[0-9]+ b(?:it|yte) ", _tcrypt),
    (_TABLE.pattern, _dpdk),
    (r"Accel Perf Configuration|^\s*Core,Thread ", _accel_perf),
    (r"^(?:type  *[0-9]|\+[HFR]:|Doing |Forked child )|\bopenssl speed ", _openssl),
)


def key_text(key: Key) -> str:
    """Return algorithm and direction in words."""
    return " ".join(filter(None, key)) or "an algorithm without a name"


def common_keys(slow: ProgramOutput, fast: ProgramOutput, wanted: str | None) -> tuple[Key, Key]:
    """Return the algorithm and direction to take of both outputs.

    Raises
    ------
    DseError
        When they have nothing in common, or more than one thing.
    """
    files = ((slow, [*slow.times]), (fast, [*fast.times]))
    if wanted is not None:
        files = tuple((one, _wanted(one, wanted)) for one, _ in files)  # type: ignore[assignment]
    (_, of_slow), (_, of_fast) = files
    pairs = [(a, b) for a in of_slow for b in of_fast if _alike(a, b, named=wanted is not None)]
    if len({_alike_key(pair) for pair in pairs}) == 1:
        return pairs[0]
    held = [f"{one.path} holds {listed(sorted(map(key_text, keys)))}" for one, keys in files]
    if pairs:
        names = listed(sorted({key_text(_alike_key(pair)) for pair in pairs}))
        raise DseError(f"the outputs hold {names}; choose one with --algorithm")
    same = {name for name, _ in of_slow} & {name for name, _ in of_fast}
    remedy = "measure one direction with both" if same else "measure one algorithm with both"
    if ("", "") in [*of_slow, *of_fast]:
        remedy = "say which algorithm the other is of with --algorithm"
    raise DseError(f"{held[0]} and {held[1].replace(' holds', '', 1)}; {remedy}")


def only_key(output: ProgramOutput, wanted: str | None) -> Key:
    """Return the algorithm and direction to take of one output alone."""
    keys = [*output.times] if wanted is None else _wanted(output, wanted)
    if len(keys) > 1:
        names = listed(sorted(map(key_text, keys)))
        raise DseError(f"{output.path} holds {names}; choose one with --algorithm")
    return keys[0]


def _wanted(output: ProgramOutput, wanted: str) -> list[Key]:
    """Return what an output holds of an algorithm; what has no name may be any."""
    name, _, direction = wanted.rpartition(" ")
    if not direction.endswith(("cryption", "compression")):
        name, direction = wanted, ""
    name = algorithm_name(name)
    keys = [
        key
        for key in output.times
        if key[0] in ("", name) and (not direction or key[1] in ("", direction))
    ]
    if not keys:
        known = nearest(wanted, [key_text(key) for key in output.times])
        raise DseError(f"--algorithm {wanted!r} is not in {output.path}; {known}")
    return keys


def _alike(one: Key, other: Key, *, named: bool) -> bool:
    """Tell whether two may be compared: nothing that both say differs."""
    name = one[0] == other[0] or (named and not (one[0] and other[0]))
    return name and (one[1] == other[1] or not (one[1] and other[1]))


def _alike_key(pair: tuple[Key, Key]) -> Key:
    return pair[0][0] or pair[1][0], pair[0][1] or pair[1][1]
