"""Programs that are killed, or refused, at one of their file-system events, by strace."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

STRACE = shutil.which("strace")

CHANGES = "write,pwrite64,mkdir,chmod,rename,renameat,renameat2,fsync,unlink,unlinkat,rmdir"

_CALL = re.compile(r"(?P<process>\d+) +(?P<name>\w+)\(")


@dataclass(frozen=True)
class Event:
    """A system call for something in a folder: the how-manieth of its name it is."""

    name: str
    number: int


def events(command: Sequence[str], folder: Path) -> list[Event]:
    """Run a command, and return its changes in a folder, in their order."""
    return [event for event, _ in traced_calls(command, folder)]


def traced_calls(
    command: Sequence[str], folder: Path, *, calls: str = CHANGES, prefix: str = ""
) -> list[tuple[Event, str]]:
    """Run a command, and return its calls for files in a folder, with the lines that tell them.

    What it prints may name the folder, too: a call has its path in quotes, or at a handle.
    `prefix` is how the files' names begin.
    """
    place, trace = f"{folder}/{prefix}", folder / "trace"
    _traced(["-y", "-e", f"trace={calls}", "-o", str(trace)], command).check_returncode()
    lines = trace.read_text(errors="replace").splitlines()
    trace.unlink()
    told = [(match, line) for line in lines if (match := _CALL.match(line))]
    main, counts, found = told[-1][0]["process"], Counter[str](), []  # a child ends before it
    for match, line in told:
        if match["process"] == main:
            counts[match["name"]] += 1
            if f'"{place}' in line or f"<{place}" in line:
                found.append((Event(match["name"], counts[match["name"]]), line))
    return found


def injected(
    command: Sequence[str], event: Event, fault: str, *, on: bool = False
) -> subprocess.CompletedProcess[str]:
    """Run a command with a fault at an event, and `on`: at all later ones of its name."""
    when = f"{event.number}{'+' if on else ''}"
    options = ["-e", f"trace={event.name}", "-e", f"inject={event.name}:{fault}:when={when}"]
    return _traced([*options, "-o", "/dev/null"], command)


def _traced(options: Sequence[str], command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(STRACE), "-f", "-qq", *options, *command],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
