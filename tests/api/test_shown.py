"""What notebooks show of what Python returns: everything, in order, and nothing by the way."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dse
from dse.errors import MissingLibraryError
from tests.conftest import STUDIES

SMALL, MIXED, SWEPT = (
    STUDIES / f"{name}.yaml" for name in ("settop_116mbps", "des_100gbps", "des_fft_sweep")
)


def words(shown: str) -> list[str]:
    """Return the words of HTML in the order in which they are read."""
    return html.unescape(re.sub(r"<[^>]*>", " ", shown)).split()


MADE: dict[str, Callable[[], Any]] = {
    "explain": lambda: dse.explain(SMALL, {"des.design": "u1"}),
    "answer": lambda: dse.answer(SMALL, flips=False),
    "uncertainty": lambda: dse.uncertainty(SMALL, of="area=10 %", samples=4),
    "sobol": lambda: dse.uncertainty(SMALL, sobol=True, samples=4),
    "flips": lambda: dse.flips(SMALL, only="rate"),
    "sweep": lambda: dse.decision_map(SMALL, "rate=0.1..10Gbps"),
}


@pytest.mark.parametrize("name", MADE)
def test_html_has_what_the_text_has_in_its_order(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found = MADE[name]()
    told = words(found._repr_html_())
    assert repr(found) == found.text()
    whole = found.text(all=True) if name == "answer" else found.text()
    rules = re.compile(r"[─:]+")  # lines below headers, and colons after titles
    in_text = [rules.sub("", word) for word in whole.split()]
    in_html = [rules.sub("", word) for word in told]
    assert sorted(filter(None, in_html)) == sorted(filter(None, in_text))
    assert capsys.readouterr().out == ""


def test_a_result_is_told_in_order() -> None:
    result = dse.run(MIXED)
    told = " ".join(words(result._repr_html_()))
    parts = ["Which mix of DES cores", "1 u8 + 2 u16 0.1497 mm2", "3 u16 0.1733 mm2",
             "7,983,360 designs, 2 evaluated"]  # fmt: skip
    places = [told.index(part) for part in parts]
    assert places == sorted(places)
    assert result.recommended is not None
    assert result.front.iloc[result.recommended.row]["power_w"] == result.front["power_w"].min()


def test_a_table_has_every_row_in_the_units_of_the_command_line() -> None:
    result = dse.run(MIXED)
    table = result.to_pandas()
    assert [*table.columns] == ["design", "area [mm2]", "power [mW]", "bottleneck"]
    np.testing.assert_allclose(table["area [mm2]"], result.front["area_m2"] * 1e6)
    swept = dse.run(SWEPT)
    assert len(swept.to_pandas()) == len(swept.front)
    assert swept.recommended is None


def test_a_picture_is_shown_without_pyplot() -> None:
    figure = dse.run(SMALL).plot()
    picture, size = figure._repr_png_()
    assert picture.startswith(b"\x89PNG")
    assert figure.get_axes()
    width = int.from_bytes(picture[16:20], "big")
    assert abs(width - 2 * size["width"]) <= 2


def test_what_the_package_offers_is_public() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+.*", dse.__version__)
    assert [name for name in dir(dse) if name.startswith("_")] == ["__version__"]
    assert not {"Any", "Path", "annotations", "import_module"} & {*dir(dse)}


# A study in the hands of optimisers from outside, beside the exact front


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
