"""Records as decorators, so that what is declared of a function stands beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar, Concatenate, ParamSpec, Self, TypeVar

Function = TypeVar("Function")
Declared = ParamSpec("Declared")
Record = TypeVar("Record")

RENAMED = {"told": "report"}
"""Declarations of earlier versions, and what they are called."""


class Renamed:
    """Base of records whose fields had other names: `RENAMED` is old name -> name."""

    RENAMED: ClassVar[Mapping[str, str]] = {}

    def __new__(cls, *_: object, **declared: object) -> Self:
        """Refuse old names of fields."""
        _refuse_old_names(cls.RENAMED, declared)
        return super().__new__(cls)


def _refuse_old_names(renamed: Mapping[str, str], declared: Mapping[str, object]) -> None:
    for name in renamed.keys() & declared.keys():
        raise TypeError(f"{name}= is called {renamed[name]}=")


def decorator(
    record: Callable[Concatenate[Function, Declared], Record],
) -> Callable[Declared, Callable[[Function], Record]]:
    """Return a decorator that takes what a record declares, then the function it is about."""

    def declare(*none: Declared.args, **declared: Declared.kwargs) -> Callable[[Function], Record]:
        _refuse_old_names(RENAMED, declared)
        return lambda function: record(function, *none, **declared)

    declare.__doc__ = record.__doc__
    return declare
