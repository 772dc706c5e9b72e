"""Functions that a table of claims calls by name, such as ``device_speedup(apu, aes, 128)``."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from typing import TypeVar

from dse.contract.papers import ClaimAnswer, ClaimValue

NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_CALL = re.compile(r"(\w+)\((.*)\)")
_LENT = ("laboratory", "printed")
"""What a function may ask for besides its arguments: studies, and inputs within their rounding."""

Functions = Mapping[str, Callable[..., ClaimValue]]
Added = TypeVar("Added", bound=Callable[..., ClaimValue])


class ClaimTableError(ValueError):
    """A table of claims that cannot be read: every faulty row, one on a line."""


class ClaimFunctions(dict[str, Callable[..., ClaimValue]]):
    """Functions that a table of claims may call, by name; used as a decorator, it adds one.

    A function takes the arguments of the call: numbers where they read like numbers, else text.
    Before them it may take a `Laboratory`, called ``laboratory``, which gives it studies, and
    `PrintedNumbers`, called ``printed``, through which it reads inputs that are rounded.
    """

    def __call__(self, function: Added) -> Added:
        """Add a function under its own name."""
        self[function.__name__] = function
        return function


def claim_answer(cell: str, functions: Functions) -> ClaimAnswer:
    """Return what a call gives when it is asked.

    Raises
    ------
    ClaimTableError
        It is no call, or one of an unknown function or with other arguments.
    """
    function, arguments = _call(cell, functions)
    asked = [name for name in _LENT if name in inspect.signature(function).parameters]

    def answer(laboratory: object, printed: object) -> ClaimValue:
        lent = {"laboratory": laboratory, "printed": printed}
        return function(*(lent[name] for name in asked), *arguments)

    return answer


def _call(cell: str, functions: Functions) -> tuple[Callable[..., ClaimValue], list[float | str]]:
    call = _CALL.fullmatch(cell)
    if not call:
        raise ClaimTableError(f"{cell!r} is no call; write a function and arguments, as f(a, b)")
    name, inside = call.groups()
    if name not in functions:
        raise ClaimTableError(f"{name!r} is not a known function; {nearest_of(name, functions)}")
    arguments = [_argument(part.strip()) for part in inside.split(",")] if inside.strip() else []
    signature = inspect.signature(functions[name])
    takes = [parameter for key, parameter in signature.parameters.items() if key not in _LENT]
    try:
        signature.replace(parameters=takes).bind(*arguments)
    except TypeError as error:
        wanted = ", ".join(map(str, takes)) or "nothing"
        raise ClaimTableError(f"{cell}: {error}; {name} takes {wanted}") from None
    return functions[name], arguments


def _argument(text: str) -> float | str:
    return float(text) if NUMBER.fullmatch(text) or text == "inf" else text


def nearest_of(name: str, known: Iterable[str]) -> str:
    """Return a question for the nearest known name, or all of them."""
    close = get_close_matches(name, list(known), n=1, cutoff=0.5)
    return f"did you mean {close[0]!r}?" if close else f"known: {', '.join(known)}"
