"""Labels: what people read in place of names, said once where all share it, and refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import dse
from dse.errors import StudyError
from dse.model.labels import COUNT_BEFORE_NAME, labelled, labelled_line, same_parts
from tests.conftest import ROOT

LABELS = {
    "u10": "AES, 10 rounds",
    "u10_half": "AES, 10 rounds, half clock",
    "nic_inline": "inline",
}
LINK = """\
interface: {name: my_link, label: %s, overhead: 1 us, latency: 1 us, link: 8 GB/s, max_in_flight: 8}
"""
TABLE = """\
design,label,area_um2,clock_mhz,cycles_per_block,power_mw
a,%s,7200,800,44,2.6
b,"AES, 5 rounds",12800,780,22,5.0
"""
STUDY = """\
workload: {rate: 1 Gbit/s, granularity: 4 KiB}
stages: [{table: aes.csv, values: {payload: 128 bit}}]
interface: {device: link.yaml, in_flight: 8, host_cores: 4, host_power: 8 W}
objectives: {area: minimise, power: minimise}
"""


def test_labels_stand_for_names_and_what_is_the_same_is_left_out() -> None:
    names = ["2 u10_half", "1 u10 + 3 u10_half"]
    assert labelled(names[1], LABELS) == "1 AES (10 rounds) + 3 AES (10 rounds, half clock)"
    same = same_parts(names, LABELS)
    assert same == ["AES", "10 rounds"]
    assert [labelled(one, LABELS, same) for one in names] == [
        "2 (half clock)",
        "1 + 3 (half clock)",
    ]
    assert labelled_line("2 u16, nic_inline, in flight 2", LABELS) == "2 u16, inline, in flight 2"
    assert same_parts([*names, "2 u16"], LABELS) == same_parts(["2 u10"], LABELS) == []
    assert COUNT_BEFORE_NAME.findall("2 AES (10 rounds, 3 cycles) + 4 u16 -> 7 fft") == [
        "2",
        "4",
        "7",
    ]


def written(folder: Path, device: str, design: str) -> Path:
    (folder / "link.yaml").write_text(LINK % device)
    (folder / "aes.csv").write_text(TABLE % design)
    (folder / "study.yaml").write_text(STUDY)
    return folder / "study.yaml"


def test_people_read_labels_and_files_have_names(tmp_path: Path) -> None:
    result = dse.run(written(tmp_path, "our link", '"AES, 1 round"'), out=tmp_path / "out")
    assert "AES (5 rounds)" in result.text()
    assert "my_link" not in result.text().partition("note:")[0]
    assert "aes.b" in (tmp_path / "out" / "front.csv").read_text().splitlines()[0]
    answer = dse.answer(result, flips=False)
    assert "AES (" in answer.text()
    assert "AES" not in json.dumps(answer.to_dict()["answer"])


@pytest.mark.parametrize(
    ("device", "design", "said"),
    [
        (f'"{"x" * 65}"', "x", "link.yaml:1:28: interface.label: 'xxx"),
        ('"two\\nlines"', "x", "a label is one line of plain text"),
        ('" "', "x", "this label is empty; write a few words, or none"),
        ("fine", "tab\there", "aes.csv:2:3: label: 'tab\\there'; a label is one line"),
        ("fine", '"AES, 5 rounds"', "another design is labelled 'AES, 5 rounds' too"),
    ],
)
def test_labels_that_are_none_are_refused(
    tmp_path: Path, device: str, design: str, said: str
) -> None:
    with pytest.raises(StudyError) as caught:
        dse.load(written(tmp_path, device, design))
    assert said in str(caught.value)


def test_devices_of_an_axis_have_labels_of_their_own(tmp_path: Path) -> None:
    links = (LINK % "inline").replace("my_link", "other")
    (tmp_path / "link.yaml").write_text(links)
    text = (ROOT / "studies" / "tls_100gbps.yaml").read_text()
    text = text.replace("[interfaces/", f"[{tmp_path}/link.yaml, {ROOT}/studies/interfaces/", 1)
    text = text.replace(" interfaces/", f" {ROOT}/studies/interfaces/")
    (tmp_path / "study.yaml").write_text(text)
    with pytest.raises(StudyError, match="another of the choices is called 'inline' too"):
        dse.load(tmp_path / "study.yaml")
