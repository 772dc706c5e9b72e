"""Which answer is best where, over two numbers: each point against a search there."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from matplotlib.colors import to_hex

import dse
from dse import search
from dse.algebra import units
from dse.errors import UnitError
from dse.model.labels import labelled_line
from dse.parametric import decision_map, plots
from dse.parametric.decision_map import (
    AnswerInterval,
    DecisionMap,
    MapRow,
    continue_map,
    find_map,
)
from dse.parametric.flips import NOTHING_FITS
from dse.reports.drawing import FILLS
from dse.search.settings import Budget
from dse.study import study
from dse.study.overrides import override

STUDY = """
question: Which cores, behind which link?
workload: {rate: 20 Gbit/s, granularity: 1500 B}
stages: [{core: des, designs: [u8, u16], instances: {from: 1, to: 3}}]
axes:
  interface.device: [sparc_t4_engine, sparc_t4_instruction]
  interface.in_flight: [1, 4, 16]
objectives: {total_power: minimise, area: minimise}
"""
RANGES = ("rate=5..80Gbps", "granularity=256B..16KiB")


@pytest.fixture(scope="module")
def whole() -> DecisionMap:
    return find_map(study.read_study(STUDY), RANGES, by=["device"])


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a map have no more rows than it begins with, but one."""
    monkeypatch.setattr(decision_map, "MOST_ROWS", 10)


def test_the_host_alone_is_an_answer_of_its_own(few, write) -> None:
    """Where no link carries the rate the host does: that is no infeasible place."""
    text = STUDY.replace("1500 B}", "1500 B, kernel: fft64}").replace(
        "core: des, designs: [u8, u16]", "core: fft"
    )
    text = text.replace(
        "axes:", "interface: {link: 4 GB/s, host_cores: 64, host_power: 640 W}\naxes:"
    )
    found = find_map(study.read_study(write(text)), ("rate=5..80Gbps", RANGES[1]), by=["device"])
    assert "the host alone" in found.shares
    assert "no feasible design" not in found.shares


def test_each_point_of_a_row_is_what_a_search_answers(whole: DecisionMap) -> None:
    found = whole
    assert len(found.shares) > 1
    assert sum(found.shares.values()) == pytest.approx(1.0, abs=1e-3)
    random = np.random.default_rng(1)
    for row in random.choice(np.array(found.rows, dtype=object), 5):
        for name, one in zip(row.names, row.intervals, strict=True):
            rate = float(np.exp(random.uniform(np.log(one.low), np.log(one.high))))
            given = [
                ("workload.rate", f"{rate!r} bit/s"),
                ("workload.granularity", f"{row.value!r} B"),
            ]
            at = study.prepare(override(found.study.document, given))
            front = search.run_search(at.problem, at.settings).front_index
            devices = {axis.name: axis for axis in at.problem.space.axes}["interface.device"]
            place = [axis.name for axis in at.problem.space.axes].index("interface.device")
            best = at.preference.order(at.problem, front)[:1]
            texts = [devices.labels[int(k)] for k in front[best, place]]
            assert [name] == (texts or ["no feasible design"]), (row.value, rate)


def test_a_bound_is_a_number_like_any_other_and_named_as_it_is_written(few, write) -> None:
    bounded = f'{STUDY}constraints: ["area <= 1 mm2"]\n'
    ranges = (RANGES[0], "area <= 1 mm2=0.01..1mm2")
    found = find_map(study.read_study(write(bounded)), ranges, by=["device"])
    least, most = found.rows[0], found.rows[-1]
    assert {*least.names} == {"no feasible design"}
    assert "no feasible design" not in most.names[:1]
    assert plots.titled("area <= 1 mm2", "mm2") == "area at most [mm2]"
    assert plots.titled("des.u16.clock", "GHz") == "clock of des.u16 [GHz]"


def test_rows_are_closer_where_answers_differ_and_a_budget_ends_them(whole: DecisionMap) -> None:
    document = study.read_study(STUDY)
    values = [row.value for row in whole.rows]
    assert values == sorted(set(values))
    assert (values[0], values[-1]) == (256.0, 16384.0)
    gaps = np.diff(np.log(values))
    differ = [
        one.names != other.names for one, other in zip(whole.rows, whole.rows[1:], strict=False)
    ]
    assert gaps[np.array(differ)].max() < gaps.max()
    with pytest.raises(dse.errors.TooLargeError, match="not even the first row is known"):
        find_map(document, RANGES, budget=Budget(seconds=1e-9))
    with pytest.raises(UnitError, match=r"both ranges are of workload\.rate"):
        find_map(document, ("rate=1..2Gbps", "rate=1..2Gbps"))


def test_a_map_goes_on_where_it_ended(whole: DecisionMap, monkeypatch) -> None:
    """With the rows of one that ended early it becomes the same as in one go."""
    document = study.read_study(STUDY)
    begun: list[int] = []
    with monkeypatch.context() as patch:
        patch.setattr(decision_map, "MOST_ROWS", 11)
        early = find_map(
            document, RANGES, by=["device"], progress=lambda done, _: begun.append(done)
        )
    assert begun == [*range(1, 12)]
    begun.clear()
    again = continue_map(early, progress=lambda done, _: begun.append(done))
    assert begun == [*range(12, len(whole.rows) + 1)]
    assert again.to_dict() == whole.to_dict()


