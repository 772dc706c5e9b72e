"""Evaluated numbers of designs, and the ledger of their states.

Columns are put together as matrices, and losses are compared as they are rounded here.  The ledger
of a space counts its designs by state.  Every statement on the completeness of a front uses it:

| state | meaning |
| --- | --- |
| evaluated | its values are known: computed by models, or measured |
| infeasible | the program that measures reports that there is no such design |
| failed | an accident: the design is unknown |
| unknown | it was not evaluated yet |
| pruned | bounds exclude it |
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from dse.contract import Column, Objective
from dse.model.space import Points

Problem = Any
"""A `dse.model.problem.Problem`, in the modules that it imports."""

_SPLIT = 2.0**13 + 1.0
"""Factor that keeps 40 of the 53 significant bits of a number (Veltkamp)."""


def shape_of(points: Points) -> tuple[int, ...]:
    """Return the shape to which the columns of designs broadcast."""
    return (len(points),) if isinstance(points, np.ndarray) else points.shape or (1,)


def full_column(column: NDArray[Any], count: int) -> NDArray[Any]:
    """Return a column with one row for each of `count` designs."""
    return column if column.shape == (count,) else np.broadcast_to(column, (count,))


def matrix_of(columns: Sequence[Column], shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Return columns that broadcast to `shape` as a matrix, one contiguous column each."""
    matrix = np.empty((len(columns), *shape))
    for position, column in enumerate(columns):
        matrix[position] = column
    return matrix.reshape(len(columns), math.prod(shape)).T


def distinct_rows(table: NDArray[Any]) -> NDArray[np.intp]:
    """Return the first position of each different row of a table (n, k), in ascending order.

    The result of ``numpy.unique`` along an axis, without its comparisons row by row.
    """
    order = np.lexsort(table.T[::-1]) if table.shape[1] else np.arange(len(table))
    ordered = table.take(order, axis=0)
    new = np.ones(len(table), dtype=bool)
    new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    return order[new]


def distinct(table: NDArray[Any]) -> NDArray[Any]:
    """Return the different rows of a table (n, k), lower ones first."""
    return table.take(distinct_rows(table), axis=0)


def rounded(loss: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return losses at 40 of their 53 significant bits (1e-12), by Veltkamp's splitting.

    Equal quantities that were added up in different orders become equal losses, so that
    rounding neither adds designs to a front nor drops them.  The exception is a share of 5.5e-5 of
    such pairs (measured on random sums), which a boundary between two rounded numbers divides.
    Then one design is better than its equal by 1e-12 and drops it, in any search.  A loss is
    computed from one design, in one order, independent of other designs.  Composed or bounded
    losses are never compared without the slack of 1e-9, nor put on a front unevaluated.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        carried = loss * _SPLIT
        rounded = carried - (carried - loss)
    np.copyto(rounded, loss, where=~np.isfinite(carried))
    return rounded


def label_columns(
    quantities: Sequence[Objective], columns: Mapping[str, Column]
) -> dict[str, NDArray[Any]]:
    """Return `columns` of `quantities`, with codes replaced by their labels."""
    labelled: dict[str, NDArray[Any]] = {}
    for quantity in quantities:
        values = columns[quantity.name]
        if quantity.labels:
            codes = np.where(np.isfinite(values), values, 0).astype(np.int64)
            labelled[quantity.name] = np.array(quantity.labels, dtype=object)[codes]
        else:
            labelled[quantity.name] = values
    return labelled


KNEE = "knee"
"""The preference for the design nearest to the best of every objective."""


@dataclass(frozen=True)
class Goal:
    """A quantity to optimise."""

    name: str
    maximise: bool = False

    @property
    def sense(self) -> str:
        """Return ``minimise`` or ``maximise``."""
        return "maximise" if self.maximise else "minimise"

    @property
    def loss(self) -> str:
        """Return the name of its loss, which is negated if it is maximised."""
        return f"-{self.name}" if self.maximise else self.name


@dataclass(frozen=True)
class Evaluation:
    """Designs, their losses and violations.

    Attributes
    ----------
    points
        Design points: an index (n, d), or a block or boxes of n designs.
    loss
        Minimised losses, shape (n, m), rounded to 40 bits.  Maximised quantities have their
        sign flipped.
    violation
        Shape (n, k).  A constraint holds if its column is <= 0.
    failed
        Designs that cannot be evaluated, shape (n,), if a study treats these as infeasible.  A
        single row if all can be evaluated.
    failure
        Cause for the first of them, with the design.
    """

    points: Points
    loss: NDArray[np.float64]
    violation: NDArray[np.float64]
    failed: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(1, dtype=bool))
    failure: str = ""

    @property
    def feasible(self) -> NDArray[np.bool_]:
        """Return the designs that meet every constraint, shape (n,)."""
        return np.asarray((self.violation <= 0).all(axis=1))


LEDGER = "ledger"
"""Entry of a manifest with the ledger."""


@dataclass(frozen=True, kw_only=True)
class Ledger:
    """Numbers of designs by state."""

    evaluated: int = 0
    infeasible: int = 0
    failed: int = 0
    unknown: int = 0
    pruned: int = 0

    def __add__(self, other: Self) -> Ledger:
        """Return the sum of both ledgers."""
        pairs = zip(self.to_dict().items(), other.to_dict().values(), strict=True)
        return Ledger(**{name: count + more for (name, count), more in pairs})

    @property
    def known(self) -> int:
        """Return the number of designs that were evaluated, or reported infeasible."""
        return self.evaluated + self.infeasible

    @property
    def settled(self) -> bool:
        """Return whether no design is unknown, except after an accident."""
        return not self.unknown

    @property
    def exact(self) -> bool:
        """Return whether every design is accounted for, so that the front is exact."""
        return self.settled and not self.failed

    @property
    def but(self) -> str:
        """Return the gap of an otherwise exact front, or empty if it is exact or not proven."""
        if not self.failed or not self.settled:
            return ""
        designs = "design" if self.failed == 1 else "designs"
        return f"exact but for {self.failed:,} {designs} that failed"

    @property
    def proof(self) -> str:
        """Return the completeness of the front in a few words."""
        return "proven complete" if self.exact else self.but or "not proven"

    @property
    def front(self) -> str:
        """Return the name of the front by its completeness."""
        if self.exact:
            return "an exact front"
        return f"a front that is {self.but or 'not proven'}"

    @property
    def measured(self) -> str:
        """Return a text on the requested designs of a space, all of which were requested."""
        said = "every design is measured"
        if self.infeasible:
            said = "every design is measured, or infeasible by its program"
        return f"every design was requested, and {self.failed:,} failed" if self.failed else said

    def to_dict(self) -> dict[str, int]:
        """Return plain data, for JSON."""
        return asdict(self)


def ledger_of(manifest: Mapping[str, Any]) -> Ledger:
    """Return the ledger of a run."""
    return Ledger(**manifest[LEDGER])
