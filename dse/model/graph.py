"""Objectives wired by the names of their arguments.

An argument is a column of the study, another objective, or ``stage_<metric>``.  An argument
with a default is passed only if it is provided.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.algebra.enclosure import Enclosure
from dse.algebra.expression import settled
from dse.contract import Column, Guard, Objective, Requirement
from dse.errors import FOREIGN, ContractError, EvaluationError, PluginError

REMEDY = "repair its plug-in, or leave it out of the study"


@dataclass(frozen=True)
class Step:
    """One function and the columns it takes."""

    plugin: Objective | Requirement | Guard
    arguments: tuple[str, ...]

    @cached_property
    def name(self) -> str:
        """Return the name of the column it makes."""
        return self.plugin.name

    def __call__(self, columns: Mapping[str, Any]) -> Column:
        """Return the column made from `columns`.

        Raises
        ------
        EvaluationError
            The plug-in's function fails.  The message names it.
        ContractError
            It returns no number for each design.
        """
        arguments = {name: columns[name] for name in self.arguments}
        try:
            column: Column = _numbers(self.plugin.function(**arguments), arguments.values())
        except _NoColumnError as error:
            raise ContractError(f"{self.name} fails: {error}; {REMEDY}") from error
        except FOREIGN as error:
            said = f"{self.name} fails: {type(error).__name__}: {error}"
            raise EvaluationError(said, REMEDY) from error
        return column


_FLOAT = np.dtype(np.float64)


class _NoColumnError(Exception):
    """A result of a function that is no column, in words."""


def _numbers(result: Any, arguments: Collection[Any]) -> Any:
    """Return the result of a function as a column, or as the enclosure that it is."""
    if type(result) is np.ndarray and result.dtype is _FLOAT:
        shape = result.shape
        for one in arguments:  # an argument has the joint shape of the designs, or broadcasts
            if (one[0] if type(one) is tuple else one).shape == shape:
                return result
    if isinstance(result, Enclosure):
        return result
    column: Column = np.asarray(result)
    if column.dtype.kind not in "fiub":
        kind = {"c": "complex numbers", "U": "text", "S": "bytes"}.get(column.dtype.kind, "objects")
        raise _NoColumnError(f"it returns {kind}, not a real number for each design")
    if column.shape not in ((), (1,)):
        given = joint_shape(arguments)
        if column.shape != given and not _fits(column.shape, given):
            rule = f"it returns the shape {column.shape} for columns of the shape {given}"
            raise _NoColumnError(rule)
    return np.atleast_1d(column.astype(np.float64, copy=False))


def joint_shape(arguments: Iterable[Any]) -> tuple[int, ...]:
    """Return the shape to which columns, and tuples of columns, broadcast together."""
    parts = (part for one in arguments for part in (one if isinstance(one, tuple) else (one,)))
    return np.broadcast_shapes(*(np.shape(part) for part in parts))


def _fits(shape: tuple[int, ...], given: tuple[int, ...]) -> bool:
    """Return whether a column of one shape broadcasts to another."""
    tail = zip(reversed(shape), reversed(given), strict=False)
    return len(shape) <= len(given) and all(own in (1, other) for own, other in tail)


@dataclass(frozen=True, eq=False)
class Graph:
    """Objectives that `inputs` can feed, each looked up on request.

    A lookup of a quantity may import it, and an iteration all of them.  A quantity among the
    inputs, which a study sets, has this value.
    """

    quantities: Mapping[str, Objective]
    inputs: Collection[str]
    _found: dict[str, Step | None] = field(default_factory=dict, init=False, repr=False)

    def provides(self, name: str, path: tuple[str, ...] = ()) -> bool:
        """Return whether `name` is an input, or a quantity that the inputs can feed.

        `path` has the quantities that took each other before it.

        Raises
        ------
        ContractError
            Objectives take each other in a circle.  The message shows it.
        PluginError
            An objective that it takes cannot be used.
        """
        return name in self.inputs or self._step(name, path) is not None

    def bind(
        self, plugin: Objective | Requirement | Guard, path: tuple[str, ...] = ()
    ) -> Step | None:
        """Return a plug-in with the arguments that it gets, or None if it lacks one."""
        required, optional = argument_names(plugin)
        # columns of the study first: without one of them, nothing more need be looked up
        for name in sorted(required, key=self.quantities.__contains__):
            if not self.provides(name, path):
                return None
        return Step(plugin, required + tuple(one for one in optional if self.provides(one, path)))

    def closure(self, wanted: Iterable[str]) -> tuple[Step, ...]:
        """Return the steps needed for the columns `wanted`, each after the steps that it needs."""
        ordered: dict[str, Step] = {}

        def add(name: str) -> None:
            step = None if name in ordered or name in self.inputs else self._step(name, ())
            if step is not None:
                for argument in step.arguments:
                    add(argument)
                ordered[name] = step

        for name in sorted(wanted):
            add(name)
        return tuple(ordered.values())

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """Return the steps of all quantities."""
        return self.closure(quantity.name for quantity in self.objectives)

    @property
    def objectives(self) -> tuple[Objective, ...]:
        """Return all quantities that have a value, in their given order."""
        return self._sorted[0]

    @property
    def missing(self) -> Mapping[str, tuple[str, ...]]:
        """Return objectives that cannot be computed: name -> the missing inputs."""
        return self._sorted[1]

    @cached_property
    def _sorted(self) -> tuple[tuple[Objective, ...], Mapping[str, tuple[str, ...]]]:
        """Sort all objectives into those that can be computed and those that lack inputs.

        An objective that cannot be used, or needs such an objective, is in neither group.
        """
        computed, missing = [], {}
        for name in self.quantities:
            try:
                if self.provides(name):
                    computed.append(self.quantities[name])
                else:
                    required, _ = argument_names(self.quantities[name])
                    missing[name] = tuple(one for one in required if not self.provides(one))
            except (PluginError, ContractError):
                continue
        return tuple(computed), missing

    def _step(self, name: str, path: tuple[str, ...]) -> Step | None:
        """Return the step of a quantity on the `path` to another, or None if it lacks inputs."""
        if name in self._found or name not in self.quantities:
            return self._found.get(name)
        if name in path:
            circle = " -> ".join([*path[path.index(name) :], name])
            raise ContractError(f"objectives take each other in a circle: {circle}")
        found = self.bind(self.quantities[name], (*path, name))
        self._found[name] = found
        return found


def wire(objectives: Mapping[str, Objective], inputs: Collection[str]) -> Graph:
    """Return the graph of `objectives` that `inputs` can feed."""
    return Graph(objectives, frozenset(inputs))


def missed_by(step: Step, missed: Any) -> Any:
    """Return the miss of a requirement, within the tolerance of constraints."""
    strict = isinstance(step.plugin, Requirement) and step.plugin.strict
    return settled(missed, strict=strict)


def argument_names(
    plugin: Objective | Requirement | Guard,
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of the required and of the optional arguments of a plug-in."""
    return _argument_names(plugin.function)


