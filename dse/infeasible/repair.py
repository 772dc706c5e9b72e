"""What would make an infeasible study feasible: the least change of each bound and field.

Found over the whole space, in blocks, or by composed searches.  Every repair that is told has
been tried: the study with that one change has the design that is named.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from dse import search
from dse.algebra import thresholds as bounds
from dse.algebra import units
from dse.algebra.thresholds import ConstraintThreshold
from dse.errors import DseError, TooLargeError
from dse.infeasible import least_change, loosen
from dse.infeasible.conflicts import any_design
from dse.infeasible.loosen import Field
from dse.model import tables
from dse.model.graph import argument_names
from dse.model.preference import prefer
from dse.model.problem import Problem
from dse.model.space import Index
from dse.study import study
from dse.study.fields import Unit, unit_of
from dse.study.record_columns import neutral
from dse.study.scenario import field_path
from dse.study.schema import SECTIONS
from dse.study.study import Study


@dataclass(frozen=True)
class Repair:
    """One change that makes a study feasible.

    Attributes
    ----------
    constraints
        What it relaxes, in words.
    path, written
        What to set, and to what: the arguments of ``--set``.
    name
        Names what is changed; its suffix is the unit.
    today, value
        The number now (of the design named) and the nearest one that admits a design, in SI.
    design
        The design that it admits: of several, the one preferred.
    limit
        What limits that design, by the study's labelled quantity.
    missed
        What the design misses when the change is 0.1 % short.
    """

    constraints: tuple[str, ...]
    path: str
    written: str
    name: str
    today: float
    value: float
    design: str
    limit: str
    missed: tuple[str, ...]

    @property
    def relative(self) -> float:
        """By how much the number changes, relative to today's; infinite from 0."""
        return abs(self.value - self.today) / abs(self.today) if self.today else math.inf

    @property
    def is_constraint(self) -> bool:
        """Whether a constraint of the study changes, not a field."""
        return self.path.startswith("constraints.")

    def plain(self) -> dict[str, Any]:
        """Return plain data, for JSON."""
        unit = units.suffix(self.name)
        suffix = f"_{unit}" if unit else ""
        return {
            "constraints": list(self.constraints),
            "set": self.path,
            "to": self.written,
            f"today{suffix}": self.today,
            f"value{suffix}": self.value,
            "relative": self.relative,
            "design": self.design,
            "limit": self.limit,
            "missed_short_of_it": list(self.missed),
        }


STAGE_FIELDS = frozenset({"workload_rate_bit_per_s", "workload_streams"})
"""Fields that decide what fleets are and carry; others act through what takes them."""

SHORT = 1e-3
"""How far short of a repair it is told what is still missed."""


def repairs(infeasible: Study, *, composed: bool = False) -> tuple[Repair, ...]:
    """Return the repairs of a study that no design meets, the least relative change first.

    `composed`: found by composed searches, not by trying every design.
    """
    found = [*_of_fields(infeasible, composed), *_of_bounds(infeasible, composed)]
    return tuple(sorted(found, key=lambda repair: (repair.relative, repair.path)))


def _of_bounds(infeasible: Study, composed: bool) -> Iterator[Repair]:
    problem = infeasible.problem
    first = len(problem.constraint_names) - len(problem.constraints)
    named = {
        first + position: bounds.thresholds_of(constraint.expression)
        for position, constraint in enumerate(problem.constraints)
    }
    find = least_change.bound_values_composed if composed else loosen.bound_values
    values = find(problem, named)
    for (position, number), value in sorted(values.items()):
        bound = named[position][number]
        text = problem.constraint_names[position]
        path = f"constraints.{position - first}"
        for shown in _bound_texts(bound, value):
            written = bound.text(shown)
            solved = _solved(infeasible, path, _as_yaml(written))
            if solved is not None:
                told = units.parse(shown, bound.name)
                today = bound.value
                yield _repair(solved, (text,), path, written, bound.name, today, told, (text,))
                break


def _bound_texts(bound: ConstraintThreshold, value: float) -> list[str]:
    if bound.up and bound.down:
        return [units.exact(value, bound.name)]
    up = value > bound.value
    return bounds.candidates(value, bound.name, up=up, beyond=bound.strict)


def _of_fields(infeasible: Study, composed: bool) -> Iterator[Repair]:
    problem = infeasible.problem
    for field, rules in _fields(problem).items():
        value = (least_change.nearest_composed if composed else loosen.nearest_feasible)(
            problem, field
        )
        if value is not None and (repair := _confirmed(infeasible, field, rules, value)):
            yield repair


def _fields(problem: Problem) -> dict[Field, tuple[str, ...]]:
    """Return the fields that may relax a requirement, with the rules of those they relax."""
    found: dict[Field, tuple[str, ...]] = {}
    used = STAGE_FIELDS.union(*(step.arguments for step in problem.graph.steps))
    used |= {
        name
        for requirement in problem.bound_requirements
        for name in sum(argument_names(requirement), ())
    }
    for requirement in problem.bound_requirements:
        named = [(name, False) for name in requirement.relaxed_by_less]
        named += [(name, True) for name in requirement.relaxed_by_more]
        for column, more in named:
            section, _, name = field_path(column).partition(".")
            model = SECTIONS.get(section)
            unit = unit_of(model, name) if model and name in model.model_fields else None
            if unit is not None and column in used and _alone(problem, unit, column):
                field = Field(f"{section}.{name}", column, unit, more)
                found[field] = (*found.get(field, ()), requirement.rule)
    return found


