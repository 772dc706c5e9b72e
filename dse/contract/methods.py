"""Search methods: ways to choose designs, and the search that a method is given.

A design is a row of positions, one on each axis of the space.  A method sees only these positions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dse.contract.columns import Column
from dse.contract.decorator import decorator

Index = NDArray[np.int64]
"""Designs as rows of positions, shape (n, d)."""

Matrix = NDArray[np.float64]
"""Losses (n, m) or violations (n, k) of n designs."""

OptionValue = bool | int | float | str


class Axes(Protocol):
    """The axes of a space of designs, in the order of the positions in a row."""

    @property
    def sizes(self) -> tuple[int, ...]:
        """Return the number of values of each axis.  Positions count from 0."""

    @property
    def ordered(self) -> tuple[bool, ...]:
        """Return whether each axis has an order.  The others are choices."""

    @property
    def coordinates(self) -> tuple[Column | None, ...]:
        """Return the values of each axis on its scale, rising in [0, 1], or None for choices."""


class Search(Axes, Protocol):
    """A search under way, as a method sees it: the space, and the only access to evaluations."""

    @property
    def objective_count(self) -> int:
        """Return the number of columns of a loss."""

    @property
    def constraint_count(self) -> int:
        """Return the number of columns of a violation."""

    @property
    def room(self) -> int:
        """Return the number of new designs that may still be evaluated.  The search ends at 0."""

    @property
    def evaluated(self) -> int:
        """Return the number of evaluated designs."""

    @property
    def front(self) -> tuple[Index, Matrix]:
        """Return the feasible designs so far that no other dominates, and their losses."""

    def evaluate(self, index: Index) -> tuple[Matrix, Matrix]:
        """Return losses (n, m), to be minimised, and violations (n, k), met if at most 0.

        Neither a design that was evaluated before nor a design that is known to miss a constraint
        before it is measured uses up room.

        Raises
        ------
        ContractError
            The rows are no designs of the space, or there are more new designs than room.
        """

    def seen(self, index: Index) -> NDArray[np.bool_]:
        """Return whether designs (n, d) are evaluated, or known to miss a constraint."""

    def unseen(self, random: np.random.Generator, count: int) -> Index:
        """Return up to `count` distinct random designs that are not `seen`."""


@dataclass(frozen=True, kw_only=True)
class Option:
    """An option of a method in a study: ``search: {options: {eta: 10}}``.

    The option has the type of `default`: a bool, a whole number, a number or a text.

    Attributes
    ----------
    name
        An argument of the method's function.
    description
        Its effect, in a line.
    default
        Its value if the study has none.
    low, high
        Range of a number.
    choices
        The possible texts, or any text if empty.
    """

    name: str
    description: str
    default: OptionValue
    low: float = -np.inf
    high: float = np.inf
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Method:
    """A way to choose designs.

    Attributes
    ----------
    function
        ``function(search, *, seed, population, **options) -> None``: evaluates designs of
        a `Search` until it has no room, or no design is left to try.  `seed` decides all random
        choices.  `population` is the number of designs to evaluate together.  One argument for
        each of `options` follows.  Every evaluated design counts, so there is nothing to return.
    description
        One line that helps to choose.
    budget
        Number of evaluated designs if the study has none.
    population
        Designs per generation, or batch, if the study has none.
    options
        Further settings in a study.
    proves
        True for the methods of this program that account for every design: their function takes
        the problem itself.
    """

    function: Callable[..., Any]
    _: KW_ONLY
    description: str
    budget: int
    population: int = 100
    options: tuple[Option, ...] = ()
    proves: bool = False

    @property
    def name(self) -> str:
        """Return the name of the function, with hyphens: ``tabu-search``."""
        return str(self.function.__name__).replace("_", "-")

    @property
    def summary(self) -> str:
        """Return its description in one line."""
        return self.description


method = decorator(Method)
"""Decorator that makes a `Method` of the function below it."""
