"""Yosys in a process of its own, for it is not reentrant: pyosys, or a ``yosys`` of the PATH."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.util import find_spec

from dse.errors import MissingLibraryError
from dse.silicon.programs import Output, raise_errors, run_program

_PYOSYS = "from pyosys import libyosys; libyosys.run_pass('script script.ys')"


READING_S = 600.0
"""The longest that reading alone may take."""


@dataclass(frozen=True)
class Yosys:
    """A program that maps, ``pyosys`` or ``yosys``: how it is called to run ``script.ys``.

    And how long it may take for that.
    """

    name: str
    command: tuple[str, ...]
    time_limit_s: float = READING_S

    @property
    def has_slang(self) -> bool:
        """Whether slang reads SystemVerilog in it, as it does in the wheel."""
        return self.name == "pyosys"


def found_yosys() -> tuple[Yosys, ...]:
    """Return what is installed, pyosys first: its version is that of the extra."""
    found = []
    if find_spec("pyosys"):
        found.append(Yosys("pyosys", (sys.executable, "-P", "-c", _PYOSYS)))
    path = shutil.which("yosys")
    if path:
        found.append(Yosys("yosys", (path, "-s", "script.ys")))
    return tuple(found)


def chosen_yosys(time_limit_s: float = READING_S) -> Yosys:
    """Return ``pyosys`` or ``yosys``, the first that is there, which may take so long.

    Raises
    ------
    MissingLibraryError
        Neither is installed.
    """
    found = found_yosys()
    if not found:
        instead = ", or a yosys on the PATH"
        raise MissingLibraryError("mapping of Verilog", "pyosys", "rtl", instead)
    return replace(found[0], time_limit_s=time_limit_s)


def run_yosys(yosys: Yosys, script: Sequence[str], files: Mapping[str, str]) -> Output:
    """Run a script, a command a line, that reads `files`: texts by name; see `run_program`."""
    written = {**files, "script.ys": "\n".join((*script, ""))}
    return run_program(yosys.command, written, what="mapping", time_limit_s=yosys.time_limit_s)


@cache
def full_name(yosys: Yosys) -> str:
    """Return name and version, found once.

    Raises
    ------
    StudyError
        It does not run.
    """
    output = run_yosys(yosys, ["write_json empty.json"], {})
    raise_errors(output, (), done="empty.json")
    written = json.loads(output.files["empty.json"])["creator"]
    return f"{yosys.name} {written.split()[1]}"
