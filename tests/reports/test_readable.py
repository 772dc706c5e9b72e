"""What people read off pictures: no tick over another, nothing cut, colours that stay apart."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.text import Text

from dse.api import answers, changes
from dse.parametric import plots as curves
from dse.reports import front_view, plots
from dse.reports.drawing import (
    DPI,
    PALETTE,
    PLAIN,
    drawing,
    name_bands,
    settle,
    shown_labels,
)
from dse.sampling.plots import tornado
from tests.conftest import STUDIES
from tests.reports.test_plots import VIEWS, make, swept

LOOKS_AT_PICTURES = True


def chain(count: int = 240):
    """A sweep of two stages: the second changes once, the first after every tenth value."""
    view = swept(count)
    rate = np.linspace(1e9, 240e9, count)
    names = [f"{1 + i} des.u{i // 10 % 4} -> 2 fft.r{i // 120}" for i in range(count)]
    view = replace(view, front={**view.front, "workload.rate_bit_per_s": rate}, names=names)
    return replace(view, sweep="workload.rate_bit_per_s")


def check(figure: Figure) -> None:
    FigureCanvasAgg(figure)
    figure.set_dpi(DPI)
    figure.canvas.draw()
    texts = [text.get_text() for text in figure.findobj(Text)]
    assert not [text for text in texts if "mathdefault" in text]
    for axes in figure.axes:
        for which in ("x", "y"):
            shown = [one for one in shown_labels(axes, which) if axes.axison]
            assert not [one for one in shown if "$" in one.get_text()]
            boxes = [label.get_window_extent() for label in shown]
            assert not [
                pair for pair in itertools.combinations(boxes, 2) if pair[0].overlaps(pair[1])
            ]
            if which == "x":
                right = axes.get_window_extent().x1 + 0.05 * figure.dpi
                assert all(box.x1 <= right for box in boxes)
    for legend in (*figure.legends, *filter(None, (a.get_legend() for a in figure.axes))):
        box = legend.get_window_extent()
        assert box.x0 >= 0
        assert box.y0 >= 0
        assert box.x1 <= figure.bbox.width
        assert box.y1 <= figure.bbox.height


@pytest.mark.parametrize(
    "view",
    [*VIEWS.values(), chain(), make(40, 4), make(300, 3)],
    ids=[*VIEWS, "chain", "four objectives", "a corner"],
)
def test_fronts_can_be_read(view) -> None:
    with drawing():
        check(plots._figure(view))


def test_a_sweep_over_many_designs_names_them_on_the_spot() -> None:
    """At least 16 designs hold a part of the range; none is told by its colour alone."""
    few = {"stages.des.designs": "[u1, u4, u8, u16]"}
    found = changes.decision_map(STUDIES / "des_100gbps.yaml", "rate=1..200Gbps", overrides=few)
    assert len({one.name for one in found.intervals}) >= 16
    with drawing():
        figure = curves.crossovers_figure(found)
    check(figure)
    upper, lower = figure.axes
    named = {text.get_text() for text in upper.texts}
    assert {"1 u1", "1 u16", "2 u16", "3 u16"} <= named
    left = len(found.intervals) - len(upper.texts)
    assert f"{left} intervals too narrow for a name; the table has all" in lower.get_xlabel()
    assert not figure.legends


def test_an_upright_name_is_cut_in_its_middle_not_at_its_ends() -> None:
    figure = Figure(figsize=(3, 2), layout="constrained")
    FigureCanvasAgg(figure)
    axes: Axes = figure.add_subplot()
    name = "4 aes128_gcm_asap7_u10_d128_half, dsa_async, in flight 8"
    with drawing():
        settle(figure)
        assert name_bands(axes, [(0.0, 1.0, name)]) == 0
    (text,) = axes.texts
    assert text.get_rotation() == 90
    assert (text.get_text()[:2], text.get_text()[-2:]) == ("4 ", " 8")
    assert text.get_window_extent().y0 >= axes.get_window_extent().y0


def test_long_names_are_cut_no_shorter_than_tells_them_apart() -> None:
    few = ["1 aes128_gcm_asap7_u10_d128_half, dsa_batch, in flight 8", "the host alone"]
    assert front_view.elided_apart(few) == [front_view.elided(few[0]), few[1]]
    more = [few[0], few[0].replace("_half", ""), few[0].replace("u10_d128", "u1_d16")]
    shown = front_view.elided_apart(more)
    assert len({*shown}) == 3
    assert max(map(len, shown)) <= 56
    alike = [f"{'a' * 90}{n}{'b' * 90}" for n in range(2)]
    assert {*map(len, front_view.elided_apart(alike))} == {63}


def test_the_tornado_has_the_largest_effect_on_top() -> None:
    found = answers.uncertainty(STUDIES / "settop_116mbps.yaml", sobol=True, samples=64)
    with drawing():
        figure = tornado(found.design, found.found)
    check(figure)
    for axes, (_, effects) in zip(figure.axes, found.found.effects.items(), strict=True):
        assert axes.get_yticklabels()[0].get_text() == effects[0].name


def test_the_choice_that_explains_most_gives_the_colours() -> None:
    """Of two choices one sets the power, the other nothing: the first is told."""
    view = make(12)
    device = np.array(["apu", "gpu"] * 6, dtype=object)
    power = np.where(device == "apu", 1.0, 9.0) + np.linspace(0, 0.1, 12)
    front = view.front | {"power_w": power, "area_m2": power, "interface.device": device}
    front["interface.in_flight"] = np.repeat([1.0, 2.0], 6)
    view = replace(view, front=front, axes=("interface.in_flight", "interface.device"))
    assert list(front_view.groups(view, 8)) == ["device: apu", "device: gpu"]


def test_an_objective_that_is_the_same_for_all_is_left_out_and_told() -> None:
    view = make(6, 3, cloud=0)
    view = replace(view, front=view.front | {"capacity_bit_per_s": np.full(6, 4e10)})
    figure = plots._figure(view)
    assert len(figure.axes) == 1
    told = figure.legends[0].get_title().get_text()
    assert told == "not drawn: capacity, 40 Gbit/s for every design"


def test_equal_names_in_a_panel_get_what_tells_them_apart() -> None:
    view = make(4)
    front = view.front | {
        "jacobi.clock": np.array([0.1, 0.1, 0.4, 0.4]),
        "interface.in_flight": np.array([1.0, 2.0, 1.0, 2.0]),
    }
    axes = ("jacobi.clock", "interface.in_flight")
    view = replace(view, front=front, axes=axes, names=["1 n4", "1 n4", "1 n4", "2 n1"])
    assert front_view.distinct_names(view, [0, 2, 3]) == {
        0: "1 n4, clock 0.1",
        2: "1 n4, clock 0.4",
        3: "2 n1",
    }
    assert front_view.distinct_names(view, [0]) == {0: "1 n4"}


def test_a_chain_is_shaded_by_the_stage_that_changes_least_often() -> None:
    view = chain()
    scale = front_view.axis_scale(view, str(view.sweep), {})
    assert not scale.log  # even steps
    shades = plots.shading(view, scale)
    assert shades.words == "fft of the best design"
    assert [[name for *_, name in panel] for panel in shades.bands] == [["fft.r0", "fft.r1"]] * 2
    assert shades.rest is not None
    assert set(shades.rest) == {f"des.u{i}" for i in range(4)}


def test_table_and_picture_have_the_same_unit() -> None:
    """Also where the cloud reaches further: 0.9 mm2 of a front is in um2 in both."""
    view = make(3)
    front = view.front | {"area_m2": np.array([2e-7, 5e-7, 9e-7])}
    cloud = {"area_m2": np.array([2e-7, 4e-6])}
    scale = front_view.axis_scale(replace(view, front=front), "area_m2", cloud)
    assert scale.label == "area [mm2]"


DEUTERANOPIA = np.array(
    [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ]
)
"""Machado, Oliveira and Fernandes, IEEE TVCG 15(6), 2009, severity 1, on linear RGB."""

TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def lab(colour: str) -> np.ndarray:
    """CIELAB (D65) of a colour as a deuteranope sees it."""
    rgb = np.array(to_rgb(colour))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    seen = TO_XYZ @ np.clip(DEUTERANOPIA @ linear, 0, 1) / np.array([0.9505, 1.0, 1.089])
    f = np.where(seen > 0.008856, np.cbrt(seen), 7.787 * seen + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def test_colours_stay_apart_for_deuteranopes() -> None:
    """A difference of 10 in CIELAB is seen at a glance; markers differ besides."""
    colours = [lab(colour) for colour, _ in PALETTE]
    apart = [np.linalg.norm(a - b) for a, b in itertools.combinations(colours, 2)]
    assert min(apart) > 10
    assert len({marker for _, marker in PALETTE}) == len(PALETTE)
    plain = [lab(colour) for colour in PLAIN]
    assert np.linalg.norm(plain[0] - plain[1]) > 5
