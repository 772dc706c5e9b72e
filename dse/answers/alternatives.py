"""What any other choice would cost: the best design with one choice made otherwise."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dse.answers.design import Pick, pick
from dse.answers.shortfall import Shortfall, shortfalls
from dse.model.preference import Preference
from dse.model.problem import Problem
from dse.model.space import Axis, Space
from dse.runs import runner
from dse.runs.runner import Options
from dse.study.study import Study

MOST_CHOICES = 60
"""Choices by name of one axis beyond this number are not tried one by one."""


@dataclass(frozen=True)
class Alternative:
    """The best design with one choice made otherwise.

    Attributes
    ----------
    axis, choice
        What is chosen, and how: ``interface.device`` and ``apu``.
    design
        The best such design, None when none is feasible.
    merit
        What the preference minimises for it; None when it is no single quantity, or infeasible.
    misses
        When nothing is feasible: the least misses of one constraint alone, or of several that
        are missed together.
    together
        Whether the misses come together.
    """

    axis: str
    choice: str
    design: Pick | None
    merit: float | None = None
    shortfalls: tuple[Shortfall, ...] = ()
    together: bool = False

    @property
    def closest(self) -> Pick | None:
        """The design, or the one that comes closest to being feasible."""
        return self.design or (self.shortfalls[0].design if self.shortfalls else None)

    @property
    def does_what_is_asked(self) -> bool:
        """Whether `closest` meets every lower bound, whatever else it misses."""
        if self.together:
            return not any(miss.at_least for miss in self.shortfalls)
        return not (self.shortfalls and self.shortfalls[0].at_least)


Cut = Mapping[int, Sequence[int]]
"""Positions of an axis -> the positions of the values that stay."""


def restrict(problem: Problem, cut: Cut) -> Problem:
    """Return a problem with only some values of some axes."""
    axes = tuple(
        _part(axis, cut[place]) if place in cut else axis
        for place, axis in enumerate(problem.space.axes)
    )
    return replace(problem, space=Space(axes, problem.space.constants))


def _part(axis: Axis, kept: Sequence[int]) -> Axis:
    columns = {name: values[list(kept)] for name, values in axis.columns.items()}
    return replace(axis, columns=columns, labels=tuple(axis.labels[place] for place in kept))


def alternatives(
    study: Study, options: Options, preference: Preference, answer: Pick
) -> tuple[Alternative, ...]:
    """Return the best design for every other choice by name, and with or without each design."""
    found = []
    for axis, choice, cut in _cuts(study.problem, answer):
        other = _best(replace(study, problem=restrict(study.problem, cut)), options, preference)
        found.append(replace(other, axis=axis, choice=choice))
    return tuple(found)


def _cuts(problem: Problem, answer: Pick) -> Iterator[tuple[str, str, Cut]]:
    """Yield every other way to make one choice: axis, choice, and what stays of the space.

    A design that the answer does not use changes nothing when it is left out.
    """
    axes = problem.space.axes
    for place, axis in enumerate(axes):
        if not axis.ordered and 1 < axis.size <= MOST_CHOICES:
            for position, label in enumerate(axis.labels):
                if not _chosen(axis, label, answer):
                    yield axis.name, label, {place: [position]}
    for stage in problem.stages:
        names = [f"{stage.name}.{design}" for design in stage.designs.names]
        places = {axis.name: place for place, axis in enumerate(axes) if axis.name in names}
        if not stage.mixed or not 1 < len(places) <= MOST_CHOICES:
            continue
        none = {name: _zero(axes[place]) for name, place in places.items()}
        for name, place in places.items():
            design = name.removeprefix(f"{stage.name}.")
            if none[name] and name in answer.counts:
                yield stage.name, f"without {design}", {place: none[name]}
            others = {places[other]: none[other] for other in places if other != name}
            if all(others.values()) and not _alone(stage.name, name, answer):
                yield stage.name, f"only {design}", others


def _alone(stage: str, name: str, answer: Pick) -> bool:
    """Return whether the answer has no other design in a stage."""
    return [used for used in answer.counts if used.startswith(f"{stage}.")] == [name]


def _chosen(axis: Axis, label: str, answer: Pick) -> bool:
    stage, _, _ = axis.name.partition(".")
    return answer.choices.get(axis.name) == label or f"{stage}.{label}" in answer.counts


def _zero(axis: Axis) -> list[int]:
    return np.flatnonzero(axis.columns[axis.unit_name] == 0).tolist()


def _best(study: Study, options: Options, preference: Preference) -> Alternative:
    problem = study.problem
    outcome = runner.solve_study(study, options, None).outcome
    if len(outcome.front_index):
        front = outcome.front_index
        point = front[preference.order(problem, front)[0]]
        merit = None
        if preference.is_quantity:
            merit = float(preference.merit(problem, point[np.newaxis])[0])
        return Alternative("", "", pick(problem, point, preference.quantity), merit)
    found, together = shortfalls(problem, outcome, preference)
    return Alternative("", "", None, shortfalls=found, together=together)
