"""Enumeration by machine code: as asked, or where it pays; the outcome is the same."""

from __future__ import annotations

import sys
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from benchmarks.plausible import text
from dse.errors import DseError, StudyError
from dse.model import tape
from dse.model.problem import Problem
from dse.model.space import blocks
from dse.model.tape.compiled import has_llvmlite
from dse.search import Outcome, SearchSettings, run_search
from dse.search.archive import Archive
from dse.search.exact import enumeration
from dse.study import study
from dse.study.overrides import at_value, sweep_of
from tests.conftest import problem_of
from tests.model.test_tape import CRYPTO, DES, SHIPPED

try:
    import llvmlite as _llvmlite
except ImportError:
    _llvmlite = None  # type: ignore[assignment]
needs_llvmlite = pytest.mark.skipif(_llvmlite is None, reason="needs the extra `fast`")


def outcome(problem: Problem, choice: str, whole: int) -> Outcome:
    """Return the outcome of an enumeration; spaces larger than `whole` are pruned by bounds."""
    archive = Archive(problem, total=problem.size)
    with enumeration.compiling(choice):
        enumeration.enumerate_all(archive, whole=whole)
    return archive.outcome()


def same(one: Outcome, other: Outcome) -> bool:
    """Tell whether everything that two searches say is the same."""
    pairs = ((getattr(one, field.name), getattr(other, field.name)) for field in fields(one))
    return all(np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b for a, b in pairs)


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return how many designs machine code evaluated, call by call."""
    found: list[int] = []
    candidates = Problem.candidates

    def counting(self, points, pivots):
        result = candidates(self, points, pivots)
        found.append(0 if result is None else len(points))
        return result

    monkeypatch.setattr(Problem, "candidates", counting)
    return found


@needs_llvmlite
@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_shipped_studies_have_the_same_outcome(path: Path, counted: list[int]) -> None:
    found = study.read_study(path)
    sweep = sweep_of(found)
    problem = study.prepare(at_value(found, sweep, 0) if sweep else found).problem
    if problem.size > 10**12:
        pytest.skip("its front is composed: too much to enumerate")
    assert same(outcome(problem, "yes", 0), outcome(problem, "no", 0))
    if problem.size < 1_000_000:
        assert same(outcome(problem, "yes", problem.size), outcome(problem, "no", problem.size))
    assert sum(counted)


@needs_llvmlite
def test_random_studies_have_the_same_outcome(write, counted: list[int]) -> None:
    small = 0
    for seed in range(40):
        problem = problem_of(write(text(seed)))
        if problem.size <= 300_000:
            small += 1
            assert same(outcome(problem, "yes", 0), outcome(problem, "no", 0))
    assert small > 5
    assert sum(counted)


@needs_llvmlite
def test_machine_code_begins_where_much_is_left(
    counted: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is left is counted after one part in `SLICE`; time is never asked."""
    problem = problem_of(CRYPTO)
    monkeypatch.setattr(enumeration, "blocks", lambda sizes, _: blocks(sizes, 2_000))
    never = outcome(problem, "auto", problem.size)
    assert not counted
    monkeypatch.setattr(enumeration, "WORTH", 100_000)
    assert same(outcome(problem, "auto", problem.size), never)
    settled = problem.size - sum(counted)
    assert problem.size / enumeration.SLICE <= settled < problem.size / enumeration.SLICE + 2_000


def test_what_bounds_rule_out_is_not_counted_as_left(monkeypatch: pytest.MonkeyPatch) -> None:
    archive = Archive(problem_of(DES), total=1)  # of 8e6 designs
    monkeypatch.setattr("dse.model.tape.compiled.has_llvmlite", lambda: True)
    archive.evaluated, archive.pruned = 40_000, 960_000
    monkeypatch.setattr(enumeration, "WORTH", 300_000)
    assert not enumeration.worth(archive)
    monkeypatch.setattr(enumeration, "WORTH", 250_000)
    assert enumeration.worth(archive)


def test_without_llvmlite_only_who_asks_for_it_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("kernel", "operations"):
        monkeypatch.delitem(sys.modules, f"dse.model.tape.{name}", raising=False)
        monkeypatch.delattr(tape, name, raising=False)
    monkeypatch.setitem(sys.modules, "llvmlite.binding", None)
    monkeypatch.setattr(enumeration, "WORTH", 0)
    has_llvmlite.cache_clear()
    problem = problem_of(CRYPTO)
    automatic = run_search(problem, SearchSettings(method="enumerate"))
    assert same(automatic, run_search(problem, SearchSettings(method="enumerate", compiled="no")))
    with pytest.raises(DseError) as refused:
        run_search(problem, SearchSettings(compiled="yes"))
    assert str(refused.value) == (
        "search.compiled: yes needs llvmlite, which is not installed; "
        'pip install "accel-dse[fast]", or write search.compiled: no'
    )
    has_llvmlite.cache_clear()


def test_another_choice_is_refused() -> None:
    with pytest.raises(StudyError, match="compiled must be auto, yes or no"):
        SearchSettings(compiled="always")
