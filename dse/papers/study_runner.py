"""The engine as a service to claims and figures: studies given as text."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from numpy.typing import NDArray

from dse.contract import Column
from dse.model import tables
from dse.model.problem import Problem
from dse.model.space import as_index, one_block
from dse.study import study


class StudyRunner:
    """An implementation of `dse.contract.papers.Laboratory` that keeps problems by their text."""

    def __init__(self) -> None:
        """Start with nothing kept."""
        self._problem = cache(_problem)

    def designs(self, text: str) -> Mapping[str, NDArray[Any] | Column]:
        """Return all feasible designs of a small study."""
        problem = self._problem(text)
        grid = as_index(one_block(problem.sizes))
        return tables.design_table(problem, grid[problem.evaluate(grid).feasible])


def _problem(text: str) -> Problem:
    return study.prepare(study.read_study(f"{text}\n")).problem
