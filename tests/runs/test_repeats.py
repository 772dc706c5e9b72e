"""Designs that are measured several times: means, standard errors, and what is not repeated."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dse
from dse.contract.evaluators import INFEASIBLE, Measurement
from dse.errors import StudyError
from dse.model.repeats import Trial, combined
from dse.store.store import open_to_read
from tests.conftest import ROOT, run_dse

STUDY: dict[str, Any] = {
    "axes": {"u": [1, 2, 4, 8], "v": [1, 2, 3]},
    "evaluate": {"outputs": {"area": "um2", "time": "ns"}, "repeats": 3},
    "objectives": {"area": "minimise", "time": "minimise"},
}


def noise(u: float, v: float, number: int) -> float:
    return float((37 * u + 11 * v + 17 * number) % 7 - 3)


class Noisy:
    """Says something else each time from design number `quiet` on; cut after `most` calls."""

    def __init__(self, quiet: int = 0) -> None:
        self.calls: Counter[tuple[float, float]] = Counter()
        self.quiet, self.most = quiet, math.inf

    def __call__(self, u: float, v: float) -> dict[str, float]:
        if self.calls.total() >= self.most:
            raise KeyboardInterrupt
        self.calls[u, v] += 1
        said = 0.0 if [*self.calls].index((u, v)) < self.quiet else noise(u, v, self.calls[u, v])
        return {"area": 100 * u + v, "time": 900 / u + 40 / v + said}


def test_a_design_has_the_mean_of_its_measurements_and_its_standard_error(tmp_path: Path) -> None:
    result = dse.run(STUDY, evaluate=Noisy(), method="exact", out=tmp_path / "run", plots=False)
    with open_to_read(tmp_path / "run") as store:
        assert len(store) == 36  # each measurement by itself
    for _, row in result.evaluations.iterrows():
        values = [900 / row.u + 40 / row.v + noise(row.u, row.v, k) for k in (1, 2, 3)]
        assert row.time_s == pytest.approx(1e-9 * mean(values))
        assert row.time_standard_error_s == pytest.approx(1e-9 * stdev(values) / 3**0.5)
        assert row.area_standard_error_m2 == 0
    assert "time_standard_error_s" in pd.read_csv(tmp_path / "run" / "front.csv")
    assert dse.verify(tmp_path / "run").holds


@pytest.mark.parametrize("method", ["exact", "gaussian", "nsga2"])
def test_a_run_that_is_cut_between_measurements_goes_on_to_the_same_end(
    method: str, tmp_path: Path
) -> None:
    whole, measuring = Noisy(), Noisy()
    how: dict[str, Any] = {"method": method, "plots": False}
    how |= {} if method == "exact" else {"budget": 8}
    expected = dse.run(STUDY, evaluate=whole, **how)
    for measuring.most in (1, 5, 16):
        with pytest.raises(KeyboardInterrupt):
            dse.run(STUDY, evaluate=measuring, out=tmp_path / "run", resume=True, **how)
    measuring.most = math.inf
    found = dse.run(STUDY, evaluate=measuring, out=tmp_path / "run", resume=True, **how)
    pd.testing.assert_frame_equal(found.front, expected.front, check_exact=True)
    pd.testing.assert_frame_equal(found.evaluations, expected.evaluations, check_exact=True)
    assert measuring.calls == whole.calls  # none twice


MODEL = """\
import os, signal
from tests.runs.test_repeats import noise


def figures(u, v):
    with open("log", "a+") as log:
        log.seek(0)
        lines = log.read().split()
        if len(lines) == int(os.environ["KILL"]):
            os.kill(os.getpid(), signal.SIGKILL)
        log.write(f"{u:g},{v:g}\\n")
    number = lines.count(f"{u:g},{v:g}")
    return {"area": 100 * u + v, "time": 900 / u + 40 / v + noise(u, v, number)}
