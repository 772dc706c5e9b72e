"""Whatever way a design fails, only what is known of all of them makes a front exact."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import dse
from dse.model.evaluation import Ledger
from dse.study.measuring import measuring
from tests.conftest import Write, run_dse

WAYS = {
    "well": ("echo 'area = 5'", ""),
    "declared exit": ("exit 3", "infeasible"),
    "exit": ("exit 1", "exit"),
    "killed": ("kill -KILL $$", "signal"),
    "segmentation fault": ("kill -SEGV $$", "signal"),
    "timeout": ("sleep 60", "timeout"),
    "no output": (":", "output"),
    "nan": ("echo 'area = nan'", "output"),
    "inf": ("echo 'area = inf'", "output"),
    "garbage": ("echo '{ area'", "output"),
    "below its range": ("echo 'area = -2'", "output"),
    "above its range": ("echo 'area = 2000'", "output"),
    "missing key": ("echo 'aera = 5'", "output"),
}
FACTS = [way for way, (_, kind) in WAYS.items() if kind in ("", "infeasible")]
ACCIDENTS = len(WAYS) - len(FACTS)


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that writes a study of some ways, and the program that they end in."""

    def to_file(ways: list[str] | dict[str, Any], **more: Any) -> Path:
        cases = "\n".join(f"'{way}') {text};;" for way, (text, _) in WAYS.items())
        program = f'#!/bin/sh\necho "$1" >> {tmp_path}/calls\ncase "$1" in\n{cases}\nesac\n'
        (tmp_path / "tool.sh").write_text(program)
        (tmp_path / "tool.sh").chmod(0o755)
        section = {
            "command": ["./tool.sh", "{way}"],
            "outputs": {"area": {"unit": "um2", "least": 0, "most": "1000 um2"}},
            "infeasible": {"exit": 3},
            "timeout": "0.3 s",
            "retries": 0,
            "stop_at_failures": 0,
        }
        study = {"axes": {"way": [*ways]}, "evaluate": section | more}
        path = tmp_path / "study.yaml"
        path.write_text(json.dumps(study | {"objectives": {"area": "minimise"}}))
        return path

    return to_file


def told(run: Path) -> list[str]:
    """Return every text that tells how complete the front of a run is."""
    page = dse.report(run, out=run.parent / "page.html").read_text()
    return [str(dse.answer(run)), str(dse.status(run)), str(dse.verify(run)), page]


