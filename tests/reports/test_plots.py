"""Pictures of fronts: valid files, honest axes, readable labels, the same bytes every time."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.transforms import Bbox

from dse.reports import front_view, plots
from dse.reports.front_view import FrontView, Recommended

LOOKS_AT_PICTURES = True

OBJECTIVES = (
    ("area_m2", "minimise"),
    ("power_w", "minimise"),
    ("capacity_bit_per_s", "maximise"),
    ("latency_s", "minimise"),
)


def make(count: int, objectives: int = 2, cloud: int = 300) -> FrontView:
    """A front of `count` points on a convex curve, with a cloud behind it."""
    t = np.linspace(0.2, 1.0, count) if count else np.empty(0)
    front = {
        "area_m2": 1e-7 / t,
        "power_w": 2e-2 * t,
        "capacity_bit_per_s": 1e11 * t**2,
        "latency_s": 1e-6 * (1.1 - t) ** 2,
        "bound": np.array([("core", "link", "offload")[i % 3] for i in range(count)]),
    }
    spread = np.random.default_rng(0).uniform(1, 3, cloud)
    sizes = {"area_m2": 1e-7, "power_w": 1e-2, "capacity_bit_per_s": 1e10, "latency_s": 1e-6}
    behind = {name: size * spread for name, size in sizes.items()}
    mark = Recommended(count // 2, "3 u16, in flight 2", "the design with the least area")
    return FrontView(
        title=f"{count} points",
        objectives=OBJECTIVES[:objectives],
        front=front,
        cloud=behind,
        category="bound",
        names=[f"{i + 1} u16 + {count - i} u8" for i in range(count)],
        recommended=mark if count else None,
    )


def swept(values: int) -> FrontView:
    view = make(values, objectives=2, cloud=0)
    column = {"workload.granularity_byte": np.geomspace(16, 16e6, values)}
    names = [("1 u16", "2 u8")[i > values // 2] for i in range(values)]
    view = replace(view, front={**view.front, **column}, names=names, cloud={}, recommended=None)
    return replace(view, sweep="workload.granularity_byte")


def over_libraries() -> FrontView:
    """Three libraries, the second a hundred times as large as the first, of one design the last."""
    library = np.array(["sky130", "sky130", "ihp130", "ihp130", "asap7"])
    area = np.array([1e-7, 2e-7, 1e-5, 2e-5, 1e-9])
    power = np.array([0.2, 0.1, 0.4, 0.3, 0.01])
    front = {"area_m2": area, "power_w": power, "bound": np.full(5, "core"), "core": library}
    behind = {"area_m2": 1.5 * area, "power_w": 1.5 * power, "core": library}
    names = [f"{count} u16" for count in range(1, 6)]
    return replace(make(0), front=front, cloud=behind, names=names, sweep="core")


def without_area(view: FrontView) -> FrontView:
    column = {"area_m2": np.zeros(view.size)}
    return replace(view, front={**view.front, **column}, cloud={})


def odd_names(view: FrontView) -> FrontView:
    return replace(view, title="$x$ <b> & " * 30, names=[f"$a_{i}$ 設計" for i in range(view.size)])


VIEWS = {
    "no design": make(0),
    "one design": make(1),
    "120 designs": make(120),
    "one objective": make(21, objectives=1),
    "three objectives": make(3, objectives=3),
    "constant zero": without_area(make(4)),
    "no cloud, no names": replace(make(5), cloud={}, names=(), recommended=None, category=None),
    "names that look like markup": odd_names(make(3)),
    "sweep": swept(9),
    "sweep of one value": swept(1),
    "sweep over choices": over_libraries(),
}


def test_equal_views_give_equal_bytes_without_a_date(tmp_path):
    folders = [tmp_path / "a", tmp_path / "b"]
    for folder in folders:
        folder.mkdir()
        plots.draw_front(make(5), folder)
    for name in ("front.png", "front.svg"):
        first, second = ((folder / name).read_bytes() for folder in folders)
        assert first == second
    assert b"<dc:date>" not in first


def test_axes_carry_units_and_say_which_way_is_better():
    axes = plots._figure(make(3, objectives=4)).axes
    assert len(axes) == 6
    assert axes[1].get_xlabel() == "area [mm2]\n← lower is better"
    assert axes[1].get_ylabel() == "capacity [Gbit/s]\nhigher is better →"


def test_a_sweep_draws_every_objective_against_the_swept_value():
    upper, lower = plots._figure(swept(40)).axes
    assert (upper.get_ylabel(), lower.get_ylabel()) == (
        "area [mm2]\n← lower is better",
        "power [mW]\n← lower is better",
    )
    assert lower.get_xlabel() == "granularity [kB]"
    assert lower.get_xscale() == "log"


def test_a_sweep_over_choices_has_a_front_for_each_in_the_order_of_the_study():
    panels = plots._figure(over_libraries()).axes
    assert [axes.get_title() for axes in panels] == ["sky130", "ihp130", "asap7"]
    drawn = [np.concatenate([dots.get_offsets() for dots in axes.collections]) for axes in panels]
    assert [int(np.isfinite(points).all(axis=1).sum()) for points in drawn] == [4, 4, 2]
    assert [sorted(text.get_text() for text in axes.texts) for axes in panels] == [
        ["1 u16", "2 u16"],
        ["3 u16", "4 u16"],
        ["5 u16"],
    ]
    assert all(axes.get_xlim()[1] < 100 * axes.get_xlim()[0] for axes in panels)


def test_names_cover_neither_each_other_nor_a_point_and_stay_inside():
    figure = plots._figure(make(12))
    (axes,) = figure.axes
    labels = [text.get_window_extent() for text in axes.texts if text.get_text()]
    assert len(labels) >= 8
    assert not any(a.overlaps(b) for a, b in itertools.combinations(labels, 2))
    points = np.concatenate([dots.get_offsets() for dots in axes.collections[1:]])
    pixels = axes.transData.transform(points)
    assert not any(box.contains(*pixel) for box in labels for pixel in pixels)
    window = axes.get_window_extent()
    assert all(Bbox.intersection(window, box).bounds == box.bounds for box in labels)


def test_only_the_ends_of_a_long_front_are_named():
    (axes,) = plots._figure(make(13)).axes
    assert {text.get_text() for text in axes.texts} == {"1 u16 + 13 u8", "13 u16 + 1 u8"}


def test_few_designs_are_all_named_by_their_choices_on_the_front_or_off_it():
    view = make(1)
    goals = [name for name in view.front if name != "bound"]
    off = {name: view.front[name] * np.array([1.0, 2.0, 3.0]) for name in goals}
    device = {"device": np.array(["engine", "code", "core"], dtype=object)}
    front = view.front | {"device": np.array(["engine"], dtype=object)}
    view = replace(view, front=front, cloud=off | device, axes=("device",))
    texts = {text.get_text() for text in plots._figure(view).axes[0].texts}
    assert {"engine", "code", "core"} <= texts
    alike = replace(view, cloud=off | {"device": np.array(["engine"] * 3, dtype=object)})
    texts = {text.get_text() for text in plots._figure(alike).axes[0].texts}
    assert texts == {"1 u16 + 1 u8"}  # choices that do not distinguish designs name none


def test_a_large_cloud_is_drawn_as_one_image_of_at_most_20_000_points(tmp_path):
    view = make(3, cloud=50_000)
    cloud = plots._figure(view).axes[0].collections[0]
    assert len(cloud.get_offsets()) == 20_000
    _, svg = plots.draw_front(view, tmp_path)
    assert svg.read_text().count("<image") == 1
    assert svg.stat().st_size < 500_000


def test_a_cloud_far_from_the_front_does_not_squeeze_it():
    view = make(3)
    far = {**view.cloud, "area_m2": view.cloud["area_m2"] * np.geomspace(1, 1e6, 300)}
    scale = front_view.axis_scale(view, "area_m2", far)
    front = np.ptp(scale.front)
    assert front / (scale.high - scale.low) > 0.4
    assert not scale.log
    assert 0 < scale.inside.sum() < len(scale.inside)


def test_a_front_of_small_differences_is_drawn_with_its_surroundings():
    """Two designs 2 % apart say little without the designs around them."""
    view = make(2)
    view = replace(view, front={**view.front, "power_w": np.array([25.25e-3, 25.76e-3])})
    scale = front_view.axis_scale(view, "power_w", {"power_w": np.array([26e-3, 30e-3, 90e-3])})
    assert scale.inside.tolist() == [True, True, False]


@pytest.mark.parametrize(
    ("cloud", "label"),
    [
        ([1.0, 2.0], "feasible designs"),
        ([1.0, 1e3], "feasible designs, some beyond the axes"),
    ],
)
def test_the_legend_says_how_much_of_the_cloud_lies_beyond_the_axes(cloud, label):
    behind = {"area_m2": 2e-7 * np.array(cloud), "power_w": 1e-2 * np.array(cloud)}
    figure = plots._figure(replace(make(3), cloud=behind))
    assert figure.legends[0].get_texts()[-1].get_text() == label


def test_a_cloud_that_lies_beyond_the_axes_is_told_and_has_no_entry():
    behind = {"area_m2": np.array([2e-4, 4e-4]), "power_w": np.array([10.0, 20.0])}
    (legend,) = plots._figure(replace(make(3), cloud=behind)).legends
    assert not any("feasible" in text.get_text() for text in legend.get_texts())
    assert legend.get_title().get_text() == "the other feasible designs all lie beyond the axes"


def test_an_axis_is_logarithmic_beyond_two_decades_of_positive_values():
    view = make(3)

    def log(*values):
        column = {"power_w": np.array(values)}
        return front_view.axis_scale(
            replace(view, front={**view.front, **column}), "power_w", {}
        ).log

    assert log(1.0, 5.0, 101.0)
    assert not log(1.0, 5.0, 99.0)
    assert not log(0.0, 5.0, 1000.0)


def test_dimensionless_numbers_without_a_prefix_get_a_power_of_ten():
    view = replace(make(3), objectives=(("host_cores", "minimise"),))
    view = replace(view, front={**view.front, "host_cores": np.array([1e-6, 2e-6, 3e-6])})
    scale = front_view.axis_scale(view, "host_cores", {})
    assert scale.label == "host cores [10⁻⁶]"
    assert scale.front == pytest.approx([1, 2, 3])


@pytest.mark.parametrize(
    ("sense", "corners"),
    [
        ("minimise", [(1, 3), (2, 3), (2, 1), (5, 1), (5, 0)]),
        ("maximise", [(1, 3), (1, 1), (2, 1), (2, 0), (5, 0)]),
    ],
)
def test_the_staircase_bounds_what_is_attained(sense, corners):
    """With x minimised, a design at x = 1 still serves at x = 1.9; maximised, one at x = 2 does."""
    x, y = np.array([2.0, 1.0, 5.0]), np.array([1.0, 3.0, 0.0])
    assert front_view.staircase(x, y, sense).tolist() == [list(map(float, c)) for c in corners]


def test_the_line_of_a_sweep_joins_the_best_design_of_each_value():
    x, y = np.array([2.0, 1.0, 2.0]), np.array([7.0, 4.0, 5.0])
    assert y[front_view.best_rows(x, y, "minimise")].tolist() == [4, 5]
    assert y[front_view.best_rows(x, y, "maximise")].tolist() == [4, 7]


def test_groups_are_categories_and_in_a_sweep_the_designs_when_few():
    assert list(front_view.groups(make(6), 8)) == [
        f"bottleneck: {kind}" for kind in ("core", "link", "offload")
    ]
    assert list(front_view.groups(swept(40), 8)) == ["1 u16", "2 u8"]
    assert list(front_view.groups(swept(40), 1)) == ["other"]
    rare = front_view.groups(make(7), 2)
    assert {name: int(rows.sum()) for name, rows in rare.items()} == {
        "bottleneck: core": 3,
        "other": 4,
    }