@cache
def _argument_names(function: Callable[..., Column]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    parameters = inspect.signature(function).parameters.values()
    required = tuple(p.name for p in parameters if p.default is inspect.Parameter.empty)
    optional = tuple(p.name for p in parameters if p.default is not inspect.Parameter.empty)
    return required, optional


def explain_missing(name: str, missing: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Return the study inputs whose absence prevents the computation of objective `name`."""
    found: list[str] = []
    for lacking in missing.get(name, ()):
        deeper = explain_missing(lacking, missing)
        found.extend(entry for entry in deeper or (lacking,) if entry not in found)
    return tuple(found)


class Failures:
    """Designs of one evaluation that failed, and the cause of the first."""

    def __init__(self) -> None:
        """Start without failures."""
        self.first = ""
        self._masks: list[NDArray[np.bool_]] = []

    def column(self, step: Step, columns: Mapping[str, Any]) -> Column:
        """Return the column of a step, with NaN for the designs for which it fails.

        A step that fails only for whole columns, not for a single design, is an error.
        """
        try:
            return step(columns)
        except EvaluationError:
            given = {name: columns[name] for name in step.arguments}
            found, failed, reason = _divided(step, given)
            if not failed.any():
                raise
        self.first = self.first or reason
        self._masks.append(failed)
        return found

    def rows(self, shape: tuple[int, ...]) -> NDArray[np.bool_]:
        """Return whether each design (n,) failed, for columns that broadcast to `shape`."""
        failed = np.zeros(shape, dtype=bool)
        for mask in self._masks:
            failed |= mask
        return failed.ravel()


def _divided(step: Step, given: Mapping[str, Any]) -> tuple[Column, NDArray[np.bool_], str]:
    """Evaluate the halves of a batch that fails, recursively, down to the designs that fail."""
    shape = joint_shape(given.values())

    def flat(column: Column) -> Column:
        return np.broadcast_to(column, shape).reshape(-1)

    rows = {name: each_column(value, flat) for name, value in given.items()}
    count = math.prod(shape)
    found, failed = np.full(count, np.nan), np.zeros(count, dtype=bool)
    reason = ""
    pending = [slice(0, count)]
    while pending:
        some = pending.pop()
        try:
            found[some] = step({name: each_column(v, itemgetter(some)) for name, v in rows.items()})
        except EvaluationError as error:
            if some.stop - some.start == 1:
                failed[some], reason = True, reason or error.message
                continue
            middle = (some.start + some.stop) // 2
            pending += [slice(middle, some.stop), slice(some.start, middle)]
    return found.reshape(shape), failed.reshape(shape), reason


def each_column(value: Any, change: Callable[[Column], Column]) -> Any:
    """Return a changed column, or each changed column of a tuple."""
    return tuple(map(change, value)) if isinstance(value, tuple) else change(value)
