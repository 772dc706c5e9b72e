"""Wiring objectives by the names of their arguments.

An argument is a column of the study, another objective, or ``stage_<metric>``.  An argument
with a default is passed only when something provides it.
"""

from __future__ import annotations

import inspect
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from dse.contract import Column, Guard, Objective, Requirement
from dse.errors import ContractError


@dataclass(frozen=True)
class Step:
    """One function and the columns it takes."""

    plugin: Objective | Requirement | Guard
    arguments: tuple[str, ...]

    @property
    def name(self) -> str:
        """The column it makes."""
        return self.plugin.name

    def __call__(self, columns: Mapping[str, Any]) -> Column:
        """Return the column made from `columns`.

        Raises
        ------
        ContractError
            When the plug-in's function fails; the message names it.
        """
        arguments = {name: columns[name] for name in self.arguments}
        try:
            return self.plugin.function(**arguments)
        except Exception as error:  # whatever a foreign function raises
            raise ContractError(
                f"{self.name} fails: {type(error).__name__}: {error}; repair its plug-in, or "
                f"leave it out of the study"
            ) from error


@dataclass(frozen=True)
class Graph:
    """All objectives that `inputs` can feed, in an order in which each finds its arguments."""

    steps: tuple[Step, ...]
    objectives: tuple[Objective, ...]
    """The objectives of the steps, in the order of the plug-ins."""
    missing: Mapping[str, tuple[str, ...]]
    """Objectives that cannot be computed: name -> the inputs that nothing provides."""

    def closure(self, wanted: Iterable[str]) -> tuple[Step, ...]:
        """Return the steps needed for the columns `wanted`, in order."""
        needed = set(wanted)
        chosen = []
        for step in reversed(self.steps):
            if step.name in needed:
                chosen.append(step)
                needed.update(step.arguments)
        return tuple(reversed(chosen))


def wire(objectives: Mapping[str, Objective], inputs: Collection[str]) -> Graph:
    """Order `objectives` so that each comes after what it takes.

    Raises
    ------
    ContractError
        When objectives take each other in a circle; the message shows it.
    """
    available = set(inputs)
    steps: dict[str, Step] = {}
    missing: dict[str, tuple[str, ...]] = {}
    path: list[str] = []

    def provide(name: str) -> bool:
        if name in available or name in steps:
            return True
        if name not in objectives or name in missing:
            return False
        if name in path:
            circle = " -> ".join([*path[path.index(name) :], name])
            raise ContractError(f"objectives take each other in a circle: {circle}")
        path.append(name)
        required, optional = argument_names(objectives[name])
        lacking = tuple(wanted for wanted in required if not provide(wanted))
        given = tuple(wanted for wanted in optional if provide(wanted))
        path.pop()
        if lacking:
            missing[name] = lacking
            return False
        steps[name] = Step(objectives[name], required + given)
        return True

    for name in objectives:
        provide(name)
    computed = tuple(objective for name, objective in objectives.items() if name in steps)
    return Graph(tuple(steps.values()), computed, missing)


def bind(rule: Requirement | Guard, available: Collection[str]) -> Step | None:
    """Return a rule as a step, or None when the study lacks its arguments."""
    required, optional = argument_names(rule)
    if not set(required) <= set(available):
        return None
    return Step(rule, required + tuple(name for name in optional if name in available))


def argument_names(
    plugin: Objective | Requirement | Guard,
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of the arguments that a plug-in must have, and those it may have."""
    parameters = inspect.signature(plugin.function).parameters.values()
    required = tuple(p.name for p in parameters if p.default is inspect.Parameter.empty)
    optional = tuple(p.name for p in parameters if p.default is not inspect.Parameter.empty)
    return required, optional


def explain_missing(name: str, missing: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Return the study inputs whose absence keeps objective `name` from being computed."""
    found: list[str] = []
    for lacking in missing.get(name, ()):
        deeper = explain_missing(lacking, missing)
        found.extend(entry for entry in deeper or (lacking,) if entry not in found)
    return tuple(found)
