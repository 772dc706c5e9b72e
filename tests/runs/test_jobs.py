"""What is shared among processes is what one process finds, and fails as it does."""

from __future__ import annotations

import os
import signal

import pytest

from dse import workers
from dse.errors import DseError


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


def test_a_single_task_stays_in_the_process() -> None:
    with workers.shared(_square, [3], 8) as found:
        assert [*found] == [(9, os.getpid())]
