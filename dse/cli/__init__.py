"""The command line: options made from public functions, text and exit status out, no logic.

May import everything; what commands do is in `dse.api` and below.
"""

from __future__ import annotations

import errno
import gc
import os
import signal
import sys

from dse.cli.interrupts import INTERRUPT
from dse.errors import DseError

__all__ = ["main"]

RARELY = 100_000
"""New objects until Python looks for circles of them: imports make many objects and no circles."""


def main() -> None:
    """Run the command line; errors of the user end with a message and an exit status."""
    with INTERRUPT.caught():
        try:
            _main()
        except (SystemExit, KeyboardInterrupt) as ended:
            if isinstance(ended.__context__, BrokenPipeError):
                INTERRUPT.number = signal.SIGPIPE
            if not INTERRUPT.number:
                raise
    if INTERRUPT.number:
        sys.exit(128 + INTERRUPT.number)


def _main() -> None:
    gc.set_threshold(RARELY, *gc.get_threshold()[1:])
    # nothing here wants plug-ins of pydantic, which it looks for in all that is installed
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    from dse.cli.app import application  # much is imported here: see `RARELY`
    from dse.cli.printing import complain, write_in_any_encoding

    write_in_any_encoding()
    try:
        application(*sys.argv[1:2])()
    except DseError as error:
        sys.stdout.flush()
        for line in (str(error), *getattr(error, "__notes__", ())):
            complain(line)
        sys.exit(error.exit_code)
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is left is lost
        complain(f"the output cannot be written: {error.strerror}")
        sys.exit(1)
    finally:
        gc.freeze()  # what ends with the process is not looked through for circles once more
