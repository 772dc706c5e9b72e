"""Counts of values are known before the values are listed; too many are refused in words."""

from __future__ import annotations

import tracemalloc
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from dse.errors import StudyError, TooLargeError
from dse.model.space import Axis
from dse.search import SearchSettings, check_search
from dse.study import study, tables
from dse.study.study import Study
from tests.conftest import Write

TABLE = "design,area_um2,clock_hz,cycles_per_block,power_mw\n"
STUDY = """\
workload: {rate: 40 Gbit/s}
stages:
  - {table: t.csv, values: {payload: 128 bit}}
objectives: {area: minimise, power: minimise}
"""
MIB = 2**20
UNITS = "widen the step, or give `points`; are all units right, GHz and Hz for instance?"


def prepared(write: Write, more: str, rows: int = 2, clock: float = 900e6) -> Study:
    """Return the study of a table whose designs have a clock, with more in its stage."""
    path = write(STUDY.replace("128 bit}", f"128 bit}}{more}"))
    lines = (f"d{row},{2650 + row},{clock},176,{0.6 + row}\n" for row in range(rows))
    (path.parent / "t.csv").write_text(TABLE + "".join(lines))
    return study.prepare(study.read_study(path))


CASES = {  # what a stage says besides, rows of its table, their clock in Hz, what the user reads
    "GHz under clock_hz": (
        ", fleet: mixed",
        (2, 0.9),
        "3:48: stages.0.fleet: 'mixed'; d0 at 0.9 Hz carries 0.6545 bit/s; 6.1e+10 of them would "
        "be needed for 40 Gbit/s; is its clock in GHz, and the rate right? write the unit, or "
        "give `instances` a range",
    ),
    "few counts too many of each": (
        ", fleet: mixed",
        (60, 6e5),
        "3:48: stages.0.fleet: 'mixed'; 60 designs have 5,500,080 counts in all, more than "
        "4,000,000; are their clocks in GHz? write the unit, or give `instances` a range",
    ),
    "an axis for each row": (
        ", fleet: mixed, instances: [0, 1]",
        (1001, 900e6),
        "3:48: stages.0.fleet: 'mixed'; each of 1,001 designs would be an axis, and a mixed stage "
        "takes 1,000; choose some by `parameters`, or leave `fleet: mixed` out for one design in "
        "each fleet",
    ),
    "a range up to GHz": (
        ", instances: {from: 1, to: 4000000000}",
        (2, 900e6),
        "3:48: stages.0.instances: the range has 4,000,000,000 values, more than 1,000,000; "
        + UNITS,
    ),
    "a small step": (
        ", clock: {from: 0.1, to: 1, step: 1e-300}",
        (2, 900e6),
        "3:48: stages.0.clock: the range has some 9e+299 values, more than 1,000,000; " + UNITS,
    ),
    "a step that underflows": (
        ", clock: {from: 0.1, to: 1, step: 1e-320}",
        (2, 900e6),
        "3:48: stages.0.clock: the range has some inf values, more than 1,000,000; " + UNITS,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_too_many_values_are_refused_before_they_are_listed(
    case: str, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    more, (rows, clock), expected = CASES[case]
    monkeypatch.setattr(tables, "TABLE_BYTE", MIB)  # a buffer to read the table into
    tracemalloc.start()
    try:
        with pytest.raises(StudyError) as caught:
            prepared(write, more, rows, clock)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert str(caught.value).partition("study.yaml:")[2] == expected
    assert peak < 30 * MIB


def test_a_heuristic_that_would_take_more_memory_than_it_may_is_refused_beforehand() -> None:
    problem: Any = SimpleNamespace(sizes=(2,) * 700, size=2**700, constraint_names=())
    settings = SearchSettings(method="nsga2", budget=20_000, memory_byte=200 * MIB)
    expected = (
        "nsga2 needs 223 MiB for 20,000 designs of 700 axes; search.memory is 200 MiB; lower "
        "search.budget or raise search.memory"
    )
    with pytest.raises(TooLargeError) as caught:
        check_search(problem, settings)
    assert str(caught.value) == expected
    check_search(problem, SearchSettings(method="nsga2", budget=17_000, memory_byte=200 * MIB))


@pytest.mark.parametrize("step", [1, 2, 3, 7, 10, 64])
def test_the_ends_of_cells_are_the_least_and_largest_values(step: int) -> None:
    random = np.random.default_rng(step)
    columns = {
        "rising": np.sort(random.random(50)),
        "falling": -np.sort(random.random(50)),
        "equal": np.ones(50),
        "any": random.random(50),
    }
    axis = Axis("a", columns, [str(n) for n in range(50)])
    for name, values in columns.items():
        low, high = axis.cell_ends(name, step)
        cells = [values[first : first + step] for first in range(0, 50, step)]
        assert low.tolist() == [cell.min() for cell in cells]
        assert high.tolist() == [cell.max() for cell in cells]
