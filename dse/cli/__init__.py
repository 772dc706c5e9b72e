"""The command line: arguments in, text and exit status out; no logic of its own."""

from __future__ import annotations

import sys

from dse.cli import (
    asking,
    catalogue,
    comparing,
    fitting,
    measuring,
    proving,
    studies,
    sweeping,
)  # each adds its commands
from dse.cli.app import app
from dse.errors import DseError

__all__ = [
    "app",
    "asking",
    "catalogue",
    "comparing",
    "fitting",
    "main",
    "measuring",
    "proving",
    "studies",
    "sweeping",
]


def main() -> None:
    """Run the command line; errors of the user end with a message and an exit status."""
    try:
        app()
    except DseError as error:
        sys.stdout.flush()
        print(error, file=sys.stderr)
        sys.exit(error.exit_code)
