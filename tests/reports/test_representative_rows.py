"""Of a large front those designs are shown that tell most of it, always the same ones."""

from dataclasses import replace

import numpy as np
import pytest

from dse.reports import front_text, plots
from dse.reports.front_text import representative_rows
from tests.reports.test_plots import make, swept


def test_all_of_a_small_front_is_shown():
    assert representative_rows(make(15), 15).tolist() == list(range(15))


def test_the_recommended_and_the_best_come_first():
    view = make(100, objectives=4)  # row 50 is recommended; 0 and 99 have all the best values
    assert representative_rows(view, 1).tolist() == [50]
    assert representative_rows(view, 3).tolist() == [0, 50, 99]


def test_then_those_farthest_from_all_before():
    line = {"area_m2": np.arange(101.0), "power_w": -np.arange(101.0)}
    view = replace(make(0), front=line)
    assert representative_rows(view, 3).tolist() == [0, 50, 100]
    assert representative_rows(view, 5).tolist() == [0, 25, 50, 75, 100]


@pytest.mark.parametrize("objectives", [2, 3, 4])
def test_each_choice_is_the_farthest_by_brute_force(objectives):
    view = make(60, objectives)
    goals = [view.front[name] for name, _ in view.objectives]
    goals = [np.log(v) if v.max() > 100 * v.min() > 0 else v for v in goals]
    points = np.stack([(v - v.min()) / np.ptp(v) for v in goals], axis=1)
    for most in range(6, 20):
        before, after = (
            set(representative_rows(view, most).tolist()),
            set(representative_rows(view, most + 1)),
        )
        (new,) = after - before
        far = [min(np.linalg.norm(points[r] - points[b]) for b in before) for r in range(60)]
        assert far[int(new)] == pytest.approx(max(far), rel=1e-9)


def test_a_long_range_is_spread_by_its_logarithm_and_a_sweep_by_its_values():
    view = swept(1000)
    values = view.front["workload.granularity_byte"][representative_rows(view, 9)]
    steps = np.diff(np.log(values))
    assert steps.max() < 4 * steps.min()


def test_equal_designs_are_shown_once_each():
    front = {name: np.ones(30) for name in make(2).front}
    view = replace(make(30), front=front)
    assert len(set(representative_rows(view, 15).tolist())) == 15


def test_of_very_many_designs_some_are_looked_at(monkeypatch):
    view = make(5000)
    monkeypatch.setattr(front_text, "MOST_CANDIDATES", 200)
    rows = representative_rows(view, 20)
    assert len(set(rows.tolist())) == 20
    assert {0, 2500, 4999} <= set(rows.tolist())
    assert rows.tolist() == representative_rows(view, 20).tolist()


def legend_of(figure):
    """The legend, below all panels or in a free cell."""
    (legend,) = (*figure.legends, *filter(None, (axes.get_legend() for axes in figure.axes)))
    return legend


@pytest.mark.parametrize(("objectives", "panels"), [(2, 1), (3, 3)])
def test_a_picture_has_so_many_points_and_says_so(objectives, panels):
    figure = plots._figure(make(5000, objectives, cloud=0))
    drawn = [len(marks.get_offsets()) for axes in figure.axes for marks in axes.collections]
    assert sum(drawn) == panels * (plots.MOST_FRONT_POINTS + 1)  # and the ring
    title = " ".join(legend_of(figure).get_title().get_text().split())
    assert title == f"2,000 of 5,000 designs drawn: {front_text.RULE}"
    small = plots._figure(make(2000, objectives, cloud=0))
    assert legend_of(small).get_title().get_text() == ""
