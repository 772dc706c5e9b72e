"""Engines on the way of the data: what is read again, and that no result comes back."""

from __future__ import annotations

import numpy as np
import pytest

import dse
from dse.objectives.system.inline import reread_cv2, reread_ratio
from tests.conftest import first_design, problem_of

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


def test_the_link_carries_less_the_more_is_sent_again(write) -> None:
    assert limit(write, STUDY) == pytest.approx(128e9 / (1 + by_hand(16384, 1448, 0.1) / 16384))
    assert limit(write, STUDY.replace("10 %", "0 %")) == 128e9
    assert limit(write, STUDY.replace("retransmit_share: 10 %", "")) == 128e9


def test_smaller_records_are_read_again_for_less(write) -> None:
    """The demand is carried with records of 4 KiB where those of 16 KiB do not fit the link."""
    with pytest.raises(dse.errors.DseError):
        dse.run(write(STUDY))
    small = STUDY.replace("16 KiB", "4 KiB")
    assert limit(write, small) > 100e9
    assert len(dse.run(write(small)).front) == 1


def test_a_mix_has_the_mean_of_what_is_read_again(write) -> None:
    mixed = STUDY.replace("granularity: 16 KiB", "granularity: {1448 B: 1/2, 16384 B: 1/2}")
    again = (by_hand(1448, 1448, 0.1) + by_hand(16384, 1448, 0.1)) / (1448 + 16384)
    assert limit(write, mixed) == pytest.approx(128e9 / (1 + again))


def test_the_segment_is_assumed_unless_it_is_written() -> None:
    assert any("segments are taken as 1448 B" in note for note in dse.load(STUDY).notes)
    stated = STUDY.replace("10 %", "10 %, segment: 8960 B")
    assert not any("segments" in note for note in dse.load(stated).notes)


def test_an_engine_beside_the_data_reads_nothing_again(write) -> None:
    """One share of a network stands beside a choice of attachments: only inline feels it."""
    axis = "axes: {interface.attachment: [inline, look_aside]}\n"
    path = write(STUDY.replace("attachment: inline, ", "") + axis)
    problem = problem_of(path)
    place = [one.name for one in problem.space.axes].index("interface.attachment")
    index = np.zeros((2, len(problem.sizes)), dtype=np.int64)
    index[1, place] = 1
    inline, beside = problem.describe(index)["link_bit_per_s"]
    assert inline == pytest.approx(128e9 / (1 + by_hand(16384, 1448, 0.1) / 16384))
    assert beside == 128e9


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


@pytest.mark.parametrize(("sizes", "limit"), [("16 KiB", 0.06), ("{4 KiB: 1/2, 16 KiB: 1/2}", 0.1)])
def test_records_wait_for_those_that_are_read_again(sizes: str, limit: float, write) -> None:
    """Were all read again for the same share, those of 16 KiB would wait 12 % less."""
    text = STUDY.replace("16 KiB", f"{sizes}, arrivals: poisson").replace("100 G", "60 G")
    told = dse.simulate(write(text.replace("10 %", "5 %")), offloads=100_000)
    assert len(told.traffic.pipelines) > told.traffic.sizes
    for each in told.compared:
        assert abs(each.difference or 0.0) < limit, each.quantity
