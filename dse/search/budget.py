"""What a question may take, made with the question and handed to all that answers it."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field, replace

from dse.algebra import units
from dse.algebra.durations import in_seconds
from dse.errors import UnitError
from dse.search.settings import SearchSettings


@dataclass(frozen=True, kw_only=True)
class Budget:
    """CPU time from now on, and memory beyond what is in use now.

    Infinite where the study's own ``search.effort`` and ``search.memory`` hold alone.
    """

    seconds: float = math.inf
    byte: float = math.inf
    start_s: float = field(default_factory=lambda: time.process_time())

    def within(self, settings: SearchSettings) -> Budget:
        """Return the same, where it says nothing as the settings of a study do."""
        seconds = settings.effort_s if math.isinf(self.seconds) else self.seconds
        byte = settings.memory_byte if math.isinf(self.byte) else self.byte
        return replace(self, seconds=seconds, byte=byte)

    @property
    def left_s(self) -> float:
        """CPU time that is left, not less than 0."""
        return max(0.0, self.start_s + self.seconds - time.process_time())


def budget_of(seconds: str | None, memory: str | None) -> Budget:
    """Return a budget as it is written: ``60 s``, ``1 GiB``.

    Raises
    ------
    UnitError
        When one of them is no time or no memory above 0.
    """
    return Budget(
        seconds=_above_zero("time", seconds, "budget_s", "60 s"),
        byte=_above_zero("memory", memory, "budget_byte", "1 GiB"),
    )


def _above_zero(what: str, written: str | None, name: str, example: str) -> float:
    if written is None:
        return math.inf
    try:
        value = units.parse(in_seconds(written), name)
    except UnitError as error:
        raise UnitError(f"{what} {written!r}: {error.rule}", error.remedy) from error
    if value <= 0:
        rule = f"{what} {written!r}: it must be more than 0"
        raise UnitError(rule, f"write for instance {example}")
    return value
