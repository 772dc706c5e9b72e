"""The page of a run in a headless Chromium that has no network; skipped where none is installed."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import dse
from dse.page.contents import read_page_run
from dse.page.sections import front_section
from tests.conftest import STUDIES
from tests.page.browser import PROGRAM, Browser, browser

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="no Chromium is installed")

FOUR = """\
# What do four objectives trade?
workload: {kernel: des}
stages:
  - core: des
    instances: {from: 1, to: 12}
interface: {}
axes:
  interface.device: [sparc_t4_engine, sandy_bridge]
  workload.granularity: [512 B, 4 KiB, 64 KiB]
objectives: {area: minimise, total_power: minimise, offload_latency: minimise, throughput: maximise}
"""
STUDY = {
    "tls": STUDIES / "tls_100gbps.yaml",
    "platforms": STUDIES / "platforms_power_bound.yaml",
    "jacobi": STUDIES / "jacobi_bandwidth.yaml",
    "crypto": STUDIES / "crypto_interface_100gbps.yaml",
    "sweep": STUDIES / "des_fft_sweep.yaml",
    "one": STUDIES / "settop_116mbps.yaml",
    "four": FOUR,
    "host": STUDIES / "storage_xts_100gbps.yaml",  # whose front is the host alone
}
SMALLER = {
    "one": {"objectives": "{power: minimise}"},
    "sweep": {"sweep.workload.rate": "{from: 1 Gbit/s, to: 60 Gbit/s, points: 60}"},
}
FLAT = {"deviceScaleFactor": 1, "mobile": False}
PICTURE = "document.querySelector('.scatter .chart canvas')"
MOST_ROWS = 50
"""Of a table until more are asked for."""

PHONE = {"width": 390, "height": 844, "phone": True}


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser(tmp_path_factory.mktemp("browser")) as opened:
        yield opened


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return a function that runs a study once, with its page."""
    folder = tmp_path_factory.mktemp("runs")

    def of(name: str) -> Path:
        if not (folder / name).exists():
            fields = SMALLER.get(name, {})
            dse.run(STUDY[name], out=folder / name, plots=False, overrides=fields)
            dse.report(folder / name)
        return folder / name

    return of


def table_of(tab: Browser, table: str = "table") -> list[list[str]]:
    rows = f"[...document.getElementById('{table}').tBodies[0].rows]"
    cells = "row => [...row.cells].map(cell => cell.textContent.trim())"
    found: list[list[str]] = json.loads(tab.value(f"JSON.stringify({rows}.map({cells}))"))
    return found


def cells_of(tab: Browser, column: str) -> list[str]:
    """Return what the table shows of one column."""
    heads = "[...document.querySelectorAll('#table th')]"
    place = tab.value(f"{heads}.findIndex(cell => cell.dataset.column === '{column}')")
    return [row[place] for row in table_of(tab)]


def text_of(tab: Browser, selector: str) -> str:
    return str(tab.value(f"document.querySelector('{selector}').textContent"))


def count(tab: Browser) -> str:
    return text_of(tab, "#count")


def picked(tab: Browser) -> int:
    return int(tab.value("document.querySelector('#pick .pick').dataset.row"))


def place(tab: Browser, selector: str) -> dict[str, float]:
    """Return where an element is in the window, once it is scrolled there."""
    tab.value(f"document.querySelector('{selector}').scrollIntoView({{block: 'center'}})")
    box = f"document.querySelector('{selector}').getBoundingClientRect().toJSON()"
    found: dict[str, float] = json.loads(tab.value(f"JSON.stringify({box})"))
    return found


def choose(tab: Browser, field: str, value: Any) -> None:
    """Let a field have a value, as somebody does who changes it."""
    tab.value(
        f"{{const field = document.querySelector('{field}'); field.value = '{value}';"
        "for (const kind of ['input', 'change']) field.dispatchEvent(new Event(kind));}"
    )


@pytest.mark.parametrize("look", [{}, PHONE], ids=["desk", "phone"])
@pytest.mark.parametrize("name", STUDY)
def test_a_page_loads_without_network_and_without_an_error(
    name: str, look: dict[str, Any], tab: Browser, run: Callable[[str], Path]
) -> None:
    tab.problems.clear()
    tab.requests.clear()
    page = run(name) / "report.html"
    tab.open(page, **look)
    assert tab.problems == []
    assert tab.requests[-1:] == [page.resolve().as_uri()]
    assert {*tab.requests[:-1]} <= {"about:blank"}
    assert tab.value("document.getElementById('fault').hidden")
    assert tab.value("document.documentElement.scrollWidth <= window.innerWidth")
    assert tab.value("document.querySelectorAll('.scatter .chart canvas').length") == 1


