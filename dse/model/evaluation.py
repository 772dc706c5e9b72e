"""What a study evaluates of designs, and what is known of each of them.

Columns are put together as matrices, and losses compared as they are rounded here.  The ledger of a
space counts its designs by what is known; every word on how complete a front is comes from it:

| state | meaning |
| --- | --- |
| evaluated | figures are known: computed by models, or measured |
| infeasible | the program that measures says itself that there is no such design |
| failed | an accident: nothing is known of the design |
| unknown | it was not evaluated yet |
| pruned | bounds rule it out |
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
"""A `dse.model.problem.Problem`, in what that module imports."""

SPLIT = 2.0**13 + 1.0
"""Factor that keeps 40 of the 53 significant bits of a number (Veltkamp)."""


def shape_of(points: Points) -> tuple[int, ...]:
    """Return the shape to which the columns of designs broadcast."""
    return (len(points),) if isinstance(points, np.ndarray) else points.shape or (1,)


def full_column(column: NDArray[Any], count: int) -> NDArray[Any]:
    """Return a column with a row for each of so many designs."""
    return column if column.shape == (count,) else np.broadcast_to(column, (count,))


def matrix_of(columns: Sequence[Column], shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Return columns that broadcast to `shape` as a matrix, one contiguous column each."""
    matrix = np.empty((len(columns), *shape))
    for position, column in enumerate(columns):
        matrix[position] = column
    return matrix.reshape(len(columns), math.prod(shape)).T


def distinct_rows(table: NDArray[Any]) -> NDArray[np.intp]:
    """Return where each different row of a table (n, k) first stands, lower rows before higher.

    What ``numpy.unique`` finds along an axis, without its comparisons row by row.
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
    rounding neither adds designs to a front nor drops them; but for 5.5e-5 of such pairs (measured
    of random sums), which a boundary between two rounded numbers divides.  Then one design is
    better than its equal by 1e-12 and drops it, whoever searches: a loss is computed from a design
    alone, in one order, whatever others are beside it, and what is put together or pruned from
    bounds is never compared without the slack of 1e-9 nor put on a front unevaluated.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        carried = loss * SPLIT
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
        """``minimise`` or ``maximise``."""
        return "maximise" if self.maximise else "minimise"

    @property
    def loss(self) -> str:
        """The name of its loss: what is maximised is negated."""
        return f"-{self.name}" if self.maximise else self.name


@dataclass(frozen=True)
class Evaluation:
    """Designs, their losses and violations.

    Attributes
    ----------
    points
        Design points: an index (n, d), or a block or boxes of n designs.
    loss
        What is minimised, shape (n, m), rounded to 40 bits; maximised quantities with their
        sign flipped.
    violation
        Shape (n, k); a constraint holds where its column is <= 0.
    failed
        Designs that cannot be evaluated, shape (n,), where a study takes these for infeasible; one
        row for none.
    failure
        Why the first of them cannot, and which design it is.
    """

    points: Points
    loss: NDArray[np.float64]
    violation: NDArray[np.float64]
    failed: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(1, dtype=bool))
    failure: str = ""

    @property
    def feasible(self) -> NDArray[np.bool_]:
        """Designs that meet every constraint, shape (n,)."""
        return np.asarray((self.violation <= 0).all(axis=1))


ENTRY = "ledger"
"""The entry of a manifest that has it."""


@dataclass(frozen=True, kw_only=True)
class Ledger:
    """Numbers of designs by state."""

    evaluated: int = 0
    infeasible: int = 0
    failed: int = 0
    unknown: int = 0
    pruned: int = 0

    def __add__(self, other: Self) -> Ledger:
        """Return the ledger of both."""
        pairs = zip(self.to_dict().items(), other.to_dict().values(), strict=True)
        return Ledger(**{name: count + more for (name, count), more in pairs})

    @property
    def known(self) -> int:
        """How many designs were evaluated, or are infeasible as their program says."""
        return self.evaluated + self.infeasible

    @property
    def settled(self) -> bool:
        """Whether no design is left but those that failed by accident."""
        return not self.unknown

    @property
    def exact(self) -> bool:
        """Whether every design is accounted for: the front is the front."""
        return self.settled and not self.failed

    @property
    def but(self) -> str:
        """What an otherwise exact front lacks; empty where it is exact, or is not proven."""
        if not self.failed or not self.settled:
            return ""
        designs = "design" if self.failed == 1 else "designs"
        return f"exact but for {self.failed:,} {designs} that failed"

    @property
    def proof(self) -> str:
        """How complete the front is, in two words or a few more."""
        return "proven complete" if self.exact else self.but or "not proven"

    @property
    def front(self) -> str:
        """What the front may be called."""
        if self.exact:
            return "an exact front"
        return f"a front that is {self.but or 'not proven'}"

    @property
    def measured(self) -> str:
        """What was done with designs of a space, all of which were requested."""
        said = "every design is measured"
        if self.infeasible:
            said = "every design is measured, or infeasible as its program says"
        return f"every design was requested, and {self.failed:,} failed" if self.failed else said

    def to_dict(self) -> dict[str, int]:
        """Return plain data, for JSON."""
        return asdict(self)


def ledger_of(manifest: Mapping[str, Any]) -> Ledger:
    """Return the ledger of a run."""
    return Ledger(**manifest[ENTRY])
