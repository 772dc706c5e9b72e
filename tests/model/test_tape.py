"""The tape: the same numbers, bit by bit, as the functions give that it was traced from."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from benchmarks.plausible import text
from dse.algebra.expression import TOLERANCE
from dse.errors import ContractError
from dse.model.evaluation import Evaluation
from dse.model.graph import wire
from dse.model.problem import Problem
from dse.model.space import Block, Boxes, Points, blocks
from dse.model.tape import run, taped
from dse.model.tape.layout import TABLE, Layout, members
from dse.model.tape.taped import Taped, traced, valued
from dse.study import study
from dse.study.overrides import at_value, sweep_of
from tests.conftest import ROOT, problem_of

CRYPTO, DES = (ROOT / "studies" / f"{name}_100gbps.yaml" for name in ("crypto_interface", "des"))
SHIPPED = [*sorted((ROOT / "studies").glob("*.yaml")), ROOT / "benchmarks" / "fine_grid.yaml"]

STUDY = """\
stages: [{core: des, instances: {from: 1, to: 200}}, {core: fft, instances: {from: 1, to: 40}}]
objectives: {area: minimise, throughput: maximise}
constraints: [area <= 1 mm2, throughput >= 1 Gbit/s]
"""


def direct(problem: Problem, points: Points) -> Evaluation:
    """Evaluate designs with the functions themselves."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Taped, "evaluate", lambda *_: None)
        return problem.evaluate(points)


def on_tape(problem: Problem, points: Points) -> Evaluation:
    """Evaluate designs with the tape, however few they are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(taped, "WORTH", 0)
        assert problem._taped.evaluate(points) is not None
        return problem.evaluate(points)


def agree(problem: Problem, points: Points) -> None:
    expected, found = direct(problem, points), on_tape(problem, points)
    assert found.loss.tobytes() == expected.loss.tobytes()
    assert found.violation.tobytes() == expected.violation.tobytes()
    assert np.array_equal(found.feasible, expected.feasible)


def some(problem: Problem, seed: int = 0) -> list[Points]:
    """Return random rows, a block of which some axes are cut, and boxes of a problem."""
    random = np.random.default_rng(seed)
    sizes = np.array(problem.sizes)
    rows = random.integers(0, sizes, size=(1_000, len(sizes)))
    steps = np.ones_like(sizes)  # boxes have several values of three axes
    wide = random.permutation(len(sizes))[:3]
    steps[wide] = np.minimum(random.integers(1, 4, size=len(wide)), sizes[wide])
    boxes = Boxes(tuple(steps.tolist()), random.integers(0, sizes - steps + 1, (77, len(sizes))))
    cut = [*islice(blocks(problem.sizes, 30_000), 40)]
    return [rows, rows[:1], rows[:0], boxes, cut[0], cut[-1]]


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_shipped_studies_have_the_same_losses_and_violations(path: Path) -> None:
    found = study.read_study(path)
    sweep = sweep_of(found)
    problem = study.prepare(at_value(found, sweep, 0) if sweep else found).problem
    for points in some(problem):
        agree(problem, points)
    tape = traced(problem)
    assert tape is not None
    if path.stem != "platforms_power_bound":  # np.select
        behind_pcie = "pcie_packet_byte_per_s" in problem.graph.quantities
        looks_at_numbers = {"pcie_packet_byte_per_s"} if behind_pcie else set()
        assert tape.opaque.keys() <= looks_at_numbers


@pytest.mark.parametrize("seed", range(25))
def test_random_studies_have_the_same_losses_and_violations(seed: int, write) -> None:
    problem = problem_of(write(text(seed)))
    for points in some(problem, seed):
        agree(problem, points)


def changed(path: Path, how: Callable[..., object], name: str = "area_m2") -> Problem:
    """Return the problem of a study of which a function's columns pass through another."""
    problem = problem_of(path)
    quantities = problem.graph.quantities
    function = quantities[name].function

    def wrapped(**columns: object) -> object:
        return how(function(**columns), **columns)

    wrapped.__name__ = name
    wrapped.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
    graph = wire(
        dict(quantities) | {name: replace(quantities[name], function=wrapped)},
        problem.graph.inputs,
    )
    return replace(problem, graph=graph)


def reduced(area, fleet_area_m2=None, **columns):
    return np.maximum(np.minimum(area, 1e-7), np.where(area > 2e-8, area * 3, 1))


def branching(area, **_):
    return area * 2.0 if np.mean(area) > 1e-7 else area


def swallowing(area, **_):
    try:
        return area if (area > 1e-7).all() else area + 1.0
    except (AttributeError, TypeError):
        return area - 1.0


def of_an_array(area, **_):
    return area * 2.0 if isinstance(area, np.ndarray) else area


def in_place(area, **_):
    found = area * 1.0
    found += 1.0
    return found


def strict(area, **_):
    with np.errstate(divide="raise"):
        try:
            return 1.0 / (area * 0.0)
        except FloatingPointError:
            return area


def rooted(area, **_):
    return np.array([float(one) ** 0.5 for one in np.ravel(area)]).reshape(np.shape(area))


