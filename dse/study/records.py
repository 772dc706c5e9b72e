"""Records of a user: files that a study may name in place of records of a catalogue.

A record file is YAML with sections `core`, `interface`, `kernel` and `platform`, of which any may
be absent, and `provenance`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any, TypeVar

from dse import contract
from dse.errors import Fault, OutputError, StudyError, UnknownPluginError
from dse.files import document
from dse.files.document import is_record
from dse.files.inputs import Input, base_of, locate
from dse.files.json import is_regular, write_text
from dse.files.yaml import to_yaml
from dse.plugins import registry
from dse.study.reader import Reader

RECORDS_FOLDER = Path("records")
"""The folder of records that ``list`` and ``show`` find: its ``*.yaml`` files."""

KINDS: Mapping[type, str] = {
    contract.Core: "core",
    contract.Interface: "interface",
    contract.Kernel: "kernel",
    contract.Platform: "platform",
}
"""The section of a file that holds a record of a kind."""

_CHOICES = {
    "attachment": contract.ATTACHMENTS,
    "pcie": contract.PCIE_LINKS,
    "wait": contract.WAIT_MODES,
    "transfer": contract.TRANSFERS,
}
IN_FIELDS = tuple(
    f"{field}: {value}"
    for field, values in _CHOICES.items()
    for value in values
    if not re.search(r" x[1248]$|none", value)
)
"""Values of fields of an interface that may be taken for devices, with only links of 16 lanes."""

Kind = TypeVar("Kind", contract.Core, contract.Interface, contract.Kernel, contract.Platform)


@dataclass(frozen=True)
class RecordFile:
    """A record file as it was read: records by section, their provenance, and its text."""

    records: Mapping[str, Any]
    provenance: Mapping[str, Any]
    text: str


def record_of(kind: type[Kind], name: str, reader: Reader) -> Kind:
    """Return a named record: a plug-in's, or the record of a file, which `reader` keeps.

    Raises
    ------
    UnknownPluginError
        No plug-in has the name, there is no such file, or it has no record of this kind.
    StudyError
        The file has errors, reported all at once.
    """
    if not is_record(name):
        others = [IN_FIELDS] if kind is contract.Interface else []
        return registry.get(kind, name, *others)
    path = locate(reader.document, name)
    held = reader.document.contents.get(name)
    if held is None and not is_regular(path):
        raise UnknownPluginError(f"there is no file {str(path)!r}", base_of(reader.document))
    found = read_record(path, held)
    section, origin = KINDS[kind], found.provenance
    if section not in found.records:
        raise UnknownPluginError(
            f"the file has no section `{section}`", f"it has {', '.join(found.records)}"
        )
    record: Any = found.records[section]
    if kind is not contract.Core:
        record = replace(record, source=f"{name}: {record.source}".rstrip(": "))
    file = reader.inputs[name] = Input(name, found.text.encode())
    facts = ", ".join(str(origin[key]) for key in ("method", "file", "date") if key in origin)
    start = f"{section} {record.name} comes from {file.written} (sha256 {file.sha256[:12]})"
    reader.notes.append(f"{start}: {facts}" if facts else f"{start}, which states no method")
    if origin.get("refused"):
        why = f"the fit of {record.name} was refused: {origin['refused']}"
        reader.refused[why] = str(origin.get("measured", ""))
    return record  # type: ignore[no-any-return]


def read_record(path: Path, held: bytes | None = None) -> RecordFile:
    """Return the records of a file.  Its content may be `held` already."""

    from dse.study.record_file import record_contents  # slower than all else of most studies

    if held is None:
        found = document.read_document(path)
    else:
        found = document.parse_document(held.decode(), str(path))
    return RecordFile(*record_contents(found, KINDS), found.text)


def own_records() -> tuple[dict[str, RecordFile], list[Fault]]:
    """Return the record files of the working directory by path, and the errors of others."""
    found: dict[str, RecordFile] = {}
    faults: list[Fault] = []
    for path in sorted(RECORDS_FOLDER.glob("*.yaml")):
        try:
            found[path.as_posix()] = read_record(path)
        except StudyError as error:
            faults += error.faults
    return found, faults


def path_and_name(data: Path, out: Path | None = None) -> tuple[Path, str]:
    """Return path and name of the record of a fit, by default from the name of its data."""
    path = out or RECORDS_FOLDER / f"{data.stem}.yaml"
    name = re.sub(r"\W+", "_", path.stem, flags=re.ASCII).strip("_")
    return path, name if name[:1].isalpha() else f"record_{name}".rstrip("_")


def write_record(
    path: Path, sections: Mapping[str, Mapping[str, Any]], origin: Mapping[str, Any]
) -> None:
    """Write a record file, whole or not at all.  `path` ends in ``.yaml``.

    `sections` is plain data by section, quantities as text with their unit.  `origin` the
    provenance.  An existing file is not replaced.
    """
    if not is_record(path.name):
        raise OutputError(f"{path} is no name for a record; write for instance {path.stem}.yaml")
    if path.exists():
        raise OutputError(f"{path} is there already; name another file, or delete it")
    write_text(path, to_yaml({**sections, "provenance": origin}), check=read_record)


def provenance(data: bytes, file: str, method: str) -> dict[str, str]:
    """Return the provenance of a record: the data behind it and the method."""
    return {
        "file": file,
        "sha256": hashlib.sha256(data).hexdigest(),
        "date": date.today().isoformat(),
        "method": method,
    }
