"""What is held against a front: which designs, and how they compare, against loops."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from dse.audit import challenge
from dse.audit.challenge import dominated_rows, rival_designs, steps, weakly_dominating
from dse.audit.verdict import check_of
from dse.model.problem import Problem
from dse.model.space import Axis, Space


def problem(*sizes: int, ordered: tuple[bool, ...] = ()) -> Problem:
    """A space of axes, ordered unless said otherwise."""
    orders = ordered or (True,) * len(sizes)
    axes = tuple(
        Axis(f"x{number}", {}, tuple(map(str, range(size))), ordered=order)
        for number, (size, order) in enumerate(zip(sizes, orders, strict=True))
    )
    return Problem(Space(axes), (), None, ())  # type: ignore[arg-type]


def listed(index: np.ndarray) -> list[tuple[int, ...]]:
    return [tuple(row) for row in index.tolist()]


def near(of: Problem, design: tuple[int, ...]) -> set[tuple[int, ...]]:
    """Every design one step away."""
    found = set()
    for axis, (size, ordered) in enumerate(zip(of.sizes, of.ordered, strict=True)):
        for value in range(size):
            if value != design[axis] and (not ordered or abs(value - design[axis]) == 1):
                found.add((*design[:axis], value, *design[axis + 1 :]))
    return found


def within_two(of: Problem, front: list[tuple[int, ...]]) -> set[tuple[int, ...]]:
    one = set().union(*(near(of, design) for design in front))
    return one.union(*(near(of, design) for design in one))


def drawn(of: Problem, front: list[tuple[int, ...]], trials: int, seed: int = 0):
    index = np.array(front, dtype=np.int64).reshape(len(front), len(of.sizes))
    return list(rival_designs(of, index, trials, np.random.default_rng(seed)))


@pytest.mark.parametrize("chunk", [1, 3, 65_536])
@pytest.mark.parametrize("trials", [12, 100])
def test_a_small_space_is_tried_whole_and_once(chunk, trials, monkeypatch) -> None:
    monkeypatch.setattr(challenge, "RIVAL_CHUNK", chunk)
    parts = drawn(problem(4, 3), [(0, 0)], trials)
    assert all(len(part) <= chunk for part in parts)
    assert [design for part in parts for design in listed(part)] == [*product(range(4), range(3))]


def test_a_space_without_axes_has_one_design() -> None:
    (only,) = drawn(problem(), [], 1)
    assert only.shape == (1, 0)


@pytest.mark.parametrize("chunk", [7, 65_536])
def test_a_large_space_is_tried_at_random_and_around_the_front(chunk, monkeypatch) -> None:
    monkeypatch.setattr(challenge, "RIVAL_CHUNK", chunk)
    of, front = problem(50, 40, 3, ordered=(True, True, False)), [(0, 0, 0), (20, 39, 2)]
    parts = drawn(of, front, trials=400)
    assert all(part.dtype == np.int64 for part in parts)
    sizes = [len(part) for part in parts]
    count = 1 + np.searchsorted(np.cumsum(sizes), 400)
    assert sum(sizes[:count]) == 400
    random = np.concatenate(parts[:count])
    assert (random >= 0).all()
    assert (random < of.sizes).all()
    assert {0, 49} <= set(random[:, 0]) | {0, 49}
    assert (np.ptp(random, axis=0) > [40, 30, 1]).all()
    after = {design for part in parts[count:] for design in listed(part)}
    one = set().union(*(near(of, design) for design in front))
    assert one <= after <= one | within_two(of, front) | set(front)


def test_few_neighbours_are_tried_to_two_steps_and_many_sampled() -> None:
    of, front = problem(200, 200), [(5, 5), (100, 7), (199, 199)]
    one = set().union(*(near(of, design) for design in front))
    both = within_two(of, front)
    # 3 rows, of 4 steps each: 48 pairs of steps at most, and a quarter of the trials is allowed
    every = drawn(of, front, trials=4 * 48)
    assert {d for part in every[1:] for d in listed(part)} == one | both
    assert len(drawn(of, front, trials=4 * 47)) == 3  # at random, one step, two random steps
    some = drawn(of, front, trials=4 * 20)
    assert len(some) == 3
    walked = set(listed(some[2]))
    assert one == set(listed(some[1]))
    assert walked <= both | one | set(front)
    assert len(walked & (both - one - set(front))) > 5
    assert 10 < len(some[2]) <= 20 < len(both - one)
    assert drawn(of, [], trials=100)[1:] == []


@pytest.mark.parametrize("seed", range(20))
def test_steps_are_those_of_the_definition(seed: int) -> None:
    random = np.random.default_rng(seed)
    of = problem(*random.integers(1, 5, 3), ordered=tuple(random.integers(0, 2, 3).astype(bool)))
    index = random.integers(0, of.sizes, (random.integers(0, 4), 3))
    wanted = set().union(*(near(of, design) for design in listed(index)))
    assert listed(steps(index, of)) == sorted(wanted)


@pytest.mark.parametrize("at_once", [1, 7, 4_000_000])
@pytest.mark.parametrize("seed", range(6))
def test_who_dominates_whom_is_what_the_definition_says(seed, at_once, monkeypatch) -> None:
    monkeypatch.setattr(challenge, "COMPARISONS", at_once)
    random = np.random.default_rng(seed)
    loss = random.integers(0, 4, (12, 3)).astype(float)
    dominates = [[bool((by <= row).all() and (by < row).any()) for by in loss] for row in loss]
    wanted = [(row, by.index(True)) for row, by in enumerate(dominates) if any(by)]
    assert dominated_rows(loss) == wanted
    front = loss[:4]
    for row, by in zip(loss, weakly_dominating(loss, front), strict=True):
        able = [number for number, other in enumerate(front) if (other <= row).all()]
        assert (by in able) if able else by == -1
    assert weakly_dominating(loss, loss[:0]).tolist() == [-1] * 12
    assert dominated_rows(loss[:0]) == []


def test_of_many_faults_the_first_are_told() -> None:
    assert check_of("a", [], "right").text == "right"
    assert check_of("a", ["1", "2", "3"], "right").text == "1; 2; 3"
    assert check_of("a", ["1", "2", "3", "4"], "right").text == "1; 2; 3; and 1 more"
    assert check_of("a", [], "").holds
    assert not check_of("a", ["1"], "").holds
