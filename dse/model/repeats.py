"""Designs that are measured several times: their mean and error, and which of two is better.

Each measurement is kept by itself, under the design with the number of the measurement beside its
axes, so that a run that is cut loses none of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dse.contract import Column
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


SURE = 0.975
"""Probability below which the better of two designs is within noise of the other."""


def chance_less(
    gap: ArrayLike, error: ArrayLike, other_error: ArrayLike, *, repeats: int
) -> Column:
    """Return the probability that a true value is less than another one.

    Of means of n measurements with standard errors e_1 and e_2, whose difference is `gap`:

        P = T_v(gap / sqrt(e_1^2 + e_2^2)),   v = (n - 1) (e_1^2 + e_2^2)^2 / (e_1^4 + e_2^4)

    T_v is the distribution of Student, v as of Welch (Biometrika 34, 1947).  Before the
    measurements any values are as likely; where the values of all designs differ by less than their
    noise, P is too large.  1/2 where there is neither gap nor noise.
    """
    from scipy.special import stdtr  # only where there is noise

    gap = np.asarray(gap, dtype=np.float64)
    first, second = np.nan_to_num(np.square(error)), np.nan_to_num(np.square(other_error))
    whole = first + second
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(gap == 0, 0.0, gap / np.sqrt(whole))
        share = first / whole
        freedom = (repeats - 1) / (share**2 + (1 - share) ** 2)
    exact = 0.5 + 0.5 * np.sign(gap)
    return np.where(whole > 0, stdtr(np.where(whole > 0, freedom, 1.0), ratio), exact)


def within_noise(
    values: Mapping[str, Column], errors: Mapping[str, Column], row: int, *, repeats: int
) -> NDArray[np.bool_]:
    """Return which designs (n,) nothing tells from that of a `row`, by any of their values."""
    alike = [
        np.abs(chance_less(column - column[row], error[row], error, repeats=repeats) - 0.5)
        < SURE - 0.5
        for name, column in values.items()
        for error in (errors.get(name, np.zeros(len(column))),)
    ]
    return np.asarray(np.all(alike, axis=0), dtype=bool)


def folded(
    values: Mapping[str, Column],
    errors: Mapping[str, Column],
    first: Sequence[int],
    *,
    repeats: int,
) -> dict[int, int]:
    """Return rows of designs, and of how many others each one stands for, within noise of it.

    Rows `first` are taken first, then the others in order.
    """
    count = len(next(iter(values.values()), ()))
    left = np.ones(count, dtype=bool)
    found: dict[int, int] = {}
    for row in dict.fromkeys((*first, *range(count))):
        if left[row]:
            alike = left & within_noise(values, errors, row, repeats=repeats)
            alike[row] = True
            left &= ~alike
            found[row] = int(alike.sum()) - 1
    return found
