"""The manifest of a run as a file, with checksums of every other file and of its own entries.

They notice accidents and edits.  They are no signature: who changes a run and computes them again
is noticed only where what was changed follows from study and front.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from dse.errors import OutputError
from dse.files.folder import read_bytes, write_text
from dse.files.json import jsonable, read_json

ENTRY = "checksums"
"""The entry of the manifest that holds them: ``files`` and ``entries`` by name, ``sizes`` of files
in bytes, and ``both``, of all that."""

SINCE = "feasible_in_space"
"""An entry that runs have had no longer than checksums."""

FORMAT = 1
"""Of the folder of a run, in its manifest; one without it has the first."""

MANIFEST = "manifest.json"
"""The record of a run, from its first second on: in its hidden folder it says who writes it, and it
is closed with what came out when that takes its place."""

RUNNING = "running"


def begin_manifest(path: Path, **facts: Any) -> None:
    """Write that a run is under way; this may be lost, and nothing else is then."""
    said = {"state": RUNNING, "process": os.getpid(), "host": platform.node(), "since": time.time()}
    with suppress(OutputError):  # a full disk: what is written next tells of it
        write_text(path, json.dumps(said | facts))


def begun_manifest(folder: Path) -> Mapping[str, Any]:
    """Return what a run says that is written in a hidden folder, nothing where it does not."""
    try:
        found = read_json(folder / MANIFEST)
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) and found.get("state") == RUNNING else {}


def with_checksums(manifest: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Return a manifest with the checksums of its entries and of the other files in `folder`."""
    plain = {name: value for name, value in manifest.items() if name != ENTRY}
    files = {name: read_bytes(folder / name) for name in _names(folder)}
    sums = {
        "files": {name: _hash(content) for name, content in files.items()},
        "sizes": {name: len(content) for name, content in files.items()},
        "entries": {name: _digest(value) for name, value in plain.items()},
    }
    return plain | {ENTRY: sums | {"both": _digest(sums)}}


def are_due(manifest: Mapping[str, Any]) -> bool:
    """Whether a manifest has checksums, or should: they came with another entry."""
    return ENTRY in manifest or SINCE in manifest


def files_of(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return the checksums of the files that a run wrote, by name."""
    return _of_kind(manifest, "files")


def changed_files(
    manifest: Mapping[str, Any], folder: Path, but: tuple[str, ...] = ()
) -> Iterator[str]:
    """Yield what is wrong with the files of a run, but those that end so, by their checksums."""
    sizes = _of_kind(manifest, "sizes")
    for name, sum_ in _of_kind(manifest, "files").items():
        path = folder / name
        if name.endswith(but):
            continue
        if not path.is_file():
            yield f"{name} is missing"
            continue
        length = path.stat().st_size
        if length != sizes.get(name, length) or _hash(read_bytes(path)) != sum_:
            yield f"{name} is not the file that the run wrote"


def changed_entries(manifest: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong with the entries of a manifest, by their checksums."""
    recorded = _of_kind(manifest, "entries")
    kinds = ("files", "sizes", "entries") if _of_kind(manifest, "sizes") else ("files", "entries")
    sums = {kind: _of_kind(manifest, kind) for kind in kinds}
    if ENTRY not in manifest:
        yield f"{ENTRY} are missing from the manifest"
        return
    if manifest[ENTRY] != sums | {"both": _digest(sums)}:
        yield f"{ENTRY} of the manifest are not what the run wrote"
    for name, sum_ in recorded.items():
        if name not in manifest:
            yield f"{name} is missing from the manifest"
        elif _digest(manifest[name]) != sum_:
            yield f"{name} of the manifest is not what the run wrote"
    for name in manifest:
        if name not in recorded and name != ENTRY:
            yield f"{name} of the manifest was not written by the run"


def _of_kind(manifest: Mapping[str, Any], key: str) -> dict[str, Any]:
    """Return the checksums of one kind, none where they are no such thing."""
    whole = manifest.get(ENTRY)
    found = whole.get(key) if isinstance(whole, dict) else None
    return found if isinstance(found, dict) else {}


def _names(folder: Path) -> list[str]:
    """Return the files of a run but its manifest, sorted."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return sorted({path.relative_to(folder).as_posix() for path in files} - {MANIFEST})


def _digest(value: Any) -> str:
    """Return the checksum of plain data, whatever the order of its keys and its layout."""
    text = json.dumps(jsonable(value), sort_keys=True, separators=(",", ":"))
    return _hash(text.encode())


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
