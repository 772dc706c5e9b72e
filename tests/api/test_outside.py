"""A study in the hands of optimisers from outside, beside the exact front."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import dse
from dse.errors import MissingLibraryError
from tests.conftest import STUDIES

SMALL = STUDIES / "settop_116mbps.yaml"


def every(problem: dse.OpenProblem) -> np.ndarray:
    return np.stack(np.meshgrid(*map(np.arange, problem.sizes), indexing="ij"), -1).reshape(
        -1, len(problem.sizes)
    )


def test_pymoo_gets_losses_and_violations_of_every_design() -> None:
    pytest.importorskip("pymoo", reason="needs the extra `search`")
    problem = dse.problem(SMALL, overrides={"constraints": ["area <= 20000 um2"]})
    theirs = problem.to_pymoo()
    assert (theirs.xu - theirs.xl + 1 == problem.sizes).all()
    rows = every(problem)
    given = theirs.evaluate(rows.astype(float), return_as_dictionary=True)
    found = problem.evaluate(rows)
    assert 0 < found.feasible.sum() < len(rows)
    assert ((given["G"] <= 0).all(axis=1) == found.feasible).all()
    np.testing.assert_array_equal(given["F"][found.feasible], found.loss[found.feasible])
    assert np.isfinite(given["F"]).all()
    assert np.isfinite(given["G"]).all()


def test_optuna_finds_the_front_by_trying_all_and_knows_what_is_infeasible() -> None:
    optuna = pytest.importorskip("optuna", reason="needs the extra `search`")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    problem = dse.problem(SMALL, overrides={"constraints": ["area <= 20000 um2"]})
    study = optuna.create_study(
        directions=["minimize"] * problem.objective_count, sampler=optuna.samplers.RandomSampler(1)
    )
    for row in every(problem):
        axes = zip(problem.space.axes, row.tolist(), strict=True)
        study.enqueue_trial(
            {axis.name: at if axis.ordered else axis.labels[at] for axis, at in axes}
        )
    study.optimize(problem.optuna, n_trials=problem.size)
    found = problem.evaluate(every(problem))
    assert [trial.values for trial in study.trials if _feasible(trial)] == (
        found.loss[found.feasible].tolist()
    )
    said = [trial.user_attrs["design"] for trial in study.trials]
    assert said == [problem.space.point_text(row) for row in every(problem)]
    exact = dse.run(SMALL, overrides={"constraints": ["area <= 20000 um2"]})
    goals = [goal.name for goal in problem.goals]
    best = sorted({tuple(trial.values) for trial in study.best_trials})
    np.testing.assert_allclose(best, exact.front[goals].to_numpy(), rtol=1e-9)


def _feasible(trial) -> bool:
    return all(value <= 0 for value in trial.constraints.values())


@pytest.mark.parametrize("library", ["pymoo", "optuna"])
def test_without_the_library_the_extra_is_named(library: str, without, tmp_path: Path) -> None:
    problem = dse.problem(SMALL)
    without(library)
    method = {"pymoo": "to_pymoo", "optuna": "optuna"}[library]
    with pytest.raises(MissingLibraryError) as caught:
        getattr(problem, method)(*([None] if library == "optuna" else []))
    assert str(caught.value) == (
        f"problem.{method} needs {library}, which is not installed; pip install "
        '"accel-dse[search]", or call `evaluate` from an optimiser of your own'
    )
