"""Names for studies (cores, interfaces, objectives and so on), and studies to start from."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

from dse import contract
from dse.algebra import units
from dse.contract import papers
from dse.contract.functions import close_functions, provided
from dse.contract.generators import Generator
from dse.errors import OutputError, UnknownPluginError, nearest
from dse.files.document import EDITORS, is_record, parse_document
from dse.files.json import is_regular, json_text
from dse.files.memory import texts_of
from dse.plugins import registry
from dse.reports.text import in_words, table_text
from dse.study import records

_SUFFIX = ".yaml"
_STARTER = "templates/study.yaml.in"

FOR_EDITORS = "dse.schema.json"
"""File that editors read of studies, beside a starter."""


@cache
def shipped_studies() -> Mapping[str, str]:
    """Return the text of each study by its file's name, sorted."""
    found = (entry for entry in files("dse.studies").iterdir() if entry.name.endswith(_SUFFIX))
    return {
        entry.name.removesuffix(_SUFFIX): entry.read_text(encoding="utf-8")
        for entry in sorted(found, key=lambda entry: entry.name)
    }


def shipped_study(name: str) -> str:
    """Return the text of a study that comes with the program.

    Raises
    ------
    UnknownPluginError
        No study has this name.
    """
    try:
        return shipped_studies()[name.removesuffix(_SUFFIX)]
    except KeyError:
        rule = f"no study called {name!r} comes with the program"
        raise UnknownPluginError(rule, nearest(name, shipped_studies())) from None


def shipped_records(study: str) -> dict[str, str]:
    """Return the text of each record file that a study of `shipped_studies` names, by its path."""
    named = filter(is_record, texts_of(parse_document(study, "").data))
    return {
        path: files("dse.studies").joinpath(path).read_text(encoding="utf-8")
        for path in dict.fromkeys(named)
    }


def new_study(path: Path, start: str = "") -> tuple[Path, ...]:
    """Write a study that runs as it is, and return the files written, the study first.

    The path gets ``.yaml`` if it has no suffix.  The study is a commented starter, or a copy of the
    study `start` that comes with the program, with the record files that this names.  Its first
    line names the schema beside it to editors.  A record that is there already stays.

    Raises
    ------
    OutputError
        A file exists already with another content, cannot be written, or the study does not
        end in ``.yaml``.  Then nothing is written.
    UnknownPluginError
        No study `start` comes with the program.
    """
    from dse.study.schema import json_schema  # pydantic, which few commands of this module need

    target = path if path.suffix else path.with_name(f"{path.name}.yaml")
    if target.suffix not in (".yaml", ".yml"):
        raise OutputError(f"{target} does not end in .yaml; name the study so")
    text = shipped_study(start) if start else _starter(target.name)
    beside = {FOR_EDITORS: json_text(json_schema())} | (shipped_records(text) if start else {})
    wanted = {target: f"{EDITORS} $schema={FOR_EDITORS}\n{text}"}
    wanted |= {target.parent / name: record for name, record in beside.items()}
    return _written(wanted, target)


def _written(wanted: Mapping[Path, str], target: Path) -> tuple[Path, ...]:
    """Write all files, of which only the schema may replace another, or none."""
    written: list[Path] = []
    try:
        for file, content in wanted.items():
            if file != target and is_regular(file) and file.read_bytes() == content.encode():
                continue
            file.parent.mkdir(parents=True, exist_ok=True)
            mode = "w" if file.name == FOR_EDITORS else "x"  # of the installed version
            with file.open(mode, encoding="utf-8", newline="\n") as stream:
                written.append(file)
                stream.write(content)
    except OSError as error:
        for file in written:
            file.unlink()
        if isinstance(error, FileExistsError):
            record = Path(error.filename) in {*wanted} - {target}
            remedy = "write the study to another folder" if record else "name another file"
            raise OutputError(f"{error.filename} exists already; {remedy}") from error
        raise OutputError(f"{target} cannot be written: {error.strerror}") from error
    return tuple(written)


def _starter(file: str) -> str:
    template = files("dse.installation").joinpath(_STARTER).read_text(encoding="utf-8")
    return Template(template).substitute(file=file)


Row = Sequence[str]

_FEW = 50
"""Characters of names of a kind if all kinds are shown."""