WAYS = {
    "a number": (lambda area, **_: 7, False),
    "a column of one": (lambda area, **_: np.ones(1), False),
    "a boolean": (lambda area, **_: area > 1e-7, False),
    "whole numbers": (lambda area, **_: np.rint(area * 1e9) // 7 % 5, False),
    "a negative zero": (lambda area, **_: area * -0.0, False),
    "choices and limits": (reduced, False),
    "a clip": (lambda area, **_: np.clip(area, 1e-8, 1e-7), False),
    "powers": (lambda area, **_: area**2 + area**0.5 + 2.0**area + area**3.3, False),
    "functions": (lambda area, **_: np.exp(-area) * np.log1p(area) + np.hypot(area, 1e-7), False),
    "no number for some": (lambda area, **_: np.where(area > 1e-6, np.inf, area), False),
    "filled": (lambda area, **_: np.ones_like(area) + np.zeros_like(area > 1), False),
    "a branch on numbers": (branching, True),
    "a refusal swallowed": (swallowing, True),
    "a look at the type": (of_an_array, True),
    "in place": (in_place, True),
    "numbers as errors": (strict, True),
    "one by one": (rooted, True),
}


@pytest.mark.parametrize("how", WAYS)
def test_a_function_is_traced_or_called_and_right(how: str, write) -> None:
    function, is_opaque = WAYS[how]
    problem = changed(write(STUDY.replace("area <=", "fleet_area <=")), function)
    rows = some(problem)[0]
    agree(problem, rows)
    tape = traced(problem)
    assert tape is not None
    assert ("area_m2" in tape.opaque) is is_opaque
    if is_opaque:
        assert tape.opaque["area_m2"]


def test_a_design_that_is_no_number_is_named_as_ever(write) -> None:
    path = write(STUDY.replace("area <= 1 mm2, ", ""))
    problem = changed(path, lambda area, **_: np.where(area > 4e-7, np.inf, area))
    rows = some(problem)[0]
    with pytest.raises(ContractError) as expected:
        direct(problem, rows)
    with pytest.raises(ContractError) as found:
        on_tape(problem, rows)
    assert str(found.value) == str(expected.value)


def test_few_designs_are_evaluated_without_a_tape(write, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tracing takes the time of `WORTH` designs, so twice the shorter time is never exceeded."""
    asked: list[int] = []
    monkeypatch.setattr(taped, "traced", lambda problem: asked.append(1))
    problem = problem_of(write(STUDY))
    rows = some(problem)[0]
    calls = taped.WORTH // (len(rows) + taped.CALL)
    for _ in range(calls - 1):
        problem.evaluate(rows)
    assert not asked
    problem.evaluate(rows)
    problem.evaluate(rows)
    assert asked == [1]


def test_what_few_axes_decide_is_not_computed_for_each_design() -> None:
    problem = problem_of(CRYPTO)
    tape = traced(problem)
    assert tape is not None
    layout = Layout(tape, problem.space)
    assert all(len(table.values) <= TABLE for table in layout.tables.values())
    rows = [math.prod(problem.sizes[axis] for axis in members(call.axes)) for call in layout.calls]
    assert min(rows) > TABLE
    assert len(layout.calls) < 0.4 * len(tape.nodes)


def test_operations_that_a_space_makes_the_same_are_left_once() -> None:
    layout = Layout(traced(problem_of(CRYPTO)), problem_of(CRYPTO).space)
    calls = [(call.function, call.arguments) for call in layout.calls]
    assert len(calls) == len(set(calls))


def test_a_tape_takes_other_columns_than_those_of_its_space(write) -> None:
    """Constants are inputs: with a rate of its own, a column gives what another study would."""
    path = write("workload: {rate: 20 Gbit/s}\n" + STUDY)
    problem, other = problem_of(path), problem_of(path, ("workload.rate", "30 Gbit/s"))
    rows = some(problem)[0]
    tape = traced(problem)
    assert tape is not None
    wanted = [goal.name for goal in problem.goals]
    columns = problem.columns(rows, wanted)
    values = valued(tape, columns | {"workload_rate_bit_per_s": np.full(1, 30e9)})
    throughput = other.columns(rows, wanted)["throughput_bit_per_s"]
    assert np.array_equal(np.broadcast_to(-values[tape.loss[1]], (len(rows),)), throughput)


@pytest.mark.parametrize("least", [1, 2, 64, 50_000])
def test_how_many_axes_share_a_dimension_changes_no_number(
    least: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "LONG", least)
    monkeypatch.setattr(run, "_inside", run._inside.__wrapped__)
    problem = problem_of(SHIPPED[-1])
    agree(problem, next(blocks(problem.sizes, 50_000)))


@pytest.mark.parametrize("at_once", [300, 5_000])
def test_blocks_may_end_anywhere(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last part of a block is smaller than the others, whose values it takes over."""
    monkeypatch.setattr(run, "AT_ONCE", at_once)
    random = np.random.default_rng(at_once)
    for path in (CRYPTO, DES, SHIPPED[-1]):
        problem = problem_of(path)
        for _ in range(6):
            counts = np.minimum(problem.sizes, random.integers(1, 9, len(problem.sizes)))
            firsts = random.integers(0, np.array(problem.sizes) - counts + 1)
            ranges = zip(firsts.tolist(), counts.tolist(), strict=True)
            agree(problem, Block(problem.sizes, tuple(ranges)))


def test_equal_within_the_tolerance_is_feasible_on_tape(write) -> None:
    path = write(STUDY.replace("area <= 1 mm2", "area == 41000 um2"))
    problem = changed(
        path, lambda area, **_: np.where(area > 0, 41_000e-12 * (1 + TOLERANCE / 2), 1)
    )
    found = on_tape(problem, some(problem)[0])
    assert (found.violation[:, -2] == 0).all()


def test_a_run_says_which_function_is_not_on_the_tape(write) -> None:
    problem = changed(write(STUDY), branching)
    assert problem.untraced == {}
    on_tape(problem, some(problem)[0])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(taped, "WORTH", 0)
        assert problem.untraced == {"area_m2": "numpy.mean"}
