"""Answers as text: exact for a small front, and never wider than asked for."""

from dataclasses import replace

import numpy as np
import pytest

from dse.reports import plots
from dse.reports.front_text import LINES, SHOWN_RULE, front_text, representative_rows
from dse.reports.front_view import FrontView, Recommended
from dse.reports.text import table_text
from tests.reports.test_plots import make, swept

VIEW = FrontView(
    title="How should a 100 Gbps DES fleet be built?",
    objectives=(("area_m2", "minimise"), ("power_w", "minimise")),
    front={
        "area_m2": np.array([149690e-12, 173304e-12, 180000e-12]),
        "power_w": np.array([25.76e-3, 25.25e-3, 9.5e-3]),
        "interface": np.array(["sparc_t4", "sparc_t4", "pcie"], dtype=object),
        "workload.granularity_byte": np.full(3, 65536.0),
        "bound": np.array(["core", "core", "link"], dtype=object),
    },
    axes=("interface", "workload.granularity_byte"),
    category="bound",
    names=["2 u16 + 1 u8", "3 u16", "1 u16"],
    recommended=Recommended(
        1,
        "3 u16, sparc_t4",
        "the design with the least area",
        {"area_m2": (0.15e-6, 0.2e-6)},
        {"area_m2": ["attachment area"], "power_w": ["buffer energy", "host power"]},
    ),
)
FACTS = {
    "designs": 12_345,
    "evaluated": 4_096,
    "feasible": 345,
    "exact": False,
    "ledger": {"evaluated": 4_096, "unknown": 8_249},
    "method": "nsga2",
    "wall_s": 0.83,
    "hypervolume": 0.61234,
    "hypervolume_share_of_exact": 0.9876,
    "notes": ["des: extrapolated beyond unroll 16"],
}

SUMMARY = """\
How should a 100 Gbps DES fleet be built?

▸ 3 u16, sparc_t4; core-bound
Least area 0.1733 mm2 (0.15 to 0.2 as cores vary); power 25.25 mW without the host (its power is not
  given). Not counted: attachment area; access power.

  design        interface  area [mm2]  power [mW]  bottleneck
─────────────────────────────────────────────────────────────
  2 u16 + 1 u8  sparc_t4       0.1497       25.76  core
▸ 3 u16         sparc_t4       0.1733       25.25  core
  1 u16         pcie           0.1800        9.50  link
all have granularity 64 KiB
12,345 designs, 4,096 evaluated (nsga2, 830 ms), 345 feasible: front of 3 not proven
share of the exact front's hypervolume: 98.76 %; 1 note"""


def grown(count: int) -> FrontView:
    """A front of `count` designs with twenty axes and long names."""
    t = np.linspace(1, 2, count)
    front = {"area_m2": t * 1e-7, "power_w": 1e-2 / t, "bound": np.full(count, "core")}
    axes = {f"workload.axis_{i}_byte": np.arange(count) * (i + 1.0) for i in range(20)}
    names = [f"{i} u16_pipelined_two_stage + 1 u8 -> 3 r{i}" for i in range(count)]
    return replace(
        VIEW,
        front=front | axes,
        axes=tuple(axes),
        names=names,
        recommended=replace(VIEW.recommended, row=count // 2),
    )


def test_the_summary_of_a_small_front():
    assert front_text(VIEW, FACTS, width=100) == SUMMARY


def test_an_exact_front_says_so_and_needs_no_share():
    text = front_text(
        VIEW,
        FACTS | {"exact": True, "evaluated": 12_345, "ledger": {"evaluated": 12_345}},
        width=200,
    )
    assert "12,345 designs, all evaluated, 345 feasible: front of 3 proven complete; 1 note" in text
    assert "exact front's" not in text
    text = front_text(VIEW, FACTS | {"exact": True, "ledger": {"evaluated": 12_345}}, width=200)
    assert "4,096 evaluated, the rest pruned: front of 3 proven" in text


def test_a_sweep_of_methods_names_those_that_prove():
    share = {"hypervolume_share_of_exact": 1.0}
    points = [{"value": "exact", "exact": True, **share}, {"value": "tpe", "exact": False, **share}]
    facts = FACTS | {"sweep": "search.method", "points": points, "certificate": {"designs": 9}}
    assert "feasible: front of 3 proven for exact\n" in front_text(VIEW, facts, width=200)


def test_a_narrow_terminal_has_choices_before_what_follows():
    lines = front_text(VIEW, FACTS, width=50).splitlines()
    assert [line.split() for line in lines[8:10]] == [
        ["area", "power"],
        ["design", "interface", "[mm2]", "[mW]"],
    ]
    narrower = front_text(VIEW, FACTS, width=40)
    interfaces = {str(name) for name in VIEW.front["interface"]}
    assert all(name in narrower for name in interfaces)  # behind the names of designs


@pytest.mark.parametrize("width", [60, 80, 120])
def test_no_line_is_wider_than_asked_for_and_no_number_is_cut(width):
    text = front_text(grown(100), FACTS, width=width)
    assert max(map(len, text.splitlines())) <= width
    assert "…" not in text
    assert "\x1b" not in text


def test_a_long_name_is_broken_and_never_cut():
    long = f"{'aes_of_a_library_' * 3}u16"
    text = front_text(replace(VIEW, names=[f"2 {long}", "3 u16", "1 u16"]), FACTS, width=60)
    table = text.split("─\n")[1].splitlines()
    assert "aes_of_a_library_aes_of_a_library_" in "".join(line[:40] for line in table[:2])
    assert "…" not in text


def test_a_long_front_shows_its_ends_and_the_recommended_in_one_screen():
    view = grown(100)
    text = front_text(replace(view, axes=()), FACTS, width=120)
    assert len(text.splitlines()) == LINES
    assert " of the 100 in front.csv" in text
    for row in (0, 99, view.recommended.row):
        assert f"{row} u16_pipelined" in text


def test_values_over_many_decades_carry_their_own_unit():
    column = {"power_w": np.array([2e-6, 3e-3, 4.0])}
    text = front_text(replace(VIEW, front={**VIEW.front, **column}), FACTS, width=100)
    powers = [line.split("  ")[-2].strip() for line in table_rows(text)]
    assert powers == ["2 uW", "3 mW", "4 W"]


def table_rows(text: str) -> list[str]:
    return text.split("─\n")[1].splitlines()[:3]


def test_brackets_in_names_are_text_not_markup():
    text = front_text(replace(VIEW, names=["[red]a", "[/]", "b"]), FACTS, width=100)
    assert "[red]a" in text
    assert "[/]" in text


def test_an_empty_front_says_so():
    empty = {name: values[:0] for name, values in VIEW.front.items()}
    text = front_text(replace(VIEW, front=empty, names=(), recommended=None), FACTS, width=100)
    assert "\n\nno feasible design\n\n" in text


def test_a_table_wraps_its_later_columns():
    text = table_text([("des", "encryption " * 9), ("fft", "")], ("name", "what"), width=40)
    assert max(map(len, text.splitlines())) <= 40
    assert text.splitlines()[2].startswith("des   encryption encryption")


# Of a large front those designs are shown that tell most of it, always the same ones


def test_the_recommended_and_the_best_come_first():
    view = make(100, objectives=4)  # row 50 is recommended; 0 and 99 have all the best values
    assert representative_rows(view, 1).tolist() == [50]
    assert representative_rows(view, 3).tolist() == [0, 50, 99]


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
    assert title == f"2,000 of 5,000 designs drawn: {SHOWN_RULE}"
    small = plots._figure(make(2000, objectives, cloud=0))
    assert legend_of(small).get_title().get_text() == ""
