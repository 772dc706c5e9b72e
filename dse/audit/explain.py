"""Why a design of a study is on the front of a run, or not."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.algebra import units
from dse.algebra.expression import Expression
from dse.audit import checks, chosen
from dse.contract import Requirement
from dse.model.graph import Step
from dse.model.problem import Problem
from dse.model.space import Index
from dse.reports.words import in_words
from dse.runs import finished

VERDICTS = {
    "front": "it is on the front",
    "infeasible": "it is infeasible",
    "dominated": "it is feasible, and a design on the front dominates it",
    "equal": "it is feasible, and worth exactly what a design on the front is",
    "improvement": "it is feasible, and no design on the heuristic's front covers it",
    "refutation": "it is feasible and missing from a front that is said to be exact",
}


def _percent(share: float) -> str:
    return f"{100 * share:,.0f} %" if share >= 1 else f"{100 * share:.3g} %"


@dataclass(frozen=True)
class ViolatedConstraint:
    """A constraint that a design violates.

    Attributes
    ----------
    rule
        As it stands in the study, or in words.
    relative
        By how much, relative to the bound.
    quantities
        What the constraint compares, in SI by name.
    quantity, by
        The difference of the two sides in SI, and the quantity whose unit it has; empty and
        None where the sides are not quantities of one unit.
    """

    rule: str
    relative: float
    quantities: Mapping[str, float]
    quantity: str
    by: float | None

    @property
    def text(self) -> str:
        """The miss in words, with units."""
        missed = f"{self.relative:.4g} of the bound" if self.relative < 1e6 else ""
        if self.by is not None:
            missed = f"{units.show(self.by, self.quantity)} ({_percent(self.relative)})"
        values = ", ".join(
            f"{in_words(name)} {units.show(value, name)}" for name, value in self.quantities.items()
        )
        return f"{self.rule}: missed{' by ' * bool(missed)}{missed}; {values}"


@dataclass(frozen=True)
class Explanation:
    """What a run says of one design.

    Attributes
    ----------
    verdict
        A key of `VERDICTS`.
    design, objectives
        Its axes as assignments, and what it is worth, in SI.
    misses
        The constraints it violates.
    row, rival, rival_objectives
        The row of front.csv, counted from 1, that it is, equals or is dominated by, the name of
        that design and what it is worth; None and empty otherwise.
    """

    verdict: str
    design: str
    objectives: Mapping[str, float]
    misses: tuple[ViolatedConstraint, ...] = ()
    row: int | None = None
    rival: str = ""
    rival_objectives: Mapping[str, float] | None = None

    @property
    def difference(self) -> dict[str, float | None]:
        """How much each objective differs from the rival's, as a share of that; None of 0."""
        rivals = self.rival_objectives or {}
        return {
            name: (self.objectives[name] - value) / abs(value) if value else None
            for name, value in rivals.items()
        }

    def text(self) -> str:
        """Return the answer as text."""
        place = f" (row {self.row})" if self.verdict == "front" else ""
        lines = [self.design, f"{VERDICTS[self.verdict]}{place}"]
        lines += [f"  {miss.text}" for miss in self.misses]
        if self.verdict != "front" and self.rival_objectives is not None:
            lines.append(f"  row {self.row} of the front: {self.rival}")
        for name, value in self.objectives.items():
            lines.append(f"  {in_words(name)} {units.show(value, name)}{self._against(name)}")
        return "\n".join(lines)

    def _against(self, name: str) -> str:
        if self.rival_objectives is None or self.verdict == "front":
            return ""
        rival, share = self.rival_objectives[name], self.difference[name]
        if self.objectives[name] == rival:
            return ", the same there"
        more = "more" if self.objectives[name] > rival else "less"
        by = "" if share is None else f": {_percent(abs(share))} {more} here"
        return f", there {units.show(rival, name)}{by}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON."""
        return {**asdict(self), "difference": self.difference}


