"""Runs that keep what they measure: to go on, to begin again, to use elsewhere, to look at."""

from __future__ import annotations

import math
import os
import shlex
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import dse
from dse.errors import ArgumentError, MeasurementError, OutputError, StoreError, TooLargeError
from dse.files.document import read_document
from dse.measure import store
from dse.measure.store import STORE, open_store, open_to_read
from dse.runs.result import Result, run_folder
from dse.runs.status import run_so_far
from dse.study.measuring import measuring
from tests.conftest import STUDIES, run_dse
from tests.runs import test_measuring
from tests.runs.test_measuring import FAILING, figures, study


class Counted(test_measuring.Counted):
    """A function that counts, and may be interrupted when it has measured so many designs."""

    after = math.inf

    def __call__(self, unroll: float, clock: float) -> Any:
        if len(self.calls) >= self.after:
            raise KeyboardInterrupt
        return super().__call__(unroll, clock)


def cut(out: Path, after: int, *failing: tuple[float, float], **more: Any) -> str:
    """Run the study until so many designs are measured; return how to go on, as it was said."""
    counted = Counted(*failing)
    counted.after = after
    with pytest.raises(KeyboardInterrupt) as caught:
        dse.run(study(), evaluate=counted, out=out, plots=False, **more)
    return "".join(getattr(caught.value, "__notes__", ()))


def count(folder: Path) -> int:
    with open_to_read(folder) as store:
        return len(store)


def test_a_run_goes_on_where_it_was_interrupted(tmp_path: Path) -> None:
    assert cut(tmp_path / "run", 6) == (
        f"6 measurements are kept; go on with: dse.run(..., out='{tmp_path}/run', resume=True), "
        f"otherwise called as before"
    )
    assert count(tmp_path / "run") == 6
    counted = Counted()
    found = dse.run(study(), evaluate=counted, out=tmp_path / "run", resume=True)
    assert len(counted.calls) == 9
    pd.testing.assert_frame_equal(found.front, dse.run(study(), evaluate=figures).front)
    assert count(tmp_path / "run") == 15
    assert dse.verify(tmp_path / "run").holds
    assert not [*tmp_path.glob(".*")]


def test_measurements_are_not_replaced_unless_that_is_said(tmp_path: Path) -> None:
    run, counted = tmp_path / "run", Counted()
    cut(run, 6)
    for what in ("an unfinished", "a"):
        with pytest.raises(OutputError) as caught:
            dse.run(study(), evaluate=counted, out=run)
        held = {"a": "15 measurements", "an unfinished": "6 measurements"}[what]
        assert str(caught.value) == (
            f"{run} holds {held} of {what} run; go on with it: dse.run(..., out='{run}', "
            f"resume=True), otherwise called as before; or name another --out, or remove the "
            "folder (`out` in Python)"
        )
        assert not counted.calls
        dse.run(study(), evaluate=counted, out=run, resume=True)
        counted.calls.clear()
    assert count(run) == 15


def test_a_search_that_cannot_be_removes_nothing(tmp_path: Path) -> None:
    cut(tmp_path / "run", 6)
    with pytest.raises(TooLargeError, match="its budget is 1"):
        dse.run(study(), evaluate=figures, out=tmp_path / "run", resume=True, method="exact",
                budget=1)  # fmt: skip
    assert count(tmp_path / "run") == 6


def test_a_changed_study_is_told_field_by_field(tmp_path: Path) -> None:
    run = tmp_path / "run"
    cut(run, 6, method="random", budget=8)
    changed = study(constraints=["power <= 20 mW"], evaluate={"workers": 2})
    with pytest.raises(OutputError) as caught:
        dse.run(
            changed, evaluate=Counted(), out=run, resume=True, method="random", budget=9, seed=7
        )
    assert str(caught.value) == (
        f"{run} holds a run that was started otherwise; what changed:\n"
        '  study.constraints: ["power <= 30 mW"] -> ["power <= 20 mW"]\n'
        "  search.seed: 1 -> 7\n"
        "  search.budget: 8 -> 9\n"
        "what measures is the same, so that its 6 measurements hold; undo the changes, or run "
        f"the changed study in a folder of its own: --reuse {run} --out NEW (`reuse` and `out` in "
        "Python)"
    )
    with pytest.raises(
        OutputError,
        match=r"identity.function.*\n.* its 6 measurements no longer h.* own: --out NEW \(`out` in",
    ):
        dse.run(study(), evaluate=figures, out=run, resume=True, method="random", budget=8)
    many = {f"u{number}": [1, 2] for number in range(20)}
    with pytest.raises(OutputError) as caught:
        dse.run(study(axes=many), evaluate=lambda **_: {}, out=run, resume=True, method="random")
    assert sum(f"study.axes.u{number}: not set -> [1, 2]" in str(caught.value) for number in
               range(20)) == 20  # fmt: skip


