"""A scheduler that is killed, with its workers, costs no design that was measured."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from dse.errors import DseError
from dse.measure.attempts import Cluster, measured
from tests.conftest import ROOT
from tests.measure.evaluators import KEPT, shell
from tests.measure.test_pool import DOUBLE, numbers

KILLS = 20 if "DSE_FAULTS" in os.environ else 1

pytest.importorskip("distributed", reason="the extra dask is not installed")


def started(*arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "distributed.cli." + arguments[0], *arguments[1:]],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def scheduler(port: int) -> subprocess.Popen[bytes]:
    return started("dask_scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard")


def workers_at(address: str) -> list[subprocess.Popen[bytes]]:
    options = ("--nthreads", "1", "--no-dashboard", "--no-nanny", "--death-timeout", "60")
    return [started("dask_worker", address, *options) for _ in range(2)]


@pytest.mark.slow
def test_nothing_that_ended_is_done_again_when_a_scheduler_is_killed(tmp_path: Path) -> None:
    """The run ends, and is resumed with a scheduler and workers that start anew."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address, counts = f"tcp://127.0.0.1:{port}", tmp_path / "counts"
    counts.mkdir()
    command = shell(f"echo x >> {counts}/{{number}}; sleep 0.05; {DOUBLE}")
    running: list[Any] = [scheduler(port)]
    left = dict(enumerate(numbers(4 * KILLS + 2)))
    try:
        running += workers_at(address)
        found: dict[int, Any] = {}
        kills = 0
        while left:
            places, designs, work = [*left], [*left.values()], tmp_path / "work"
            with suppress(DseError), Cluster(command, address, patience_s=120) as workers:
                for place, each in measured(command, designs, workers, KEPT, work, 0):
                    number = places[place]
                    assert number not in found
                    found[number] = each, len((counts / str(number)).read_text().split())
                    left.pop(number)
                    if len(found) == 4 * (kills + 1) and kills < KILLS:
                        kills += 1
                        for process in running:
                            process.send_signal(signal.SIGKILL)
                            process.wait()
                        running = [scheduler(port), *workers_at(address)]
    finally:
        for process in running:
            process.kill()
            process.wait()
    assert kills == KILLS
    for number, (each, times) in found.items():
        assert each.values == {"double": 2.0 * number}
        assert len((counts / str(number)).read_text().split()) == times
    print(f"{KILLS} schedulers killed: {len(found)} designs, none that ended measured again")
