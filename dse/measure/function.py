"""A Python function of the user that measures one design, and checks of one in a file."""

from __future__ import annotations

import ast
import hashlib
import inspect
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from dse.contract.evaluators import Measurement, Value
from dse.errors import UnitError, nearest
from dse.measure.called import outcome
from dse.measure.outputs import NO_OUTPUTS, RETURNED, Declared, UnusableOutputError, values


@dataclass(frozen=True, kw_only=True)
class FunctionEvaluator:
    """A function with an argument for each axis, which returns outputs by name.

    Attributes
    ----------
    function
        Gets numbers in SI and choices as texts, as keyword arguments.  Returns numbers in the
        units of `outputs`, or texts with their own (``"3 mW"``).  Raises `InfeasibleDesign` for an
        infeasible design.  Any other exception is an accident.
    outputs, identity
        As in `dse.contract.evaluators.Evaluator`.
    declared
        Ranges of the outputs.
    """

    function: Callable[..., Mapping[str, float | str]]
    outputs: Mapping[str, str] = field(hash=False)
    identity: str
    declared: Declared = NO_OUTPUTS

    def measure(
        self, design: Mapping[str, Value], folder: Path, stop: Callable[[], bool]
    ) -> Measurement:
        """Measure one design once.  Exceptions of the function become causes."""
        kind, cause, text = outcome(self.function, design)
        if not kind:
            try:
                found = values(text.encode(), self.outputs, RETURNED, self.declared)
                return Measurement(values=found)
            except UnusableOutputError as error:
                kind, cause = error.kind, str(error)
        return Measurement(values={}, cause=cause, kind=kind)


def require_function(text: str, name: str, axes: Collection[str]) -> None:
    """Raise an error if a Python file lacks a function of these axes, without running it.

    Raises
    ------
    UnitError
        With rule and remedy.

    Examples
    --------
    >>> require_function("def area(unroll, width=8): ...", "area", ["unroll"])
    """
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise UnitError(f"the file is no Python: {error}", "repair it") from error
    known = {one.name: one.args for one in tree.body if isinstance(one, ast.FunctionDef)}
    if name not in known:
        remedy = nearest(name, known) if known else f"write `def {name}(...)`"
        raise UnitError(f"the file defines no function {name!r}", remedy)
    given = known[name]
    if not _takes(given, {*axes}):
        names = [one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
        taken = ", ".join(names) or "nothing"
        rule = f"{name} is called with {', '.join(axes)}, by name, and it takes {taken}"
        raise UnitError(rule, "name its arguments and the axes alike")


def _takes(given: ast.arguments, axes: set[str]) -> bool:
    """Return whether a function with some arguments can be called with these axes by name."""
    names = {one.arg for one in (*given.args, *given.kwonlyargs)}
    required = {one.arg for one in given.args[: len(given.args) - len(given.defaults)]}
    pairs = zip(given.kwonlyargs, given.kw_defaults, strict=True)
    required |= {one.arg for one, default in pairs if default is None}
    known = given.kwarg is not None or axes <= names
    return known and required <= axes and not given.posonlyargs


def code_identity(function: Callable[..., object]) -> str:
    """Return the name of a function with a hash of its text, if there is one.

    For a callable object, these are of its class: a version names its state.
    """
    named = function if hasattr(function, "__qualname__") else type(function)
    name = f"{named.__module__}.{named.__qualname__}"
    try:
        text = inspect.getsource(named)
    except (OSError, TypeError):
        return name
    return f"{name} {hashlib.sha256(text.encode()).hexdigest()}"
