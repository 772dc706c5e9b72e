"""A Python function that measures one design."""

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
from dse.evaluators import outputs as told


@dataclass(frozen=True, kw_only=True)
class FunctionEvaluator:
    """A function of keyword arguments named as the axes, which returns outputs by name.

    Attributes
    ----------
    function
        As of `dse.contract.evaluators.Measurer`.
    outputs, identity
        As of `dse.contract.evaluators.Evaluator`.
    declared
        What its outputs mean besides.
    """

    function: Callable[..., Mapping[str, float | str]]
    outputs: Mapping[str, str] = field(hash=False)
    identity: str
    declared: told.Declared = told.NOTHING

    def measure(self, design: Mapping[str, Value], folder: Path) -> Measurement:
        """Measure one design once; whatever the function raises is why that failed."""
        begin = time.monotonic()
        kind, cause, values = "", "", {}
        try:
            values = self._values(self.function(**design))
        except InfeasibleDesign as said:
            kind, cause = INFEASIBLE, str(said) or "it is infeasible"
        except told.UnusableOutputError as error:
            kind, cause = "output", str(error)
        except MemoryError:
            raise
        except FOREIGN as error:  # whatever a foreign function raises
            kind, cause = "exit", f"{type(error).__name__}: {error}"
        seconds = time.monotonic() - begin
        return Measurement(values=values, cause=cause, kind=kind, seconds=seconds)

    def _values(self, found: object) -> dict[str, float]:
        if not isinstance(found, Mapping):
            rule = f"the function returns a {type(found).__name__}, not a dict of its outputs"
            raise told.UnusableOutputError(rule)
        plain = {str(name): _plain(value) for name, value in found.items()}
        return told.values(
            json.dumps(plain).encode(), self.outputs, "what it returns", self.declared
        )


def _plain(value: object) -> object:
    """Return a number of numpy as one of Python; what is neither number nor text by its kind."""
    item = getattr(value, "item", None)
    value = item() if callable(item) and getattr(value, "size", 1) == 1 else value
    return value if isinstance(value, int | float | str) else {"kind": type(value).__name__}


def source_of(function: Callable[..., object]) -> str:
    """Return the name of a function and a hash of its text; of one without text its name alone.

    Of an object that is called it is those of its class: what it holds has to be told by a version.
    """
    named = function if hasattr(function, "__qualname__") else type(function)
    name = f"{named.__module__}.{named.__qualname__}"
    try:
        text = inspect.getsource(named)
    except (OSError, TypeError):
        return name
    return f"{name} {hashlib.sha256(text.encode()).hexdigest()}"
