"""Independent work on several cores, and other programs under a supervisor.

Workers start afresh on every platform, import the modules of their function, and take tasks in
turn.  Answers come back in the order of the tasks, so that nothing depends on their number.

May import `dse.errors`.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Thread
from typing import TYPE_CHECKING, Any, TypeVar

from dse.errors import DseError

if TYPE_CHECKING:
    from concurrent.futures import Executor

Task = TypeVar("Task")
Answer = TypeVar("Answer")


def cores() -> int:
    """Return how many cores this process may use."""
    allowed = getattr(os, "sched_getaffinity", None)  # only on Linux
    return len(allowed(0)) if allowed else os.cpu_count() or 1


@contextmanager
def shared(
    function: Callable[[Task], Answer], tasks: Sequence[Task], jobs: int
) -> Iterator[Iterator[Answer]]:
    """Yield an iterator over ``function(task)`` for each task, done by up to `jobs` processes.

    Processes end with the block, whether their work is done or not.

    Parameters
    ----------
    function
        A function that can be sent to a worker, which gets it once: of a module, a
        `functools.partial` of one, or a method of a record.
    tasks
        Values that can be sent, like the answers: plain data, arrays, records.
    jobs
        Most processes.  1 is this process, which also does a single task.

    Raises
    ------
    Exception
        The error of `function` for the first task with one.
    DseError
        A worker was ended from outside.
    """
    count = min(jobs, len(tasks))
    if count <= 1:
        yield map(function, tasks)
        return
    with _processes(function, count) as pool:
        pairs = _in_turn(pool, tasks, chunk=-(-len(tasks) // (8 * count)))
        # a failed task is done again here, and fails as it does without workers
        yield (answer for task, tried in pairs for answer in tried or (function(task),))


@contextmanager
def _processes(function: Callable[[Any], Any], count: int) -> Iterator[Executor]:
    """Yield `count` processes that have the function, and end them with the block."""
    # takes longer than some commands
    from concurrent.futures.process import BrokenProcessPool, ProcessPoolExecutor
    from multiprocessing import active_children, get_context

    others = {child.pid for child in active_children()}
    pool = ProcessPoolExecutor(
        count, mp_context=get_context("spawn"), initializer=_begin, initargs=(function,)
    )
    try:
        yield pool
    except BrokenProcessPool as error:
        rule = f"one of {count} processes was ended before its work was done"
        raise DseError(f"{rule}; was memory short? --jobs 1 needs the least") from error
    finally:
        for child in active_children():
            if child.pid not in others:
                child.terminate()
        pool.shutdown(cancel_futures=True)


def _in_turn(
    pool: Executor, tasks: Sequence[Task], chunk: int
) -> Iterator[tuple[Task, tuple[Any, ...]]]:
    """Return tasks and their answers as in `_tried`, sent in chunks at once."""
    chunks = [tasks[first : first + chunk] for first in range(0, len(tasks), chunk)]
    sent = [pool.submit(_tried, one) for one in chunks]
    parts = zip(chunks, sent, strict=True)
    return (pair for part, one in parts for pair in zip(part, one.result(), strict=True))


_FUNCTION: list[Callable[[Any], Any]] = []
"""The function of a worker for each of its tasks."""


def _begin(function: Callable[[Any], Any]) -> None:
    """Take the function, and make a worker end with the program, however that ends."""
    _FUNCTION.append(function)
    follow_the_program()


def follow_the_program() -> None:
    """Make this process, a worker, end with the program, however that ends, and nothing else."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends it to every process
    Thread(target=_end_with_the_program, daemon=True).start()


def _end_with_the_program() -> None:
    """Wait for the end of the program, which may be killed, and end at once."""
    from multiprocessing import parent_process

    program = parent_process()
    if program is not None:
        program.join()
        os._exit(1)


def _tried(tasks: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Return answers, each empty if the function fails: not every error can be sent."""
    (function,) = _FUNCTION
    found: list[tuple[Any, ...]] = []
    for task in tasks:
        try:
            found.append((function(task),))
        except Exception:  # the program does this task again, and raises
            found.append(())
    return found
