"""What a study can name: cores, interfaces, kernels, platforms, objectives and methods."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from dse import contract, plugins, report, units
from dse.contract import papers
from dse.errors import UnknownPluginError, nearest
from dse.picture import words
from dse.search import METHODS

Row = Sequence[str]


def list_(kind: str | None) -> None:
    """Print the names of one kind, or of all, with what they are and their source."""
    if kind is not None and kind not in KINDS:
        raise UnknownPluginError(f"{kind!r} cannot be listed", nearest(kind, KINDS))
    for name in KINDS if kind is None else (kind,):
        headers, rows = KINDS[name]()
        print(f"{name} ({len(rows)})")
        print(report.catalogue(rows, headers))
        print()


def _cores() -> tuple[Row, list[Row]]:
    rows: list[Row] = [
        (name, found.record.summary, ", ".join(found.record.models), found.distribution)
        for name, found in plugins.registered(contract.Core).items()
    ]
    return ("core", "what it is", "models", "from"), rows


def _interfaces() -> tuple[Row, list[Row]]:
    rows: list[Row] = [
        (name, record.host, record.attachment, record.wait, record.source)
        for name, record in plugins.records(contract.Interface).items()
    ]
    return ("interface", "host", "attachment", "waits", "source"), rows


def _kernels() -> tuple[Row, list[Row]]:
    rows: list[Row] = [
        (name, units.show(record.index_s_per_byte, "index_s_per_byte"), record.host, record.source)
        for name, record in plugins.records(contract.Kernel).items()
    ]
    return ("kernel", "host time", "host", "source"), rows


def _platforms() -> tuple[Row, list[Row]]:
    rows: list[Row] = [
        (name, record.processor, record.source)
        for name, record in plugins.records(contract.Platform).items()
    ]
    return ("platform", "processor", "source"), rows


def _objectives() -> tuple[Row, list[Row]]:
    rows: list[Row] = [
        (name, units.label(name) or "-", record.summary, record.source)
        for name, record in plugins.records(contract.Objective).items()
    ]
    return ("objective", "unit", "what it is", "source"), rows


def _methods() -> tuple[Row, list[Row]]:
    rows: list[Row] = [(name, method.description) for name, method in METHODS.items()]
    return ("method", "what it does"), rows


def _figures() -> tuple[Row, list[Row]]:
    rows: list[Row] = [
        (name, record.source) for name, record in plugins.records(papers.Figure).items()
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


def show(name: str) -> None:
    """Print everything that is known of one name; a name of several kinds shows each."""
    shown = False
    known: set[str] = set(METHODS)
    for kind in plugins.GROUPS:
        for entry, found in plugins.registered(kind).items():
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
    if not shown:
        raise UnknownPluginError(f"nothing is called {name!r}", nearest(name, known))


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
    print(report.catalogue(marked, ("field", "value")))


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
            print(report.catalogue(rows, ("parameter", "meaning", "range", "default")))
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
        rows.append([words(entry.name), unit, *(f"{value:.6g}" for value in values / factor)])
    print(report.catalogue(rows, ("per instance", "unit", *model.designs)))


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
    print(report.catalogue(rows, ("quantity", "design", "table", "law", "law - table")))
