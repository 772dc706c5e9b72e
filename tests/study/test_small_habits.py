"""What people write: another spelling, a link without a space."""

from __future__ import annotations

import pytest

import dse
from dse.algebra import units
from dse.errors import UnitError
from dse.study.schema import json_schema
from tests.conftest import Write, faults, problem_of

STUDY = """\
workload: {rate: 10 Gbit/s, granularity: 4 KiB}
stages: [{core: des, designs: [u16]}]
interface: {overhead: 100 ns, link: 20 GB/s, in_flight: 8}
objectives: {area: minimize, power: min}
"""


def test_a_link_needs_no_space_and_the_slower_of_two_counts(write: Write) -> None:
    link = "pcie: gen5x8, round_trip: 1 us"
    path = write(STUDY.replace("in_flight: 8", f"in_flight: 8, {link}"))
    assert "interface: of `link` and `pcie`, the slower counts" in dse.load(path).notes
    spaced = STUDY.replace("in_flight: 8", f"in_flight: 8, {link.replace('5x', '5 x')}")
    one, other = (problem_of(p).space.values("interface_pcie") for p in (path, write(spaced)))
    assert one.tolist() == other.tolist()


def test_buffers_without_area_store_nothing_and_leak_nothing(write: Write) -> None:
    none = STUDY.replace("in_flight: 8", "in_flight: 8, buffer_area: 0 um2/bit")
    problem = problem_of(write(none))
    assert problem.space.values("interface_buffer_leakage_w_per_bit").tolist() == [0.0]
    written = none.replace("buffer_area", "buffer_leakage: 3 pW/bit, buffer_area")
    problem = problem_of(write(written))
    assert problem.space.values("interface_buffer_leakage_w_per_bit").tolist() == [3e-12]


def test_the_schema_has_the_senses_that_are_read() -> None:
    senses = json_schema()["properties"]["objectives"]["additionalProperties"]["enum"]
    assert senses == ["minimise", "maximise", "minimize", "maximize", "min", "max"]


@pytest.mark.parametrize(("written", "meant"), [("gbit/s", "Gbit/s"), ("mw/mm2", "mW/mm2")])
def test_a_unit_in_other_letters_suggests_the_whole_unit(written: str, meant: str) -> None:
    with pytest.raises(UnitError) as caught:
        units.factor(written)
    assert f"'{meant}'" in caught.value.remedy


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("pcie_gen5", "pcie: gen5 x16"),
        ("gen3x16", "pcie: gen3 x16"),
        ("inline", "attachment: inline"),
    ],
)
def test_a_value_of_a_field_is_no_device_and_names_its_field(
    write: Write, written: str, meant: str
) -> None:
    (fault,) = faults(write(STUDY.replace("overhead: 100 ns", f"device: {written}")))
    assert fault.endswith(f"{written!r} is not a known interface; did you mean {meant!r}?")
    beside = f"device: {written}, overhed: 100 ns"
    assert fault in faults(write(STUDY.replace("overhead: 100 ns", beside)))


def test_one_design_is_one(write: Write) -> None:
    path = write(STUDY.replace("designs: [u16]", "designs: [u16], instances: 1"))
    assert dse.load(path).summary().startswith("1 design; ")
    assert repr(dse.load(path).problem).startswith("1 design; ")
    two = STUDY + "axes: {interface.in_flight: [8, 9]}\n"
    assert dse.load(two).summary().startswith("2 designs; ")