@pytest.mark.parametrize(
    ("before", "after", "lines"),
    [
        ({"seed": 1, "axes": {"u": [1]}}, {"axes": {"u": [1]}, "seed": 1}, []),
        ({"a": {"u": [1, 2]}}, {"a": {}}, ["a.u: [1, 2] -> not set"]),
        ({"a": 1}, {"a": True}, ["a: 1 -> true"]),
        ({"a": "x"}, {"a": "\x1b[2J"}, ["a: x -> \\x1b[2J"]),
    ],
)
def test_each_changed_field_has_a_line(before: Any, after: Any, lines: list[str]) -> None:
    assert [*store._changes("", before, after)] == lines


def test_measurements_of_other_runs_are_used_where_they_hold(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    cut(one, 6, FAILING[0])
    before = (one / STORE).read_bytes()
    counted = Counted()
    found = dse.run(
        study(constraints=[]), evaluate=counted, out=two, reuse=[one], method="exact", seed=3
    )
    assert len(counted.calls) == 10  # what failed there is tried again
    assert found.manifest["measured"]["designs"] == count(two) == 15
    assert (one / STORE).read_bytes() == before
    none = Counted()
    dse.run(study(), evaluate=none, out=tmp_path / "three", reuse=(two, str(one)))
    assert not none.calls


def test_failures_are_measured_again_in_another_run(tmp_path: Path) -> None:
    run, counted = tmp_path / "run", Counted()
    dse.run(study(), evaluate=Counted(*FAILING), out=run)
    dse.run(study(), evaluate=counted, out=run, resume=True)
    assert not counted.calls
    found = dse.run(study(), evaluate=counted, out=tmp_path / "new", reuse=run)
    assert sorted(counted.calls) == sorted(FAILING)
    assert found.manifest["measured"]["failed"] == 0


def test_where_all_failed_the_remedy_measures_again(tmp_path: Path) -> None:
    run, corners = tmp_path / "run", [(u, c * 1e6) for u in (1, 2) for c in (100, 200)]
    small = study(axes={"unroll": [1, 2], "clock": ["100 MHz", "200 MHz"]})
    with pytest.raises(MeasurementError) as caught:
        dse.run(small, evaluate=Counted(*corners), out=run)
    remedy = (
        f"measure again what failed, in another run: --reuse {run} --out NEW (`reuse` and `out` "
        f"in Python)"
    )
    assert caught.value.__notes__ == [f"4 measurements are kept; {remedy}"]
    assert remedy in " ".join(dse.status(run).text().split())
    with pytest.raises(MeasurementError, match="none of 4 designs"):
        dse.run(small, evaluate=Counted(), out=run, resume=True)
    found = dse.run(small, evaluate=Counted(), out=tmp_path / "new", reuse=run)
    assert found.manifest["measured"]["failed"] == 0


def test_a_run_that_measured_nothing_leaves_nothing(tmp_path: Path) -> None:
    assert cut(tmp_path / "new" / "run", 0) == ""
    assert not [*tmp_path.iterdir()]


def test_models_run_again_and_say_so(tmp_path: Path) -> None:
    path = STUDIES / "settop_116mbps.yaml"
    first = dse.run(path, out=tmp_path / "run", plots=False)
    again = dse.run(path, out=tmp_path / "run", plots=False, resume=True)
    assert again.warnings == (
        "nothing of this study is measured, and models are computed faster than results are read: "
        "it ran again from the beginning",
    )
    pd.testing.assert_frame_equal(first.front, again.front)
    with pytest.raises(ArgumentError, match=r"^workers: nothing of .* is measured; leave it out$"):
        dse.run(path, workers=2)
    with pytest.raises(ArgumentError, match=r"^dask: nothing of .* is measured; leave it out$"):
        dse.run(path, out=tmp_path / "run", dask="tcp://localhost:8786")
    with pytest.raises(ArgumentError, match=r"^reuse: nothing of this study is measured"):
        dse.run(path, out=tmp_path / "run", reuse=tmp_path / "run")
    with pytest.raises(ArgumentError, match=r"^reuse: the run has no folder to keep measur"):
        dse.run(study(), evaluate=figures, reuse=[tmp_path])


def test_an_unfinished_run_is_shown_by_its_status_alone(tmp_path: Path) -> None:
    run = tmp_path / "run"
    cut(run, 9, FAILING[0])
    held = {path.name for path in run.iterdir()}
    so_far = Result(run_so_far(measuring().stored(run)))
    assert (so_far.manifest["interrupted"], so_far.manifest["exact"]) == (True, False)
    assert so_far.manifest["certificate"]["unfinished"] == [
        "the run is not finished; 9 of 15 evaluations are done"
    ]
    assert len(dse.status(run).to_dict()["front"]) == len(so_far.front) > 1
    for command in (["answer"], ["flips"], ["report"], ["report", "--pictures"], ["verify"]):
        found = run_dse(*command, str(run))
        assert (found.returncode, found.stderr) == (
            2,
            f"'{run}' is a run that is not finished; dse status {run} says how far it is\n",
        )
    assert {path.name for path in run.iterdir()} == held


def test_a_front_so_far_has_every_choice_that_is_not_measured(tmp_path: Path) -> None:
    text = (STUDIES / "settop_116mbps.yaml").read_text(encoding="utf-8")
    mixed = f"{text}\naxes: {{floor: [a, b, c]}}\nevaluate: {{outputs: {{area: mm2}}}}\n"
    areas = iter([2, 1])
    with pytest.raises(KeyboardInterrupt):
        dse.run(mixed, evaluate=lambda floor: _next(areas), out=tmp_path / "run")
    front = Result(run_so_far(measuring().stored(tmp_path / "run"))).front
    whole = dse.run(mixed, evaluate=lambda floor: {"area": {"a": 2, "b": 1, "c": 9}[floor]}).front
    assert sorted(front["power_w"]) == sorted(whole["power_w"])


def _next(areas: Any) -> dict[str, float]:
    try:
        return {"area": next(areas)}
    except StopIteration:
        raise KeyboardInterrupt from None


def test_status_tells_how_far_a_run_is(tmp_path: Path) -> None:
    run = tmp_path / "run"
    seen: list[dse.Status] = []

    def looking(unroll: float, clock: float) -> Any:
        if len(counted.calls) == 7:
            seen.append(dse.status(run))
        return counted(unroll, clock)

    counted = Counted(*FAILING)
    dse.run(study(), evaluate=looking, out=run, plots=False)
    (going,) = seen
    assert going.state == "running"
    said = going.to_dict()
    assert (said["state"]["measured"], said["state"]["planned"]) == (7, 15)
    assert said["state"]["left_s"] >= 0
    assert [*said["failed"]] == ["ValueError: no timing at 100 MHz"]
    assert "running, process " in str(going)
    assert "7 of at most 15, 1 of them failed" in str(going)
    done = dse.status(run)
    assert done.state == "finished"
    front = dse.run(study(), evaluate=counted).manifest["front"]
    assert len(done.to_dict()["front"]) == front


def test_status_of_what_was_killed_says_how_to_go_on(tmp_path: Path) -> None:
    (tmp_path / "study.yaml").write_text(
        "axes: {u: [1, 2, 4]}\nevaluate: {command: [./f.sh, '{u}'], outputs: {area: um2}, "
        "retries: 0}\nobjectives: {area: minimise}\n"
    )
    coordinator = "$(awk '{print $4}' /proc/$PPID/stat)"
    (tmp_path / "f.sh").write_text(
        f'#!/bin/sh\n[ "$1" = 4 ] && kill -9 {coordinator}\necho area = $1\n'
    )
    (tmp_path / "f.sh").chmod(0o755)
    arguments = ["run", "study.yaml", "--out", "run", "--set=search.seed=2"]
    command = [sys.executable, "-m", "dse", *arguments]
    killed = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    assert killed.returncode == -9
    told = run_dse("status", "run", cwd=tmp_path)
    assert "not finished, and no process works on it" in told.stdout
    last = told.stdout.splitlines()[-1].strip()
    assert last == "go on with: dse run study.yaml --set=search.seed=2 --out run --resume"
    (tmp_path / "f.sh").write_text("#!/bin/sh\necho area = $1\n")
    changed = run_dse(*shlex.split(last)[4:], cwd=tmp_path)
    assert changed.returncode == 2
    assert "identity.files" in changed.stderr
    assert "no longer hold" in changed.stderr


def test_status_of_models_and_of_no_run(tmp_path: Path) -> None:
    dse.run(STUDIES / "settop_116mbps.yaml", out=tmp_path / "run", plots=False)
    done = dse.status(tmp_path / "run")
    assert done.state == "finished"
    assert done.to_dict()["state"]["evaluated"] > 0
    document = read_document(STUDIES / "settop_116mbps.yaml")
    with run_folder(tmp_path / "next", document) as place:
        begun = dse.status(tmp_path / "next")
        assert begun.state == "running"
        assert f"running, process {os.getpid()} on " in str(begun)
        assert "settop_116mbps.yaml" in str(begun)
        (place.path / "manifest.json").write_text('{"state": "running", "process": "1"}')
        assert dse.status(tmp_path / "next").to_dict()["state"] == {"state": "running"}
    with pytest.raises(OutputError, match="does not exist"):
        dse.status(tmp_path / "none")
    (tmp_path / "killed").mkdir()
    open_store(tmp_path / "killed").close()
    with pytest.raises(OutputError, match="is a run that is not finished"):
        dse.status(tmp_path / "killed")


def test_a_run_with_a_damaged_store_is_refused(tmp_path: Path) -> None:
    run = tmp_path / "run"
    dse.run(study(), evaluate=figures, out=run, plots=False)
    with closing(sqlite3.connect(run / STORE)) as connection, connection:
        connection.execute("UPDATE evaluations SET content = '{}' WHERE number = 3")
    told = run_dse("status", str(run))
    assert told.returncode == 2
    assert "row 3: it does not have its checksum; put back a copy of it, or remove" in told.stderr
    with pytest.raises(StoreError, match="row 3"):
        dse.run(study(), evaluate=figures, out=run, plots=False, resume=True)
    (run / STORE).unlink()
    dse.run(study(), evaluate=figures, out=run, plots=False)
    assert count(run) == 15
