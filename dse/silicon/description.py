"""Descriptions in Verilog: their files, their reading by Yosys for any mapping, their errors."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import NamedTuple

from dse.errors import Fault, StudyError, refuse, results_of
from dse.files.document import no_such
from dse.files.json import read_bytes
from dse.reports.text import listed
from dse.silicon.netlist import placed
from dse.silicon.yosys import Output, Yosys, raise_errors, run_yosys

ENDINGS = (".v", ".sv")
"""Suffixes of descriptions.  Anything else is the name of a generator."""

_TAKEN = re.compile(r'(`include\s+)?"([^"\n]{1,200})"')
_GUARD = re.compile(r"`ifn?def\b")
_MOST_DEEP = 100


@dataclass(frozen=True)
class Sources:
    """Source files of a design, Verilog and SystemVerilog, in the order of reading."""

    files: tuple[str, ...] = ()

    @cached_property
    def texts(self) -> dict[Path, str]:
        """Return every file that texts in the sources name, with its content.

        Raises
        ------
        StudyError
            Files that do not exist, or include each other without end, all at once.
        """
        each = (partial(with_included, Path(file)) for file in self.files)
        return {path: text for texts in results_of(*each) for path, text in texts.items()}

    def data(self) -> dict[str, str]:
        """Return files that are no Verilog under their names in the sources."""
        found = {}
        for path, text in self.texts.items():
            for match in _TAKEN.finditer(text):
                name = match[2]
                inside = path.parent / name
                if not match[1] and ".." not in name and inside in self.texts:
                    found[name] = self.texts[inside]
        return {name: text for name, text in found.items() if not Path(name).is_absolute()}


NO_SOURCES = Sources()
"""Sources of a design whose text is at hand."""


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
    remedy = "leave one out, or put what is read once between `ifndef NAME and `endif"
    return StudyError([Fault("", repr(str(path)), rule, remedy)])


# Reading

_CHECK = "tee -q -o undriven check"
"""Looks in the flat design for signals with several drivers, and for those without one."""

_LATCHES = "t:$dlatch t:$adlatch t:$dlatchsr"
_WAS_READ = "was_read"
_FLOATING = """\
(* techmap_celltype = "$buf" *)
module floating (A, Y);
  parameter WIDTH = 1, _TECHMAP_CONSTMSK_A_ = 0, _TECHMAP_CONSTVAL_A_ = 0;
  input [WIDTH-1:0] A;
  output [WIDTH-1:0] Y;
  genvar at;
  for (at = 0; at < WIDTH; at = at + 1)
    if (!_TECHMAP_CONSTMSK_A_[at] || _TECHMAP_CONSTVAL_A_[at] !== 1'bx) assign Y[at] = A[at];
endmodule
"""
"""Verilog that removes slang's drivers of undriven wires, buffers of an unknown value."""

_COMPLETE = re.compile(r"\(\*[^)]*\bfull_case\b|synopsys[^\n]*full_case")
"""Marks of a complete case, which slang ignores: it would infer latches."""

_REMEDIES = (
    ("^expected ", "correct the line"),
    ("does not exist in", "name a parameter of the top module"),
    ("not a valid top-level module", "name a module of these files as the top"),
    ("latch inferred", "assign the signal on every path through its process, or clock it"),
    ("unknown module", "give the file that has this module, or correct its name"),
    ("No such file", "put it into the folder of the file that includes it"),
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
"""Subjects of errors without a place: a regular expression, and cells of Yosys."""


@dataclass(frozen=True)
class Reading:
    """Ways to read a description, tried until one succeeds (`run_description`).

    Attributes
    ----------
    ways
        Commands of each.
    files
        Texts by name that they read beside the sources.
    places
        Paths of sources as slang writes them, relative, and as they are.
    refused
        Reason why slang does not read it, if known.
    """

    ways: Sequence[Sequence[str]]
    files: Mapping[str, str] = field(default_factory=dict)
    places: Mapping[str, str] = field(default_factory=dict)
    refused: str = ""

    @classmethod
    def of_text(cls, verilog: str) -> Reading:
        """Return the reading of a text, by Yosys itself."""
        return cls([["read_verilog design.v"]], {"design.v": verilog})


class Read(NamedTuple):
    """Output of a run, the commands that read, and the reason why others failed, or empty."""

    output: Output
    commands: Sequence[str]
    refused: str


def reading(
    sources: Sources, yosys: Yosys, top: str, parameters: Mapping[str, int | str]
) -> Reading:
    """Return the reading of files: by slang, if the program has it, else by Yosys itself.

    Raises
    ------
    StudyError
        Names that cannot be handed on, all at once.
    """
    faults: list[Fault] = []
    for source in sources.files:
        if '"' in source or "\n" in source:
            remedy = "rename it, without quotes and line breaks"
            faults.append(Fault("", repr(source), "cannot be read", remedy))
    faults += wrong_names(top, parameters)
    refuse(faults)
    own = _own_reading(sources, top, parameters)
    if not yosys.has_slang or any(map(_COMPLETE.search, sources.texts.values())):
        return Reading([own])
    return Reading(
        [[*_slang_reading(top, parameters)], own],
        {**sources.data(), **_slang_files(sources, top, parameters)},
        _places(sources),
    )


def _places(sources: Sources) -> dict[str, str]:
    """Return paths from a folder of a run, the longest first."""
    folder = Path(tempfile.gettempdir(), "run").resolve()
    whole = {os.path.relpath(one.resolve(), folder): str(one.resolve()) for one in sources.texts}
    return dict(sorted(whole.items(), key=lambda one: -len(one[0])))


def _own_reading(sources: Sources, top: str, parameters: Mapping[str, int | str]) -> Sequence[str]:
    commands = []
    for source in sources.files:
        flag = " -sv" if source.endswith(".sv") else ""
        commands.append(f'read_verilog{flag} "{Path(source).resolve()}"')
    for name, value in parameters.items():
        written = f'"\\"{value}\\""' if isinstance(value, str) else str(value)
        commands.append(f"chparam -set {name} {written} {top}")
    return commands


def _slang_reading(top: str, parameters: Mapping[str, int | str]) -> Iterator[str]:
    """Yield commands.  Slang reports a missing parameter only in an instance."""
    if parameters:
        yield "read_slang --ast-compilation-only --top dse_parameters -f sources.f parameters.sv"
    yield "read_slang -f sources.f -f top.f"
    yield "design -push-copy"
    yield "techmap -map floating.v"
    yield from ("flatten", "opt_clean -purge")
    yield from ("tee -q -o floating check", "design -pop")


def _slang_files(
    sources: Sources, top: str, parameters: Mapping[str, int | str]
) -> Mapping[str, str]:
    lines = [f'"{Path(one).resolve()}"' for one in sources.files]
    values = {
        name: f'"{one}"' if isinstance(one, str) else str(one) for name, one in parameters.items()
    }
    given = [f"--top {top}"]
    given += (
        f"-G {name}={one.replace(chr(34), chr(92) + chr(34))}" for name, one in values.items()
    )
    inside = ", ".join(f".{name}({one})" for name, one in values.items())
    return {
        "sources.f": "\n".join(lines) + "\n",
        "top.f": "\n".join(given) + "\n",
        "parameters.sv": f"module dse_parameters; {top} #({inside}) dut (); endmodule\n",
        "floating.v": _FLOATING,
    }


_NAME = re.compile(r"[A-Za-z_]\w*")


def wrong_names(top: str, parameters: Mapping[str, int | str]) -> Iterator[Fault]:
    """Yield an error for each name or value that Yosys would mistake for something else."""
    for where, name in (("top", top), *(("parameters", one) for one in parameters)):
        if not _NAME.fullmatch(name):
            yield Fault(where, repr(name), "a name is letters, digits and underscores", "rename it")
    for name, value in parameters.items():
        if isinstance(value, str) and not re.fullmatch(r"[\w .,:/+-]*", value):
            remedy = "use letters, digits, spaces and _ . , : / + - only"
            rule = "Yosys cannot be given this text"
            yield Fault(f"parameters.{name}", repr(value), rule, remedy)


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
) -> Read:
    """Run a script after reading a description (`run_yosys`).  It writes the file `done` last.

    Raises
    ------
    StudyError
        Latches, wires without a driver or with several, loops (of a file ``check``) and errors,
        with file and line if known.
    """
    run = partial(_run, yosys, {**reads.files, **(files or {})}, reads.places)
    refused: StudyError | None = None
    for way in reads.ways:
        whole = [*way, f"tee -q -o {_WAS_READ} ls", *script]
        output = run(whole)
        was_read = _WAS_READ in output.files
        if refused is not None and not was_read:
            raise refused
        twice = [*_driven_twice(output.files.get("floating", ""))]
        if twice and way is not reads.ways[-1]:
            rule = f"two drivers of {twice[0]}, as where two processes call one static function"
            refused = StudyError([Fault("", "", rule, "")])
            continue
        _raise_drivers(output, whole, run)
        try:
            _raise_faults(output, done, way, run)
        except StudyError as error:
            if was_read or len(reads.ways) == 1:
                raise _together(refused, error) from None
            refused = error
            continue
        why = f"slang does not read it: {refused.faults[0]}" if refused else reads.refused
        return Read(output, way, why)
    raise refused or StudyError([])


def _together(refused: StudyError | None, error: StudyError) -> StudyError:
    """Return errors with those of a way that failed before, each place once."""
    lines = {(fault.file, fault.line) for fault in error.faults}
    others = refused.faults if refused else ()
    return StudyError(
        [*(one for one in others if (one.file, one.line) not in lines), *error.faults]
    )


def _raise_drivers(
    output: Output, script: Sequence[str], run: Callable[[Sequence[str]], Output]
) -> None:
    """Raise the errors of signals with several drivers, with places from another run."""
    checked = output.files.get("undriven", "")
    if _driven_twice(checked):
        dump = _dumping_drivers(script, checked)
        again = run(dump) if dump else output
        raise StudyError(_driver_faults(checked, again.files.get("place", "")))


def _run(
    yosys: Yosys, files: Mapping[str, str], places: Mapping[str, str], script: Sequence[str]
) -> Output:
    output = run_yosys(yosys, script, files)
    for written, place in places.items():
        texts = {name: text.replace(written, place) for name, text in output.files.items()}
        output = replace(output, log=output.log.replace(written, place), files=texts)
    return output


def _raise_faults(
    output: Output, done: str, reads: Sequence[str], run: Callable[[Sequence[str]], Output]
) -> None:
    reports = (
        ("latches", _latches),
        ("check", _loops),
        ("floating", _undriven),
        ("undriven", _undriven),
    )
    for file, faults in reports:
        refuse(faults(output.files.get(file, "")))
    try:
        raise_errors(output, _REMEDIES, done=done)
    except StudyError as error:
        for pattern, selection in _SELECTIONS:
            about = re.search(pattern, str(error))
            if about and not any(fault.file for fault in error.faults):
                dump = f"tee -q -o place dump {selection.format(*about.groups())}"
                place = run([*reads, "proc", dump]).files.get("place", "")
                raise StudyError([_at(place, fault) for fault in error.faults]) from None
        raise


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
