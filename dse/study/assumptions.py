"""Numbers that a study assumes, by name, with evidence, and the problem with another value of one.

An assumption is a scalar that no search chooses: a field with one value, a value of a record of a
catalogue, the bound of a constraint, or a metric of a design.  An axis is a choice and no
assumption, but the values that its records set are, one for each record.  The single value of an
axis of measurements is none either, since designs between its values are unknown.

Evidence is one word.  It is the word of a core, or of a value of a record that has one.  Otherwise
it is `given` by the study, `assumed` by a record, a `default` of the program, `published`, or
`unstated`.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from dse import contract
from dse.algebra import units
from dse.algebra.compared_numbers import compared, with_number
from dse.contract import SIZE, Column
from dse.errors import UnitError, nearest
from dse.model.designs import AREAS, POWERS
from dse.model.mixed import PAYLOAD_OFFLOADED, TASKS_OFFLOADED
from dse.model.problem import Problem
from dse.model.space import Axis, Index, Space, constant
from dse.model.tables import is_choice_of_scenario
from dse.study import schema
from dse.study.demand import DEVICE, OFFERED, RATE, followers
from dse.study.overrides import is_written
from dse.study.scenario import field_path
from dse.study.schema import PATHS, declared_neutral, owners_of
from dse.study.stages import CLOCK, mixed_axes
from dse.study.study import Study

METRICS = (*AREAS, *POWERS, CLOCK)
"""Assumed metrics of each design.  Its payload and its cycles define it."""

MOST_RECORDS = 200
"""Number of choices above which an axis is a table of designs."""

OFFLOADED = ("workload_offload_above_byte", TASKS_OFFLOADED, PAYLOAD_OFFLOADED)
"""Columns set by a policy, which moves sizes from the host to accelerators one by one: a choice."""


@dataclass(frozen=True)
class Assumption:
    """One scalar of a study.

    Attributes
    ----------
    name
        Dotted path in the study.  ``<record>.<field>`` if a record of an axis sets it,
        ``<stage>.<design>.<metric>`` of a design, the constraint itself for its bound.
    quantity
        A name whose suffix is the unit.
    value
        Present value in SI.
    integer
        True if only whole numbers make sense.
    problem
        The study's problem.
    touched
        An axis and its position, if only designs there depend on the value.
    metric
        A stage and the position of one of its designs, if it is a metric of that design.
    bound
        A constraint and the place of a number in it, if it is that number.
    follows
        Columns that its value sets as well, each a multiple of it.
    growing
        Stages that have as many instances to choose from as the value needs.
    among
        The only values that make sense, in order, or empty for all.
    """

    name: str
    quantity: str
    value: float
    integer: bool
    problem: Problem
    touched: tuple[int, int] | None = None
    metric: tuple[int, int] | None = None
    bound: tuple[int, int] | None = None
    follows: Mapping[str, float] = field(default_factory=dict)
    growing: frozenset[str] = frozenset()
    among: tuple[float, ...] = ()

    def at(self, value: float) -> Problem:
        """Return the problem with the scalar at `value`, in SI."""
        problem = self.problem
        if self.bound is not None:
            place, order = self.bound
            constraints = list(problem.constraints)
            constraints[place] = with_number(constraints[place], order, value)
            return replace(problem, constraints=tuple(constraints))
        if self.metric is not None:
            place, row = self.metric
            stages = list(problem.stages)
            values = getattr(stages[place].designs.metrics, self.quantity).copy()
            values[row] = value
            stages[place] = stages[place].with_metrics(**{self.quantity: values})
            return regrown(problem.renumbered(stages=tuple(stages)), self.growing)
        space = _set(problem.space, self.quantity, value, self.touched)
        for other, factor in self.follows.items():
            space = _set(space, other, factor * value)
        return regrown(problem.renumbered(space=space), self.growing)

    def concerns(self, rows: Index) -> bool:
        """Return whether some of the designs (n, d) depend on it, judged by their choices."""
        axes = self.problem.space.axes
        if self.touched is not None:
            axis, row = self.touched
            return bool((rows[:, axis] == row).any())
        if self.metric is not None:
            stage = self.problem.stages[self.metric[0]]
            name = f"{stage.name}.{stage.designs.names[self.metric[1]]}"
            return any(
                bool((axis.columns[name][rows[:, number]] > 0).any())
                for number, axis in enumerate(axes)
                if name in axis.columns
            )
        return True

    def show(self, value: float) -> str:
        """Return a value with its unit."""
        return units.show(value, self.quantity)


def assumptions_of(
    study: Study, *, zero: bool = False, designs: bool = True, of: Index | None = None
) -> tuple[Assumption, ...]:
    """Return the assumptions of a prepared study: its fields, records, designs and constraints.

    Scalars that are zero, infinite or unknown are no assumptions, since a percentage of them is
    meaningless.  With `zero`, bounds of constraints at zero are assumptions.  Assumptions of
    designs may be omitted.  For an axis with more than `MOST_RECORDS` choices, only the choices of
    the designs `of` (n, d) are assumptions, if given, because each row of such a table is one
    design.
    """
    problem, growing = study.problem, study.growing
    known = (*_fields(problem, growing), *_records(problem, of))
    found = (*known, *_bounds(problem), *(_designs(problem, growing, of) if designs else ()))
    usable = [
        assumption
        for assumption in found
        if math.isfinite(assumption.value)
        and (assumption.value != 0.0 or (zero and assumption.bound is not None))
    ]
    names = Counter(assumption.name for assumption in usable)
    return tuple(
        replace(entry, name=f"{entry.name}_{units.suffix(entry.quantity)}")
        if names[entry.name] > 1
        else entry
        for entry in usable
    )


def choose_assumptions(assumptions: tuple[Assumption, ...], wanted: str) -> tuple[Assumption, ...]:
    """Return the assumptions called `wanted`, or whose dotted name begins or ends with it.

    Raises
    ------
    UnitError
        There is none.
    """
    exact = tuple(entry for entry in assumptions if entry.name == wanted)
    part = tuple(entry for entry in assumptions if f".{wanted}." in f".{entry.name}.")
    if not exact and not part:
        names = [entry.name for entry in assumptions]
        short = {name.rpartition(".")[2] for name in names}
        raise UnitError(
            f"the study has no assumption named {wanted!r}", nearest(wanted, {*names, *short})
        )
    return exact or part


def _fields(problem: Problem, growing: frozenset[str]) -> Iterator[Assumption]:
    """Yield columns with one value for all designs, from the study or from a record."""
    constants, grown = problem.space.constants, {RATE, PAYLOAD_OFFLOADED, SIZE}
    none = {*schema.CHOICES, *OFFLOADED}.union(*(axis.columns for axis in problem.space.axes))
    if OFFERED in constants:
        none.add(RATE)  # it follows
    values = {column: one for column, one in constants.items() if column not in none}
    for _, axis in modelled_axes(problem):
        column = axis.unit_name
        if axis.size == 1 and column in {*axis.columns} - {*OFFLOADED}:  # an unused field has none
            values[column] = axis.columns[column]
    for column, (value,) in values.items():
        follows = followers(problem, column)
        grows = {column, *follows} & grown or column.endswith(".clock")
        found = _of_column(column_path(column), column, float(value), problem)
        yield replace(found, follows=follows, growing=growing if grows else frozenset())


def modelled_axes(problem: Problem) -> Iterator[tuple[int, Axis]]:
    """Yield axes of the scenario that models know, each with its place, except measured axes."""
    measured = () if problem.measured is None else problem.measured.axes
    for place, axis in enumerate(problem.space.axes):
        if place not in measured and is_choice_of_scenario(problem, axis):
            yield place, axis


def _set(space: Space, column: str, value: float, touched: tuple[int, int] | None = None) -> Space:
    """Return a space with a column at one value, for all designs or for one choice of an axis."""
    axes = list(space.axes)
    for place, axis in enumerate(axes):
        if column in axis.columns and (touched is None or touched[0] == place):
            values = np.array(axis.columns[column])
            values[slice(None) if touched is None else touched[1]] = value
            axes[place] = replace(axis, columns={**axis.columns, column: values})
    set_once = {column: constant(value)} if touched is None else {}
    return Space(tuple(axes), {**space.constants, **set_once})


def _records(problem: Problem, of: Index | None = None) -> Iterator[Assumption]:
    """Yield the values that each record of an axis sets, unless a later axis sets them again."""
    axes, choices = problem.space.axes, _choices(problem)
    for place, axis in modelled_axes(problem):
        if axis.unit_name:
            continue
        later = {name for other in axes[place + 1 :] for name in other.columns}
        own = {name: values for name, values in axis.columns.items() if name not in later}
        for row in _rows(axis.size, place, of):
            for column, values in own.items():
                if column in choices or _is_unused(own, row, column):
                    continue
                section, _, name = column_path(column).partition(".")
                name = f"{axis.labels[row]}.{name or units.stem(section) or section}"
                found = _of_column(name, column, float(values[row]), problem)
                yield replace(found, touched=(place, row))


def _rows(size: int, place: int | None, of: Index | None) -> Iterable[int]:
    """Return the choices that are assumptions, only the ones of designs if there are many."""
    if of is None or place is None or size <= MOST_RECORDS:
        return range(size)
    return [int(row) for row in np.unique(of[of[:, place] >= 0, place])]


def _choices(problem: Problem) -> set[str]:
    """Return the columns that hold positions of names, which are no numbers."""
    known = problem.graph.quantities
    names = {name for axis in problem.space.axes for name in axis.columns if name in known}
    return {*schema.CHOICES, *(name for name in names if known[name].labels)}


def _is_unused(record: Mapping[str, Column], row: int, column: str) -> bool:
    """Return whether a record lacks everything to which a column belongs."""
    neutral = (n in record and record[n][row] == declared_neutral(n) for n in owners_of(column))
    return bool(owners_of(column)) and all(neutral)


def _designs(
    problem: Problem, growing: frozenset[str], of: Index | None = None
) -> Iterator[Assumption]:
    """Yield metrics of each design of each stage."""
    names = [axis.name for axis in problem.space.axes]
    for place, stage in enumerate(problem.stages):
        axis = f"{stage.name}.design"
        chosen = names.index(axis) if axis in names else None
        for row in _rows(len(stage.designs.names), chosen, of):
            design = stage.designs.names[row]
            for metric in METRICS:
                value = float(getattr(stage.designs.metrics, metric)[row])
                if metric == CLOCK and value == stage.most_hz:
                    continue  # the cap, and not the top clock
                name = f"{stage.name}.{design}.{units.stem(metric)}"
                counted = growing if metric == CLOCK else frozenset[str]()
                on_axis = None if chosen is None else (chosen, row)
                yield Assumption(
                    name, metric, value, False, problem, on_axis, (place, row), growing=counted
                )


def _bounds(problem: Problem) -> Iterator[Assumption]:
    """Yield numbers that a constraint of the study compares a quantity with."""
    capped = any(stage.most_hz < np.inf for stage in problem.stages)
    for place, constraint in enumerate(problem.constraints):
        numbers = list(compared(constraint.tree))
        for order, (_, number, quantity) in enumerate(numbers):
            if constraint.names == {CLOCK} and capped:
                continue  # designs are rated for it
            name = constraint.text if len(numbers) == 1 else f"{constraint.text} [{order + 1}]"
            yield Assumption(name, quantity, number, False, problem, bound=(place, order))


def regrown(problem: Problem, growing: Collection[str], times: float = 1.0) -> Problem:
    """Return the problem with as many instances to choose from as `times` the rate needs."""
    if not growing:
        return problem
    axes = problem.space.axes
    setters = (problem.space.constants, *(axis.columns for axis in axes))

    def highest(name: str) -> float:
        return max((float(given[name].max()) for given in setters if name in given), default=1.0)

    rate = highest(RATE) * highest(PAYLOAD_OFFLOADED) * times
    grown: dict[str, Axis] = {}
    for stage in problem.stages:
        if stage.name in growing:
            clock = [axis for axis in axes if axis.name == f"{stage.name}.clock"]
            designs = stage.least_filled(problem.space.values)
            counts = mixed_axes(stage.name, designs, None, rate, clock)
            grown.update({axis.name: axis for axis in counts})
    chosen = tuple(grown.get(axis.name, axis) for axis in axes)
    return problem.renumbered(space=Space(chosen, problem.space.constants))


def _of_column(name: str, column: str, value: float, problem: Problem) -> Assumption:
    """Return the assumption of a column, with only the values that its field allows."""
    unit = schema.FIELDS.get(field_path(column))
    if unit is None:
        return Assumption(name, column, value, False, problem)
    among = tuple(sorted({*unit.among, value})) if unit.among else ()
    return Assumption(name, column, value, unit.integer, problem, among=among)


def column_path(column: str) -> str:
    """Return the field that sets a column, or the words of a record's column that is no field."""
    section, _, rest = column.partition("_")
    if column in PATHS or section not in (*schema.SECTIONS, "kernel"):
        return field_path(column)
    return f"{section}.{units.stem(rest)}"


