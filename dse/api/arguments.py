"""Arguments of public functions: their types, each with its words, which commands read too."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from inspect import Parameter, signature
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, ParamSpec, TypeVar, Union, get_args, get_origin

from dse import removed
from dse.errors import ArgumentError, quoted

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True)
class Kind:
    """Allowed values of an argument in words, and their check: the second half of its type.

    Attributes
    ----------
    word
        The type of a word of the command line that gives it, or None if no word can.
    several
        Whether it may be given more than once there.
    metavar
        Its placeholder in the help of a command.
    positional
        Whether it needs no name there if it needs none in Python.
    """

    what: str
    allows: Callable[[Any], bool]
    word: Any = None
    several: bool = False
    metavar: str | None = None
    positional: bool = True


def public(function: Callable[P, R]) -> Callable[P, R]:
    """Return a public function that raises ArgumentError for arguments not of their `Kind`."""
    shape = signature(function, eval_str=True)

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        for name in kwargs.keys() - shape.parameters.keys():
            if instead := removed.remedy("argument", f"{function.__name__}.{name}"):
                raise ArgumentError(f"{name}: {removed.RULE}; {instead}")
        try:
            given = shape.bind(*args, **kwargs).arguments
        except TypeError:
            return function(*args, **kwargs)  # Python names the missing or unknown argument
        check_kinds(shape.parameters, given)
        return function(*args, **kwargs)

    return call


def check_kinds(shape: Mapping[str, Parameter], given: Mapping[str, Any]) -> None:
    """Raise ArgumentError if a value is neither the default of its argument nor of its kind.

    Raises
    ------
    ArgumentError
        A value is neither.
    """
    for name, value in given.items():
        parameter = shape[name]
        for each in value if parameter.kind is Parameter.VAR_POSITIONAL else (value,):
            if each is not parameter.default and not argument_kind(parameter).allows(each):
                what = argument_kind(parameter).what
                raise ArgumentError(f"{name}={_shown(each)}: give {what}")


def argument_kind(parameter: Parameter) -> Kind:
    """Return the kind of an argument by its annotation, a type and no text."""
    given = parameter.annotation
    several = get_args(given) if get_origin(given) in (Union, UnionType) else (given,)
    first, *others = (one for one in several if one is not NoneType)
    kinds: Sequence[Kind] = getattr(first, "__metadata__", ())
    if kinds:
        return kinds[0]
    return FUNCTION if get_origin(first) is Callable else PLAIN_KINDS[first, *others]


def texts(given: str | Sequence[str]) -> list[str]:
    """Return one text, or several, as a list."""
    return [given] if isinstance(given, str) else list(given)


def paths(given: str | Path | Sequence[str | Path]) -> tuple[Path, ...]:
    """Return one path, or several."""
    return (Path(given),) if isinstance(given, str | Path) else tuple(map(Path, given))


def _shown(value: Any) -> str:
    """Return a value as a program writes it, or its type."""
    plain = value is None or isinstance(value, str | int | float | list | tuple | dict | Path)
    return quoted(value) if plain else f"<{type(value).__name__}>"


def _whole(low: int, high: float = float("inf")) -> Kind:
    limit = f"{low} or more" if high == float("inf") else f"{low} to {high}"

    def allows(value: Any) -> bool:
        try:
            return not isinstance(value, bool) and low <= operator.index(value) <= high
        except TypeError:
            return False

    return Kind(f"a whole number, {limit}", allows, int, metavar="N")


def _several(what: str, word: type, metavar: str, *types: type) -> Kind:
    def allows(value: Any) -> bool:
        many = isinstance(value, list | tuple | set | frozenset)
        return isinstance(value, types) or (many and all(isinstance(one, types) for one in value))

    return Kind(f"a {what} or a list of {what}s", allows, word, several=True, metavar=metavar)


def assigned(example: str, metavar: str) -> Kind:
    """Return the kind of assignments, whose reader checks the rest."""

    def allows(value: Any) -> bool:
        return isinstance(value, str | list | tuple | Mapping)

    return Kind(example, allows, str, several=True, metavar=metavar, positional=False)


FUNCTION = Kind("a function", callable)

PLAIN_KINDS: dict[tuple[Any, ...], Kind] = {
    (str,): Kind("a text", lambda value: isinstance(value, str), str),
    (bool,): Kind("True or False", lambda value: isinstance(value, bool), bool),
    (str, Path): Kind("a path", lambda value: isinstance(value, str | Path), Path),
}
"""Kinds of plain types, to which the module of a type adds its own."""

Count = Annotated[int, _whole(1)]
Seed = Annotated[int, _whole(0, 2**32 - 1)]
Names = Annotated[str | Sequence[str], _several("text", str, "NAME", str)]
Paths = Annotated[str | Path | Sequence[str | Path], _several("path", Path, "FILE", str, Path)]
