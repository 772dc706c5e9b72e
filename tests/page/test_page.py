"""The page of a run: what it holds, what it refuses, and that nothing in it is executed."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ruamel.yaml import YAML

import dse
from dse.algebra import units
from dse.errors import OutputError
from dse.page import document
from dse.page.contents import binary_steps, unit_steps
from tests.conftest import ROOT, STUDIES, run_dse

EVIL = '</script><script>alert(1)</script><!-- "quotes" & {{study}} -->'
TINY = """\
# {question}
workload: {{rate: 10 Gbit/s}}
stages:
  - core: des
    instances: least
objectives: {objectives}
{more}
"""
BOTH = "{area: minimise, power: minimise}"


def tiny(question: str = "Which?", objectives: str = BOTH, more: str = "") -> str:
    return TINY.format(question=question, objectives=objectives, more=more)


class Reader(HTMLParser):
    """Collects the elements of a page, and the text inside scripts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def data_of(page: Path) -> dict[str, Any]:
    text = page.read_text(encoding="utf-8")
    (found,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', text)
    held: dict[str, Any] = json.loads(found)
    return held


def unpacked(packed: Any) -> list[Any]:
    if isinstance(packed, list):
        return packed
    return [packed["labels"][code] for code in packed["codes"]]


@pytest.mark.parametrize("name", ["jacobi_bandwidth", "des_100gbps"])
def test_the_page_holds_the_front_that_the_run_wrote(name: str, tmp_path: Path) -> None:
    result = dse.run(STUDIES / f"{name}.yaml", out=tmp_path / "run", plots=False)
    held = data_of(dse.report(result))
    front = result.front
    fleets = held["columns"].keys() - front.columns  # which the names of the designs say
    assert all(re.fullmatch(r"(\w+ )?(core|instances)", column) for column in fleets)
    for column in held["columns"].keys() - fleets:
        assert unpacked(held["front"][column]) == front[column].tolist(), column
    assert unpacked(held["design"]) == [*result.shown.codes]
    assert held["objectives"] == list(result.manifest["objectives"])
    cloud = np.frombuffer(base64.b64decode(held["cloud"]["columns"]["area_m2"]), dtype="<f4")
    evaluations = result.evaluations
    areas = evaluations[evaluations["feasible"]]["area_m2"].to_numpy()
    factor = held["columns"]["area_m2"]["axis"]["factor"]
    np.testing.assert_allclose(np.sort(cloud * factor), np.sort(areas), rtol=1e-6)


def test_the_cloud_of_a_sweep_of_choices_stands_at_its_choices(tmp_path: Path) -> None:
    name = "des_100gbps_by_synthesis"
    result = dse.run(STUDIES / f"{name}.yaml", out=tmp_path / "run", plots=False)
    held = data_of(dse.report(result))
    places = np.frombuffer(base64.b64decode(held["cloud"]["columns"]["des.core"]), dtype="<f4")
    labels = np.array(held["front"]["des.core"]["labels"])
    evaluations = result.evaluations
    cores = evaluations[evaluations["feasible"]]["des.core"].to_numpy(dtype=str)
    assert labels[places.astype(int)].tolist() == cores.tolist()
    assert result.text().count(" designs over 3 values, ") == 1


def test_fewer_feasible_designs_are_drawn_than_there_are_and_the_page_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dse.page.contents.MOST_CLOUD", 100)
    dse.run(STUDIES / "jacobi_bandwidth.yaml", out=tmp_path / "run", plots=False)
    page = dse.report(tmp_path / "run")
    assert data_of(page)["cloud"]["size"] == 100
    text = page.read_text(encoding="utf-8")
    assert "run: 100 feasible designs in grey, drawn at random from 640." in text


def test_text_of_a_study_stays_text(tmp_path: Path) -> None:
    plain = dse.report(dse.run(tiny(), out=tmp_path / "plain", plots=False))
    evil = dse.report(dse.run(tiny(EVIL), out=tmp_path / "evil", plots=False))
    one, two = (Reader(page.read_text(encoding="utf-8")) for page in (plain, evil))
    assert one.tags == two.tags
    assert any(EVIL in text for text in two.texts)  # as it was written, in the study
    assert data_of(evil)["title"].split() == EVIL.split()
    lines = f"{EVIL}\u2028\u2029"
    inert = document.inert_json({"text": lines, "none": float("nan")})
    assert not set("<>&\u2028\u2029") & set(inert)
    assert json.loads(inert) == {"text": lines, "none": None}


def test_a_page_asks_for_no_other_file(tmp_path: Path) -> None:
    page = dse.report(dse.run(tiny(), out=tmp_path / "run", plots=False))
    text = page.read_text(encoding="utf-8")
    assert "default-src 'none'" in text
    outside = re.compile(
        r"<(?:link|img|iframe)\b|<script[^>]*\bsrc=|@import|\burl\(", re.IGNORECASE
    )
    ours = text.replace(document.TEMPLATE.joinpath("echarts/echarts.min.js").read_text("utf-8"), "")
    assert not outside.search(ours)


def test_a_page_is_read_without_scripts(tmp_path: Path) -> None:
    result = dse.run(STUDIES / "jacobi_bandwidth.yaml", out=tmp_path / "run", plots=False)
    text = dse.report(result).read_text(encoding="utf-8")
    prose = " ".join(Reader(text).texts)
    assert f"Take {dse.answer(result, flips=False).pick.line}." in prose
    assert "This is the Pareto front: every design of the study is accounted for." in prose
    (front,) = re.findall(r'without-script prose">(.*?)</div></div>', text, re.DOTALL)
    assert front.count("<tr>") == 1 + len(result.front)


def test_the_nearest_changes_are_on_the_page_and_all_with_the_map_when_asked(
    tmp_path: Path,
) -> None:
    dse.run(STUDIES / "settop_116mbps.yaml", out=tmp_path / "run", plots=False)
    near = data_of(dse.report(tmp_path / "run"))
    (section,) = (one for one in dse.answer(tmp_path / "run").sections if one.key == "flips")
    assert near["fragile"] == [*section.brief]
    assert 'id="where"' not in (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    found = data_of(dse.report(tmp_path / "run", flips=True))["flips"]
    assert near["flips"]["range_factor"] < found["range_factor"]
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert 'id="where"' in page
    assert page.count("data:image/svg+xml;base64,") == 1
    rate = next(one for one in found["assumptions"] if one["assumption"] == "workload.rate")
    direct = dse.flips(tmp_path / "run", only="rate").to_dict()["assumptions"][0]
    assert rate["above"]["relative_change"] == pytest.approx(direct["above"]["relative_change"])


def test_a_run_that_was_changed_gets_no_page(tmp_path: Path) -> None:
    run = tmp_path / "run"
    dse.run(tiny(), out=run, plots=False)
    dse.report(run)
    assert dse.verify(run).text()  # the page beside them does not disturb the files of the run
    front = run / "front.csv"
    front.write_text(front.read_text().replace("e-08", "e-09"))
    with pytest.raises(OutputError) as caught:
        dse.report(run, out=tmp_path / "page.html")
    assert str(caught.value) == (
        f"{run} was changed since it was run: front.csv is not the file that the run wrote; "
        f"run the study again, or see all with: dse verify {run}"
    )
    assert not (tmp_path / "page.html").exists()


def test_a_page_says_what_ran_and_strikes_out_what_did_not(tmp_path: Path) -> None:
    study = STUDIES / "settop_116mbps.yaml"
    dse.run(study, out=tmp_path / "run", plots=False, overrides="workload.rate=73 Mbps")
    text = dse.report(tmp_path / "run").read_text(encoding="utf-8")
    assert "<p>It ran with <code>--set &#x27;workload.rate=73 Mbps&#x27;</code></p>" in text
    (struck,) = re.findall(r"<del>(.*?)</del>", text)
    assert struck.split()[0] == "rate:"


def test_a_page_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    dse.run(tiny(), out=tmp_path / "run", plots=False)
    (tmp_path / "taken.html").mkdir()
    with pytest.raises(OutputError, match=r"taken\.html cannot be written"):
        dse.report(tmp_path / "run", out=tmp_path / "taken.html")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run", "taken.html"]


def test_a_run_writes_its_page_and_a_second_run_replaces_it(tmp_path: Path) -> None:
    (tmp_path / "study.yaml").write_text(tiny(), encoding="utf-8")
    command = ("run", "study.yaml", "--out", "run", "--no-plots", "--report")
    for _ in range(2):
        assert run_dse(*command, cwd=tmp_path).returncode == 0
    assert (tmp_path / "run" / "report.html").is_file()


def test_an_infeasible_study_gets_a_page_of_words(tmp_path: Path) -> None:
    study = tiny(EVIL, more="constraints: [area <= 1 um2]")
    (tmp_path / "study.yaml").write_text(study, encoding="utf-8")
    command = ("run", "study.yaml", "--out", "run", "--report")
    done = run_dse(*command, cwd=tmp_path)
    assert done.returncode == 3
    text = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    told = Reader(text)
    assert "No feasible design" in told.texts
    assert "no design meets: area <= 1 um2" in told.texts
    assert any(line.startswith("Nearest design: ") for line in told.texts)
    assert "--set 'constraints.0=area <= " in " ".join(told.texts)
    assert not {"front", "assumptions", "certificate"} & {*re.findall(r'id="(\w+)"', text)}
    assert "<select" not in text
    assert "echarts" not in text
    (tmp_path / "study.yaml").write_text(tiny(), encoding="utf-8")
    assert run_dse("run", "study.yaml", "--out", "run", cwd=tmp_path).returncode == 0
    (tmp_path / "study.yaml").write_text(study, encoding="utf-8")
    again = run_dse(*command, cwd=tmp_path)
    assert again.returncode == 3
    assert "run holds an earlier run, so that no page was written there" in again.stderr


@pytest.mark.parametrize(
    "name",
    ["area_m2", "power_w", "offload_latency_s", "throughput_bit_per_s", "granularity_byte", "x"],
)
def test_units_of_the_page_are_those_of_the_program(name: str) -> None:
    steps, binary = unit_steps(name), binary_steps(name)
    for value in np.geomspace(1e-18, 1e15, 331).tolist():
        size = float(f"{value:.3e}")
        factor, label = next(step[1:] for step in reversed(steps) if step[0] <= size)
        assert (factor, label) == units.scale([value], name), value
    assert bool(binary) == (name == "granularity_byte")


def test_what_is_vendored_is_what_its_provenance_says() -> None:
    folder = ROOT / "dse" / "page" / "template" / "echarts"
    said = YAML(typ="safe").load(folder / "provenance.yaml")
    assert {path.name for path in folder.iterdir()} == {*said["files"], "provenance.yaml"}
    for name, facts in said["files"].items():
        content = (folder / name).read_bytes()
        assert hashlib.sha256(content).hexdigest() == facts["sha256"], name
    assert f'version="{said["version"]}"' in (folder / "echarts.min.js").read_text("utf-8")


def test_scripts_hold_no_tag_that_ends_them() -> None:
    for path in (ROOT / "dse" / "page" / "template").rglob("*.js"):
        text = path.read_text(encoding="utf-8").lower()
        assert "</script" not in text, path
        assert "<!--" not in text, path
