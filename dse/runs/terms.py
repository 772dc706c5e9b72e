"""One design with every term of its model: inputs, stages, quantities, constraints."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from dse.algebra import units
from dse.errors import StudyError
from dse.model import tables
from dse.model.problem import Problem
from dse.model.space import Axis
from dse.reports.text import Printable, hanging, table_text, violation_text
from dse.study.axes import axes_labels
from dse.study.scenario import field_path
from dse.study.study import Study
from dse.study.workload_interface_budget import CHOICES

STAGE = "stage_"


@dataclass(frozen=True)
class Term:
    """One value of a design in SI (or a name), what it is, what it takes, and its source."""

    name: str
    value: float | str
    meaning: str
    takes: tuple[str, ...] = ()
    source: str = ""

    @property
    def shown(self) -> str:
        """The value with its unit."""
        return self.value if isinstance(self.value, str) else units.show(self.value, self.name)


@dataclass(frozen=True, repr=False)
class DesignTerms(Printable):
    """A design written out; a constraint is its rule and by how much it is violated."""

    design: str
    terms: tuple[Term, ...]
    constraints: tuple[tuple[str, float], ...]
    notes: tuple[str, ...] = ()

    @property
    def feasible(self) -> bool:
        """Whether every constraint holds."""
        return all(violation <= 0 for _, violation in self.constraints)

    def text(self) -> str:
        """Return every term, whether each constraint is met, and what was assumed."""
        sources = [*dict.fromkeys(term.source for term in self.terms if term.source)]
        numbers = {"": ""} | {source: str(n) for n, source in enumerate(sources, 1)}
        rows = [(term.name, term.shown, term.meaning, numbers[term.source]) for term in self.terms]
        lines = [
            f"{self.design}\n",
            table_text(rows, ("quantity", "value", "what it is", "source")),
            *(["\nsources"] if sources else []),
            *(hanging(f"  {numbers[source]}", source) for source in sources),
            f"\n{'feasible' if self.feasible else 'infeasible'}",
            *(f"  {rule}: {violation_text(by)}" for rule, by in self.constraints),
            *(f"note: {note}" for note in self.notes),
        ]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON."""
        return {
            "design": self.design,
            "feasible": self.feasible,
            "constraints": dict(self.constraints),
            "terms": {
                term.name: {"value": term.value, "takes": list(term.takes), "source": term.source}
                for term in self.terms
            },
        }


def require_one_design(study: Study) -> None:
    """Raise `StudyError` naming everything in a study that has several values."""
    mixed = {stage.name for stage in study.problem.stages if stage.mixed}
    found: dict[str, tuple[str, str]] = {}
    for axis in study.problem.space.axes:
        if axis.size == 1:
            continue
        stage = axis.name.partition(".")[0]
        if stage in mixed and not tables.is_choice_of_scenario(study.problem, axis):
            remedy = f'set for instance "{axis.name}=1"; unspecified counts are then 0'
            found.setdefault(stage, (f"how many of each design of {stage} is open", remedy))
        else:
            shown = ", ".join(axis.labels[:8]) + (", ..." if axis.size > 8 else "")
            remedy = f'set for instance "{axis.name}={_last(axis)}"'
            found[axis.name] = (f"{axis.name} is open ({shown})", remedy)
    rule = "one design is needed"
    if found:
        raise StudyError(study.document.fault((), what, rule, to) for what, to in found.values())


def _last(axis: Axis) -> str:
    """Return the last value of an axis as a study writes it."""
    if not units.suffix(axis.unit_name):
        return axis.labels[-1]
    return str(units.written(float(axis.columns[axis.unit_name][-1]), axis.unit_name))


def terms_of(study: Study) -> DesignTerms:
    """Return the first design of a study with all its terms, each after what it is made from."""
    problem = study.problem
    index = np.zeros((1, len(problem.sizes)), dtype=np.int64)
    quantities = _quantities(problem, index, refused=bool(study.refused))
    terms = (*_inputs(problem, index), *_stages(problem, index), *quantities)
    violations = problem.evaluate(index).violation[0].tolist()
    constraints = tuple(zip(problem.constraint_names, violations, strict=True))
    return DesignTerms(_name(problem, index), terms, constraints, study.notes)


def _inputs(problem: Problem, index: np.ndarray) -> Iterator[Term]:
    quantities = {quantity.name for quantity in problem.quantities}
    labels = {**CHOICES, **axes_labels(problem.space.axes)}
    for name, column in sorted(problem.space.columns(index).items()):
        if (
            "." not in name and name not in quantities
        ):  # counts and choices of a stage are in the design's name
            meaning = f"given: {field_path(name)}"
            value = float(column[0])
            chosen = labels[name][int(value)] if name in labels else value
            yield Term(name, chosen, meaning)


def _stages(problem: Problem, index: np.ndarray) -> Iterator[Term]:
    columns = problem.terms(index)
    for position, stage in enumerate(problem.stages):
        meaning = f"of all instances of {stage.name} together, here and below"
        for name, column in columns.items():
            if name.startswith(STAGE):
                term = f"{stage.name}.{name.removeprefix(STAGE)}"
                yield Term(term, float(column[position][0]), meaning)
                meaning = ""


def _quantities(problem: Problem, index: np.ndarray, *, refused: bool) -> Iterator[Term]:
    columns = problem.terms(index)
    quantities = {quantity.name: quantity for quantity in problem.quantities}
    measured = () if problem.measured is None else problem.measured.outputs
    for name in measured:
        yield Term(name, float(np.asarray(columns[name]).flat[0]), "measured")
    takes = {step.name: step.arguments for step in problem.graph.steps}
    own = quantities.keys() - set(measured)
    for name in filter(
        own.__contains__, takes or quantities
    ):  # designs evaluated already have quantities without steps
        quantity = quantities[name]
        if refused and quantity.threshold is not None:
            yield Term(name, "unknown", "the fit of its record was refused: see the notes")
            continue
        value = float(np.asarray(columns[name]).flat[0])
        exists = bool(quantity.labels) and not math.isnan(value)
        shown = quantity.labels[int(value)] if exists else value
        yield Term(name, shown, quantity.summary, takes.get(name, ()), quantity.source)


def _name(problem: Problem, index: np.ndarray) -> str:
    chosen = [
        axis.labels[0]
        for axis in problem.space.axes
        if tables.is_choice_of_scenario(problem, axis) and not axis.unit_name
    ]
    return ", ".join(filter(None, [tables.design_names(problem, index)[0], *chosen]))
