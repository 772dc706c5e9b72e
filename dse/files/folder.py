"""Files read, and files written whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path

from dse.errors import OutputError


def is_regular(path: Path) -> bool:
    """Tell whether a file is there; False for what no file can be called."""
    try:
        return path.is_file()
    except OSError:
        return False


def read_regular(path: Path, most: int) -> bytes:
    """Return up to `most` bytes of a file, all if -1, which must not be a pipe or a device.

    Raises
    ------
    OSError, ValueError
        When it cannot be read.
    """
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))  # a pipe must not block
    with os.fdopen(handle, "rb") as stream:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, "it is not a file, but a pipe or a device")
        return stream.read(most)


def read_bytes(path: Path) -> bytes:
    """Return the content of a file, which must not be a pipe or a device.

    Raises
    ------
    OutputError
        When it cannot be read.
    """
    try:
        return read_regular(path, -1)
    except OSError as error:
        remedy = "check its name and permissions"
        raise OutputError(f"{path} cannot be read: {error.strerror}; {remedy}") from error


def write_text(path: Path, text: str, check: Callable[[Path], object] | None = None) -> None:
    """Write a file whole, or leave what was there; its folder is made when it is missing.

    `check` reads the file before it takes its place; what it raises keeps it from doing so.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(
            prefix=f".{path.stem}-", suffix=path.suffix, dir=path.parent
        )
        fresh = Path(name)
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as stream:
                stream.write(text)
            if check is not None:
                check(fresh)
            fresh.chmod(0o644)
            fresh.replace(path)
        finally:
            fresh.unlink(missing_ok=True)
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {error.strerror}") from error
