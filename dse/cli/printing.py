"""What commands print: results as text or JSON, parts as they come, warnings."""

from __future__ import annotations

import codecs
import io
import os
import re
import sys
from collections.abc import Callable
from typing import Any, Protocol, TextIO

from dse.files.position import visible
from dse.reports import progress


class Found(Protocol):
    """What a command found: text for people, plain data for programs."""

    def text(self) -> str:
        """Return it as text."""

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""


def show(found: Found, json: bool) -> None:
    """Print what a command found."""
    if json:
        show_json(found.to_dict())
    else:
        write(found.text())


def write(text: str) -> None:
    """Print text at once; what is in a name must not steer the terminal."""
    print(coloured(visible(text), sys.stdout), flush=True)


def complain(text: str) -> None:
    """Print what is wrong on stderr."""
    print(coloured(visible(text), sys.stderr), file=sys.stderr)


def warn(text: str) -> None:
    """Print a warning on stderr: the command goes on, and ends with status 0 for all it knows."""
    if not progress.is_quiet():
        complain(f"warning: {text}")


BOLD, RED, GREEN, YELLOW, PLAIN = (f"\x1b[{number}m" for number in (1, 31, 32, 33, 0))

_COLOURS = {
    RED: r"FAILS(?=  )|.* is refuted\b|.+? failed(?=:)",
    GREEN: r"holds(?=  )|Verified:",
    YELLOW: r"note:|warning:|found(?=  )|not (?:checked|proven)\b",
    BOLD: r"Take .*\.|recommended .*|[^\s:]+:\d+:\d+:|[A-Z][\w -]{3,24}:(?= )",
}
"""Beginnings of lines, by colour: verdicts, warnings, the answer, where a fault stands, labels."""

_COLOURED = re.compile("^(?:" + "|".join(f"({each})" for each in _COLOURS.values()) + ")", re.M)


def coloured(text: str, stream: TextIO) -> str:
    """Return text in colours where a terminal shows them: see https://no-color.org."""
    if not stream.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return text
    colours = [*_COLOURS]
    return _COLOURED.sub(
        lambda found: f"{colours[(found.lastindex or 1) - 1]}{found[0]}{PLAIN}", text
    )


class Parts:
    """Prints parts of a text as they come, a blank line between them if `apart`."""

    def __init__(
        self, before: Callable[[], None], after: Callable[[], None], *, apart: bool
    ) -> None:
        """Print nothing so far; call `before` and `after` around each part."""
        self._before, self._after = before, after
        self._apart = apart
        self._started = False

    def write(self, text: str) -> None:
        """Print a part, at once."""
        self._before()
        write(f"\n{text}" if self._apart and self._started else text)
        self._started = True
        self._after()


def show_json(value: Any) -> None:
    """Print plain data as JSON."""
    from dse.files.json import json_text

    print(json_text(value), flush=True)


_PLAIN = {"\u2500": "-", "\u2026": "...", "\u00b2": "2", "\u00b5": "u", "\u2013": "-"}
"""What stands for a character where the encoding of a terminal or a file lacks it."""


def write_in_any_encoding() -> None:
    """Let an answer through whatever the locale: no character of it is worth losing it."""

    def plain(error: UnicodeError) -> tuple[str, int]:
        if not isinstance(error, UnicodeEncodeError):
            raise error
        lacking = error.object[error.start : error.end]
        return "".join(_PLAIN.get(character, "?") for character in lacking), error.end

    codecs.register_error("plain", plain)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="plain")
