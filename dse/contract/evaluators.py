"""Evaluators: what measures designs outside this program, and where measurements are kept.

A design is what a study's axes say of it: a number in SI, or a choice, by the name of the axis.
What a model computes is never kept, for it is computed again faster than read; what was measured
is on disk before it counts.  So a search that is run again with the same measurements finds the
same front, and to resume is to repeat.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

Value = float | str
"""What a design has on one axis: a number in SI, or a choice."""

FAILURES = ("exit", "signal", "timeout", "output", "start", "worker", "memory")
"""Kinds of accident: a program that returned not 0, was ended by a signal, took too long, had no
usable numbers, could not be started; a worker that died; too little memory."""

INFEASIBLE = "infeasible"
"""The kind of a measurement that is no accident: what measures says that there is no such design.
"""


class InfeasibleDesign(Exception):  # noqa: N818  nothing went wrong
    """Raised by a function that measures: this design is infeasible, which is a fact about it."""


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """What came of measuring one design.

    Attributes
    ----------
    values
        By output, in SI; empty when it failed, or the design is infeasible.
    cause
        Why there are no values, in words; empty where there are.
    kind
        One of `FAILURES`, or `INFEASIBLE`; empty where there are values.
    attempts
        How often it was tried; 0 where another run's value is used.
    seconds
        Time of all attempts, also those of another run.
    said
        The end of what it wrote on standard error.
    folder
        Its working folder, where that was kept.
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
        """Whether there are values to count with."""
        return not self.cause

    @property
    def failed(self) -> bool:
        """Whether it failed by accident, so that nothing is known of the design."""
        return bool(self.cause) and self.kind != INFEASIBLE


class Evaluator(Protocol):
    """Measures designs; a record that can be sent to another process."""

    @property
    def outputs(self) -> Mapping[str, str]:
        """Unit in which each output is written ("um2"), by quantity and SI unit ("area_m2")."""

    @property
    def identity(self) -> str:
        """What it is, its version included: the same identity stands for the same values."""

    def measure(self, design: Mapping[str, Value], folder: Path) -> Measurement:
        """Measure one design once, in a folder of its own; a failure is returned, never raised."""


@dataclass(frozen=True)
class RecordedEvaluator:
    """What measured the designs of a run that is over; measures no more.

    Attributes
    ----------
    identity
        As of `Evaluator`.
    found
        The designs that were requested, and what came of them.
    outputs
        As of `Evaluator`.
    """

    identity: str
    found: Sequence[tuple[Mapping[str, Value], Measurement]] = field(hash=False, repr=False)
    outputs: Mapping[str, str] = field(default_factory=dict, hash=False)

    def measure(self, design: Mapping[str, Value], folder: Path) -> Measurement:
        """Say that nothing is measured."""
        return Measurement(values={}, kind="start", cause="the run is over")


Ranges = Mapping[str, tuple[float, float]]
"""Least and most that an output can be, in SI, by quantity."""


class Shelf(Protocol):
    """Where measurements are kept, by `key`."""

    def known(self, keys: Sequence[str]) -> Mapping[str, Measurement]:
        """Return those of the measurements that are kept."""

    def keep(
        self, found: Mapping[str, Measurement], designs: Mapping[str, Mapping[str, Value]]
    ) -> None:
        """Keep measurements and the designs that they are of; on disk before this returns."""


def key(identity: str, design: Mapping[str, Value]) -> str:
    """Return under which a measurement of a design by an evaluator is kept: 64 hexadecimal digits.

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
