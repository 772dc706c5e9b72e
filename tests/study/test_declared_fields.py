"""A field is declared once: what it sets, what stands for it, what it belongs to."""

from __future__ import annotations

import pytest

from dse import contract
from dse.errors import StudyError
from dse.study import study
from dse.study.assumptions import assumptions_of
from dse.study.workload_interface_budget import PATHS

STUDY = """
workload: {rate: 1 Gbit/s, granularity: 4 KiB}
stages: [{core: des, designs: [u16], instances: 2, clock: 1}]
interface: {overhead: 1 us, latency: 1 us, in_flight: 4}
objectives: {area: minimise}
"""


def test_every_figure_of_a_record_is_that_of_a_field() -> None:
    texts = {"name", "host", "includes", "source", "sources", "note"}
    figures = contract.Interface.__dataclass_fields__.keys() - texts
    figures -= contract.Sureness.__dataclass_fields__.keys()
    assert {f"interface_{name}" for name in figures} == {
        column for column in PATHS if column.startswith("interface_")
    }


def test_a_field_of_what_no_interface_has_is_refused_at_its_place() -> None:
    text = STUDY.replace("in_flight: 4", "in_flight: 4, segment: 1 kB, batch: 2")
    with pytest.raises(StudyError) as error:
        study.ready(study.read_study(text))
    assert str(error.value).splitlines() == [
        "study:4:58: interface.segment: '1 kB'; it describes segments that are sent again, and no "
        "interface of the study has any; add for instance `retransmit_share: 1 %` to `interface`",
        "study:4:73: interface.batch: 2; it describes a PCI Express link, and no interface of the "
        "study has one; add for instance `pcie: gen4 x8` to `interface`",
    ]


def test_an_axis_at_a_value_without_effect_is_no_assumption() -> None:
    found = study.ready(study.read_study(f"{STUDY}axes: {{interface.round_trip: [0 s]}}\n"))
    names = [one.name for one in assumptions_of(found)]
    assert "interface.overhead" in names
    assert "interface.round_trip" not in names