@pytest.mark.parametrize("who", ["one worker", "three workers", "a cluster"])
def test_accidents_are_no_facts(
    who: str, write: Write, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    run, path = tmp_path / "run", write([*WAYS])
    dask = request.getfixturevalue("cluster") if who == "a cluster" else None
    workers = 3 if who == "three workers" else None
    found = dse.run(path, out=run, workers=workers, dask=dask, plots=False)
    kept = measuring().rows(run)
    assert {each.design["way"]: each.measurement.kind for each in kept} == {
        way: kind for way, (_, kind) in WAYS.items()
    }
    ledger = Ledger(evaluated=1, infeasible=len(FACTS) - 1, failed=ACCIDENTS)
    assert found.manifest["ledger"] == ledger.to_dict()
    assert dse.verify(run).holds
    lacking = f"exact but for {ACCIDENTS} designs that failed"
    for text in [str(found), *told(run)]:
        assert lacking in " ".join(text.split())
        assert "proven complete" not in text
        assert "every design is measured" not in text
    calls = tmp_path / "calls"
    before = calls.read_text()
    again = dse.run(path, out=run, plots=False, resume=True)
    assert calls.read_text() == before
    assert again.manifest["ledger"] == found.manifest["ledger"]
    dse.run(path, out=tmp_path / "new", plots=False, reuse=run)
    assert len(calls.read_text().splitlines()) == 2 * len(WAYS) - 1  # values alone are taken


def test_facts_prove_a_front(write: Write, tmp_path: Path) -> None:
    found = dse.run(write(FACTS), out=tmp_path / "run", plots=False)
    assert found.manifest["exact"]
    reason = "every design is measured, or infeasible by its program"
    assert found.manifest["certificate"]["reason"] == [reason]
    assert "proven complete" in str(found)
    assert "an exact front" in str(dse.verify(tmp_path / "run"))


def test_one_value_of_a_sweep_is_exact_and_the_other_is_not(tmp_path: Path) -> None:
    study = {
        "axes": {"unroll": [1, 2, 4], "clock": ["100 MHz", "400 MHz"]},
        "evaluate": {"outputs": {"area": "um2"}, "retries": 0},
        "sweep": {"clock": ["100 MHz", "400 MHz"]},
        "objectives": {"area": "minimise"},
    }

    def failing(unroll: float, clock: float) -> dict[str, float]:
        if unroll * clock > 1e9:
            raise ValueError("no timing")
        return {"area": 1000 * unroll}

    found = dse.run(study, evaluate=failing, out=tmp_path / "run", plots=False)
    assert [point["exact"] for point in found.manifest["points"]] == [True, False]
    assert dse.verify(tmp_path / "run").holds


MODULE = """
import os, signal
import dse


def measured(number):
    if number % 3 == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    if number % 5 == 0:
        raise dse.InfeasibleDesign("it cannot be routed")
    return {"area": -number if number == 4 else number}
"""


def test_a_function_that_is_killed_is_an_accident_and_so_is_less_area_than_none(
    tmp_path: Path,
) -> None:
    """Area is a quantity of models, of which none is less than 0."""
    (tmp_path / "model.py").write_text(MODULE)
    function = f"{tmp_path / 'model.py'}:measured"
    study = {
        "axes": {"number": [*range(1, 7)]},
        "evaluate": {"function": function, "outputs": {"area": "um2"}, "retries": 0},
        "objectives": {"area": "minimise"},
    }
    found = dse.run(study, workers=2)
    assert found.manifest["ledger"] == Ledger(evaluated=2, infeasible=1, failed=3).to_dict()
    assert found.manifest["certificate"]["reason"] == ["every design was requested, and 3 failed"]
    causes = " ".join(found.manifest["measured"]["causes"])
    assert "it was ended by SIGKILL" in causes
    assert "what it returns: area: -4 um2 is beyond its least, 0 mm2" in causes


def test_an_accident_is_tried_again_once(write: Write, tmp_path: Path) -> None:
    dse.run(write(["well", "exit", "declared exit"], retries=1), out=tmp_path / "run", plots=False)
    assert sorted((tmp_path / "calls").read_text().split("\n")[:-1]) == [
        "declared exit", "exit", "exit", "well",
    ]  # fmt: skip


def test_a_range_holds_for_what_another_run_measured(write: Write, tmp_path: Path) -> None:
    """A run without ranges believes everything; one that takes its values over does not."""
    ways, one = ["well", "above its range"], tmp_path / "one"
    more = {"outputs": {"area": "um2"}, "infeasible": {}}
    assert dse.run(write(ways, **more), out=one, plots=False).manifest["exact"]
    two = dse.run(write(ways), out=tmp_path / "two", reuse=one, plots=False)
    assert two.manifest["ledger"] == Ledger(evaluated=1, failed=1).to_dict()
    calls = (tmp_path / "calls").read_text().splitlines()
    assert sorted(calls) == ["above its range", "above its range", "well"]


FRESH = ["exit", "killed", "no output", "nan", "inf", "garbage", "missing key"]


@pytest.mark.parametrize(
    ("ways", "limit", "status", "calls", "text"),
    [
        (["well", *FRESH], 0, 0, 8, "the front is exact but for 7 designs that failed"),
        (["well", *FRESH], 4, 4, 5, "4 of the last 5 designs failed, the last one: "),
        ([*FRESH, "well"], 10, 2, 5, "none of 5 designs could be measured, and no more were tried"),
    ],
)
def test_after_many_accidents_a_run_stops(
    ways: list[str], limit: int, status: int, calls: int, text: str,
    write: Write, tmp_path: Path,
) -> None:  # fmt: skip
    path, out = str(write(ways, stop_at_failures=limit)), tmp_path / "run"
    begun = ("run", path, "--out", str(out), "--no-plots")
    ended = run_dse(*begun)
    assert ended.returncode == status, ended.stderr
    assert text in ended.stderr
    assert f"--reuse {out} --out NEW" in ended.stderr
    assert len((tmp_path / "calls").read_text().splitlines()) == calls
    if status != 2:
        assert (out / "front.csv").is_file()
        assert json.loads((out / "manifest.json").read_text())["interrupted"] == (status == 4)
    if status == 0:
        assert run_dse(*begun, "--resume", "--strict").returncode == 4
