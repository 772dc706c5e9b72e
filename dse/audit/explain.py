"""Why a design is on the front of a study or a run, or not, and every term of its model."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.algebra import units
from dse.algebra.expression import Expression
from dse.algebra.expression_grammar import LabelCode
from dse.audit.challenge import at_most
from dse.contract import Alone
from dse.files.document import Assignments, Document
from dse.model import invariants
from dse.model.evaluation import ledger_of
from dse.model.host import keeps
from dse.model.labels import Labels, labelled_line
from dse.model.measured import IS_MEASURED
from dse.model.problem import Problem
from dse.model.space import Index
from dse.reports.designs import objective_values
from dse.reports.text import (
    Printable,
    change,
    hanging,
    in_words,
    paragraph,
    relative_change,
    table_text,
    violation_text,
)
from dse.runs import finished, runner
from dse.runs.design_names import exact_name, read_design
from dse.runs.finished import Finished
from dse.runs.measurements import measurement_of, require_figures
from dse.runs.runner import Options, Run
from dse.study.field_kinds import axes_labels
from dse.study.overrides import sweep_of
from dse.study.scenario import field_path
from dse.study.schema import CHOICES
from dse.study.study import Study

STAGE = "stage_"
"""Before the name of a column that every stage has."""

VERDICT_TEXTS = {
    "front": "it is on the front",
    "infeasible": "it is infeasible",
    "failed": "it failed, and nothing is known of it",
    "dominated": "it is feasible, and a design on the front dominates it",
    "equal": "it is feasible, with the same objectives as a design on the front",
    "improvement": "it is feasible, and no design on the heuristic's front dominates it",
    "refutation": "it is feasible and missing from a front that claims to be exact",
}


@dataclass(frozen=True)
class ViolatedConstraint:
    """A constraint that a design violates: its rule, and the violation relative to the limit.

    `quantities` are the compared quantities, in SI by name.
    """

    rule: str
    relative: float
    quantities: Mapping[str, float]

    @property
    def text(self) -> str:
        """Return the violation in words, with units."""
        values = ", ".join(
            f"{in_words(name)} {units.show(value, name)}" for name, value in self.quantities.items()
        )
        return "; ".join(
            filter(None, [f"{self.rule}: {violation_text(self.relative, self.rule)}", values])
        )


@dataclass(frozen=True)
class Term:
    """One value of a design in SI (or a name), its meaning and its source."""

    name: str
    value: float | str
    meaning: str
    takes: tuple[str, ...] = ()
    source: str = ""

    @property
    def shown(self) -> str:
        """Return the value with its unit."""
        return self.value if isinstance(self.value, str) else units.show(self.value, self.name)


@dataclass(frozen=True, repr=False)
class Explanation(Printable):
    """The reason why a design is on a front, or not, and every term of its model.

    Attributes
    ----------
    verdict
        A key of `VERDICT_TEXTS`.
    design, objectives
        Its name as `read_design` takes it, and its objectives in SI.
    violations
        The constraints it violates.
    row, rival, rival_objectives
        The row of the front, counted from 1, that it is, equals or is dominated by, the name of
        that design and its objectives.  None and empty otherwise.
    terms
        Its inputs, stages and quantities, each after its inputs.  Empty for a failed design.
    constraints
        Every rule, and its violation: at most 0 if it is met.
    notes
        Assumptions of the study.
    labels
        Texts for people in place of the names of designs and devices.
    """

    verdict: str
    design: str
    objectives: Mapping[str, float]
    violations: tuple[ViolatedConstraint, ...] = ()
    row: int | None = None
    rival: str = ""
    rival_objectives: Mapping[str, float] | None = None
    terms: tuple[Term, ...] = ()
    constraints: tuple[tuple[str, float], ...] = ()
    notes: tuple[str, ...] = ()
    labels: Labels = field(default_factory=dict)

    @property
    def feasible(self) -> bool:
        """Return whether it is known to meet every constraint."""
        return self.verdict not in ("infeasible", "failed")

    @property
    def difference(self) -> dict[str, float | None]:
        """Return the difference of each objective as a share of the rival's, None for 0."""
        rivals = self.rival_objectives or {}
        return {
            name: relative_change(self.objectives[name], value) for name, value in rivals.items()
        }

    def text(self) -> str:
        """Return the answer as text."""
        place = f" (row {self.row})" if self.verdict == "front" else ""
        lines = [labelled_line(self.design, self.labels), f"{VERDICT_TEXTS[self.verdict]}{place}"]
        lines += [f"  {violated.text}" for violated in self.violations]
        if self.verdict != "front" and self.rival_objectives is not None:
            lines.append(f"  row {self.row} of the front: {labelled_line(self.rival, self.labels)}")
        for name, value in self.objectives.items():
            lines.append(f"  {in_words(name)} {units.show(value, name)}{self._against(name)}")
        return "\n".join([*(paragraph(line, "    ") for line in lines), *self._written_out()])

    def _against(self, name: str) -> str:
        if self.rival_objectives is None or self.verdict == "front":
            return ""
        own, rival = self.objectives[name], self.rival_objectives[name]
        if own == rival:
            return " (the same)"
        by = change(own, rival)
        return f" against {units.show(rival, name)}" + (f" ({by})" if by else "")

    def _written_out(self) -> list[str]:
        """Return every term, whether each constraint is met, and the assumptions."""
        if not self.terms:
            return []
        sources = [*dict.fromkeys(term.source for term in self.terms if term.source)]
        numbers = {"": ""} | {source: str(n) for n, source in enumerate(sources, 1)}
        rows = [(term.name, term.shown, term.meaning, numbers[term.source]) for term in self.terms]
        return [
            "",
            table_text(rows, ("quantity", "value", "what it is", "source")),
            *(["\nsources"] if sources else []),
            *(hanging(f"  {numbers[source]}", source) for source in sources),
            *(["\nconstraints"] if self.constraints else []),
            *(f"  {rule}: {violation_text(by, rule)}" for rule, by in self.constraints),
            *(f"note: {note}" for note in self.notes),
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON."""
        terms = {
            term.name: {"value": term.value, "takes": list(term.takes), "source": term.source}
            for term in self.terms
        }
        more = {"constraints": dict(self.constraints), "terms": terms, "feasible": self.feasible}
        return {**asdict(self), "difference": self.difference, **more}


def explain_design(
    source: Path | Document | Run | Finished,
    design: Assignments | None,
    overrides: Sequence[tuple[str, str]] = (),
) -> Explanation:
    """Explain why a design is on the front of a study or run, or not, with every term of its model.

    A study is searched only if the design is feasible.  `design` is as in `read_design`.

    Raises
    ------
    MeasurementError
        The designs of the study are measured, and nothing is measured here.
    """
    base = finished.study_or_run(source, overrides)
    found = base if isinstance(base, Document) else base.document
    sweep = sweep_of(found) if isinstance(base, Document) else base.sweep
    value, prepared, index = read_design(design, found, sweep)
    require_figures(prepared)
    problem = prepared.problem
    swept = "" if sweep is None else f"{sweep.path} = {sweep.written[value]}"
    name = ", ".join(filter(None, [swept, exact_name(problem, index[0])]))
    explained = replace(_written_out(prepared, index, name), labels=problem.labels)
    if not explained.feasible:
        return explained
    front, numbers, settled = _front(base, prepared, value)
    row, verdict = _compare(problem, index, problem.evaluate(index).loss[0], front)
    if row is None:
        return replace(explained, verdict="refutation" if settled else "improvement")
    rival = front[[row]]
    return replace(
        explained,
        verdict=verdict,
        row=numbers[row] + 1,
        rival=exact_name(problem, rival[0]),
        rival_objectives=objective_values(problem, problem.evaluate(rival).loss[0]),
    )


def _written_out(prepared: Study, index: Index, name: str) -> Explanation:
    """Return all that is known of a design without a front, feasible only if not yet judged."""
    problem, about = prepared.problem, None
    measured = measurement_of(problem, index, name)
    if measured is not None and not measured.has_values:
        failed = ViolatedConstraint(f"{IS_MEASURED} ({measured.cause})", np.inf, {})
        return Explanation("failed" if measured.failed else "infeasible", name, {}, (failed,))
    invariants.check_invariants(problem, index)
    if problem.alone is not None and problem.host is not None and (index < 0).any():
        about, index, problem = problem.alone.about, index[:, problem.alone.places], problem.host
    evaluation = problem.evaluate(index)
    feasible, violation = bool(evaluation.feasible[0]), evaluation.violation[0]
    quantities = _quantities(problem, index, refused=bool(prepared.refused))
    return Explanation(
        "" if feasible else "infeasible",
        name,
        objective_values(problem, evaluation.loss[0]),
        () if feasible else _violations(problem, index, violation),
        terms=(*_inputs(problem, index, about), *_stages(problem, index), *quantities),
        constraints=tuple(zip(problem.constraint_names, violation.tolist(), strict=True)),
        notes=prepared.notes,
    )


def _front(
    base: Document | Finished | Run, prepared: Study, value: int
) -> tuple[Index, Sequence[int], bool]:
    """Return the front at one value of the sweep, its row numbers, and whether it is settled."""
    if isinstance(base, Finished):
        numbers = base.row_numbers(value)
        rows = tuple(base.rows[number] for number in numbers)
        front = finished.find_designs(prepared.problem, rows)
        return front, numbers, ledger_of(base.manifest).settled
    if isinstance(base, Run):
        outcomes = [answer.outcome for answer in base.answers]
    else:
        outcomes = [runner.solve_study(prepared, Options(), partial=True).outcome]
        value = 0
    before = sum(len(outcome.front_index) for outcome in outcomes[:value])
    front = outcomes[value].front_index
    return front, range(before, before + len(front)), outcomes[value].ledger.settled


def _compare(
    problem: Problem, index: Index, loss: NDArray[np.float64], front: Index
) -> tuple[int | None, str]:
    """Return the row of `front` that a feasible design is, equals, or is dominated by."""
    rows = np.flatnonzero((front == index[0]).all(axis=1))
    if len(rows):
        return int(rows[0]), "front"
    losses = problem.evaluate(front).loss
    no_worse = np.flatnonzero((losses <= at_most(loss)).all(axis=1))
    if not len(no_worse):
        return None, ""
    better = (at_most(losses[no_worse]) < loss).sum(axis=1)
    if better.max() == 0:
        return int(no_worse[0]), "equal"
    return int(no_worse[np.argmax(better)]), "dominated"


def _violations(
    problem: Problem, index: Index, violation: NDArray[np.float64]
) -> tuple[ViolatedConstraint, ...]:
    """Return every violated constraint of a design, with the quantities that it compares."""
    columns = _values(problem, index)
    steps, names = problem.requirement_steps, problem.constraint_names
    rules = dict(enumerate(problem.constraints, len(names) - len(problem.constraints)))
    found = []
    for number in np.flatnonzero(~(violation <= 0)).tolist():
        relative, taken = float(violation[number]), []
        if number < len(steps):
            needs = steps[number].arguments
            taken = [name for name in columns if {name, name.partition(".")[2]} & {*needs}]
        elif number in rules and _is_of_texts(rules[number]):
            relative = np.inf  # texts have no distance
        elif number in rules:
            taken = sorted(rules[number].names)
        values = {name: columns[name] for name in taken}
        found.append(ViolatedConstraint(names[number], relative, values))
    return tuple(found)


def _is_of_texts(rule: Expression) -> bool:
    """Return whether a constraint compares texts, whose columns are codes."""
    nodes = ast.walk(rule.tree)
    return any(isinstance(getattr(node, "value", None), LabelCode) for node in nodes)


def _values(problem: Problem, index: Index) -> dict[str, float]:
    """Return every column of one design, columns of stages under the stage's name."""
    values: dict[str, float] = {}
    for name, column in problem.terms(index).items():
        if isinstance(column, tuple):
            for stage, part in zip(problem.stages, column, strict=True):
                values[f"{stage.name}.{name}"] = float(np.asarray(part).flat[0])
        else:
            values[name] = float(np.asarray(column).flat[0])
    return values


def _inputs(problem: Problem, index: Index, about: Alone | None) -> Iterator[Term]:
    """Yield the inputs from the study, for the host by itself the inputs that it uses."""
    quantities = {quantity.name for quantity in problem.quantities}
    labels = {**CHOICES, **axes_labels(problem.space.axes)}
    for name, column in sorted(problem.space.columns(index).items()):
        taken = about is None or keeps(about, name)
        if "." not in name and name not in quantities and taken:
            value = float(column[0])
            chosen = labels[name][int(value)] if name in labels else value
            yield Term(name, chosen, f"given: {field_path(name)}")


def _stages(problem: Problem, index: Index) -> Iterator[Term]:
    columns = problem.terms(index)
    for position, stage in enumerate(problem.stages):
        meaning = f"of all instances of {stage.name} together, here and below"
        for name, column in columns.items():
            if name.startswith(STAGE):
                term = f"{stage.name}.{name.removeprefix(STAGE)}"
                yield Term(term, float(column[position][0]), meaning)
                meaning = ""


def _quantities(problem: Problem, index: Index, *, refused: bool) -> Iterator[Term]:
    columns = problem.terms(index)
    quantities = {quantity.name: quantity for quantity in problem.quantities}
    measured = () if problem.measured is None else problem.measured.outputs
    for name in measured:
        yield Term(name, float(np.asarray(columns[name]).flat[0]), "measured")
    takes = {step.name: step.arguments for step in problem.graph.steps}
    own = {name for name in quantities if "." not in name} - set(measured)
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
