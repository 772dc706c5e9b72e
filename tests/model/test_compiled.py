"""Machine code: the same losses and flags, bit by bit, as numpy gives for a tape."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.plausible import text
from dse.model.front import nondominated_by
from dse.model.problem import Problem
from dse.model.space import Block, Boxes
from dse.study import study
from dse.study.overrides import at_value, sweep_of
from tests.conftest import problem_of
from tests.model.test_tape import CRYPTO, SHIPPED, STUDY, changed, direct, some

kernel = pytest.importorskip(
    "dse.model.tape.kernel", reason="needs the extra `fast`", exc_type=ImportError
)


table = sys.modules["dse.model.tape.operations"]


def agree(problem: Problem, points: Block | Boxes) -> int:
    """Hold machine code against the functions; return how many candidates there are."""
    expected = direct(problem, points)
    rows = np.flatnonzero(expected.feasible)
    losses = expected.loss[rows]
    for pivots in (losses[:0], losses[:: max(1, len(losses) // 5)]):
        found = problem.candidates(points, pivots)
        assert found is not None
        assert found.count == len(rows)
        assert np.array_equal(found.feasible(), expected.feasible)
        kept = nondominated_by(losses, pivots)
        assert np.array_equal(found.rows, rows[kept])
        assert found.loss.tobytes() == losses[kept].tobytes()
    return len(rows)


def parts(problem: Problem, seed: int) -> list[Block | Boxes]:
    """Return blocks and boxes; single designs anywhere are boxes, too."""
    rows, *_, boxes, first, last = some(problem, seed)
    assert isinstance(rows, np.ndarray)
    single = Boxes((1,) * len(problem.sizes), rows)
    return [one for one in (single, boxes, first, last) if not isinstance(one, np.ndarray)]


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_shipped_studies_have_the_same_losses_and_flags(path: Path) -> None:
    found = study.read_study(path)
    sweep = sweep_of(found)
    problem = study.prepare(at_value(found, sweep, 0) if sweep else found).problem
    assert sum(agree(problem, points) for points in parts(problem, 0))


@pytest.mark.parametrize("seed", range(25))
def test_random_studies_have_the_same_losses_and_flags(seed: int, write) -> None:
    problem = problem_of(write(text(seed)))
    for points in parts(problem, seed):
        agree(problem, points)


def real(area):
    none = np.where(area > 3e-7, np.nan, area)
    least = np.maximum(np.minimum(none, 1e-7), np.minimum(1e-8, none))
    return np.where(np.isnan(least), 7.0, least)


WAYS = {
    "choices": lambda area, **_: np.where((area > 1e-7) & ~(area > 2e-7), area, 2 * area),
    "no number on the way": lambda area, **_: real(area),
    "a negative zero": lambda area, **_: np.minimum(area * -0.0, area * 0.0) + area * -0.0,
    "the greater zero": lambda area, **_: np.maximum(area * -0.0, area * 0.0),
    "whole numbers": lambda area, **_: np.floor(area * 1e9) + np.ceil(area * 1e8) + np.rint(area),
    "powers": lambda area, **_: area**2 + area**0.5 + area**1,
    "a clip": lambda area, **_: np.clip(area, 1e-8, 1e-7),
    "flags as numbers": lambda area, **_: (area > 1e-7) + np.abs(-area) * (area < 2e-7),
    "nothing finite": lambda area, **_: np.where(np.isfinite(1 / (area * 0)), area, -area),
    "not fused": lambda area, **_: area * area * 1e7 + area * 3.3 - area,
}


@pytest.mark.parametrize("how", WAYS)
def test_every_operation_gives_the_same_bits(how: str, write) -> None:
    problem = changed(write(STUDY.replace("area <=", "fleet_area <=")), WAYS[how])
    assert sum(agree(problem, points) for points in parts(problem, 0))


ROUNDED_OTHERWISE = {
    "numpy.exp": lambda area, **_: np.exp(-area),
    "numpy.power": lambda area, **_: area**3.3,
    "area_m2": lambda area, **_: area * 2.0 if np.mean(area) > 1e-7 else area,
}


@pytest.mark.parametrize("reason", ROUNDED_OTHERWISE)
def test_what_is_rounded_otherwise_is_left_to_numpy_and_said(reason: str, write) -> None:
    path = write(STUDY.replace("area <=", "fleet_area <="))
    problem = changed(path, ROUNDED_OTHERWISE[reason])
    points = parts(problem, 0)[0]
    assert problem.uncompiled == ""
    assert problem.candidates(points, np.empty((0, 2))) is None
    assert problem.uncompiled == reason


def test_a_loss_that_is_no_number_is_left_to_numpy(write) -> None:
    problem = changed(
        write(STUDY.replace("area <= 1 mm2, ", "")),
        lambda area, **_: np.where(area > 4e-7, np.inf, area),
    )
    assert problem.candidates(parts(problem, 0)[0], np.empty((0, 2))) is None


def test_an_operation_that_is_wrong_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    operations: dict[object, Callable[..., object]] = dict(table.ARITHMETIC)
    operations[np.minimum] = operations[np.maximum]
    monkeypatch.setattr(table, "ARITHMETIC", operations)
    problem = replace(problem_of(CRYPTO))
    with pytest.raises(AssertionError):
        agree(problem, parts(problem, 0)[1])


def test_a_block_is_evaluated_along_the_axis_that_fills_registers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Another kernel is compiled only where it saves half of the work."""
    problem = problem_of(SHIPPED[-1])  # sizes 6, 40, 6, 8, 7, 8, 5
    asked: list[int] = []
    write_kernel = kernel.Writer

    def writer(layout, varied):
        asked.append(varied)
        return write_kernel(layout, varied)

    monkeypatch.setattr(kernel, "Writer", writer)
    for counts in ((1, 40, 6, 8, 7, 8, 5), (1, 36, 6, 8, 7, 8, 5), (1, 2, 6, 8, 7, 8, 5)):
        ranges = tuple((0, count) for count in counts)
        agree(problem, Block(problem.sizes, ranges))
    assert asked == [1 << 1, 1 << 3]
