"""What would make an infeasible study feasible: the least change of each threshold and field.

Found over the whole space, in blocks, or by composed searches.  Every repair has been tried: the
study with that one change has the design that is named.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from contextlib import suppress

import numpy as np

from dse.algebra import thresholds, units
from dse.algebra.thresholds import ConstraintThreshold
from dse.errors import TooLargeError
from dse.model.graph import argument_names
from dse.model.problem import Problem
from dse.parametric import loosen, loosen_composed
from dse.parametric.attempt import Attempts, Solved, admitted, changed_study, solve
from dse.parametric.change import NumberRepair, Override
from dse.parametric.conflicts import any_design
from dse.parametric.loosen import Field
from dse.parametric.written import is_free, is_owned
from dse.study.demand import RATE, TASKS, followers
from dse.study.fields import Unit
from dse.study.scenario import field_path
from dse.study.sections import FIELDS, neutral
from dse.study.study import Study

STAGE_FIELDS = frozenset({"workload_rate_bit_per_s", "workload_streams"})
"""Fields that decide what fleets are and carry; others act through what takes them."""

SHORT = 1e-3
"""How far short of a repair it is said what is still violated."""


def repairs_of(attempts: Attempts) -> tuple[NumberRepair, ...]:
    """Return the numbers of a study that would admit a design, the least change first."""
    found = [*_of_fields(attempts), *_of_thresholds(attempts)]
    return tuple(sorted(found, key=lambda repair: repair.order))


def _of_thresholds(attempts: Attempts) -> Iterator[NumberRepair]:
    infeasible, problem = attempts.infeasible, attempts.infeasible.problem
    first = len(problem.constraint_names) - len(problem.constraints)
    named = {
        first + number: thresholds.thresholds_of(constraint.expression)
        for number, constraint in enumerate(problem.constraints)
    }
    composed = loosen_composed.threshold_values_composed
    find = composed if attempts.composed else loosen.threshold_values
    for (rule, number), value in sorted(find(problem, named).items()):
        threshold = named[rule][number]
        text = problem.constraint_names[rule]
        path = f"constraints.{rule - first}"
        for shown in _threshold_texts(threshold, value):
            written = threshold.text(shown)
            override = (path, as_yaml(written))
            solved = _solved(infeasible, [override])
            if solved is not None:
                yield NumberRepair(
                    overrides=(override,),
                    constraints=(text,),
                    written=written,
                    name=threshold.name,
                    nominal=threshold.value,
                    value=units.parse(shown, threshold.name),
                    violated=(text,),
                    **admitted(solved),
                )
                break


def _threshold_texts(threshold: ConstraintThreshold, value: float) -> list[str]:
    if threshold.up and threshold.down:
        return [units.exact_text(value, threshold.name)]
    up = value > threshold.value
    return thresholds.candidates(value, threshold.name, up=up, beyond=threshold.strict)


def _of_fields(attempts: Attempts) -> Iterator[NumberRepair]:
    for field, rules in _fields(attempts.infeasible).items():
        repair = field_repair(attempts, attempts.infeasible, field, rules)
        if repair is not None:
            yield repair


def field_repair(
    attempts: Attempts, base: Study, field: Field, rules: tuple[str, ...] = ()
) -> NumberRepair | None:
    """Return the repair by the value of a field nearest to that of `base`, None without one.

    `rules` are the requirements that it relaxes.
    """
    with attempts.trying(field.path):
        if attempts.composed:
            found = loosen_composed.nearest_composed(base, field)
            return None if found is None else _confirmed(base, field, rules, *found)
        value = loosen.nearest_feasible(base.problem, field)
        return None if value is None else _confirmed(base, field, rules, value)
    return None


def _fields(infeasible: Study) -> dict[Field, tuple[str, ...]]:
    """Return the fields that may admit a design, with the rules of requirements they relax.

    Where the study has constraints of its own, what is free to choose may help either way.
    """
    problem = infeasible.problem
    found: dict[Field, tuple[str, ...]] = {}
    used = STAGE_FIELDS.union(*(step.arguments for step in problem.graph.steps))
    used |= {
        name
        for requirement in problem.bound_requirements
        for name in sum(argument_names(requirement), ())
    }
    wanted = [
        (column, more, requirement.rule)
        for requirement in problem.bound_requirements
        for more, columns in (
            (False, requirement.relaxed_by_less),
            (True, requirement.relaxed_by_more),
        )
        for column in columns
    ]
    free = sorted(column for column in used if is_free(field_path(column)))
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
    infeasible: Study, field: Field, rules: tuple[str, ...], value: float, least: bool = True
) -> NumberRepair | None:
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
    return NumberRepair(
        overrides=field.overrides(text),
        constraints=rules,
        written=text,
        name=field.column,
        nominal=_nominal(infeasible.problem, field, solved),
        value=parsed,
        violated=tuple(names) if least else (),
        least=least,
        **admitted(solved),
    )


def _first_solved(infeasible: Study, field: Field, value: float) -> tuple[str, Solved] | None:
    """Return the shortest text of a value that admits a design, and what it admits."""
    now = field.tightest(infeasible.problem)
    counted = field.unit.counts and now is not None and now.is_integer()
    for text in _field_texts(field, value, whole=counted):
        solved = _solved(infeasible, field.overrides(text))
        if solved is not None:
            return text, solved
    return None


def _field_texts(field: Field, value: float, *, whole: bool = False) -> list[str]:
    whole = whole or field.unit.integer
    return thresholds.candidates(value, field.column, up=field.more, whole=whole)


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
    changed = changed_study(infeasible, field.overrides(_field_texts(field, value)[-1]))
    with suppress(TooLargeError):
        return changed is not None and any_design(changed.problem) is not None
    return False


def _solved(infeasible: Study, overrides: Sequence[Override]) -> Solved | None:
    try:
        return solve(infeasible, overrides)
    except TooLargeError:
        return None


def _nominal(problem: Problem, field: Field, solved: Solved) -> float:
    """Return what the field is in the study, for the design that a repair admits."""
    repaired, index = solved
    nominal = field.tightest(problem) or math.nan
    chosen = {
        axis.name: axis.labels[choice]
        for axis, choice in zip(repaired.problem.space.axes, index[0], strict=True)
        if choice >= 0
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


def as_yaml(text: str) -> str:
    """Return a text as YAML writes it."""
    return json.dumps(text) if text[0] in "'\"[{&*!|>%@`-" else text
