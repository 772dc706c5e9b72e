"""Files written whole or not at all, and JSON values with their text."""

from __future__ import annotations

import errno
import json
import math
import os
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dse.errors import OutputError
from dse.files.limits import JSON_BYTE, JSON_DEPTH


def is_regular(path: Path) -> bool:
    """Return whether a file exists, or False for a name that no file can have."""
    try:
        return path.is_file()
    except OSError:
        return False


def reason(error: Exception) -> str:
    """Return the reason why a file cannot be read or written."""
    return getattr(error, "strerror", None) or str(error)


def read_regular(path: Path, most: int) -> bytes:
    """Return up to `most` bytes of a file, all if -1, which must not be a pipe or a device.

    Raises
    ------
    OSError, ValueError
        The file cannot be read.
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
        The file cannot be read.
    """
    try:
        return read_regular(path, -1)
    except OSError as error:
        remedy = "check its name and permissions"
        raise OutputError(f"{path} cannot be read: {error.strerror}; {remedy}") from error


def write_text(path: Path, text: str, check: Callable[[Path], object] | None = None) -> None:
    """Write a file whole, or leave the present file.  Its folder is made if it is missing.

    `check` reads the file before it is put in place.  If it raises an error, the file is not.
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
            fresh.chmod(permitted(0o666))
            fresh.replace(path)
        finally:
            fresh.unlink(missing_ok=True)
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {error.strerror}") from error


def permitted(mode: int) -> int:
    """Return the permissions of a new file or folder, without those that the umask withholds."""
    mask = os.umask(0o077)  # it can only be read by setting it
    os.umask(mask)
    return mode & ~mask


def jsonable(value: Any) -> Any:
    """Return `value` with arrays as lists, NaN as null and infinities as text."""
    if isinstance(value, dict):
        return {str(key): jsonable(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [jsonable(entry) for entry in value]
    if hasattr(value, "tolist"):  # of numpy, which not every command imports
        return jsonable(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value


def read_json(path: Path) -> Any:
    """Return the data of a file of JSON.

    Raises
    ------
    OSError, ValueError
        It is no file, too long, no JSON, nested too deeply, or has a key twice.
    """
    content = read_regular(path, JSON_BYTE + 1)
    if len(content) > JSON_BYTE:
        raise ValueError(f"{path.name} has more than {JSON_BYTE} bytes")
    try:
        found = json.loads(content, object_pairs_hook=_once)
    except RecursionError:
        raise ValueError(f"{path.name} is nested too deeply") from None
    level, depth = [found], 0
    while level := [part for one in level for part in _parts(one)]:
        depth += 1
        if depth > JSON_DEPTH:
            raise ValueError(f"{path.name} is nested too deeply")
    return found


def _parts(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [*value.values()]
    return value if isinstance(value, list) else []


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON without repeated keys, since one would hide the other."""
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(name for name in found if [key for key, _ in pairs].count(name) > 1)
        raise ValueError(f"it has {twice!r} twice")
    return found


def json_text(value: Any) -> str:
    """Return `value` as the JSON of commands and files."""
    return json.dumps(jsonable(value), indent=2, ensure_ascii=False, allow_nan=False)
