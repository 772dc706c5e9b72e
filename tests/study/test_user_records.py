"""Records of a user's own: by path where a name may stand, and carried along with the result."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from pathlib import Path

import numpy as np
import pytest

import dse
from dse.errors import OutputError, StudyError
from dse.files.document import parse_document
from dse.files.yaml import to_yaml
from dse.runs import finished
from dse.study import records as user_records
from dse.study import study
from tests.conftest import ROOT, faults, run_dse

CORE = {
    "name": "my_des",
    "parameters": {"unroll": {"low": 1, "high": 16, "integer": True}},
    "laws": {
        "area": {"form": "affine", "over": ["unroll"], "coefficients": ["4600 um2", "3500 um2"]},
        "dynamic_power": {"form": "power", "over": ["unroll"], "coefficients": ["0.7 mW", 0.9]},
        "clock": "645 MHz",
        "payload": "64 bit",
        "cycles_per_task": {
            "form": "power",
            "over": ["unroll"],
            "coefficients": ["16 cycles/task", -1],
        },
    },
}
LINK = {
    "name": "my_link",
    "host_clock": "3 GHz",
    "overhead": "1 us",
    "latency": "0.1 ns/B",
    "link": "8 GB/s",
    "max_in_flight": 64,
    "host_cores": 8,
    "host_power": "80 W",
}
KERNEL = {"name": "aes_here", "index": "1.2 ns/B", "offset": "100 ns"}
BOARD = {"name": "board", "usable_power": "9 W", "memory_bandwidth": "60 GB/s"}
ORIGIN = {"method": "by hand", "file": "data.csv", "date": "2026-01-31"}
STUDY = """\
# Which fleet, and which link?
workload: {rate: 50 Gbit/s, granularity: 64 KiB, kernel: records/link.yaml}
stages: [{core: records/my law.yaml, parameters: {unroll: [1, 16, 20]}}]
budget: {platform: records/board.yaml}
axes:
  interface.device: [records/link.yaml, sparc_t4_engine]
  interface.in_flight: [1, 2, 4, 8]
