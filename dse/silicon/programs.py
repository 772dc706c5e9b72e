"""Programs of others, each run in a process and a folder of its own.

What they run may crash; it does not end this program.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dse.errors import DseError, Fault, StudyError
from dse.evaluators.processes import supervised
from dse.evaluators.supervisor import ERROR, OUTPUT

_ERROR = re.compile(
    r"^(?:(?P<file>.+?):(?P<line>\d+):(?:(?P<column>\d+):)? )?ERROR: ?(?P<rule>.*)$", re.M
)
_NEVER_FILES = ("input", "<stdin>", "parameters.sv")
_SUMMARY = ("Design elaboration failed", "Bad command")
"""What ends a log after the errors that say more."""
_INTO_LOG = (
    "import os, sys; "
    "log = os.open('log', os.O_WRONLY | os.O_CREAT); os.dup2(log, 1); os.dup2(log, 2); "
    "os.execvp(sys.argv[1], sys.argv[1:])"
)
"""Runs a program whose standard output and error go to a file, in the order of their lines."""


class ToolTimeError(DseError):
    """A program took longer than it may."""


@dataclass(frozen=True)
class Output:
    """What a run said, and the files that it wrote: texts by name."""

    log: str
    files: dict[str, str]


def run_program(
    command: Sequence[str],
    files: Mapping[str, str],
    *,
    what: str,
    time_limit_s: float,
) -> Output:
    """Run a program in a folder of its own, which is gone after.

    Parameters
    ----------
    command
        The program and its arguments.
    files
        Texts by name, for it to read.
    what
        What it does, as a message says.
    time_limit_s
        Then it is ended, with all that it started, as when this process ends, however that ends.

    Returns
    -------
    Output
        Also where it ended with an error, which is in its log.

    Raises
    ------
    ToolTimeError
        It took longer.
    """
    with tempfile.TemporaryDirectory(prefix="dse-") as name:
        folder = Path(name)
        for file, text in files.items():
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_text(text, encoding="utf-8")
        ended = supervised(
            [sys.executable, "-I", "-S", "-c", _INTO_LOG, *command],
            folder=folder,
            environment={**os.environ, "TMPDIR": name, "PYTHONDONTWRITEBYTECODE": "1"},
            timeout_s=time_limit_s,
            stop=lambda: False,
        )
        if ended.why == "timeout":
            rule = f"{what} took more than {time_limit_s:g} s"
            raise ToolTimeError(f"{rule}; raise the limit, or make the design smaller")
        texts = {
            path.name: path.read_text(encoding="utf-8", errors="replace")
            for path in folder.iterdir()
            if path.is_file() and path.name not in {*files, OUTPUT, ERROR}
        }
    return Output(texts.pop("log", ended.unstarted), texts)


def raise_errors(output: Output, remedies: Sequence[tuple[str, str]], *, done: str) -> None:
    """Raise what a run of Yosys ended with, when it did not write the file `done`.

    Parameters
    ----------
    output
        As `run_program` returns it.
    remedies
        Regular expressions, and what to do about an error that has one.
    done
        The file that it writes last.

    Raises
    ------
    StudyError
        The errors of the log, with file and line where it has them.
    """
    if done not in output.files:
        raise StudyError(_errors(output.log, remedies))


def _errors(log: str, remedies: Sequence[tuple[str, str]]) -> Iterator[Fault]:
    errors = [*_ERROR.finditer(log)]
    telling = [one for one in errors if not one["rule"].startswith(_SUMMARY)]
    for found in telling or errors:
        rule = found["rule"].replace("`\\", "'").replace("`", "'").strip()
        remedy = next((text for pattern, text in remedies if re.search(pattern, rule)), "")
        file = found["file"] or ""
        file = "" if Path(file).name in _NEVER_FILES else file
        line, column = (int(found["line"]), int(found["column"] or 1)) if file else (0, 0)
        yield Fault("", "", rule, remedy, file=file, line=line, column=column)
    if not errors:
        last = log.strip().rpartition("\n")[2] or "nothing"
        rule = f"Yosys ended before its work was done; its last line: {last}"
        yield Fault("", "", rule, "was there enough memory?")
