"""The command line: arguments in, text and exit status out; no logic of its own."""

from __future__ import annotations

import sys

from dse.cli import (  # each adds its commands
    asking,
    catalogue,
    comparing,
    fitting,
    making,
    measuring,
    proving,
    studies,
    sweeping,
)
from dse.cli.app import app, write_in_any_encoding
from dse.errors import DseError

__all__ = [
    "app",
    "asking",
    "catalogue",
    "comparing",
    "fitting",
    "main",
    "making",
    "measuring",
    "proving",
    "studies",
    "sweeping",
]


def main() -> None:
    """Run the command line; errors of the user end with a message and an exit status."""
    write_in_any_encoding()
    try:
        app()
    except DseError as error:
        sys.stdout.flush()
        print(error, file=sys.stderr)
        sys.exit(error.exit_code)
