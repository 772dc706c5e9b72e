"""What is asked of a cluster and told by it, whatever a cluster may do."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dse.contract.evaluators import Measurement
from dse.errors import DseError
from dse.measure import attempts
from dse.measure.attempts import Attempt, Cluster
from tests.measure.evaluators import Asks

distributed = pytest.importorskip("distributed", reason="the extra dask is not installed")

GOOD = Measurement(values={"stopped": 0.0})


class Client:
    """A client whose scheduler answers nothing."""

    def __init__(self, status: str = "running") -> None:
        self.status, self.told = status, list[str]()
        self.events: dict[str, list[str]] = {}

    def submit(self, *_: Any, key: str, **options: Any) -> Future:
        return Future(key=key)

    def cancel(self, futures: list[Future]) -> None:
        self.told += [f"cancel {len(futures)}"]

    def close(self, timeout: float) -> None:
        self.told += ["close"]

    def nthreads(self) -> dict[str, int]:
        return {"one": 2, "two": 3}

    def get_events(self, task: str) -> list[str]:
        return self.events.get(task, [])

    def log_event(self, task: str, event: str) -> None:
        self.events.setdefault(task, []).append(event)


class Future:
    """What will be measured, or was."""

    def __init__(self, key: str = "", status: str = "pending", found: object = None) -> None:
        self.key, self.status, self.found = key, status, found

    def add_done_callback(self, call: Any) -> None:
        self.call = call

    def result(self, timeout: float) -> object:
        if isinstance(self.found, Exception):
            raise self.found
        return self.found

    def exception(self) -> object:
        return self.found


def cluster(client: Client | Exception) -> Cluster:
    """Return a cluster that reaches a client."""
    found = Cluster(Asks(), "somewhere")

    def reached(address: str, **options: Any) -> Client:
        assert (address, options["set_as_default"]) == ("somewhere", False)
        if isinstance(client, Exception):
            raise client
        return client

    found.library = SimpleNamespace(Client=reached, KilledWorker=distributed.KilledWorker)
    return found


def attempt(number: int, folder: Path = Path()) -> Attempt:
    return Attempt(number=number, design={}, folder=folder, keep=False)


def test_a_client_is_left_with_the_block() -> None:
    client = Client()
    with cluster(client) as workers:
        assert workers.size == 5
        workers.begin(attempt(0))
        workers.begin(attempt(1))
    assert client.told == ["cancel 2", "close"]
    assert not workers.running


def test_what_ended_is_told_once_and_what_was_dropped_is_not() -> None:
    with cluster(Client()) as workers:
        for number in range(3):
            workers.begin(attempt(number))
        _, second, third = (future for _, future in workers.running.values())
        for future in (second, second, third):
            future.status, future.found = "finished", GOOD
            future.call(future)
        found = [workers.ended(0.0) for _ in range(4)]
        assert found == [[(1, GOOD)], [], [(2, GOOD)], []]
        (first,) = (future for _, future in workers.running.values())
        workers.drop()
        first.call(first)
        assert workers.ended(0.0) == []


def test_a_scheduler_that_is_gone_ends_all() -> None:
    client = Client()
    with cluster(client) as workers:
        workers.begin(attempt(4))
        client.status = "closed"
        with pytest.raises(DseError) as told:
            workers.ended(0.0)
    assert str(told.value) == (
        "no Dask scheduler answers at somewhere: it ended; what was measured until now is kept"
    )
    assert client.told == ["cancel 1", "close"]
    for error in (OSError("x"), TimeoutError("x"), ValueError("x")):
        with pytest.raises(DseError, match="at somewhere: x; what was"), cluster(error):
            pass


def test_what_became_of_an_attempt_is_told_by_how_it_ended() -> None:
    workers = cluster(Client())
    assert workers._result(Future(status="finished", found=GOOD)) == GOOD
    killed = Future(status="error", found=distributed.KilledWorker("t", "w", 3))
    lost = Future(status="finished", found=OSError("x"))
    for one in (killed, lost, Future(status="cancelled"), Future(status="lost")):
        died = workers._result(one)
        assert (died.kind, died.cause) == ("worker", attempts._DIED)
    other = workers._result(Future(status="error", found=ValueError("x")))
    assert (other.kind, other.cause) == (
        "worker",
        "the worker could not measure: ValueError: x",
    )
    with pytest.raises(DseError, match=r"^the disk$"):
        workers._result(Future(status="error", found=DseError("the disk")))


@pytest.mark.parametrize(
    ("state", "stopped"), [("executing", 0.0), ("cancelled", 1.0), (None, 1.0)]
)
def test_a_worker_measures_until_the_scheduler_wants_that_no_more(
    state: str | None, stopped: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, tasks = Client(), {} if state is None else {"task": SimpleNamespace(state=state)}
    worker = SimpleNamespace(state=SimpleNamespace(tasks=tasks))
    monkeypatch.setattr(distributed, "get_client", lambda: client)
    monkeypatch.setattr(distributed, "get_worker", lambda: worker)
    one = attempt(1, tmp_path / "work")
    assert attempts._measure(Asks(), one, "task").values == {"stopped": stopped}
    assert client.events == {"task": ["begun"]}
    again = attempts._measure(Asks(), one, "task")  # the worker before has died of it
    assert (again.kind, again.cause) == ("worker", attempts._DIED)
