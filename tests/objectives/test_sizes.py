"""Mixes of sizes: each size worked out alone, and averaged by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import dse
from dse.errors import StudyError
from dse.study import study
from tests.search.test_compose import front

Write = Callable[[str], Path]
IMIX = {64: 7 / 12, 576: 4 / 12, 1500: 1 / 12}
MIX = "{64 B: 7/12, 576 B: 4/12, 1500 B: 1/12}"
MEAN = 354 + 1 / 3
STUDY = """\
workload: {rate: 10 Gbit/s, granularity: SIZES, kernel: {index: 9 ns/B, exponent: 0.8}}
stages: [{core: des, fleet: mixed, instances: {from: 0, to: 2}}]
interface: {overhead: 50 ns, latency: 300 ns, host_cores: 64, host_power: 200 W, LINK}
axes: {interface.in_flight: [1, 4, 16, 64]}
objectives: {power: minimise, area: minimise, offload_latency: minimise, speedup: maximise}
"""
LINKS = {
    "plain": "link: 20 GB/s",
    "stored": "link: 20 GB/s, transfer: store_and_forward",
    "packets": "pcie: gen3 x8, round_trip: 1 us, max_payload: 128 B",
}


def described(write: Write, sizes: str, link: str) -> dict[str, np.ndarray]:
    text = STUDY.replace("SIZES", sizes).replace("LINK", LINKS[link])
    problem = study.prepare(study.read_study(write(text))).problem
    index = np.random.default_rng(1).integers(0, problem.sizes, (300, len(problem.sizes)))
    index[:, :-1] = np.maximum(index[:, :-1], 1)
    return problem.describe(index)


@pytest.mark.parametrize("link", LINKS)
def test_a_mix_is_the_average_of_its_sizes(write: Write, link: str) -> None:
    mix = described(write, MIX, link)
    alone = {size: described(write, f"{size} B", link) for size in IMIX}

    def mean(name: str) -> np.ndarray:
        return sum(share * alone[size][name] for size, share in IMIX.items())

    bits = 8 * MEAN
    for name in ("host_time_s", "transfer_s", "overhead_s", "own_fill_s"):
        if name != "transfer_s" or link != "stored":
            assert mix[name] == pytest.approx(mean(name)), name
    if link == "packets":
        for name in ("pcie_to_device_byte", "pcie_to_host_byte"):
            assert mix[name] == pytest.approx(mean(name)), name
        wire = np.maximum(mean("pcie_to_device_byte"), mean("pcie_to_host_byte"))
        rate = mix["pcie_packet_byte_per_s"] / wire * bits
        assert mix["pcie_payload_bit_per_s"] == pytest.approx(rate)
        # where the link binds small offloads and the cores large ones, by a few ns too short
        short = mean("offload_latency_s") - mix["offload_latency_s"]
        assert (short >= -1e-15).all()
        assert (short < 30e-9).all()
    else:
        assert mix["offload_latency_s"] == pytest.approx(mean("offload_latency_s"))
    assert mix["speedup"] == pytest.approx(mix["host_time_s"] / mix["offload_latency_s"])
    per_s = mix["throughput_bit_per_s"] / bits
    assert mix["host_cores"] == pytest.approx(per_s * mix["overhead_s"])
    assert mix["host_alone_cores"] == pytest.approx(per_s * mean("host_time_s"))
    assert mix["buffer_bit"] == pytest.approx(2 * 8 * 1500 * mix["interface_in_flight"])


def test_a_mix_of_one_size_is_that_size(write: Write) -> None:
    for link in LINKS:
        one, mix = described(write, "576 B", link), described(write, "{576 B: 100 %}", link)
        for name, column in one.items():
            assert np.array_equal(mix[name], column, equal_nan=True), name


@pytest.mark.parametrize("link", LINKS)
def test_the_composed_front_of_a_mix_is_that_of_all_designs(write: Write, link: str) -> None:
    text = STUDY.replace("SIZES", MIX).replace("LINK", LINKS[link])
    problem = study.prepare(study.read_study(write(text))).problem
    every, composed = front(problem, "enumerate"), front(problem, "compose")
    assert np.array_equal(composed.front_index, every.front_index)
    assert np.array_equal(composed.front_loss, every.front_loss)
    assert composed.exact
    assert len(every.front_index) > 3


def test_sizes_change_in_proportion_to_their_mean(write: Write) -> None:
    def wire_byte(sizes: str, mean: float) -> float:
        text = STUDY.replace("SIZES", sizes).replace("LINK", LINKS["packets"])
        problem = study.prepare(study.read_study(write(text))).problem
        changed = {"workload_granularity_byte": np.array([mean])}
        index = np.zeros((1, len(problem.sizes)), dtype=np.intp)
        return float(problem.columns(index, ["pcie_to_host_byte"], changed)["pcie_to_host_byte"][0])

    once, twice = "{64 B: 3/4, 1024 B: 1/4}", "{128 B: 3/4, 2 KiB: 1/4}"
    assert wire_byte(once, 2 * 304) == wire_byte(twice, 2 * 304)


def faults(write: Write, old: str, new: str) -> list[str]:
    text = STUDY.replace("LINK", LINKS["plain"]).replace(old, new).replace("SIZES", MIX)
    with pytest.raises(StudyError) as caught:
        study.prepare(study.read_study(write(text)))
    return [str(fault).partition("study.yaml:")[2] for fault in caught.value.faults]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "SIZES",
            "{64 B: 7/12, 1500 B: 1/12}",
            "1:29: workload.granularity: the shares of all sizes add up to 0.6667, not 1; write "
            "for instance {64 B: 3/4, 1500 B: 1/4}",
        ),
        (
            "SIZES",
            "{64 B: all}",
            "1:29: workload.granularity: a share of offloads is more than 0 and at most 1; write "
            "7/12, or 58 %",
        ),
        (
            "SIZES",
            "SIZES, arrivals: poisson",
            "1:29: workload.granularity: what offloads of several sizes wait is neither modelled "
            "nor simulated; write one size, or remove workload.arrivals",
        ),
        (
            "SIZES",
            "SIZES, chained: true",
            "1:29: workload.granularity: tasks of a stream that wait for each other are not "
            "modelled for a mix of sizes; write one size, or remove `chained`",
        ),
    ],
)
def test_what_makes_no_mix_is_refused(write: Write, old: str, new: str, said: str) -> None:
    assert said in faults(write, old, new)


def test_a_mix_is_told_and_not_simulated(write: Write) -> None:
    path = write(STUDY.replace("SIZES", MIX).replace("LINK", LINKS["plain"]))
    assert any("354.3 B on average" in note for note in dse.load(path).notes)
    with pytest.raises(StudyError, match="neither modelled nor simulated"):
        dse.simulate(path)
