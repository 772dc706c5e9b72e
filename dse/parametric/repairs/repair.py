"""The least change of each field and bound that makes an infeasible study feasible.

Every repair has been tried: the study with that one change has the design that is named.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np

from dse.algebra import thresholds, units
from dse.algebra.thresholds import ConstraintThreshold
from dse.errors import TooLargeError
from dse.model.graph import argument_names
from dse.model.problem import Problem
from dse.parametric.repairs.attempt import Attempts, Solved, admitted, changed_study, solve
from dse.parametric.repairs.change import NUMBER, Override, Repair, number_words, size_of
from dse.parametric.repairs.loosen import Field, nearest_bound, nearest_feasible
from dse.parametric.scale import LogScale
from dse.search.conflicts import any_design
from dse.study.demand import RATE, TASKS, followers
from dse.study.field_kinds import Unit, neutral
from dse.study.scenario import field_path
from dse.study.study import Study
from dse.study.workload_interface_budget import FIELDS, FREE
from dse.study.written import is_owned

STAGE_FIELDS = frozenset({RATE, "workload_streams"})
"""Fields that decide what fleets are and carry; others act through what takes them."""

SHORT = 1e-3
"""How far short of a repair it is said what is still violated."""

FURTHER = (
    *(SHORT * 2**doubling for doubling in range(7)),
    *(1.1**step - 1 for step in range(1, 31)),
)
"""How much further on the study itself is tried, dense enough for what fits for a while only."""


def repairs_of(attempts: Attempts) -> list[Repair]:
    """Return the numbers of a study that would admit a design: of constraints, then fields."""
    infeasible = attempts.infeasible
    found = [
        _bound_repair(attempts, place, threshold)
        for place, constraint in enumerate(infeasible.problem.constraints)
        for threshold in thresholds.thresholds_of(constraint)
    ]
    for field, rules in _fields(infeasible).items():
        found.append(field_repair(attempts, infeasible, field, rules))
    return [repair for repair in found if repair is not None]


def _bound_repair(attempts: Attempts, place: int, threshold: ConstraintThreshold) -> Repair | None:
    infeasible, name = attempts.infeasible, threshold.name
    rule = infeasible.problem.constraints[place].text

    def override(text: str) -> tuple[Override, ...]:
        return ((f"constraints.{place}", as_yaml(threshold.text(text))),)

    with attempts.trying(f"another bound of {rule}"):
        found = nearest_bound(infeasible.problem, place, threshold)
        texts = [] if found is None else _bound_texts(threshold, found[0])
        first = _first_solved(infeasible, texts, override)
        if found is None or first is None:
            return None
        text, solved = first
        new, written = units.parse(text, name), threshold.text(text)
        repair = _number(override(text), written, name, threshold.value, new, solved)
        return replace(repair, constraints=(rule,), violated=(rule,), least=found[1])
    return None


def _bound_texts(threshold: ConstraintThreshold, value: float) -> list[str]:
    if threshold.up and threshold.down:
        return [units.exact_text(value, threshold.name)]
    up = value > threshold.value
    return thresholds.candidates(value, threshold.name, up=up, beyond=threshold.strict)


def _first_solved(
    base: Study, texts: Sequence[str], overrides: Callable[[str], tuple[Override, ...]]
) -> tuple[str, Solved] | None:
    """Return the first text of a number with which a study has a design, and what it admits."""
    for text in texts:
        with suppress(TooLargeError):
            solved = solve(base, overrides(text))
            if solved is not None:
                return text, solved
    return None


def _number(
    overrides: tuple[Override, ...],
    written: str,
    name: str,
    nominal: float,
    value: float,
    solved: Solved,
) -> Repair:
    return Repair(
        overrides=overrides,
        written=written,
        what=number_words(overrides[0][0], written, name, nominal, value),
        rank=NUMBER,
        size=size_of(value, nominal),
        name=name,
        nominal=nominal,
        value=value,
        **admitted(solved),
    )


def field_repair(
    attempts: Attempts, base: Study, field: Field, rules: tuple[str, ...] = ()
) -> Repair | None:
    """Return the repair by the value of a field nearest to that of `base`, None without one.

    `rules` are the requirements that it relaxes.
    """
    with attempts.trying(field.path):
        found = nearest_feasible(base, field, composed=attempts.composed)
        return None if found is None else _confirmed(base, field, rules, *found)
    return None


def _fields(infeasible: Study) -> dict[Field, tuple[str, ...]]:
    """Return the fields that may admit a design, with the rules of requirements they relax.

    Where the study has constraints of its own, what is free to choose may help either way.
    """
    problem = infeasible.problem
    found: dict[Field, tuple[str, ...]] = {}
    used = STAGE_FIELDS.union(*(step.arguments for step in problem.graph.steps))
    wanted: list[tuple[str, bool, str]] = []
    for requirement in problem.bound_requirements:
        used |= set(sum(argument_names(requirement), ()))
        wanted += [(column, False, requirement.rule) for column in requirement.relaxed_by_less]
        wanted += [(column, True, requirement.rule) for column in requirement.relaxed_by_more]
    free = sorted(column for column in used if field_path(column) in FREE)
    wanted += [(column, more, "") for column in free for more in (False, True)]
    demands_tasks = TASKS in problem.space.constants
    for named, more, rule in wanted:
        column = TASKS if named == RATE and demands_tasks else named
        path = field_path(column)
        unit = FIELDS.get(path)
        if unit is None or named not in used or not is_owned(infeasible.document, path):
            continue
        if _alone(problem, unit, column):
            follows = tuple(followers(problem, column).items())
            field = Field(path, column, unit, more, follows=follows)
            found[field] = (*found.get(field, ()), *filter(None, [rule]))
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
    infeasible: Study, field: Field, rules: tuple[str, ...], value: float, least: bool
) -> Repair | None:
    """Return the repair by `value`, or by the nearest value further on that is one.

    A demanded rate also sets how many instances are tried, so the study may need a little more.
    """
    found = _at(infeasible, field, value)
    if found is None:
        further = _further(infeasible, field, value)
        found = None if further is None else _at(infeasible, field, further)
        if found is None:
            return None
    text, solved = found
    parsed = units.parse(text, field.column)
    repaired, index = solved
    short = field.columns(field.moved(parsed, -SHORT))
    violated = repaired.problem.evaluate(index, short).violation[0] > 0
    names = np.array(repaired.problem.constraint_names, dtype=object)[violated]
    nominal = _nominal(infeasible.problem, field, parsed, solved)
    return replace(
        _number(field.overrides(text), text, field.column, nominal, parsed, solved),
        constraints=rules,
        violated=tuple(names) if least else (),
        least=least,
    )


def _at(infeasible: Study, field: Field, value: float) -> tuple[str, Solved] | None:
    """Return the shortest text of a value that admits a design, and what it admits."""
    now = field.tightest(infeasible.problem)
    counted = field.unit.counts and now is not None and now.is_integer()
    return _first_solved(infeasible, _field_texts(field, value, whole=counted), field.overrides)


def _field_texts(field: Field, value: float, *, whole: bool = False) -> list[str]:
    whole = whole or field.unit.integer
    return thresholds.candidates(value, field.column, up=field.more, whole=whole)


def _further(infeasible: Study, field: Field, value: float) -> float | None:
    """Return the nearest looser value with which the study itself has a design, to 0.01 %."""

    def has_design(value: float) -> bool:
        changed = changed_study(infeasible, field.overrides(_field_texts(field, value)[-1]))
        with suppress(TooLargeError):
            return changed is not None and any_design(changed.problem) is not None
        return False

    near = value
    for far in (field.moved(value, share) for share in FURTHER):
        if has_design(far):
            return LogScale(field.unit.integer).bisected(far, near, 1e-4, has_design)[0]
        near = far
    return None


def _nominal(problem: Problem, field: Field, value: float, solved: Solved) -> float:
    """Return what the field is in the study, for the design that a repair by `value` admits."""
    repaired, index = solved
    nominal = field.tightest(problem) or math.nan
    chosen = {
        axis.name: axis.labels[choice]
        for axis, choice in zip(repaired.problem.space.axes, index[0], strict=True)
        if choice >= 0
    }
    for axis in problem.space.axes:
        values = axis.columns.get(field.column)
        if values is None:
            continue
        if chosen.get(axis.name) in axis.labels:
            nominal = float(values[axis.labels.index(chosen[axis.name])])
        else:
            near = values[values <= value if field.more else values >= value]
            near = near if len(near) else values
            nominal = float(near.max() if field.more else near.min())
    return nominal


def as_yaml(text: str) -> str:
    """Return a text as YAML writes it."""
    return json.dumps(text) if text[0] in "'\"[{&*!|>%@`-" else text