def _alone(problem: Problem, unit: Unit, column: str) -> bool:
    """Tell whether a column is all that sets its field: not, say, also a latency per byte."""
    plain = neutral(unit)
    given = [problem.space.constants, *(axis.columns for axis in problem.space.axes)]
    return column in unit.columns and not any(
        np.any(columns[name] != plain[name])
        for columns in given
        for name in plain.keys() & columns
        if name != column
    )


def _confirmed(
    infeasible: Study, field: Field, rules: tuple[str, ...], value: float
) -> Repair | None:
    """Return the repair by `value`, or by the nearest value further on that is one.

    A demanded rate also sets how many instances are tried, so the study may need a little more.
    """
    found = _first_solved(infeasible, field, value)
    if found is None:
        further = _further(infeasible, field, value)
        found = None if further is None else _first_solved(infeasible, field, further)
        if found is None:
            return None
    text, solved = found
    told = units.parse(text, field.column)
    repaired, index = solved
    short = field.columns(field.moved(told, -SHORT))
    missed = repaired.problem.evaluate(index, short).violation[0] > 0
    names = repaired.problem.constraint_names
    left = tuple(name for name, still in zip(names, missed.tolist(), strict=True) if still)
    today = _today(infeasible.problem, field, solved)
    return _repair(solved, rules, field.path, text, field.column, today, told, left)


def _first_solved(
    infeasible: Study, field: Field, value: float
) -> tuple[str, tuple[Study, Index]] | None:
    """Return the shortest text of a value that admits a design, and what it admits."""
    for text in _field_texts(field, value):
        solved = _solved(infeasible, field.path, text)
        if solved is not None:
            return text, solved
    return None


def _field_texts(field: Field, value: float) -> list[str]:
    return bounds.candidates(value, field.column, up=field.more, whole=field.unit.integer)


def _further(infeasible: Study, field: Field, value: float) -> float | None:
    """Return the nearest looser value with which the study itself has a design, to 0.01 %."""
    near, far = value, None
    for doubling in range(14):
        further = field.moved(value, SHORT * 2**doubling)
        if _has_design(infeasible, field, further):
            far = further
            break
        near = further
    while far is not None and abs(far - near) > 1e-4 * abs(far):
        middle = (near + far) / 2
        if field.unit.integer:
            middle = float(math.floor(middle))
        if middle in (near, far):
            break
        if _has_design(infeasible, field, middle):
            far = middle
        else:
            near = middle
    return far


def _has_design(infeasible: Study, field: Field, value: float) -> bool:
    changed = _changed(infeasible, field.path, _field_texts(field, value)[-1])
    with suppress(TooLargeError):
        return changed is not None and any_design(changed.problem) is not None
    return False


def _changed(infeasible: Study, path: str, text: str) -> Study | None:
    """Return the study with one field or constraint replaced, None when that is a fault."""
    try:
        return study.prepare(study.override(infeasible.document, [(path, text)]))
    except DseError:
        return None


def _solved(infeasible: Study, path: str, text: str) -> tuple[Study, Index] | None:
    """Return the changed study and its preferred design (1, d), None when it has none."""
    changed = _changed(infeasible, path, text)
    if changed is None:
        return None
    try:
        outcome = search.run_search(changed.problem, search.SearchSettings(method="exact"))
    except TooLargeError:
        return None
    if not outcome.feasible:
        return None
    order = prefer(changed.problem).order(changed.problem, outcome.front_index)
    return changed, outcome.front_index[order[:1]]


def _repair(
    solved: tuple[Study, Index],
    rules: tuple[str, ...],
    path: str,
    written: str,
    name: str,
    today: float,
    value: float,
    missed: tuple[str, ...],
) -> Repair:
    problem, index = solved[0].problem, solved[1]
    category = tables.category(problem)
    rows = tables.design_table(problem, index)
    limit = str(rows[category][0]) if category is not None else ""
    design = tables.described(problem, index)[0]
    return Repair(rules, path, written, name, today, value, design, limit, missed)


def _today(problem: Problem, field: Field, solved: tuple[Study, Index]) -> float:
    """Return what the field is today for the design that a repair admits."""
    repaired, index = solved
    today = field.tightest(problem) or math.nan
    chosen = {
        axis.name: axis.labels[place]
        for axis, place in zip(repaired.problem.space.axes, index[0], strict=True)
    }
    for axis in problem.space.axes:
        if field.column not in axis.columns:
            continue
        if chosen.get(axis.name) in axis.labels:
            today = float(axis.columns[field.column][axis.labels.index(chosen[axis.name])])
        else:
            values = axis.columns[field.column]
            today = float(values.max() if field.more else values.min())
    return today


def _as_yaml(text: str) -> str:
    return json.dumps(text) if text[0] in "'\"[{&*!|>%@`-" else text
