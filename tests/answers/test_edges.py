"""A recommended design where the study stops trying is told so; one at a natural end is not."""

from __future__ import annotations

import dse

STUDY = """
workload: {rate: 100 Gbit/s, granularity: 4 KiB}
stages: [{core: des, designs: [u8, u16], instances: {from: 1, to: 5}, clock: [0.5, 0.9]}]
interface: {overhead: 1 us, link: 100 GB/s}
axes: {interface.in_flight: [16, 64, 256]}
objectives: {total_power: minimise, area: minimise}
"""


def beyond(text: str) -> list[str]:
    notes = dse.answer(text, flips=False).to_dict()["notes"]
    return [note.partition(";")[0] for note in notes if "values tried" in note]


def test_the_end_of_an_axis_is_told() -> None:
    assert beyond(STUDY) == [
        "des.clock = 0.9 is the highest of the 2 values tried",
        "interface.in_flight = 16 is the lowest of the 3 values tried",
    ]
    few = STUDY.replace("to: 5", "to: 3").replace("[16, 64, 256]", "[1, 64, 256]")
    assert beyond(few) == [
        "des.clock = 0.9 is the highest of the 2 values tried",
        "des.instances = 3 is the highest of the 3 values tried",
    ]


def test_where_nothing_lies_beyond_nothing_is_told() -> None:
    natural = STUDY.replace(", clock: [0.5, 0.9]", "")
    natural = natural.replace("[16, 64, 256]", "[1, 64, 256]")
    assert beyond(natural) == []
    assert beyond(natural.replace("[1, 64, 256]", "[1, 2]").replace("100 G", "1 G")) == []
    least = natural.replace("instances: {from: 1, to: 5}", "fleet: mixed")
    assert beyond(least) == []
