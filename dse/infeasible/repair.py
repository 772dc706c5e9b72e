"""What would make an infeasible study feasible: the least change of each threshold and field.

Found over the whole space, in blocks, or by composed searches.  Every repair has been tried: the
study with that one change has the design that is named.
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
from dse.algebra import thresholds, units
from dse.algebra.thresholds import ConstraintThreshold
from dse.errors import DseError, TooLargeError
from dse.infeasible import loosen, loosen_composed
from dse.infeasible.conflicts import any_design
from dse.infeasible.loosen import Field
from dse.model import tables
from dse.model.graph import argument_names
from dse.model.problem import Problem
from dse.model.space import Index
from dse.reports.designs import described
from dse.reports.words import relative_change, unit_suffix
from dse.study import study
from dse.study.fields import Unit
from dse.study.overrides import override
from dse.study.record_columns import neutral
from dse.study.scenario import field_path
from dse.study.schema import FIELDS
from dse.study.study import Study


@dataclass(frozen=True, kw_only=True)
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
    nominal, value
        The number now (of the design named) and the nearest one that admits a design, in SI.
    design
        The design that it admits: of several, the one preferred.
    limit
        What limits that design, by the study's labelled quantity.
    violated
        What the design violates when the change is 0.1 % short.
    """

    constraints: tuple[str, ...]
    path: str
    written: str
    name: str
    nominal: float
    value: float
    design: str
    limit: str
    violated: tuple[str, ...]

    @property
    def relative(self) -> float:
        """By how much the number changes, relative to the nominal one; infinite from 0."""
        change = relative_change(self.value, self.nominal)
        return math.inf if change is None else abs(change)

    @property
    def is_constraint(self) -> bool:
        """Whether a constraint of the study changes, not a field."""
        return self.path.startswith("constraints.")

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON."""
        suffix = unit_suffix(self.name)
        return {
            "constraints": list(self.constraints),
            "set": self.path,
            "to": self.written,
            f"nominal{suffix}": self.nominal,
            f"value{suffix}": self.value,
            "relative": self.relative,
            "design": self.design,
            "limit": self.limit,
            "violated_short_of_it": list(self.violated),
        }


STAGE_FIELDS = frozenset({"workload_rate_bit_per_s", "workload_streams"})
"""Fields that decide what fleets are and carry; others act through what takes them."""

SHORT = 1e-3
"""How far short of a repair it is said what is still violated."""


def repairs_of(infeasible: Study, *, composed: bool = False) -> tuple[Repair, ...]:
    """Return the repairs of a study that no design meets, the least relative change first.

    `composed`: found by composed searches, not by trying every design.
    """
    found = [*_of_fields(infeasible, composed), *_of_thresholds(infeasible, composed)]
    return tuple(sorted(found, key=lambda repair: (repair.relative, repair.path)))


def _of_thresholds(infeasible: Study, composed: bool) -> Iterator[Repair]:
    problem = infeasible.problem
    first = len(problem.constraint_names) - len(problem.constraints)
    named = {
        first + number: thresholds.thresholds_of(constraint.expression)
        for number, constraint in enumerate(problem.constraints)
    }
    find = loosen_composed.threshold_values_composed if composed else loosen.threshold_values
    for (rule, number), value in sorted(find(problem, named).items()):
        threshold = named[rule][number]
        text = problem.constraint_names[rule]
        path = f"constraints.{rule - first}"
        for shown in _threshold_texts(threshold, value):
            written = threshold.text(shown)
            solved = _solved(infeasible, path, _as_yaml(written))
            if solved is not None:
                yield _repair(
                    solved,
                    constraints=(text,),
                    path=path,
                    written=written,
                    name=threshold.name,
                    nominal=threshold.value,
                    value=units.parse(shown, threshold.name),
                    violated=(text,),
                )
                break


def _threshold_texts(threshold: ConstraintThreshold, value: float) -> list[str]:
    if threshold.up and threshold.down:
        return [units.exact_text(value, threshold.name)]
    up = value > threshold.value
    return thresholds.candidates(value, threshold.name, up=up, beyond=threshold.strict)


def _of_fields(infeasible: Study, composed: bool) -> Iterator[Repair]:
    find = loosen_composed.nearest_composed if composed else loosen.nearest_feasible
    for field, rules in _fields(infeasible.problem).items():
        value = find(infeasible.problem, field)
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
            path = field_path(column)
            unit = FIELDS.get(path)
            if unit is not None and column in used and _alone(problem, unit, column):
                field = Field(path, column, unit, more)
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
    parsed = units.parse(text, field.column)
    repaired, index = solved
    short = field.columns(field.moved(parsed, -SHORT))
    violated = repaired.problem.evaluate(index, short).violation[0] > 0
    names = np.array(repaired.problem.constraint_names, dtype=object)[violated]
    return _repair(
        solved,
        constraints=rules,
        path=field.path,
        written=text,
        name=field.column,
        nominal=_nominal(infeasible.problem, field, solved),
        value=parsed,
        violated=tuple(names),
    )


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
    return thresholds.candidates(value, field.column, up=field.more, whole=field.unit.integer)


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
        return study.prepare(override(infeasible.document, [(path, text)]))
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
    order = changed.preference.order(changed.problem, outcome.front_index)
    return changed, outcome.front_index[order[:1]]


def _repair(solved: tuple[Study, Index], **fields: Any) -> Repair:
    """Return a repair with the design that it admits, and what limits that."""
    problem, index = solved[0].problem, solved[1]
    category = tables.category(problem)
    limit = str(tables.design_table(problem, index)[category][0]) if category is not None else ""
    return Repair(design=described(problem, index)[0], limit=limit, **fields)


def _nominal(problem: Problem, field: Field, solved: tuple[Study, Index]) -> float:
    """Return what the field is in the study, for the design that a repair admits."""
    repaired, index = solved
    nominal = field.tightest(problem) or math.nan
    chosen = {
        axis.name: axis.labels[choice]
        for axis, choice in zip(repaired.problem.space.axes, index[0], strict=True)
    }
    for axis in problem.space.axes:
        if field.column not in axis.columns:
            continue
        if chosen.get(axis.name) in axis.labels:
            nominal = float(axis.columns[field.column][axis.labels.index(chosen[axis.name])])
        else:
            values = axis.columns[field.column]
            nominal = float(values.max() if field.more else values.min())
    return nominal


def _as_yaml(text: str) -> str:
    return json.dumps(text) if text[0] in "'\"[{&*!|>%@`-" else text