"""
KILLED = """\
axes: {u: [1, 2, 4, 8], v: [1, 2, 3]}
evaluate: {function: model.py:figures, outputs: {area: um2, time: ns}, repeats: 3}
objectives: {area: minimise, time: minimise}
search: {method: gaussian, budget: 9, population: 2}
"""


@pytest.mark.slow
def test_a_run_that_is_killed_between_measurements_loses_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ["run", "study.yaml", "--no-plots", "--out", "run", "--resume"]
    monkeypatch.setenv("KILL", "-1")

    def killed(kill: int) -> int:
        more = {"KILL": f"{kill}", "PYTHONPATH": f"{ROOT}"}
        return subprocess.run(
            [sys.executable, "-m", "dse", *command], cwd=tmp_path / "killed",
            env={**os.environ, **more}, check=False, capture_output=True,
        ).returncode  # fmt: skip

    for name in ("whole", "killed"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "study.yaml").write_text(KILLED)
        (tmp_path / name / "model.py").write_text(MODEL)
    assert run_dse(*command, cwd=tmp_path / "whole").returncode == 0
    for kill in (2, 20):
        assert killed(kill) == -signal.SIGKILL
    status = dse.status(tmp_path / "killed" / "run")
    assert "20 measurements, up to 3 of a design" in str(status)
    assert status.to_dict()["state"]["measured"] < 20
    assert run_dse(*command, cwd=tmp_path / "killed").returncode == 0
    read = [(tmp_path / name / "log").read_text() for name in ("whole", "killed")]
    assert read[0] == read[1]
    fronts = [(tmp_path / name / "run" / "front.csv").read_text() for name in ("whole", "killed")]
    assert fronts[0] == fronts[1]


def test_what_always_says_the_same_is_repeated_for_three_designs_only() -> None:
    same = Noisy(quiet=100)
    result = dse.run(STUDY, evaluate=same, method="exact", plots=False)
    assert [*same.calls.values()] == [2, 2, 2, *[1] * 9]
    assert "gave the same outputs twice" in " ".join(result.manifest["notes"])
    assert not any("standard_error" in name for name in result.evaluations)


def test_from_the_first_design_that_differs_on_all_are_repeated() -> None:
    late = Noisy(quiet=2)
    dse.run(STUDY, evaluate=late, method="exact", plots=False)
    assert [*late.calls.values()] == [2, 2, *[3] * 10]


def test_whether_measurements_differ_is_told_by_designs_in_their_order() -> None:
    trial, one, other = Trial(5), Measurement(values={"a": 1.0}), Measurement(values={"a": 2.0})
    failed = Measurement(values={}, cause="exit status 1", kind="exit")
    assert [trial.judge(pair) for pair in ([one, one], [failed], [one, failed])] == [2, 2, 2]
    assert not trial.decided
    assert [trial.judge(pair) for pair in ([one, other], [one, one])] == [5, 5]


def test_accidents_do_not_count_and_one_infeasible_measurement_decides() -> None:
    found = [Measurement(values={"a": value}) for value in (1.0, 3.0)]
    failed = Measurement(values={}, cause="exit status 1", kind="exit", attempts=2)
    out = Measurement(values={}, cause="exit status 3", kind=INFEASIBLE)
    both = combined([*found, failed])
    assert (both.values, both.errors, both.attempts) == ({"a": 2.0}, {"a": 1.0}, 4)
    assert combined([found[0], failed]).errors == {}  # nobody knows
    assert combined([*found, out]).kind == INFEASIBLE
    assert combined([Measurement(values={"a": 0.1})] * 3).values == {"a": 0.1}


@pytest.mark.parametrize(("spread", "said"), [(3.0, True), (0.001, False)])
def test_an_answer_says_when_noise_decides_it(spread: float, said: bool, tmp_path: Path) -> None:
    calls: Counter[float] = Counter()

    def measure(u: float) -> dict[str, float]:
        calls[u] += 1
        return {"area": 10 - u / 100 + spread * (calls[u] - 2), "time": u}

    study = STUDY | {"axes": {"u": [1, 2, 3]}, "prefer": "area"}
    dse.run(study, evaluate=measure, out=tmp_path / "run", plots=False)
    answer = dse.answer(tmp_path / "run", all=True)
    assert ("The runner-up is within noise by area" in str(answer)) == said
    facts = answer.to_dict()["runner_up"]
    assert facts["within_noise"] == (["area_m2"] if said else [])
    assert (facts["chance_better"]["area_m2"] < 0.975) == said
    assert ("by more than noise" in str(answer)) == (not said)


def test_designs_that_noise_does_not_tell_apart_share_a_line(tmp_path: Path) -> None:
    random = np.random.default_rng(1)

    def measure(u: float, v: float) -> dict[str, float]:
        noise = 1 + 0.02 * random.standard_normal(2)
        return {"area": u * noise[0] + v / 1000, "time": noise[1] / u - v / 1000}

    result = dse.run(STUDY, evaluate=measure, out=tmp_path / "run", plots=False)
    rows = [line for line in str(result).splitlines() if line.startswith("as given")]
    others = sum(int(line.split("(+")[1].split(")")[0]) for line in rows if "(+" in line)
    assert others > 0
    assert len(rows) + others == len(result.front) == len(pd.read_csv(tmp_path / "run/front.csv"))
    page = dse.report(tmp_path / "run", out=tmp_path / "page.html").read_text(encoding="utf-8")
    assert "within noise of each other in every objective, by row of front.csv: " in page


def test_a_gaussian_process_trusts_a_design_as_far_as_its_standard_error() -> None:
    from dse.search.expensive.process import ModelledLosses

    x = np.linspace(0, 1, 12)[:, None]
    loss = np.exp(x)
    loss[6] *= 2
    errors = np.zeros_like(loss)
    errors[6] = loss[6]
    off = []
    for known in (None, errors):
        learnt = ModelledLosses()
        learnt.learn(x, loss, np.full_like(loss, np.nan), known)
        off.append(abs(float(learnt.known[0].process.mean(x[6:7])[0]) - x[6, 0]))
    assert off[1] < off[0] / 3


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"evaluate": {"outputs": {"area": "um2"}, "repeats": 0}}, "evaluate.repeats"),
        ({"evaluate": {"outputs": {"area": "um2"}, "repeats": 1001}}, "evaluate.repeats"),
    ],
)
def test_how_often_is_a_number_within_limits(change: dict[str, Any], place: str) -> None:
    with pytest.raises(StudyError) as error:
        dse.load(STUDY | change, evaluate=Noisy())
    assert place in str(error.value)


def test_designs_of_a_core_are_not_repeated() -> None:
    core = {"outputs": {"area": "um2", "clock": "MHz"}, "repeats": 2}
    study = {
        "stages": [{"name": "f", "core": core, "parameters": {"u": [1, 2]}}],
        "objectives": {"area": "minimise"},
    }
    with pytest.raises(StudyError, match="each design of a core is measured once"):
        dse.load(study, evaluate=lambda u: {"area": u, "clock": 1.0})
