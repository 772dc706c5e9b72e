"""Axes whose values depend on another axis: designs are pairs that there are, and no others."""

from __future__ import annotations

from pathlib import Path

import pytest

import dse
from dse.errors import MeasurementError, StudyError
from dse.model import beforehand

STUDY = """
axes:
  unroll: [1, 2, 4]
  tile: {of: unroll, values: {"1": [1, 2], "2": {from: 2, to: 4}, "4": 8}}
  clock: [100 MHz, 200 MHz]
  style: {of: clock, values: {0.1 GHz: [slim, wide], 200 MHz: wide}}
evaluate: {outputs: {area: um2, time: ns}}
objectives: {area: minimise, time: minimise}
"""
TILES = {1: {1, 2}, 2: {2, 3, 4}, 4: {8}}
DESIGNS = {
    (unroll, tile, clock, style)
    for unroll, tiles in TILES.items()
    for tile in tiles
    for clock, style in ((100, "slim"), (100, "wide"), (200, "wide"))
}


class Counted:
    """Measures designs, and is interrupted at one too many."""

    def __init__(self, most: int = 1000) -> None:
        self.calls: list[tuple[int, int, int, str]] = []
        self.most = most

    def __call__(self, unroll: int, tile: int, clock: float, style: str) -> dict[str, float]:
        if len(self.calls) == self.most:
            raise KeyboardInterrupt
        self.calls.append((unroll, tile, round(clock / 1e6), style))
        return {"area": unroll * tile + (style == "wide"), "time": 1e9 / clock / unroll / tile}


@pytest.mark.parametrize("method", ["exact", "gaussian", "nsga2", "tpe", "random"])
def test_pairs_that_there_are_are_measured_and_no_others(tmp_path: Path, method: str) -> None:
    counted, budget = Counted(), None if method == "exact" else 12
    assert "leave 18 of 60 designs" in dse.load(STUDY, evaluate=counted).summary()
    run = tmp_path / "run"
    result = dse.run(STUDY, evaluate=counted, method=method, budget=budget, out=run, plots=False)
    assert set(counted.calls) <= DESIGNS
    assert len(set(counted.calls)) == len(counted.calls) == (budget or len(DESIGNS))
    assert result.manifest["exact"] == (method == "exact")
    assert dse.verify(run, trials=100).holds


@pytest.mark.parametrize("most", [5, 20])
def test_of_large_spaces_the_pairs_are_joined_to_a_pool_unless_they_are_too_many(
    most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(beforehand, "COUNTED", most)
    counted = Counted()
    study = dse.load(STUDY, evaluate=counted)
    assert ("a pool of 18 designs" in study.summary()) == (most == 20)
    dse.run(STUDY, evaluate=counted, method="exact", budget=60)
    assert set(counted.calls) == DESIGNS


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("of: unroll", "of: style"), r"'style'; it depends on an axis .* stands above it"),
        (('"4": 8', '"3": 8'), r"axes\.tile\.values: it has no values where unroll is 4"),
        (('"4": 8', '"4": slim'), r"axes\.tile: the values have different kinds of unit"),
        (('"4": 8', '"4.0": 8, "4": 9'), r"axes\.tile\.values\.4: .* stands twice"),
        (("0.1 GHz", "100 ns"), r"axes\.style\.values\.100 ns: it is no value of clock"),
        (("axes:", "axes:\n  workload.rate: {of: unroll, values: {a: 1}}"), "that `evaluate`"),
        (("8}}", "8}, only: 7}"), r"axes\.tile: it is never 7"),
        (('"4": 8', '"4": {from: 1, to: 999998}'), r"more than 1,000,000 values in all"),
    ],
)
def test_a_fault_says_what_to_write(change: tuple[str, str], message: str) -> None:
    assert STUDY.count(change[0]) == 1
    with pytest.raises(StudyError, match=message):
        dse.load(STUDY.replace(*change), evaluate=Counted())


def test_both_axes_may_be_fixed_or_swept(tmp_path: Path) -> None:
    study = dse.load(STUDY, evaluate=Counted())
    assert "leave 9 of 20 designs" in study.with_({"unroll": 2}).summary()
    assert "note: tile: unroll is never 4" in study.with_({"unroll": [1, 2]}).summary()
    assert "leave 6 of 12 designs" in study.with_({"tile": 2}).summary()
    counted, swept = Counted(), STUDY.replace("objectives", "sweep: {tile: [2, 8]}\nobjectives")
    dse.run(swept, evaluate=counted, out=tmp_path / "run", plots=False)
    assert set(counted.calls) == {design for design in DESIGNS if design[1] in {2, 8}}


def test_a_design_is_named_by_both(tmp_path: Path) -> None:
    dse.run(STUDY, evaluate=Counted(), out=tmp_path / "run", plots=False)
    design = "unroll=2 tile=3 clock=200 MHz style=wide"
    assert "7 um2" in str(dse.evaluate(tmp_path / "run", design=design))
    with pytest.raises(MeasurementError, match="axes alone rule it out"):
        dse.explain(tmp_path / "run", design.replace("tile=3", "tile=8"))


def test_designs_that_share_a_measurement_count_once() -> None:
    text = """
workload: {rate: 1 Gbit/s, granularity: 4 KiB}
interface: {device: sparc_t4_engine}
stages: [{core: des, instances: {from: 1, to: 8}}]
axes:
  depth: [1, 2]
  burst: {of: depth, values: {"1": [1, 2], "2": [4, 32]}}
  interface.in_flight: [1, 2, 4]
evaluate: {outputs: {wait_time: ns}}
objectives: {area: minimise, wait_time: minimise}
constraints: [depth * burst <= 32]
"""
    study = dse.load(text, evaluate=lambda depth, burst: {"wait_time": burst / depth})
    assert "rules on axes alone leave 432 of 1,152 designs" in study.summary()
    assert "up to 3 designs" in study.summary()  # of 8 combinations of depth and burst
