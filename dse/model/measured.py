"""Measured columns of designs, which come from outside, and rules that exclude designs beforehand.

Only a search requests measurements, and only while its run allows it.  Elsewhere a
design that has not been measured is infeasible, so that no measurement happens unexpectedly.
Rules on axes only exclude designs before they are measured.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dse.contract import Column
from dse.contract.evaluators import INFEASIBLE, Evaluator, Measurement, MeasurementCache, Value, key
from dse.model.evaluation import Evaluation, Ledger, Problem, matrix_of, shape_of
from dse.model.graph import missed_by
from dse.model.space import Axis, Index, Points, Space, as_index, blocks

FIRST, LATELY = 5, 20
"""Numbers of first and last designs among which failures are counted."""


@dataclass
class Spending:
    """Time in which one run measures, all values of its sweep together.

    Attributes
    ----------
    time_s
        Most time for measurements, infinite if the study has no limit.
    spent_s
        Time spent on measurements, including earlier processes.
    longest_s
        Longest time of one of the designs so far.
    failing
        Reason to stop measuring if too many designs failed, else empty.
    """

    time_s: float = math.inf
    spent_s: float = 0.0
    longest_s: float = 0.0
    failing: str = ""
    _lately: list[bool] = field(default_factory=list)
    _met: int = 0
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
        """Return the time spent on measurements until now."""
        return self.spent_s + (0.0 if self._since is None else time.monotonic() - self._since)

    def may_begin(self) -> bool:
        """Return whether a design that takes as long as the longest ends within the time."""
        return self.elapsed_s + self.longest_s <= self.time_s

    def took(self, found: Measurement) -> None:
        """Update the longest time from a measurement."""
        self.longest_s = max(self.longest_s, found.seconds)

    def met(self, found: Measurement, most: int) -> None:
        """Stop measuring if the first `FIRST` designs all failed, or `most` of the last `LATELY`.

        With `most` 0, measuring never stops.
        """
        self._lately = [*self._lately[1 - LATELY :], found.failed]
        self._met += 1
        failed = sum(self._lately)
        if most and (failed == self._met == FIRST or failed >= most):
            which = f"{failed} of the last {len(self._lately)}"
            which = f"the first {failed}" if failed == self._met else which
            self.failing = f"{which} designs failed, the last one: {found.cause}"


Design = Mapping[str, Value]
Ask = Callable[[Sequence[Design]], Iterator[tuple[int, Measurement]]]
"""Function that measures designs, and yields the position and measurement of each at its end."""

IS_MEASURED = "the design is measured"
"""The constraint that designs miss without a measurement, or with one that failed."""

UNKNOWN = Measurement(values={}, cause="it has not been measured")


class MemoryCache:
    """Storage of measurements for as long as the program runs."""

    def __init__(self) -> None:
        """Start empty."""
        self.found: dict[str, Measurement] = {}

    def known(self, keys: Sequence[str]) -> Mapping[str, Measurement]:
        """Return the stored measurements among these keys."""
        return {one: self.found[one] for one in keys if one in self.found}

    def keep(self, found: Mapping[str, Measurement], designs: Mapping[str, Design]) -> None:
        """Store measurements and their designs."""
        self.found.update(found)


@dataclass(eq=False, repr=False)
class MeasurementSetup:
    """Measurements of one evaluator, which requests more while it may.

    Attributes
    ----------
    evaluator, cache
        Evaluator, and storage of its measurements.
    measured_count
        Number of designs that were measured, not read from storage.
    seen
        Designs that were requested while this was open, and their measurements, by key.
    unit_names
        Columns that carry the unit of a number of designs, by name.
    spending
        Time spent on measurements, and its limits.
    """

    evaluator: Evaluator
    cache: MeasurementCache
    seen: dict[str, tuple[Design, Measurement]] = field(default_factory=dict)
    unit_names: Mapping[str, str] = field(default_factory=dict)
    measured_count: int = field(default=0, init=False)
    spending: Spending = field(default_factory=Spending, init=False)
    _ask: Ask | None = field(default=None, init=False)

    @property
    def failures(self) -> dict[str, tuple[Design, Measurement]]:
        """Return the requested designs that failed by accident, by key."""
        return {one: pair for one, pair in self.seen.items() if pair[1].failed}

    @property
    def ruled_out(self) -> list[str]:
        """Return the keys of requested designs that the evaluator reports as infeasible."""
        return [one for one, (_, found) in self.seen.items() if found.kind == INFEASIBLE]

    @property
    def ledger(self) -> Ledger:
        """Return the ledger of the requested designs."""
        return ledger_of_measured([found for _, found in self.seen.values()])

    @contextmanager
    def measuring(self, ask: Ask, spending: Spending) -> Iterator[None]:
        """Allow measurements of designs that are not stored."""
        self._ask, self.spending = ask, spending
        try:
            yield
        finally:
            self._ask = None

    @property
    def open(self) -> bool:
        """Return whether designs that are not stored are measured."""
        return self._ask is not None

    def measurements(self, designs: Sequence[Design], *, ask: bool) -> list[Measurement]:
        """Return the measurements of designs.  With `ask`, measure missing ones as far as allowed.

        Raises
        ------
        BudgetError
            The remaining time does not suffice for all of them.  Finished measurements are kept.
        """
        keys = [key(self.evaluator.identity, design) for design in designs]
        wanted = dict(zip(keys, designs, strict=True))
        found = dict(self.cache.known(keys))
        if ask and self._ask is not None:
            for measurement in found.values():
                self.spending.took(measurement)
            self._request(self._ask, wanted, found)
        return [found.get(one, UNKNOWN) for one in keys]

    def _request(
        self, ask: Ask, wanted: Mapping[str, Design], found: dict[str, Measurement]
    ) -> None:
        """Measure designs, and add them to those found."""
        missing = [one for one in wanted if one not in found]
        coming = ask([wanted[one] for one in missing]) if missing else ()
        try:
            for position, measurement in coming:  # stored as soon as it ends
                one = missing[position]
                self.cache.keep({one: measurement}, {one: wanted[one]})
                self.measured_count += 1
                found[one] = measurement
        finally:  # finished measurements count, whatever ends the rest
            self.seen |= {one: (wanted[one], found[one]) for one in wanted if one in found}


def ledger_of_measured(found: Sequence[Measurement], *, unknown: int = 0) -> Ledger:
    """Return the ledger of requested designs, with `unknown` others."""
    failed = sum(one.failed for one in found)
    values = sum(one.has_values for one in found)
    infeasible = len(found) - values - failed
    return Ledger(evaluated=values, infeasible=infeasible, failed=failed, unknown=unknown)


@dataclass(frozen=True, eq=False)
class MeasuredColumns:
    """Columns of a space that are measured.

    Attributes
    ----------
    setup
        Measurements of designs.
    axes
        Positions of the axes that a measurement depends on.
    outputs
        The columns, by name in SI.
    at_rows
        Designs, (n, d), whose measurements are reported for any request, if given.
    pool
        The only designs that exist, each by its values as in `Axis.places`, or None for
        all of the space.
    """

    setup: MeasurementSetup
    axes: tuple[int, ...]
    outputs: tuple[str, ...]
    at_rows: Index | None = None
    pool: Sequence[Sequence[Value]] | None = None

    def size(self, space: Space) -> int:
        """Return the number of designs to measure, however many others share each."""
        return math.prod(space.axes[position].size for position in self.axes)

    def designs(self, space: Space, index: Index) -> list[Design]:
        """Return the values with which designs, (n, d), are measured."""
        axes = [(position, space.axes[position]) for position in self.axes]
        return [
            {
                axis.name: (
                    float(axis.columns[axis.unit_name][row[position]])
                    if axis.ordered
                    else str(axis.labels[row[position]])
                )
                for position, axis in axes
            }
            for row in index
        ]

    def found(self, space: Space, points: Points, *, ask: bool) -> list[Measurement]:
        """Return a measurement of each design.  Each distinct design is looked up once."""
        index = as_index(points) if self.at_rows is None else self.at_rows
        _, first, which = np.unique(
            index[:, list(self.axes)], axis=0, return_index=True, return_inverse=True
        )
        order = np.argsort(first, kind="stable")  # as the search asks for them
        found = self.setup.measurements(self.designs(space, index[first[order]]), ask=ask)
        place = np.argsort(order, kind="stable")
        return [found[place[row]] for row in which.reshape(-1)]

    def columns(self, space: Space, points: Points) -> dict[str, Column]:
        """Return each output of designs, NaN if it is unknown, in a shape that broadcasts."""
        found = self.found(space, points, ask=False)
        shape = shape_of(points)
        return {
            name: np.array([one.values.get(name, np.nan) for one in found]).reshape(shape)
            for name in self.outputs
        }

    def counted(self, space: Space, index: Index) -> Index:
        """Return the known designs, which have values or are infeasible."""
        found = self.found(space, index, ask=False)
        known: Index = index[[not one.failed for one in found]]
        return known

    def ledger(self, space: Space, points: Points) -> Ledger:
        """Return the ledger of designs."""
        found = self.found(space, points, ask=False)
        requested = [one for one in found if one is not UNKNOWN]
        return ledger_of_measured(requested, unknown=len(found) - len(requested))

    def known(self, space: Space, points: Points) -> NDArray[np.bool_]:
        """Return whether each design (n,) was requested."""
        found = self.found(space, points, ask=False)
        return np.array([one is not UNKNOWN for one in found], dtype=bool)


MOST_COUNTED = 1_000_000
"""Largest space whose designs that no such rule excludes are counted."""

MOST_CODES = 2**62
"""Largest space whose designs fit into whole numbers."""

_TOGETHER = 65_536
"""Number of designs that are judged at once."""


class Beforehand:
    """Constraints and requirements of a problem that take no measured column.

    A design that misses one of them is never measured.  It is pruned, as by a bound.
    """

    def __init__(self, problem: Problem, measured: MeasuredColumns) -> None:
        """Find the rules whose quantities follow from the settings of the study."""
        self._problem, self._measured = problem, measured
        self.rules = [rule for rule in problem.constraints if self._known(rule.names)]
        self.steps = [step for step in problem.requirement_steps if self._known(step.arguments)]
        self.pool = None if measured.pool is None else _within(problem.space.axes, measured.pool)
        said = self.rules or self.steps or self.pool is not None
        self.any = bool(said) and measured.at_rows is None

    def _known(self, names: frozenset[str] | tuple[str, ...]) -> bool:
        """Return whether quantities are computed without any measured column."""
        plan = self._problem.graph.closure(names)
        taken = {*names}.union(*(step.arguments for step in plan))
        return taken.isdisjoint(self._measured.outputs)

    @property
    def alone(self) -> Problem:
        """Return the problem of these rules, for all designs of the space, without measurements."""
        bound = [(one, self._problem.graph.bind(one)) for one in self._problem.requirements]
        kept = tuple(one for one, step in bound if step is not None and step in self.steps)
        constraints = tuple(self.rules)
        return replace(self._problem, measured=None, constraints=constraints, requirements=kept)

    def excluded(self, points: Points) -> NDArray[np.bool_]:
        """Return whether each design (n,) misses a rule whatever its measurement would be."""
        if not self.any:
            return np.zeros(len(points), dtype=bool)
        nothing = dict.fromkeys(self._measured.outputs, np.full(1, np.nan))
        names = {name for rule in self.rules for name in rule.names}
        names |= {name for step in self.steps for name in step.arguments}
        columns = self._problem.columns(points, names, nothing, self.steps)
        missed = [missed_by(step, step(columns)) for step in self.steps]
        missed += [rule.violation(columns) for rule in self.rules]
        missing = np.asarray((matrix_of(missed, shape_of(points)) > 0).any(axis=1))
        if self.pool is None:
            return missing
        both = (as_index(points), self.pool)
        designs, pool = (np.ravel_multi_index(tuple(one.T), self._problem.sizes) for one in both)
        return missing | ~np.isin(designs, pool)

    @property
    def count(self) -> int | None:
        """Return the number of excluded designs, or None if the space is too large to count."""
        return self._counts[0]

    @property
    def most(self) -> int:
        """Return the most designs to measure, each counted once however many others share it."""
        return self._counts[1]

    @cached_property
    def _counts(self) -> tuple[int | None, int]:
        """Return `count` and `most`."""
        problem, axes = self._problem, list(self._measured.axes)
        most = min(self._measured.size(problem.space), problem.size)
        if not self.any:
            return 0, most
        if self.pool is None and problem.size > MOST_COUNTED:
            return None, most
        parts = [self.pool] if self.pool is not None else blocks(problem.sizes, _TOGETHER)
        sizes = [problem.sizes[axis] for axis in axes]
        left, measured = 0, np.empty(0, dtype=np.int64)
        for part in parts:
            rows = as_index(part)[~self.excluded(part)]
            left += len(rows)
            measured = np.union1d(measured, np.ravel_multi_index(tuple(rows[:, axes].T), sizes))
        return problem.size - left, len(measured)

    def ask(self, points: Points) -> NDArray[np.bool_]:
        """Request measurements of designs that are not excluded, and return the excluded ones."""
        excluded = self.excluded(points)
        wanted = points if not excluded.any() else as_index(points)[~excluded]
        if len(wanted):
            self._measured.found(self._problem.space, wanted, ask=True)
        return excluded

    def settle(self, found: Evaluation, excluded: NDArray[np.bool_]) -> None:
        """Set excluded designs to miss these rules only, since their other violations are unknown.

        Designs outside the pool are never measured.
        """
        if not excluded.any():
            return
        steps, rules = self._problem.requirement_steps, self._problem.constraints
        others = found.violation.shape[1] - len(steps) - len(rules)
        known = [step in self.steps for step in steps] + [False] * others
        known += [rule in self.rules for rule in rules]
        found.violation[np.ix_(excluded, ~np.array(known))] = -1.0
        found.loss[excluded] = np.inf
        lacking = excluded & (found.violation <= 0).all(axis=1)
        found.violation[lacking, self._problem.constraint_names.index(IS_MEASURED)] = np.inf

    def ledger(self, points: Points) -> Ledger:
        """Return the ledger of designs."""
        excluded = self.excluded(points)
        rest: Index = as_index(points)[~excluded]
        pruned = Ledger(pruned=int(excluded.sum()))
        return pruned + self._measured.ledger(self._problem.space, rest)


def _within(axes: Sequence[Axis], designs: Sequence[Sequence[Value]]) -> Index:
    """Return the designs whose values are all on the axes, (n, d)."""
    places = [axis.places for axis in axes]
    pairs = ([*zip(places, design, strict=True)] for design in designs)
    rows = [[known[value] for known, value in row] for row in pairs if all(v in k for k, v in row)]
    return np.array(rows, dtype=np.int64).reshape(-1, len(places))