def list_(kind: str | None, provides: str | None = None) -> None:
    """Print the names of one kind with their summary and source, or all kinds in short.

    `provides` is a function that listed cores and kernels have to provide.
    """
    kinds = _kinds(kind, provides)
    if kind is None and provides is None:
        names = {one: names_of(one) for one in kinds}
        short = [(one, f"{len(some):,}", _short(some)) for one, some in names.items()]
        print(table_text(short, ("kind", "number", "such as")))
        print("\n`dse list KIND` has all of a kind, with sources; `dse list NAME` the values.")
    else:
        for name in kinds:
            print(_listing(name, provides))
    listed = filter(None, map(LISTED_KINDS.get, kinds))
    surveyed = (one.error for record in listed for one in registry.survey(record))
    for error in (*filter(None, surveyed), *records.own_records()[1]):
        print(f"omitted: {error}", file=sys.stderr)


def _listing(kind: str, provides: str | None) -> str:
    """Return the table of a kind, an origin of all in its title."""
    headers, rows = table_of(kind, provides)
    origins, of_all = {row[-1] for row in rows if headers[-1] == "from"}, ""
    if len(origins) == 1:
        headers, rows = headers[:-1], [row[:-1] for row in rows]
        of_all = f", from {origins.pop()}"
    table = table_text(rows, headers) if rows or provides is None else ""
    return f"{kind} ({len(rows)}{of_all})\n{table or _closest(str(provides), kind)}\n"


def _short(names: Iterable[str]) -> str:
    """Return some names in one line, those first that are short: a family before its members."""
    found = ""
    for name in sorted(names, key=len):
        if len(found) + len(name) > _FEW:
            return f"{found} ..."
        found = f"{found}, {name}".removeprefix(", ")
    return found


def names_of(kind: str = "") -> list[str]:
    """Return the names of one kind, or all that `dse list` takes: kinds and their names."""
    if kind == "studies":
        return [*shipped_studies()]
    listed = [record for one, record in LISTED_KINDS.items() if record and kind in ("", one)]
    kinds = [] if kind else [*LISTED_KINDS]
    return kinds + [found.record.name for record in listed for found in _found(record)]


def listed_facts(kind: str | None, provides: str | None = None) -> dict[str, list[dict[str, str]]]:
    """Return the same as plain data: rows by kind."""
    found = {}
    for name in _kinds(kind, provides):
        headers, rows = table_of(name, provides)
        keys = [header.partition(";")[0].replace(",", " and") for header in headers]
        found[name] = [dict(zip(keys, row, strict=True)) for row in rows]
    return found


def _kinds(kind: str | None, provides: str | None) -> Sequence[str]:
    if kind is not None and kind not in LISTED_KINDS:
        raise UnknownPluginError(f"{kind!r} cannot be listed", nearest(kind, LISTED_KINDS))
    if provides is not None and kind not in (None, *PROVIDERS):
        rule = f"--provides {provides!r}: {kind} provide no functions"
        raise UnknownPluginError(rule, f"list {' or '.join(PROVIDERS)}")
    if provides is not None and provides not in (known := registry.records(contract.Function)):
        raise UnknownPluginError(f"{provides!r} is no function", nearest(provides, known))
    every = LISTED_KINDS if provides is None else PROVIDERS
    return [*every] if kind is None else [kind]


def _closest(wanted: str, kind: str) -> str:
    """Return the provided functions closest to one that is not provided."""
    known = registry.records(contract.Function)
    provides = (word for one in _found(PROVIDERS[kind]) for word in one.record.provides)
    offered = dict.fromkeys(word for word in provides if word in known)
    return f"none; closest: {', '.join(close_functions(wanted, offered, known)) or 'none'}"


@dataclass(frozen=True)
class _Found:
    """A record, its source and its origin.  Both are the file of a user's record."""

    record: Any
    source: str
    origin: str = ""


def _found(kind: type) -> Iterator[_Found]:
    """Yield the usable records of a kind, the user's last."""
    if kind is papers.Figure:
        yield from (_Found(one, one.source) for one in registry.records(kind).values())
        return
    for plugin in registry.in_order(kind):
        record: Any = registry.get(kind, plugin.name)
        yield _Found(record, str(getattr(record, "source", "")), plugin.distribution)
    for path, file in records.own_records()[0].items():
        if (section := records.KINDS.get(kind)) in file.records:
            yield _Found(file.records[str(section)], path, path)


