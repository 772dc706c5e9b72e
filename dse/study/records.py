"""Records of a user's own: files that stand in a study wherever a name of a catalogue does.

A record file is YAML: sections `core`, `interface`, `kernel` and `platform`, as far as it has
them, and `provenance`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from dse import contract
from dse.algebra import units
from dse.errors import Fault, OutputError, StudyError, UnitError, UnknownPluginError, nearest
from dse.files import document
from dse.files.document import Document, is_record
from dse.files.folder import is_regular, write_text
from dse.files.position import KeyPath, quoted
from dse.files.yaml import to_yaml
from dse.plugins import registry
from dse.study import core_law, uncertain
from dse.study.faults import Faults, validate_as
from dse.study.fields import Given, StudySection
from dse.study.inputs import Input, base_of, locate
from dse.study.record_columns import left_out

if TYPE_CHECKING:
    from dse.study import record_schema

FOLDER = Path("records")
"""The records that ``list`` and ``show`` find: ``*.yaml`` in this folder of the working one."""

KINDS: Mapping[type, str] = {
    contract.Core: "core",
    contract.Interface: "interface",
    contract.Kernel: "kernel",
    contract.Platform: "platform",
}
"""The section of a file that holds a record of a kind."""

Kind = TypeVar("Kind", contract.Core, contract.Interface, contract.Kernel, contract.Platform)


@dataclass(frozen=True)
class RecordFile:
    """A record file as it was read: records by section, where they come from, and its text."""

    records: Mapping[str, Any]
    provenance: Mapping[str, Any]
    text: str


@dataclass(frozen=True)
class Use:
    """A record that a study uses: the file, when it came from one, and what to say of it."""

    file: Input
    note: str


def get_record(kind: type[Kind], name: str, within: Document) -> tuple[Kind, Use | None]:
    """Return what a study names: a plug-in's record, or one of a file and how it is used.

    Raises
    ------
    UnknownPluginError
        No plug-in has the name, there is no such file, or it has no record of this kind.
    StudyError
        The file has faults: all of them.
    """
    if not is_record(name):
        return registry.get(kind, name), None
    path = locate(within, name)
    if not is_regular(path):
        raise UnknownPluginError(f"there is no file {str(path)!r}", base_of(within))
    found = read_record(path)
    section = KINDS[kind]
    if section not in found.records:
        raise UnknownPluginError(
            f"the file has no section `{section}`", f"it has {', '.join(found.records)}"
        )
    record = found.records[section]
    file = Input(name, found.text.encode())
    return record, Use(file, _note(section, record.name, file, found.provenance))


def _note(section: str, name: str, file: Input, provenance: Mapping[str, Any]) -> str:
    """Return what results say of a record: file, hash, method and the data behind it."""
    start = f"{section} {name} comes from {file.written} (sha256 {file.sha256[:12]})"
    said = [str(provenance[key]) for key in ("method", "file", "date") if key in provenance]
    return f"{start}: {', '.join(said)}" if said else f"{start}, which states no method"


def read_record(path: Path) -> RecordFile:
    """Return the records of a file.

    Raises
    ------
    StudyError
        With every fault at once.
    """
    from dse.study.record_schema import Record  # takes longer than all else of most studies

    found = document.read_document(path)
    faults = Faults(found)
    record = validate_as(Record, faults)
    records: dict[str, Any] = {}
    if record is not None:
        for section, build in _BUILDERS.items():
            written = getattr(record, section)
            if written is not None:
                records[section] = build(written, faults)
        if not records:
            remedy = f"add one of {', '.join(_BUILDERS)}"
            faults.add((), "a record file holds at least one record", remedy, "")
    faults.raise_any()
    return RecordFile(records, record.provenance if record else {}, found.text)


def _plain(written: StudySection, prefix: str = "") -> dict[str, Any]:
    """Return the fields of a section for a record of the contract: numbers in SI, and texts."""
    fields: dict[str, Any] = {
        column.removeprefix(prefix): value for column, value in written.givens().items()
    }
    for name in type(written).model_fields:
        value = getattr(written, name)
        if isinstance(value, str):
            fields[name] = value
    return fields


def _interface(written: record_schema.InterfaceEntry, faults: Faults) -> contract.Interface:
    if written.device is not None:
        rule = "a record is complete by itself"
        faults.add(("interface", "device"), rule, "remove it, and write out its fields")
    fields = _plain(written, "interface_")
    fields.pop("device", None)
    given = {name for name in type(written).model_fields if getattr(written, name) is not None}
    sureness = _sureness(written, "interface", faults)
    return contract.Interface(**fields, **sureness, left_out=left_out(given))


def _kernel(written: record_schema.KernelEntry, faults: Faults) -> contract.Kernel:
    fields = _plain(written, "kernel_")
    return contract.Kernel(**fields, **_sureness(written, "kernel", faults))


def _platform(written: record_schema.PlatformEntry, faults: Faults) -> contract.Platform:
    return contract.Platform(**_plain(written), **_sureness(written, "platform", faults))


def _sureness(written: record_schema.SureEntry, section: str, faults: Faults) -> dict[str, Any]:
    """Return how sure the figures of a section are, by field of the contract."""
    columns = {
        name: value.column.removeprefix(f"{section}_")
        for name in type(written).model_fields
        if isinstance(value := getattr(written, name), Given)
    }
    for where, names in (("fitted", written.fitted), ("uncertainty", written.uncertainty)):
        for place, name in enumerate(names):
            if name not in columns:
                key = place if where == "fitted" else name
                rule, remedy = "the record gives no such figure", nearest(name, columns)
                faults.add((section, where, key), rule, remedy, quoted(name))
    shares = {}
    for name, value in written.uncertainty.items():
        with faults.at((section, "uncertainty", name)):
            shares[columns.get(name, name)] = uncertain.share(value)
    return {
        "assumptions": tuple(columns.get(name, name) for name in written.assumptions),
        "fitted": tuple(columns.get(name, name) for name in written.fitted),
        "uncertainty": shares,
    }


def _core(written: record_schema.CoreEntry, faults: Faults) -> contract.Core | None:
    parameters = []
    for name, entry in written.parameters.items():
        if entry.high < entry.low:
            rule, remedy = "`high` is below `low`", "exchange them"
            faults.add(("core", "parameters", name, "high"), rule, remedy)
        fields = entry.model_dump()
        parameters.append(contract.Parameter(name=name, **fields))
    laws = {}
    for quantity, law in written.laws.items():
        found = _law(quantity, law, set(written.parameters), faults)
        if found is not None:
            laws[quantity] = found
    lacking = core_law.missing(written.laws)
    if lacking:
        rule = f"a core needs {' and '.join(lacking)}"
        faults.add(("core", "laws"), rule, f"add {lacking[0].split()[0]}: ...", "it is missing")
    if faults.found:
        return None
    told = [written.source or "a record of the user's own", *filter(None, [written.note])]
    told += [f"  {name} = {core_law.law_text(name, law)}" for name, law in laws.items()]
    spread = uncertain.stated(written.uncertainty, ("core",), faults)
    text = "\n".join(told)
    return core_law.own_core(written.name, written.summary, text, parameters, laws, spread)


def _law(
    quantity: str, written: record_schema.LawEntry | float | str, known: set[str], faults: Faults
) -> core_law.Law | None:
    path: KeyPath = ("core", "laws", quantity)
    if quantity not in core_law.QUANTITIES:
        rule, remedy = "this quantity is not known", nearest(quantity, core_law.QUANTITIES)
        faults.add(path, rule, remedy, quoted(quantity))
        return None
    if isinstance(written, float | str):
        with faults.at(path):
            value = units.parse(written, core_law.QUANTITIES[quantity])
            return core_law.Law(form="constant", over=(), coefficients=(value,))
        return None
    for position, name in enumerate(written.over):
        if name not in known or name in written.over[:position]:
            rule = "this is no parameter of the core, or stands twice"
            faults.add((*path, "over", position), rule, nearest(name, known))
    expected = 1 if written.form == "constant" else 1 + len(written.over)
    with faults.at((*path, "coefficients")):
        if (written.form == "constant") == bool(written.over):
            raise UnitError(f"{written.form} over {len(written.over)} parameters", "correct `over`")
        if len(written.coefficients) != expected:
            raise UnitError(
                f"{written.form} over {len(written.over)} parameters has {expected} coefficients",
                f"write {expected}",
            )
        names = core_law.unit_names(quantity, written.form, expected)
        values = tuple(map(units.parse, written.coefficients, names))
        return core_law.Law(form=written.form, over=tuple(written.over), coefficients=values)
    return None


_BUILDERS: Mapping[str, Any] = {
    "core": _core,
    "interface": _interface,
    "kernel": _kernel,
    "platform": _platform,
}


def own_records() -> tuple[dict[str, RecordFile], list[Fault]]:
    """Return the record files of the working directory by path, and what is wrong with others."""
    found: dict[str, RecordFile] = {}
    faults: list[Fault] = []
    for path in sorted(FOLDER.glob("*.yaml")):
        try:
            found[path.as_posix()] = read_record(path)
        except StudyError as error:
            faults += error.faults
    return found, faults


def path_and_name(data: Path, out: Path | None = None) -> tuple[Path, str]:
    """Return where the record of a fit goes and what it is called: by default after its data."""
    path = out or FOLDER / f"{data.stem}.yaml"
    name = re.sub(r"\W+", "_", path.stem, flags=re.ASCII).strip("_")
    return path, name if name[:1].isalpha() else f"record_{name}".rstrip("_")


def write_record(
    path: Path,
    sections: Mapping[str, Mapping[str, Any]],
    origin: Mapping[str, Any],
    *,
    force: bool = False,
) -> None:
    """Write a record file, whole or not at all; `path` ends in ``.yaml``.

    `sections` is plain data by section, quantities as text with their unit; `origin` the
    provenance.  A file that is there is replaced with `force` only.
    """
    if not is_record(path.name):
        raise OutputError(f"{path} is no name for a record; write for instance {path.stem}.yaml")
    if path.exists() and not force:
        raise OutputError(f"{path} is there already; name another file, or replace it by force")
    write_text(path, to_yaml({**sections, "provenance": origin}), check=read_record)


def provenance(data: bytes, file: str, method: str) -> dict[str, str]:
    """Return what every record says of the data behind it."""
    return {
        "file": file,
        "sha256": hashlib.sha256(data).hexdigest(),
        "date": date.today().isoformat(),
        "method": method,
    }
