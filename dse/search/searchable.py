"""What a search needs of a study, and the callbacks that report its progress."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, runtime_checkable

from dse.contract import Matrix
from dse.contract.methods import Axes
from dse.errors import ContractError
from dse.model.beforehand import Beforehand
from dse.model.evaluation import Evaluation
from dse.model.space import Index, Points

Progress = Callable[[int, int], None]
"""Called with the number of designs evaluated so far and the number planned."""


@runtime_checkable
class FrontWatcher(Protocol):
    """A `Progress` that shows the front, too."""

    def watch(self, front: Callable[[], Matrix]) -> None:
        """Take a function that returns the losses (n, m) of the front so far, in any thread."""


CONSTRAINT_LIMIT = 62
"""A set of constraints is the bits of one int64."""


class Searchable(Axes, Protocol):
    """What a search needs to know of a study."""

    @property
    def continuous(self) -> tuple[str, ...]:
        """Names of the axes whose values stand for a whole range."""

    @property
    def size(self) -> int:
        """Number of designs, however large."""

    @property
    def objective_count(self) -> int:
        """Columns of a loss."""

    @property
    def constraint_names(self) -> tuple[str, ...]:
        """What each column of a violation stands for."""

    def evaluate(self, points: Points) -> Evaluation:
        """Evaluate designs, one result per row."""


def beforehand(problem: Searchable) -> Beforehand | None:
    """Return the rules on axes alone of a problem whose designs are measured, if there are any."""
    found: Beforehand | None = getattr(problem, "beforehand", None)
    return found if found is not None and found.any else None


def excluded(problem: Searchable) -> int | None:
    """Return how many designs such rules exclude; None where they are too many to be counted."""
    found = beforehand(problem)
    return 0 if found is None else found.count


def pool_of(problem: Searchable) -> Index | None:
    """Return the only designs (n, d) that there are, None for those of the whole space."""
    found = beforehand(problem)
    return None if found is None else found.pool


def left_of(problem: Searchable) -> int:
    """Return how many designs a search may have to evaluate: those that nothing excludes."""
    return problem.size - (excluded(problem) or 0)


def check_constraints(problem: Searchable) -> None:
    """Raise `ContractError` when a study has more constraints than a search keeps apart."""
    count = len(problem.constraint_names)
    if count > CONSTRAINT_LIMIT:
        raise ContractError(
            f"a study has {count} constraints; at most {CONSTRAINT_LIMIT} are supported; join "
            f"some of them with `and`"
        )
