"""How far a design is from the constraints of its study."""

from __future__ import annotations

import ast
import re
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from dse.algebra import units
from dse.algebra.thresholds import ConstraintThreshold, thresholds_of
from dse.model.problem import Problem
from dse.reports.sections import Section
from dse.reports.text import ROUNDING, in_words, percent


@dataclass(frozen=True)
class Margin:
    """What a design has of a quantity that a constraint bounds.

    Attributes
    ----------
    rule
        The constraint as written.
    what
        The quantity, or the expression, in words.
    quantity
        A name whose suffix is the unit of `value` and `limit`, which are in SI; may be empty.
    at_least
        Whether the limit is a lower one.
    spare
        How far the value is from the limit, as a share of the limit; None of a limit of 0.
    """

    rule: str
    what: str
    quantity: str
    value: float
    limit: float
    at_least: bool
    spare: float | None

    @property
    def text(self) -> str:
        """The margin in one unit: ``area 0.5077 of 1 mm2``."""
        factor, unit = units.scale([self.limit], self.quantity)
        value, limit = (units.show(v / factor, "") for v in (self.value, self.limit))
        return f"{self.what} {value} of{' at least' * self.at_least} {limit} {unit}".rstrip()

    @property
    def spare_text(self) -> str:
        """The same, and how much is left."""
        if self.spare is None:
            return self.text
        left = "none" if self.spare < ROUNDING else percent(self.spare)
        return f"{self.text} ({left} to spare)"


def _margin(rule: str, bound: ConstraintThreshold, value: float) -> Margin:
    what = re.sub(
        r"[A-Za-z_][\w.]*", lambda name: in_words(name[0]), ast.unparse(bound.quantity.tree)
    )
    sign = 1.0 if bound.up else -1.0
    spare = sign * (bound.value - value) / abs(bound.value) if bound.value else None
    return Margin(rule, what, bound.name, value, bound.value, bound.down, spare)


def margins_section(problem: Problem, point: NDArray[np.int64]) -> Section:
    """Return the margin of a design (d,) to each bound that the study writes as a constraint."""
    columns = problem.describe(point[np.newaxis])
    found = [
        _margin(constraint.text, bound, float(np.ravel(bound.quantity.value(columns))[0]))
        for constraint in problem.constraints
        for bound in thresholds_of(constraint)
        if bound.up != bound.down
    ]
    if not found:
        return Section("constraints", facts=[], brief=())
    line, brief = (
        f"Constraints: {'; '.join(texts)}."
        for texts in ([one.spare_text for one in found], [one.text for one in found])
    )
    facts = [asdict(one) for one in found]
    return Section("constraints", lines=(line,), facts=facts, brief=(brief,))
