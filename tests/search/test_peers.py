"""The solvers that benchmarks hold the exact method against get the same problem."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import peers
from benchmarks.methods import Truth
from dse import search
from dse.model.front import nondominated
from dse.search import SearchSettings

SMALL = """\
workload: {rate: 50 Gbps}
stages:
  - {core: des, fleet: mixed, instances: {from: 0, to: 2}, clock: meet}
  - {core: jacobi, fleet: mixed, instances: {from: 0, to: 1}, clock: meet}
objectives: {area: minimise, instances: minimise}
"""


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=20))
def test_epsilon_constraints_find_each_point_of_a_front_once(points):
    def minimise(goal, other, limit):
        kept = [point for point in points if limit is None or point[other] <= limit]
        best = min(kept, key=lambda point: point[goal], default=None)
        return None if best is None else (list(best), best[goal])

    found = [tuple(point) for point in peers.epsilon_front(minimise)]
    loss = np.array(points, dtype=float)
    assert sorted(found) == sorted({points[row] for row in np.flatnonzero(nondominated(loss))})


def rows(solver, text):
    problem = peers.problem_of(text)
    truth = Truth(search.run_search(problem, SearchSettings()).front_loss)
    return peers.solved(solver, problem, truth)


def test_an_integer_program_has_the_same_front():
    assert rows(peers.highs, SMALL)[1:] == ("1.0000", "100%", "proven")
    assert rows(peers.highs, SMALL.replace("instances: min", "power: min"))[-1] == "not linear"


@pytest.mark.parametrize("goal", ["instances", "power"])
def test_a_constraint_program_has_the_same_front(goal):
    pytest.importorskip("ortools")
    text = SMALL.replace("instances: m", f"{goal}: m")
    assert rows(peers.cp_sat, text)[1:] == ("1.0000", "100%", "proven")


def test_what_is_not_installed_is_told(monkeypatch):
    def missing(name):
        raise ModuleNotFoundError(name)

    monkeypatch.setattr(peers, "import_module", missing)
    monkeypatch.setattr(peers, "find_spec", lambda name: None)
    assert rows(peers.cp_sat, SMALL) == ("", "", "", "not installed")
    problem = peers.problem_of(SMALL)
    truth = Truth(np.ones((1, 2)))
    assert peers.platypus(problem, truth) == ("", "", "", "not installed")
