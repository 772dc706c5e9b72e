"""Hardware as axes of a study: figures are those of the table, files count, faults have places."""

from __future__ import annotations

from pathlib import Path

import pytest

import dse
from dse.errors import StudyError
from dse.silicon.yosys import found_yosys
from dse.study import study
from tests.silicon.test_characterise import TASK, in_folder_of_hash
from tests.silicon.toy import TOY

pytestmark = pytest.mark.skipif(not found_yosys(), reason="needs pyosys or yosys")

SETTINGS = """{{library: {library}, top: hash, check: "vectors_{{UNROLL}}.csv", payload: 16 bit,
    cycles_per_task: 8 / UNROLL, latency: 8 / UNROLL}}"""
STUDY = f"""\
axes:
  UNROLL: [1, 4]
  target: [400 MHz]
evaluate:
  using: characterise
  files: [hash.v]
  settings: {SETTINGS}
objectives: {{{{area: minimise, task_energy: minimise, throughput: maximise}}}}
"""
FLEET = f"""\
workload: {{{{rate: 20 Gbit/s}}}}
stages:
  - name: hash
    core:
      using: characterise
      files: [hash.v]
      settings: {SETTINGS}
    parameters: {{{{UNROLL: [1, 4]}}}}
    instances: {{{{from: 1, to: 8}}}}
objectives: {{{{area: minimise, power: minimise}}}}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    in_folder_of_hash(tmp_path, monkeypatch)
    (tmp_path / "cells.lib").write_bytes(TOY.read_bytes())
    for name, text in (("study", STUDY), ("fleet", FLEET)):
        (tmp_path / f"{name}.yaml").write_text(text.format(library="cells.lib"))
    return tmp_path


def test_a_study_finds_what_the_table_has(folder: Path) -> None:
    found = dse.run("study.yaml", out="run", workers=2).front
    own = dse.verilog("hash.v", top="hash", check="vectors_{UNROLL}.csv", **TASK)
    table = dse.characterise(own, library=TOY, over="UNROLL=1,4", targets="400 MHz").designs
    for design, row in zip(table, found.to_dict("records"), strict=True):
        figures = design.figures
        power_w = figures["dynamic_power_w"] + figures["leakage_power_w"]
        task_s = figures["cycles_per_task"] / figures["clock_hz"]
        assert row["UNROLL"] == design.parameters["UNROLL"]
        assert row["area_m2"] == pytest.approx(figures["area_m2"], rel=1e-12)
        assert row["clock_hz"] == pytest.approx(figures["clock_hz"], rel=1e-12)
        assert row["task_energy_j"] == pytest.approx(power_w * task_s, rel=1e-12)
        assert row["throughput_bit_per_s"] == pytest.approx(16 / task_s, rel=1e-12)


def test_designs_are_those_of_a_core_in_a_fleet(folder: Path) -> None:
    """By hand: one word takes 8 / UNROLL cycles, and 20 Gbit/s as many cores as carry them."""
    front = dse.run("fleet.yaml", out="run").front
    own = dse.verilog("hash.v", top="hash", check="vectors_{UNROLL}.csv", **TASK)
    table = dse.characterise(own, library=TOY, over="UNROLL=1,4", targets="fastest")
    each = {one.name: one for one in table.designs}
    least = min(
        -(-20e9 // (16 * one.figures["clock_hz"] / one.figures["cycles_per_task"]))
        * one.figures["area_m2"]
        for one in each.values()
    )
    assert front["area_m2"].min() == pytest.approx(least, rel=1e-12)


def test_a_clock_that_cannot_be_met_is_infeasible(folder: Path) -> None:
    text = (folder / "study.yaml").read_text().replace("target: [400 MHz]", "clock: [1 MHz, 9 GHz]")
    outputs = "  outputs: {area: um2, throughput: Gbit/s}\nobjectives: {area: minimise, throughput"
    head, _, _ = text.partition("objectives")
    (folder / "study.yaml").write_text(f"{head}{outputs}: maximise}}\n")
    found = dse.run("study.yaml", out="run")
    assert {*found.front["clock_hz"]} == {1e6}
    assert "infeasible" in str(found)


@pytest.mark.parametrize("name", ["hash.v", "cells.lib", "vectors_4.csv"])
def test_another_content_of_a_file_is_measured_again(folder: Path, name: str) -> None:
    def identity() -> str:
        measured = study.prepare(study.read_study(folder / "study.yaml")).problem.measured
        assert measured is not None
        return measured.bench.evaluator.identity

    before = identity()
    assert identity() == before
    path = folder / name
    ends = (
        "\n// twice\n" if name == "hash.v" else "/* twice */" if name == "cells.lib" else "1,2,-\n"
    )
    path.write_text(path.read_text() + ends)
    assert identity() != before


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("{library:", "{libary:", "libary: characterise has no such setting; did you mean 'libr"),
        ("library: cells.lib, ", "", "library: logic is mapped to a library; add for instance"),
        ("cells.lib", "cell.lib", "no such file: 'cell.lib'; did you mean 'cells.lib'?"),
        ("top: hash, ", "", "top: Verilog of your own needs it; name the outermost module"),
        ("{library:", "{target: 1 GHz, library:", "target: it is an axis of this study, and set"),
        (
            "{library:",
            "{full_adders: maybe, library:",
            "full_adders: maybe; it is on or off; write",
        ),
        ("files: [hash.v]", "files: []", "hardware is the files of Verilog, or a generator"),
        ("UNROLL: [1, 4]", "UNROLL: [1, 3]", "no such file: 'vectors_3.csv'"),
        ("payload: 16 bit", "payload: 16 um2", "payload: '16 um2'; a value in bit is needed"),
        ("{library:", "{supply: 1, library:", "supply: characterise has no such setting"),
        ("using: characterise", "command: [echo]", "settings are those of a plug-in; remove them"),
    ],
)
def test_settings_are_checked_before_anything_is_mapped(
    folder: Path, old: str, new: str, expected: str
) -> None:
    path = folder / "study.yaml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    with pytest.raises(StudyError) as raised:
        study.prepare(study.read_study(path))
    assert expected in str(raised.value).replace(f"{folder}/", "")
