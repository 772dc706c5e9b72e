"""Runs of every method that are cut, killed or refused the disk, and go on to the same front.

`make test` does some a few times, `make slow` the rest, `make faults` as often as
docs/faults.md says.
"""

from __future__ import annotations

import itertools
import math
import os
import random
import shlex
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import dse
from dse.files.whole_folders import waiting_for
from dse.measure.store import open_to_read
from dse.study.measuring import time_measuring
from tests.faults.injection import STRACE, Event, injected

EVERYTHING = "DSE_FAULTS" in os.environ
SEEDS = range(10 if EVERYTHING else 1)
PARTS, KILLS = (range(20), 10) if EVERYTHING else (range(1), 3)
CUTS = 5
BUDGET = 30
METHODS = ("exact", "random", "tpe", "nsga2", "nsga3", "gaussian")

STUDY: dict[str, Any] = {
    "axes": {"u": [*range(1, 9)], "v": [*range(1, 9)], "style": ["slim", "wide"]},
    "evaluate": {"outputs": {"area": "um2", "time": "ns"}},
    "objectives": {"area": "minimise", "time": "minimise"},
    "constraints": ["area <= 900 um2"],
}


class Measuring:
    """A function that is interrupted when it has measured so many designs, and lists them."""

    def __init__(self) -> None:
        self.done: list[tuple[float, float, str]] = []
        self.most = math.inf

    def __call__(self, u: float, v: float, style: str) -> dict[str, float]:
        if len(self.done) >= self.most:
            raise KeyboardInterrupt
        self.done.append((u, v, style))
        if (3 * u + 5 * v) % 11 == 0:
            raise dse.InfeasibleDesign("timing is not met")
        wide = 1.3 if style == "wide" else 1.0
        return {"area": wide * (100 * u + 7 * v * v), "time": 900 / (u * wide) + 40 * math.sin(v)}


def run(measuring: Measuring, out: Path | None, method: str, seed: int, **more: Any) -> dse.Result:
    budget = 128 if method == "exact" else BUDGET
    return dse.run(
        STUDY, evaluate=measuring, out=out, method=method, seed=seed, budget=budget, plots=False,
        **more,
    )  # fmt: skip


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("method", METHODS)
def test_a_run_that_is_cut_goes_on_to_the_same_end(method: str, seed: int, tmp_path: Path) -> None:
    """Cut five times, at random numbers of measurements: all in one run, and each in its own."""
    whole = Measuring()
    expected = run(whole, None, method, seed)
    chance = random.Random(seed)  # noqa: S311
    places = sorted(chance.sample(range(1, len(whole.done)), CUTS))
    for number, cuts in enumerate([places, *([each] for each in places if EVERYTHING)]):
        measuring, out = Measuring(), tmp_path / f"{number}"
        for measuring.most in cuts:
            with pytest.raises(KeyboardInterrupt):
                run(measuring, out, method, seed, resume=True)
        measuring.most = math.inf
        found = run(measuring, out, method, seed, resume=True)
        pd.testing.assert_frame_equal(found.front, expected.front, check_exact=True)
        pd.testing.assert_frame_equal(found.evaluations, expected.evaluations)
        assert sorted(measuring.done) == sorted(whole.done)  # none twice


SCRIPT = """\
#!/bin/sh
echo "$*" >> "$LOG"
[ $(( (3 * $1 + 5 * $2) % 11 )) = 0 ] && exit 3
echo "area = $(( 100 * $1 + 7 * $2 * $2 ))"
time=$(( 9000 / $1 + 40 * (7 - $2) * (7 - $2) ))
echo "time = $time"
"""

PROGRAM = """\
axes: {u: {from: 1, to: 8}, v: {from: 1, to: 8}}
evaluate: {command: [./f.sh, "{u}", "{v}"], outputs: {area: um2, time: ns}, retries: 0}
objectives: {area: minimise, time: minimise}
search: {method: random, budget: 40}
"""

