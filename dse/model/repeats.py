"""Designs that are measured several times: which measurements there are, their mean and error.

Each measurement is kept by itself, under the design with the number of the measurement beside its
axes, so that a run that is cut loses none of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from dse.contract.evaluators import INFEASIBLE, Measurement, Value

Design = Mapping[str, Value]

REPEAT = "(measurement)"
"""What the number of a measurement, from 2, stands by: the name of no axis."""

TRIED, TWICE = 3, 2
"""So many designs are measured twice to see whether what measures always says the same."""


def numbered(design: Design, number: int) -> Design:
    """Return what a measurement of a design, the first has number 1, is kept under."""
    return design if number == 1 else {**design, REPEAT: float(number)}


def plain(design: Design) -> Design:
    """Return the design that a measurement is of."""
    return {name: value for name, value in design.items() if name != REPEAT}


def combined(found: Sequence[Measurement]) -> Measurement:
    """Return what several measurements x_1 ... x_n of a design, in their order, say together.

    Their mean, and its standard error e where n > 1; those that failed by accident do not count,
    and a design of which one measurement says that it is infeasible is so.

        e^2 = sum_i (x_i - mean)^2 / (n (n - 1))
    """
    if len(found) == 1:
        return found[0]
    good = [one for one in found if one.has_values]
    ruled_out = [one for one in found if one.kind == INFEASIBLE]
    last = (ruled_out or good or found)[-1]
    errors: dict[str, float] = {}
    values: dict[str, float] = {}
    for name in last.values:
        values[name], errors[name] = _mean([one.values[name] for one in good])
    return replace(
        last,
        values=values,
        errors=errors if len(good) > 1 else {},
        attempts=sum(one.attempts for one in found),
        seconds=sum(one.seconds for one in found),
    )


def _mean(values: Sequence[float]) -> tuple[float, float]:
    """Return the mean and its standard error; exact where all are equal."""
    count = len(values)
    if min(values) == max(values):
        return values[0], 0.0
    mean = math.fsum(value / count for value in values)
    spread = math.hypot(*(value - mean for value in values))
    return mean, spread / math.sqrt(count * (count - 1))


def gathered(rows: Iterable[tuple[Design, Measurement]]) -> list[tuple[Design, Measurement]]:
    """Return the designs that measurements are of, in the order of their first, each once."""
    found: dict[tuple[tuple[str, Value], ...], dict[float, Measurement]] = {}
    for design, measurement in rows:
        number = float(design.get(REPEAT, 1.0))
        found.setdefault(tuple(plain(design).items()), {})[number] = measurement
    return [
        (dict(design), combined([some[number] for number in sorted(some)]))
        for design, some in found.items()
    ]


@dataclass
class Trial:
    """Whether measuring a design again says anything new.

    The first designs are measured twice: once `TRIED` of them are equal to the last bit, one
    measurement of each other design is enough; from the first that differ on, all get `most`.
    """

    most: int
    alike: int = 0
    noisy: bool = False

    @property
    def decided(self) -> bool:
        """Whether it is known."""
        return self.noisy or self.alike == TRIED

    @property
    def often(self) -> int:
        """How often the next design is measured, as far as that is known."""
        return self.most if self.noisy else 1 if self.decided else TWICE

    def judge(self, found: Sequence[Measurement]) -> int:
        """Return how often a design is measured of which so much was found, the next in order."""
        if not self.decided and len(found) == TWICE and all(one.has_values for one in found):
            same = found[0].values == found[1].values
            self.alike, self.noisy = self.alike + same, not same
            return TWICE if same else self.most
        return self.often
