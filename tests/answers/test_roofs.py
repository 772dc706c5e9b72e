"""The roofs over the recommended design, and the design that lifts the lowest."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dse
from dse.answers.plots import plot_roofs
from dse.answers.source import known_fronts
from tests.conftest import STUDIES

OFFLOADS = """\
# How many cores?
workload: {kernel: des, rate: 10 Gbit/s, granularity: 4 KiB}
stages:
  - core: des
    designs: [u8, u16]
    instances: {from: 1, to: 4}
interface: {device: sparc_t4_engine}
objectives: {area: minimise, total_power: minimise, offload_latency: minimise}
"""
ROOFS = {"compute": "peak", "link": "link_limit", "offload": "offload_limit"}


def roofs_of(answer: Any) -> dict[str, Any]:
    (found,) = answer.to_dict()["roofs"]
    return dict(found)


def test_a_roof_at_another_size_is_that_of_a_study_of_that_size() -> None:
    answer = dse.answer(OFFLOADS, flips=False, all=False)
    found = roofs_of(answer)
    (front,) = known_fronts(dse.load(OFFLOADS).document).points
    point = front.study.preferring(None, None).first(front.study.problem, front.front)
    for size in (4096, 64, 1 << 20):
        study = dse.load(OFFLOADS, overrides={"workload.granularity": f"{size} B"})
        columns = study.problem.describe(point)
        place = found["places"].index(size)
        for label, height in found["heights"].items():
            assert height[place] == pytest.approx(columns[f"{ROOFS[label]}_bit_per_s"][0])
    values = {one["label"]: one["value"] for one in found["limits"]}
    own = found["places"].index(found["at"])
    assert values == {label: height[own] for label, height in found["heights"].items()}
    assert [*values.values()] == sorted(values.values())


def test_what_lifts_the_lowest_roof_is_the_preferred_design_of_the_front_that_does() -> None:
    found = roofs_of(dse.answer(OFFLOADS, flips=False, all=False))
    front = dse.run(OFFLOADS).front
    roofs = front[[f"{name}_bit_per_s" for name in ROOFS.values()]].min(axis=1)
    beyond = front[roofs > found["limits"][0]["value"] * 1.01]
    assert 0 < len(beyond) < len(front)
    least = beyond.sort_values(["total_power_w", "area_m2", "offload_latency_s"]).iloc[0]
    lift = found["lift"]
    assert lift["quantities"]["total_power_w"] == least["total_power_w"]
    assert lift["limit"]["value"] == pytest.approx(roofs[least.name])
    assert lift["height"][found["places"].index(found["at"])] == lift["limit"]["value"]
    assert re.match(r"Lifting the lowest: .* \(.* more, then .*\) for .*more", found["text"])


def test_roofs_of_a_platform_bend_over_the_operational_intensity() -> None:
    study = STUDIES / "platforms_power_bound.yaml"
    fields = {"workload.intensity": "4 op/B", "sweep": "{}"}
    found = roofs_of(dse.answer(study, overrides=fields, flips=False, all=False))
    assert [one["label"] for one in found["limits"]] == ["cap", "compute", "memory"]
    assert found["limits"][0]["value"] == pytest.approx(found["reached"])
    memory = found["heights"]["memory"]
    assert found["places"][-1] / found["at"] == 256
    assert memory[-1] / memory[0] == pytest.approx(256 * 256)


def test_where_nothing_on_the_front_lifts_the_roof_the_answer_says_so() -> None:
    answer = dse.answer(STUDIES / "settop_116mbps.yaml", flips=False, all=False)
    found = roofs_of(answer)
    assert found["lift"] is None
    assert found["places"] == []  # nothing is offloaded
    said = "The lowest roof, compute: no design of the front lifts it by 1 %; --rate asks for more."
    assert said in answer.text(all=True)
    assert said not in answer.text()


@pytest.mark.parametrize(("more", "count"), [({}, 2), ({"sweep": "{workload.rate: [1 Gbps]}"}, 0)])
def test_the_roofs_are_drawn_of_a_run_that_recommends_a_design(
    more: dict[str, str], count: int, tmp_path: Path
) -> None:
    dse.run(OFFLOADS, out=tmp_path / "run", plots=False, overrides=more)
    drawn = plot_roofs(tmp_path / "run", tmp_path)
    assert [path.stat().st_size > 1000 for path in drawn] == [True] * count


def test_a_page_has_the_roofs_with_the_axes_on_which_they_bend(tmp_path: Path) -> None:
    dse.run(OFFLOADS, out=tmp_path / "run", plots=False)
    text = dse.report(tmp_path / "run").read_text(encoding="utf-8")
    (data,) = re.findall(r'id="data">(.*?)</script>', text)
    (roofs,) = json.loads(data)["roofs"]
    along = roofs["along"]
    heights = np.array([roofs["heights"][one["label"]] for one in roofs["limits"]])
    assert along["low"] <= heights.min(axis=0).min() / along["factor"] * (1 + 1e-9)
    assert along["high"] > roofs["reached"] / along["factor"]
