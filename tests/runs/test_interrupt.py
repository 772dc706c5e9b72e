"""A search that is to stop gives what it has found, whatever its method."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import dse
from dse import search
from dse.audit.verify import verify_run
from dse.contract import Method
from dse.errors import NothingFoundError
from dse.search.archive import Archive
from dse.search.exact.work import limited
from tests.conftest import ROOT, problem_of, run_dse, until

STUDY = """\
workload: {granularity: 4 KiB, kernel: des, rate: 5 Gbit/s}
stages:
  - {core: des, name: s1, fleet: mixed, instances: {from: 0, to: 2}, clock: 1}
  - {core: des, name: s2, fleet: mixed, instances: {from: 0, to: 1}, clock: [0.5, 1]}
interface: {wait: sync}
axes:
  interface.device: [sparc_t4_engine, sparc_t4_instruction, sandy_bridge]
objectives: {area: minimise, total_power: minimise, power: minimise}
"""

SWEPT = STUDY.replace(", rate: 5 Gbit/s", "") + "sweep: {workload.rate: [3 Gbit/s, 5 Gbit/s]}\n"

CALLS = {"enumerate": 3, "compose": 18} | dict.fromkeys(
    ("nsga2", "nsga3", "tpe", "random", "gaussian"), 3
)
"""By the method: batches after which it has found some of the front, and not all."""


def after(calls: int) -> Callable[[], bool]:
    """Return what asks for a stop at a call, and at all later ones."""
    count = itertools.count(1)
    return lambda: next(count) > calls


def stopped(out: Path | None = None, *, study: str = STUDY, calls: int = 3, **more) -> dse.Result:
    if more["method"] == "random":  # whose batches are of 1000
        more["overrides"] = {"search.population": "100"}
    return dse.run(study, out=out, plots=False, stop=after(calls), **more)


@pytest.mark.parametrize(("method", "calls"), CALLS.items())
def test_every_method_gives_what_it_has_found(method: str, calls: int, tmp_path: Path) -> None:
    found = stopped(tmp_path / "run", method=method, calls=calls)
    assert found.text().startswith("not proven: it was interrupted; ")
    assert (found.manifest["interrupted"], found.manifest["exact"]) == (True, False)
    assert found.manifest["certificate"]["way"] == ["interrupted"]
    assert len(found.front)
    assert verify_run(tmp_path / "run", trials=1000).holds


def test_commands_read_a_run_that_was_interrupted(tmp_path: Path) -> None:
    first, second = (str(tmp_path / name) for name in ("first", "second"))
    stopped(tmp_path / "first", method="random")
    stopped(tmp_path / "second", method="random", calls=5)
    for command in (
        ["report", first, "--pictures"],
        ["verify", first, "--trials", "1000"],
        ["explain", first, "--design", "s1.u1=1 s2.u1=1 s2.clock=1 interface.device=sandy_bridge"],
        ["diff", first, second],
    ):
        done = run_dse(*command)
        assert (done.returncode, done.stderr) == (3 * ("explain" in command), ""), command


def test_values_of_a_sweep_that_were_not_searched_are_said(tmp_path: Path) -> None:
    found = stopped(tmp_path / "run", study=SWEPT, method="random", calls=13, budget=1000)
    assert len(found.manifest["certificate"]["unfinished"]) == 1
    note = "nothing found before the interrupt at workload.rate = 5 Gbit/s"
    assert found.manifest["notes"][-1] == note
    assert verify_run(tmp_path / "run", trials=1000).holds


def test_an_interrupt_while_a_front_is_compared_ends_the_comparison_alone() -> None:
    left = [1]
    found = dse.run(
        STUDY,
        method="random",
        budget=1000,
        progress=lambda done, total: left.append(total - done),
        stop=lambda: left[-1] == 0,
    )
    assert found.manifest["evaluated"] == 1000
    assert not found.manifest["interrupted"]
    assert found.manifest["hypervolume_share_of_exact"] is None


def test_nothing_found_is_no_infeasible_study(tmp_path: Path) -> None:
    with pytest.raises(NothingFoundError) as caught:
        stopped(tmp_path / "run", method="random", calls=0)
    assert str(caught.value) == "interrupted before any designs were compared; no front is written"
    assert not [*tmp_path.iterdir()]


def test_a_method_of_a_plug_in_stops_too(tmp_path: Path) -> None:
    def patient(search, *, seed, population) -> None:
        while search.room:
            search.evaluate(search.unseen(np.random.default_rng(seed), population))

    archive = Archive(problem_of(_written(tmp_path)), total=1000)
    method = Method(patient, description="", budget=1000)
    with limited(stop=after(4)):
        outcome = search.run_method(method, archive, seed=1, population=10)
    assert (outcome.evaluated, outcome.certificate.finished) == (40, False)
    assert outcome.certificate.reason == "it was interrupted; 40 of 1,000 evaluations are done"


def _written(folder: Path) -> Path:
    path = folder / "study.yaml"
    path.write_text(STUDY)
    return path


def test_workers_end_with_a_program_that_is_killed(tmp_path: Path) -> None:
    script = """
import os, sys, time
from dse import workers
from tests.runs.test_interrupt import _tells
if __name__ == "__main__":
    with workers.shared(_tells, [sys.argv[1]], 2) as found:
        next(found)
"""
    (tmp_path / "program.py").write_text(script)
    command = [sys.executable, str(tmp_path / "program.py"), str(tmp_path / "worker")]
    with subprocess.Popen(command, cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)}) as program:
        told = tmp_path / "worker"
        until(lambda: told.exists() and told.read_text())
        worker = int(told.read_text())
        program.kill()
    until(lambda: not Path(f"/proc/{worker}").exists())


def _tells(path: str) -> None:
    Path(path).write_text(str(os.getpid()))
    time.sleep(600)
