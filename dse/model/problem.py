"""Problem of a study: the only access to evaluations, and the only code that flips signs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.contract import Column, Objective, Requirement
from dse.contract.evaluators import Measurement
from dse.errors import ContractError, NotFiniteError
from dse.model import host
from dse.model.evaluation import (
    Evaluation,
    Ledger,
    full_column,
    matrix_of,
    rounded,
    shape_of,
)
from dse.model.graph import REMEDY, Failures, Step
from dse.model.host import HostAlone
from dse.model.labels import Labels
from dse.model.measured import IS_MEASURED, Beforehand, MeasuredColumns
from dse.model.space import Index, Points, as_index, designs_text
from dse.model.stage import Groups, Wired


@dataclass(frozen=True, repr=False)
class Problem(Wired):
    """A study as a search sees it: rows of indices in, losses and violations out.

    Attributes
    ----------
    space
        Axes and constants.
    stages
        The chain.
    graph
        The objectives that the study can feed.
    goals, constraints
        The objectives and constraints of the study.
    requirements
        Conditions of every design, if the study provides their columns.
    measured
        The columns that are measured rather than computed, if any.  Only `evaluate` requests
        measurements, and only while a run allows it.
    beside
        True if the host without accelerators is compared if possible.
    devices
        Labels of devices.
    """

    measured: MeasuredColumns | None = None
    beside: bool = True
    devices: Labels = field(default_factory=dict)

    def __repr__(self) -> str:
        """Return the axes with their sizes, the objectives and the constraints."""
        axes = ", ".join(f"{axis.name} ({axis.size})" for axis in self.space.axes)
        goals = ", ".join(f"{goal.sense} {goal.name}" for goal in self.goals)
        lines = f"{designs_text(self.sizes)}; {goals}", f"axes: {axes}"
        return "\n".join([*lines, *(f"constraint: {name}" for name in self.constraint_names)])

    def renumbered(self, **changes: Any) -> Problem:
        """Return the problem with other numbers, but no new name."""
        other = replace(self, **changes)
        for name in ("search_plan", "requirement_steps", "partial_in_use", "offered", "alone"):
            other.__dict__[name] = getattr(self, name)
        return other

    @property
    def sizes(self) -> tuple[int, ...]:
        """Return the number of values of each axis."""
        return self.space.sizes

    @property
    def size(self) -> int:
        """Return the number of designs."""
        return self.space.size

    @property
    def whole_size(self) -> int:
        """Return the number of designs, with the host without accelerators."""
        return self.size + len(self.hosts)

    @cached_property
    def alone(self) -> HostAlone | None:
        """Return the wiring of the host without accelerators, or None if the study has none."""
        return host.host_alone(self)

    @cached_property
    def host(self) -> Problem | None:
        """Return the host as a problem without stages, or None if it cannot be compared."""
        return None if self.alone is None else self.alone.problem(self)

    @cached_property
    def hosts(self) -> Index:
        """Return the designs of the host without accelerators, (n, d), perhaps none."""
        return host.hosts_of(self)

    @cached_property
    def labels(self) -> Labels:
        """Return the labels of devices and designs."""
        found = dict(self.devices)
        for stage in self.stages:
            own = stage.designs.labels
            found |= own if len(self.stages) == 1 else {f"{stage.name}.{n}": own[n] for n in own}
        return found

    @cached_property
    def examined(self) -> set[bytes]:
        """Return designs whose models keep their invariants (`dse.model.invariants`)."""
        return set()

    @property
    def unmeasured(self) -> bool:
        """Return whether designs are measured, but no design is yet."""
        return self.measured is not None and not self.measured.setup.seen

    @cached_property
    def beforehand(self) -> Beforehand | None:
        """Return the rules known before measurements, or None if designs are not measured."""
        return None if self.measured is None else Beforehand(self, self.measured)

    @cached_property
    def ordered(self) -> tuple[bool, ...]:
        """Return whether each axis has an order."""
        return tuple(axis.ordered for axis in self.space.axes)

    @cached_property
    def coordinates(self) -> tuple[Column | None, ...]:
        """Return the values of each axis on its scale, in [0, 1], or None for choices."""
        return tuple(axis.coordinates for axis in self.space.axes)

    @property
    def objective_count(self) -> int:
        """Return the number of objectives."""
        return len(self.goals)

    @cached_property
    def quantities(self) -> tuple[Objective, ...]:
        """Return every quantity that the study can report: its goals, then in plug-in order."""
        goals = [goal.name for goal in self.goals]
        return tuple(sorted(self.graph.objectives, key=lambda quantity: quantity.name not in goals))

    @cached_property
    def available(self) -> frozenset[str]:
        """Return the names of all columns: settings of the study, stages and objectives."""
        names = set(self.space.constants).union(*(axis.columns for axis in self.space.axes))
        names.update(step.name for step in self.graph.steps)
        names.update(self.offered)
        names.update(() if self.measured is None else self.measured.outputs)
        return frozenset(names)

    @property
    def bound_requirements(self) -> tuple[Requirement, ...]:
        """Return the requirements whose columns the study provides: the first constraints."""
        steps = self.requirement_steps
        return tuple(step.plugin for step in steps if isinstance(step.plugin, Requirement))

    @property
    def constraint_names(self) -> tuple[str, ...]:
        """Return the constraint of each column of a violation, in words."""
        rules = tuple(requirement.rule for requirement in self.bound_requirements)
        exists = tuple(f"{name} exists" for name in self.partial_in_use)
        measured = () if self.measured is None else (IS_MEASURED,)
        return rules + exists + measured + tuple(rule.text for rule in self.constraints)

    def evaluate(
        self, points: Points, changed: Mapping[str, Column] | None = None, *, draws: int = 1
    ) -> Evaluation:
        """Evaluate designs, one result per row of an index (n, d) or design of a block.

        `changed` replaces columns that the space sets.  If these, or the metrics of stages,
        have a row for each of several `draws`, there are draws * n results, draw after draw.

        Raises
        ------
        ContractError
            A design cannot be evaluated.  The message names quantity and design.  A function fails,
            a violation is NaN, or a feasible design has a loss that is not finite.
        """
        if host.hosts_among(points) is not None:
            rows = np.maximum(as_index(points), 0)
            found = self.evaluate(rows, changed, draws=draws)
            return host.with_hosts(self, found, as_index(points), changed, draws=draws)
        failures = Failures()
        before, excluded = self.beforehand, np.zeros(len(points), dtype=bool)
        if before is not None and changed is None and draws == 1:
            excluded = before.ask(points)
        columns = self._columns(points, self.search_plan, self.requirement_steps, changed, failures)
        violation = self.missed(columns, failures.column)
        violation += [np.full(1, -1.0)] * (self.measured is not None)
        violation += [rule.violation(columns) for rule in self.constraints]
        loss = [-columns[goal.name] if goal.maximise else columns[goal.name] for goal in self.goals]
        shape = shape_of(points) if draws == 1 else (draws, len(points))
        evaluation = Evaluation(
            points, rounded(matrix_of(loss, shape)), matrix_of(violation, shape)
        )
        failed = failures.rows(shape)
        if self.measured is None or before is None:
            return judged(self, evaluation, failed, failures.first)
        before.settle(evaluation, excluded)
        known = self.measured.found(self.space, points, ask=False)
        return judged_measured(self, evaluation, known, failed, failures.first, excluded)

    def known(self, points: Points) -> NDArray[np.bool_]:
        """Return whether each design (n,) can be evaluated without a new measurement."""
        known = np.ones(len(points), dtype=bool)
        return known if self.measured is None else self.measured.known(self.space, points)

    def ledger(self, points: Points) -> Ledger:
        """Return the ledger of evaluated designs."""
        known = self.beforehand
        return Ledger(evaluated=len(points)) if known is None else known.ledger(points)

    def describe(self, index: Index) -> dict[str, Column]:
        """Return every column of the designs `index`: inputs, stages and all quantities."""
        return {
            name: full_column(column, len(index))
            for name, column in self._columns(index, self.graph.steps, ()).items()
            if not isinstance(column, tuple)
        }

    def columns(
        self,
        points: Points,
        wanted: Iterable[str],
        changed: Mapping[str, Column] | None = None,
        steps: Sequence[Step] = (),
    ) -> dict[str, Any]:
        """Return the columns `wanted`, the arguments of `steps`, and others, as they broadcast."""
        return self._columns(points, self.graph.closure(wanted), steps, changed)

    def counts(self, index: Index) -> list[dict[str, int]]:
        """Return the instances of each design by ``<stage>.<design>``, without zeros."""
        found: list[dict[str, int]] = [{} for _ in index]
        for stage, groups in zip(self.stages, self.fleets(index), strict=True):
            names = stage.designs.names
            for counts, places in groups:
                for row in np.flatnonzero(counts):
                    found[row][f"{stage.name}.{names[places[row]]}"] = int(counts[row])
        return found

    def fleets(self, index: Index) -> list[Groups]:
        """Return the groups of each stage of the designs `index`.  Groups of hosts are empty."""
        columns, alone = self.space.columns(index), host.hosts_among(index)
        return [stage.groups(columns, len(index), alone) for stage in self.stages]

    def terms(self, index: Index) -> dict[str, Any]:
        """Return all columns of the designs `index`.  Columns of stages are tuples."""
        return self._columns(index, self.graph.steps, (), every_stage_column=True)

    def _columns(
        self,
        points: Points,
        plan: Sequence[Step],
        requirements: Sequence[Step],
        changed: Mapping[str, Column] | None = None,
        failures: Failures | None = None,
        *,
        every_stage_column: bool = False,
    ) -> dict[str, Any]:
        """Return columns, with NaN if a function fails and failures are counted or tolerated."""
        if host.hosts_among(points) is not None:
            index, every = as_index(points), every_stage_column
            rows = np.maximum(index, 0)
            found = self._columns(rows, plan, requirements, changed, every_stage_column=every)
            return host.columns_with_hosts(self, found, index, changed)
        changed = changed or {}
        if failures is None and self.measured is not None:
            failures = Failures()
        columns: dict[str, Any] = self.space.columns(points)
        if self.measured is not None and not changed.keys() >= set(self.measured.outputs):
            columns |= self.measured.columns(self.space, points)
        columns |= changed
        wanted = {name for step in (*plan, *requirements) for name in step.arguments}
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            columns |= self.stage_columns(columns, self.offered if every_stage_column else wanted)
            for step in plan:
                made = step if failures is None else partial(failures.column, step)
                columns[step.name] = made(columns)
        return columns


def judged_measured(
    problem: Problem,
    found: Evaluation,
    measurements: Sequence[Measurement],
    failed: NDArray[np.bool_],
    reason: str,
    excluded: NDArray[np.bool_],
) -> Evaluation:
    """Set designs without values to miss the constraint `IS_MEASURED`, and judge the others.

    Designs that are `excluded` by rules on axes are not missing.
    """
    missing = np.array([not one.has_values for one in measurements], dtype=bool)
    if excluded.any():
        missing, failed = missing & ~excluded, failed & ~excluded
    if not missing.any():
        return judged(problem, found, failed, reason)
    rows = np.tile(missing, len(found.loss) // len(missing))  # draws of each design
    violation = found.violation[rows]
    found.violation[rows] = np.where(np.isnan(violation), np.inf, violation)
    found.violation[rows, problem.constraint_names.index(IS_MEASURED)] = np.inf
    found.loss[rows] = np.inf
    done = judged(problem, found, failed & ~rows, reason)
    row = int(np.argmax(missing))
    failure = f"{measurements[row].cause}, for the design {_text(problem, found.points, row)}"
    return replace(done, failed=done.failed | rows, failure=done.failure or failure)


def judged(
    problem: Problem, found: Evaluation, failed: NDArray[np.bool_], reason: str
) -> Evaluation:
    """Return the losses and violations of n designs, all of which are numbers.

    Functions raised an error for the designs `failed` (n,), the first with the message `reason`.

    Raises
    ------
    ContractError
        A function failed.
    NotFiniteError
        A violation is NaN, or a loss of a feasible design is not finite.
    """
    infinite = found.feasible & ~np.isfinite(found.loss).all(axis=1)
    wrong = np.asarray(failed | infinite | np.isnan(found.violation).any(axis=1))
    if not wrong.any():
        return replace(found, failed=wrong)
    row = int(np.argmax(wrong))
    said, remedy = (reason, REMEDY) if failed[row] else _complaint(problem, found, row)
    kind = ContractError if failed[row] else NotFiniteError
    raise kind(f"{said} for the design {_text(problem, found.points, row)}; {remedy}")


def _complaint(problem: Problem, found: Evaluation, row: int) -> tuple[str, str]:
    """Return the number of a design that is not finite, and the rule for it."""
    missing = np.flatnonzero(np.isnan(found.violation[row]))
    if len(missing):
        rule = f"requirement {problem.constraint_names[missing[0]]!r} gives NaN"
        return rule, "a violation must be a number"
    column = int(np.argmin(np.isfinite(found.loss[row])))
    rule = f"{problem.goals[column].name} is {found.loss[row, column]}"
    return rule, "an objective must be a finite number"


def _text(problem: Problem, points: Points, row: int) -> str:
    index = as_index(points, np.array([row % len(points)]))
    return str(problem.space.point_text(index[0]))
