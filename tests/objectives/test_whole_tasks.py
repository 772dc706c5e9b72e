"""Messages are whole tasks, their ends among them: counted message by message."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import dse
from tests.conftest import Write, first_design

TABLE = """\
design,area_um2,clock_mhz,payload_bit,message_end_bit,cycles_per_task,latency_cycles,power_mw
one,5000,1000,{payload},{end},{cycles},{cycles},5
"""
STUDY = """\
workload: {{{rate}granularity: {sizes}}}
stages: [{{table: one.csv, name: core, {fleet}}}]
interface: {{overhead: 10 ns, latency: 100 ns, link: 1 TB/s, in_flight: 1e6, host_cores: 1e6}}
objectives: {{dynamic_power: minimise, area: minimise}}
{axes}
"""


def counted(
    payload: int, end: int, cycles: int, messages: list[int], count: int
) -> tuple[Fraction, float]:
    """Return what so many cores of 1 GHz carry, bit/s, and J per bit, by a count of tasks."""
    tasks = 0
    for size in messages:
        left = 8 * size + end
        while left > 0:
            tasks, left = tasks + 1, left - payload
    seconds = Fraction(tasks * cycles, count * 10**9)
    bits = 8 * sum(messages)
    return bits / seconds, tasks * cycles * 1e-9 * 5e-3 / bits


def test_capacity_energy_and_least_count_of_300_designs(write: Write) -> None:
    random = np.random.default_rng(7)
    for _ in range(300):
        payload = int(random.choice([8, 64, 128, 512, 1088, 4096]))
        end, cycles = int(random.choice([0, 65, 128])), int(random.integers(1, 40))
        many, count = int(random.integers(1, 3)), int(random.integers(1, 4))
        sizes = random.choice(np.arange(1, 3 * payload // 8 + 2), many, replace=many > 2)
        sizes = sorted({int(size) for size in sizes})
        carried, energy = counted(payload, end, cycles, sizes, count)
        shares = ", ".join(f"{size} B: 1/{len(sizes)}" for size in sizes)
        written = f"{{{shares}}}" if len(sizes) > 1 else f"{sizes[0]} B"
        write(TABLE.format(payload=payload, end=end, cycles=cycles), "one.csv")
        fixed = STUDY.format(rate="", sizes=written, fleet=f"counts: {{one: {count}}}", axes="")
        found = first_design(write(fixed))
        assert found["capacity_bit_per_s"][0] == pytest.approx(float(carried), rel=1e-9)
        offloads = found["throughput_bit_per_s"][0] / (8 * sum(sizes) / len(sizes))
        tasks = sum(math.ceil(Fraction(8 * size + end, payload)) for size in sizes) / len(sizes)
        assert found["task_throughput_task_per_s"][0] == pytest.approx(offloads * tasks, rel=1e-9)
        demand = float(carried) * 0.999
        least = STUDY.format(
            rate=f"rate: {demand!r} bit/s, ", sizes=written, fleet="clock: 1", axes=""
        )
        answer = dse.run(write(least), out=None)
        assert answer.front["core.one"].tolist() == [count]
        assert answer.front["dynamic_power_w"][0] == pytest.approx(energy * demand, rel=1e-9)
