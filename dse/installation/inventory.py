"""What a study can name: cores, interfaces, kernels, platforms, objectives and methods."""

from __future__ import annotations

import inspect
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from dse import contract
from dse.algebra import units
from dse.contract import papers
from dse.errors import UnknownPluginError, nearest
from dse.files.document import is_record
from dse.plugins import registry
from dse.reports.text import table_text
from dse.reports.words import in_words
from dse.search import METHODS
from dse.study import records

Row = Sequence[str]


def list_(kind: str | None) -> None:
    """Print the names of one kind, or of all, with what they are and their source."""
    if kind is not None and kind not in KINDS:
        raise UnknownPluginError(f"{kind!r} cannot be listed", nearest(kind, KINDS))
    for name in KINDS if kind is None else (kind,):
        headers, rows = KINDS[name]()
        print(f"{name} ({len(rows)})")
        print(table_text(rows, headers))
        print()
    for fault in records.own_records()[1]:
        print(f"left out: {fault}", file=sys.stderr)


def _own(kind: type[records.Kind]) -> list[tuple[records.Kind, str]]:
    """Return the user's records of a kind, in the working directory, and the file of each."""
    section = records.KINDS[kind]
    return [
        (found.records[section], path)
        for path, found in records.own_records()[0].items()
        if section in found.records
    ]


def _cores() -> tuple[Row, list[Row]]:
    rows: list[Row] = [
        (name, found.record.summary, ", ".join(found.record.models), found.distribution)
        for name, found in registry.registered(contract.Core).items()
    ]
    for core, path in _own(contract.Core):
        rows.append((core.name, core.summary, ", ".join(core.models), path))
    return ("core", "what it is", "models", "from"), rows


def _interfaces() -> tuple[Row, list[Row]]:
    rows: list[Row] = [
        (name, record.host, record.attachment, record.wait, record.source)
        for name, record in registry.records(contract.Interface).items()
    ]
    for own, path in _own(contract.Interface):
        rows.append((own.name, own.host, own.attachment, own.wait, path))
    return ("interface", "host", "attachment", "waits", "source"), rows


def _kernels() -> tuple[Row, list[Row]]:
    rows: list[Row] = [
        (name, units.show(record.index_s_per_byte, "index_s_per_byte"), record.host, record.source)
        for name, record in registry.records(contract.Kernel).items()
    ]
    for own, path in _own(contract.Kernel):
        time = units.show(own.index_s_per_byte, "index_s_per_byte")
        rows.append((own.name, time, own.host, path))
    return ("kernel", "host time", "host", "source"), rows


def _platforms() -> tuple[Row, list[Row]]:
    rows: list[Row] = [
        (name, record.processor, record.source)
        for name, record in registry.records(contract.Platform).items()
    ]
    rows += [(own.name, own.processor, path) for own, path in _own(contract.Platform)]
    return ("platform", "processor", "source"), rows


def _objectives() -> tuple[Row, list[Row]]:
    rows: list[Row] = [
        (name, units.label(name) or "-", record.summary, record.source)
        for name, record in registry.records(contract.Objective).items()
    ]
    return ("objective", "unit", "what it is", "source"), rows


def _methods() -> tuple[Row, list[Row]]:
    rows: list[Row] = [(name, method.description) for name, method in METHODS.items()]
    return ("method", "what it does"), rows


def _figures() -> tuple[Row, list[Row]]:
    rows: list[Row] = [
        (name, record.source) for name, record in registry.records(papers.Figure).items()
    ]
    return ("figure", "after"), rows


KINDS: dict[str, Callable[[], tuple[Row, list[Row]]]] = {
    "cores": _cores,
    "interfaces": _interfaces,
    "kernels": _kernels,
    "platforms": _platforms,
    "objectives": _objectives,
    "methods": _methods,
    "figures": _figures,
}


