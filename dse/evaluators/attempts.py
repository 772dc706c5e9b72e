"""One attempt at measuring one design, here or elsewhere, and which failures are tried again."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, Protocol, runtime_checkable

from dse.contract.evaluators import Evaluator, Measurement, Value
from dse.errors import FOREIGN, DseError, OutputError

Keep = Literal["failed", "all", "none"]
"""Whose working folders are kept."""


REPEATED = ("exit", "signal", "timeout", "output", "worker")
"""Kinds of failure that are tried again: another time a licence or a disk may be there.

Too little memory is not, for the limit is the same another time."""

LONGEST_WAIT_S = 60.0


@runtime_checkable
class MeasuresOutside(Evaluator, Protocol):
    """An evaluator whose work is done by processes that it starts and can end."""

    def measure_until(
        self, design: Mapping[str, Value], folder: Path, stop: Callable[[], bool]
    ) -> Measurement:
        """Measure one design once, or end that as soon as `stop` is True."""


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """A design to be measured once, with the folder that it is measured in."""

    number: int
    design: Mapping[str, Value]
    folder: Path
    keep: Keep


def attempted(evaluator: Evaluator, attempt: Attempt, stop: Callable[[], bool]) -> Measurement:
    """Measure a design once in a folder made for it, and take that away unless it is kept.

    Raises
    ------
    OutputError
        The folder cannot be made or written, so that nothing could be measured.
    """
    try:
        shutil.rmtree(attempt.folder, ignore_errors=True)  # of an attempt before, or a run
        attempt.folder.mkdir(parents=True)
        if isinstance(evaluator, MeasuresOutside):
            found = evaluator.measure_until(attempt.design, attempt.folder, stop)
        else:
            found = evaluator.measure(attempt.design, attempt.folder)
    except OSError as error:
        raise OutputError(f"{attempt.folder} cannot be used: {error.strerror or error}") from error
    except MemoryError:
        found = failed("memory", "there was too little memory")
    except DseError:
        raise
    except FOREIGN as error:
        found = failed("worker", f"the evaluator failed: {type(error).__name__}: {error}")
    return tidied(found, attempt)


def failed(kind: str, cause: str) -> Measurement:
    """Return a measurement that failed."""
    return Measurement(values={}, kind=kind, cause=cause)


def tidied(found: Measurement, attempt: Attempt) -> Measurement:
    """Return a measurement with its folder, which is deleted unless it is to be kept."""
    if attempt.keep == "all" or (attempt.keep == "failed" and found.failed):
        return replace(found, folder=str(attempt.folder)) if attempt.folder.exists() else found
    shutil.rmtree(attempt.folder, ignore_errors=True)
    return found


class UnusableProgramError(DseError):
    """What measures cannot be started, for no design."""


def again(found: Measurement, attempts: int, retries: int) -> bool:
    """Return whether a measurement that was tried some times is tried once more.

    Raises
    ------
    UnusableProgramError
        The program cannot be started, so that every design would fail in the same way.
    """
    if found.kind == "start":
        raise UnusableProgramError(f"{found.cause}; nothing can be measured")
    return found.kind in REPEATED and attempts <= retries


def before_next_s(attempts: int, backoff_s: float) -> float:
    """Return the time before the next attempt: doubled after each, a minute at most.

    There is no chance in it: the same failures are tried again after the same times.

    Examples
    --------
    >>> [before_next_s(attempts, 1.0) for attempts in (1, 2, 3, 10)]
    [1.0, 2.0, 4.0, 60.0]
    """
    return float(min(LONGEST_WAIT_S, backoff_s * 2.0 ** min(attempts - 1, 30)))
