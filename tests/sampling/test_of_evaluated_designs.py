"""Designs that are evaluated already, with stated uncertainties of their columns."""

from __future__ import annotations

import json

import numpy as np
import pytest

import dse
from dse.errors import UnitError
from dse.sampling import certainty, draws
from tests.conftest import run_dse

TABLE = """name,area_um2,power_mw,wns_ns,kind
d0,100,5,-0.3,a
d1,110,4.9,-0.1,b
d2,105,4.0,0.0,a
d3,150,3.0,0.1,b
d4,151,2.9,0.2,b
"""
STUDY = """# Which of the designs?
designs: {table: t.csv, uncertainty: {SAID}}
objectives: {area: minimise, power: minimise}
constraints: [wns >= -0.2 ns]
"""


@pytest.fixture
def over(write):
    """Return a function that writes a study whose columns are as unsure as it says."""
    write(TABLE, "t.csv")
    return lambda said="": write(STUDY.replace("SAID", said))


def test_the_share_of_samples_is_that_of_the_normal_distribution(over) -> None:
    """Of two log-normal powers, by hand.

    d4 has less than d3 with the probability Phi(log(3.0 / 2.9) / (sigma sqrt 2)), sigma^2 =
    log(1 + 0.02^2): Phi(0.033902 / 0.028281) = 0.8847.
    """
    path = over("power: 2 %")
    found = dse.uncertainty(path, samples=10_000).to_dict()["certainty"]
    shares = {entry["design"]: entry["answer"] for entry in found["candidates"]}
    assert shares["d4"] == pytest.approx(0.8847, abs=0.0098)
    assert shares["d4"] + shares["d3"] == pytest.approx(1.0, abs=1e-3)
    assert [entry["column"] for entry in found["uncertain"]] == ["power_w"]


def test_every_design_and_column_is_drawn_by_itself_about_its_figure(over) -> None:
    prepared = dse.load(over("area_um2: 10 %, wns: 50 %"))
    found = certainty.uncertain_of(prepared, {"wns": 0.2, "power": 0.05})
    assert {entry.column: set(entry.share) for entry in found} == {
        "area_m2": {0.1},
        "power_w": {0.05},
        "wns_s": {0.2},  # what the caller says comes first
    }
    drawn = draws.draw_study(prepared, {"wns": 0.2, "power": 0.05}, 20_000, 0)
    index = np.arange(5)[:, np.newaxis]
    sampled = drawn.columns(index, slice(None), ["area_m2", "wns_s"])
    nominal = prepared.problem.columns(index, ["area_m2", "wns_s"])
    for name, share in (("area_m2", 0.1), ("wns_s", 0.2)):
        values = np.broadcast_to(sampled[name], (20_000, 5))
        assert values.mean(axis=0) == pytest.approx(nominal[name], rel=0.01, abs=1e-15)
        assert values.std(axis=0) == pytest.approx(share * np.abs(nominal[name]), rel=0.03)
    assert abs(np.corrcoef(sampled["area_m2"].T)[0, 1]) < 0.03


def test_sobol_indices_are_of_what_is_unsure_of_the_recommended_design(over) -> None:
    found = dse.uncertainty(over("area: 5 %"), sobol=True).found
    assert [effect.name for effect in found.effects["area_m2"]] == ["d4.area"]
    assert found.effects["area_m2"][0].total == pytest.approx(1.0, abs=1e-3)
    assert found.effects["power_w"][0].total == 0.0
    assert found.ranges["area_m2"] == pytest.approx((0.9 * 151e-12, 1.1 * 151e-12), rel=1e-3)
    both = dse.uncertainty(over("area: 5 %, power: 5 %"), sobol=True).found
    assert {effect.name for effect in both.effects["power_w"]} == {"d4.area", "d4.power"}
    with pytest.raises(UnitError, match=r"evaluated already.*\{COLUMN: 5 %\}.*dse flips"):
        dse.uncertainty(over(), sobol=True)


def test_two_columns_of_one_name_have_to_be_told_apart(over, write) -> None:
    write(TABLE.replace("wns_ns", "area_ge"), "t.csv")
    prepared = dse.load(write("designs: t.csv\nobjectives: {power: minimise}\n"))
    with pytest.raises(UnitError, match="write area_ge or area_m2"):
        certainty.uncertain_of(prepared, {"area": 0.1})


def test_a_run_keeps_what_its_study_states(over, tmp_path) -> None:
    result = run_dse("run", str(over("power: 5 %")), "--out", str(tmp_path / "run"))
    assert result.returncode == 0
    words = ("uncertainty", str(tmp_path / "run"), "--samples", "100", "--out", str(tmp_path / "u"))
    said = run_dse(*words).stdout
    assert "d4, the design with the least power.\n\nHow sure is it:\n" in said
    assert "100 Monte Carlo samples (seed 0) of power_w (5 %)" in said
    (file,) = (tmp_path / "u").iterdir()
    assert file.name == "uncertainty.json"
    assert json.loads(file.read_text()) == json.loads(run_dse(*words[:-2], "--json").stdout)
    plain = run_dse("uncertainty", str(over())).stdout
    assert "or in `designs`, of the study" in " ".join(plain.split())