def table_of(kind: str, provides: str | None = None) -> tuple[Row, list[Row]]:
    """Return headers and rows of one of `LISTED_KINDS`, all or those that provide a function."""
    record = LISTED_KINDS[kind]
    if record is None:
        studies = shipped_studies().items()
        rows: list[Row] = [
            (name, text.partition("\n")[0].removeprefix("#").strip()) for name, text in studies
        ]
        return ("study", "question; dse new study --from NAME copies"), rows
    found = [*_found(record)]
    if provides is not None:
        known = registry.records(contract.Function)
        found = [one for one in found if provided(provides, one.record.provides, known)]
    columns = _COLUMNS[record]
    rows = [[_cell(one, column) or "-" for column in columns.values()] for one in found]
    return tuple(columns), rows


_SUMS = ("overhead_plus_latency_cycles", "overhead_plus_latency_s")


def _link(record: contract.Interface) -> str:
    amounts = _amounts(record, ("link_byte_per_cycle", "link_byte_per_s"))
    return ", ".join(filter(None, (record.pcie, *amounts))) or _silence(record, "link")


def _times(record: contract.Interface) -> str:
    """Return overhead and latency, or their sum if only that is known."""
    together = _amounts(record, _SUMS)
    if together and record.overhead_share is None:
        return f"{', '.join(together)} together"
    known = sorted(contract.Interface.__dataclass_fields__.keys() - {*_SUMS, "overhead_share"})
    shown: list[str] = []
    for field, starts in (("overhead", ("overhead",)), ("latency", ("latency", "round_trip"))):
        amounts = _amounts(record, [name for name in known if name.startswith(starts)])
        shown += amounts or [_silence(record, field)]
    return ", ".join(shown + together)


def _amounts(record: contract.Interface, names: Sequence[str]) -> list[str]:
    return [units.show(value, name) for name in names if (value := getattr(record, name))]


def _silence(record: contract.Interface, field: str) -> str:
    return "not published" if field in record.unspecified else "-"


def _assumed(record: contract.Interface) -> str:
    split = ["split"] if _amounts(record, _SUMS) and record.overhead_share is None else []
    return ", ".join([*split, *map(in_words, record.assumptions)]) or "-"


def _cell(found: _Found, column: str | Callable[[Any], str]) -> str:
    """Return the text of a column: of the origin, of a field of the record, or of a function."""
    if not isinstance(column, str):
        return column(found.record)
    if column in ("source", "origin"):
        return str(getattr(found, column))
    value = getattr(found.record, column)
    if isinstance(value, float):
        return units.show(value, column)
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value or "")


_COLUMNS: Mapping[type, Mapping[str, str | Callable[[Any], str]]] = {
    contract.Core: {
        "core": "name",
        "provides": "provides",
        "node, evidence": lambda record: " ".join(filter(None, (record.node, record.evidence))),
        "from": "origin",
    },
    contract.Function: {
        "function": "name",
        "meaning": "summary",
        "a kind of": "kind_of",
        "key [bit]": "key_bit",
        "block [bit]": "block_bit",
        "standard": "standard",
    },
    contract.Interface: {
        "interface": "name",
        "waits": "wait",
        "link": _link,
        "overhead, latency": _times,
        "source": "source",
        "assumed": _assumed,
    },
    contract.Kernel: {
        "kernel": "name",
        "provides": "provides",
        "host time": "index_s_per_byte",
        "host": "host",
        "source": "source",
    },
    contract.Platform: {"platform": "name", "processor": "processor", "source": "source"},
    contract.Objective: {
        "objective": "name",
        "unit": lambda record: units.label(record.name),
        "meaning": "summary",
        "source": "source",
    },
    contract.Method: {
        "method": "name",
        "meaning": "description",
        "budget": lambda record: f"{record.budget:,}",
        "options": lambda record: ", ".join(option.name for option in record.options),
        "from": "origin",
    },
    Generator: {
        "generator": "name",
        "meaning": "description",
        "parameters": lambda record: ", ".join(choice.name for choice in record.parameters),
        "from": "origin",
    },
    papers.Figure: {"figure": "name", "after": "source"},
}
"""By kind of record its columns: the header, and a field or a function of the record."""

LISTED_KINDS: Mapping[str, type | None] = {
    **{f"{kind.__name__.lower()}s": kind for kind in _COLUMNS},
    "studies": None,
}
"""Kinds that can be listed, and their records."""

PROVIDERS: Mapping[str, type] = {"cores": contract.Core, "kernels": contract.Kernel}
"""Kinds that `--provides` lists."""
