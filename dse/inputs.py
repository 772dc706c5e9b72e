"""Files that a study names: where they lie, what was read, and their copies in a run's folder."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from dse.document import Document
from dse.errors import OutputError

FOLDER = "inputs"
"""Where a run's folder keeps copies of the files that its study names."""


@dataclass(frozen=True)
class Input:
    """A file as a study names it, and its text as it was read."""

    written: str
    text: str

    @property
    def sha256(self) -> str:
        """The hash of the file."""
        return hashlib.sha256(self.text.encode()).hexdigest()


def locate(document: Document, written: str) -> Path:
    """Return where a file named in a study lies: relative to the study, or a run's copy of it."""
    if document.copies is not None:
        return document.copies / copy_name(written)
    return Path(document.file).parent / written


def copy_name(written: str) -> str:
    """Return the path of a copy below ``inputs``: that of the study, without leaving the folder.

    Examples
    --------
    >>> copy_name("records/link.yaml"), copy_name("../link.yaml"), copy_name("/data/link.yaml")
    ('records/link.yaml', '__/link.yaml', '_/data/link.yaml')
    """
    parts = PurePosixPath(written.replace("\\", "/").replace(":", "/")).parts
    return "/".join({"..": "__", "/": "_"}.get(part, part) for part in parts)


def copy(found: Iterable[Input], folder: Path) -> None:
    """Write the copies of `found` below ``folder/inputs``.

    Raises
    ------
    OutputError
        When two files would share one copy.
    """
    kept: dict[str, Input] = {}
    for entry in found:
        name = copy_name(entry.written)
        other = kept.setdefault(name, entry)
        if other.text != entry.text:
            raise OutputError(
                f"the copies of {other.written!r} and {entry.written!r} would be the same file; "
                f"rename one of them"
            )
        path = folder / FOLDER / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(entry.text.encode())


def facts(found: Iterable[Input]) -> list[dict[str, str]]:
    """Return what a manifest says of each file, once: its name in the study and its hash."""
    once = {entry.written: entry for entry in found}
    return [{"file": entry.written, "sha256": entry.sha256} for entry in once.values()]