@pytest.mark.parametrize("name", ["jacobi", "crypto", "four", "one"])
def test_the_page_begins_with_the_answer_and_the_front_of_the_program(
    name: str, tab: Browser, run: Callable[[str], Path]
) -> None:
    tab.open(run(name) / "report.html")
    answer = dse.answer(run(name), flips=False)
    manifest = json.loads((run(name) / "manifest.json").read_text(encoding="utf-8"))
    assert picked(tab) + 1 == manifest["recommended"]["row"]
    told = tab.value("document.getElementById('answer').textContent")
    assert f"Take {answer.pick.line}." in told
    if name in ("jacobi", "crypto"):  # the columns of others differ
        rows = [list(row) for row in front_section(read_page_run(run(name))).rows]
        assert table_of(tab) == rows[:MOST_ROWS]


@pytest.mark.parametrize("name", ["jacobi", "crypto", "four"])
def test_the_recommended_design_follows_as_the_rule_of_the_program_has_it(
    name: str, tab: Browser, run: Callable[[str], Path]
) -> None:
    tab.open(run(name) / "report.html")
    shown = read_page_run(run(name))
    ((study, index),) = shown.points
    for prefer in (*(goal.name for goal in study.problem.goals), "knee"):
        for tolerance in ("0 %",) if prefer == "knee" else ("0 %", "3 %", "40 %"):
            choose(tab, "#prefer", prefer)
            choose(tab, "#tolerance", tolerance.removesuffix(" %"))
            expected = study.preferring(prefer, tolerance).order(study.problem, index)[0]
            assert picked(tab) == expected, (prefer, tolerance)


@pytest.mark.parametrize(
    ("goal", "rule", "key", "prefer"),
    [
        ("total_power_w", "total_power <= {!r} W", ("ArrowLeft", 37), "throughput_bit_per_s"),
        ("throughput_bit_per_s", "throughput >= {!r} bit/s", ("ArrowRight", 39), "area_m2"),
    ],
)
def test_a_limit_moved_with_keys_gives_the_answer_of_a_study_with_that_constraint(
    goal: str,
    rule: str,
    key: tuple[str, int],
    prefer: str,
    tab: Browser,
    run: Callable[[str], Path],
) -> None:
    tab.open(run("jacobi") / "report.html")
    choose(tab, "#prefer", prefer)
    tab.value(f"document.querySelector('[data-limit={goal}]').focus()")
    for _ in range(5):
        tab.key(*key)
    shown = read_page_run(run("jacobi"))
    values = shown.view.front[goal].tolist()
    limit = sorted(set(values))[5 if ">=" in rule else -6]
    constraints = {"constraints": f"[{rule.format(limit)}]"}
    other = dse.answer(STUDY["jacobi"], prefer=prefer, flips=False, overrides=constraints)
    for name in ("area_m2", "total_power_w", "throughput_bit_per_s"):
        assert shown.view.front[name][picked(tab)] == other.pick.quantities[name], name
    assert text_of(tab, "#pick .pick") == shown.designs[picked(tab)]
    missed = sum(value < limit if ">=" in rule else value > limit for value in values)
    assert tab.value("document.querySelectorAll('#table tr.limited').length") == missed > 0


@pytest.mark.parametrize("name", ["jacobi", "tls"])
def test_a_limit_line_that_is_dragged_gives_the_answer_of_that_constraint(
    name: str, tab: Browser, run: Callable[[str], Path]
) -> None:
    tab.open(run(name) / "report.html")
    box = place(tab, ".scatter .chart")
    middle, border = box["top"] + box["height"] / 2, box["right"] - 22
    tab.drag((border, middle), (border - 0.6 * (border - box["left"]), middle))
    moved = dict(part.split("=") for part in tab.value("location.hash.slice(1)").split("&"))
    assert [*moved] == ["limit.area_m2"]  # and nothing is selected
    limit = float(moved["limit.area_m2"])
    written = dse.load(STUDY[name]).document.data.get("constraints") or []
    rules = {"constraints": json.dumps([*map(str, written), f"area <= {limit!r} m2"])}
    other = dse.answer(STUDY[name], flips=False, all=False, overrides=rules)
    chosen = picked(tab)
    assert {*shown_rows(tab)} == {chosen}
    assert (
        read_page_run(run(name)).view.front["area_m2"][chosen] == other.pick.quantities["area_m2"]
    )
    line = border - 0.6 * (border - box["left"])
    tab.drag((line, middle), (box["right"] - 2, middle))  # and away again
    assert tab.value("location.hash") == ""


