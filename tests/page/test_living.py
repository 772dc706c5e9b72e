"""A page that moves without the program: what it holds is what `dse answer` says, and no more."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest

import dse
from dse.api.moving import BRIEF
from dse.errors import ArgumentError, InfeasibleError
from dse.reports import sections
from tests.conftest import STUDIES
from tests.page.browser import PROGRAM, browser

CAPPED = {"workload.rate": "2 Gbps", "constraints": "[area <= 12000 um2]"}


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("run")
    dse.run(STUDIES / "settop_116mbps.yaml", overrides=CAPPED, out=out, plots=False)
    return dse.report(out, living=True)


@pytest.fixture(scope="module")
def facts(page: Path) -> dict[str, Any]:
    found = re.search(r'id="living-facts">(.*?)</script>', page.read_text("utf-8"), re.DOTALL)
    assert found is not None
    held: dict[str, Any] = json.loads(found[1])
    return held


@pytest.mark.parametrize("points", [8, pytest.param(50, marks=pytest.mark.slow)])
def test_it_equals_the_answer_of_the_program_at_random_points_of_its_grid(
    points: int, page: Path, facts: dict[str, Any]
) -> None:
    assert page.stat().st_size <= 5_000_000
    assert [one["path"] for one in facts["sliders"]] == ["workload.rate", "constraints.0"]
    for held in random.Random(28).sample(facts["answers"], points):  # noqa: S311
        pairs = {
            slider["path"]: slider["sets"][place]
            for slider, place in zip(facts["sliders"], held["point"], strict=True)
        }
        try:
            found = dse.answer(page.parent, overrides=pairs, all=False, flips=False)
        except InfeasibleError:
            assert "pick" not in held, pairs
            continue
        assert held["pick"] == found.pick.line, pairs
        told = [one for one in found.sections if one.key in BRIEF]
        brief = [sections.Section(one.key, lines=one.brief or one.lines) for one in told]
        assert held["html"] == sections.html("", brief), pairs


def test_both_sides_of_each_flip_point_are_on_the_grid(facts: dict[str, Any]) -> None:
    answers = {tuple(one["point"]): one.get("pick") for one in facts["answers"]}
    own = [one["values"].index(one["value"]) for one in facts["sliders"]]
    for number, slider in enumerate(facts["sliders"]):
        for side in slider["flips"]:
            holds, at = (
                answers[(*own[:number], slider["values"].index(side[key]), *own[number + 1 :])]
                for key in ("holds", "at")
            )
            assert holds == answers[tuple(own)] != at


def test_what_has_no_proven_answers_is_refused(page: Path, tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="living: a page holds the answers of one run"):
        dse.report(page.parent, page.parent, living=True, out=tmp_path / "two.html")


@pytest.mark.skipif(PROGRAM is None, reason="no Chromium is installed")
def test_a_link_holds_the_state_and_what_is_between_is_not_computed(
    page: Path, facts: dict[str, Any], tmp_path: Path
) -> None:
    slider = facts["sliders"][0]
    value = slider["values"].index(slider["value"]) - 4
    text = slider["texts"][value]
    typed = text.replace(" Gbit/s", "Gbps")
    pick = {tuple(one["point"]): one.get("pick") for one in facts["answers"]}[
        (value, facts["sliders"][1]["values"].index(facts["sliders"][1]["value"]))
    ]
    with browser(tmp_path) as tab:
        tab.open(page)
        assert tab.problems == []
        tab.value(f"location.hash = 'rate={typed}'")
        answer = "document.getElementById('live-answer')"
        tab.until(f"{answer}.dataset.pick === {json.dumps(pick)}")
        shown = tab.value("document.getElementById('live-set').textContent")
        assert shown == f'--set "workload.rate={text}"'
        tab.value("document.querySelector('[data-path=\"workload.rate\"]').focus()")
        tab.key("ArrowRight", 39)
        after = slider["texts"][value + 1].replace(" ", "+").replace("/", "%2F")
        assert tab.value("location.hash") == f"#workload.rate={after}"
        tab.value(f"location.hash = 'rate={typed[:-4]}.01Gbps&prefer=area_m2'")
        tab.until(f"{answer}.textContent.startsWith('Not computed here.')")
        assert tab.value("document.getElementById('prefer').value") == "area_m2"
        tab.value(f"{answer}.querySelector('button').click()")
        tab.until(f"{answer}.dataset.pick === {json.dumps(pick)}")
        assert "prefer=area_m2" in tab.value("location.hash")
