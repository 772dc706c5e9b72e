"""Figures of the papers: every one can be drawn, and shows what the models say."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from matplotlib.axes import Axes

from dse.objectives.catalogue import platform_called
from dse.objectives.logca.paper.devices import logca
from dse.objectives.roofline.model import EnergyRoofline
from dse.papers import figures, sheets
from dse.papers.study_runner import StudyRunner
from dse.reports.drawing import drawing, save_figure

WANTED = {
    "cores": (1, 3, 4, 5, 7, 8, 9, 11, 12),
    "logca": (3, 4, 5, 6, 7, 8, 9, 10, 11),
    "roofline": (1, 5, 6, 7),
}
NAMES = [f"{paper}-{number}" for paper, numbers in WANTED.items() for number in numbers]


@pytest.fixture(scope="module")
def drawn() -> dict[str, sheets.Picture]:
    laboratory = StudyRunner()
    with drawing():
        every = figures.select_figures()
        return {one.name: sheets.sheet_of(one, laboratory) for one in every}


def curves(axes: Axes) -> dict[str, np.ndarray]:
    lines, labels = axes.get_legend_handles_labels()
    return {label: line.get_xydata() for line, label in zip(lines, labels, strict=True)}


def test_all_figures_are_there_in_the_order_of_their_papers(drawn) -> None:
    assert list(drawn) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_every_figure_can_be_drawn(name: str, drawn, tmp_path: Path) -> None:
    """Warnings are errors here, so a missing glyph or an empty legend fails."""
    with drawing():
        png, svg = save_figure(drawn[name], tmp_path / name)
    assert min(png.stat().st_size, svg.stat().st_size) > 5_000


@pytest.mark.parametrize("name", NAMES)
def test_every_panel_shows_finite_points_and_carries_units(name: str, drawn) -> None:
    for axes in drawn[name].axes:
        assert axes.lines or axes.patches
        for line in axes.lines:
            assert np.isfinite(line.get_xydata()).all()
        for label in (axes.get_xlabel(), axes.get_ylabel()):
            assert label == "design" or label.endswith("]"), label


@pytest.mark.parametrize("name", NAMES)
def test_what_has_one_label_has_one_colour(name: str, drawn) -> None:
    found = {
        (line.get_label(), line.get_color()) for axes in drawn[name].axes for line in axes.lines
    }
    labels = [label for label, _ in found if not label.startswith("_")]
    assert len(labels) == len({*labels})


def test_marks_stand_where_the_speedup_is_1_and_half_the_acceleration(drawn) -> None:
    (axes,) = drawn["logca-3"].axes
    device = logca("ultrasparc_t2", "aes")
    upright = {"$g_1$": device.break_even(), "$g_{A/2}$": device.half_acceleration()}
    at = {text.get_text(): text.xy[0] for text in axes.texts}
    assert at == upright
    x, y = np.log(curves(axes)["speedup"]).T
    assert np.exp(np.interp(np.log([*at.values()]), x, y)) == pytest.approx([1, 9.5], rel=1e-3)


def test_regions_of_ultrasparc_t2_are_those_the_paper_names(drawn) -> None:
    """Section 3.2: oC up to 2 KB, then with A; overhead and index up to 32 KB; A to 32 MB."""
    (axes,) = drawn["logca-6"].axes
    ends = [16, 2 * 1024, 32 * 1024, 32 * 1024**2]
    spans = [(patch.get_x(), patch.get_x() + patch.get_width()) for patch in axes.patches]
    assert spans == [pytest.approx(pair) for pair in pairwise(ends)]
    names = [text.get_text() for text in axes.texts if "$" not in text.get_text()]
    assert names == ["oC", "oCA", "A"]


def test_use_cases_show_the_instances_and_clock_of_the_paper(drawn) -> None:
    """Section IV-C: 39 u1 down to 3 u16; u1 at 29 MHz, that is 34 ns, in the set-top box."""
    fast, slow = drawn["cores-5"].axes
    assert [text.get_text() for text in fast.texts] == ["39", "35", "20", "10", "5", "3"]
    assert slow.texts[0].get_text() == "34 ns"


def test_regimes_meet_at_the_balances(drawn) -> None:
    titan = EnergyRoofline.of(platform_called("gtx_titan"))
    memory, cap, compute = (xy[:, 0] for xy in curves(drawn["roofline-5"].axes[0]).values())
    balances = titan.lower_balance, titan.upper_balance
    assert (memory[-1], compute[0]) == balances == (cap[0], cap[-1])


def test_47_mobile_gpus_are_up_to_1_6_times_as_fast(drawn) -> None:
    titan, many, _ = (xy[:, 1] for xy in curves(drawn["roofline-1"].axes[0]).values())
    assert np.max(many / titan) == pytest.approx(1.6, abs=0.05)
