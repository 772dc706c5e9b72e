"""Figures of the papers: every one can be drawn, and shows what the models say."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dse.contract.papers import Mark, Panel, Region, Series
from dse.errors import UnknownPluginError
from dse.objectives.catalogue import table5
from dse.objectives.roofline.model import EnergyRoofline
from dse.reproduction import figures, sheets
from dse.reproduction.study_runner import StudyRunner

WANTED = {
    "cores": (1, 3, 4, 5, 7, 8, 9, 11, 12),
    "logca": (3, 4, 5, 6, 7, 8, 9, 10, 11),
    "roofline": (1, 5, 6, 7),
}
NAMES = [f"{paper}-{number}" for paper, numbers in WANTED.items() for number in numbers]
UNITLESS = {"design"}


@pytest.fixture(scope="module")
def panels() -> dict[str, tuple[Panel, ...]]:
    laboratory = StudyRunner()
    return {one.name: tuple(one.draw(laboratory)) for one in figures.select_figures("all")}


def test_all_figures_are_there_in_the_order_of_their_papers(panels) -> None:
    assert list(panels) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_every_figure_can_be_drawn(name: str, panels, tmp_path: Path) -> None:
    """Warnings are errors here, so a missing glyph or an empty legend fails."""
    png, svg = sheets.draw_sheet(name, panels[name], tmp_path, "a paper")
    assert min(png.stat().st_size, svg.stat().st_size) > 5_000


@pytest.mark.parametrize("name", NAMES)
def test_every_series_is_finite_and_as_long_in_x_as_in_y(name: str, panels) -> None:
    for series in (series for panel in panels[name] for series in panel.series):
        assert 0 < len(series.x) == len(series.y)
        numbers = (series.y,) if series.style == "bars" else (series.x, series.y)
        assert all(np.isfinite(np.asarray(part, dtype=float)).all() for part in numbers)


@pytest.mark.parametrize("name", NAMES)
def test_axes_carry_units(name: str, panels) -> None:
    for panel in panels[name]:
        for label in (panel.x_label, panel.y_label):
            assert label in UNITLESS or label.endswith("]"), label


def test_equal_panels_give_equal_files(panels, tmp_path: Path) -> None:
    (tmp_path / "again").mkdir()
    first, second = (
        [path.read_bytes() for path in sheets.draw_sheet("cores-5", panels["cores-5"], at, "a")]
        for at in (tmp_path, tmp_path / "again")
    )
    assert first == second


def test_marks_stand_where_the_speedup_is_1_and_half_the_acceleration(panels) -> None:
    (panel,) = panels["logca-3"]
    (speedup, *_) = panel.series
    at = {mark.label: mark.x for mark in panel.marks}
    device = table5.logca("ultrasparc_t2", "aes")
    assert at == {"$g_1$": device.break_even(), "$g_{A/2}$": device.half_acceleration()}
    read_off = np.exp(np.interp(np.log([*at.values()]), np.log(speedup.x), np.log(speedup.y)))
    assert read_off == pytest.approx([1.0, 19 / 2], rel=1e-3)


def test_regions_of_ultrasparc_t2_are_those_the_paper_names(panels) -> None:
    """Section 3.2: oC up to 2 KB, then with A; overhead and index up to 32 KB; A to 32 MB."""
    (panel,) = panels["logca-6"]
    kib = 1024.0
    assert [(region.label, region.low, region.high) for region in panel.regions] == [
        ("oC", 16.0, pytest.approx(2 * kib)),
        ("oCA", pytest.approx(2 * kib), pytest.approx(32 * kib)),
        ("A", pytest.approx(32 * kib), pytest.approx(32 * kib * kib)),
    ]


def test_use_cases_show_the_instances_and_clock_of_the_paper(panels) -> None:
    """Section IV-C: 39 u1 down to 3 u16; u1 at 29 MHz, that is 34 ns, in the set-top box."""
    fast, slow = panels["cores-5"]
    assert [mark.label for mark in fast.marks] == ["39", "35", "20", "10", "5", "3"]
    assert slow.marks[0].label == "34 ns"


def test_regimes_meet_at_the_balances(panels) -> None:
    from dse.objectives.catalogue import platforms

    titan = next(one for one in platforms if one.name == "gtx_titan")
    balances = EnergyRoofline.of(titan).lower_balance, EnergyRoofline.of(titan).upper_balance
    memory, cap, compute = panels["roofline-5"][0].series
    assert (memory.x[-1], compute.x[0]) == balances == (cap.x[0], cap.x[-1])


def test_47_mobile_gpus_are_up_to_1_6_times_as_fast(panels) -> None:
    titan, many, _ = panels["roofline-1"][0].series
    assert np.max(np.divide(many.y, titan.y)) == pytest.approx(1.6, abs=0.05)


def test_a_panel_of_bars_marks_and_regions_can_be_drawn(tmp_path: Path) -> None:
    bars = Panel(
        title="",
        x_label="design",
        y_label="power [W]",
        series=(Series(label="power", x=("a", "b"), y=(1.0, 2.0), style="bars"),),
        marks=(Mark(label="3", x=1.0, y=2.0),),
    )
    curves = Panel(
        title="",
        x_label="size [B]",
        y_label="speedup [times]",
        series=(Series(label="speedup", x=(1.0, 2.0**20), y=(1e-7, 3e5)),),
        marks=(Mark(label="here", x=64.0), Mark(label="there", x=64.0, y=1.0)),
        regions=(Region(label="o", low=0.0, high=64.0), Region(label="", low=64.0, high=np.inf)),
        x_scale="log2",
        y_scale="log",
    )
    for path in sheets.draw_sheet("both", (bars, curves), tmp_path, "a paper"):
        assert path.stat().st_size > 0


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownPluginError) as error:
        figures.select_figures("logca-33")
    assert str(error.value).startswith("'logca-33' is not a known figure; did you mean 'logca-3'")
