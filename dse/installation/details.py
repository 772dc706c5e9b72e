"""Everything that is known of one name: a core, interface, kernel, platform, quantity or method."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dse import contract
from dse.algebra import units
from dse.errors import UnknownPluginError, nearest
from dse.files.document import is_record
from dse.files.json import is_regular
from dse.installation import inventory
from dse.installation.inventory import LISTED_KINDS, Row
from dse.plugins import registry
from dse.reports.text import in_words, percent, table_text
from dse.search.settings import allowed_text, value_text
from dse.study import records


@dataclass(frozen=True)
class Known:
    """A record, its kind, its origin and, for a file, its provenance."""

    kind: str
    origin: str
    record: Any
    provenance: Mapping[str, Any] | None = None


def show_known(name: str | None, provides: str | None = None) -> None:
    """Print the names of a kind or of all, or all details of one name, for each of its kinds.

    Arguments are as in `known_facts`.
    """
    if name is None or name in LISTED_KINDS or provides is not None:
        inventory.list_(name, provides)
        return
    for known in _every(name):
        print(f"{known.kind} {known.record.name}  {known.origin and f'({known.origin})'}".rstrip())
        _show(known.record)
        if known.provenance is not None:
            print("\nprovenance" if known.provenance else "\nno provenance is stated")
            if known.provenance:
                print(table_text(list(_flat(known.provenance)), ("what", "value")))


def known_facts(name: str | None, provides: str | None = None) -> Any:
    """Return the names of a kind or of all, or all details of one name, as plain data in SI.

    Parameters
    ----------
    name
        A kind, a name of one or several kinds, or None for all kinds.
    provides
        Function that listed cores and kernels have to provide.
    """
    if name is None or name in LISTED_KINDS or provides is not None:
        return inventory.listed_facts(name, provides)
    return [
        {"kind": one.kind, "name": one.record.name, "from": one.origin, **_plain(one.record)}
        | ({} if one.provenance is None else {"provenance": one.provenance})
        for one in _every(name)
    ]


def _plain(value: Any) -> Any:
    """Return a record without its functions."""
    if is_dataclass(value):
        plain = {entry.name: _plain(getattr(value, entry.name)) for entry in fields(value)}
        return {name: one for name, one in plain.items() if one is not None}
    if isinstance(value, Mapping):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return value if isinstance(value, str | int | float) else None


def _every(name: str) -> list[Known]:
    """Return all that is called so.

    Raises
    ------
    UnknownPluginError
        Nothing is.
    """
    found = [*_own(name)]
    known: set[str] = set()
    for kind in registry.kinds_of(registry.GROUPS):
        known.update(registry.names(kind))
        found += [
            Known(_word(kind), plugin.distribution, registry.get(kind, plugin.name))
            for plugin in registry.plugins(kind)
            if plugin.name == name or units.stem(plugin.name) == name
        ]
    if not found:  # only then are papers imported
        kinds = registry.kinds_of(registry.PAPERS)
        records_of = ((kind, registry.records(kind).get(name)) for kind in kinds)
        found = [Known(_word(kind), "", one) for kind, one in records_of if one is not None]
    if not found and is_record(name):
        raise UnknownPluginError(f"there is no file {name!r}", "check the path")
    if not found:
        raise UnknownPluginError(
            f"nothing is called {name!r}", nearest(name, {*known, *LISTED_KINDS})
        )
    return found


def _word(kind: type) -> str:
    return kind.__name__.lower()


def _own(name: str) -> Iterator[Known]:
    """Yield the records of a file, or the records of this name in the working directory."""
    by_path = is_record(name) and is_regular(Path(name))
    files = {name: records.read_record(Path(name))} if by_path else records.own_records()[0]
    for path, file in files.items():
        chosen = [each for each in file.records.items() if by_path or each[1].name == name]
        for section, record in chosen:
            provenance = file.provenance if record is chosen[-1][1] else None
            yield Known(section, path, record, provenance)


def _flat(data: Mapping[str, Any], prefix: str = "") -> Iterator[Row]:
    for key, value in data.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key} ")
        else:
            listed = value if isinstance(value, list) else [value]
            yield f"{prefix}{key}", ", ".join(map(str, listed))


def _show(record: Any) -> None:
    """Print a record: its values, and the tables of a core."""
    rows = [*_rows(record)]
    marks = dict.fromkeys(getattr(record, "assumptions", ()), " (assumed)")
    marks |= dict.fromkeys(getattr(record, "fitted", ()), " (fitted)")
    marked = [(name + marks.get(name, ""), text) for name, text in rows]
    print(table_text(marked, ("field", "value")))
    for name, model in record.models.items() if isinstance(record, contract.Core) else ():
        print(f"\nmodel {name}")
        print(table_text([*_rows(model)], ("field", "value")))
        if model.designs:
            _show_designs(model)
        if model.residuals is not None:
            _show_residuals(model.residuals())


_ELSEWHERE = ("name", "models", "designs", "labels", "residuals")
"""Fields shown in another table, or with nothing for a reader."""


def _rows(record: Any) -> Iterator[Row]:
    """Yield the fields that a record uses, those on its sureness at last."""
    sureness = contract.Sureness.__dataclass_fields__
    for entry in sorted(fields(record), key=lambda entry: entry.name in sureness):
        value = getattr(record, entry.name)
        apart = entry.name in _ELSEWHERE or (isinstance(record, contract.Model) and callable(value))
        if apart or value in (None, "", (), 0.0, False, {}) or not entry.repr:
            continue
        if entry.name == "function":
            yield "summary", inspect.getdoc(value) or ""
            yield "arguments", ", ".join(sorted(value.__annotations__.keys() - {"return"}))
        elif isinstance(value, Mapping):
            for name, one in value.items():
                yield f"{entry.name} of {name}", percent(one) if isinstance(one, float) else one
        elif isinstance(value, float):
            yield entry.name, units.show(value, entry.name)
        else:
            yield from _listed(entry.name, value if isinstance(value, tuple) else (value,))


def _listed(name: str, values: tuple[Any, ...]) -> Iterator[Row]:
    """Yield a row for each record among values, or one row of all values."""
    nested = [one for one in values if is_dataclass(one)]
    yield from ((f"{name}: {getattr(one, 'name', '')}", _meaning(one)) for one in nested)
    if not nested:
        yield name, ", ".join(map(str, values))


def _meaning(one: Any) -> str:
    """Return the meaning of an option or a parameter, its values, and its default."""
    if isinstance(one, contract.Option):
        allowed, default = allowed_text(one), value_text(one.default)
    elif isinstance(one, contract.Parameter):
        allowed = f"from {one.low:g} to {one.high:g}"
        default = "" if one.default is None else f"{one.default:g}"
    else:
        allowed, default = f"one of {', '.join(map(str, one.values))}", str(one.values[0])
    return f"{one.description}: {allowed}" + (f", {default} by default" if default else "")


def _show_designs(model: contract.Model) -> None:
    """Print the metrics of a table's designs: a row per metric, a column per design."""
    options = {p.name: np.array([p.default or p.low]) for p in model.parameters}
    metrics = model.function(**options)
    rows = []
    for entry in fields(metrics):
        values = getattr(metrics, entry.name)
        if np.isnan(values).all():
            continue  # no value for any design
        factor, unit = units.scale(values, entry.name)
        rows.append([in_words(entry.name), unit, *(f"{value:.6g}" for value in values / factor)])
    print(table_text(rows, ("per instance", "unit", *model.designs)))


def _show_residuals(
    found: Mapping[str, tuple[tuple[str, ...], contract.Column, contract.Column]],
) -> None:
    rows = []
    for quantity, (designs, table, law) in found.items():
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
