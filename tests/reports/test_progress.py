"""A line of progress: the count, the size of the front, and an estimate that promises nothing."""

from __future__ import annotations

import numpy as np
import pytest

from dse.api import runs
from dse.reports import progress
from dse.reports.progress import LateBar
from tests.conftest import STUDIES


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


def test_a_line_tells_count_front_and_what_is_left_and_is_never_cut(clock: list[float]) -> None:
    shown = LateBar("designs")
    assert shown.line() == "reading the study ... 0 s"
    clock[0] += 3.0
    assert shown.line() == "reading the study ... 3 s"
    shown(0, 10_000)
    shown.watch(lambda: np.ones((1_200, 4)))
    clock[0] += 10.0
    whole = " 25%  2,500 of 10,000 designs, front of 1,200, 10 s, about 30 s left"
    for word in ("", "wide"):
        shown(2_500, 10_000, *[word] * bool(word))
        assert shown.line() == whole + f", now {word}" * bool(word)
    whole += ", now wide"
    assert shown.line(54) == " 25%  2,500 of 10,000 designs, 10 s, about 30 s left"
    for width in range(4, len(whole)):
        line = shown.line(width)
        assert len(line) <= width
        assert {*line.split(", ")} <= {*whole.split(", ")} | {" 25%"}


def test_what_is_left_follows_the_slower_of_late_and_overall_speed(clock: list[float]) -> None:
    shown = LateBar("designs")
    shown(0, 1_000)
    clock[0] += 10.0
    shown(500, 1_000)
    shown.line()
    for _ in range(progress.WINDOW):
        clock[0] += 0.25
        shown.line()
    assert shown.line() == " 50%  500 of 1,000 designs, 20 s"  # nothing came: no promise
    shown(510, 1_000)
    assert shown.line().endswith("left")


def test_a_search_tells_its_count_and_its_front() -> None:
    shown = LateBar("designs")
    path = STUDIES / "crypto_interface_100gbps.yaml"
    found = runs.run(path, method="random", budget=1_000, progress=shown)
    assert f", front of {len(found.front)}, " in shown.line()


def test_nothing_is_drawn_where_there_is_no_terminal(capfd: pytest.CaptureFixture[str]) -> None:
    with progress.bar("designs") as shown:
        shown(1, 2)
        shown.doing("writing")
    assert capfd.readouterr() == ("", "")