def show_name(name: str) -> None:
    """Print everything that is known of one name; a name of several kinds shows each."""
    shown = _show_own(name)
    known: set[str] = set(METHODS)
    for kind in registry.GROUPS:
        for entry, found in registry.registered(kind).items():
            known.add(entry)
            if entry == name or units.stem(entry) == name:
                print(f"{kind.__name__.lower()} {entry}  ({found.distribution})")
                (_show_core if isinstance(found.record, contract.Core) else _show_record)(
                    found.record
                )
                shown = True
    if name in METHODS:
        print(f"method {name}: {METHODS[name].description}")
        shown = True
    if not shown and is_record(name):
        raise UnknownPluginError(f"there is no file {name!r}", "check the path")
    if not shown:
        raise UnknownPluginError(f"nothing is called {name!r}", nearest(name, known))


def _show_own(name: str) -> bool:
    """Print the records of a file, or those of this name in the working directory."""
    if is_record(name) and Path(name).is_file():
        files, by_path = {name: records.read_record(Path(name))}, True
    else:
        files, by_path = records.own_records()[0], False
    shown = False
    for path, file in files.items():
        chosen = {
            section: record
            for section, record in file.records.items()
            if by_path or record.name == name
        }
        for section, record in chosen.items():
            print(f"{section} {record.name}  ({path})")
            (_show_core if isinstance(record, contract.Core) else _show_record)(record)
        if chosen:
            _show_provenance(file.provenance)
            shown = True
    return shown


def _show_provenance(provenance: Mapping[str, Any]) -> None:
    print("\nprovenance" if provenance else "\nno provenance is stated")
    if provenance:
        print(table_text(list(_flat(provenance)), ("what", "value")))


def _flat(data: Mapping[str, Any], prefix: str = "") -> Iterator[Row]:
    for key, value in data.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key} ")
        else:
            listed = value if isinstance(value, list) else [value]
            yield f"{prefix}{key}", ", ".join(map(str, listed))


def _show_record(record: Any) -> None:
    rows = []
    for entry in fields(record):
        value = getattr(record, entry.name)
        if value in (None, "", (), 0.0, False) or not entry.repr:
            continue  # what a record does not have
        if entry.name == "function":
            rows += [("summary", inspect.getdoc(value) or ""), ("arguments", _arguments(value))]
        elif isinstance(value, float):
            rows.append((entry.name, units.show(value, entry.name)))
        else:
            rows.append((entry.name, ", ".join(value) if isinstance(value, tuple) else str(value)))
    assumed = getattr(record, "assumptions", ())
    marked = [(f"{name} (assumed)" if name in assumed else name, text) for name, text in rows]
    print(table_text(marked, ("field", "value")))


def _arguments(function: Callable[..., Any]) -> str:
    return ", ".join(sorted(function.__annotations__.keys() - {"return"}))


def _show_core(core: contract.Core) -> None:
    print(core.summary)
    for name, model in core.models.items():
        print(f"\nmodel {name}: {model.source}")
        if model.parameters:
            rows = [
                (
                    p.name,
                    p.description,
                    f"{p.low:g} .. {p.high:g}",
                    "" if p.default is None else f"{p.default:g}",
                )
                for p in model.parameters
            ]
            print(table_text(rows, ("parameter", "meaning", "range", "default")))
        if model.designs:
            _show_designs(model)
        if model.residuals is not None:
            _show_residuals(model)


def _show_designs(model: contract.Model) -> None:
    """Print the metrics of a table's designs: a row per metric, a column per design."""
    options = {p.name: np.array([p.default or p.low]) for p in model.parameters}
    metrics = model.function(**options)
    rows = []
    for entry in fields(metrics):
        values = getattr(metrics, entry.name)
        factor, unit = units.scale(values, entry.name)
        rows.append([in_words(entry.name), unit, *(f"{value:.6g}" for value in values / factor)])
    print(table_text(rows, ("per instance", "unit", *model.designs)))


def _show_residuals(model: contract.Model) -> None:
    if model.residuals is None:
        return
    rows = []
    for quantity, (designs, table, law) in model.residuals().items():
        for design, published, fitted in zip(designs, table, law, strict=True):
            error = (fitted - published) / published if published else math.nan
            rows.append(
                (
                    quantity,
                    design,
                    units.show(float(published), quantity),
                    units.show(float(fitted), quantity),
                    f"{error:+.1%}",
                )
            )
    print("residuals against the table")
    print(table_text(rows, ("quantity", "design", "table", "law", "law - table")))
