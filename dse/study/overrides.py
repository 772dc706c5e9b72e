"""Fields of a study: as written, and replaced from outside, by overrides or by a sweep."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import PurePath
from typing import Any

from dse.algebra import units
from dse.algebra.units import stem
from dse.contract import CoreMetrics
from dse.errors import Fault, StudyError, UnitError, nearest
from dse.files import document
from dse.files.document import Document, is_record, stage_name
from dse.study import schema
from dse.study.field_kinds import numeric
from dse.study.reader import Reader, validate_as
from dse.study.schema import FREE, RECORDS, StudyFile


def stages_of(document: Document) -> dict[str, Mapping[str, Any]]:
    """Return the stages of a study, as written, by the prefix of their columns."""
    return {
        stage_name(fields) or f"stage_{position + 1}": fields
        for position, fields in enumerate(document.stages)
    }


def is_owned(document: Document, path: str) -> bool:
    """Return whether a field is the study's: written there, free, or of no record that it names."""
    section = path.partition(".")[0]
    record = RECORDS.get(section)
    if record is None or path in FREE:
        return True
    return is_written(document, path) or not is_written(document, f"{section}.{record}")


def is_written(document: Document, path: str) -> bool:
    """Return whether the study gives a field of a section, in the section or as an axis."""
    section, _, name = path.partition(".")
    return path in document.section("axes") or document.section(section).get(name) is not None


def validate(document: Document) -> StudyFile:
    """Return the study of a document."""
    found: StudyFile | None = document.read.get(StudyFile)
    if found is None:
        reader = Reader(document)
        found = validate_as(StudyFile, reader)
        if found is None:
            raise StudyError(reader.faults)
        document.read[StudyFile] = found
    return found


DESIGN = "design"
"""The only axis, whose values are the rows."""

OVERRIDE_EXAMPLE = "workload.rate=73 Gbps"
"""An override, for remedies."""

_FIGURES = {stem(one.name) or one.name for one in fields(CoreMetrics)}


def override(found: Document, overrides: Sequence[tuple[str, str]]) -> Document:
    """Return a document with fields replaced: pairs of dotted path and value.

    Raises
    ------
    StudyError
        A path does not exist.
    """
    if not overrides:
        return found
    found = replace(found, overrides=(*found.overrides, *overrides))
    counts: dict[str, dict[str, str]] = {}
    for name, value in overrides:
        stage, _, rest = name.partition(".")
        field = rest.partition(".")[0]
        is_field = rest == "design" or field in schema.StageSection.model_fields
        if stage in stages_of(found) and not is_field:
            design, _, figure = rest.rpartition(".")
            if design and figure in _FIGURES:
                known = f"it is a value of the design {design}"
                rule = f"{known}, and --set gives designs only their number"
                remedy = "write the designs to a table, and name that: `table: FILE.csv`"
                raise StudyError([Fault(name, value, rule, remedy)])
            counts.setdefault(stage, {})[rest] = value
        else:
            found = document.override_value(found, *_setting(found, name, value))
    for stage, fleet in counts.items():
        written = ", ".join(f"{json.dumps(design)}: {count}" for design, count in fleet.items())
        found = document.override_value(found, f"stages.{stage}.counts", f"{{{written}}}")
    return found


def is_evaluated(found: Document) -> bool:
    """Return whether a study is over designs that are evaluated already."""
    return bool(found.data.get("designs")) and found.data.get("evaluate") is None


def only(found: Document, name: str) -> Document:
    """Return a study over evaluated designs with one of them left."""
    return document.override_value(found, *_setting(found, DESIGN, name))


def _setting(found: Document, name: str, value: str) -> tuple[str, str]:
    """Return the path in the file of an override, and its text: the file of a record in an axis."""
    if name == DESIGN and is_evaluated(found):
        section = found.data["designs"]
        if isinstance(section, str):
            return "designs", json.dumps({"table": section, "only": [value]})
        return "designs.only", json.dumps([value])
    choices = found.section("axes").get(name)
    texts = [str(one) for one in choices] if isinstance(choices, list) else []
    files = [one for one in texts if is_record(one)]
    named = [one for one in files if PurePath(one).stem == value]
    return settable(found, name), named[0] if len(named) == 1 and value not in texts else value


def settable(found: Document, path: str) -> str:
    """Return the path in the file for a path of the command line.

    The field of an axis is the axis.  ``des.instances`` is short for ``stages.des.instances``.
    """
    if path in found.section("axes"):
        return f"axes.{path}"
    stage, _, rest = path.partition(".")
    if stage in stages_of(found):
        return f"stages.{stage}.{'designs' if rest == 'design' else rest}"
    return path


@dataclass(frozen=True)
class Sweep:
    """One field that takes several values, and the values as the study writes them."""

    path: str
    column: str
    values: tuple[float | str, ...]
    written: tuple[str, ...]

    @property
    def header(self) -> str:
        """Return the column of the field in the tables of a run: its path and its unit suffix."""
        suffix = units.suffix(self.column) if self.column else ""
        return f"{self.path}_{suffix}" if suffix else self.path

    def refused(self, why: str) -> UnitError:
        """Return the error for a request for one answer, with the reason `why` a sweep has none."""
        remedy = f"set one value: {self.path}={self.written[0]}"
        return UnitError(f"the study sweeps {self.path}, and {why}", remedy)


def sweep_of(found: Document) -> Sweep | None:
    """Return the sweep of a document, or None if it has none."""
    written = validate(found)
    if not written.sweep:
        return None
    (path, values), *_ = written.sweep.items()
    reader = Reader(found)
    unit = schema.FIELDS.get(path)
    sweep = None
    with reader.at(("sweep", path)):
        if not ("." in path or path in {*written.axes, *StudyFile.model_fields, *schema.DECLARED}):
            rule = f"a sweep is of an axis or a field of the study, and nothing is called {path!r}"
            remedy = nearest(path, {*written.axes, *schema.DECLARED})
            if written.evaluate is not None:
                remedy = f"add it to `axes`, too, with its values: `axes: {{{path}: ...}}`"
            raise UnitError(rule, remedy)
        if unit is not None:
            axis = numeric(path, unit, values)
            column = axis.unit_name
            numbers = tuple(axis.columns[column].tolist())
            shown = tuple(units.exact_text(value, column) for value in numbers)
            sweep = Sweep(path, column, numbers, shown)
        elif isinstance(values, list):
            sweep = Sweep(path, "", tuple(map(str, values)), tuple(map(str, values)))
        else:
            raise UnitError(f"{path} takes choices, not a range", "write a list of values")
    reader.raise_any()
    return sweep


def check_shape(found: Document) -> None:
    """Raise StudyError if the shape of a document has errors, at the first value of its sweep."""
    sweep = sweep_of(found)
    if sweep is not None:
        validate(at_value(found, sweep, 0))


def at_value(found: Document, sweep: Sweep, position: int) -> Document:
    """Return the document with the swept field set to its value at `position`."""
    try:
        path = settable(found, sweep.path)
        at = document.override_value(found, path, sweep.written[position])
    except StudyError as error:
        first = error.faults[0]
        fault = found.fault(("sweep", sweep.path), first.written, first.rule, first.remedy)
        raise StudyError([fault]) from None
    stands = found.positions.get(("sweep", sweep.path), document.NOWHERE)
    set_here = {key for key, place in at.positions.items() if place != found.positions.get(key)}
    return replace(at, positions={**at.positions, **dict.fromkeys(set_here, stands)})