objectives: {area: minimise, total_power: minimise}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a space in its name: a study and its records."""
    folder = tmp_path / "my studies"
    records = folder / "records"
    user_records.write_record(records / "my law.yaml", {"core": CORE}, ORIGIN)
    user_records.write_record(records / "link.yaml", {"interface": LINK, "kernel": KERNEL}, ORIGIN)
    user_records.write_record(records / "board.yaml", {"platform": BOARD}, ORIGIN)
    (folder / "study.yaml").write_text(STUDY)
    return folder


def test_records_stand_where_names_do_and_results_say_so(folder: Path) -> None:
    prepared = study.prepare(study.read_study(folder / "study.yaml"))
    (stage,) = prepared.problem.stages
    assert (stage.name, stage.designs.names) == ("my_law", ("unroll1", "unroll16", "unroll20"))
    metrics = stage.designs.metrics
    unroll = np.array([1.0, 16.0, 20.0])
    assert metrics.area_m2 == pytest.approx((4600 + 3500 * unroll) * 1e-12)
    assert metrics.dynamic_power_w == pytest.approx(0.7e-3 * unroll**0.9)
    assert metrics.latency_cycles == pytest.approx(16 / unroll)  # Little's law, one in flight
    assert metrics.extrapolated.tolist() == [0, 0, 1]
    device = prepared.problem.space.axes[-2]
    assert device.labels == ("my_link", "sparc_t4_engine")
    assert device.columns["interface_overhead_s"].tolist() == [1e-6, 0]
    assert prepared.problem.space.constants["kernel_offset_s"] == 1e-7
    assert prepared.problem.space.constants["budget_memory_byte_per_s"] == 60e9
    note = next(note for note in prepared.notes if note.startswith("core"))
    digest = prepared.inputs["records/my law.yaml"].sha256[:12]
    assert note == (
        f"core my_des comes from records/my law.yaml (sha256 {digest}): "
        "by hand, data.csv, 2026-01-31"
    )


def test_a_run_carries_its_records_along(folder: Path, tmp_path: Path) -> None:
    result = dse.run(folder / "study.yaml", out=tmp_path / "run")
    shutil.rmtree(folder)
    shutil.move(tmp_path / "run", tmp_path / "moved")
    manifest = json.loads((tmp_path / "moved" / "manifest.json").read_text())
    assert list(manifest["inputs"]) == [
        "records/link.yaml",
        "records/board.yaml",
        "records/my law.yaml",
    ]
    ((prepared, index),) = finished.read_run(tmp_path / "moved").points()
    assert (index == result.run.answers[0].outcome.front_index).all()
    for name, entry in manifest["inputs"].items():
        assert prepared.inputs[name].sha256 == entry["sha256"]


def test_a_record_outside_the_folder_of_the_study_stays_inside_the_run(
    folder: Path, tmp_path: Path
) -> None:
    shutil.move(folder / "records", tmp_path / "records")
    text = STUDY.replace("records/", "../records/")
    text = text.replace("../records/board.yaml", str(tmp_path / "records" / "board.yaml"))
    (folder / "study.yaml").write_text(text)
    result = dse.run(folder / "study.yaml", out=tmp_path / "run")
    shutil.rmtree(tmp_path / "records")
    ((_, index),) = finished.read_run(tmp_path / "run").points()
    assert (index == result.run.answers[0].outcome.front_index).all()


@pytest.mark.parametrize("change", ["\r\n", "\ufeff"])
def test_line_ends_and_marks_of_other_systems(change: str, folder: Path) -> None:
    before = study.prepare(study.read_study(folder / "study.yaml"))
    path = folder / "records" / "link.yaml"
    text = path.read_text()
    text = change + text if change == "\ufeff" else text.replace("\n", change)
    path.write_bytes(text.encode())
    after = study.prepare(study.read_study(folder / "study.yaml"))
    constants = before.problem.space.constants
    assert constants.items() <= after.problem.space.constants.items()
    assert after.inputs != before.inputs


def test_a_file_that_is_not_there_or_holds_something_else(folder: Path) -> None:
    text = STUDY.replace("records/link.yaml,", "records/lnk.yaml,", 1)
    (folder / "study.yaml").write_text(text.replace("law.yaml", "law.yml").replace("board", "link"))
    assert faults(folder / "study.yaml") == [
        "study.yaml:3:11: stages.0.core: 'records/my law.yml'; there is no file "
        "'records/my law.yml'; a path is relative to the study file",
        "study.yaml:4:10: budget.platform: 'records/link.yaml'; the file has no section "
        "`platform`; it has interface, kernel",
        "study.yaml:6:22: axes.interface.device.0: 'records/lnk.yaml'; there is no file "
        "'records/lnk.yaml'; a path is relative to the study file",
    ]


def test_two_choices_of_one_name(folder: Path) -> None:
    link = dict(LINK, name="sparc_t4_engine")
    path = folder / "records" / "link.yaml"
    path.unlink()
    user_records.write_record(path, {"interface": link}, ORIGIN)
    assert any("another of the choices is called" in line for line in faults(folder / "study.yaml"))


def test_a_record_is_not_overwritten_by_accident(tmp_path: Path) -> None:
    path = tmp_path / "link.yaml"
    user_records.write_record(path, {"interface": LINK}, ORIGIN)
    with pytest.raises(OutputError, match=r"is there already; name another file, or delete it"):
        user_records.write_record(path, {"kernel": KERNEL}, ORIGIN)
    with pytest.raises(StudyError):
        user_records.write_record(
            tmp_path / "kernel.yaml", {"kernel": {"name": "no index"}}, ORIGIN
        )
    assert list(user_records.read_record(path).records) == ["interface"]
    assert [entry.name for entry in tmp_path.iterdir()] == ["link.yaml"]


def test_what_is_written_is_what_is_read() -> None:
    data = {
        "text": ["x, y", "null", "1e5", "a: b", "a #b", "- x", "é", "", " lead", "{", "0.5 us/B"],
        "numbers": {"a": 1e-300, "b": -3, "c": True, "d": None, "e f": {"g": []}},
        "lines": "two\nlines\tand a tab",
    }
    assert parse_document(to_yaml(data), "file").data == data


def test_the_page_on_records_works(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "records.md").read_text(encoding="utf-8")
    question, link = re.findall(r"^```yaml\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    (first,) = re.findall(r"^dse (.*)$", page, re.MULTILINE)
    (tmp_path / "records").mkdir()
    (tmp_path / "study.yaml").write_text(question)
    (tmp_path / "records" / "link.yaml").write_text(link)
    user_records.write_record(tmp_path / "records" / "board.yaml", {"platform": BOARD}, ORIGIN)
    shutil.copytree(ROOT / "cores" / "tables", tmp_path / "cores" / "tables")
    assert run_dse(*shlex.split(first), cwd=tmp_path).returncode == 0
    assert study.prepare(study.read_study(tmp_path / "study.yaml")).problem.size == 16 * 2


def test_list_and_show_know_the_records_of_the_working_directory(folder: Path) -> None:
    (folder / "records" / "broken.yaml").write_text("core: 3\n")
    listed = run_dse("list", "interfaces", cwd=folder)
    assert listed.returncode == 0
    assert "my_link" in listed.stdout
    assert "records/link.yaml" in listed.stdout
    assert "omitted: records/broken.yaml:1:1: core" in listed.stderr
    names = ("my_des", "records/my law.yaml", "records/no.yaml")
    by_name, by_path, missing = (run_dse("list", name, cwd=folder) for name in names)
    assert by_name.stdout == by_path.stdout
    assert "area = 4600 um2 + 3500 um2 * unroll" in by_path.stdout
    assert "by hand" in by_path.stdout
    assert "there is no file 'records/no.yaml'" in missing.stderr
