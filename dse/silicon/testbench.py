"""Known answers as a designer has them: recorded waves, or the testbench that makes them."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from dse.contract.generators import Value
from dse.errors import Fault, StudyError
from dse.files.document import no_such
from dse.silicon.programs import Output, ToolTimeError, run_program
from dse.silicon.sources import Sources
from dse.silicon.waves import Waves, read_waves

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
