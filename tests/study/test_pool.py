"""A pool: a table of the designs that may be measured, and no others."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import dse
from dse.errors import StudyError

Row = tuple[int, int, int, str]
EVERY = [*itertools.product((1, 2, 4, 8), (1, 2, 4, 8, 16), (100, 200, 400), ("slim", "wide"))]
POOL: list[Row] = [EVERY[row] for row in np.random.default_rng(1).permutation(len(EVERY))[:32]]
KEPT = {row for row in POOL if row[0] * row[1] <= 64 and row[2] <= 200}
STUDY = """
designs: pool.csv
evaluate: {outputs: {area: um2, time: ns}}
objectives: {area: minimise, time: minimise}
constraints: [unroll * tile <= 64, clock <= 200 MHz]
"""


class Counted:
    """Measures designs, and is interrupted when it is asked for one too many."""

    def __init__(self, most: int = 1000) -> None:
        self.calls: list[Row] = []
        self.most = most

    def __call__(self, unroll: int, tile: int, clock: float, style: str) -> dict[str, float]:
        if len(self.calls) == self.most:
            raise KeyboardInterrupt
        self.calls.append((unroll, tile, round(clock / 1e6), style))
        return {"area": unroll * tile + (style == "wide"), "time": 1e9 / clock / unroll}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Return a study beside its pool, of which one row stands twice."""
    lines = [",".join(map(str, row)) for row in [*POOL, POOL[0]]]
    text = "\n".join(["unroll,tile,clock [MHz],style", *lines, ""])
    (tmp_path / "pool.csv").write_text(text, encoding="utf-8")
    (tmp_path / "study.yaml").write_text(STUDY, encoding="utf-8")
    return tmp_path / "study.yaml"


def test_a_check_says_how_many_designs_of_a_pool_are_left(place: Path) -> None:
    said = dse.load(place, evaluate=Counted()).summary()
    assert f"a pool of 32 designs, of which rules leave {len(KEPT)}" in said


@pytest.mark.parametrize("method", ["exact", "gaussian", "nsga2", "tpe", "random"])
def test_designs_of_the_pool_are_measured_and_no_others(place: Path, method: str) -> None:
    counted, run = Counted(), place.with_name("run")
    budget = None if method == "exact" else 12
    result = dse.run(place, evaluate=counted, method=method, budget=budget, out=run)
    assert set(counted.calls) <= KEPT
    assert len(set(counted.calls)) == len(counted.calls) == (budget or len(KEPT))
    assert result.manifest["exact"] == (method == "exact")
    assert dse.verify(run).holds
    assert dse.answer(run).to_dict()["answer"]["choices"]["unroll"] in (1, 2, 4, 8)


@pytest.mark.parametrize("method", ["exact", "gaussian"])
def test_a_run_of_a_pool_that_was_cut_goes_on_to_the_same_end(place: Path, method: str) -> None:
    whole = dse.run(place, evaluate=Counted(), method=method, out=place.with_name("whole"))
    run, first, rest = place.with_name("run"), Counted(7), Counted()
    with pytest.raises(KeyboardInterrupt):
        dse.run(place, evaluate=first, method=method, out=run, plots=False)
    found = dse.run(place, evaluate=rest, method=method, out=run, plots=False, resume=True)
    assert found.front.equals(whole.front)
    assert not set(first.calls) & set(rest.calls)
    assert len(first.calls) + len(rest.calls) == whole.manifest["evaluated"]


def test_a_pool_may_be_a_speck_of_the_product_of_its_columns(tmp_path: Path) -> None:
    """4 000 rows of 10^12 combinations."""
    drawn = np.random.default_rng(2).integers(100, size=(4000, 6))
    rows = {*map(tuple, drawn.tolist())}
    names = [f"a{place}" for place in range(6)]
    lines = [",".join(names), *(",".join(map(str, row)) for row in sorted(rows)), ""]
    (tmp_path / "pool.csv").write_text("\n".join(lines), encoding="utf-8")
    study = tmp_path / "study.yaml"
    text = STUDY.replace("constraints: [unroll * tile <= 64, clock <= 200 MHz]\n", "")
    study.write_text(text, encoding="utf-8")
    asked: list[tuple[float, ...]] = []

    def figures(**design: float) -> dict[str, float]:
        asked.append(tuple(design[name] for name in names))
        return {"area": 1 + design["a0"] + design["a1"], "time": 100 - design["a0"]}

    result = dse.run(study, evaluate=figures, budget=40)
    assert result.manifest["method"] == "gaussian"
    assert len(asked) == 40
    assert set(asked) <= rows


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (lambda text: f"{text}axes: {{a: [1, 2]}}\n", "the rows of `designs` are all designs"),
        (lambda text: text.replace("pool.csv", "pol.csv"), "there is no file .*'pool.csv'"),
        (lambda text: text.replace("pool.csv", "{table: pool.csv}"), "write `designs: pool.csv`"),
    ],
)
def test_a_fault_says_what_to_write(
    place: Path, changes: Callable[[str], str], message: str
) -> None:
    place.write_text(changes(STUDY), encoding="utf-8")
    with pytest.raises(StudyError, match=message):
        dse.load(place, evaluate=Counted())


def test_units_stand_in_the_header(place: Path) -> None:
    place.with_name("pool.csv").write_text("unroll,tile,clock,style\n1,1,100 MHz,slim\n")
    with pytest.raises(StudyError, match=r"call it 'clock \[MHz\]', and write only numbers"):
        dse.load(place, evaluate=Counted())


@pytest.mark.parametrize("clock", ["-1", "0"])
def test_what_no_clock_can_be_is_not_measured(place: Path, clock: str) -> None:
    place.with_name("pool.csv").write_text(f"unroll,tile,clock [MHz],style\n1,1,{clock},slim\n")
    text = r"pool.csv:2:5.* a clock .*leave the cell empty if it was not measured"
    with pytest.raises(StudyError, match=text):
        dse.load(place, evaluate=Counted())
