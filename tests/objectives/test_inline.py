"""Engines on the way of the data: what is read again, and that no result comes back."""

from __future__ import annotations

import numpy as np
import pytest

import dse
from dse.objectives.system.inline import reread_cv2, reread_ratio
from tests.conftest import first_design

STUDY = """
workload: {rate: 100 Gbit/s, granularity: 16 KiB}
stages: [{core: des, designs: [u16], instances: 4}]
interface: {attachment: inline, overhead: 0 s, latency: 0 s, link: 16 GB/s, in_flight: 16,
  retransmit_share: 10 %}
objectives: {throughput: maximise}
"""


def by_hand(record: int, segment: int, share: float) -> float:
    """Return the bytes that are read again: those up to the end of each segment that is resent."""
    return share * sum(ends(record, segment))


def ends(record: int, segment: int) -> list[int]:
    return [min(start + segment, record) for start in range(0, record, segment)]


@pytest.mark.parametrize("record", [1, 1448, 1449, 4096, 16384])
@pytest.mark.parametrize("segment", [536, 1448, 8960])
def test_closed_forms_are_the_sums_over_segments(record: int, segment: int) -> None:
    given = {
        "workload_granularity_byte": np.array([float(record)]),
        "interface_attachment": np.array([1.0]),
        "interface_retransmit_share": np.array([0.02]),
        "interface_segment_byte": np.array([float(segment)]),
    }
    again = by_hand(record, segment, 0.02)
    ratio = reread_ratio.function(**given)
    assert ratio[0] == pytest.approx(again / record, rel=1e-12)
    variance = 0.02 * 0.98 * sum(end**2 for end in ends(record, segment))
    found = reread_cv2.function(**given, reread_ratio=ratio)
    assert found[0] == pytest.approx(variance / (record + again) ** 2, rel=1e-12)


def limit(write, text: str) -> float:
    return float(first_design(write(text))["link_bit_per_s"][0])


def test_smaller_records_are_read_again_for_less(write) -> None:
    """The demand is carried with records of 4 KiB where those of 16 KiB do not fit the link."""
    with pytest.raises(dse.errors.DseError):
        dse.run(write(STUDY))
    small = STUDY.replace("16 KiB", "4 KiB")
    assert limit(write, small) > 100e9
    assert len(dse.run(write(small)).front) == 1


def test_the_segment_is_assumed_unless_it_is_written() -> None:
    assert any("segments are taken as 1448 B" in note for note in dse.load(STUDY).notes)
    stated = STUDY.replace("10 %", "10 %, segment: 8960 B")
    assert not any("segments" in note for note in dse.load(stated).notes)


def test_only_the_way_in_carries_a_record(write) -> None:
    """Of 16 KiB: 64 completions of 20 B, and of a batch of 32 two more, a doorbell, a pointer."""
    lanes = "pcie: gen4 x16, batch: 32, round_trip: 600 ns"
    text = STUDY.replace("link: 16 GB/s", lanes).replace("10 %", "0 %").replace(": 16,", ": 32,")
    told = first_design(write(text))
    byte = 16384 + 64 * 20 + (512 + 2 * 20 + 28 + 24) / 32
    assert told["pcie_to_host_byte"][0] == 32 * 24 + (24 + 512 + 2 * 24 + 28 + 24) / 32
    carried = 8 * 16384 * told["pcie_packet_byte_per_s"][0] / byte
    assert told["link_bit_per_s"][0] == pytest.approx(carried, rel=1e-12)
    assert told["round_trips_s"][0] == pytest.approx(2.5 * 600e-9)
