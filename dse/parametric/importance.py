"""How far the deciding objective of a design moves with each assumption; nothing is searched."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from dse.errors import ContractError
from dse.model.preference import Preference
from dse.model.space import Index
from dse.parametric.perturbed import Compared, PerturbedPart, compare_together
from dse.reports.text import ROUNDING
from dse.study.assumptions import assumptions_of
from dse.study.study import Study

WIDTH = 0.1
"""Each assumption moves alone by this share of its value, either way."""


@dataclass(frozen=True)
class Importance:
    """The change of an objective, as a share, on either side of an assumption.

    `feasible` says of either side whether the design meets every constraint there.
    """

    assumption: str
    fitted: bool
    change: tuple[float, float]
    feasible: tuple[bool, bool]

    @property
    def most(self) -> float:
        """The larger change; inf where the design is infeasible."""
        return max(map(abs, self.change)) if all(self.feasible) else float("inf")


def importance_facts(study: Study, point: Index, preference: Preference) -> dict[str, Any] | None:
    """Return the importance of assumptions as plain data, the largest first.

    Parameters
    ----------
    study
        A prepared study, whose designs nobody has to measure.
    point
        The recommended design (1, d).
    preference
        Its objective decides, else the first one.

    Returns
    -------
    dict or None
        ``moved``, and in ``still`` how many assumptions move nothing; None where there is nothing
        to move.
    """
    problem = study.problem
    column = preference.column(problem) or 0
    entries = [
        entry
        for entry in assumptions_of(study)
        if entry.concerns(point) and not entry.integer and not entry.among
    ]
    loss = float(problem.evaluate(point).loss[0, column])
    if problem.measured is not None or not entries or not loss:
        return None
    parts = [
        PerturbedPart(entry, ((1 - WIDTH) * entry.value, (1 + WIDTH) * entry.value), point)
        for entry in entries
    ]
    found: list[Compared] = []
    with suppress(ContractError):  # a model that refuses such a value
        found = compare_together(problem, problem.space, parts)
    goal = problem.goals[column]
    moved = []
    for entry, seen in zip(entries, found, strict=False):
        shares = (seen.loss[:, 0, column] / loss - 1.0).tolist()
        change = (float(shares[0]), float(shares[1]))
        feasible = (bool(seen.feasible[0, 0]), bool(seen.feasible[1, 0]))
        moved.append(Importance(entry.name, entry.fitted, change, feasible))
    telling = [one for one in moved if one.most > ROUNDING]
    telling.sort(
        key=lambda one: (-round(max(map(abs, np.nan_to_num(one.change))), 9), one.assumption)
    )
    return {
        "quantity": goal.name,
        "width": WIDTH,
        "moved": [asdict(one) for one in telling],
        "still": len(moved) - len(telling),
    }