@pytest.mark.parametrize("name", ["tls", "jacobi", "one"])
def test_the_first_screen_has_the_answer_its_reason_and_its_weakest_assumption(
    name: str, tab: Browser, run: Callable[[str], Path]
) -> None:
    tab.open(run(name) / "report.html", width=1440, height=900)
    answer = dse.answer(run(name), all=False)
    (changes,) = (one.brief or () for one in answer.sections if one.key == "flips")
    told = text_of(tab, "#card")
    assert answer.pick.line in told
    assert f"bottleneck: {answer.pick.bottlenecks[0].limits[0].label}" in told
    assert changes
    assert all(line in told for line in changes)
    low = "document.getElementById('card').getBoundingClientRect().bottom"
    assert tab.value(low) <= 900


def shown_rows(tab: Browser) -> list[int]:
    """Return which design the card, the ring, the table and its link recommend."""
    series = (
        "echarts.getInstanceByDom(document.querySelector('.scatter .chart')).getOption().series"
    )
    ring = f"{series}.find(({{id}}) => id === 'recommended').data.map(({{value}}) => value[2])"
    table = "[...document.querySelectorAll('#table tr.recommended')].map((r) => +r.dataset.row)"
    found: list[int] = json.loads(tab.value(f"JSON.stringify([...{ring}, ...{table}])"))
    return [picked(tab), *found]


@pytest.mark.parametrize(
    ("name", "prefer", "limit", "rule"),
    [
        ("tls", "area_m2", ("offload_latency_p99_s", 3e-6), "offload_latency_p99 <= 3 us"),
        ("tls", "total_power_w", ("area_m2", 0.39e-6), "area <= 0.39 mm2"),
        ("jacobi", "throughput_bit_per_s", ("total_power_w", 1.5), "total_power <= 1.5 W"),
        ("crypto", "knee", ("area_m2", 0.3e-6), "area <= 0.3 mm2"),
    ],
)
def test_a_copied_link_has_one_answer_that_of_the_program(
    name: str,
    prefer: str,
    limit: tuple[str, float],
    rule: str,
    tab: Browser,
    run: Callable[[str], Path],
) -> None:
    goal, value = limit
    tab.open(run(name) / "report.html", f"#prefer={prefer}&limit.{goal}={value!r}")
    chosen, ring, *table = shown_rows(tab)
    assert ring == chosen
    assert table == [chosen] or chosen >= 50  # beyond the rows that are shown
    written = dse.load(STUDY[name]).document.data.get("constraints") or []
    constraints = {"constraints": json.dumps([*map(str, written), rule])}
    answer = dse.answer(STUDY[name], prefer=prefer, flips=False, all=False, overrides=constraints)
    front = read_page_run(run(name)).view.front
    for column in dict(read_page_run(run(name)).view.objectives):
        assert front[column][chosen] == answer.pick.quantities[column], column
    assert not tab.value("document.getElementById('strip').hidden")
    tab.value("document.getElementById('restore').click()")
    start = json.loads((run(name) / "manifest.json").read_text(encoding="utf-8"))["recommended"]
    assert {*shown_rows(tab)} <= {start["row"] - 1}
    assert tab.value("document.getElementById('strip').hidden")


def test_back_undoes_and_a_link_has_names(tab: Browser, run: Callable[[str], Path]) -> None:
    tab.open(run("tls") / "report.html")
    before = picked(tab)
    choose(tab, "#prefer", "offload_latency_p99_s")
    assert text_of(tab, "#pick .pick") == "the host alone"
    tab.value("document.querySelector('td.named button').click()")
    choose(tab, '[data-column="interface.device"] input', "on the die")
    link = tab.value("decodeURIComponent(location.hash)")
    assert "prefer=offload_latency_p99_s" in link
    assert "filter.interface.device=on+the+die" in link
    assert "design=host.alone" in link or "design=the+host+alone" in link
    for _ in range(3):
        tab.value("setTimeout(() => history.back(), 0)")
        tab.until(f"decodeURIComponent(location.hash) !== {json.dumps(link)} || ''")
        link = tab.value("decodeURIComponent(location.hash)")
    assert picked(tab) == before


