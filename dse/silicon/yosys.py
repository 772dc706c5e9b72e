"""Yosys in a separate process and folder, because it is not reentrant and may crash.

It is pyosys, or a ``yosys`` of the PATH.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from dse.errors import DseError, Fault, MissingLibraryError, refuse
from dse.workers.programs import supervised
from dse.workers.supervisor import ERROR, OUTPUT, SAYS_SO

_PYOSYS = "from pyosys import libyosys; libyosys.run_pass('script script.ys')"


LONGEST_S = 3600.0
"""The longest time for mapping one design."""

_ERROR = re.compile(r"^(?:(?P<file>.+?):(?P<line>\d+): )?ERROR: ?(?P<rule>.*)$", re.M)
_NEVER_FILES = ("input", "<stdin>")
_INTO_LOG = (
    "import os, sys; "
    "log = os.open('log', os.O_WRONLY | os.O_CREAT); os.dup2(log, 1); os.dup2(log, 2); "
    "os.execvp(sys.argv[1], sys.argv[1:])"
)
"""Runs a program whose standard output and error go to a file, in the order of their lines."""


class ToolTimeError(DseError):
    """Yosys took longer, or more memory, than it may."""


@dataclass(frozen=True)
class Output:
    """Log of a run, and the files that it wrote: texts by name."""

    log: str
    files: dict[str, str]


@dataclass(frozen=True)
class Yosys:
    """A program that maps, ``pyosys`` or ``yosys``: its command to run ``script.ys``, its limit."""

    name: str
    command: tuple[str, ...]
    time_limit_s: float = LONGEST_S


def found_yosys() -> tuple[Yosys, ...]:
    """Return the installed programs, pyosys first: its version is the version of the extra."""
    found = []
    if find_spec("pyosys"):
        found.append(Yosys("pyosys", (sys.executable, "-P", "-c", _PYOSYS)))
    if path := shutil.which("yosys"):
        found.append(Yosys("yosys", (path, "-s", "script.ys")))
    return tuple(found)


def chosen_yosys() -> Yosys:
    """Return ``pyosys`` or ``yosys``, the first that is there.  Neither is an error."""
    found = found_yosys()
    if not found:
        raise MissingLibraryError("mapping of Verilog", "pyosys", "rtl", ", or a yosys on the PATH")
    return found[0]


def run_yosys(yosys: Yosys, script: Sequence[str], files: Mapping[str, str]) -> Output:
    """Run a script, a command a line, in a temporary folder with `files`, texts by name.

    It is ended after its time, with all processes that it started, also when this process ends in
    any way.  An error of Yosys is in the log.

    Raises
    ------
    ToolTimeError
        It took longer, or all memory.
    """
    written = {**files, "script.ys": "\n".join((*script, ""))}
    with tempfile.TemporaryDirectory(prefix="dse-") as name:
        folder = Path(name)
        for file, text in written.items():
            (folder / file).write_text(text, encoding="utf-8")
        ended = supervised(
            [sys.executable, "-I", "-S", "-c", _INTO_LOG, *yosys.command],
            folder=folder,
            environment={**os.environ, "TMPDIR": name, "PYTHONDONTWRITEBYTECODE": "1"},
            timeout_s=yosys.time_limit_s,
            stop=lambda: False,
        )
        texts = {
            path.name: path.read_text(encoding="utf-8", errors="replace")
            for path in folder.iterdir()
            if path.is_file() and path.name not in {*written, OUTPUT, ERROR}
        }
    log = texts.pop("log", ended.unstarted)
    if ended.why == "timeout":
        rule = f"mapping took more than {yosys.time_limit_s:g} s"
        raise ToolTimeError(f"{rule}; make the design smaller")
    if ended.why == "memory" or (ended.status and SAYS_SO.search(log)):
        raise ToolTimeError("mapping took all memory; make the design smaller")
    return Output(log, texts)


def errors_of(
    output: Output, done: str, remedies: Sequence[tuple[str, str]] = ()
) -> Iterator[Fault]:
    """Yield the errors of a run of Yosys that did not write the file `done`, which is its last.

    `remedies` are regular expressions, and the remedy of an error that matches one.
    """
    if done in output.files:
        return
    log = output.log
    errors = [*_ERROR.finditer(log)]
    for found in errors:
        rule = found["rule"].replace("`\\", "'").replace("`", "'").strip()
        remedy = next((text for pattern, text in remedies if re.search(pattern, rule)), "")
        file = found["file"] or ""
        file = "" if Path(file).name in _NEVER_FILES else file
        line = int(found["line"]) if file else 0
        yield Fault("", "", rule, remedy, file=file, line=line, column=min(line, 1))
    if not errors:
        last = log.strip().rpartition("\n")[2] or "nothing"
        rule = f"Yosys ended before its work was done; its last line: {last}"
        yield Fault("", "", rule, "was there enough memory?")


@cache
def full_name(yosys: Yosys) -> str:
    """Return name and version, found once.  A program that does not run is an error."""
    output = run_yosys(yosys, ["write_json empty.json"], {})
    refuse(errors_of(output, "empty.json"))
    return f"{yosys.name} {json.loads(output.files['empty.json'])['creator'].split()[1]}"
