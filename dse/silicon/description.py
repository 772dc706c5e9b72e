"""Descriptions in Verilog: their files, their reading by Yosys for any mapping, their errors."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from dse.contract.generators import Value
from dse.errors import Fault, StudyError, refuse, results_of
from dse.files.document import no_such
from dse.files.json import read_bytes
from dse.reports.text import listed
from dse.silicon.netlist import placed
from dse.silicon.yosys import Output, Yosys, errors_of, run_yosys

ENDINGS = (".v", ".sv")
"""Suffixes of descriptions.  Anything else is the name of a generator."""

_TAKEN = re.compile(r'(`include\s+)?"([^"\n]{1,200})"')
_GUARD = re.compile(r"`ifn?def\b")
_MOST_DEEP = 100


def source_texts(files: Sequence[str]) -> dict[Path, str]:
    """Return the result of `with_included` for all sources together."""
    each = (partial(with_included, Path(file)) for file in files)
    return {path: text for texts in results_of(*each) for path, text in texts.items()}


def with_included(path: Path) -> dict[Path, str]:
    """Return the text of a description and of all files that it names, and these.

    Raises
    ------
    StudyError
        The file is not there, or files include each other without end.
    """
    if not path.is_file():
        raise no_such(path, "file", "*.v", "*.sv")
    found: dict[Path, str] = {}
    _include(path, (), found)
    return found


def _include(path: Path, within: tuple[Path, ...], found: dict[Path, str]) -> None:
    """Add a file and the files that it names, unless it is already included."""
    loop = next((within[at:] for at, one in enumerate(within) if one.samefile(path)), ())
    if len(within) >= _MOST_DEEP or (loop and not any(_GUARD.search(found[one]) for one in loop)):
        raise _endless(path, loop)
    if any(one.samefile(path) for one in found):
        return
    found[path] = read_bytes(path).decode("utf-8", errors="replace")
    for match in _TAKEN.finditer(found[path]):
        inside = path.parent / match[2]
        if inside.is_file():
            _include(inside, (*within, path) if match[1] else (), found)


def _endless(path: Path, loop: tuple[Path, ...]) -> StudyError:
    rule = f"{' and '.join(one.name for one in loop)} include each other without end"
    if not loop:
        rule = f"files include each other more than {_MOST_DEEP} deep"
    remedy = "leave one out, or put one between `ifndef NAME and `endif"
    return StudyError([Fault("", repr(str(path)), rule, remedy)])


# Reading

_CHECK = "tee -q -o undriven check"
"""Looks in the flat design for signals with several drivers, and for those without one."""

_LATCHES = "t:$dlatch t:$adlatch t:$dlatchsr"

_REMEDIES = (
    ("No such file", "put it into the folder of the file that includes it"),
    ("is not part of the design", "give the file that has this module, or correct its name"),
    (
        "syntax error",
        "correct the line, or convert SystemVerilog to Verilog-2005 before, as with sv2v",
    ),
    ("find object for defparam", "name a parameter of the top module"),
    ("[Mm]odule .*not found", "name a module of these files as the top"),
    (
        "cannot be legalized",
        "no flip-flop that is there can be that: leave set or reset out, or let the clock do it",
    ),
    ("ABC: execution", "abc failed, perhaps by an error of its own; another target may help"),
)
_SELECTIONS = (
    (r"Module '([^']+)' referenced in module", "t:{0}"),
    (r"\(type \$_DFFSRE?_", "t:$dffsr*"),
    (r"\(type \$_ALDFFE?_", "t:$aldff*"),
    (r"\(type \$_DFFE?_[NP][NP][01]", "t:$adff*"),
)
"""Subjects of errors without a place: a regular expression, and cells of Yosys."""


@dataclass(frozen=True)
class Reading:
    """Commands that read a description, and the texts by name that they read beside its files."""

    commands: Sequence[str]
    files: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of_text(cls, verilog: str) -> Reading:
        """Return the reading of a text."""
        return cls(["read_verilog design.v"], {"design.v": verilog})

    @classmethod
    def of_files(cls, sources: Sequence[str], top: str, parameters: Mapping[str, Value]) -> Reading:
        """Return the reading of files, with values of parameters of the module `top`.

        All names that cannot be handed on are errors at once.
        """
        rule, remedy = "cannot be read", "rename it, without quotes and line breaks"
        refused = (one for one in sources if '"' in one or "\n" in one)
        faults = [Fault("", repr(one), rule, remedy) for one in refused]
        refuse([*faults, *wrong_names(top, parameters)])
        commands = []
        for source in sources:
            flag = " -sv" if source.endswith(".sv") else ""
            commands.append(f'read_verilog{flag} "{Path(source).resolve()}"')
        commands += (f"chparam -set {name} {value} {top}" for name, value in parameters.items())
        return cls(commands)


_NAME = re.compile(r"[A-Za-z_]\w*")


def wrong_names(top: str, parameters: Iterable[str] = ()) -> Iterator[Fault]:
    """Yield an error for each name that Yosys would mistake for something else."""
    for where, name in (("top", top), *(("parameters", one) for one in parameters)):
        if not _NAME.fullmatch(name):
            yield Fault(where, repr(name), "a name is letters, digits and underscores", "rename it")


def elaborating(top: str) -> Iterator[str]:
    """Yield the commands after reading: hierarchy, processes, no latches.

    Wires without a driver, or with two, are searched in a copy without logic that no output needs.
    """
    yield f"hierarchy -check -top {top}"
    yield "proc"
    yield f"tee -q -o latches dump {_LATCHES}"
    yield f"select -assert-none {_LATCHES}"
    yield from ("design -push-copy", "flatten", "opt_clean -purge")
    yield from (_CHECK, "design -pop")


def run_description(
    yosys: Yosys,
    reads: Reading,
    script: Sequence[str],
    files: Mapping[str, str] | None = None,
    *,
    done: str,
) -> dict[str, str]:
    """Run a script after reading a description, and return the files that it wrote by name.

    It writes the file `done` last.

    Raises
    ------
    StudyError
        Latches, wires without a driver or with several, loops (of a file ``check``) and errors,
        with file and line if known.
    """
    given = {**reads.files, **(files or {})}

    def run(commands: Sequence[str]) -> Output:
        return run_yosys(yosys, [*reads.commands, *commands], given)

    output = run(script)
    checked = output.files.get("undriven", "")
    if _driven_twice(checked):
        dump = _dumping_drivers(script, checked)
        place = run(dump).files.get("place", "") if dump else ""
        raise StudyError(_driver_faults(checked, place))
    for file, faults in (("latches", _latches), ("check", _loops), ("undriven", _undriven)):
        refuse(faults(output.files.get(file, "")))
    refuse(_with_places([*errors_of(output, done, _REMEDIES)], run))
    return output.files


def _with_places(
    faults: Sequence[Fault], run: Callable[[Sequence[str]], Output]
) -> Iterator[Fault]:
    """Yield the errors of Yosys, with a place from another run for those without one."""
    said, place = "\n".join(map(str, faults)), ""
    for pattern, selection in _SELECTIONS:
        about = re.search(pattern, said)
        if about and not place:
            dump = f"tee -q -o place dump {selection.format(*about.groups())}"
            place = run(["proc", dump]).files.get("place", "")
    yield from (fault if fault.file else _at(place, fault) for fault in faults)


def _undriven(checked: str) -> Iterator[Fault]:
    """Yield an error for each wire without a driver that reaches an output."""
    pattern = r"Warning: Wire [^\s.]+\.\\?(.+?) is used but has no driver"
    for wire in dict.fromkeys(re.findall(pattern, checked)):
        rule, remedy = "nothing drives it, and outputs depend on it", "drive it, or assign it 0"
        yield Fault(wire, "", rule, remedy)


def _latches(dumped: str) -> Iterator[Fault]:
    """Yield an error for each latch of a dump."""
    remedy = "assign the signal on every path through its process, or clock it"
    for part in re.split(r"^ *end$", dumped, flags=re.M):
        signal = re.search(r"connect \\Q \\?(\S+)", part)
        if signal:
            rule = "a latch, which holds its value without a clock"
            yield _at(part, Fault(signal[1], "", rule, remedy))


def _loops(checked: str) -> Iterator[Fault]:
    """Yield an error for each loop that `check` found."""
    remedy = "break it with a register"
    for loop in re.findall(r"found logic loop in .*\n((?:    .*\n?)*)", checked):
        wires = re.findall(r"^    wire (?:\\)?([^$\s]\S*)", loop, re.M)
        through = ", ".join(dict.fromkeys(wires)) or "unnamed signals"
        fault = Fault("", "", f"a combinational loop through {through}", remedy)
        yield _at(loop[loop.find("    wire") :], fault)


def _at(text: str, fault: Fault) -> Fault:
    """Return an error at the first source that a text names, if any."""
    found = re.search(r"(?:src \"|source: )([^|\"\n]+)", text)
    return placed(fault, found[1]) if found else fault


def _driven_twice(checked: str) -> dict[str, list[str]]:
    """Return the drivers, cells and inputs, of each signal that the command ``check`` reports."""
    pattern = r"conflicting drivers for \S*?\.\\?([^\s\[:]+).*\n((?:    .*\n?)*)"
    found: dict[str, list[str]] = {}
    for signal, drivers in re.findall(pattern, checked):
        names = re.findall(r"of cell (\S+) \(|module (input [^\s\[]+)", drivers)
        found.setdefault(signal, []).extend(cell or port for cell, port in names)
    return {signal: [*dict.fromkeys(drivers)] for signal, drivers in found.items()}


def _dumping_drivers(script: Sequence[str], checked: str) -> list[str]:
    """Return a script as far as it checks, but with a file ``place`` of the cells that drive."""
    names = [name for drivers in _driven_twice(checked).values() for name in drivers]
    # selections are patterns, and backslashes and brackets are not literal there
    cells = " ".join("c:" + re.sub(r"[\\\[\]]", "?", one) for one in names if " " not in one)
    return [*script[: script.index(_CHECK)], f"tee -q -o place dump {cells}"] if cells else []


def _driver_faults(checked: str, dumped: str) -> Iterator[Fault]:
    """Yield an error for each signal with several drivers, at the first that has a place."""
    cells = re.findall(r"((?:^ *attribute .*\n)*)^ *cell \S+ (\S+)$", dumped, re.M)
    sources = {name: re.search(r'\\src "([^"|]+)', text) for text, name in cells}
    for signal, drivers in _driven_twice(checked).items():
        by = [found[1] if (found := sources.get(one)) else one for one in drivers]
        by.sort(key=lambda one: (" " in one, len(one), one))
        shown = listed([re.sub(r"(:\d+)\.[\d.-]+$", r"\1", one) for one in by])
        rule, remedy = f"{shown} drive it", "let one process or assignment do so"
        yield placed(Fault(signal, "", rule, remedy), by[0])
