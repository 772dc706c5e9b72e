"""A platform from a table of measured runs, as a record that studies use, text and plain data."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np

from dse.algebra import units
from dse.contract import PRECISIONS, Column, Platform
from dse.contract.fits import Fit, FittedPlatform
from dse.errors import Fault, Position, StudyError, UnitError, nearest
from dse.files import headers
from dse.files.csv import CsvTable, parse_csv
from dse.files.headers import Header
from dse.files.json import read_bytes
from dse.plugins import registry
from dse.reports.text import (
    Printable,
    in_words,
    interval,
    listed,
    paragraph,
    percent,
    signed,
    table_text,
)
from dse.study import record_file, records, tables
from dse.study.cores import models
from dse.study.field_kinds import unit_of

_PRECISION = "precision"
_ROUNDING = 1e-9

FIELDS = {
    unit.columns[0]: name
    for name in record_file.PlatformEntry.model_fields
    if (unit := unit_of(record_file.PlatformEntry, name))
}
"""What a record calls the figures of a platform."""


@dataclass(frozen=True, repr=False, kw_only=True)
class PlatformFit(Printable):
    """A fitted platform; as text what `dse fit platform` prints of it.

    Attributes
    ----------
    fit
        How it was fitted.
    found
        The platform, its errors and intervals, and what the runs do not tell.
    runs
        Names of the runs.
    data
        Measured columns by name with unit suffix.
    file, content
        The table that was read.
    """

    fit: Fit
    found: FittedPlatform
    runs: tuple[str, ...]
    data: Mapping[str, Column]
    file: str
    content: bytes

    def text(self) -> str:
        """Return the platform's constants, and how well it fits."""
        found = self.found
        rows = [
            (
                FIELDS[name].replace("_", " "),
                _least(self, name) or "not identified"
                if name in found.unidentified
                else units.show(getattr(found.platform, name), name),
                interval(*found.intervals[name], name),
            )
            for name in found.intervals
        ]
        lines = [
            f"{len(self.runs)} runs of {self.file}: {self.fit.method}\n",
            table_text(rows, ("platform", "value", "95 % interval")),
            "",
        ]
        for name, said in _residuals(self).items():
            half, worst = said["median_of_size"], said["largest"]
            lines.append(f"{name}: half of the runs within {half}, worst {worst}")
        why = [f"{in_words(FIELDS[name])}: {_why(self, name)}" for name in found.unidentified]
        if why:
            lines += ["", "not identified by these data; the interval is all that is possible:"]
        wrapped = (paragraph(line, "  ") for line in why)
        return "\n".join([*lines, *wrapped])

    def to_dict(self) -> dict[str, Any]:
        """Return the platform and its errors as plain data, in SI."""
        errors = {f"{name}_relative_error": v.tolist() for name, v in self.found.errors.items()}
        platform = self.found.platform
        fitted: dict[str, Any] = {"name": platform.name}
        fitted |= {name: getattr(platform, name) for name in self.found.intervals}
        ends = {
            name: [end if math.isfinite(end) else None for end in pair]
            for name, pair in self.found.intervals.items()
        }
        unidentified = dict(self.found.unidentified)
        return {**fitted, **errors, "intervals": ends, "not_identified": unidentified}


def fit_platform(path: Path, name: str, precision: str) -> PlatformFit:
    """Fit a platform to a table with a row per run; the units in its headers tell columns apart."""
    if precision not in PRECISIONS:
        raise UnitError(f"--precision {precision}: not known", nearest(precision, PRECISIONS))
    content = read_bytes(path)
    table = parse_csv(content, str(path))
    fit = registry.get(Fit, records.KINDS[Platform])
    wanted = [argument for argument in signature(fit.function).parameters if argument != _PRECISION]
    data = _columns(table, wanted)
    try:
        found = fit.function(**data, precision=precision)
    except ValueError as error:
        raise UnitError(f"{path}: {error}", "correct the table") from error
    found = replace(found, platform=replace(found.platform, name=name))
    place = tables.name_column({header: k for k, header in enumerate(table.headers)})
    column = table.headers.index(place) if place is not None else None
    lines = (f"line {line}" for line in table.lines[1:])
    runs = tuple(lines) if column is None else table.columns[column]
    return PlatformFit(fit=fit, found=found, runs=runs, data=data, file=path.name, content=content)


