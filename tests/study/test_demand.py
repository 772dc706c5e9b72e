"""A demanded rate of tasks stands for a payload rate."""

from __future__ import annotations

import numpy as np
import pytest

import dse
from dse.errors import InfeasibleError
from tests.conftest import Write

STUDY = """\
workload: {WORKLOAD}
stages:
  - {core: des, designs: [u16], instances: [1, 2, 3, 4]}
interface: {overhead: 100 ns, latency: 500 ns, in_flight: 16, host_cores: 64}
objectives: {power: minimise, area: minimise}
"""


def evaluations(write: Write, workload: str, more: str = ""):
    found = dse.run(write(STUDY.replace("WORKLOAD", workload) + more)).evaluations
    return found[found["feasible"]]


def test_tasks_times_their_size_are_a_rate(write: Write) -> None:
    """8 million tasks of 1500 B are 96 Gbit/s."""
    tasks = evaluations(write, "offload_rate: 8 Moffload/s, granularity: 1500 B")
    rate = evaluations(write, "rate: 96 Gbit/s, granularity: 1500 B")
    both = evaluations(write, "rate: 96 Gbit/s, offload_rate: 8 Moffload/s, granularity: 1500 B")
    assert len(tasks) == 2
    assert tasks.equals(rate)
    assert both.equals(rate)


@pytest.mark.parametrize(
    ("workload", "axis"),
    [
        ("offload_rate: 4 Moffload/s", "workload.granularity: [750 B, 1500 B, 3000 B]"),
        (
            "granularity: 1500 B",
            "workload.offload_rate: [2e6 offload/s, 4e6 offload/s, 8e6 offload/s]",
        ),
    ],
)
def test_either_may_be_an_axis(write: Write, workload: str, axis: str) -> None:
    found = evaluations(write, workload, f"axes: {{{axis}}}\n")
    reached = sorted(set(np.rint(found["throughput_bit_per_s"] / 1e9)))
    assert reached == [24, 48, 96]


DEMANDS = "offload_rate: 8 Moffload/s, granularity: 1500 B"


def test_what_is_demanded_are_tasks_so_that_the_rate_follows_their_size(write: Write) -> None:
    """Three u16 start 1935.5 million tasks of 8 B a second: 8 million messages of 241 tasks, or
    10.3 of 188."""
    found = dse.flips(write(STUDY.replace("WORKLOAD", DEMANDS)), only=["workload"])
    ends = {entry.name: entry.high.holds_to for entry in found.found}
    assert set(ends) == {"workload.offload_rate", "workload.granularity"}
    assert ends["workload.granularity"] == 1928
    assert ends["workload.offload_rate"] == pytest.approx(3 * 41.29e9 / 64 / 188, rel=2e-3)


def test_repairs_ask_for_fewer_tasks(write: Write) -> None:
    study = write(STUDY.replace("WORKLOAD", "offload_rate: 80 Moffload/s, granularity: 1500 B"))
    with pytest.raises(InfeasibleError) as caught:
        dse.run(study)
    changed = [repair["overrides"] for repair in caught.value.facts["repairs"]]
    (tasks,) = (one["workload.offload_rate"] for one in changed if "workload.offload_rate" in one)
    assert not [one for one in changed if "workload.rate" in one]
    assert dse.run(study, overrides={"workload.offload_rate": tasks}).front.shape[0]
