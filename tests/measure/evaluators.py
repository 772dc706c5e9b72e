"""Evaluators for tests, in a module of their own: a worker process imports them."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from dse.contract.evaluators import Measurement, Value
from dse.measure.evaluators import Command
from dse.study.goals import Options
from dse.study.measuring import Working

KEPT = Working(Options(folder=Path()))
"""Working folders of failed designs stay."""


def never() -> bool:
    return False


@dataclass(frozen=True, kw_only=True)
class Acts:
    """Does what a design says: its `act`, so many times as it says in `fails`, then its double."""

    counts: str
    outputs: Mapping[str, str] = field(default_factory=lambda: {"double": ""}, hash=False)
    identity: str = "acts"

    def measure(
        self, design: Mapping[str, Value], folder: Path, stop: Callable[[], bool]
    ) -> Measurement:
        number = float(design["number"])
        tries = Path(self.counts) / f"{number:g}"
        with tries.open("a") as file:
            file.write("x")
        (folder / "new").write_text(f"{number:g} {os.getpid()}")
        (folder / "new").rename(folder / "made")
        if tries.stat().st_size <= float(design.get("fails", 0.0)):
            ACTS[str(design["act"])]()
        return Measurement(values={"double": 2 * number})


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _raise() -> None:
    raise ValueError("no such thing")


def _fill() -> None:
    raise MemoryError


ACTS = {
    "die": _die,
    "raise": _raise,
    "leave": sys.exit,
    "fill": _fill,
}


SLEEPER = "echo $$ > new; mv new pid; sleep 300"
"""A program that tells its process, in a file that is whole once it is there, and goes on."""


def shell(text: str, **others: object) -> Command:
    """Return a command of one output, `double`, without unit."""
    return Command(
        arguments=("sh", "-c", text),
        outputs={"double": ""},
        identity=text,
        beside="",
        **others,  # type: ignore[arg-type]
    )


@dataclass(frozen=True, kw_only=True)
class Asks:
    """Tells as output whether it was asked to stop, before it has begun."""

    outputs: Mapping[str, str] = field(default_factory=lambda: {"stopped": ""}, hash=False)
    identity: str = "asks"

    def measure(
        self, design: Mapping[str, Value], folder: Path, stop: Callable[[], bool]
    ) -> Measurement:
        return Measurement(values={"stopped": float(stop())})
