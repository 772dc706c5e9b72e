"""The range of a sweep as it is written: ``rate=1..240Gbps``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dse.algebra import units
from dse.errors import UnitError, nearest
from dse.files.document import Document
from dse.study import assumptions, schema, study
from dse.study.assumptions import Assumption
from dse.study.fields import unit_of
from dse.study.study import Study

DOTS = ".."
EXAMPLE = "write for instance rate=1..240Gbps"


def read_range(found: Document, written: str | None) -> tuple[Study, Assumption, float, float]:
    """Return the study at the low end of a range, what is swept, and both ends in SI.

    Parameters
    ----------
    found
        The study's document.
    written
        ``NAME=FROM..TO``; None for the range of the study's sweep.

    Raises
    ------
    UnitError
        When the range cannot be read, or names nothing that the study assumes.
    StudyError
        When the study has faults.
    """
    if written is None:
        name, low, high = _own_sweep(found)
    else:
        name, low, high = _split(written)
    path = _field(found, name)
    if path is not None:
        section, _, field = path.partition(".")
        unit = unit_of(schema.SECTIONS[section], field)
        if unit is None:
            raise UnitError(f"{path} takes choices, not numbers", "sweep a number")
        low, high = _with_unit(low, high)
        column = _column(unit.read, low)
        found = study.override(found, [(path, low)])
        prepared = study.prepare(found)
        known = [
            entry for entry in assumptions.assumptions_of(prepared) if entry.quantity == column
        ]
        chosen = tuple(entry for entry in known if entry.name == path)
    else:
        prepared = study.prepare(found)
        chosen = assumptions.choose_assumptions(assumptions.assumptions_of(prepared), name)
        low, high = _with_unit(low, high)
    if len(chosen) != 1:
        listed = ", ".join(entry.name for entry in chosen[:6])
        raise UnitError(f"{name!r} stands for several numbers", f"write one of {listed}")
    ends = [units.parse(end, chosen[0].quantity) for end in (low, high)]
    if not 0 < ends[0] < ends[1]:
        raise UnitError(f"{low} to {high} is no range", "write the lower end first, above 0")
    return prepared, chosen[0], ends[0], ends[1]


def _own_sweep(found: Document) -> tuple[str, str, str]:
    sweep = study.sweep_of(found)
    if sweep is None or not sweep.column:
        raise UnitError("the study has no sweep of a number, and no range was given", EXAMPLE)
    numbers = [float(value) for value in sweep.values]
    ends = (units.exact(value, sweep.column) for value in (min(numbers), max(numbers)))
    low, high = ends
    return sweep.path, low, high


def _split(written: str) -> tuple[str, str, str]:
    name, _, rest = written.partition("=")
    low, dots, high = rest.partition(DOTS)
    if not (name.strip() and low.strip() and dots and high.strip()):
        raise UnitError(f"{written!r} is no range NAME=FROM..TO", EXAMPLE)
    return name.strip(), low.strip(), high.strip()


def _with_unit(low: str, high: str) -> tuple[str, str]:
    """Return both ends with a unit: a bare low end has that of the high end."""
    digits = high.rstrip().lstrip("+-0123456789.eE ")
    return (f"{low} {digits}" if _is_number(low) else low), high


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _column(read: Callable[[Any], Any], low: str) -> str:
    try:
        given = read(low)
    except Exception as error:
        context = getattr(error, "context", None)
        if not context:
            raise
        raise UnitError(context["rule"], context["remedy"]) from error
    return str(given.column)


def _field(found: Document, name: str) -> str | None:
    """Return the field of a section that `name` is, or is short for; None when it is none."""
    fields = [
        f"{section}.{field}"
        for section, model in schema.SECTIONS.items()
        for field in model.model_fields
    ]
    if name in fields:
        return name
    short = [path for path in fields if path.partition(".")[2] == name]
    if len(short) > 1:
        raise UnitError(f"{name!r} stands for several fields", nearest(name, short))
    return short[0] if short else None
