"""Evaluators, which measure designs outside this program, and the storage of measurements.

A design has one value on each axis of a study, by the name of the axis: a number in SI, or a
choice.  Values of a model are never stored, since computing them is faster than reading them.  A
measurement is on disk before it counts.  So a search that is run again with the same measurements
finds the same front, and resuming a search is repeating it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

Value = float | str
"""Value of a design on one axis: a number in SI, or a choice."""

FAILURES = ("exit", "signal", "timeout", "output", "start", "worker", "memory")
"""Kinds of accident: a program that did not return 0, was ended by a signal, took too long, had no
usable numbers, or could not be started, a worker that died, and too little memory."""

INFEASIBLE = "infeasible"
"""Kind of a measurement that found the design infeasible, which is no accident."""


class InfeasibleDesign(Exception):  # noqa: N818  nothing went wrong
    """Raised by a function that measures: this design is infeasible, which is a fact about it."""


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """Result of measuring one design.

    Attributes
    ----------
    values
        By output, in SI.  Empty if it failed or the design is infeasible.
    cause
        Reason for missing values, in words, or empty if there are values.
    kind
        One of `FAILURES` or `INFEASIBLE`.  Empty if there are values.
    attempts
        Number of attempts, or 0 if the value is from another run.
    seconds
        Time of all attempts, including another run's.
    said
        The end of its text on standard error.
    folder
        Its working folder, if that was kept.
    """

    values: Mapping[str, float]
    cause: str = ""
    kind: str = ""
    attempts: int = 1
    seconds: float = 0.0
    said: str = ""
    folder: str = ""

    @property
    def has_values(self) -> bool:
        """Return whether there are values to use."""
        return not self.cause

    @property
    def failed(self) -> bool:
        """Return whether it failed by accident, so that the design is unknown."""
        return bool(self.cause) and self.kind != INFEASIBLE


class Evaluator(Protocol):
    """Measurement of designs, as a record that can be sent to another process."""

    @property
    def outputs(self) -> Mapping[str, str]:
        """Return the written unit of each output ("um2"), by quantity and SI unit ("area_m2")."""

    @property
    def identity(self) -> str:
        """Return a text with the version.  Evaluators of one identity give the same values."""

    def measure(
        self, design: Mapping[str, Value], folder: Path, stop: Callable[[], bool]
    ) -> Measurement:
        """Measure one design once, in a separate folder, and end early if `stop` is True.

        A failure is returned, never raised.
        """


@dataclass(frozen=True)
class RecordedEvaluator:
    """Evaluator of a finished run, which measures no more than the designs `found`."""

    identity: str
    found: Sequence[tuple[Mapping[str, Value], Measurement]] = field(hash=False, repr=False)
    outputs: Mapping[str, str] = field(default_factory=dict, hash=False)

    def measure(
        self, design: Mapping[str, Value], folder: Path, stop: Callable[[], bool]
    ) -> Measurement:
        """Return a measurement without values."""
        return Measurement(values={}, kind="start", cause="the run is over")


Ranges = Mapping[str, tuple[float, float]]
"""Least and most possible value of an output, in SI, by quantity."""


class MeasurementCache(Protocol):
    """Storage of measurements, by `key`."""

    def known(self, keys: Sequence[str]) -> Mapping[str, Measurement]:
        """Return the stored measurements among these keys."""

    def keep(
        self, found: Mapping[str, Measurement], designs: Mapping[str, Mapping[str, Value]]
    ) -> None:
        """Store measurements and their designs, on disk before this returns."""


def key(identity: str, design: Mapping[str, Value]) -> str:
    """Return the key of a measurement of a design by an evaluator: 64 hexadecimal digits.

    SHA-256 of canonical JSON: names sorted, numbers as the shortest text that reads as the same
    double (1 and 1.0 are one number, and so are 0.0 and -0.0).

    Raises
    ------
    ValueError
        A number of the design is not finite.
    """
    values = {
        name: value if isinstance(value, str) else float(value) + 0.0
        for name, value in design.items()
    }
    text = json.dumps([identity, values], sort_keys=True, allow_nan=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
