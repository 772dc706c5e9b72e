"""Descriptions in Verilog as Yosys reads them, whatever they are mapped to, and their faults."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from dse.errors import Fault, StudyError
from dse.files.document import no_such
from dse.silicon.netlist import placed
from dse.silicon.programs import Output, raise_errors
from dse.silicon.yosys import Yosys, run_yosys

_LATCHES = "t:$dlatch t:$adlatch t:$dlatchsr"
_REMEDIES = (
    ("is not part of the design", "give the file that has this module, or correct its name"),
    (
        "syntax error",
        "correct the line; Verilog-2005 and the common part of SystemVerilog are read",
    ),
    ("find object for defparam", "name a parameter of the top module"),
    ("[Mm]odule .*not found", "name a module of these files as the top"),
    (
        "cannot be legalized",
        "no flip-flop that is there can be that: leave set or reset out, or let the clock do it",
    ),
    ("ABC: execution", "abc failed, perhaps by a fault of its own; another target may help"),
)
_SELECTIONS = (
    (r"Module '([^']+)' referenced in module", "t:{0}"),
    (r"\(type \$_DFFSRE?_", "t:$dffsr*"),
    (r"\(type \$_ALDFFE?_", "t:$aldff*"),
    (r"\(type \$_DFFE?_[NP][NP][01]", "t:$adff*"),
)
"""What an error without a place is about: a regular expression, and cells of Yosys."""


def reading(sources: Sequence[str | Path]) -> list[str]:
    """Return the commands that read files of Verilog or SystemVerilog (``.sv``).

    Raises
    ------
    StudyError
        Files that are not there, or whose names cannot be handed on; all at once.
    """
    faults: list[Fault] = []
    commands = []
    for source in map(Path, sources):
        if not source.exists():
            faults += no_such(source, "file", "*.v").faults
        elif '"' in str(source) or "\n" in str(source):
            remedy = "rename it, without quotes and line breaks"
            faults.append(
                Fault(where="", written=repr(str(source)), rule="cannot be read", remedy=remedy)
            )
        else:
            flag = " -sv" if source.suffix == ".sv" else ""
            commands.append(f'read_verilog{flag} "{source.resolve()}"')
    if faults:
        raise StudyError(faults)
    return commands


_NAME = re.compile(r"[A-Za-z_]\w*")


def wrong_names(top: str, parameters: Mapping[str, int | str]) -> Iterator[Fault]:
    """Yield what Yosys would take for something else."""
    for where, name in (("top", top), *(("parameters", one) for one in parameters)):
        if not _NAME.fullmatch(name):
            rule = "a name is letters, digits and underscores"
            yield Fault(where=where, written=repr(name), rule=rule, remedy="rename it")
    for name, value in parameters.items():
        if isinstance(value, str) and not re.fullmatch(r"[\w .,:/+-]*", value):
            remedy = "use letters, digits, spaces and _ . , : / + - only"
            rule = "Yosys cannot be given this text"
            where = f"parameters.{name}"
            yield Fault(where=where, written=repr(value), rule=rule, remedy=remedy)


def elaborating(top: str, parameters: Mapping[str, int | str]) -> Iterator[str]:
    """Yield the commands after reading: parameters, hierarchy, processes, no latches.

    What has no driver is looked for in a copy without logic that no output needs.
    """
    for name, value in parameters.items():
        written = f'"\\"{value}\\""' if isinstance(value, str) else str(value)
        yield f"chparam -set {name} {written} {top}"
    yield f"hierarchy -check -top {top}"
    yield "proc"
    yield f"tee -q -o latches dump {_LATCHES}"
    yield f"select -assert-none {_LATCHES}"
    yield from ("design -push-copy", "flatten", "opt_clean -purge")
    yield from ("tee -q -o undriven check", "design -pop")


def run_description(
    yosys: Yosys,
    script: Sequence[str],
    files: Mapping[str, str],
    *,
    done: str,
    time_limit_s: float,
) -> Output:
    """Run a script that reads a description and writes the file `done` last; see `run_yosys`.

    Raises
    ------
    StudyError
        Latches, wires without a driver, loops (of a file ``check``) and errors; where it is
        known, with file and line.
    """
    output = run_yosys(yosys, script, files, time_limit_s=time_limit_s)
    reports = (("latches", _latches), ("check", _loops), ("undriven", _undriven))
    for file, faults in reports:
        found = [*faults(output.files.get(file, ""))]
        if found:
            raise StudyError(found)
    try:
        raise_errors(output, _REMEDIES, done=done)
    except StudyError as error:
        reads = [line for line in script if line.startswith("read_verilog")]
        for pattern, selection in _SELECTIONS:
            about = re.search(pattern, str(error))
            if about and not any(fault.file for fault in error.faults):
                dump = f"tee -q -o place dump {selection.format(*about.groups())}"
                again = run_yosys(yosys, [*reads, "proc", dump], files, time_limit_s=time_limit_s)
                place = again.files.get("place", "")
                raise StudyError([_at(place, fault) for fault in error.faults]) from None
        raise
    return output


def _undriven(checked: str) -> Iterator[Fault]:
    """Yield a fault for each wire without a driver that reaches an output."""
    pattern = r"Warning: Wire [^\s.]+\.\\?(.+?) is used but has no driver"
    for wire in dict.fromkeys(re.findall(pattern, checked)):
        rule, remedy = "nothing drives it, and outputs depend on it", "drive it, or assign it 0"
        yield Fault(where=wire, written="", rule=rule, remedy=remedy)


def _latches(dumped: str) -> Iterator[Fault]:
    """Yield a fault for each latch of a dump of them."""
    remedy = "assign the signal on every path through its process, or clock it"
    for part in re.split(r"^ *end$", dumped, flags=re.M):
        signal = re.search(r"connect \\Q \\?(\S+)", part)
        if signal:
            rule = "a latch, which holds its value without a clock"
            yield _at(part, Fault(where=signal[1], written="", rule=rule, remedy=remedy))


def _loops(checked: str) -> Iterator[Fault]:
    """Yield a fault for each loop that `check` found."""
    remedy = "break it with a register"
    for loop in re.findall(r"found logic loop in .*\n((?:    .*\n?)*)", checked):
        wires = re.findall(r"^    wire (?:\\)?([^$\s]\S*)", loop, re.M)
        through = ", ".join(dict.fromkeys(wires)) or "unnamed signals"
        rule = f"a combinational loop through {through}"
        fault = Fault(where="", written="", rule=rule, remedy=remedy)
        yield _at(loop[loop.find("    wire") :], fault)


def _at(text: str, fault: Fault) -> Fault:
    """Return a fault at the first source that a text names, if it does."""
    found = re.search(r"(?:src \"|source: )([^|\"\n]+)", text)
    return placed(fault, found[1]) if found else fault
