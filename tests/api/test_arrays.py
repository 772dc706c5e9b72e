"""A result in the hands of other programs: pickles, arrays, pymoo's indicators, Optuna's study."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import numpy as np
import pytest

import dse
from dse.errors import DseError
from tests.conftest import STUDIES

SMALL, SWEPT = STUDIES / "settop_116mbps.yaml", STUDIES / "platforms_power_bound.yaml"
SHIPPED = ("crypto_interface_100gbps", "tls_100gbps", "storage_xts_100gbps", "des_100gbps")
"""Names of aliases, mixes of sizes, the host alone, record files, fleets."""


@pytest.mark.parametrize("name", [*SHIPPED, SWEPT.stem])
def test_a_result_that_is_pickled_or_copied_equals_itself(name: str) -> None:
    result = dse.run(STUDIES / f"{name}.yaml")
    again = pickle.loads(pickle.dumps(result))  # noqa: S301
    for other in (again, copy.copy(result), copy.deepcopy(again)):
        assert other == result
        assert other.text() == result.text()
    assert repr(pickle.loads(pickle.dumps(dse.load(SMALL)))) == repr(dse.load(SMALL))  # noqa: S301
    assert again != dse.run(SMALL)


def test_a_pickle_needs_no_file_and_no_program(tmp_path: Path) -> None:
    (tmp_path / "pool.csv").write_text("width\n1\n2\n4\n")
    (tmp_path / "s.yaml").write_text(
        "designs: pool.csv\nevaluate: {outputs: {area: um2, power: mW}}\n"
        "objectives: {area: minimise, power: minimise}\n"
    )
    result = dse.run(
        tmp_path / "s.yaml", evaluate=lambda width: {"area": 10 * width, "power": 8 / width}
    )
    written = pickle.dumps(result)
    for file in tmp_path.iterdir():
        file.unlink()
    again = pickle.loads(written)  # noqa: S301
    assert again == result
    assert dse.answer(again).pick.name == dse.answer(result).pick.name
    assert again.save(tmp_path / "run").is_dir()
    assert dse.verify(tmp_path / "run").holds


def test_arrays_are_the_front_and_say_what_their_columns_are() -> None:
    result = dse.run(STUDIES / "fft_power_cap.yaml", overrides={"sweep": {}})
    loss, names = result.F, result.names
    assert len(result.X) == len(result.G) == len(loss) == len(result.front)
    for column, name in enumerate(names["F"]):
        sign = -1 if name.startswith("-") else 1
        np.testing.assert_allclose(sign * loss[:, column], result.front[name.lstrip("-")])
    assert {name[:1] == "-" for name in names["F"]} == {True, False}
    assert (result.G <= 0).all()
    found = dse.problem(STUDIES / "fft_power_cap.yaml").evaluate(result.X)
    np.testing.assert_array_equal(found.loss, loss)
    assert (result.X.shape[1], result.G.shape[1]) == (len(names["X"]), len(names["G"]))
    with pytest.raises(DseError, match="F, X and G are of one front"):
        _ = dse.run(SWEPT).F


MEASURED = (
    *SHIPPED,
    "aes_100gbps",
    "hash_100gbps",
    "lightweight_aead",
    "nic_crypto_100gbps",
    "jacobi_bandwidth",
    "des_100gbps_by_synthesis",
)


@pytest.mark.parametrize("name", MEASURED)
def test_pymoo_measures_the_distance_of_a_search_to_the_exact_front(name: str) -> None:
    pytest.importorskip("pymoo", reason="needs the extra `search`")
    from pymoo.algorithms.moo.nsga2 import NSGA2
    from pymoo.indicators.igd import IGD
    from pymoo.operators.crossover.sbx import SBX
    from pymoo.operators.mutation.pm import PM
    from pymoo.operators.repair.rounding import RoundingRepair
    from pymoo.operators.sampling.rnd import IntegerRandomSampling
    from pymoo.optimize import minimize

    problem = dse.problem(STUDIES / f"{name}.yaml").to_pymoo()
    front, designs = problem.pareto_front(), problem.pareto_set()
    np.testing.assert_array_equal(problem.evaluate(designs, return_values_of=["F"]), front)
    assert (problem.evaluate(designs, return_values_of=["G"]) <= 0).all()
    algorithm = NSGA2(
        pop_size=20,
        sampling=IntegerRandomSampling(),
        crossover=SBX(vtype=float, repair=RoundingRepair()),
        mutation=PM(vtype=float, repair=RoundingRepair()),
    )
    found = minimize(problem, algorithm, ("n_gen", 15), seed=1)
    distance = IGD(front, zero_to_one=True)
    assert distance(front) == 0.0
    losses = np.atleast_2d(np.empty((0, problem.n_obj)) if found.F is None else found.F)
    assert all((front <= loss + 1e-9 * abs(loss)).all(axis=1).any() for loss in losses)
    assert not len(losses) or 0.0 <= distance(losses) < np.inf


def test_optuna_gets_the_front_as_its_best_trials_and_goes_on() -> None:
    optuna = pytest.importorskip("optuna", reason="needs the extra `search`")
    result = dse.run(STUDIES / "tls_100gbps.yaml")
    study = result.to_optuna(trials=100, sampler=optuna.samplers.RandomSampler(1))
    assert study.metric_names == [*result.names["F"]]
    assert 0.9 * 100 < len(study.trials) <= 100
    offloads = result.F[(result.X >= 0).all(axis=1)]
    assert sorted(trial.values for trial in study.best_trials) == sorted(offloads.tolist())
    study.optimize(dse.problem(STUDIES / "tls_100gbps.yaml").optuna, n_trials=3)
    assert len(study.trials[-1].params) == result.X.shape[1]
