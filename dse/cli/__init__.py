"""The command line: arguments in, text and exit status out; no logic of its own."""

from __future__ import annotations

import codecs
import io
import sys

from dse.cli import asking, catalogue, fitting, making, measuring, studies  # each adds its commands
from dse.cli.app import app
from dse.errors import DseError

__all__ = ["app", "asking", "catalogue", "fitting", "main", "making", "measuring", "studies"]


def main() -> None:
    """Run the command line; errors of the user end with a message and an exit status."""
    _write_in_any_encoding()
    try:
        app()
    except DseError as error:
        sys.stdout.flush()
        print(error, file=sys.stderr)
        sys.exit(error.exit_code)


_PLAIN = {"\u2500": "-", "\u2026": "...", "\u00b2": "2", "\u00b5": "u", "\u2013": "-"}
"""What stands for a character where the encoding of a terminal or a file lacks it."""


def _write_in_any_encoding() -> None:
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