def test_a_row_says_what_its_answers_take_at_both_ends(whole: DecisionMap) -> None:
    """Where one takes over from another that is feasible, both take the same."""
    for row in whole.rows:
        for one, other in zip(row.intervals, row.intervals[1:], strict=False):
            assert NOTHING_FITS in (one.name, other.name) or (one.ends[1] and other.ends[0])
    goals = [goal.name for goal in whole.study.problem.goals]
    one = whole.rows[3].intervals[0]
    given = {
        "workload.rate": f"{one.high!r} bit/s",
        "workload.granularity": f"{whole.rows[3].value!r} B",
    }
    at = study.prepare(override(whole.study.document, [*given.items()]))
    front = search.run_search(at.problem, at.settings)
    assert one.ends[1][goals.index("total_power_w")] == pytest.approx(front.front_loss[:, 0].min())


def test_a_map_asks_by_default_for_the_device(few) -> None:
    assert find_map(study.read_study(STUDY), RANGES).by == ("interface.device",)
    assert find_map(study.read_study(STUDY), RANGES, counts=True).by == ()


def test_what_is_not_known_is_hatched_and_the_rest_is_joined(whole: DecisionMap) -> None:
    regions = plots._regions(whole)
    area = sum(
        (math.log(d / a) + math.log(c / b)) / 2 * math.log(h / lo)
        for shapes in regions.values()
        for (a, lo), (d, _), (c, h), (b, _) in shapes
    )
    (low, high), (bottom, top) = whole.ranges
    assert area == pytest.approx(math.log(high / low) * math.log(top / bottom))
    assert ("" in regions) == bool(whole.unknown)
    for row in whole.rows:  # intervals end a step of rounding apart
        for one, other in pairwise(row.intervals):
            assert row.at(math.sqrt(one.high * other.low)) in (one.name, other.name)


def test_regions_are_named_inside_and_the_study_and_its_borders_are_marked(whole) -> None:
    figure = plots.map_figure(whole)
    (axes,), legends = figure.axes, figure.legends
    assert figure.get_figwidth() / figure.get_figheight() == pytest.approx(16 / 9)
    inside = {text.get_text(): text.get_position() for text in axes.texts}
    below = {text.get_text() for legend in legends for text in legend.get_texts()}
    shown = {name: labelled_line(name, whole.study.problem.labels) for name in whole.shares}
    assert {*shown.values()} <= {*inside, *below}
    assert {*shown.values()} & {*inside}
    for name in (name for name in whole.shares if shown[name] in inside):
        rate, size = np.array(inside[shown[name]]) * plots._map_scales(axes, whole)
        row = min(whole.rows, key=lambda row: abs(row.value - size))
        assert row.at(rate) == name
    (star,) = (line for line in axes.lines if line.get_marker() == "*")
    assert np.concatenate(star.get_data()) == pytest.approx([20, 1500 / 1024])
    row = min(whole.rows, key=lambda row: abs(math.log(row.value / 1500)))
    dots = [line.get_xdata()[0] for line in axes.lines if line.get_marker() == "o"]
    assert dots == pytest.approx([one.high / 1e9 for one in row.intervals[:-1]])
    goals = whole.goals
    prices = [units.show(one.ends[1][0], goals[0]) for one in row.intervals[:-1] if one.ends[1]]
    assert goals[0] == "total_power_w"
    assert {*prices} <= {*inside}


def test_answers_have_the_colours_of_their_places_on_a_page(whole: DecisionMap) -> None:
    shown = [labelled_line(name, whole.study.problem.labels) for name in whole.shares]
    order = ["absent", *reversed(shown)]
    regions = plots.map_figure(whole, order).axes[0].collections
    drawn = {to_hex(one.get_facecolor()[0]).upper() for one in regions if not one.get_hatch()}
    assert drawn - {"#FFFFFF"} == {FILLS[order.index(one)] for one in {*shown} - {NOTHING_FITS}}


def test_a_map_is_drawn_and_written(few, write, tmp_path: Path) -> None:
    found = dse.decision_map(write(STUDY), *RANGES)
    plots.save_map(found, tmp_path / "map")
    lines = (tmp_path / "map" / "map.csv").read_text(encoding="utf-8").splitlines()
    ends = "total_power_w_at_from,area_m2_at_from,total_power_w_at_to,area_m2_at_to"
    assert lines[0] == f"workload.granularity_byte,from_bit_per_s,to_bit_per_s,answer,{ends}"
    assert {one for row in found.rows for one in row.names} == set(found.shares)
    assert len(lines) == 1 + sum(len(row.intervals) for row in found.rows)
    assert (tmp_path / "map" / "map.png").stat().st_size > 5_000
    facts = found.to_dict()
    assert facts["unfinished"] is None
    assert [row["second_byte"] for row in facts["rows"]] == [row.value for row in found.rows]


def test_a_row_has_an_answer_in_the_gap_between_intervals_and_none_beyond() -> None:
    intervals = AnswerInterval(1.0, 2.0, "a", ""), AnswerInterval(3.0, 4.0, "b", "")
    row = MapRow(1.0, intervals)
    assert [row.at(value) for value in (1.0, 2.0, 2.5, 4.0, 5.0)] == ["a", "a", "b", "b", ""]
