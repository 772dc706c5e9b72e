"""Files read, and files and folders written whole or not at all."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from dse.errors import OutputError


@contextmanager
def new_folder(target: Path, files: Collection[str]) -> Iterator[Path]:
    """Yield a folder that becomes `target` when the block ends well, and vanishes otherwise.

    A target that holds nothing but `files` is replaced, that of a link in its place.

    Raises
    ------
    OutputError
        When it holds anything else, is the working folder, or cannot be written.
    """
    with _told(target):
        place = _free(target, files)
        fresh = _beside(place)
    try:
        with _told(target):
            yield fresh
            fresh.chmod(0o755)
            _exchange(fresh, place)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def require_folder(target: Path, files: Collection[str]) -> None:
    """Raise `OutputError` when `new_folder` would, before there is anything to lose."""
    with _told(target):
        _beside(_free(target, files)).rmdir()


@contextmanager
def _told(target: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise OutputError(f"{target} cannot be written: {reason}") from error


def _free(target: Path, files: Collection[str]) -> Path:
    """Return where a folder may be written that `target` names, which may be a link."""
    place = Path(os.path.realpath(target))
    if Path.cwd().is_relative_to(place):
        raise OutputError(f"{target} is the working folder, or around it; name another one")
    if place.exists() and not place.is_dir():
        raise OutputError(f"{target} is a file; name a folder for the run")
    held = {entry.name for entry in place.iterdir()} if place.exists() else set()
    unexpected = sorted(held - set(files))
    if unexpected:
        raise OutputError(
            f"{target} holds {unexpected[0]!r}, which is not part of a run; "
            f"name another folder, or one that does not exist yet"
        )
    return place


def _beside(place: Path) -> Path:
    """Return a new folder beside a place, on the same file system."""
    place.parent.mkdir(parents=True, exist_ok=True)
    return Path(tempfile.mkdtemp(prefix=f".{place.name}-", dir=place.parent))


def _exchange(fresh: Path, place: Path) -> None:
    """Put a folder in the place of what is there, which is whole until then."""
    if not place.exists():
        os.replace(fresh, place)
        return
    old = _beside(place)
    os.replace(place, old)
    try:
        os.replace(fresh, place)
    except OSError:
        os.replace(old, place)
        raise
    shutil.rmtree(old, ignore_errors=True)


def is_regular(path: Path) -> bool:
    """Tell whether a file is there; False for what no file can be called."""
    try:
        return path.is_file()
    except OSError:
        return False


def read_regular(path: Path, most: int) -> bytes:
    """Return up to `most` bytes of a file, which must not be a pipe or a device.

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
    """Return the content of a file.

    Raises
    ------
    OutputError
        When it cannot be read.
    """
    try:
        return path.read_bytes()
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
