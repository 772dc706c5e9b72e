"""Known answers as a designer has them: recorded waves, or the testbench that makes them.

Waves are value change dumps (VCD, IEEE 1364-2005, 18): signals of a scope at each clock edge.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from dse.contract.generators import Value
from dse.errors import Fault, Position, StudyError, nearest
from dse.files.csv import CsvTable
from dse.files.document import no_such
from dse.silicon.descriptions.sources import Sources
from dse.silicon.programs import Output, ToolTimeError, run_program

UNKNOWN = "-"
"""A value of which a bit is neither 0 nor 1."""

TESTBENCH = (".v", ".sv")
WAVES = (".vcd", ".fst")
"""Endings of files of known answers that are no table."""

_INSTALL = {
    "iverilog": "install Icarus Verilog, or record waves: $dumpfile and $dumpvars, --check run.vcd",
    "vvp": "install it with iverilog, whose programs it runs",
    "fst2vcd": "install GTKWave, or record a .vcd",
}
_DUMPED = "dse_waves.vcd"
_MOST_BYTE = 1_000_000_000
_DUMP = """\
module dse_waves;
  initial begin
    $dumpfile("{file}");
    $dumplimit({most});
    $dumpvars(1, {dut});
  end
endmodule
"""


class Waves(CsvTable):
    """Signals as a table; a row is what stands right before a rising edge, at whose line it is.

    The first row may be what stands right after it, where the clock was unknown before.
    """

    def fault(self, row: int | None, column: int, rule: str, remedy: str) -> Fault:
        """Return a fault of a signal, in a cycle counted from 0, or of all."""
        written = "" if row is None else f"cycle {row}: {self.columns[column][row]}"
        place = Position(self.lines[0 if row is None else row + 1], 1, self.file)
        return place.fault((self.headers[column],), written, rule, remedy)


def read_waves(
    lines: Iterable[str], *, file: str, scope: str, clock: str, below: bool = False
) -> Waves:
    """Return the signals of a scope before each rising edge of its clock.

    Parameters
    ----------
    lines
        Of the dump.
    file
        Its name, for messages.
    scope
        Names of modules from the outermost, with dots between them.
    clock
        A signal of the scope.
    below
        Signals of scopes within it too, as ``instance.signal``.

    Raises
    ------
    StudyError
        It is no dump, has no such scope or clock, or the clock does not rise.
    """
    numbered = enumerate(lines, start=1)
    scopes, ends = _header(numbered)
    if not ends:
        _refuse(file, "", "it is no value change dump", "write one with $dumpfile and $dumpvars")
    if scope not in scopes:
        remedy = nearest(scope, scopes)
        _refuse(file, repr(scope), "the dump has no signals of this scope", remedy)
    signals = scopes[scope]
    for name, inner in scopes.items() if below else ():
        if name.startswith(f"{scope}."):
            inside = name.removeprefix(f"{scope}.")
            signals = {**signals, **{f"{inside}.{one}": code for one, code in inner.items()}}
    if clock not in signals:
        remedy = f"{nearest(clock, signals)}; name it with --clock-port"
        _refuse(file, repr(clock), f"{scope} has no signal of this name", remedy)
    rows, edges = _sampled(numbered, signals, signals[clock])
    if not rows:
        _refuse(file, repr(clock), "the clock does not rise", "dump cycles in which it does")
    headers = tuple(signals)
    columns = tuple(zip(*rows, strict=True))
    text = "\n".join(map(",".join, (headers, *rows)))
    return Waves(file, text, headers, columns, (ends, *edges))


def _refuse(file: str, written: str, rule: str, remedy: str) -> None:
    raise StudyError([Fault(file, written, rule, remedy)])


def _header(lines: Iterator[tuple[int, str]]) -> tuple[dict[str, dict[str, str]], int]:
    """Return by scope the code of each signal, and the last line, 0 where there is none."""
    scopes: dict[str, dict[str, str]] = {}
    within: list[str] = []
    words: list[str] = []
    for number, line in lines:
        words += line.split()
        if "$end" not in words[-1:]:
            continue
        match words:
            case ["$scope", _, name, "$end"]:
                within.append(name)
            case ["$upscope", "$end"]:
                within = within[:-1]
            case ["$var", kind, _, code, name, *_] if kind != "real":
                signals = scopes.setdefault(".".join(within), {})
                signals[name.partition("[")[0].removeprefix("\\")] = code
            case ["$enddefinitions", "$end"]:
                return scopes, number
        words = []
    return scopes, 0


def _sampled(
    lines: Iterator[tuple[int, str]], signals: Mapping[str, str], clock: str
) -> tuple[list[tuple[str, ...]], list[int]]:
    """Return the values of signals before each rising edge, and its line."""
    values = {**dict.fromkeys(signals.values(), UNKNOWN), clock: ""}
    codes = [*signals.values()]
    changed: dict[str, str] = {}
    rows: list[tuple[str, ...]] = []
    edges: list[int] = []
    rose = 0

    def settle() -> None:
        before = dict(values)
        values.update(changed)
        if rose and before[clock] in ("0x0", UNKNOWN) and changed[clock] == "0x1":
            # what was unknown before the first edge gets its value at that time, like the clock
            stood = before if before[clock] == "0x0" else values
            rows.append(tuple([stood[code] for code in codes]))
            edges.append(rose)
        changed.clear()

    for number, line in lines:
        first = line[:1]
        if first == "#":
            settle()
            rose = 0
            continue
        bits, _, code = line[1:].partition(" ") if first in ("b", "B") else (first, "", line[1:])
        code = code.strip()
        if code in values:
            changed[code] = _value(bits)
            rose = number if code == clock else rose
    settle()
    return rows, edges


def _value(bits: str) -> str:
    return UNKNOWN if bits.strip("01") else hex(int(bits, 2))


def recorded(
    check: Path,
    dut: str,
    clock: str,
    sources: Sources,
    parameters: Mapping[str, Value],
    *,
    time_limit_s: float,
) -> Waves:
    """Return the signals of an instance, from a dump or by running a testbench.

    Parameters
    ----------
    check
        A dump, or a testbench in Verilog, whose outermost module gets `parameters`.
    dut
        The instance: names from the outermost module, with dots between them.
    clock
        Its clock.
    sources
        What it is an instance of.
    time_limit_s
        Longest time that a program runs.

    Raises
    ------
    StudyError
        A file or a program is not there, a file cannot be read, or the testbench does not run or
        end.
    """
    if not check.is_file():
        raise no_such(check, "file", f"*{check.suffix}")
    if not re.fullmatch(r"\w+(\.\w+)*", dut):
        rule, remedy = "waves are those of an instance", "name it from the outermost: --dut tb.dut"
        raise StudyError([Fault("dut", repr(dut), rule, remedy)])
    if check.suffix == ".vcd":
        with check.open(encoding="utf-8", errors="replace") as lines:
            return read_waves(lines, file=str(check), scope=dut, clock=clock)
    if check.suffix == ".fst":
        command = [_program("fst2vcd", check), "-f", str(check.resolve()), "-o", _DUMPED]
        ran = run_program(command, {}, what="fst2vcd", time_limit_s=time_limit_s)
    else:
        ran = _run(check, dut, sources, parameters, time_limit_s)
    dump = ran.files.get(_DUMPED) or next((t for t in ran.files.values() if "$var " in t), "")
    if len(dump) >= _MOST_BYTE:
        rule, remedy = f"its waves take more than {_MOST_BYTE:,} bytes", "end it earlier: $finish"
        raise StudyError([Fault(str(check), "", rule, remedy)])
    found = read_waves(dump.splitlines(), file=str(check), scope=dut, clock=clock)
    return replace(found, lines=(0,) * len(found.lines))  # of a file that nobody keeps


def _program(name: str, check: Path) -> str:
    found = shutil.which(name)
    if found is None:
        rule = f"{name} is not on the PATH, which it takes"
        raise StudyError([Fault("check", str(check), rule, _INSTALL[name])])
    return found


def _run(
    check: Path, dut: str, sources: Sources, parameters: Mapping[str, Value], limit_s: float
) -> Output:
    """Compile a testbench with what it tests, and run it."""
    bench = dut.partition(".")[0]
    whole = replace(sources, files=(*sources.files, str(check)))
    command = [_program("iverilog", check), "-g2012", "-o", "run.vvp", "-s", bench]
    command += ["-s", "dse_waves"]
    command += [f"-P{bench}.{name}={value}" for name, value in parameters.items()]
    folders = {str(Path(one).resolve()) for one in whole.include}
    command += [f"-I{one}" for one in (*sorted(folders), str(check.parent.resolve()))]
    command += [f"-D{one}" for one in whole.define]
    command += [str(Path(one).resolve()) for one in whole.files]
    files = {"dse_waves.v": _DUMP.format(file=_DUMPED, most=_MOST_BYTE, dut=dut)}
    built = run_program([*command, "dse_waves.v"], files, what="iverilog", time_limit_s=limit_s)
    faults = [*_faults(built.log, dut)]
    if "run.vvp" not in built.files or faults:
        rule = built.log.strip().rpartition("\n")[2] or "nothing"
        raise StudyError(faults or [Fault(str(check), "", f"iverilog: {rule}", "")])
    data = whole.data().items()
    files = {name: text for name, text in data if Path(name).suffix not in WAVES}  # it writes them
    files["run.vvp"] = built.files["run.vvp"]
    try:
        run = [_program("vvp", check), "-n", "run.vvp"]
        return run_program(run, files, what="vvp", time_limit_s=limit_s)
    except ToolTimeError:
        rule = f"it does not end within {limit_s:g} s"
        fault = Fault(str(check), "", rule, "end it early with $finish, or raise --time-limit")
        raise StudyError([fault]) from None


def _faults(log: str, dut: str) -> Iterator[Fault]:
    """Yield errors of iverilog, and parameters that the testbench does not have."""
    bench = dut.partition(".")[0]
    for name in re.findall(r"warning: parameter (\w+) not found in", log):
        rule, remedy = f"{bench} has no parameter of this name", "add it, and hand it to the design"
        yield Fault(f"over.{name}", "", rule, remedy)
    for line in log.splitlines():
        found = re.match(r"(?P<file>.+?):(?P<line>\d+): (?:error: |sorry: )?(?P<rule>\S.*)", line)
        if found and found["file"] == "dse_waves.v":
            rule, remedy = "the testbench has no such instance", "name it from the outermost module"
            yield Fault("dut", repr(dut), rule, remedy)
        elif found and not found["rule"].startswith("warning"):
            place: Any = {"file": found["file"], "line": int(found["line"]), "column": 1}
            yield Fault("", "", found["rule"], "", **place)
