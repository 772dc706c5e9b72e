"""A study as functions of columns: a problem, but for how its designs are evaluated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from dse.model.evaluation import Constraint, Goal
from dse.model.graph import Graph, Step
from dse.model.space import Index, Space
from dse.model.stage import Stage

Columns = dict[str, Any]
"""A column or an enclosure of every input and quantity; those of stages as tuples."""


class Wired(Protocol):
    """What a problem is made of: what its bounds and its tape depend on."""

    @property
    def space(self) -> Space:
        """Axes and constants."""

    @property
    def stages(self) -> tuple[Stage, ...]:
        """The chain."""

    @property
    def graph(self) -> Graph:
        """The quantities that the study can feed."""

    @property
    def goals(self) -> Sequence[Goal]:
        """Quantities that are minimised or maximised."""

    @property
    def constraints(self) -> Sequence[Constraint]:
        """Constraints of the study."""

    @property
    def tolerant(self) -> bool:
        """Whether designs that cannot be evaluated are infeasible."""

    @property
    def search_plan(self) -> tuple[Step, ...]:
        """Functions of quantities, in order."""

    @property
    def requirement_steps(self) -> tuple[Step, ...]:
        """Functions of requirements."""

    @property
    def partial_in_use(self) -> tuple[str, ...]:
        """Quantities that may not exist."""

    @property
    def offered(self) -> tuple[str, ...]:
        """Columns of stages."""

    def search_columns(self, index: Index) -> dict[str, Any]:
        """Return the columns that losses and violations are made of."""
