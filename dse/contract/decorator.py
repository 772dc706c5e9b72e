"""Records as decorators, so that a declaration is next to its function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Concatenate, ParamSpec, TypeVar

Function = TypeVar("Function")
Declared = ParamSpec("Declared")
Record = TypeVar("Record")


def decorator(
    record: Callable[Concatenate[Function, Declared], Record],
    read: Callable[[Function], Mapping[str, Any]] = lambda function: {},
) -> Callable[Declared, Callable[[Function], Record]]:
    """Return a decorator that takes the declarations of a record, then its function.

    Declarations that `read` finds in the function apply unless they are given.
    """

    def declare(*none: Declared.args, **declared: Declared.kwargs) -> Callable[[Function], Record]:
        return lambda function: record(function, *none, **{**read(function), **declared})

    declare.__doc__ = record.__doc__
    return declare
