"""The host without accelerators: a design of no instances, beside the product of the axes.

Its row has `NOWHERE` on every axis except the axes that set its own columns.  It is a problem
without stages, wired from the quantities of its study (`dse.contract.Alone`).
"""

from __future__ import annotations

import inspect
from collections import ChainMap
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.contract import Alone, Column, Objective
from dse.model.evaluation import Evaluation, Problem
from dse.model.graph import Graph, wire
from dse.model.space import NOWHERE, Index, Points, Space, as_index, constant, one_block

INTERFACE = "interface_"

_MOST = 10_000
"""Most rows of the host: the product of the values of its axes."""


def hosts_among(points: Points) -> NDArray[np.bool_] | None:
    """Return whether each row (n,) of an index is the host, or None if no row is."""
    if not isinstance(points, np.ndarray) or not points.size or points.min() >= 0:
        return None
    return np.asarray((points < 0).any(axis=1))


@dataclass(frozen=True)
class HostAlone:
    """A study whose host does the work without accelerators, by its quantities.

    `about` has the columns that replace others, and the host's own.  `places` are the axes that it
    takes, and `unknown` are facts that its comparison lacks, none if it is a design.
    """

    graph: Graph
    about: Alone
    places: tuple[int, ...]
    unknown: tuple[str, ...]

    def problem(self, whole: Problem) -> Problem:
        """Return the host as a separate problem, or None if it cannot be compared."""
        return None if self.lacking(whole) else self._problem(whole)

    def lacking(self, whole: Problem) -> tuple[str, ...]:
        """Return the missing facts for its comparison, for the present numbers of a study."""
        space = self._problem(whole).space
        columns = [space.constants, *(axis.columns for axis in space.axes)]
        own = {name: each[name] for each in columns for name in self.about.own if name in each}
        with np.errstate(invalid="ignore"):
            known = {name for name, at in own.items() if (np.isfinite(at) & (at > 0)).all()}
        few = (f"room for more than {_MOST:,} of it",) if space.size > _MOST else ()
        return (*(name for name in self.about.own if name not in known), *self.unknown, *few)

    def _problem(self, whole: Problem) -> Problem:
        about, space = self.about, whole.space
        axes = [
            replace(axis, columns={n: v for n, v in axis.columns.items() if keeps(about, n)})
            for axis in (space.axes[place] for place in self.places)
        ]
        given = about.columns.items()
        fixed = {name: constant(one) for name, one in given if not isinstance(one, str)}
        return replace(
            whole,
            space=Space(tuple(axes), {**space.constants, **fixed}),
            stages=(),
            graph=self.graph,
            requirements=whole.bound_requirements,
            beside=False,
        )

    def kept(self, changed: Mapping[str, Any] | None, alone: NDArray[np.bool_]) -> dict[str, Any]:
        """Return the changed columns that the host takes, at its rows of all (n,)."""
        return {
            name: column[..., alone] if np.shape(column)[-1:] == alone.shape else column
            for name, column in (changed or {}).items()
            if keeps(self.about, name)
        }


def keeps(about: Alone, name: str) -> bool:
    """Return whether a column that a study sets is the same for the host without accelerators."""
    gone = name in about.columns or name.startswith(INTERFACE)
    return name in about.own or not gone


def host_alone(problem: Problem) -> HostAlone | None:
    """Return a study's host without accelerators, or None if the study does not compare it."""
    about = _compared(problem)
    if about is None:
        return None
    space = problem.space
    columns = {*space.constants, *(name for axis in space.axes for name in axis.columns)}
    given = {name for name in columns if keeps(about, name)}
    others = {name: other for name, other in about.columns.items() if isinstance(other, str)}
    aliases = {name: standing_for(name, other) for name, other in others.items()}
    inputs = given | (about.columns.keys() - others.keys())
    graph = wire(ChainMap(aliases, problem.graph.quantities), inputs)
    steps = filter(None, map(graph.bind, problem.bound_requirements))
    taken = {*problem.in_use, *(name for step in steps for name in step.arguments)}
    taken |= {name for step in graph.closure(taken) for name in step.arguments}
    taken &= given
    places = tuple(place for place, axis in enumerate(space.axes) if taken & axis.columns.keys())
    return HostAlone(graph, about, places, _unknown(problem, graph, about.cost, others))


