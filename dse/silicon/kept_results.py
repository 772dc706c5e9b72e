"""Results of earlier calls, kept by the hash of all that they depend on."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dse.files.json import json_text, read_regular, write_text

LARGEST_BYTE = 1_000_000
"""A larger file is no result."""


def script_sha256(script: str) -> str:
    """Return a hash of a script without the commands that name files, whose contents have one."""
    lines = (line for line in script.splitlines() if not line.startswith("read_verilog"))
    return sha256("\n".join(lines).encode())


def sha256(content: bytes) -> str:
    """Return a hash of some content."""
    return hashlib.sha256(content).hexdigest()


def own_sha256(folder: Path = Path(__file__).parent) -> str:
    """Return a hash of the modules that compute the results."""
    return sha256(b"".join(path.read_bytes() for path in sorted(folder.rglob("*.py"))))


def user_folder() -> Path:
    """Return the folder for reproducible data of this user's programs (XDG Base Directory)."""
    given = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(given) if Path(given).is_absolute() else Path.home() / ".cache") / "dse"


@dataclass(frozen=True)
class KeptResults:
    """A folder of results.  The oldest are deleted when all together exceed `most_byte`."""

    folder: Path
    most_byte: float = 64e6

    def read(self, key: str) -> dict[str, Any] | None:
        """Return the result kept under a key, or None if it is missing or cannot be read."""
        path = self._path(key)
        try:
            found = json.loads(read_regular(path, LARGEST_BYTE))
        except (OSError, ValueError):
            return None
        with suppress(OSError):
            os.utime(path)
        return found if isinstance(found, dict) else None

    def write(self, key: str, result: Mapping[str, Any]) -> None:
        """Keep a result, whole or not at all, and drop the ones not used for longest.

        Raises
        ------
        OutputError
            The folder cannot be written.
        """
        write_text(self._path(key), json_text(dict(result)))
        files = []
        for path in self.folder.glob("*.json"):
            with suppress(OSError):  # another process drops some as well
                files.append((path.stat().st_mtime, path.stat().st_size, path))
        left = sum(size for _, size, _ in files)
        for _, size, path in sorted(files):
            if left <= self.most_byte:
                break
            path.unlink(missing_ok=True)
            left -= size

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}.json"