def explain_design(folder: Path, texts: Sequence[str]) -> Explanation:
    """Say why a design is on the front of the run in `folder`, or not.

    Parameters
    ----------
    texts
        The design, as ``des.u16=3 interface.device=apu``; see `dse.audit.chosen.design`.

    Raises
    ------
    OutputError
        When it is not the folder of a run.
    StudyError
        When the design is not one of the study.
    """
    run = finished.read_run(folder)
    position, prepared, index = chosen.named_design(run, chosen.assignments(texts))
    problem = prepared.problem
    evaluation = problem.evaluate(index)
    where = ""
    if run.sweep is not None:
        where = f"{run.sweep.path} = {run.sweep.written[position]}, "
    design = where + chosen.assignment_text(problem, index[0])
    violation = evaluation.violation[0]
    objectives = chosen.worth(problem, evaluation.loss[0])
    if not evaluation.feasible[0]:
        misses = _misses(problem, index, violation)
        return Explanation("infeasible", design, objectives, misses)
    numbers = checks.rows_at(run, position)
    front = finished.find_designs(problem, tuple(run.rows[number] for number in numbers))
    row, verdict = _compare(problem, index, evaluation.loss[0], front)
    if row is None:
        verdict = "refutation" if run.manifest.get("exact") else "improvement"
        return Explanation(verdict, design, objectives)
    if verdict == "equal" and run.manifest.get("exact"):
        verdict = "refutation"  # an exact front holds every design of equal worth
    rival = front[[row]]
    return Explanation(
        verdict,
        design,
        objectives,
        row=numbers[row] + 1,
        rival=chosen.assignment_text(problem, rival[0]),
        rival_objectives=chosen.worth(problem, problem.evaluate(rival).loss[0]),
    )


def _compare(
    problem: Problem, index: Index, loss: NDArray[np.float64], front: Index
) -> tuple[int | None, str]:
    """Return the row of `front` that a feasible design is, equals, or is dominated by."""
    rows = np.flatnonzero((front == index[0]).all(axis=1))
    if len(rows):
        return int(rows[0]), "front"
    losses = problem.evaluate(front).loss
    covering = np.flatnonzero((losses <= loss).all(axis=1))
    if not len(covering):
        return None, ""
    better = (losses[covering] < loss).sum(axis=1)
    if better.max() == 0:
        return int(covering[0]), "equal"
    return int(covering[np.argmax(better)]), "dominated"


def _misses(
    problem: Problem, index: Index, violation: NDArray[np.float64]
) -> tuple[ViolatedConstraint, ...]:
    """Return every violated constraint of a design."""
    columns = _values(problem, index)
    steps, rules = problem.requirement_steps, problem.constraints
    names = problem.constraint_names
    misses = []
    for place in np.flatnonzero(~(violation <= 0)):
        rule, relative = names[place], float(violation[place])
        if place < len(steps):
            misses.append(_required(rule, relative, steps[place], columns))
        elif place >= len(names) - len(rules):
            expression = rules[place - len(names) + len(rules)].expression
            misses.append(_compared(rule, relative, expression, columns))
        else:
            misses.append(ViolatedConstraint(rule, relative, {}, "", None))
    return tuple(misses)


def _values(problem: Problem, index: Index) -> dict[str, float]:
    """Return every column of one design; those of stages under the stage's name."""
    values: dict[str, float] = {}
    for name, column in problem.terms(index).items():
        if isinstance(column, tuple):
            for stage, part in zip(problem.stages, column, strict=True):
                values[f"{stage.name}.{name}"] = float(np.asarray(part).flat[0])
        else:
            values[name] = float(np.asarray(column).flat[0])
    return values


def _required(
    rule: str, relative: float, step: Step, columns: Mapping[str, float]
) -> ViolatedConstraint:
    """Return the miss of a requirement: what it takes; the difference of its two sides."""
    taken = [
        name
        for name in columns
        if name in step.arguments or name.partition(".")[2] in step.arguments
    ]
    plugin = step.plugin
    over, under = (
        [name for name in names if name in columns]
        for names in (
            (plugin.rises_with, plugin.falls_with) if isinstance(plugin, Requirement) else ((), ())
        )
    )
    quantity, by = "", None
    if over and len(under) == 1 and len({units.suffix(name) for name in (*over, *under)}) == 1:
        quantity, by = under[0], sum(columns[name] for name in over) - columns[under[0]]
    return ViolatedConstraint(rule, relative, {name: columns[name] for name in taken}, quantity, by)


def _compared(
    rule: str, relative: float, expression: Expression, columns: Mapping[str, float]
) -> ViolatedConstraint:
    """Return the miss of a constraint of the study."""
    values = {name: columns[name] for name in sorted(expression.names)}
    tree = expression.tree
    quantity, by = "", None
    if isinstance(tree, ast.Compare) and len(tree.comparators) == 1:
        sides = (tree.left, tree.comparators[0])
        named = [side.id for side in sides if isinstance(side, ast.Name)]
        if named:
            arrays = {name: np.array([value]) for name, value in values.items()}
            left, right = (
                float(np.ravel(_side(expression, side).value(arrays))[0]) for side in sides
            )
            quantity, by = named[0], abs(left - right)
    return ViolatedConstraint(rule, relative, values, quantity, by)


def _side(expression: Expression, side: ast.expr) -> Expression:
    names = {node.id for node in ast.walk(side) if isinstance(node, ast.Name)}
    return Expression(expression.text, expression.names & names, False, side)
