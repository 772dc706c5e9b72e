"""Search methods: how designs are chosen, and what a method is given to choose them with.

A design is a row of positions, one on each axis of the space; a method sees nothing else of it.
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
        """Number of values of each axis; positions count from 0."""

    @property
    def ordered(self) -> tuple[bool, ...]:
        """Which axes have an order; the others are choices."""

    @property
    def coordinates(self) -> tuple[Column | None, ...]:
        """Where the values of each axis lie on its scale, rising in [0, 1]; None for choices."""


class Search(Axes, Protocol):
    """A search under way, as a method sees it: the space, and the one door to evaluations."""

    @property
    def objective_count(self) -> int:
        """Columns of a loss."""

    @property
    def constraint_count(self) -> int:
        """Columns of a violation."""

    @property
    def room(self) -> int:
        """How many new designs may still be evaluated; a search ends when there is none."""

    @property
    def evaluated(self) -> int:
        """How many designs have been evaluated."""

    @property
    def front(self) -> tuple[Index, Matrix]:
        """The feasible designs so far that no other dominates, in no order, and their losses."""

    def evaluate(self, index: Index) -> tuple[Matrix, Matrix]:
        """Return losses (n, m), to be minimised, and violations (n, k), met where at most 0.

        A design that was evaluated before costs no room, nor one that is known to miss a
        constraint before it is measured.

        Raises
        ------
        ContractError
            The rows are no designs of the space, or more new ones than there is room for.
        """

    def seen(self, index: Index) -> NDArray[np.bool_]:
        """Return which designs (n, d) have been evaluated, or are known to miss a constraint."""

    def unseen(self, random: np.random.Generator, count: int) -> Index:
        """Return up to `count` distinct random designs of those that `seen` says nothing of."""


@dataclass(frozen=True, kw_only=True)
class Option:
    """Something that a study may tell a method: ``search: {options: {eta: 10}}``.

    The type of `default` is that of the option: a bool, a whole number, a number or a text.

    Attributes
    ----------
    name
        An argument of the method's function.
    description
        What it does, in a line.
    default
        Its value when the study does not say.
    low, high
        Where a number makes sense.
    choices
        The texts that it may be; any when empty.
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
        a `Search` until it has no room, or has nothing more to try.  `seed` decides everything
        that is random; `population` is how many designs to evaluate together; then one argument
        for each of `options`.  Everything evaluated counts: there is nothing to return.
    description
        One line for those who choose.
    budget
        Designs evaluated when the study does not say.
    population
        Designs per generation, or batch, when the study does not say.
    options
        What else a study may tell it.
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
        """The name of the function, with hyphens: ``tabu-search``."""
        return str(self.function.__name__).replace("_", "-")

    @property
    def summary(self) -> str:
        """What it does, in a line."""
        return self.description


method = decorator(Method)
"""Makes a `Method` of the function below it."""
