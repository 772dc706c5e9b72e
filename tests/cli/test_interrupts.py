"""Ctrl-C and SIGTERM: the best so far is printed and written, and the status tells the signal."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from dse.runs.result import Result
from dse.search.archive import Archive
from dse.silicon import flow
from dse.silicon.yosys import found_yosys
from dse.study import study
from tests.conftest import STUDIES, run_dse
from tests.runs.test_interrupt import STUDY
from tests.silicon.toy import TOY

STATUS = {signal.SIGINT: 130, signal.SIGTERM: 143}
QUICK = str(STUDIES / "settop_116mbps.yaml")


@pytest.fixture(autouse=True, params=STATUS)
def number(request: pytest.FixtureRequest) -> Iterator[int]:
    """Give the number of a signal, which is not ignored, as it is in the background of a shell."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield request.param
    signal.signal(signal.SIGINT, before)


def come(monkeypatch: pytest.MonkeyPatch, owner: object, name: str, number: int, call: int) -> list:
    """Let a signal come in a call of a function; return what would come of a second one."""
    function, calls, second = getattr(owner, name), [0], []

    def interrupted(*arguments, **options):
        calls[0] += 1
        if calls[0] == call:
            os.kill(os.getpid(), number)
            second.append(signal.getsignal(number))
        return function(*arguments, **options)

    monkeypatch.setattr(owner, name, interrupted)
    return second


def test_a_search_prints_and_writes_the_best_so_far(tmp_path, monkeypatch, number, capfd) -> None:
    (tmp_path / "study.yaml").write_text(STUDY)
    second = come(monkeypatch, Archive, "evaluate_new", number, 3)
    less = ("--no-plots", "--set", "search.population=100")  # a batch is of 1000 else
    command = ("run", "study.yaml", "--method", "random", "--out", "out", *less)
    done = run_dse(*command, cwd=tmp_path)
    assert done.returncode == STATUS[number]
    assert done.stdout.startswith("not proven: it was interrupted; ")
    drawn = "draw it: dse report out --pictures"
    ended = f"written to out, marked as interrupted; {drawn}; what\n"
    assert done.stdout.endswith(f"{ended}  could change this: dse answer out\n")
    assert (
        "\ninterrupted: the best so far follows; interrupt again to end at once\n"
        in capfd.readouterr().err
    )
    assert json.loads((tmp_path / "out" / "manifest.json").read_text())["interrupted"] is True
    assert second == [signal.SIG_DFL]


def test_what_is_being_written_is_written(tmp_path, monkeypatch, number) -> None:
    come(monkeypatch, Result, "write", number, 1)
    done = run_dse("run", QUICK, "--no-plots", "--out", str(tmp_path / "out"))
    assert done.returncode == STATUS[number]
    assert json.loads((tmp_path / "out" / "manifest.json").read_text())["interrupted"] is False


def test_other_commands_end_and_leave_nothing(tmp_path, monkeypatch, number, capfd) -> None:
    come(monkeypatch, study, "prepare", number, 1)
    done = run_dse("flips", QUICK, "--out", str(tmp_path / "out"))
    assert (done.returncode, done.stdout) == (STATUS[number], "")
    assert "\ninterrupted\n" in capfd.readouterr().err
    assert not [*tmp_path.iterdir()]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_nothing_found_is_said_and_nothing_is_left(tmp_path: Path, monkeypatch, number) -> None:
    come(monkeypatch, study, "prepare", number, 1)
    done = run_dse("run", QUICK, "--out", str(tmp_path / "out"))
    assert done.returncode == STATUS[number]
    assert done.stderr == "interrupted before any designs were compared; no front is written\n"
    assert not [*tmp_path.iterdir()]


@pytest.mark.skipif(not found_yosys(), reason="needs pyosys or yosys")
def test_designs_that_are_done_are_kept(tmp_path: Path, monkeypatch, number) -> None:
    command = ("characterise", "jacobi", "--library", str(TOY), "--jobs", "1", "--out", "out.csv")
    chosen = ("--over", "cell_bit=8,16", "--targets", "fastest", "--tasks", str(20 + number))
    with monkeypatch.context() as patch:
        come(patch, flow, "map_description", number, 2)
        done = run_dse(*command, *chosen, cwd=tmp_path)
    assert done.returncode == STATUS[number]
    assert done.stderr == (
        "1 of 2 designs are done, and kept: the same command goes on from there\n"
    )
    assert not [*tmp_path.iterdir()]
    again = run_dse(*command, *chosen, cwd=tmp_path)
    assert "1 design of 2 kept from an earlier run" in again.stdout
