"""What workers and supervisors do alone: when they are lost, late, left, or asked to stop."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

from dse.contract.evaluators import Measurement
from dse.errors import DseError
from dse.measure import attempts
from dse.measure.attempts import (
    Attempt,
    InProcess,
    Threads,
    UnusableProgramError,
    again,
    attempted,
    before_next_s,
    separately,
)
from dse.workers import programs
from tests.conftest import until
from tests.measure.evaluators import SLEEPER, Acts, Unready, shell
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


def test_the_time_before_the_next_attempt_is_doubled_up_to_a_minute() -> None:
    found = [before_next_s(attempts) for attempts in (1, 2, 3, 6, 7, 5_000)]
    assert found == [1.0, 2.0, 4.0, 32.0, 60.0, 60.0]


def test_what_is_tried_again() -> None:
    assert [again(BAD, attempts, 2) for attempts in (1, 2, 3)] == [True, True, False]
    assert not again(GOOD, 1, 2)
    with pytest.raises(UnusableProgramError, match=r"^x; nothing can be measured$"):
        again(Measurement(values={}, kind="start", cause="x"), 9, 2)


@pytest.mark.parametrize("keep", [False, True])
def test_a_folder_that_was_taken_away_is_no_fault(keep: bool, tmp_path: Path) -> None:
    class Removes(Acts):
        def measure(self, design: Any, folder: Path) -> Measurement:
            assert not [*folder.iterdir()]  # nor is one that was left by an earlier attempt
            folder.rmdir()
            return BAD

    (tmp_path / "0").mkdir()
    (tmp_path / "0" / "left").touch()
    assert attempted(Removes(counts=""), attempt(tmp_path, keep=keep), lambda: False) == BAD


def test_nothing_more_is_begun_when_no_more_may_begin(tmp_path: Path) -> None:
    workers = Scripted(GOOD, BAD)
    found = all_of(
        Acts(counts=""), numbers(9), tmp_path, workers=workers, retries=3,
        may_begin=lambda: len(workers.given) < 2,
    )  # fmt: skip
    assert workers.given == [0, 1]
    assert [each.failed for each in found.values()] == [False]


def test_of_two_that_end_at_a_stop_the_good_one_is_kept(tmp_path: Path) -> None:
    class Both(Scripted):
        def ended(self, wait_s: float) -> list[tuple[int, Measurement | None]]:
            stopped.append(True)
            return [(0, BAD), (1, GOOD)]

    stopped: list[bool] = []
    found = all_of(
        Acts(counts=""), numbers(3), tmp_path, workers=Both(), stop=lambda: bool(stopped)
    )
    assert [*found] == [1]


# This process, and threads -----------------------------------------------------------------------


def test_what_was_given_and_dropped_is_not_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []
    monkeypatch.setattr(time, "sleep", waited.append)
    with InProcess(Acts(counts=str(tmp_path))) as workers:
        workers.begin(attempt(tmp_path / "work"))
        workers.drop()
        assert workers.ended(7.0) == []
        workers.begin(attempt(tmp_path / "work", 2))
        ((number, found),) = workers.ended(7.0)
    assert found is not None
    assert (number, found.values, waited) == (2, {"double": 4.0}, [7.0])
    assert found.seconds < 60


def test_threads_end_their_programs_with_the_block(tmp_path: Path) -> None:
    with Threads(partial(attempted, shell(SLEEPER)), 1) as workers:
        workers.begin(attempt(tmp_path))
        until((tmp_path / "0" / "pid").exists)
        process = int((tmp_path / "0" / "pid").read_text())
        assert runs(process)
    assert not runs(process)
    with Threads(partial(attempted, shell(DOUBLE)), 1) as workers:
        workers.begin(attempt(tmp_path, 3))
        assert workers.ended(60.0)
        assert not workers.running


# Worker processes --------------------------------------------------------------------------------


def test_what_a_worker_has_started_ends_with_it(tmp_path: Path) -> None:
    with Threads(partial(separately, Acts(counts=str(tmp_path))), 1) as workers:
        workers.begin(attempt(tmp_path / "work", act="bear"))
        told = tmp_path / "work" / "0" / "child"
        until(lambda: workers.ended(0.0) or (told.exists() and told.read_text()))
        assert runs(int(told.read_text()))
    until(lambda: not runs(int(told.read_text())))  # which takes a moment after its signal


@pytest.mark.parametrize(
    ("act", "how"),
    [("end", "it returned 0"), ("die", "it was ended by SIGKILL (Killed)")],
)
def test_a_worker_that_does_not_start_ends_all(act: str, how: str, tmp_path: Path) -> None:
    with pytest.raises(UnusableProgramError) as told:
        all_of(Unready(counts="", act=act), numbers(3), tmp_path)
    assert str(told.value) == (
        f"a worker process could not be started: {how}; its module has to import by itself, what "
        "it runs stands below 'if __name__ == \"__main__\":', and standard error has the details"
    )


def test_a_worker_that_is_never_ready_ends_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attempts, "WORKER_PATIENCE_S", 0.2)
    with pytest.raises(UnusableProgramError, match=r"it was not ready after 0\.2 s; its module"):
        all_of(Unready(counts="", act="crawl"), numbers(3), tmp_path)


def test_a_new_process_has_a_session_and_ignores_the_terminal(tmp_path: Path) -> None:
    context = get_context("fork")
    here, there = context.Pipe()
    crawls = attempt(tmp_path / "work", act="crawl", fails=1.0)
    arguments = there, Acts(counts=str(tmp_path)), crawls
    process = context.Process(target=attempts._serve, args=arguments)
    process.start()
    try:
        assert here.poll(60)
        assert here.recv()
        assert process.pid == os.getsid(process.pid or 0)
        os.kill(process.pid, signal.SIGINT)  # as a terminal sends it to all
        until((tmp_path / "work" / "0" / "made").exists)
        assert process.is_alive()
    finally:
        process.kill()
        process.join()


def test_errors_and_stops_reach_the_caller(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    acts = Acts(counts=str(tmp_path))
    with pytest.raises(DseError, match="cannot be used: Not a directory"):
        separately(acts, attempt(tmp_path / "file"), lambda: False)
    begun = tmp_path / "work" / "5" / "made"
    crawls = attempt(tmp_path / "work", 5, act="crawl", fails=1.0)
    assert separately(acts, crawls, begun.exists).cause == "it was stopped"


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
    found = shell("kill -9 $PPID; sleep 300").measure({}, tmp_path)
    cause = "the process that watched over it was ended"
    assert (found.kind, found.cause) == ("worker", cause)


def test_a_supervisor_that_is_ended_as_a_program_ends_does_not_stay(tmp_path: Path) -> None:
    """SIGTERM may come between the end of a program and the report on it."""
    found = shell("echo $PPID >&2; kill -TERM $PPID; sleep 300").measure({}, tmp_path)
    until(lambda: not runs(int(found.said)))


def test_a_supervisor_that_cannot_be_started_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "none"))
    found = shell(DOUBLE).measure({"number": 1.0}, tmp_path)
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
        shell(SLEEPER).measure_until({}, tmp_path, stop)
    assert not runs(int((tmp_path / "pid").read_text()))


def test_a_program_is_out_of_reach_of_the_terminal(tmp_path: Path) -> None:
    """Ctrl-C reaches neither it nor its supervisor: each is in a session of its own."""
    found = shell("cut -d' ' -f1,6 /proc/$PPID/stat /proc/$$/stat >&2; echo double = 1")
    sessions = [line.split() for line in found.measure({}, tmp_path).said.splitlines()]
    assert [process == session for process, session in sessions] == [True, True]


def test_how_a_program_ended_is_told_in_words() -> None:
    assert [programs.how_it_ended(status) for status in (0, 1, -11, -40)] == [
        "it returned 0",
        "it returned 1",
        "it was ended by SIGSEGV (Segmentation fault)",
        "it was ended by signal 40 (Real-time signal 6)",
    ]
