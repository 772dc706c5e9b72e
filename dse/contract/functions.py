"""Functions that cores and hosts compute: a vocabulary with kinds of kinds."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

EVIDENCE = ("synthesis", "placed", "measured", "vendor")
"""Origins of a core's values: mapped gates, placed gates, a measured chip, or a vendor's claim."""


@dataclass(frozen=True, kw_only=True)
class Function:
    """A function that a study may request.

    Attributes
    ----------
    name, summary
        Such as ``aes_gcm``, and a description.
    kind_of
        The function that it is a kind of.  A provider of this one provides that one too.  Kinds of
        one function do the same work, but need not be equally secure.
    key_bit, block_bit
        Sizes of keys, and of the block that it works on.  ``()`` and 0 if it has neither.
    standard
        The standard that covers it, or empty.
    """

    name: str
    summary: str
    kind_of: str = ""
    key_bit: tuple[int, ...] = ()
    block_bit: int = 0
    standard: str = ""


def kinds_of_function(name: str, known: Mapping[str, Function]) -> tuple[str, ...]:
    """Return a function and all that it is a kind of, the nearest first."""
    found = [name]
    while (one := known.get(found[-1])) is not None and one.kind_of and one.kind_of not in found:
        found.append(one.kind_of)
    return tuple(found)


def close_functions(
    wanted: str, offered: Iterable[str], known: Mapping[str, Function]
) -> tuple[str, ...]:
    """Return the functions of `offered` that are kinds of one that `wanted` is a kind of, too."""
    family = {*kinds_of_function(wanted, known)[1:]}
    return tuple(name for name in offered if family & {*kinds_of_function(name, known)})


def provided(wanted: str, provides: Collection[str], known: Mapping[str, Function]) -> bool:
    """Return whether one of the functions in `provides` is `wanted`, or a kind of it."""
    return any(wanted in kinds_of_function(name, known) for name in provides)
