"""How far the deciding objective of a design moves with each assumption; nothing is searched."""

from __future__ import annotations

from contextlib import suppress
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
        change = (seen.loss[:, 0, column] / loss - 1.0).tolist()
        feasible = seen.feasible[:, 0].tolist()
        most = max(map(abs, np.nan_to_num(change)))
        if most > ROUNDING or not all(feasible):
            facts = {
                "assumption": entry.name,
                "fitted": entry.fitted,
                "change": change,
                "feasible": feasible,
            }
            moved.append((-round(most, 9), entry.name, facts))
    return {
        "quantity": goal.name,
        "width": WIDTH,
        "moved": [facts for *_, facts in sorted(moved)],
        "still": len(found) - len(moved),
    }
