"""Everything that is known of one name: a core, interface, kernel, platform, quantity or method."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from dse import contract
from dse.algebra import units
from dse.errors import UnknownPluginError, nearest
from dse.files.document import is_record
from dse.files.folder import is_regular
from dse.installation.inventory import Row
from dse.plugins import registry
from dse.reports.text import table_text
from dse.reports.words import in_words, percent
from dse.search.settings import allowed_text, value_text
from dse.study import records


def show_name(name: str) -> None:
    """Print everything that is known of one name; a name of several kinds shows each."""
    shown = _show_own(name)
    known: set[str] = set()
    for kind in registry.GROUPS:
        known.update(registry.names(kind))
        for plugin in registry.plugins(kind):
            if plugin.name == name or units.stem(plugin.name) == name:
                print(f"{kind.__name__.lower()} {plugin.name}  ({plugin.distribution})")
                _show(registry.get(kind, plugin.name))
                shown = True
    shown = shown or _show_of_papers(name)
    if not shown and is_record(name):
        raise UnknownPluginError(f"there is no file {name!r}", "check the path")
    if not shown:
        raise UnknownPluginError(f"nothing is called {name!r}", nearest(name, known))


def _show_of_papers(name: str) -> bool:
    """Print the claim or figure of this name; only then are papers imported."""
    shown = False
    for kind in registry.PAPERS:
        record = registry.records(kind).get(name)
        if record is not None:
            print(f"{kind.__name__.lower()} {name}")
            _show(record)
            shown = True
    return shown


def _show_own(name: str) -> bool:
    """Print the records of a file, or those of this name in the working directory."""
    if is_record(name) and is_regular(Path(name)):
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
            _show(record)
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


def _show(record: Any) -> None:
    if isinstance(record, contract.Core):
        _show_core(record)
    elif isinstance(record, contract.Method):
        _show_method(record)
    else:
        _show_record(record)


def _show_record(record: Any) -> None:
    rows = []
    sureness = contract.Sureness.__dataclass_fields__
    for entry in sorted(fields(record), key=lambda entry: entry.name in sureness):  # these at last
        value = getattr(record, entry.name)
        if value in (None, "", (), 0.0, False, {}) or not entry.repr:
            continue  # what a record does not have
        if entry.name == "function":
            rows += [("summary", inspect.getdoc(value) or ""), ("arguments", _arguments(value))]
        elif isinstance(value, float):
            rows.append((entry.name, units.show(value, entry.name)))
        elif entry.name == "uncertainty":
            rows += [(f"uncertainty of {name}", percent(share)) for name, share in value.items()]
        elif entry.name == "sources":
            rows += [(f"source of {name}", text) for name, text in value.items()]
        else:
            rows.append((entry.name, ", ".join(value) if isinstance(value, tuple) else str(value)))
    marks = dict.fromkeys(getattr(record, "assumptions", ()), " (assumed)")
    marks |= dict.fromkeys(getattr(record, "fitted", ()), " (fitted)")
    marked = [(name + marks.get(name, ""), text) for name, text in rows]
    print(table_text(marked, ("field", "value")))


def _arguments(function: Callable[..., Any]) -> str:
    return ", ".join(sorted(function.__annotations__.keys() - {"return"}))


def _show_method(method: contract.Method) -> None:
    print(f"{method.description}\n\n{inspect.getdoc(method.function) or ''}\n".rstrip())
    budget = f"{method.budget:,} designs".replace(",", " ")
    rows: list[Row] = [("budget", budget)]
    if not method.proves:
        rows.append(("population", str(method.population)))
    print("\n" + table_text(rows, ("field of search", "when the study does not say")))
    if method.options:
        options = [
            (option.name, option.description, allowed_text(option), value_text(option.default))
            for option in method.options
        ]
        print("\n" + table_text(options, ("option", "meaning", "it is", "default")))


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
