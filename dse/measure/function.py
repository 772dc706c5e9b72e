"""A Python function of the user that measures one design."""

from __future__ import annotations

import hashlib
import inspect
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from dse.contract.evaluators import INFEASIBLE, InfeasibleDesign, Measurement, Value
from dse.errors import FOREIGN
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
