"""A Python function of the user's own that measures one design: given, or of a file by name."""

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
    """A function of keyword arguments named as the axes, which returns outputs by name.

    Attributes
    ----------
    function
        Takes keyword arguments named as the axes of the study, numbers in SI and choices as
        texts; returns its outputs by name: numbers in the units of `outputs`, or texts with their
        own (``"3 mW"``).  It raises `InfeasibleDesign` where a design is infeasible; whatever else
        it raises is an accident.
    outputs, identity
        As of `dse.contract.evaluators.Evaluator`.
    declared
        What its outputs mean besides.
    """

    function: Callable[..., Mapping[str, float | str]]
    outputs: Mapping[str, str] = field(hash=False)
    identity: str
    declared: Declared = NO_OUTPUTS

    def measure(self, design: Mapping[str, Value], folder: Path) -> Measurement:
        """Measure one design once; whatever the function raises is why that failed."""
        begin = time.monotonic()
        kind, cause, read_back = "", "", dict[str, float]()
        try:
            read_back = self._values(self.function(**design))
        except InfeasibleDesign as said:
            kind, cause = INFEASIBLE, str(said) or "it is infeasible"
        except UnusableOutputError as error:
            kind, cause = "output", str(error)
        except MemoryError:
            raise
        except FOREIGN as error:  # whatever a foreign function raises
            kind, cause = "exit", f"{type(error).__name__}: {error}"
        seconds = time.monotonic() - begin
        return Measurement(values=read_back, cause=cause, kind=kind, seconds=seconds)

    def _values(self, found: object) -> dict[str, float]:
        if not isinstance(found, Mapping):
            rule = f"the function returns a {type(found).__name__}, not a dict of its outputs"
            raise UnusableOutputError(rule)
        plain = {str(name): _plain(value) for name, value in found.items()}
        return values(json.dumps(plain).encode(), self.outputs, "what it returns", self.declared)


def _plain(value: object) -> object:
    """Return a number of numpy as one of Python; what is neither number nor text by its kind."""
    item = getattr(value, "item", None)
    value = item() if callable(item) and getattr(value, "size", 1) == 1 else value
    plain = value is None or isinstance(value, int | float | str)
    return value if plain else {"kind": type(value).__name__}


@dataclass(frozen=True, kw_only=True)
class FileFunction:
    """A function of a file of Python, which is imported where it measures, and nowhere else.

    Attributes
    ----------
    file, name
        Path of the file, and what the function is called there.
    outputs, identity, declared
        As of `FunctionEvaluator`.
    """

    file: str
    name: str
    outputs: Mapping[str, str] = field(hash=False)
    identity: str
    declared: Declared = NO_OUTPUTS

    def measure(self, design: Mapping[str, Value], folder: Path) -> Measurement:
        """Measure one design once; a file that cannot be imported fails as a program would."""
        try:
            function = _imported(self.file, self.name, self.identity)
        except FOREIGN as error:  # whatever a foreign module raises
            cause = f"{self.file} cannot be imported: {type(error).__name__}: {error}"
            return Measurement(values={}, cause=cause, kind="start")
        return FunctionEvaluator(
            function=function, outputs=self.outputs, identity=self.identity, declared=self.declared
        ).measure(design, folder)


@cache
def _imported(file: str, name: str, identity: str) -> Callable[..., Any]:
    """Import a file as a module of its own, which finds others beside it, and return a function.

    One of another `identity` has another content, and is imported again.
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
    """Refuse a file of Python that has no such function of these axes; nothing of it is run.

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
    names = [one.arg for one in (*given.args, *given.kwonlyargs)]
    defaults = [one.arg for one in given.args[len(given.args) - len(given.defaults) :]]
    pairs = zip(given.kwonlyargs, given.kw_defaults, strict=True)
    defaults += [one.arg for one, default in pairs if default is not None]
    positional = [one.arg for one in given.posonlyargs]
    lacking = [one for one in axes if one not in names and given.kwarg is None]
    more = [one for one in names if one not in axes and one not in defaults]
    if lacking or more or positional:
        said = f"it takes {', '.join((*positional, *names)) or 'nothing'}"
        rule = f"{name} is called with {', '.join(axes)}, by name, and {said}"
        raise UnitError(rule, "name its arguments and the axes alike")


def code_identity(function: Callable[..., object]) -> str:
    """Return the name of a function and a hash of its text; of one without text its name alone.

    Of an object that is called it is those of its class: what it holds is named by a version.
    """
    named = function if hasattr(function, "__qualname__") else type(function)
    name = f"{named.__module__}.{named.__qualname__}"
    try:
        text = inspect.getsource(named)
    except (OSError, TypeError):
        return name
    return f"{name} {hashlib.sha256(text.encode()).hexdigest()}"
