"""Fields of a study replaced from outside: by overrides, or value after value by a sweep."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import PurePath
from typing import Any

from dse.algebra import units
from dse.algebra.expression import parse_expression
from dse.algebra.units import stem
from dse.contract import Core, CoreMetrics, Interface, Kernel, Method, Objective, Platform
from dse.errors import Fault, StudyError, UnitError, nearest
from dse.files import document
from dse.files.document import Document, is_record
from dse.model.evaluation import KNEE
from dse.plugins import registry
from dse.study import declared_fields, schema
from dse.study.axes import numeric
from dse.study.faults import Faults, Path, lookup, validate_as
from dse.study.schema import StudyFile

_OF_A_STUDY = re.compile(r"\b(?:workload|interface|kernel|budget)_")
"""Columns that some studies have and others lack."""


def validate(document: Document) -> StudyFile:
    """Return the study of a document.

    Raises
    ------
    StudyError
        With every fault of its shape: unknown and missing keys, wrong types, wrong units; then
        with those of names, too.
    """
    faults = Faults(document)
    study = validate_as(StudyFile, faults)
    if study is None:
        _check_plugins(faults)
        check_rest(faults)
        raise StudyError(faults.found)
    return study


def not_a_count(scalar: Any) -> UnitError:
    """Return what is wrong with a number of instances that is none."""
    return UnitError(f"{scalar!r} is not a number of instances", "write whole numbers, or `least`")


def check_rest(faults: Faults) -> None:
    """Add what is wrong with counts of instances, objectives, constraints and `prefer`."""
    _check_counts(faults)
    _check_words(faults)


def _check_words(faults: Faults) -> None:
    """Add what objectives, constraints and `prefer` name that is no quantity of any study.

    Evaluated designs and what measures bring quantities of their own: of those nothing is said
    before they are read.
    """
    data = faults.document.data
    if data.get("evaluate") is not None or data.get("designs") is not None:
        return
    known = set(registry.names(Objective))
    stems = Counter(map(units.stem, known))
    either = {stem for stem, quantities in stems.items() if quantities > 1}  # the study tells which
    objectives = data.get("objectives")
    for name in objectives if isinstance(objectives, dict) else ():
        if name not in known | stems.keys() and not _OF_A_STUDY.match(name):
            rule = "this quantity is not known"
            faults.add(("objectives", name), rule, nearest(name, stems), repr(name))
    constraints = data.get("constraints")
    texts: list[tuple[Path, Any]] = [
        (("constraints", place), text)
        for place, text in enumerate(constraints if isinstance(constraints, list) else ())
    ]
    if data.get("prefer") != KNEE:
        texts.append((("prefer",), data.get("prefer")))
    for path, text in texts:
        if isinstance(text, str) and not _OF_A_STUDY.search(text):
            if either & set(re.findall(r"\w+", text)):
                continue
            with faults.at(path):
                parse_expression(text, known)


def _stages(data: Any) -> list[dict[str, Any]]:
    stages = data.get("stages")
    listed = stages if isinstance(stages, list) else []
    return [one if isinstance(one, dict) else {} for one in listed]


def _check_plugins(faults: Faults) -> None:
    """Look up the names of plug-ins."""
    data = faults.document.data
    named: list[tuple[Path, type]] = [
        (("stages", position, "core"), Core) for position in range(len(_stages(data)))
    ]
    named += [(("interface", "device"), Interface), (("budget", "platform"), Platform)]
    named += [(("workload", "kernel"), Kernel), (("search", "method"), Method)]
    for path, kind in named:
        name = lookup(data, path)
        if isinstance(name, str) and not is_record(name):
            with faults.at(path):
                registry.get(kind, name)


def _check_counts(faults: Faults) -> None:
    """Look at numbers of instances that are words."""
    for position, stage in enumerate(_stages(faults.document.data)):
        count = stage.get("instances")
        if isinstance(count, str) and count != "least":
            path = ("stages", position, "instances")
            error = not_a_count(count)
            faults.add(path, error.rule, error.remedy)


EXAMPLE = "workload.rate=73 Gbps"
"""An override, for remedies."""

_FIGURES = {stem(one.name) or one.name for one in fields(CoreMetrics)}


def override(found: Document, overrides: Sequence[tuple[str, str]]) -> Document:
    """Return a document with fields replaced: pairs of dotted path and value.

    Raises
    ------
    StudyError
        When a path does not exist.
    """
    if not overrides:
        return found
    from dse.study import evaluated  # after schemas: most studies have no evaluated designs

    found = replace(found, overrides=(*found.overrides, *overrides))
    counts: dict[str, dict[str, str]] = {}
    for name, value in overrides:
        if name == evaluated.DESIGN and evaluated.is_evaluated(found):
            found = evaluated.only(found, value)
            continue
        stage, _, rest = name.partition(".")
        if stage in _stage_names(found) and not _is_stage_field(rest):
            counts.setdefault(stage, {})[_design(name, rest, value)] = value
            continue
        found = document.override_value(found, settable(found, name), _path(found, name, value))
    for stage, fleet in counts.items():
        written = ", ".join(f"{json.dumps(design)}: {count}" for design, count in fleet.items())
        found = document.override_value(found, f"stages.{stage}.counts", f"{{{written}}}")
    return found


def _path(found: Document, name: str, value: str) -> str:
    """Return what stands for a value: of the name of a record in an axis, its file."""
    axes = found.data.get("axes")
    choices = axes.get(name) if isinstance(axes, dict) else None
    texts = [str(one) for one in choices] if isinstance(choices, list) else []
    files = [one for one in texts if one.endswith((".yaml", ".yml"))]
    named = [one for one in files if PurePath(one).stem == value]
    return named[0] if len(named) == 1 and value not in texts else value


def _design(path: str, rest: str, value: str) -> str:
    """Return the design whose instances a path sets: not one of its figures."""
    design, _, figure = rest.rpartition(".")
    if design and figure in _FIGURES:
        rule = f"it is a figure of the design {design}, and --set gives designs only their number"
        remedy = "write the designs to a table, and name that: `table: FILE.csv`"
        raise StudyError([Fault(where=path, written=value, rule=rule, remedy=remedy)])
    return rest


def _stage_names(found: Document) -> list[str]:
    stages = found.data.get("stages")
    items = [item for item in stages if isinstance(item, dict)] if isinstance(stages, list) else []
    return [str(document.stage_name(item)) for item in items]


def _is_stage_field(name: str) -> bool:
    return name == "design" or name.partition(".")[0] in schema.StageSection.model_fields


def settable(found: Document, path: str) -> str:
    """Return where a path of the command line stands in the file.

    The field of an axis is the axis; ``des.instances`` is short for ``stages.des.instances``.
    """
    axes = found.data.get("axes")
    if isinstance(axes, dict) and path in axes:
        return f"axes.{path}"
    stage, _, rest = path.partition(".")
    if stage in _stage_names(found):
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
        """The column of the field in the tables of a run: its path and the suffix of its unit."""
        suffix = units.suffix(self.column) if self.column else ""
        return f"{self.path}_{suffix}" if suffix else self.path


def sweep_of(found: Document) -> Sweep | None:
    """Return the sweep of a document, None when it has none.

    Raises
    ------
    StudyError
        When its values cannot be read.
    """
    written = validate(found)
    if not written.sweep:
        return None
    (path, values), *_ = written.sweep.items()
    faults = Faults(found)
    unit = declared_fields.FIELDS.get(path)
    sweep = None
    with faults.at(("sweep", path)):
        _require_field(path, written)
        if unit is not None:
            axis, column = numeric(path, unit, values)
            if axis.continuous:
                raise UnitError("a sweep takes its values in turn", "give `points`")
            numbers = tuple(float(value) for value in axis.columns[column])
            shown = tuple(units.exact_text(value, column) for value in numbers)
            sweep = Sweep(path, column, numbers, shown)
        else:
            sweep = _choices_sweep(path, values)
    faults.raise_any()
    return sweep


def _require_field(path: str, written: schema.StudyFile) -> None:
    """Refuse a single word that is neither an axis of the study nor a key of it."""
    known = {*written.axes, *schema.StudyFile.model_fields}
    if "." in path or path in known or path in declared_fields.FIELDS:
        return
    rule = f"a sweep is of an axis or a field of the study, and nothing is called {path!r}"
    if written.evaluate is not None:
        raise UnitError(rule, f"add it to `axes`, too, with its values: `axes: {{{path}: ...}}`")
    raise UnitError(rule, nearest(path, {*written.axes, *declared_fields.FIELDS}))


def _choices_sweep(path: str, values: object) -> Sweep:
    if not isinstance(values, list):
        raise UnitError(f"{path} takes choices, not a range", "write a list of values")
    return Sweep(path, "", tuple(str(value) for value in values), tuple(map(str, values)))


def at_value(found: Document, sweep: Sweep, position: int) -> Document:
    """Return the document with the swept field set to its value at `position`."""
    path = settable(found, sweep.path)
    try:
        return document.override_value(found, path, sweep.written[position])
    except StudyError as error:
        first = error.faults[0]
        fault = found.fault(("sweep", sweep.path), first.written, first.rule, first.remedy)
        raise StudyError([fault]) from None
