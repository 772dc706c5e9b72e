"""What `dse check` says beforehand: the refusals of a run, in its words."""

from __future__ import annotations

import numpy as np
import pytest

from dse import search
from dse.errors import TooLargeError
from dse.model.problem import Problem
from dse.model.space import as_index, one_block
from dse.search import SearchSettings
from dse.search.exact import alike
from dse.search.exact.compose import Rehearsal
from dse.search.exact.partial import NotComposedError, stage_parts
from tests.conftest import STUDIES, problem_of, run_dse

CHAIN = """workload: {rate: 100 Gbit/s}
stages:
STAGES
objectives: {area: minimise, power: minimise}
"""
UNBOUNDED = """stages:
  - {core: des, name: a, fleet: mixed, instances: {from: 0, to: 20}}
  - {core: des, name: b, fleet: mixed, instances: {from: 0, to: 20}}
objectives: {area: minimise, throughput: maximise}
"""


def chain(write, count: int, said: str = "instances: least", last: str = "") -> Problem:
    stages = [f"  - {{core: des, name: s{number}, {said}}}" for number in range(count)]
    return problem_of(write(CHAIN.replace("STAGES", "\n".join(stages) + last)))


def refusal(of, problem: Problem, method: str) -> str:
    with pytest.raises(TooLargeError) as caught:
        of(problem, SearchSettings(method=method))
    return str(caught.value)


@pytest.mark.parametrize("method", ["exact", "compose"])
def test_a_chain_with_too_many_equal_designs_is_refused_alike(write, method) -> None:
    """24 stages: the fleets of one design of the front stand in more than 200 000 orders."""
    problem = chain(write, 24)
    said = refusal(search.rehearse, problem, method)
    assert said == refusal(search.run_search, problem, method)
    assert "designs of equal objective values are too many" in said
    assert search.rehearse(chain(write, 14), SearchSettings(method=method))


@pytest.mark.parametrize("method", ["exact", "compose"])
def test_too_many_partial_designs_are_refused_alike(write, method) -> None:
    problem = problem_of(write(UNBOUNDED))
    said = refusal(search.rehearse, problem, method)
    assert said == refusal(search.run_search, problem, method)
    assert "composition would hold" in said
    assert search.rehearse(problem, SearchSettings(method="nsga2"))


def test_what_takes_longer_to_tell_is_said_to_be_open(write, monkeypatch) -> None:
    monkeypatch.setattr(Rehearsal, "most_bounded", 10)
    path = write(UNBOUNDED)
    assert not search.rehearse(problem_of(path), SearchSettings())
    found = run_dse("check", str(path))
    assert found.returncode == 0
    assert "whether this front can be proven shows only when the study runs" in found.stdout


@pytest.mark.parametrize("name", sorted(path.stem for path in STUDIES.glob("*.yaml")))
def test_what_runs_is_not_refused(name) -> None:
    assert search.rehearse(problem_of(STUDIES / f"{name}.yaml"), SearchSettings())


def test_orders_are_counted_of_stages_that_are_alike(write, monkeypatch) -> None:
    """Four stages with two fleets, twice each, stand in 4! / (2! 2!) = 6 orders."""
    problem = chain(write, 4)
    parts = tuple(stage_parts(problem))
    counted = []
    monkeypatch.setattr(alike, "require_few", counted.append)
    alike.check_alike(problem, parts, np.array([[2, 2, 2, 2], [1, 3, 1, 3], [5, 3, 3, 3]]))
    assert counted == [6 * alike.PARTIAL]
    unlike = chain(write, 3, last="\n  - {core: des, name: other, clock: 0.5, instances: least}")
    counted.clear()
    every = as_index(one_block(unlike.sizes))[:500]
    alike.check_alike(unlike, tuple(stage_parts(unlike)), every)
    assert all(count <= 6 * alike.PARTIAL for count in counted)


def test_orders_that_are_not_equal_are_no_reason(write, monkeypatch) -> None:
    """The first stage reads and the last one writes, so that their order counts."""

    def refuse(count: int) -> None:
        raise NotComposedError("too many")

    monkeypatch.setattr(alike, "require_few", refuse)
    table = "design,area_um2,clock_mhz,cycles_per_task,payload_bit,power_mw,read_byte\n"
    write(table + "a,100,500,1,128,1,16\nb,100,500,1,128,1,64\n", "t.csv")
    stages = [f"  - {{table: t.csv, name: s{number}, instances: least}}" for number in range(4)]
    text = CHAIN.replace("STAGES", "\n".join(stages)).replace("100 Gbit/s", "10 Gbit/s")
    text = text.replace("power: minimise", "memory_byte_per_bit: minimise")
    problem = problem_of(write(text))
    alike.check_alike(problem, tuple(stage_parts(problem)), np.array([[0, 1, 0, 1]]))
