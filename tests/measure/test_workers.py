"""What workers and supervisors do alone: when they are lost, late, left, or asked to stop."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dse.contract.evaluators import Measurement
from dse.measure.attempts import Attempt, Threads, attempted
from dse.model.measured import Spending
from dse.workers import programs
from tests.conftest import until
from tests.measure.evaluators import SLEEPER, Acts, never, shell
from tests.measure.test_pool import DOUBLE, Scripted, all_of, numbers

GOOD = Measurement(values={"double": 1.0})
BAD = Measurement(values={}, kind="exit", cause="x")


def attempt(folder: Path, number: int = 0, *, keep: bool = True, **design: Any) -> Attempt:
    design = {"number": float(number), **design}
    return Attempt(number=number, design=design, folder=folder / str(number), keep=keep)


def runs(process: int) -> bool:
    """Tell whether a process runs; one that has ended may wait to be taken leave of."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


# Attempts and retries ----------------------------------------------------------------------------


@pytest.mark.parametrize("keep", [False, True])
def test_a_folder_that_was_taken_away_is_no_fault(keep: bool, tmp_path: Path) -> None:
    class Removes(Acts):
        def measure(self, design: Any, folder: Path, stop: Any) -> Measurement:
            assert not [*folder.iterdir()]  # nor is one that was left by an earlier attempt
            folder.rmdir()
            return BAD

    (tmp_path / "0").mkdir()
    (tmp_path / "0" / "left").touch()
    found = attempted(Removes(counts=""), attempt(tmp_path, keep=keep), never)
    assert replace(found, seconds=0.0) == BAD


def test_nothing_more_is_begun_when_no_more_may_begin(tmp_path: Path) -> None:
    workers, spending = Scripted(GOOD, BAD), Spending()
    spending.may_begin = lambda: len(workers.given) < 2  # type: ignore[method-assign]
    found = all_of(
        Acts(counts=""), numbers(9), tmp_path, workers=workers, retries=3, spending=spending
    )
    assert workers.given == [0, 1]
    assert [each.failed for each in found.values()] == [False]


def test_of_two_that_end_at_a_stop_the_good_one_is_kept(tmp_path: Path) -> None:
    class Both(Scripted):
        def ended(self, wait_s: float) -> list[tuple[int, Measurement]]:
            stopped.append(True)
            return [(0, BAD), (1, GOOD)]

    stopped: list[bool] = []
    found = all_of(
        Acts(counts=""), numbers(3), tmp_path, workers=Both(), stop=lambda: bool(stopped)
    )
    assert [*found] == [1]


# Threads -----------------------------------------------------------------------------------------


def test_threads_end_their_programs_with_the_block(tmp_path: Path) -> None:
    with Threads(shell(SLEEPER), 1) as workers:
        workers.begin(attempt(tmp_path))
        until((tmp_path / "0" / "pid").exists)
        process = int((tmp_path / "0" / "pid").read_text())
        assert runs(process)
    assert not runs(process)
    with Threads(shell(DOUBLE), 1) as workers:
        workers.begin(attempt(tmp_path, 3))
        assert workers.ended(60.0)
        assert not workers.running


# Supervisors -------------------------------------------------------------------------------------


@contextlib.contextmanager
def other(text: str) -> Iterator[subprocess.Popen[bytes]]:
    """Start a program that is asked as a supervisor is."""
    pipe = subprocess.PIPE
    with subprocess.Popen(["sh", "-c", text], stdin=pipe, stdout=pipe) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "SUPERVISOR_PATIENCE_S", 0.2)


def test_an_answer_may_come_in_parts() -> None:
    with other("printf '{'; sleep 0.3; echo '}'") as process:
        assert programs._answer(process, b"\n", None, lambda: False) == b"{}\n"


@pytest.mark.parametrize(("timeout_s", "stops"), [(0.1, False), (None, True)])
def test_a_supervisor_that_does_not_answer_is_given_up(
    timeout_s: float | None, stops: bool, hasty: None
) -> None:
    with other("exec sleep 300") as process:
        assert programs._answer(process, b"\n", timeout_s, lambda: stops) == b""
        assert process.wait(60) == -signal.SIGKILL


def test_a_supervisor_that_does_not_end_is_ended(hasty: None) -> None:
    with other("exec sleep 300") as process:
        programs._let_go(process)
        assert process.wait(60) == -signal.SIGKILL
    with other("read line; exit 3") as process:
        programs._let_go(process)  # it hears that nobody is there
        assert process.returncode == 3


def test_a_supervisor_that_is_ended_is_told(tmp_path: Path) -> None:
    found = shell("kill -9 $PPID; sleep 300").measure({}, tmp_path, never)
    cause = "the process that watched over it was ended"
    assert (found.kind, found.cause) == ("worker", cause)


def test_a_supervisor_that_is_ended_as_a_program_ends_does_not_stay(tmp_path: Path) -> None:
    """SIGTERM may come between the end of a program and the report on it."""
    found = shell("echo $PPID >&2; kill -TERM $PPID; sleep 300").measure({}, tmp_path, never)
    until(lambda: not runs(int(found.said)))


def test_a_supervisor_that_cannot_be_started_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "none"))
    found = shell(DOUBLE).measure({"number": 1.0}, tmp_path, never)
    assert (found.kind, found.cause) == (
        "worker",
        "sh cannot be started: No such file or directory",
    )


def test_an_interrupt_ends_the_program_and_goes_on(tmp_path: Path) -> None:
    def stop() -> bool:
        if (tmp_path / "pid").exists():
            raise KeyboardInterrupt
        return False

    with pytest.raises(KeyboardInterrupt):
        shell(SLEEPER).measure({}, tmp_path, stop)
    assert not runs(int((tmp_path / "pid").read_text()))


def test_a_program_is_out_of_reach_of_the_terminal(tmp_path: Path) -> None:
    """Ctrl-C reaches neither it nor its supervisor: each is in a session of its own."""
    found = shell("cut -d' ' -f1,6 /proc/$PPID/stat /proc/$$/stat >&2; echo double = 1")
    sessions = [line.split() for line in found.measure({}, tmp_path, never).said.splitlines()]
    assert [process == session for process, session in sessions] == [True, True]


def test_how_a_program_ended_is_told_in_words() -> None:
    assert [programs.how_it_ended(status) for status in (0, 1, -11, -40)] == [
        "it returned 0",
        "it returned 1",
        "it was ended by SIGSEGV (Segmentation fault)",
        "it was ended by signal 40 (Real-time signal 6)",
    ]
