"""Trying a change of a study: what it admits, or that it was too much work to tell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from dse import search
from dse.errors import DseError, TooLargeError
from dse.model import tables
from dse.model.space import Index
from dse.parametric.repairs.change import NOTHING, Override, Repair, choice_words
from dse.reports.designs import described
from dse.search.exact.work import EffortError, left_s, limited, spend
from dse.study import study
from dse.study.measured.evaluated import is_evaluated
from dse.study.overrides import override
from dse.study.study import Study

Solved = tuple[Study, Index]
"""A changed study and its preferred design (1, d)."""

EVALUATIONS = 10_000_000
"""Designs that are always tried for a change, however few the study itself has."""

MOST_SEARCHED = 200_000_000
"""Designs of a space that is not composed, up to which changes are looked for."""

SHARE = 0.1
"""Part of the time that is left which one change may take."""


def changed_study(infeasible: Study, overrides: Sequence[Override]) -> Study | None:
    """Return the study with fields or constraints replaced, None when that is a fault."""
    try:
        return study.prepare(override(infeasible.document, overrides), infeasible)
    except DseError:
        return None


def solve(
    infeasible: Study, overrides: Sequence[Override], limit: int | None = None
) -> Solved | None:
    """Return the changed study and its preferred design, None when it has none.

    Raises
    ------
    TooLargeError
        More than `limit` designs would have to be tried, or it takes too long.
    """
    changed = changed_study(infeasible, overrides)
    if changed is None:
        return None
    settings = search.SearchSettings(method="exact", limit=limit)
    outcome = search.run_search(changed.problem, settings)
    if not outcome.feasible:
        return None
    order = changed.preference.order(changed.problem, outcome.front_index)
    return changed, outcome.front_index[order[:1]]


def admitted(solved: Solved) -> dict[str, Any]:
    """Return the design that a repair admits and what limits it, as a `Repair` takes them."""
    problem, index = solved[0].problem, solved[1]
    modelled = not is_evaluated(solved[0].document)  # a column of texts limits nothing
    category = tables.category(problem) if modelled else None
    limit = str(tables.design_table(problem, index)[category][0]) if category is not None else ""
    return {"design": described(problem, index)[0], "limit": limit}


class Attempts:
    """Changes tried one after the other, where they are no more work than the study itself."""

    def __init__(self, infeasible: Study, *, composed: bool = False) -> None:
        """Start with nothing tried; `composed` tells to search for numbers, not try all designs."""
        self.infeasible = infeasible
        self.composed = composed
        self.untried: list[str] = []
        self._limit = max(EVALUATIONS, min(infeasible.problem.size, MOST_SEARCHED))

    @contextmanager
    def trying(self, *changes: str) -> Iterator[None]:
        """Give changes their share of the time; keep what they are where they are too much work."""
        try:
            with limited(seconds=SHARE * left_s()):
                yield
        except TooLargeError:
            with suppress(EffortError):
                spend(0)  # what ends the whole explanation is said once
                self.untried += changes
        except DseError:
            pass  # a model that fails or overflows with it admits nothing

    def solve(self, *overrides: Override) -> Solved | None:
        """Return what a change admits; None also where that is too much work, which is kept."""
        words = [f"without {p}" if text in NOTHING else f"{p} = {text}" for p, text in overrides]
        with self.trying(*words):
            return solve(self.infeasible, overrides, self._limit)
        return None

    def choice(self, *overrides: Override, instead: str, rank: int) -> tuple[Repair, ...]:
        """Return the repair by a change without a size, none when it admits nothing."""
        solved = self.solve(*overrides)
        if solved is None:
            return ()
        what, written = choice_words(overrides, instead), overrides[0][1]
        known = admitted(solved)
        return (Repair(overrides=overrides, written=written, what=what, rank=rank, **known),)
