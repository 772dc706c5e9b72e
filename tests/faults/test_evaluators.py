"""Whatever a program or a worker does, its design ends in the right state, and nothing is left.

`make test` does each a few times; `make faults` as often as docs/faults.md says.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from dse.measure.attempts import Threads, measured
from tests.conftest import ROOT
from tests.measure.evaluators import KEPT, shell

EVERYTHING = "DSE_FAULTS" in os.environ
TIMES = 50 if EVERYTHING else 2
KILLS = 50 if EVERYTHING else 4
GONE_S = 5.0 if EVERYTHING else 60.0
"""What is promised, and what a busy machine may take; by themselves they would take 300 s."""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are found in /proc")

MODES = {
    "exit status": ("echo area >&2; exit 7", "exit", "it returned 7 with the message 'area'"),
    "signal": ("kill -ABRT $$", "signal", "it was ended by SIGABRT (Aborted)"),
    "hang": ("trap '' TERM HUP INT; while :; do sleep 9; done", "timeout", "longer than"),
    "fork": ("(sh -c 'sleep 300 & sleep 300' &) ; sleep 300", "timeout", "longer than"),
    "garbage": ("head -c 5000 /dev/urandom", "output", "standard output "),
    "NaN": ("echo double = nan", "output", "double: 'nan' is not a finite number"),
    "missing key": ("echo doubled = 3", "output", "has no 'double'; did you mean 'doubled'?"),
    "partial file": (": {output}; printf 'double = 12' > {output}", "output", "was it cut?"),
    "huge output": ("head -c 100000000 /dev/zero", "output", "longer than what is read"),
    "closed streams": ("exec >&- 2>&- </dev/null; exit 0", "output", "standard output is empty"),
    "wrong unit": ("echo double = 3 um2", "output", "double: a plain number is needed"),
    "unreadable JSON": ("""echo '{{"double": 3'""", "output", "is not JSON"),
}


def marked(mark: str) -> list[int]:
    """Return the processes that have `mark` in their environment, as all that come of one have."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
                if f"DSE_MARK={mark}".encode() in (entry / "environ").read_bytes() and state != "Z":
                    found.append(int(entry.name))
    return [process for process in found if process != os.getpid()]


def left_of(mark: str) -> list[int]:
    """Return the marked processes that are still there after `GONE_S`."""
    end = time.monotonic() + GONE_S
    while (left := marked(mark)) and time.monotonic() < end:
        time.sleep(0.05)
    return left


@pytest.mark.parametrize("mode", MODES)
def test_each_way_to_fail_is_told(
    mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, kind, cause = MODES[mode]
    mark = f"{os.getpid()}-{mode}"
    monkeypatch.setenv("DSE_MARK", mark)
    evaluator = shell(text, timeout_s=0.3 if kind == "timeout" else 60.0)
    designs = [{"number": float(number)} for number in range(TIMES)]
    found = dict(measured(evaluator, designs, Threads(evaluator, 2), KEPT, tmp_path, 0))
    assert sorted(found) == list(range(TIMES))
    for each in found.values():
        assert (each.kind, each.values, each.attempts) == (kind, {}, 1), each
        assert cause in each.cause, each
        assert Path(each.folder).is_dir()
        assert each.seconds < 60.0 if kind != "timeout" else each.seconds >= 0.3
    assert not left_of(mark)
    print(f"{mode}: {TIMES} of {TIMES} failed as {kind!r}")


COORDINATOR = """
import signal, sys
from pathlib import Path
signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell's background ignores
sys.path.insert(0, {root!r})
from dse.measure.attempts import Threads, measured
from tests.measure.evaluators import KEPT, shell
designs = [{{"number": float(n)}} for n in range(1000)]
text = "(sleep 300 & sleep 300) & trap '' TERM; touch {{number}}; sleep 300"
folder = Path({folder!r})
crew = Threads(shell(text), 3)
for _ in measured(shell(text), designs, crew, KEPT, folder, 0):
    pass
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_no_process_outlives_a_coordinator_that_is_ended(
    number: signal.Signals, tmp_path: Path
) -> None:
    times = max(1, KILLS // 10)
    for turn in range(times):
        mark, folder = f"{os.getpid()}-{number}-{turn}", tmp_path / str(turn)
        code = COORDINATOR.format(root=str(ROOT), folder=str(folder))
        coordinator = subprocess.Popen(
            [sys.executable, "-c", code],
            env={**os.environ, "DSE_MARK": mark},
            stderr=subprocess.DEVNULL,
        )
        started = False
        while not started and coordinator.poll() is None:
            time.sleep(0.02)
            started = len([*folder.glob("*/[0-9]*")]) >= 3 and len(marked(mark)) >= 10
        assert started
        coordinator.send_signal(number)
        assert coordinator.wait(60) != 0
        assert not left_of(mark)
    print(f"{number.name}: {times} coordinators with 3 commands each: 0 orphans")


def test_no_process_outlives_a_time_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of them ignore SIGTERM; each leaves children."""
    mark = f"{os.getpid()}-limit"
    monkeypatch.setenv("DSE_MARK", mark)
    text = (
        "test $(( {number} % 2 )) = 0 && trap '' TERM; "
        "(sleep 300 & sleep 300) & sleep 300 & sleep 300; sleep 300"
    )
    limit, times = 0.5, 2 * TIMES
    designs = [{"number": float(number)} for number in range(times)]
    evaluator = shell(text, timeout_s=limit)
    found = list(measured(evaluator, designs, Threads(evaluator, 2), KEPT, tmp_path, 0))
    assert [each.kind for _, each in found] == ["timeout"] * times
    assert not left_of(mark)
    late = max(each.seconds for _, each in found) - limit
    print(f"{times} time limits: 0 orphans, at most {late:.2f} s late")


def test_programs_that_are_killed_cost_an_attempt(tmp_path: Path) -> None:
    """Someone else kills programs in the middle; each design is counted and comes to its end."""
    counts = tmp_path / "counts"
    counts.mkdir()
    designs = [{"number": float(n)} for n in range(KILLS)]
    tally = f"{counts}/{{number}}"
    text = (
        f"echo x >> {tally}; echo {{number}} $$ > new; mv new made; "
        f"test $(wc -l < {tally}) -gt 1 || sleep 300; echo double = $(( 2 * {{number}} ))"
    )
    killed: set[int] = set()

    def kill() -> None:
        while not over.wait(0.01):
            for made in (tmp_path / "work").glob("*/made"):
                written = made.read_text().split() if made.exists() else []
                if len(written) == 2 and int(written[0]) not in killed:
                    killed.add(int(written[0]))
                    os.kill(int(written[1]), signal.SIGKILL)

    over = threading.Event()
    thread = threading.Thread(target=kill)
    thread.start()
    crew = Threads(shell(text), 2)
    found = dict(measured(shell(text), designs, crew, KEPT, tmp_path / "work", 1))
    over.set()
    thread.join()
    assert len(killed) == len(found) == KILLS
    for number, each in found.items():
        assert (each.attempts, each.values) == (2, {"double": 2.0 * number}), each
        assert len((counts / f"{number}").read_text().split()) == 2
    print(f"{len(killed)} programs killed: {len(found)} designs with 2 attempts each")
