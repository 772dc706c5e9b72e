"""A Python function of the user that measures one design: an object, or a name in a file."""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import inspect
import json
import sys
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from dse.contract.evaluators import INFEASIBLE, InfeasibleDesign, Measurement, Value
from dse.errors import FOREIGN, UnitError, nearest
from dse.measure.outputs import NO_OUTPUTS, Declared, UnusableOutputError, values


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

    def measure(self, design: Mapping[str, Value], folder: Path) -> Measurement:
        """Measure one design once.  Exceptions of the function become causes."""
        begin = time.monotonic()
        kind, cause, found = "", "", dict[str, float]()
        try:
            found = self._values(self.function(**design))
        except InfeasibleDesign as reason:
            kind, cause = INFEASIBLE, str(reason) or "it is infeasible"
        except UnusableOutputError as error:
            kind, cause = "output", str(error)
        except MemoryError:
            raise
        except FOREIGN as error:  # anything that a foreign function raises
            kind, cause = "exit", f"{type(error).__name__}: {error}"
        seconds = time.monotonic() - begin
        return Measurement(values=found, cause=cause, kind=kind, seconds=seconds)

    def _values(self, found: object) -> dict[str, float]:
        if not isinstance(found, Mapping):
            rule = f"the function returns a {type(found).__name__}, not a dict of its outputs"
            raise UnusableOutputError(rule)
        plain = {str(name): _plain(value) for name, value in found.items()}
        return values(json.dumps(plain).encode(), self.outputs, "what it returns", self.declared)


def _plain(value: object) -> object:
    """Return a number of numpy as one of Python, and other objects as the name of their type."""
    item = getattr(value, "item", None)
    value = item() if callable(item) and getattr(value, "size", 1) == 1 else value
    plain = value is None or isinstance(value, int | float | str)
    return value if plain else {"kind": type(value).__name__}


@dataclass(frozen=True, kw_only=True)
class FileFunction:
    """A function in a Python file, which is imported only to measure.

    Attributes
    ----------
    file, name
        Path of the file, and name of the function.
    outputs, identity, declared
        As in `FunctionEvaluator`.
    """

    file: str
    name: str
    outputs: Mapping[str, str] = field(hash=False)
    identity: str
    declared: Declared = NO_OUTPUTS

    def measure(self, design: Mapping[str, Value], folder: Path) -> Measurement:
        """Measure one design once.  A file that cannot be imported fails like a program."""
        try:
            function = _imported(self.file, self.name, self.identity)
        except FOREIGN as error:  # anything that a foreign module raises
            cause = f"{self.file} cannot be imported: {type(error).__name__}: {error}"
            return Measurement(values={}, cause=cause, kind="start")
        return FunctionEvaluator(
            function=function, outputs=self.outputs, identity=self.identity, declared=self.declared
        ).measure(design, folder)


@cache
def _imported(file: str, name: str, identity: str) -> Callable[..., Any]:
    """Import a file, with its folder in the path, and return a function.

    A file of another `identity` has another content, and is imported again.
    """
    place = Path(file)
    spec = importlib.util.spec_from_file_location(f"_measuring_{place.stem}", file)
    if spec is None or spec.loader is None:
        raise ImportError("it is no file of Python")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    sys.path.insert(0, str(place.parent))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(place.parent))
    found: Callable[..., Any] = getattr(module, name)
    return found


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
