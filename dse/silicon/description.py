"""Descriptions in Verilog as Yosys reads them, whatever they are mapped to, and their faults."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from dse.errors import Fault, StudyError
from dse.files.document import no_such
from dse.silicon.programs import Told, raise_errors

_LATCHES = "t:$dlatch t:$adlatch t:$dlatchsr"
_REMEDIES = (
    ("is not part of the design", "give the file that has this module, or correct its name"),
    (
        "syntax error",
        "correct the line; Verilog-2005 and the common part of SystemVerilog are read",
    ),
    ("find object for defparam", "name a parameter of the top module"),
    ("[Mm]odule .*not found", "name a module of these files as the top"),
    ("ABC: execution", "abc failed, perhaps by a fault of its own; another target may help"),
)


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
    """Yield the commands after reading: parameters, hierarchy, processes, no latches."""
    for name, value in parameters.items():
        written = f'"\\"{value}\\""' if isinstance(value, str) else str(value)
        yield f"chparam -set {name} {written} {top}"
    yield f"hierarchy -check -top {top}"
    yield "proc"
    yield f"tee -q -o latches dump {_LATCHES}"
    yield f"select -assert-none {_LATCHES}"


def raise_faults(told: Told, *, done: str) -> None:
    """Raise latches, loops (of a file ``check``) and errors of a run that was to write `done`.

    Raises
    ------
    StudyError
        With file and line where Yosys tells them.
    """
    for file, faults in (("latches", _latches), ("check", _loops)):
        found = [*faults(told.files.get(file, ""))]
        if found:
            raise StudyError(found)
    raise_errors(told, _REMEDIES, done=done)


def _latches(dumped: str) -> Iterator[Fault]:
    """Yield a fault for each latch of a dump of them."""
    remedy = "assign the signal on every path through its process, or clock it"
    for part in re.split(r"^ *end$", dumped, flags=re.M):
        signal = re.search(r"connect \\Q \\?(\S+)", part)
        if signal:
            rule = "a latch, which holds its value without a clock"
            yield replace(_at(part), where=signal[1], rule=rule, remedy=remedy)


def _loops(checked: str) -> Iterator[Fault]:
    """Yield a fault for each loop that `check` found."""
    remedy = "break it with a register"
    for loop in re.findall(r"found logic loop in .*\n((?:    .*\n?)*)", checked):
        wires = re.findall(r"^    wire (?:\\)?([^$\s]\S*)", loop, re.M)
        through = ", ".join(dict.fromkeys(wires)) or "unnamed signals"
        rule = f"a combinational loop through {through}"
        yield replace(_at(loop[loop.find("    wire") :]), rule=rule, remedy=remedy)


def _at(text: str) -> Fault:
    """Return a fault at the first source that a text names, if it does."""
    found = re.search(r"(?:src \"|source: )([^:|\"\n]+):(\d+)\.(\d+)", text)
    place = (found[1], int(found[2]), int(found[3])) if found else ("", 0, 0)
    return Fault(
        where="", written="", rule="", remedy="", file=place[0], line=place[1], column=place[2]
    )
