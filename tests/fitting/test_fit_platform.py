"""A platform from measured runs: the roofline behind synthetic runs is found again."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dse.errors import DseError
from dse.fitting.platform import fit_platform, platform_record
from dse.objectives.roofline.model import EnergyRoofline
from dse.study import records, study
from tests.conftest import run_dse

TITAN = EnergyRoofline(
    time_per_op=1 / 4.02e12,
    time_per_byte=1 / 239e9,
    energy_per_op=30.4e-12,
    energy_per_byte=267e-12,
    constant_power=123.0,
    power_cap=164.0,
)
"""The GTX Titan of Choi et al., Table I."""

FIGURES = {
    "constant_power_w": 123.0,
    "usable_power_w": 164.0,
    "memory_byte_per_s": 239e9,
    "memory_j_per_byte": 267e-12,
    "single_op_per_s": 4.02e12,
    "single_j_per_op": 30.4e-12,
}


def runs(
    path: Path,
    noise: float = 0.0,
    top: float = 512.0,
    end: str = "\n",
    seed: int = 1,
    board: EnergyRoofline = TITAN,
) -> Path:
    """Write runs of the platform at intensities of 1/8 to `top` operations per byte."""
    random = np.random.default_rng(seed)
    traffic = np.full(30, 1e9)
    work = traffic * np.geomspace(0.125, top, 30)
    factors = random.lognormal(0.0, noise, (2, 30)) if noise else np.ones((2, 30))
    time = board.time(work, traffic) * factors[0]
    energy = board.energy(work, traffic) * factors[1]
    lines = ["work_gflop,traffic_mbyte,time_ms,energy_j"]
    columns = (work / 1e9, traffic / 1e6, time * 1e3, energy)
    lines += [",".join(f"{cell:.12g}" for cell in row) for row in zip(*columns, strict=True)]
    path.write_bytes(end.join([*lines, ""]).encode())
    return path


def test_exact_runs_give_the_platform_back(tmp_path: Path) -> None:
    done = fit_platform(runs(tmp_path / "runs.csv"), "titan", "single")
    for name, value in FIGURES.items():
        assert getattr(done.found.platform, name) == pytest.approx(value, rel=1e-4), name
    assert done.found.platform.double_op_per_s is None
    assert done.found.unidentified == {}
    assert max(np.abs(errors).max() for errors in done.found.errors.values()) < 1e-4


def test_noise_of_two_percent_moves_no_figure_by_five(tmp_path: Path) -> None:
    done = fit_platform(runs(tmp_path / "runs.csv", noise=0.02), "titan", "double")
    for name, value in FIGURES.items():
        fitted = getattr(done.found.platform, name.replace("single", "double"))
        assert fitted == pytest.approx(value, rel=0.05), name
    assert done.found.platform.single_op_per_s is None
    assert 0.005 < np.median(np.abs(done.found.errors["time"])) < 0.02


@pytest.mark.slow
def test_intervals_hold_the_truth_as_often_as_they_say(tmp_path: Path) -> None:
    held = []
    for seed in range(40):
        done = fit_platform(runs(tmp_path / "runs.csv", 0.02, seed=seed), "titan", "single")
        pairs = ((done.found.intervals[name], value) for name, value in FIGURES.items())
        held += [low <= value <= high for (low, high), value in pairs]
    assert 0.92 <= np.mean(held) <= 0.98


@pytest.mark.parametrize("seed", range(4))
def test_what_memory_bound_runs_do_not_tell_is_not_identified(tmp_path: Path, seed: int) -> None:
    path = runs(tmp_path / "runs.csv", 0.02, top=2.0, seed=seed)
    done = fit_platform(path, "titan", "single")
    bound = "every run is bound by the memory, and takes time in proportion to its traffic"
    assert done.found.unidentified == {
        "usable_power_w": "no run is slowed by a power cap (p = 1): the record has none",
        "single_op_per_s": "no run is bound by the operations: the record has the fastest seen",
        "constant_power_w": f"only its sum with the energy of traffic shows: {bound}; the record "
        "takes it as zero",
        "memory_j_per_byte": f"only its sum with constant power shows: {bound}; the record takes "
        "it for all of it",
    }
    for name, value in FIGURES.items():
        low, high = done.found.intervals[name]
        assert low <= value <= high, name
    assert done.found.intervals["constant_power_w"][0] == 0.0
    record = platform_record(done)[0]["platform"]
    assert record["assumptions"] == ["constant_power", "memory_energy", "single_rate"]
    assert record["uncertainty"].keys() == {"memory_bandwidth", "single_energy"}
    text = " ".join(done.text().split())
    assert "constant power not identified 0 W to 1" in text
    assert "single rate at least 4" in text


def test_a_rate_that_the_cap_hides_is_at_least_what_the_runs_do_not_refuse(tmp_path: Path) -> None:
    """At 130 W the last runs are bound by the operations, too few of them to tell."""
    least = []
    for seed in range(6):
        board = replace(TITAN, power_cap=130.0)
        done = fit_platform(
            runs(tmp_path / "runs.csv", 0.02, seed=seed, board=board), "t", "single"
        )
        why = done.found.unidentified.get("single_op_per_s", "")
        low, high = done.found.intervals["single_op_per_s"]
        if "hidden by the power cap" in why and high == np.inf:
            least.append(low / FIGURES["single_op_per_s"])
    assert len(least) >= 4
    assert np.mean(np.array(least) <= 1) > 0.8
    assert min(least) > 0.9


def test_a_cap_that_slows_every_run_leaves_constant_power_open(tmp_path: Path) -> None:
    board = replace(TITAN, power_cap=60.0)
    done = fit_platform(runs(tmp_path / "runs.csv", 0.02, board=board), "titan", "single")
    assert done.found.unidentified.keys() == FIGURES.keys()
    for name, value in (FIGURES | {"usable_power_w": 60.0}).items():
        low, high = done.found.intervals[name]
        assert low <= value <= high, name
    assert "single rate       at least 1.8" in done.text()
    work = np.geomspace(0.125, 512, 30) * 1e9
    fitted = EnergyRoofline.of(done.found.platform).time(work, 1e9)
    assert fitted == pytest.approx(board.time(work, 1e9), rel=0.03)


@pytest.mark.parametrize("seed", range(4))
def test_no_cap_is_found_where_none_shows(tmp_path: Path, seed: int) -> None:
    path = runs(tmp_path / "runs.csv", 0.05, seed=seed, board=replace(TITAN, power_cap=np.inf))
    found = fit_platform(path, "titan", "single").found
    assert found.platform.usable_power_w is None
    assert found.unidentified.keys() == {"usable_power_w"}
    assert 123.0 < found.platform.constant_power_w + found.intervals["usable_power_w"][0] < 400
    assert found.intervals["usable_power_w"][1] == np.inf


def test_a_table_that_cannot_be_fitted(tmp_path: Path) -> None:
    def message() -> list[str]:
        with pytest.raises(DseError) as caught:
            fit_platform(path, "board", "single")
        return str(caught.value).replace(f"{path}", "runs.csv").splitlines()

    path = runs(tmp_path / "runs.csv")
    text = path.read_text()
    path.write_text(text.replace("traffic_mbyte", "traffic_mb").replace("time_ms", "power_w"))
    assert message() == [
        "runs.csv:1:1: one column in B is needed for traffic; call it traffic_byte, with any "
        "prefix of the unit",
        "runs.csv:1:1: one column in s is needed for time; call it time_s, with any prefix of the "
        "unit",
        "runs.csv:1:12: 'traffic_mb'; 'mb' may count bits or bytes; write Mbit or MB",
    ]
    path.write_text("\n".join(text.splitlines()[:5]))
    assert message() == [
        "runs.csv: 4 runs cannot fix six parameters; give 7 or more; correct the table"
    ]
    path.write_text("work_op,traffic_byte,time_s,energy_j\n1,-2,3,4\nx,2,3,4\n")
    assert message() == [
        "runs.csv:2:3: traffic_byte: '-2'; a measurement is not negative; correct the figure",
        "runs.csv:3:1: work_op: 'x'; it is not a number; write the number alone; its unit belongs "
        "in the header",
    ]


def test_the_command_writes_a_record_that_a_study_uses(tmp_path: Path) -> None:
    folder = tmp_path / "my work"
    folder.mkdir()
    data = runs(folder / "my runs.csv", end="\r\n")
    data.write_bytes(b"\xef\xbb\xbf" + data.read_bytes())
    done = run_dse("fit", "platform", "my runs.csv", "--json", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["usable_power_w"] == pytest.approx(164, rel=1e-4)
    record = records.read_record(folder / "records" / "my runs.yaml")
    assert {"file", "sha256", "date", "method", "range", "residuals"} <= set(record.provenance)
    (folder / "study.yaml").write_text(
        "workload: {intensity: 1 op/B}\n"
        "axes: {budget.platform: [records/my runs.yaml, gtx_titan]}\n"
        "objectives: {platform_performance: maximise, platform_power: minimise}\n"
    )
    prepared = study.prepare(study.read_study(folder / "study.yaml"))
    axis = prepared.problem.space.axes[0]
    assert axis.labels == ("my_runs", "gtx_titan")
    for name, (fitted, printed) in axis.columns.items():
        assert fitted == pytest.approx(printed, rel=1e-3, nan_ok=False) or "double" in name, name