WORKERS = 2


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Go to a folder with a study, whose program writes down what it has measured."""
    (tmp_path / "study.yaml").write_text(PROGRAM)
    (tmp_path / "f.sh").write_text(SCRIPT)
    (tmp_path / "f.sh").chmod(0o755)
    monkeypatch.setenv("LOG", str(tmp_path / "log"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def command(out: str, *more: str) -> list[str]:
    program = [sys.executable, "-m", "dse", "run", "study.yaml", "--no-plots", "--out", out]
    return [*program, *more]


def front(out: str, *more: str) -> bytes:
    """Run to the end, and return the front as it is written."""
    subprocess.run(command(out, *more), check=True, capture_output=True)
    return Path(out, "front.csv").read_bytes()


def measured(log: Path) -> list[str]:
    return log.read_text().splitlines() if log.exists() else []


def kept(out: str) -> set[str]:
    """Return the designs whose measurements are on disk, as the program writes them down."""
    run = Path(out)
    if not run.exists():  # for an instant a run that is put in place lies next to it
        run = next(iter(waiting_for(run)), run)
    if not (run / "evaluations.sqlite").exists():
        return set()
    with open_to_read(run) as store:
        return {
            f"{row.design['u']:g} {row.design['v']:g}" + " quick" * ('"quick"' in row.identity)
            for row in store.found.values()
        }


def test_the_number_of_workers_makes_no_difference(place: Path) -> None:
    fronts = {front(f"by{count}", "--workers", str(count)) for count in (1, 2, 4)}
    assert len(fronts) == 1


@dataclass
class Killing:
    """Runs that are killed at random moments, and gone on with each time, until they end."""

    log: Path
    chance: random.Random
    kills: int = 0
    halfway: int = 0

    @property
    def enough(self) -> bool:
        """Tell whether there were as many kills as wanted, one while designs were measured."""
        return self.kills >= KILLS and self.halfway > 0

    def until_it_ends(self, out: str) -> set[str]:
        """Return what a run has kept: measured once each, but for what ran when it was killed."""
        ended, begun, held, sizes, before = False, 0, set[str](), [0], self.kills
        while not ended:
            self.log.unlink(missing_ok=True)
            ended = self._ended(out)
            names = measured(self.log)
            assert not held & {*names}, "measured though it was kept"
            now = kept(out)
            assert held <= now, "kept and lost"
            begun, held = begun + len(names), now
            sizes.append(len(now))
        assert begun - len(held) <= WORKERS * (self.kills - before), "more than ran when killed"
        self.halfway += sum(a < b < len(held) for a, b in itertools.pairwise(sizes))
        return held

    def _ended(self, out: str) -> bool:
        """Start or go on with a run, and return whether it ended before it was killed."""
        with subprocess.Popen(
            command(out, "--resume", "--workers", str(WORKERS)),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        ) as program:  # fmt: skip
            while not self.log.exists() and program.poll() is None and self.chance.random() > 1e-4:
                time.sleep(0.005)
            try:
                status = program.wait(None if self.enough else self.chance.uniform(0, 2))
            except subprocess.TimeoutExpired:
                program.send_signal(signal.SIGKILL)
                self.kills += 1
                return False
        assert status == 0
        return True


linux = pytest.mark.skipif(sys.platform != "linux", reason="what a killed run leaves is looked at")


@pytest.mark.slow
@linux
@pytest.mark.parametrize("part", PARTS)
def test_a_run_that_is_killed_at_any_moment_loses_nothing(part: int, place: Path) -> None:
    whole, killing, runs = front("whole"), Killing(place / "log", random.Random(part)), 0  # noqa: S311
    while not killing.enough:
        out, runs = f"run{runs}", runs + 1
        assert len(killing.until_it_ends(out)) == 40
        assert Path(out, "front.csv").read_bytes() == whole
        for left in waiting_for(Path(out)):  # of a kill an instant before it took its place
            assert (left / "front.csv").read_bytes() == whole
            shutil.rmtree(left)
        assert not [*place.glob(".run*")]
    print(f"{killing.kills} kills of {runs} runs, {killing.halfway} while designs were measured")


@pytest.mark.slow
@linux
def test_a_run_that_is_killed_keeps_within_its_time(place: Path) -> None:
    """It may be late by the last design; how long had run what was killed is not known."""
    (place / "study.yaml").write_text(PROGRAM.replace("budget: 40", "budget: {time: 1 s}"))
    (place / "f.sh").write_text(SCRIPT.replace("[", "sleep 0.05\n[", 1))  # no time for all 64
    killing, runs = Killing(place / "log", random.Random(15)), 0  # noqa: S311
    while not killing.enough:
        out, runs = f"run{runs}", runs + 1
        assert 0 < len(killing.until_it_ends(out)) < 64
        with open_to_read(Path(out)) as store:
            rows = [*store.found.values()]
        assert time_measuring(rows) <= 1 + max(row.measurement.seconds for row in rows)
    print(f"{killing.kills} kills of {runs} runs, each late by a design at most")


@pytest.mark.slow
@pytest.mark.skipif(STRACE is None, reason="strace is not installed")
def test_a_full_disk_is_told_and_the_run_goes_on(place: Path) -> None:
    whole = front("whole")
    starts = (60, 100, 140) if EVERYTHING else (100,)
    for start in starts:
        out = f"run{start}"
        full = injected(command(out), Event("pwrite64", start), "error=ENOSPC", on=True)
        assert full.returncode == 2, full.stderr
        assert "Traceback" not in full.stderr
        told, how = full.stderr.splitlines()
        assert "; free some space and " in told
        kept_is, _, go_on = how.partition(" kept; go on with: ")
        assert kept_is in ("what was measured is", f"{len(kept(out))} measurements are")
        assert 0 < len(kept(out)) < 40
        words = shlex.split(go_on)
        assert words[-3:] == ["--out", out, "--resume"]
        subprocess.run([sys.executable, "-m", *words], check=True, capture_output=True)
        assert Path(out, "front.csv").read_bytes() == whole
