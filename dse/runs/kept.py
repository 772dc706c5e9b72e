"""A run whose measurements stay: where it lies, and what becomes of those that lie there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from dse.errors import ArgumentError
from dse.files.document import Document
from dse.files.working import WorkingFolder
from dse.runs.measurements import KEPT, has_evaluator
from dse.runs.measuring import Keeping
from dse.runs.options import Options
from dse.runs.result import run_folder

AGAIN = (
    "nothing of this study is measured, and models are computed faster than results are read: it "
    "ran again from the beginning"
)
"""What becomes of a wish to go on where nothing is kept."""

Measuring = AbstractContextManager[tuple[Document, Options]]


@dataclass(frozen=True)
class KeptRun:
    """Where a run goes, in which it may measure, and what is to be said of it.

    Attributes
    ----------
    place
        Where it is written, if it is.
    measuring
        Opens its store, and closes it: with the study and how it is run.
    command, again
        Go on with it when it was interrupted, and measure again what failed; empty where nothing
        is measured.
    notes
        For the user.
    """

    place: WorkingFolder | None
    measuring: Measuring
    command: str = ""
    again: str = ""
    notes: Sequence[str] = ()


@contextmanager
def kept_run(
    out: str | Path | None, document: Document, options: Options, keeping: Keeping
) -> Iterator[KeptRun]:
    """Yield the place of a run, in which measurements are kept if it measures.

    Raises
    ------
    ArgumentError
        Measurements are to be used where none are made or kept, or who makes them is told.
    OutputError, StoreError
        As `dse.runs.run_store.keeping_in`.
    """
    measures = has_evaluator(document)
    plain = nullcontext((document, options))
    if (keeping.reuse or keeping.again) and (out is None or not measures):
        why = (
            "the run has no folder to keep measurements in, `out`"
            if measures
            else "nothing of this study is measured"
        )
        raise ArgumentError(f"earlier measurements cannot be used: {why}")
    for name in ("workers", "dask"):  # never both
        if getattr(options, name) is not None and not measures:
            raise ArgumentError(f"{name}: nothing of this study is measured; leave it out")
    if out is None:
        yield KeptRun(None, plain)
    elif not measures:
        with run_folder(out, document) as place:
            yield KeptRun(place, plain, notes=(AGAIN,) if keeping.resume else ())
    else:
        from dse.runs import run_store  # a database, only where something is measured

        with run_folder(out, document, KEPT) as place:
            command, again = run_store.commands_of(place, document, options, keeping)
            notes: list[str] = []
            measuring = run_store.keeping_in(place, document, options, keeping, command, notes)
            yield KeptRun(place, measuring, command, again, notes)
