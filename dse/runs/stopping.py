"""Ending a run from outside as Ctrl-C does: its front so far is kept."""

from __future__ import annotations

import os
import platform
import signal
from contextlib import suppress
from pathlib import Path

from dse.errors import OutputError
from dse.files.whole_folders import under_way
from dse.runs.run_files import begun_manifest

PROCESSES = Path("/proc")


def stop_run(folder: Path) -> None:
    """Send the process that writes a run one SIGTERM, which it obeys as Ctrl-C.

    Raises
    ------
    OutputError
        The run does not go on, or not in a process of this machine that surely writes it.
    """
    path, alive = under_way(folder) or (folder, False)
    if not alive:
        raise OutputError(f"{folder}: no process writes this run")
    watch = begun_manifest(path)
    process = watch.get("process")
    # What a folder says is no reason to end a process: it must hold the folder open as well.
    if watch.get("host") != platform.node() or not _holds(process, path):
        raise OutputError(f"{folder}: it is not written by a process that is surely its own")
    # A run that a shell started in the background ignores SIGINT.
    os.kill(int(str(process)), signal.SIGTERM)


def _holds(process: object, path: Path) -> bool:
    """Tell whether a process of this user has a folder open; never where that cannot be seen."""
    if not isinstance(process, int) or process <= 1:
        return False
    opened = []
    with suppress(OSError):
        for one in (PROCESSES / str(process) / "fd").iterdir():
            with suppress(FileNotFoundError):  # a file that is closed meanwhile
                opened.append(os.readlink(one))
    return os.path.realpath(path) in opened
