"""The one door through which designs are evaluated, and the one place where signs flip."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.algebra.expression import Expression
from dse.algebra.tolerance import settled
from dse.contract import Column, Objective, Requirement
from dse.errors import ContractError
from dse.model.fleet import STAGE_COLUMNS
from dse.model.graph import Graph, Step, bind
from dse.model.space import Index, Points, Space, as_index, product_text
from dse.model.stage import Stage


@dataclass(frozen=True)
class Goal:
    """A quantity to optimise."""

    name: str
    maximise: bool = False

    @property
    def sense(self) -> str:
        """``minimise`` or ``maximise``."""
        return "maximise" if self.maximise else "minimise"


@dataclass(frozen=True)
class Constraint:
    """A constraint of the study: the text as written and what it means."""

    text: str
    expression: Expression


@dataclass(frozen=True)
class Evaluation:
    """Designs, their losses and violations.

    Attributes
    ----------
    points
        Design points: an index (n, d), or a block or boxes of n designs.
    loss
        What is minimised, shape (n, m), rounded to 40 bits; maximised quantities with their
        sign flipped.
    violation
        Shape (n, k); a constraint holds where its column is <= 0.
    """

    points: Points
    loss: NDArray[np.float64]
    violation: NDArray[np.float64]

    @property
    def feasible(self) -> NDArray[np.bool_]:
        """Designs that meet every constraint, shape (n,)."""
        return np.asarray((self.violation <= 0).all(axis=1))


@dataclass(frozen=True, repr=False)
class Problem:
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
        What the study asks for.
    requirements
        What every design has to meet, as far as the study provides the columns.
    """

    space: Space
    stages: tuple[Stage, ...]
    graph: Graph
    goals: tuple[Goal, ...]
    constraints: tuple[Constraint, ...] = ()
    requirements: tuple[Requirement, ...] = field(default=())

    def __repr__(self) -> str:
        """Return the axes with their sizes, the objectives and the constraints."""
        axes = ", ".join(f"{axis.name} ({axis.size})" for axis in self.space.axes)
        goals = ", ".join(f"{goal.sense} {goal.name}" for goal in self.goals)
        rules = [f"constraint: {name}" for name in self.constraint_names]
        return "\n".join([f"{product_text(self.sizes)} designs; {goals}", f"axes: {axes}", *rules])

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of values of each axis."""
        return self.space.sizes

    @property
    def size(self) -> int:
        """Number of designs."""
        return self.space.size

    @cached_property
    def ordered(self) -> tuple[bool, ...]:
        """Which axes have an order."""
        return tuple(axis.ordered for axis in self.space.axes)

    @cached_property
    def coordinates(self) -> tuple[Column | None, ...]:
        """Where the values of each axis lie on its scale, in [0, 1]; None for choices."""
        return tuple(axis.coordinates for axis in self.space.axes)

    @cached_property
    def continuous(self) -> tuple[str, ...]:
        """Names of the axes that stand for a whole range."""
        return tuple(axis.name for axis in self.space.axes if axis.continuous)

    @property
    def objective_count(self) -> int:
        """Number of objectives."""
        return len(self.goals)

    @cached_property
    def floor(self) -> Column:
        """Losses (m,) that no design goes below: 0 for what is minimised and never negative."""
        signed = {quantity.name for quantity in self.quantities if quantity.signed}
        free = [goal.maximise or goal.name in signed for goal in self.goals]
        return np.where(free, -np.inf, 0.0)

    @cached_property
    def quantities(self) -> tuple[Objective, ...]:
        """Every quantity that the study can report: its goals, then in plug-in order."""
        goals = [goal.name for goal in self.goals]
        return tuple(sorted(self.graph.objectives, key=lambda quantity: quantity.name not in goals))

    @cached_property
    def partial_in_use(self) -> tuple[str, ...]:
        """Quantities in use that may not exist."""
        used = {goal.name for goal in self.goals}
        used.update(name for rule in self.constraints for name in rule.expression.names)
        return tuple(q.name for q in self.quantities if q.partial and q.name in used)

    @cached_property
    def requirement_steps(self) -> tuple[Step, ...]:
        """The requirements whose columns the study provides."""
        available = self.available
        steps = (bind(requirement, available) for requirement in self.requirements)
        return tuple(step for step in steps if step is not None)

    @cached_property
    def available(self) -> frozenset[str]:
        """Names of all columns: what the study sets, stages and objectives."""
        names = set(self.space.constants)
        for axis in self.space.axes:
            names.update(axis.columns)
        names.update(step.name for step in self.graph.steps)
        if self.stages:
            names.update(STAGE_COLUMNS)
        return frozenset(names)

    @property
    def bound_requirements(self) -> tuple[Requirement, ...]:
        """The requirements whose columns the study provides: the first of the constraints."""
        plugins = (step.plugin for step in self.requirement_steps)
        return tuple(plugin for plugin in plugins if isinstance(plugin, Requirement))

    @property
    def constraint_names(self) -> tuple[str, ...]:
        """What each column of a violation stands for, in words."""
        rules = tuple(requirement.rule for requirement in self.bound_requirements)
        exists = tuple(f"{name} exists" for name in self.partial_in_use)
        return rules + exists + tuple(rule.text for rule in self.constraints)

    @cached_property
    def search_plan(self) -> tuple[Step, ...]:
        """The quantities that losses and violations need, in order."""
        wanted = {goal.name for goal in self.goals}
        for rule in self.constraints:
            wanted.update(rule.expression.names)
        for step in self.requirement_steps:
            wanted.update(step.arguments)
        return self.graph.closure(wanted)

    def evaluate(
        self, points: Points, changed: Mapping[str, Column] | None = None, *, draws: int = 1
    ) -> Evaluation:
        """Evaluate designs, one result per row of an index (n, d) or design of a block.

        `changed` replaces columns that the space sets.  Where these, or the metrics of stages,
        have a row for each of several `draws`, there are draws * n results, draw after draw.

        Raises
        ------
        ContractError
            When a feasible design has a loss that is not finite: names quantity and design.
        """
        columns = self._columns(points, self.search_plan, self.requirement_steps, changed)
        violation = [requirement_violation(step, columns) for step in self.requirement_steps]
        violation += [
            np.where(np.isnan(columns[name]), np.inf, -1.0) for name in self.partial_in_use
        ]
        violation += [rule.expression.violation(columns) for rule in self.constraints]
        loss = [-columns[goal.name] if goal.maximise else columns[goal.name] for goal in self.goals]
        shape = shape_of(points) if draws == 1 else (draws, len(points))
        losses = rounded(matrix_of(loss, shape))
        evaluation = Evaluation(points, losses, matrix_of(violation, shape))
        self._refuse_nonsense(evaluation)
        return evaluation

    def describe(self, index: Index) -> dict[str, Column]:
        """Return every column of the designs `index`: inputs, stages and all quantities."""
        columns = self._columns(index, self.graph.steps, ())
        count = len(index)
        return {
            name: np.broadcast_to(column, (count,))
            for name, column in columns.items()
            if not isinstance(column, tuple)
        }

    def columns(
        self, index: Index, wanted: Iterable[str], changed: Mapping[str, Column] | None = None
    ) -> dict[str, Any]:
        """Return the columns `wanted` of the designs `index`, among others, as they broadcast."""
        return self._columns(index, self.graph.closure(wanted), (), changed)

    def counts(self, index: Index) -> dict[str, Column]:
        """Return the number of instances of each design, named ``<stage>.<design>``."""
        columns = self.space.columns(index)
        return {
            f"{stage.name}.{design}": np.broadcast_to(count, (len(index),))
            for stage in self.stages
            for design, count in zip(stage.designs.names, stage.counts(columns), strict=True)
        }

    def terms(self, index: Index, changed: Mapping[str, Column] | None = None) -> dict[str, Any]:
        """Return all columns of the designs `index`; those of stages as tuples.

        `changed` replaces columns that the space sets.
        """
        return self._columns(index, self.graph.steps, (), changed, every_stage_column=True)

    def _columns(
        self,
        points: Points,
        plan: Sequence[Step],
        requirements: Sequence[Step],
        changed: Mapping[str, Column] | None = None,
        *,
        every_stage_column: bool = False,
    ) -> dict[str, Any]:
        columns: dict[str, Any] = self.space.columns(points) | dict(changed or {})
        wanted = {name for step in (*plan, *requirements) for name in step.arguments}
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            columns |= self.stage_columns(columns, STAGE_COLUMNS if every_stage_column else wanted)
            for step in plan:
                columns[step.name] = step(columns)
        return columns

    def stage_columns(
        self, columns: Mapping[str, Any], wanted: Collection[str]
    ) -> dict[str, tuple[Any, ...]]:
        """Return those of `STAGE_COLUMNS` that are wanted, from columns or enclosures of inputs."""
        fleets = [stage.fleet(columns) for stage in self.stages]
        names = [name for name in STAGE_COLUMNS if fleets and name in wanted]
        return {name: tuple(fleet.column(name) for fleet in fleets) for name in names}

    def _refuse_nonsense(self, evaluation: Evaluation) -> None:
        if np.isnan(evaluation.violation).any():
            row, column = np.argwhere(np.isnan(evaluation.violation))[0]
            raise ContractError(
                f"requirement {self.constraint_names[column]!r} gives NaN for the design "
                f"{self._text(evaluation.points, row)}"
            )
        wrong = evaluation.feasible[:, np.newaxis] & ~np.isfinite(evaluation.loss)
        if wrong.any():
            row, column = np.argwhere(wrong)[0]
            raise ContractError(
                f"{self.goals[column].name} is {evaluation.loss[row, column]} for the design "
                f"{self._text(evaluation.points, row)}; an objective must be a finite number"
            )

    def _text(self, points: Points, row: int) -> str:
        return self.point_text(as_index(points, np.array([row % len(points)]))[0])

    def point_text(self, point: NDArray[np.int64]) -> str:
        """Return one design point, shape (d,), as ``axis = value`` pairs."""
        return ", ".join(
            f"{axis.name} = {axis.labels[choice]}"
            for axis, choice in zip(self.space.axes, point, strict=True)
        )


def requirement_violation(step: Step, columns: Mapping[str, Any]) -> Any:
    """Return the violation of a requirement, within the tolerance of written constraints."""
    strict = isinstance(step.plugin, Requirement) and step.plugin.strict
    return settled(step(columns), strict=strict)


def shape_of(points: Points) -> tuple[int, ...]:
    """Return the shape to which the columns of designs broadcast."""
    return (len(points),) if isinstance(points, np.ndarray) else points.shape or (1,)


def matrix_of(columns: Sequence[Column], shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Return columns that broadcast to `shape` as a matrix, one contiguous column each."""
    matrix = np.empty((len(columns), *shape))
    for position, column in enumerate(columns):
        matrix[position] = column
    return matrix.reshape(len(columns), math.prod(shape)).T


def rounded(loss: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return losses at 40 of their 53 significant bits (1e-12), by Veltkamp's splitting.

    Equal quantities that were added up in different orders become equal losses, so that
    rounding neither adds designs to a front nor drops them.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        carried = loss * (2.0**13 + 1.0)
        rounded = carried - (carried - loss)
    np.copyto(rounded, loss, where=~np.isfinite(carried))
    return rounded


def label_columns(
    quantities: Sequence[Objective], columns: Mapping[str, Column]
) -> dict[str, NDArray[Any]]:
    """Return `columns` of `quantities`, with codes replaced by their labels."""
    labelled: dict[str, NDArray[Any]] = {}
    for quantity in quantities:
        values = columns[quantity.name]
        if quantity.labels:
            codes = np.where(np.isfinite(values), values, 0).astype(np.int64)
            labelled[quantity.name] = np.array(quantity.labels, dtype=object)[codes]
        else:
            labelled[quantity.name] = values
    return labelled
