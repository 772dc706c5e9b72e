"""Independent work on several cores: the only user of processes.

Workers start afresh on every platform, import what their function needs, and take tasks in turn;
answers come back in the order of the tasks, so that nothing depends on how many there are.

May import `dse.errors`.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from threading import Thread
from typing import TYPE_CHECKING, Any, TypeVar

from dse.errors import DseError

if TYPE_CHECKING:
    from concurrent.futures import Future

Task = TypeVar("Task")
Answer = TypeVar("Answer")

LOOK_S = 0.1
"""Time after which processes at work are polled again."""

WORTH = 1_000_000.0
"""Work that a worker must expect, in designs evaluated: it takes about as long to start one."""


def cores() -> int:
    """Return how many cores this process may use."""
    allowed = getattr(os, "sched_getaffinity", None)  # Linux alone tells
    return len(allowed(0)) if allowed else os.cpu_count() or 1


def processes(jobs: int, tasks: int, work: float) -> int:
    """Return how many processes share some tasks: up to `jobs`, as many as are worth their start.

    `work` is that of all tasks together, in designs evaluated.
    """
    return max(1, int(min(jobs, tasks, work // WORTH)))


@contextmanager
def shared(
    function: Callable[[Task], Answer],
    tasks: Sequence[Task],
    count: int,
    stop: Callable[[], bool] | None = None,
) -> Iterator[Iterator[Answer]]:
    """Yield an iterator over ``function(task)`` for each task, done by `count` processes.

    Processes end with the block, whether their work is done or not.

    Parameters
    ----------
    function
        What a worker can be sent: of a module, a `functools.partial` of one, or a method of a
        record.  Each gets it once, so that what a method keeps serves all tasks of its worker.
    tasks
        What a worker can be sent, like the answers: plain data, arrays, records.
    count
        As `processes` returns it; 1 is this process.
    stop
        Called while processes are at work; once it is True, there are no more answers.

    Raises
    ------
    Exception
        What `function` raises for the first task for which it does.
    DseError
        A worker was ended from outside.
    """
    if count == 1:
        yield map(function, tasks)
        return
    from concurrent.futures import ProcessPoolExecutor  # takes longer than some commands
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import active_children, get_context

    others = {child.pid for child in active_children()}
    pool = ProcessPoolExecutor(
        count, mp_context=get_context("spawn"), initializer=_begin, initargs=(function,)
    )
    some = -(-len(tasks) // (8 * count))
    chunks = [tasks[first : first + some] for first in range(0, len(tasks), some)]
    sent = [pool.submit(_tried, chunk) for chunk in chunks]
    parts = zip(chunks, _results(sent, stop), strict=False)
    pairs = (pair for part in parts for pair in zip(*part, strict=True))
    try:
        # a task that fails is done again here, where it fails as it does without workers
        yield (answer for task, tried in pairs for answer in tried or (function(task),))
    except BrokenProcessPool as error:
        rule = f"one of {count} processes was ended before its work was done"
        raise DseError(f"{rule}; was memory short? --jobs 1 needs the least") from error
    finally:
        for child in active_children():
            if child.pid not in others:
                child.terminate()
        pool.shutdown(cancel_futures=True)


def _results(sent: Iterable[Future[Answer]], stop: Callable[[], bool] | None) -> Iterator[Answer]:
    """Yield what futures hold, in their order, until there is to be no more."""
    from concurrent.futures import wait

    for future in sent:
        while stop is not None and not future.done():
            if stop():
                return
            wait([future], LOOK_S)
        yield future.result()


_FUNCTION: list[Callable[[Any], Any]] = []
"""What a worker does with each of its tasks."""


def _begin(function: Callable[[Any], Any]) -> None:
    """Take the function; let a worker end with the program, however that ends, and nothing else."""
    _FUNCTION.append(function)
    follow_the_program()


def follow_the_program() -> None:
    """Let this process, a worker, end with the program, however that ends, and nothing else."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # which a terminal sends to every process
    Thread(target=_end_with_the_program, daemon=True).start()


def _end_with_the_program() -> None:
    """Wait for the end of the program, which may be killed, and end at once."""
    from multiprocessing import parent_process

    program = parent_process()
    if program is not None:
        program.join()
        os._exit(1)


def _tried(tasks: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Return answers, each nothing where the function fails: not all that fails can be sent."""
    (function,) = _FUNCTION
    found: list[tuple[Any, ...]] = []
    for task in tasks:
        try:
            found.append((function(task),))
        except Exception:  # the program does this task again, and tells
            found.append(())
    return found
