"""A platform from measured runs: the roofline behind synthetic runs is found again."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from dse.errors import DseError
from dse.fitting.platform import fit_platform
from dse.objectives.roofline.model import EnergyRoofline
from dse.study import records, study

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


def runs(path: Path, noise: float = 0.0, top: float = 512.0, end: str = "\n") -> Path:
    """Write runs of the platform at intensities of 1/8 to `top` operations per byte."""
    random = np.random.default_rng(1)
    traffic = np.full(30, 1e9)
    work = traffic * np.geomspace(0.125, top, 30)
    factors = random.lognormal(0.0, noise, (2, 30)) if noise else np.ones((2, 30))
    time = TITAN.time(work, traffic) * factors[0]
    energy = TITAN.energy(work, traffic) * factors[1]
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
    assert done.found.notes == ()
    assert max(np.abs(errors).max() for errors in done.found.errors.values()) < 1e-4


def test_noise_of_two_percent_moves_no_figure_by_five(tmp_path: Path) -> None:
    done = fit_platform(runs(tmp_path / "runs.csv", noise=0.02), "titan", "double")
    for name, value in FIGURES.items():
        fitted = getattr(done.found.platform, name.replace("single", "double"))
        assert fitted == pytest.approx(value, rel=0.05), name
    assert done.found.platform.single_op_per_s is None
    assert 0.005 < np.median(np.abs(done.found.errors["time"])) < 0.02


def test_what_the_runs_do_not_determine_is_said(tmp_path: Path) -> None:
    done = fit_platform(runs(tmp_path / "runs.csv", top=2.0), "titan", "single")
    assert done.found.platform.usable_power_w is None
    assert done.found.notes == (
        "no run is slowed by a power cap, so that the record has none",
        "no run is bound by the rate of operations, which may as well be higher",
    )


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
        "runs.csv:1:12: 'traffic_mb'; 'mb' may count bits or bytes; write for instance 'kbit' or "
        "'kbyte'",
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
    done = subprocess.run(
        [sys.executable, "-m", "dse", "fit", "platform", "my runs.csv", "--json"],
        capture_output=True,
        text=True,
        cwd=folder,
    )
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
