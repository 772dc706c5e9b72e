"""Where something was written, and what is wrong there."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from dse.errors import Fault

_STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")

KeyPath = tuple[str | int, ...]
"""Keys and list positions from the top of the document."""


class Position(NamedTuple):
    """Where something was written; line and column count from 1."""

    line: int
    column: int
    file: str

    def fault(self, path: KeyPath, written: str, rule: str, remedy: str) -> Fault:
        """Return a fault at this place."""
        place = self._asdict()
        return Fault(where=dotted(path), written=written, rule=rule, remedy=remedy, **place)


def dotted(path: KeyPath) -> str:
    """Return keys joined by dots; one that cannot be printed is quoted."""
    parts = (str(part) for part in path)
    return ".".join(part if part.isprintable() else repr(part) for part in parts)


def quoted(value: Any) -> str:
    """Return a value as text in quotes, shortened."""
    return shortened(repr(value))


def shortened(text: str) -> str:
    """Return the beginning of a long text."""
    return text if len(text) <= 60 else f"{text[:57]}..."


def line_column(before: str) -> tuple[int, int]:
    """Return the position, counted from 1, that follows a text."""
    return before.count("\n") + 1, len(before) - before.rfind("\n")


def visible(text: str) -> str:
    """Return a text in which signs that steer a terminal are written out.

    Examples
    --------
    >>> visible("a\x1b[2Jb")
    'a\\x1b[2Jb'
    """
    return _STEERING.sub(lambda found: ascii(found[0])[1:-1], text)
