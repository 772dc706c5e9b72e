"""Studies to start from run as they are, and replace nothing."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import dse
from dse.errors import OutputError
from dse.installation import inventory
from dse.study import study
from dse.study.schema import json_schema
from tests.conftest import STUDIES, run_dse


def test_it_runs_as_it_is(tmp_path: Path) -> None:
    path, schema = inventory.new_study(tmp_path / "my first")
    assert path.name == "my first.yaml"
    first, second, *_ = path.read_text(encoding="utf-8").splitlines()
    assert first == f"# yaml-language-server: $schema={schema.name}"
    assert json.loads(schema.read_text(encoding="utf-8")) == json_schema()
    assert dse.load(path).question == second.removeprefix("# ")
    assert second.endswith("?")
    schema.write_text("of what was installed before", encoding="utf-8")
    inventory.new_study(tmp_path / "my second")
    assert json.loads(schema.read_text(encoding="utf-8")) == json_schema()
    result = dse.run(path)
    assert result.manifest["exact"]
    assert len(result.front) > 1


def test_what_is_off_works_when_it_is_turned_on(tmp_path: Path) -> None:
    """Every commented field, all at once: only the comment has to go."""
    path, _ = inventory.new_study(tmp_path / "study.yaml")
    text = path.read_text(encoding="utf-8")
    code = re.compile(r"^( *)# ((?: *- | *[a-z_.]+: ).*|[a-z]+:)$", re.MULTILINE)
    assert len(code.findall(text)) == 17
    path.write_text(code.sub(r"\1\2", text), encoding="utf-8")
    sections = set(study.read_study(path).data)
    assert {"interface", "budget", "axes", "constraints", "sweep"} <= sections
    front = dse.run(path).front
    assert front["workload.rate_bit_per_s"].nunique() > 1
    assert front["workload.granularity_byte"].nunique() >= 1
    assert {"total_power_w", "offload_latency_s"} <= set(front.columns)


@pytest.mark.parametrize("path", [*STUDIES.glob("*.yaml")], ids=lambda path: path.stem)
def test_a_study_that_comes_with_the_program_is_copied_with_what_it_reads(
    path: Path, tmp_path: Path
) -> None:
    done = run_dse("new", "study", "--from", path.stem, cwd=tmp_path)
    *told, last = done.stdout.splitlines()
    assert last == f"{path.name} is written; try: dse run ./{path.name}"
    written = [file.relative_to(tmp_path) for file in tmp_path.rglob("*.yaml")]
    records = sorted(file for file in written if str(file) != path.name)
    read = [f"{record} is written, which the study reads" for record in records]
    assert sorted(told) == sorted([*read, "dse.schema.json is written, which editors read"])
    for file in records:
        assert (tmp_path / file).read_bytes() == (STUDIES / file).read_bytes()
    run_dse("new", "study", "mine", "--from", path.name, cwd=tmp_path)
    copy = b"# yaml-language-server: $schema=dse.schema.json\n" + path.read_bytes()
    assert (tmp_path / path.name).read_bytes() == (tmp_path / "mine.yaml").read_bytes() == copy
    assert dse.load(tmp_path / "mine.yaml").question == dse.load(path).question
    checked = run_dse("check", "mine.yaml", cwd=tmp_path)
    assert checked.returncode == 0, checked.stderr
    assert path.stem in run_dse("list", "studies").stdout


def test_a_record_of_another_content_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "interfaces").mkdir()
    record = tmp_path / "interfaces" / "pcie_gen4_x16.yaml"
    record.write_text("mine", encoding="utf-8")
    with pytest.raises(OutputError) as caught:
        inventory.new_study(tmp_path / "study.yaml", "nic_crypto_100gbps")
    assert str(caught.value) == (f"{record} exists already; write the study to another folder")
    assert [file for file in tmp_path.rglob("*") if file.is_file()] == [record]
    assert record.read_text(encoding="utf-8") == "mine"


def test_nothing_is_replaced(tmp_path: Path) -> None:
    path, _ = inventory.new_study(tmp_path / "study.yaml")
    path.write_text("mine", encoding="utf-8")
    with pytest.raises(OutputError, match=r"study\.yaml exists already; name another file"):
        inventory.new_study(path)
    assert path.read_text(encoding="utf-8") == "mine"
    with pytest.raises(OutputError, match=r"study\.json does not end in \.yaml; name"):
        inventory.new_study(tmp_path / "study.json")
    with pytest.raises(OutputError, match=r"study\.yaml exists already; name another file"):
        inventory.new_study(path / "below")


def test_a_place_that_cannot_be(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=r"cannot be written: File name too long"):
        inventory.new_study(tmp_path / ("x" * 300))