@pytest.mark.parametrize("look", [{}, PHONE], ids=["desk", "phone"])
def test_the_details_of_a_click_are_beside_it(
    look: dict[str, Any], tab: Browser, run: Callable[[str], Path]
) -> None:
    tab.open(run("crypto") / "report.html", **look)
    for row in (0, 45):
        named = f"#table tbody tr:nth-child({row + 1}) button"
        place(tab, named)
        tab.value(f"document.querySelector('{named}').focus()")
        tab.value(f"document.querySelector('{named}').click()")
        box = "document.getElementById('chosen').getBoundingClientRect()"
        inside = "(({top, left, right, bottom}) => top >= 0 && left >= 0 && right <= innerWidth"
        assert tab.value(f"{inside} && bottom <= innerHeight)({box})"), row
        assert tab.value("document.activeElement.id") == "chosen"
        tab.key("Escape", 27)
        assert tab.value("document.getElementById('chosen').hidden")


@pytest.mark.parametrize("name", ["tls", "crypto", "jacobi", "sweep", "platforms", "four"])
def test_the_choices_of_a_study_are_axes_filters_and_colours(
    name: str, tab: Browser, run: Callable[[str], Path]
) -> None:
    tab.problems.clear()
    tab.open(run(name) / "report.html")
    held = json.loads(tab.value("document.getElementById('data').textContent"))
    choices = [one for one in held["choices"] if held["columns"][one]["differs"]]
    assert choices
    for side in ("x", "y", "colour"):
        field = f"[data-side={side}]"
        options = tab.value(
            f"[...document.querySelector('{field}').options].map(o => o.value).join()"
        )
        assert {*choices} <= {*options.split(",")}, side
        for choice in choices:
            choose(tab, field, choice)
    filters = tab.value(
        "[...document.querySelectorAll('#table th')].map(t => t.dataset.column).join()"
    )
    assert {*choices} <= {*filters.split(",")}
    assert tab.problems == []


def test_brushes_change_the_table_and_its_fields(tab: Browser, run: Callable[[str], Path]) -> None:
    tab.open(run("jacobi") / "report.html")
    assert count(tab) == "all 35 designs"
    box = place(tab, ".scatter")
    middle = box["left"] + box["width"] / 2
    tab.drag((middle, box["top"] + 20), (box["right"] - 24, box["bottom"] - 62))
    tab.until("document.getElementById('count').textContent.includes('selected')")
    rows = table_of(tab)
    assert 0 < len(rows) < 35
    assert count(tab) == f"{len(rows)} of 35 designs selected"
    low = float(tab.value("document.querySelector('[data-column=area_m2] input').value"))
    assert all(
        float(area.split()[0]) >= low for area in cells_of(tab, "area_m2")
    )  # um2, as the field
    tab.value("document.getElementById('reset').click()")
    assert len(table_of(tab)) == 35
    choose(tab, "[data-limit=area_m2]", 0)
    choose(tab, "[data-limit=throughput_bit_per_s]", 30)
    assert text_of(tab, "#pick") == "No design of the front meets the limits."


def test_the_table_sorts_and_filters(tab: Browser, run: Callable[[str], Path]) -> None:
    tab.open(run("crypto") / "report.html")
    choose(tab, '[data-column="interface.device"] input', "SPARC")
    assert set(cells_of(tab, "interface.device")) == {"SPARC T4 engine"}
    tab.value("document.querySelector('[data-column=total_power_w] button').click()")
    shown = read_page_run(run("crypto"))
    rows = "[...document.getElementById('table').tBodies[0].rows]"
    order = json.loads(tab.value(f"JSON.stringify({rows}.map(row => Number(row.dataset.row)))"))
    powers = [shown.view.front["total_power_w"][row] for row in order]
    assert powers == sorted(powers)
    heading = "document.querySelector('[data-column=total_power_w]')"
    assert tab.value(f"{heading}.ariaSort") == "ascending"


def test_along_a_sweep_the_shades_are_the_answers_of_the_program(
    tab: Browser, run: Callable[[str], Path]
) -> None:
    tab.open(run("sweep") / "report.html")
    manifest = json.loads((run("sweep") / "manifest.json").read_text(encoding="utf-8"))
    told = {}
    for low, high, design in table_of(tab, "winners-table"):
        for rate in range(int(low.split()[0]), int(high.split()[0]) + 1):
            told[rate] = design
    shown = read_page_run(run("sweep"))
    for point in manifest["points"]:
        assert told[round(point["value"] / 1e9)] == shown.kinds[point["recommended"]["row"] - 1]


