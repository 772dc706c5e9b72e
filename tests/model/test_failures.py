"""Designs that cannot be evaluated: an error that names one."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dse import search
from dse.errors import ContractError
from dse.model.graph import wire
from dse.study import study

STUDY = """\
workload: {rate: 20 Gbit/s}
stages: [{core: des, instances: {from: 1, to: 9}}]
objectives: {area: minimise, power: minimise}
"""
LOST = 41_000e-12
"""Designs of an area near this fail, some of the best among them."""


def fails(area: np.ndarray) -> np.ndarray:
    return np.abs(area - LOST) < 0.3 * LOST


def raising(area: np.ndarray) -> np.ndarray:
    if fails(area).any():
        raise ValueError("no such layout")
    return area


def no_number(area: np.ndarray) -> np.ndarray:
    return np.where(fails(area), np.nan, area)


def failing(path: Path, how: Callable[[np.ndarray], np.ndarray]) -> study.Study:
    """Return a study whose area cannot be computed for some designs."""
    found = study.prepare(study.read_study(path))
    quantities = found.problem.graph.quantities
    function = quantities["area_m2"].function

    def wrong(**columns: np.ndarray) -> np.ndarray:
        return how(function(**columns))

    wrong.__name__ = "area_m2"
    wrong.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
    changed = dict(quantities) | {"area_m2": replace(quantities["area_m2"], function=wrong)}
    graph = wire(changed, found.problem.graph.inputs)
    return replace(found, problem=replace(found.problem, graph=graph))


@pytest.mark.parametrize("how", [raising, no_number])
def test_a_design_that_fails_is_named(how, write) -> None:
    found = failing(write(STUDY), how)
    with pytest.raises(ContractError, match=r"area_m2 .* for the design .*des\.instances = \d"):
        search.run_search(found.problem, search.SearchSettings())
