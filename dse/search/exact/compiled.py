"""Whether machine code evaluates designs: as asked, or where it pays."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import cast

from dse.model.problem import Problem
from dse.model.space import Block, Boxes
from dse.search.archive import Archive
from dse.search.exact.work import CALL, spend
from dse.search.settings import Choice

WORTH = 10_000_000
"""Designs that take numpy some .5 s or more, several times what compiling takes."""

SLICE = 64
"""Part of a space that is settled before it is known how much is left to be evaluated."""

PIVOTS = 128
"""Points of the front that machine code compares each design with, until one dominates it."""

_CHOICE: ContextVar[Choice] = ContextVar("_CHOICE", default="auto")


@contextmanager
def compiling(choice: Choice) -> Iterator[None]:
    """Evaluate designs by machine code inside: always, never, or where it pays.

    Raises
    ------
    DseError
        When it is asked for and llvmlite is not installed.
    """
    if choice == "yes":
        from dse.model.tape.compiled import require_llvmlite  # few searches get here

        require_llvmlite()
    token = _CHOICE.set(choice)
    try:
        yield
    finally:
        _CHOICE.reset(token)


def evaluate_part(archive: Archive, points: Block | Boxes) -> None:
    """Evaluate designs for an archive, by machine code or numpy; the archive is the same."""
    spend(len(points) + CALL)
    if worth(archive):
        found = cast(Problem, archive.problem).candidates(points, archive.pivots(PIVOTS))
        if found is not None and (archive.feasible or found.count):
            archive.add(points, found)
            return
    archive.evaluate_new(points)


def worth(archive: Archive) -> bool:
    """Tell whether machine code is asked for, or expected to save more than it takes to compile.

    Of what is left, the share is evaluated that was evaluated of what is settled.
    """
    choice = _CHOICE.get()
    if choice == "no" or not hasattr(archive.problem, "candidates"):
        return False
    if choice == "auto" and not archive.compiled:
        settled = archive.evaluated + archive.pruned
        left = archive.problem.size - settled
        first = settled * SLICE >= archive.problem.size
        if first and left * archive.evaluated > WORTH * settled:
            from dse.model.tape.compiled import has_llvmlite  # few searches get here

            archive.compiled = has_llvmlite()
        return archive.compiled
    return True
