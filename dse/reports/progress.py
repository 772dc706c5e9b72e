"""Progress on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from dse.search import Progress


@contextmanager
def bar(what: str) -> Iterator[Progress | None]:
    """Show how many of `what` are done on stderr when it is a terminal; nothing otherwise."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Bar(*columns, console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task(what, total=None)
        yield lambda done, total: shown.update(task, completed=done, total=total)


class LateBar:
    """A bar that is shown from the first step on, and gone before anything else is printed."""

    def __init__(self, what: str) -> None:
        """Show nothing so far."""
        self._what = what
        self._shown = ExitStack()
        self._progress: Progress | None = None
        self._begun = False

    def __call__(self, done: int, total: int) -> None:
        """Show how many are done."""
        if not self._begun:
            self._begun = True
            self._progress = self._shown.enter_context(bar(self._what))
        if self._progress is not None:
            self._progress(done, total)

    def close(self) -> None:
        """Take the bar away."""
        self._shown.close()
        self._progress, self._begun = None, False
