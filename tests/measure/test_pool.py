"""Each design is measured as often as it takes, and once more by nobody."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from dse.contract.evaluators import Evaluator, Measurement, Value
from dse.errors import DseError, OutputError
from dse.measure.attempts import Attempt, Threads, measured
from dse.measure.evaluators import FunctionEvaluator
from dse.study.goals import Options
from dse.study.measuring import Working
from tests.measure.evaluators import KEPT, Acts, shell

DOUBLE = "echo double = $(( 2 * {number} ))"


def all_of(
    evaluator: Evaluator, designs: Sequence[Mapping[str, Value]], folder: Path, **others: Any
) -> dict[int, Measurement]:
    workers, retries = others.pop("workers", 2), others.pop("retries", 0)
    crew = Threads(evaluator, workers) if isinstance(workers, int) else workers
    working = Working(KEPT.options if others.pop("keep", True) else Options(), **others)
    found = list(measured(evaluator, designs, crew, working, folder, retries))
    assert len(found) == len({number for number, _ in found})
    return dict(found)


def numbers(count: int, **others: Value) -> list[dict[str, Value]]:
    return [{"number": float(number), **others} for number in range(count)]


def test_one_function_at_once_is_called_in_turn() -> None:
    function = FunctionEvaluator(function=dict, outputs={}, identity="")
    in_turn = [Threads(one, n).in_turn for one in (shell(DOUBLE), function) for n in (1, 2)]
    assert in_turn == [False, False, True, False]


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("kind", ["command", "function"])
def test_results_do_not_depend_on_the_number_of_workers(
    kind: str, workers: int, tmp_path: Path
) -> None:
    evaluator = shell(DOUBLE) if kind == "command" else Acts(counts=str(tmp_path))
    found = all_of(evaluator, numbers(7), tmp_path / "work", workers=workers)
    assert {number: each.values["double"] for number, each in found.items()} == {
        number: 2.0 * number for number in range(7)
    }
    assert {each.attempts for each in found.values()} == {1}
    assert not list((tmp_path / "work").iterdir())


@pytest.mark.parametrize(("fails", "retries"), [(0, 0), (1, 0), (1, 1), (2, 5), (3, 2), (9, 3)])
def test_attempts_are_counted_exactly(fails: int, retries: int, tmp_path: Path) -> None:
    counts = tmp_path / "counts"
    counts.mkdir()
    tally = f"{counts}/{{number}}"
    text = f"echo x >> {tally}; test $(wc -l < {tally}) -gt {fails} && {DOUBLE}"
    found = all_of(shell(text), numbers(3), tmp_path / "work", retries=retries)
    tried = min(fails, retries) + 1
    for number, each in found.items():
        assert each.attempts == tried == len((counts / str(number)).read_text().split())
        assert each.failed == (fails > retries)
        assert Path(each.folder).exists() == each.failed or not each.folder


def test_the_folder_of_a_failure_is_kept_on_request(tmp_path: Path) -> None:
    bad = shell("echo {number} > mine; exit 1")
    for keep in (True, False):
        found = all_of(bad, numbers(3), tmp_path / str(keep), workers=1, keep=keep)
        kept = {number: Path(each.folder) for number, each in found.items() if each.folder}
        assert len(kept) == len(list((tmp_path / str(keep)).iterdir())) == 3 * keep
        mine = [(folder / "mine").read_text() == f"{n}\n" for n, folder in kept.items()]
        assert all(mine)


def test_a_program_that_is_missing_ends_all_at_once(tmp_path: Path) -> None:
    missing = shell("x")
    missing = type(missing)(arguments=["no-such-program"], outputs={}, identity="", beside="")
    with pytest.raises(DseError) as told:
        all_of(missing, numbers(50), tmp_path, retries=9)
    assert str(told.value) == (
        "no-such-program cannot be started: No such file or directory; nothing can be measured"
    )


def test_a_folder_that_cannot_be_made_ends_all(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match="cannot be used: Not a directory"):
        all_of(shell(DOUBLE), numbers(3), tmp_path / "file")


def test_stop_ends_what_runs(tmp_path: Path) -> None:
    begun = tmp_path / "work"
    sleeping = shell("sleep 300")
    assert not all_of(sleeping, numbers(4), begun, stop=lambda: any(begun.glob("*/*")))


@pytest.mark.parametrize("text", [DOUBLE, "exit 1"])
def test_what_has_just_ended_at_a_stop_is_kept_if_it_ended_well(text: str, tmp_path: Path) -> None:
    """A signal may reach what a program has started, too: a failure may be one of the stop."""
    stopped = []

    class Stopped(Threads):
        def ended(self, wait_s: float) -> Sequence[tuple[int, Measurement]]:
            found = super().ended(wait_s)
            stopped.extend(found)
            return found

    with Stopped(shell(text), 1) as workers:
        found = all_of(
            shell(text), numbers(3), tmp_path, workers=workers, stop=lambda: bool(stopped)
        )
    assert [*found] == ([0] if text == DOUBLE else [])


def test_a_caller_that_wants_no_more_ends_what_runs(tmp_path: Path) -> None:
    text = "test {number} = 0 || { touch {number}; sleep 300; }; " + DOUBLE
    text = text.replace("{ ", "{{ ").replace("; }", "; }}")
    crew = Threads(shell(text), 3)
    some: Iterator[object] = measured(shell(text), numbers(3), crew, KEPT, tmp_path, 0)
    assert next(some)
    some.close()  # type: ignore[attr-defined]


class Scripted:
    """Workers whose answers are written down; a clock would make no difference."""

    size = 2

    def __init__(self, *answers: Measurement) -> None:
        self.answers, self.given, self.dropped = list(answers), list[int](), 0
        self.ready = list[int]()

    def __enter__(self) -> Scripted:
        return self

    def __exit__(self, *_: object) -> None:
        raise AssertionError("workers of the caller are left to the caller")

    def begin(self, attempt: Attempt) -> None:
        self.given.append(attempt.number)
        self.ready.append(attempt.number)

    def ended(self, wait_s: float) -> list[tuple[int, Measurement]]:
        return [(self.ready.pop(0), self.answers.pop(0))] if self.ready else []

    def drop(self) -> None:
        self.dropped += 1


def test_attempts_and_their_time_add_up(tmp_path: Path) -> None:
    bad = Measurement(values={}, kind="exit", cause="x", seconds=0.25)
    good = Measurement(values={"double": 1.0}, seconds=0.5)
    workers = Scripted(bad, bad, good)
    found = all_of(Acts(counts=""), numbers(1), tmp_path, workers=workers, retries=2)
    assert (found[0].attempts, found[0].seconds) == (3, 1.0)
    assert found[0].values == {"double": 1.0}
    assert workers.dropped == 1


def test_too_little_memory_is_not_tried_again(tmp_path: Path) -> None:
    bad = Measurement(values={}, kind="memory", cause="x")
    found = all_of(Acts(counts=""), numbers(1), tmp_path, workers=Scripted(bad), retries=5)
    assert (found[0].attempts, found[0].kind) == (1, "memory")


@pytest.mark.parametrize(
    ("act", "kind", "cause"),
    [
        ("raise", "worker", "the evaluator failed: ValueError: no such thing"),
        ("leave", "worker", "the evaluator failed: SystemExit: "),
        ("fill", "memory", "there was too little memory"),
    ],
)
def test_a_poisoned_design_fails_and_the_rest_goes_on(
    act: str, kind: str, cause: str, tmp_path: Path
) -> None:
    designs = numbers(6)
    designs[2] |= {"act": act, "fails": 99.0}
    designs[4] |= {"act": act, "fails": 1.0}
    counts = tmp_path / "counts"
    counts.mkdir()
    acts = Acts(counts=str(counts))
    found = all_of(acts, designs, tmp_path / "work", retries=2)
    bad = found.pop(2)
    tries = 1 if act == "fill" else 3
    assert (bad.kind, bad.cause, bad.attempts) == (kind, cause, tries)
    assert (Path(bad.folder) / "made").exists()
    assert len((counts / "2").read_text()) == tries
    again = found.pop(4)
    assert again.failed if act == "fill" else (again.attempts, again.values["double"]) == (2, 8.0)
    assert {number: each.values["double"] for number, each in found.items()} == {
        number: 2.0 * number for number in (0, 1, 3, 5)
    }
