"""Files named in a study: found beside the study, and kept to be copied with a run."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dse.errors import OutputError
from dse.files.document import IN_MEMORY, Document
from dse.files.json import read_bytes, read_json, read_regular

INPUTS = "inputs"
"""Folder of a run with copies of the files."""


@dataclass(frozen=True)
class Input:
    """A file named in a study: the name as written there, and its content."""

    written: str
    content: bytes

    @property
    def sha256(self) -> str:
        """Return the hash of the content."""
        return hashlib.sha256(self.content).hexdigest()

    @property
    def note(self) -> str:
        """Return a note with the name and hash of the file."""
        return f"{Path(self.written).name}: read with sha256 {self.sha256[:12]}"


def locate(document: Document, written: str) -> Path:
    """Return the path of a file named in a study: beside the study, or in the folder of a run."""
    return document.inputs.get(written, Path(document.file).parent / written)


def content_of(document: Document, written: str, most: int) -> bytes:
    """Return at most `most` bytes of a file named in a study, perhaps from the document itself."""
    held = document.contents.get(written)
    return read_regular(locate(document, written), most) if held is None else held


def base_of(document: Document) -> str:
    """Return a text that states the base of relative paths in a study."""
    base = "working directory" if document.file == IN_MEMORY else "study file"
    return f"a path is relative to the {base}"


def copies(found: Mapping[str, Input]) -> dict[str, dict[str, Any]]:
    """Return the manifest's entry for each file, by its name in the study: copy and hash."""
    taken: set[str] = set()
    said = {}
    for written, entry in found.items():
        name = Path(written).name
        while name.casefold() in taken:
            name = f"_{name}"
        taken.add(name.casefold())
        said[written] = {"copy": f"{INPUTS}/{name}", "sha256": entry.sha256}
    return said


def write_inputs(found: Mapping[str, Input], folder: Path) -> None:
    """Write copies of files into the folder of a run, under the names of its manifest."""
    for written, said in copies(found).items():
        target = folder / said["copy"]
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(found[written].content)


def owned(run: Path) -> tuple[str, ...]:
    """Return `INPUTS` if a run's `INPUTS` holds only the copies of its manifest."""
    try:
        manifest = read_json(run / "manifest.json")
        known = {said["copy"] for said in manifest["inputs"].values()}
        there = {f"{INPUTS}/{entry.name}" for entry in (run / INPUTS).iterdir()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return ()
    return (INPUTS,) if there <= known else ()


def restored(document: Document, copied: Mapping[str, Any], folder: Path) -> Document:
    """Return the study of a run with its files in the folder of the run.

    Raises
    ------
    OutputError
        A copy is missing, or is not the file of the run.
    """
    places = {}
    for written, said in copied.items():
        place = folder / said["copy"]
        if Input(written, read_bytes(place)).sha256 != said["sha256"]:
            raise OutputError(
                f"{place} has changed since the run: its hash is not the one in manifest.json; "
                f"restore it, or run the study again"
            )
        places[written] = place
    return replace(document, inputs=places)