def _compared(problem: Problem) -> Alone | None:
    """Return the columns of the host in a study, or None if the study does not compare it."""
    if not problem.beside or not problem.stages or problem.measured is not None:
        return None
    found = (one.alone for one in problem.graph.objectives if one.alone is not None)
    about: Alone | None = next(found, None)
    if about is None:
        return None
    stages = tuple(f"{stage.name}." for stage in problem.stages)
    own = (name for name in problem.graph.quantities if name.startswith(stages))
    return replace(about, columns={**about.columns, **dict.fromkeys(own, 0.0)})


def _unknown(
    problem: Problem, graph: Graph, cost: str, others: Mapping[str, str]
) -> tuple[str, ...]:
    """Return the first kind of facts that the comparison lacks.  `others` replace columns."""
    known = problem.graph.provides
    lacking = [one for name, one in others.items() if known(name) and not graph.provides(one)]
    unknown = lacking or [name for name in problem.in_use if not graph.provides(name)]
    counted = {step.name for step in graph.closure(goal.name for goal in problem.goals)}
    if not unknown and cost not in counted:
        unknown = [f"an objective that counts {cost}"]
    return tuple(unknown)


def hosts_of(problem: Problem) -> Index:
    """Return the designs of the host without accelerators (n, d), perhaps none."""
    host, axes = problem.host, len(problem.sizes)
    if problem.alone is None or host is None:
        return np.empty((0, axes), dtype=np.int64)
    found = np.full((host.size, axes), NOWHERE, dtype=np.int64)
    found[:, problem.alone.places] = as_index(one_block(host.sizes))
    return found


def standing_for(name: str, other: str, stage: int | None = None) -> Objective:
    """Return the quantity `name` that equals a column, or the column's part for one stage."""

    def same(**columns: Any) -> Column:
        found: Column = columns[other] if stage is None else columns[other][stage]
        return found

    same.__name__, same.__doc__ = name, f"The same as {other}."
    taken = inspect.Parameter(other, inspect.Parameter.KEYWORD_ONLY)
    same.__signature__ = inspect.Signature([taken])  # type: ignore[attr-defined]
    return Objective(same, source="definition", rises_with=(other,))


def with_hosts(
    problem: Problem,
    found: Evaluation,
    points: Index,
    changed: Mapping[str, Any] | None = None,
    *,
    draws: int = 1,
) -> Evaluation:
    """Return an evaluation of designs (n, d) in which rows of the host have its evaluation.

    `changed` and `draws` as in `Problem.evaluate`.
    """
    alone = hosts_among(points)
    if alone is None or problem.alone is None or problem.host is None:
        return found
    wiring, host = problem.alone, problem.host
    own = host.evaluate(points[alone][:, wiring.places], wiring.kept(changed, alone), draws=draws)
    rows = np.tile(alone, draws)
    loss, violation, failed = found.loss.copy(), found.violation.copy(), found.failed.copy()
    loss[rows], failed[rows] = own.loss, own.failed
    places = {name: place for place, name in enumerate(host.constraint_names)}
    for column, name in enumerate(problem.constraint_names):
        violation[rows, column] = own.violation[:, places[name]] if name in places else -1.0
    return Evaluation(points, loss, violation, failed, own.failure or found.failure)


def columns_with_hosts(
    problem: Problem, found: Mapping[str, Any], points: Index, changed: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Return columns of designs (n, d) with rows of hosts, or NaN if the host lacks a column."""
    alone = hosts_among(points)
    if alone is None or problem.alone is None or problem.host is None:
        return dict(found)
    wiring, host = problem.alone, problem.host
    wanted = [name for name in found if wiring.graph.provides(name)]
    own = host.columns(points[alone][:, wiring.places], wanted, wiring.kept(changed, alone))

    def joined(column: Any, at: Any) -> Any:
        width = np.broadcast_shapes(np.shape(column), (*np.shape(at)[:-1], len(points)))
        whole = np.array(np.broadcast_to(column, width), dtype=np.float64)
        whole[..., alone] = at
        return whole

    return {
        name: tuple(joined(part, np.nan) for part in column)
        if isinstance(column, tuple)
        else joined(column, own.get(name, np.nan))
        for name, column in found.items()
    }