GIVEN, ASSUMED, DEFAULT = "given", "assumed", "default"

MOST_ASSUMPTIONS = 2_000
"""Most numbers that are listed by source."""

_GRADE = re.compile(r"(?:^|\(|: )(measured|derived|spec|report)\b[^:]*: ")
"""Pattern of a source, or a remark in it, that states the origin of a value."""


def source_of(study: Study, entry: Any) -> tuple[str, str]:
    """Return the evidence behind an `Assumption` of a study, and the source of its value."""
    if entry.bound is not None:
        return GIVEN, "a constraint of the study"
    if entry.metric is None:
        return _source_of_column(study, entry.quantity, entry.touched[1] if entry.touched else 0)
    place, row = entry.metric
    stage = study.problem.stages[place]
    evidence, node, source = study.sureness.designs[stage.name][stage.designs.names[row]]
    text = source.partition("\n")[0]  # without the laws of a record
    new = study.document.stages[place].get("scale_to", node)
    if entry.quantity in AREAS and new != node:
        return "derived", f"{node}, scaled to {new}: {text}"
    return evidence or "unstated", f"{node}: {text}" if node else text


def _source_of_column(study: Study, column: str, row: int) -> tuple[str, str]:
    """Return the source of a column, at the row of a record if there is one."""
    document, path = study.document, field_path(column)
    kind = "" if "." in column else column.partition("_")[0]  # of a stage
    if column in PATHS and is_written(document, path):
        return GIVEN, "the study"
    if designs := document.data.get("designs"):
        return "unstated", f"the table {designs if isinstance(designs, str) else designs['table']}"
    if kind not in study.sureness.records:
        return (DEFAULT, "default of dse") if column in PATHS else (GIVEN, "the study")
    field = column.removeprefix(f"{kind}_").replace("power_cap", "usable_power")
    omitted = study.sureness.unspecified.get(row, ()) if kind == "interface" else ()
    return _of_record(study.sureness.records[kind][row], field, path.rpartition(".")[2] in omitted)


