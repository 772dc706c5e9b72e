"""Two runs side by side: what changed, what came, what went, and what moved."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

import dse
from dse.audit.diff import ComparedFronts, RunComparison, changes, compare_runs
from dse.errors import DseError
from dse.files.document import parse_document
from tests.conftest import Write

STUDY = """\
# Which?
workload: {rate: 20 Gbit/s, granularity: 4 KiB}
stages:
  - core: des
    instances: {from: 1, to: 9}
interface: {}
axes:
  interface.device: [sparc_t4_engine, sandy_bridge, apu]
  interface.in_flight: [1, 2, 4]
objectives: {area: minimise, total_power: minimise}
constraints: [host_cores <= 4]
"""


@pytest.fixture
def compared(write: Write, tmp_path: Path) -> Callable[..., RunComparison]:
    """Return a function that runs the study twice, overridden, and compares the runs."""

    def compare(
        before: Mapping[str, str], after: Mapping[str, str], text: str = STUDY, **options: Any
    ) -> RunComparison:
        path = write(text)
        dse.run(path, out=tmp_path / "a", overrides=before)
        dse.run(path, out=tmp_path / "b", overrides=after, **options)
        return compare_runs(tmp_path / "a", tmp_path / "b")

    return compare


def designs(point: ComparedFronts, kind: str) -> set[str]:
    return {entry.design for entry in point.kinds[kind]}


def test_a_run_does_not_differ_from_itself(compared: Callable[..., RunComparison]) -> None:
    found = compared({}, {})
    (point,) = found.points
    assert not found.changes
    assert not point.differences
    assert point.designs[0] == point.designs[1] == point.designs[2] > 1
    assert "the studies assume the same" in found.text()


def test_the_text_of_a_small_difference(tmp_path: Path) -> None:
    for folder, rate in (("a", "100 Gbps"), ("b", "73 Gbps")):
        fields = {"workload.rate": rate, "des.designs": "[u8, u16]"}
        dse.run("studies/des_100gbps.yaml", out=tmp_path / folder, overrides=fields)
    text = compare_runs(tmp_path / "a", tmp_path / "b").text()
    assert text.partition("\n\n")[2] == (
        """\
what changed:
  workload.rate: 100 Gbps -> 73 Gbps

2 designs on the first front, 1 on the second, 0 on both

gained  area        power
────────────────────────────
2 u16   0.1155 mm2  18.22 mW

lost          area        power
──────────────────────────────────
1 u8 + 2 u16  0.1497 mm2  25.76 mW
3 u16         0.1733 mm2  25.25 mW"""
    )


def test_a_design_with_other_numbers_has_moved(compared: Callable[..., RunComparison]) -> None:
    found = compared({}, {"interface.host_power": "300 W", "interface.host_cores": "10"})
    (point,) = found.points
    assert point.kinds["moved"]
    for entry in point.kinds["moved"]:
        assert entry.before["area_m2"] == entry.after["area_m2"]
        assert entry.before["total_power_w"] != entry.after["total_power_w"]


def test_an_axis_that_is_fixed_leaves_the_designs_what_they_are(
    compared: Callable[..., RunComparison],
) -> None:
    (point,) = compared({}, {"interface.device": "sandy_bridge"}).points
    assert point.designs[2] > 0
    assert all("sandy_bridge" not in design for design in designs(point, "lost"))


def test_a_field_written_in_its_section_is_the_axis_with_that_value(
    write: Write, tmp_path: Path
) -> None:
    other = STUDY.replace("  interface.in_flight: [1, 2, 4]\n", "")
    other = other.replace("interface: {}", "interface: {in_flight: 2}")
    dse.run(write(STUDY), out=tmp_path / "a")
    dse.run(write(other), out=tmp_path / "b")
    found = compare_runs(tmp_path / "a", tmp_path / "b")
    assert [change.text for change in found.changes] == ["interface.in_flight: 1, 2, 4 -> 2"]
    assert found.points[0].designs[2] > 0


def test_a_stage_is_called_what_its_columns_are() -> None:
    text = 'stages: [{table: "my cores.csv", instances: 1}]'
    first, second = (parse_document(one, "study.yaml") for one in (text, text.replace("1", "2")))
    assert [change.text for change in changes(first, second)] == ["my_cores.instances: 1 -> 2"]


def test_axes_and_constraints_of_one_study_alone_are_named() -> None:
    text = "axes: {interface.in_flight: [1, 2]}\nconstraints: [area <= 1 mm2]\nbudget: {}\n"
    first, second = (parse_document(one, "study.yaml") for one in ("workload: {}\n", text))
    there = ["budget: not set -> given", "interface.in_flight: not set -> 1, 2"]
    found = [change.text for change in changes(first, second)]
    assert {*there, "constraint area <= 1 mm2 added"} < {*found}
    assert "without area <= 1 mm2" in [change.text for change in changes(second, first)]


def test_sweeps_are_compared_where_their_values_agree(
    compared: Callable[..., RunComparison],
) -> None:
    text = STUDY + "sweep: {workload.rate: [10 Gbps, 20 Gbps, 30 Gbps]}\n"
    after = {"sweep.workload.rate": "[20 Gbps, 30 Gbps, 40 Gbps]", "des.designs": "[u4, u16]"}
    found = compared({}, after, text)
    assert [point.value for point in found.points] == [20e9, 30e9]
    for point in found.points:
        alone = {"workload.rate": f"{point.value} bit/s"}
        (single,) = compared(alone, alone | {"des.designs": "[u4, u16]"}).points
        assert single.differences == point.differences
    assert "1 value of workload.rate only in the first run" in found.notes


def test_a_front_of_a_heuristic_is_said_to_be_one(
    compared: Callable[..., RunComparison],
) -> None:
    found = compared({}, {}, method="random", budget=20)
    (point,) = found.points
    assert point.kinds["lost"]
    assert any("is a heuristic's (random)" in note for note in found.notes)


@pytest.mark.parametrize(
    ("after", "message"),
    [
        (
            {"objectives": "{area: minimise}"},
            "the runs have different objectives: minimise area_m2, ",
        ),
        (
            {"sweep": "{workload.rate: [20 Gbps]}"},
            "sweep different fields: nothing and workload.rate",
        ),
    ],
)
def test_runs_that_cannot_be_compared(
    after: dict[str, str], message: str, compared: Callable[..., RunComparison]
) -> None:
    with pytest.raises(DseError, match=message):
        compared({}, after)
