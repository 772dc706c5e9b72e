"""Independent work on several cores: the only user of processes.

Workers start afresh on every platform, import what their function needs, and take tasks in turn;
answers come back in the order of the tasks, so that nothing depends on how many there are.

May import `dse.errors`.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TypeVar

from dse.errors import DseError

Task = TypeVar("Task")
Answer = TypeVar("Answer")

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
    function: Callable[[Task], Answer], tasks: Sequence[Task], count: int
) -> Iterator[Iterator[Answer]]:
    """Yield an iterator over ``function(task)`` for each task, done by `count` processes.

    Processes end with the block, whether their work is done or not.

    Parameters
    ----------
    function
        Of a module, or a `functools.partial` of one: workers find it by its name.
    tasks
        What a worker can be sent, like the answers: plain data, arrays, records.
    count
        As `processes` returns it; 1 is this process.

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
    pool = ProcessPoolExecutor(count, mp_context=get_context("spawn"), initializer=_begin)
    chunk = -(-len(tasks) // (8 * count))
    sent = pool.map(partial(_tried, function), tasks, chunksize=chunk)
    pairs = zip(tasks, sent, strict=True)
    try:
        # a task that fails is done again here, where it fails as it does without workers
        yield (answer for task, found in pairs for answer in found or (function(task),))
    except BrokenProcessPool as error:
        rule = f"one of {count} processes was ended before its work was done"
        raise DseError(f"{rule}; was memory short? --jobs 1 needs the least") from error
    finally:
        for child in active_children():
            if child.pid not in others:
                child.terminate()
        pool.shutdown(cancel_futures=True)


def _begin() -> None:
    """Let a worker end at once, and without a word, when the program is interrupted."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _tried(function: Callable[[Task], Answer], task: Task) -> tuple[Answer, ...]:
    """Return the answer of a worker, or nothing where it fails: not all that fails can be sent."""
    try:
        return (function(task),)
    except Exception:  # the program does this task again, and tells
        return ()
