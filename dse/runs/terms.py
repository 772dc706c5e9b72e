"""One design with every term of its model: inputs, stages, quantities, constraints."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from dse.model import tables
from dse.model.problem import Problem
from dse.study.scenario import field_path
from dse.study.schema import CHOICES

STAGE = "stage_"


@dataclass(frozen=True)
class Term:
    """One value of a design in SI (or a name), what it is, what it takes, and its source."""

    name: str
    value: float | str
    meaning: str
    takes: tuple[str, ...] = ()
    source: str = ""


@dataclass(frozen=True)
class Explanation:
    """A design written out; a constraint is its rule and by how much it is missed."""

    design: str
    terms: tuple[Term, ...]
    constraints: tuple[tuple[str, float], ...]

    @property
    def feasible(self) -> bool:
        """Whether every constraint holds."""
        return all(violation <= 0 for _, violation in self.constraints)

    def plain(self) -> dict[str, Any]:
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


def explain(problem: Problem) -> Explanation:
    """Return the first design of a space with all its terms, each after what it is made from."""
    index = np.zeros((1, len(problem.sizes)), dtype=np.int64)
    terms = (*_inputs(problem, index), *_stages(problem, index), *_quantities(problem, index))
    violations = problem.evaluate(index).violation[0].tolist()
    constraints = tuple(zip(problem.constraint_names, violations, strict=True))
    return Explanation(_name(problem, index), terms, constraints)


def _inputs(problem: Problem, index: np.ndarray) -> Iterator[Term]:
    quantities = {quantity.name for quantity in problem.quantities}
    for name, column in sorted(problem.space.columns(index).items()):
        if (
            "." not in name and name not in quantities
        ):  # counts and choices of a stage are in the design's name
            yield Term(name, _choice(name, float(column[0])), f"given: {field_path(name)}")


def _stages(problem: Problem, index: np.ndarray) -> Iterator[Term]:
    columns = problem.terms(index)
    for position, stage in enumerate(problem.stages):
        for name, column in columns.items():
            if name.startswith(STAGE):
                term = f"{stage.name}.{name.removeprefix(STAGE)}"
                yield Term(term, float(column[position][0]), "the fleet's instances together")


def _quantities(problem: Problem, index: np.ndarray) -> Iterator[Term]:
    columns = problem.terms(index)
    quantities = {quantity.name: quantity for quantity in problem.quantities}
    takes = {step.name: step.arguments for step in problem.graph.steps}
    for name in takes or quantities:  # designs evaluated already have quantities without steps
        quantity = quantities[name]
        value = float(np.asarray(columns[name]).flat[0])
        exists = bool(quantity.labels) and not math.isnan(value)
        shown = quantity.labels[int(value)] if exists else value
        yield Term(name, shown, quantity.summary, takes.get(name, ()), quantity.source)


def _choice(column: str, value: float) -> float | str:
    """Return the name of a choice that a column holds as a number."""
    if column not in CHOICES:
        return value
    return CHOICES[column][int(value)]


def _name(problem: Problem, index: np.ndarray) -> str:
    chosen = [
        f"{axis.name} = {axis.labels[0]}"
        for axis in problem.space.axes
        if tables.is_choice_of_scenario(problem, axis) and not axis.unit_name
    ]
    return ", ".join(filter(None, [tables.names(problem, index)[0], *chosen]))
