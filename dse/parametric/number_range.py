"""A range of one number of a study as it is written, ``rate=1..240Gbps``."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

from dse.algebra import units
from dse.errors import UnitError, nearest
from dse.files.csv import is_number
from dse.files.document import Document
from dse.study import study
from dse.study.assumptions import Assumption, assumptions_of, choose_assumptions
from dse.study.axes import read_unit
from dse.study.overrides import override, sweep_of
from dse.study.study import Study
from dse.study.workload_interface_budget import DECLARED, FIELDS

T = TypeVar("T")

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
    """
    name, low, high = _own_sweep(found) if written is None else _split(written)
    if is_number(low):  # it has the unit of the high end
        low = f"{low} {high.rstrip().lstrip('+-0123456789.eE ')}".rstrip()
    path = _field(name)
    if path is not None:
        unit = FIELDS.get(path)
        if unit is None:
            raise UnitError(f"{path} takes choices, not numbers", "sweep a number")
        column, _ = (_end(name, end, read_unit(unit)).column for end in (low, high))
        prepared = study.prepare(override(found, [(path, low)]))
        known = assumptions_of(prepared)
        chosen = tuple(a for a in known if a.quantity == column and a.name == path)
    else:
        prepared = study.prepare(found)
        chosen = choose_assumptions(assumptions_of(prepared), name)
    if not chosen:
        raise UnitError(f"{low} to {high} is no range", "write the lower end first, above 0")
    if len(chosen) != 1:
        listed = ", ".join(entry.name for entry in chosen[:6])
        raise UnitError(f"{name!r} stands for several numbers", f"write one of {listed}")
    parse = partial(units.parse, name=chosen[0].quantity)
    first, last = (_end(name, end, parse) for end in (low, high))
    if not 0 < first < last:
        raise UnitError(f"{low} to {high} is no range", "write the lower end first, above 0")
    return prepared, chosen[0], first, last


def _end(name: str, end: str, read: Callable[[str], T]) -> T:
    """Return an end of the range of `name`; a fault says which it is."""
    try:
        return read(end)
    except UnitError as error:
        raise UnitError(f"{name} {end!r}: {error.rule}", error.remedy) from error


def _own_sweep(found: Document) -> tuple[str, str, str]:
    sweep = sweep_of(found)
    if sweep is None:
        raise UnitError("the study has no sweep of a number, and no range was given", EXAMPLE)
    if not sweep.column:
        rule = f"the study sweeps {sweep.path}, and nothing is known between its values"
        raise UnitError(rule, "ask `dse answer` for each, or give a range NAME=FROM..TO")
    numbers = [float(value) for value in sweep.values]
    low, high = (units.exact_text(value, sweep.column) for value in (min(numbers), max(numbers)))
    return sweep.path, low, high


def _split(written: str) -> tuple[str, str, str]:
    name, _, rest = written.rpartition("=")  # a bound is named as it is written, a <= 1 um2
    low, dots, high = rest.partition(DOTS)
    if not (name.strip() and low.strip() and dots and high.strip()):
        raise UnitError(f"{written!r} is no range NAME=FROM..TO", EXAMPLE)
    return name.strip(), low.strip(), high.strip()


def _field(name: str) -> str | None:
    """Return the field that `name` is, or is short for; None when it is none."""
    if name in DECLARED:
        return name
    short = [path for path in DECLARED if path.partition(".")[2] == name]
    if len(short) > 1:
        raise UnitError(f"{name!r} stands for several fields", nearest(name, short))
    return short[0] if short else None
