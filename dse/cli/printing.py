"""What commands print: results as text or JSON, parts as they come, warnings."""

from __future__ import annotations

import codecs
import io
import sys
from collections.abc import Callable
from typing import Any, Protocol

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
    print(visible(text), flush=True)


def warn(text: str) -> None:
    """Print a warning on stderr: the command goes on, and ends with status 0 for all it knows."""
    if not progress.is_quiet():
        print(f"warning: {visible(text)}", file=sys.stderr)


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
