"""What is shared among processes is what one process finds, and fails as it does."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest

import dse
from dse import workers
from dse.errors import DseError
from dse.files.json import json_text
from dse.runs import limits

SWEPT = """
workload: {rate: 10 Gbit/s}
stages: [{core: des, instances: least}]
objectives: {area: minimise, power: minimise}
sweep: {workload.rate: {from: 10 Gbit/s, to: 30 Gbit/s, points: 5}}
"""


class OddError(Exception):
    """Cannot be sent back: it is made of two things, and keeps one."""

    def __init__(self, number: int, what: str) -> None:
        super().__init__(f"{number} is {what}")


def _square(number: int) -> tuple[int, int]:
    return number**2, os.getpid()


def _even(number: int) -> int:
    if number % 2:
        raise OddError(number, "odd")
    return number


def _dies(number: int) -> int:
    os.kill(os.getpid(), signal.SIGTERM)
    return number


def test_answers_come_in_the_order_of_tasks_from_processes_that_are_gone_then() -> None:
    with workers.shared(_square, range(40), 2) as found:
        squares, processes = zip(*found, strict=True)
    assert squares == tuple(number**2 for number in range(40))
    assert os.getpid() not in processes
    for process in {*processes}:
        with pytest.raises(ProcessLookupError):
            os.kill(process, 0)


@pytest.mark.parametrize("count", [1, 2])
def test_a_task_fails_as_it_does_without_workers(count: int) -> None:
    met: list[int] = []
    with pytest.raises(OddError, match="3 is odd"):
        _collect([0, 2, 3, 5, 4], count, met)
    assert met == [0, 2]


def _collect(tasks: list[int], count: int, met: list[int]) -> None:
    with workers.shared(_even, tasks, count) as found:
        for answer in found:
            met.append(answer)  # what came before the one that fails stays


def test_a_worker_that_is_ended_is_told() -> None:
    with (
        pytest.raises(DseError, match=r"one of 2 processes was ended .* --jobs 1"),
        workers.shared(_dies, [1, 2, 3], 2) as found,
    ):
        next(found)


def test_little_work_stays_in_the_process() -> None:
    assert workers.processes(8, 100, workers.WORTH) == 1
    assert workers.processes(8, 100, 3.5 * workers.WORTH) == 3
    assert workers.processes(8, 2, 99 * workers.WORTH) == 2
    assert workers.processes(1, 100, 99 * workers.WORTH) == 1


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return how many processes share work, each time."""
    found: list[int] = []
    share = workers.shared

    def counted(function: Any, tasks: Any, count: int, *stop: Any) -> Any:
        found.append(count)
        return share(function, tasks, count, *stop)

    monkeypatch.setattr(workers, "shared", counted)
    return found


def test_large_spaces_that_take_little_work_stay_in_the_process(started: list[int]) -> None:
    large = SWEPT.replace("instances: least", "fleet: mixed, clock: meet")
    large = large.replace("from: 10 Gbit/s, to: 30", "from: 70 Gbit/s, to: 100")
    result = dse.run(large, jobs=2)
    assert started == [1]
    assert min(one.study.problem.size for one in result.run.answers) > limits.COUNTED_DESIGNS


@pytest.mark.usefixtures("drawn")
def test_a_sweep_finds_the_same_with_any_number_of_processes(
    started: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "WORTH", 1.0)
    for jobs in (1, 2):
        dse.run(SWEPT, jobs=jobs, out=tmp_path / f"{jobs}")
    assert started == [1, 2]
    for name in ("front.csv", "evaluations.parquet", "front.png", "front.svg"):
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "2" / name).read_bytes()


def test_a_sweep_fails_with_any_number_of_processes_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "WORTH", 1.0)
    told = []
    for jobs in (1, 2):
        with pytest.raises(DseError) as caught:
            dse.run(
                SWEPT.replace("least", "{from: 1, to: 90}"), method="enumerate", budget=9, jobs=jobs
            )
        told.append((type(caught.value), str(caught.value)))
    assert told[0] == told[1]


def test_claims_get_the_same_verdicts_from_any_number_of_processes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = [dse.reproduce("roofline", jobs=1)]
    monkeypatch.setattr(workers, "WORTH", 1.0)
    found.append(dse.reproduce("roofline", jobs=2))
    assert found[0] == found[1]
    assert found[0].full_text() == found[1].full_text()
    assert json_text(found[0].to_dict()) == json_text(found[1].to_dict())


def test_samples_are_as_sure_with_any_number_of_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    def told(jobs: int) -> str:
        study, _ = SWEPT.split("sweep:")
        given = {"samples": 300, "uncertainty": {"area": "20 %", "rate": "20 %"}}
        found = dse.answer(study, flips=False, jobs=jobs, **given)
        return json_text(found.to_dict())

    alone = told(1)
    monkeypatch.setattr(workers, "WORTH", 1.0)
    assert told(2) == alone
