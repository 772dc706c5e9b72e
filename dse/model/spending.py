"""What measuring takes of what it may take: time, and what designs are said to cost."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

from dse.algebra import units
from dse.algebra.expression import TOLERANCE, Expression
from dse.contract.evaluators import Measurement, Value
from dse.errors import BudgetError, MeasurementError
from dse.model.space import Axis, design_text, unit_names_of

Design = Mapping[str, Value]

FIRST, LATELY = 5, 20
"""Of so many first and last designs it counts how many failed."""


@dataclass(frozen=True, eq=False)
class Cost:
    """What it costs to measure a design once.

    Attributes
    ----------
    expression
        Over axes and outputs, in SI.
    axes
        The axes that a design names.
    unit
        What a sum of costs is called like, for its unit.
    """

    expression: Expression
    axes: Sequence[Axis]
    unit: str = ""

    @property
    def before(self) -> bool:
        """Whether it is known before a design is measured: no output is part of it."""
        return self.expression.names <= {name for axis in self.axes for name in axis.columns}

    def of(self, design: Design, values: Mapping[str, float]) -> float:
        """Return the cost of a design; NaN where that takes an output which is not known.

        Raises
        ------
        MeasurementError
            It is negative or infinite.
        """
        columns = {name: np.array(value) for name, value in values.items()}
        for axis in self.axes:
            place = axis.places[design[axis.name]]
            columns |= {name: column[place] for name, column in axis.columns.items()}
        if not self.expression.names <= columns.keys():
            return math.nan
        found = float(self.expression.value(columns))
        if not 0 <= found < math.inf:
            raise MeasurementError(
                f"{design_text(design, unit_names_of(self.axes))}: {self.expression.text} is "
                f"{found:g}, and a cost is a number of 0 or more; correct evaluate.cost"
            )
        return found

    def show(self, value: float) -> str:
        """Return a cost with its unit."""
        return units.show(value, self.unit)


@dataclass
class Spending:
    """Time and cost of what one run measures, all values of its sweep together.

    Values that another run has measured (`Measurement.attempts` is 0) take neither.

    Attributes
    ----------
    time_s, cost
        The most that measuring may take, infinite where nothing is said.
    spent_s, spent
        Time in which something was measured, by earlier processes as well, and cost.
    longest_s, largest
        Of the designs so far, the most that one took, for a share of 1; NaN: not known.
    failing
        Why nothing more is measured: too many designs failed; empty where they did not.
    """

    time_s: float = math.inf
    cost: float = math.inf
    spent_s: float = 0.0
    spent: float = 0.0
    longest_s: float = 0.0
    largest: float = math.nan
    failing: str = ""
    _lately: list[bool] = field(default_factory=list)
    _met: int = 0
    _counted: set[str] = field(default_factory=set)
    _since: float | None = None

    @contextmanager
    def measuring(self) -> Iterator[None]:
        """Count the time inside."""
        self._since = time.monotonic()
        try:
            yield
        finally:
            self.spent_s, self._since = self.elapsed_s, None

    @property
    def elapsed_s(self) -> float:
        """Time in which something was measured, until now."""
        return self.spent_s + (0.0 if self._since is None else time.monotonic() - self._since)

    def may_begin(self) -> bool:
        """Return whether a design that takes as long as any before ends within the time."""
        return self.elapsed_s + self.longest_s <= self.time_s

    def took(self, found: Measurement) -> None:
        """Learn from a measurement how long one may take."""
        self.longest_s = max(self.longest_s, found.seconds)

    def met(self, found: Measurement, most: int) -> None:
        """Give up where a new measurement and those before it failed too often; `most` 0: never.

        The first `FIRST` all failed, or so many of the last `LATELY`.
        """
        self._lately = [*self._lately[1 - LATELY :], found.failed]
        self._met += 1
        failed = sum(self._lately)
        if most and (failed == self._met == FIRST or failed >= most):
            which = f"{failed} of the last {len(self._lately)}"
            which = f"the first {failed}" if failed == self._met else which
            self.failing = f"{which} designs failed, the last one: {found.cause}"

    def affordable(self, cost: Cost | None, designs: Mapping[str, Design], free: set[str]) -> int:
        """Return how many of the next designs, by key, may be measured before the next call.

        The same whoever measures, and however much of it was measured before.  Where only outputs
        tell what a design costs, no more than were counted so far: others may cost more.

        Raises
        ------
        BudgetError
            Not even the first.
        """
        if cost is None or math.isinf(self.cost):
            return len(designs)
        price, sums = self.largest * cost.share, 0.0
        left = (self.cost - self.spent) + TOLERANCE * self.cost
        most = math.inf if cost.before else max(1, len(self._counted))
        for count, (key, design) in enumerate(designs.items()):
            if key in free or key in self._counted:
                continue
            if cost.before:
                price = cost.of(design, {})
            elif math.isnan(price):  # nobody knows: one, to see
                return count + 1
            sums += price
            if sums > left and not count:
                raise BudgetError(
                    f"the budget of cost is used: measuring cost {cost.show(self.spent)} of "
                    f"{cost.show(self.cost)}, and the next design "
                    f"{'costs' if cost.before else 'may cost'} {cost.show(price)}"
                )
            if sums > left or count >= most:
                return count
        return len(designs)

    def count(self, cost: Cost | None, key: str, design: Design, found: Measurement) -> None:
        """Count a measurement, once."""
        if cost is None or key in self._counted:
            return
        self._counted.add(key)
        once = cost.of(design, found.values)
        if math.isnan(once):  # it failed, and took nobody knows how much: as much as any before
            once = 0.0 if math.isnan(self.largest) else self.largest * cost.share
        else:
            self.largest = float(np.fmax(self.largest, once / cost.share))
        self.spent += once * found.attempts
