"""Serving the page of a study or a run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from dse.api.arguments import Count, public
from dse.serve.server import Server
from dse.serve.session import Session


@public
def serve(
    source: str | Path,
    *,
    port: Count | None = None,
    allow_run: bool = False,
    time: str = "10 s",
    callback: Callable[[str], None] | None = None,
) -> None:
    """Serve the page of a study or a run to this machine, with the program behind it.

    Each move of an assumption gives the exact answer, one search at a time.  Only requests of this
    machine with the token of the address are answered.

    Parameters
    ----------
    source
        Study file, or the folder of a run, which may go on meanwhile.
    port
        Port of 127.0.0.1 (default: a free one).
    allow_run
        Let the page run the program that a study measures its designs with.
    time : TIME
        Most CPU time for one answer: "10 s".
    callback
        Called with the address.

    Raises
    ------
    dse.errors.DseError
        The source cannot be read, or the port is taken.
    """
    server = Server(Session(Path(source), allow_run=allow_run, time=time), port or 0)
    (callback or print)(server.address)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass
    finally:
        server.server_close()