def test_a_page_is_printed(tab: Browser, run: Callable[[str], Path], tmp_path: Path) -> None:
    tab.open(run("jacobi") / "report.html")
    tab.printed(tmp_path / "page.pdf")
    printed = (tmp_path / "page.pdf").read_bytes()
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) == 1
    tab("Emulation.setEmulatedMedia", media="print")
    wide, high = 703, 1032  # A4 within its margins
    tab("Emulation.setDeviceMetricsOverride", width=wide, height=high, **FLAT)
    picture = json.loads(tab.value(f"JSON.stringify({PICTURE}.getBoundingClientRect().toJSON())"))
    tab("Emulation.setEmulatedMedia", media="")
    assert picture["height"] > 250
    assert picture["bottom"] <= high
    assert tab.problems == []


def test_cores_and_their_number_are_filters_and_the_address_keeps_them(
    tab: Browser, run: Callable[[str], Path]
) -> None:
    page = run("crypto") / "report.html"
    tab.open(page)
    choose(tab, '[data-column="core"] input', "u16")
    choose(tab, '[data-column="instances"] [data-end=to]', 3)
    assert set(cells_of(tab, "core")) == {"u16"}
    assert {int(text) for text in cells_of(tab, "instances")} == {3}
    names = table_of(tab)
    tab.value("setTimeout(() => location.reload(), 0)")
    tab.until("document.documentElement?.dataset.drawn === undefined || 'gone'")
    tab.until("document.documentElement?.dataset.drawn ?? ''")
    assert table_of(tab) == names
    tab.key("Escape", 27)
    assert count(tab).startswith("all ")
    assert tab.value("location.hash") == ""


def test_what_can_be_operated_has_a_name_and_what_scrolls_takes_the_focus(
    tab: Browser, run: Callable[[str], Path]
) -> None:
    tab.open(run("jacobi") / "report.html", **PHONE)
    nameless = """JSON.stringify([...document.querySelectorAll('button, input, select, a')].filter(
        (one) => !(one.textContent || one.labels?.length || one.getAttribute('aria-label'))).map(
        (one) => one.outerHTML))"""
    assert json.loads(tab.value(nameless)) == []
    stuck = """JSON.stringify([...document.querySelectorAll('body *')].filter(
        (one) => /auto|scroll/.test(getComputedStyle(one).overflowX) && one.tabIndex < 0
        && one.scrollWidth > one.clientWidth + 1).map((one) => one.className))"""
    assert json.loads(tab.value(stuck)) == []


def test_limits_of_the_recommended_design_are_bars(
    tab: Browser, run: Callable[[str], Path]
) -> None:
    tab.open(run("crypto") / "report.html")
    answer = dse.answer(run("crypto"), flips=False, all=False)
    (limits,) = answer.to_dict()["roofs"]
    words = "[...document.querySelectorAll('#roofs tbody tr')].map(r => r.cells[0].textContent)"
    assert json.loads(tab.value(f"JSON.stringify({words})")) == [
        one["words"] for one in limits["limits"]
    ]
    assert limits["text"] in text_of(tab, "#roofs")
    assert not tab.value("document.getElementById('tornado').hidden")  # the nearest changes
    tab.open(run("sweep") / "report.html")  # recommends a design at each value
    assert tab.value("document.getElementById('roofs').hidden")


def test_a_linear_axis_writes_its_ticks_as_numbers(
    tab: Browser, run: Callable[[str], Path]
) -> None:
    tab.open(run("host") / "report.html")
    axis = "echarts.getInstanceByDom(document.querySelector('.chart')).getOption().xAxis[0]"
    ticks = f"JSON.stringify([1e5, 2e5].map({axis}.axisLabel.formatter))"
    assert tab.value(ticks) == '["100000","200000"]'


def test_a_dark_page_is_drawn_dark_and_printed_light(
    tab: Browser, run: Callable[[str], Path]
) -> None:
    dark = [{"name": "prefers-color-scheme", "value": "dark"}]
    tab("Emulation.setEmulatedMedia", features=dark)
    tab.open(run("jacobi") / "report.html")
    paper = "getComputedStyle(document.body).backgroundColor"
    axis = "echarts.getInstanceByDom(document.querySelector('.chart')).getOption().xAxis[0]"
    assert tab.value(paper) == "rgb(21, 24, 28)"
    assert tab.value(f"{axis}.axisLabel.color") == "#e8e6e3"
    tab.value("window.dispatchEvent(new Event('beforeprint'))")
    assert (tab.value(paper), tab.value(f"{axis}.axisLabel.color")) == (
        "rgb(255, 255, 255)",
        "#1a1a1a",
    )
    tab("Emulation.setEmulatedMedia", features=[])
