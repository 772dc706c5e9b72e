"""Designs that cannot be evaluated: an error that names one, or infeasible, whatever the search."""

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
from dse.runs import runner
from dse.runs.result import Result
from dse.runs.solved import Options, Run
from dse.search.archive import Archive
from dse.search.exact import enumeration, prove
from dse.study import study
from tests.conftest import everything, problem_of

STUDY = """\
workload: {rate: 20 Gbit/s}
stages: [{core: des, instances: {from: 1, to: 9}}]
objectives: {area: minimise, power: minimise}
search: {on_failure: POLICY}
"""
MIXED = STUDY.replace(
    "instances: {from: 1, to: 9}",
    "fleet: mixed, designs: [u4, u8, u16], instances: {from: 0, to: 9}",
)
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


def honest(path: Path) -> set[tuple[int, ...]]:
    """Return the front of the designs that do not fail, design by design."""
    problem = problem_of(path)
    rows = everything(problem)
    kept = rows.feasible & ~fails(problem.describe(rows.points)["area_m2"])
    index, loss = np.asarray(rows.points)[kept], rows.loss[kept]
    best = [not ((loss <= own).all(1) & (loss < own).any(1)).any() for own in loss]
    return set(map(tuple, index[np.array(best)].tolist()))


@pytest.mark.parametrize("how", [raising, no_number])
def test_a_design_that_fails_is_named(how, write) -> None:
    found = failing(write(STUDY.replace("POLICY", "stop")), how)
    with pytest.raises(ContractError, match=r"area_m2 .* for the design .*des\.instances = \d"):
        search.run_search(found.problem, search.SearchSettings())


@pytest.mark.parametrize("how", [raising, no_number])
def test_it_is_infeasible_and_counted_where_the_study_says_so(how, write, tmp_path) -> None:
    path = write(STUDY.replace("POLICY", "infeasible"))
    found = failing(path, how)
    answer = runner.solve_study(found, Options())
    outcome = answer.outcome
    assert set(map(tuple, outcome.front_index.tolist())) == honest(path)
    failed = everything(found.problem).failed
    assert outcome.failed == failed.sum() > 0
    assert outcome.exact
    run = Run(found.document, None, (answer,), found.settings, 0.0)
    result = Result(run)
    assert result.manifest["failed"] == outcome.failed
    assert f"{outcome.failed} designs failed and count as infeasible; the first: area_m2 " in (
        " ".join(result.manifest["notes"])
    )
    assert not result.evaluations["feasible"][result.evaluations["area_m2"].isna()].any()
    result.save(tmp_path / "run")


@pytest.mark.parametrize("how", [raising, no_number])
def test_bounds_prove_the_same_front(how, write) -> None:
    path = write(MIXED.replace("POLICY", "infeasible"))
    problem, wanted = failing(path, how).problem, honest(path)
    archive = Archive(problem, total=problem.size)
    enumeration.enumerate_all(archive, chunk=64)
    composed = prove.prove(problem, "compose", None, budget=None, limit=10**9)
    for found in (archive.outcome(), composed):
        assert found.exact
        assert set(map(tuple, found.front_index.tolist())) == wanted


def test_where_all_fail_that_is_why_nothing_fits(write) -> None:
    found = failing(write(STUDY.replace("POLICY", "infeasible")), lambda _: 1 // 0)
    outcome = search.run_search(found.problem, search.SearchSettings())
    assert outcome.conflicts()[0] == ("the design can be evaluated",)
