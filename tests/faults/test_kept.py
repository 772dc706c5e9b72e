"""What a program was told to be kept is there, whatever ends it; it is not measured again."""

from __future__ import annotations

import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dse.measure.store import STORE, open_to_read
from tests.conftest import ROOT
from tests.faults import coordinator
from tests.faults.injection import STRACE, Event, injected, traced_calls

EVERYTHING = "DSE_FAULTS" in os.environ

DESIGNS = 160
CHANGES = "write,pwrite64,fsync,fdatasync,ftruncate,rename,unlink"
CALLS = f"{CHANGES},pread64,read,openat"

traced = pytest.mark.skipif(STRACE is None, reason="strace is not installed")


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the front of a run that nothing ends."""
    return coordinator.main(tmp_path_factory.mktemp("undisturbed"), DESIGNS)


@pytest.fixture(autouse=True)
def at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def command(folder: Path, seconds: float = 0.0) -> list[str]:
    program = [sys.executable, "-m", "tests.faults.coordinator"]
    return [*program, str(folder), str(DESIGNS), str(seconds)]


def told(folder: Path) -> list[tuple[str, str]]:
    """Return what a program said that it did, in order: ("kept" or "measured", key)."""
    path = folder / coordinator.ACKNOWLEDGED
    lines = path.read_text().splitlines() if path.exists() else []
    return [(word, name) for word, name in map(str.split, lines)]


def require_nothing_lost(folder: Path, undisturbed: str) -> int:
    """Go on with an ended run to its end, and return how much was kept before."""
    kept = [name for word, name in told(folder) if word == "kept"]
    if kept:
        with open_to_read(folder) as store:
            assert {*kept} <= {*store.found}
    assert coordinator.main(folder, DESIGNS) == undisturbed
    safe: set[str] = set()
    for word, name in told(folder):
        assert word == "kept" or name not in safe, "measured though it was kept"
        safe |= {name} if word == "kept" else set()
    with open_to_read(folder) as store:
        assert len(store) == DESIGNS
    return len(kept)


def spread(found: list[Event], count: int) -> list[Event]:
    """Return so many of some events, all over them."""
    count = min(count, len(found))
    return [found[place * len(found) // count] for place in range(count)]


@pytest.mark.slow
def test_a_kill_at_any_moment_loses_nothing(tmp_path: Path, undisturbed: str) -> None:
    chance, halfway = random.Random(15), 0  # noqa: S311
    kills = 0
    while kills < (200 if EVERYTHING else 5) or not halfway:
        kills += 1
        folder = tmp_path / "a"
        folder.mkdir()
        with subprocess.Popen(command(folder, 0.002), stdout=subprocess.DEVNULL) as program:
            log = folder / coordinator.ACKNOWLEDGED
            while not (log.exists() and log.stat().st_size) and program.poll() is None:
                time.sleep(0.001)
            try:
                program.wait(chance.uniform(0.0, 0.5))
            except subprocess.TimeoutExpired:
                program.send_signal(signal.SIGKILL)
        kept = require_nothing_lost(folder, undisturbed)
        halfway += 0 < kept < DESIGNS
        shutil.rmtree(folder)
    print(f"\n{kills} kills, {halfway} of them with some designs kept and some not")


@traced
def test_nothing_is_told_to_be_kept_before_it_is_flushed(tmp_path: Path) -> None:
    """A kill does not show this: what was written and not flushed is lost with the power only."""
    waiting, kept = set[str](), 0
    for event, line in traced_calls(command(tmp_path), tmp_path, calls=CHANGES):
        (file,) = re.findall(rf"[<\"]{tmp_path}/?([^>\"]*)", line)[:1]
        if event.name in ("fsync", "fdatasync"):
            waiting.discard(file)
        elif file in (STORE, f"{STORE}-wal"):
            waiting.add(file)
        elif '"kept ' in line:
            kept += 1
            assert not waiting, line
    assert kept == DESIGNS // coordinator.BATCH


@pytest.mark.slow
@traced
def test_a_kill_at_any_call_loses_nothing(tmp_path: Path, undisturbed: str) -> None:
    folder = tmp_path / "a"
    folder.mkdir()
    found = [event for event, _ in traced_calls(command(folder), folder, calls=CHANGES)]
    assert len(found) >= 500
    shutil.rmtree(folder)
    chosen = found[:500] if EVERYTHING else spread(found, 10)
    for event in [*chosen, *(found[-20:] if EVERYTHING else [])]:
        folder.mkdir()
        done = injected(command(folder), event, "signal=KILL")
        assert done.returncode in (-9, 137), (event, done)
        require_nothing_lost(folder, undisturbed)
        shutil.rmtree(folder)
    print(f"\n{len(chosen)} of {len(found)} calls, each made the last")


@traced
@pytest.mark.parametrize(("fault", "on"), [("EIO", False), ("EIO", True), ("ENOSPC", True)])
def test_a_refusal_at_any_call_is_told(
    fault: str, on: bool, tmp_path: Path, undisturbed: str
) -> None:
    folder = tmp_path / "a"
    folder.mkdir()
    calls = {"EIO": CALLS, "ENOSPC": "write,pwrite64,fsync,fdatasync,ftruncate"}[fault]
    found = traced_calls(command(folder), folder, calls=calls, prefix="evaluations.")
    shutil.rmtree(folder)
    stopped = 0
    for event in spread([event for event, _ in found], 50 if EVERYTHING else 4):
        folder.mkdir()
        done = injected(command(folder), event, f"error={fault}", on=on)
        assert "Traceback" not in done.stderr, (event, done.stderr)
        if done.returncode:
            stopped += 1
            (line,) = done.stderr.splitlines()
            assert line.startswith(f"{folder}/evaluations."), event
            assert "; " in line, "there is no remedy"
        else:
            assert done.stdout.strip() == undisturbed, event
        require_nothing_lost(folder, undisturbed)
        shutil.rmtree(folder)
    print(f"\n{fault}{' from then on' if on else ''}: {stopped} times told, none lost")
    assert stopped