def _of_record(record: Any, field: str, omitted: bool) -> tuple[str, str]:
    """Return the source of one field of a record, as precisely as the record states it."""
    text = getattr(record, "sources", {}).get(field) or record.source
    if field in record.assumptions:
        return ASSUMED, text if record.name in text else f"{record.name}: {text}"
    if omitted or getattr(record, field) == getattr(contract.Interface, field, ""):
        return DEFAULT, "default of dse"
    graded = _GRADE.search(text)
    evidence = graded[1] if graded else "published" if text else "unstated"
    return "fitted" if field in record.fitted else evidence, text.removeprefix(f"{evidence}: ")


def unpublished(study: Study, known: Iterable[Any], design: Sequence[int]) -> set[str]:
    """Return the unpublished inputs behind one design, a choice per axis.

    A record or the program assumes them, of the `known` assumptions, or they are omitted, and zero
    or unlimited for that reason.  For the host without accelerators they are inputs of chosen
    records.
    """
    alone, point = min(design, default=0) < 0, np.array(design)[np.newaxis]
    near = (one for one in known if one.concerns(point) and (one.touched or not alone))
    found = {one.name for one in near if source_of(study, one)[0] in (ASSUMED, DEFAULT)}
    names = [axis.name for axis in study.problem.space.axes]
    row = design[names.index(DEVICE)] if DEVICE in names else -int(alone)
    leakage = {f"{stage}.leakage_power" for stage in study.sureness.unleaking}
    return {name.partition(".")[2] for name in found} | _unwritten(study, row) | leakage


def _unwritten(study: Study, row: int) -> set[str]:
    """Return the fields that an interface assumes or omits, even those without effect."""
    records = study.sureness.records.get("interface", ())[row : row + 1] if row >= 0 else ()
    columns = [f"interface_{name}" for record in records for name in record.assumptions]
    columns = [name for name in columns if _source_of_column(study, name, row)[0] == ASSUMED]
    names = {field_path(name).partition(".")[2] for name in columns}
    return names.union(study.sureness.unspecified.get(row, ()))
