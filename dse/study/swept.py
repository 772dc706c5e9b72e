"""The field of a study that takes several values in turn."""

from __future__ import annotations

from dataclasses import dataclass

from dse.algebra import units
from dse.errors import StudyError, UnitError, nearest
from dse.files import document
from dse.files.document import Document
from dse.study import schema
from dse.study.axes import numeric
from dse.study.early import validate
from dse.study.faults import Faults
from dse.study.overrides import settable


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
    unit = schema.FIELDS.get(path)
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
    if "." in path or path in known or path in schema.FIELDS:
        return
    rule = f"a sweep is of an axis or a field of the study, and nothing is called {path!r}"
    if written.evaluate is not None:
        raise UnitError(rule, f"add it to `axes`, too, with its values: `axes: {{{path}: ...}}`")
    raise UnitError(rule, nearest(path, {*written.axes, *schema.FIELDS}))


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