def _columns(table: CsvTable, wanted: list[str]) -> dict[str, Column]:
    """Return the columns that a fit asks for: of its name, else the only one of its unit."""
    known: dict[int, Header] = {}
    unclear: list[Fault] = []
    for column, header in enumerate(table.headers):
        try:
            known[column] = headers.read_header(header)
        except UnitError as error:
            unclear.append(table.fault(None, column, error.rule, error.remedy))
    faults: list[Fault] = []
    data = {}
    for name in wanted:
        fitting = [k for k, header in known.items() if header.name.casefold() == name] or [
            k for k, header in known.items() if units.suffix(header.name) == units.suffix(name)
        ]
        if len(fitting) != 1:
            found = listed([repr(table.headers[k]) for k in fitting])
            rule = f"one column in {units.label(name)} is needed for {units.stem(name)}"
            remedy = f"call it {name}, with any prefix of the unit"
            place = Position(table.lines[0], 1, table.file)
            faults.append(place.fault((), f"{found} are there" if found else "", rule, remedy))
            continue
        data[name] = table.numbers(fitting[0], known[fitting[0]].factor, faults)
        for row in np.flatnonzero(data[name] < 0):
            rule, remedy = "a measurement is not negative", "correct the figure"
            faults.append(table.fault(int(row), fitting[0], rule, remedy))
    if faults:
        raise StudyError([*unclear, *faults])
    return data


def platform_record(done: PlatformFit) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the sections and the provenance of the record of a fit."""
    platform: dict[str, Any] = {"name": done.found.platform.name}
    for column, name in FIELDS.items():
        value = getattr(done.found.platform, column)
        if value is not None:
            platform[name] = units.written(value, column)
    platform |= _sureness(done)
    platform["source"] = f"{done.fit.source}, fitted to {len(done.runs)} runs of {done.file}"
    origin: dict[str, Any] = records.provenance(done.content, done.file, done.fit.method)
    origin["range"] = {
        units.stem(name): [units.show(float(end), name) for end in (values.min(), values.max())]
        for name, values in done.data.items()
    }
    origin["residuals"] = _residuals(done)
    found = done.found
    origin["intervals"] = {
        FIELDS[name]: interval(*ends, name) for name, ends in found.intervals.items()
    }
    if found.unidentified:
        origin["not_identified"] = {FIELDS[name]: _why(done, name) for name in found.unidentified}
    return {records.KINDS[Platform]: platform}, origin


def _sureness(done: PlatformFit) -> dict[str, Any]:
    """Return which fields of the record are fitted or assumed, and how sure the fitted ones are."""
    found = done.found
    kept: dict[str, Any] = {"assumptions": [], "fitted": [], "uncertainty": {}}
    for column, (low, high) in found.intervals.items():
        value = getattr(found.platform, column)
        if value is None:
            continue
        if column in found.unidentified:
            kept["assumptions"].append(FIELDS[column])
            continue
        kept["fitted"].append(FIELDS[column])
        if value > 0:
            share = models.share_of_interval(value, low, high)
            kept["uncertainty"] |= {FIELDS[column]: percent(share)} if share > _ROUNDING else {}
    return kept


def _least(done: PlatformFit, column: str) -> str:
    """Return in words from where on a figure is possible; nothing when it has an upper end."""
    low, high = done.found.intervals[column]
    return "" if math.isfinite(high) else f"at least {units.show(low, column)}"


def _why(done: PlatformFit, column: str) -> str:
    said = (_least(done, column), done.found.unidentified[column])
    return ", ".join(filter(None, said))


def _residuals(done: PlatformFit) -> dict[str, dict[str, str]]:
    """Return how far the model is from each measured quantity: half of the runs, and the worst."""
    found = {}
    for name, errors in done.found.errors.items():
        sizes = np.abs(errors)
        worst = int(np.argmax(sizes))
        found[name] = {
            "median_of_size": percent(float(np.median(sizes))),
            "largest": f"{signed(errors[worst])} at {done.runs[worst]}",
        }
    return found
