"""Mixes of sizes: each size worked out alone, and averaged by hand."""

from __future__ import annotations

import numpy as np
import pytest

import dse
from dse.objectives.system.mixes import mixed_limit_bit_per_s, size_wait_s
from dse.objectives.system.waiting import offload_latency_p99_s, slot_load
from tests.conftest import Write, problem_of
from tests.search.test_compose import front

IMIX = {64: 7 / 12, 576: 4 / 12, 1500: 1 / 12}
MIX = "{64 B: 7/12, 576 B: 4/12, 1500 B: 1/12}"
MEAN = 354 + 1 / 3
STUDY = """\
workload: {rate: 10 Gbit/s, granularity: SIZES, ARRIVALSkernel: {index: 9 ns/B, exponent: 0.8}}
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


def filled(sizes: str, link: str, arrivals: str = "") -> str:
    arrive = f"arrivals: {arrivals}, " if arrivals else ""
    text = STUDY.replace("SIZES", sizes).replace("LINK", LINKS[link])
    return text.replace("ARRIVALS", arrive)


def described(write: Write, sizes: str, link: str, arrivals: str = "") -> dict[str, np.ndarray]:
    text = filled(sizes, link, arrivals)
    problem = problem_of(write(text))
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
    assert mix["buffer_bit"] == pytest.approx(2 * 8 * 1500 * mix["interface_in_flight"])


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("arrivals", ["", "steady", "poisson", "{cv2: 4}"])
def test_the_composed_front_of_a_mix_is_that_of_all_designs(
    write: Write, link: str, arrivals: str
) -> None:
    text = filled(MIX, link, arrivals)
    text = text.replace("offload_latency:", "offload_latency_p99:") if arrivals else text
    problem = problem_of(write(text))
    every, composed = front(problem, "enumerate"), front(problem, "compose")
    assert np.array_equal(composed.front_index, every.front_index)
    assert np.array_equal(composed.front_loss, every.front_loss)
    assert composed.exact
    assert len(every.front_index) > 3


def test_offloads_of_several_sizes_wait_as_pollaczek_and_khinchine_say(write: Write) -> None:
    """One station, Poisson arrivals: lambda E S^2 / (2 (1 - rho)), exact."""
    mix = described(write, MIX, "plain", "poisson")
    usable = mix["fleet_load"] < 1
    for size_bit, load, wait in (
        (1 / mix["stream_rate_bit_per_s"], "fleet_load", "fleet_wait_s"),
        (1 / mix["link_limit_bit_per_s"], "link_load", "link_wait_s"),
    ):
        square = sum(share * (8 * size * size_bit) ** 2 for size, share in IMIX.items())
        right = mix["arrival_rate_hz"] * square / (2 * (1 - mix[load]))
        assert mix[wait][usable] == pytest.approx(right[usable])
    assert (mix["wait_s"][~usable] == np.inf).all()
    busy = np.maximum(8 / mix["stream_rate_bit_per_s"], mix["passing_s_per_byte"])
    times = [mix["offload_latency_s"] + busy * (size - MEAN) for size in IMIX]
    square = sum(
        share * (t - mix["offload_latency_s"]) ** 2
        for share, t in zip(IMIX.values(), times, strict=True)
    )
    assert mix["size_spread_s"] == pytest.approx(np.sqrt(square))


def latest(alone: np.ndarray, shares: np.ndarray, often: float, eta: float) -> float:
    """Return the time that one in a hundred exceeds, by bisection."""

    def late(t: float) -> float:
        tails = often * np.exp(-eta * np.maximum(t - alone, 0.0))
        return float(np.where(t < alone, 1.0, np.minimum(tails, 1.0)) @ shares)

    low, high = 0.0, 1e6
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if late(middle) > 0.01 else (low, middle)
    return high


def test_one_offload_in_a_hundred_of_a_mix_is_late() -> None:
    """P(W > t) = eta W exp(-eta t), at most 1, for each size; never less, and mostly the same."""
    random, same = np.random.default_rng(3), 0
    for _ in range(200):
        sizes = np.sort(np.exp(random.uniform(0, 5, 4)))
        shares = random.dirichlet([0.4, 0.4, 0.4, 0.1])
        mean = sizes @ shares
        deviation = np.sqrt((sizes / mean - 1) ** 2 @ shares)
        spread, eta, often = np.exp(random.uniform([-3, -3, -2], [1, 2, 0]))
        one = np.ones(1)
        found = offload_latency_p99_s(
            offload_latency_s=5 * one,
            wait_s=often / eta * one,
            wait_decay_hz=eta * one,
            size_spread_s=spread * one,
            workload_granularity_byte=tuple(zip(sizes[:, np.newaxis], shares, strict=True)),
        )[0]
        alone = 5 + spread * np.maximum((sizes / mean - 1) / deviation, 0)
        right = latest(alone, shares, often, eta)
        assert right * (1 - 1e-9) <= found <= right + 1 / eta
        same += found == pytest.approx(right, rel=1e-9)
    assert same > 100


def carried(slots: int, seed: int = 1, count: int = 100_000) -> float:
    """Return the share of both limits, which are equal, that simple IMIX reaches in simulation.

    Each offload takes a slot, is under way for a while, and passes one station.
    """
    random = np.random.default_rng(seed)
    busy = random.choice(np.array([*IMIX]) / MEAN, count, p=[*IMIX.values()]).tolist()
    ended, free = [0.0] * slots, 0.0
    for number, time in enumerate(busy):
        free = max(ended[number % slots] + slots - 1.0, free) + time
        ended[number % slots] = free
    return count / free


@pytest.mark.parametrize("slots", [1, 4, 16, 64, 256])
def test_sizes_that_vary_cost_rate_where_two_limits_are_equal(slots: int) -> None:
    one = np.ones(1)
    cv2 = sum(share * (size / MEAN - 1) ** 2 for size, share in IMIX.items())
    found = mixed_limit_bit_per_s(
        stream_limit_bit_per_s=one,
        offload_limit_bit_per_s=one,
        interface_in_flight=slots * one,
        workload_size_cv2=cv2 * one,
    )
    assert cv2 == pytest.approx(1.393, rel=1e-3)
    assert found == pytest.approx(carried(slots), rel=0.02)


def test_an_answer_warns_where_sizes_vary_and_links_store(write: Write) -> None:
    text = (
        f"workload: {{rate: 160 Gbit/s, granularity: {MIX}, arrivals: poisson}}\n"
        "stages: [{core: des, designs: [u16], instances: 9}]\n"
        "interface: {overhead: 50 ns, latency: 427 ns, link: 40 GB/s, in_flight: 128,"
        " host_cores: 64, transfer: store_and_forward}\nobjectives: {area: minimise}\n"
    )
    said = "Stored load 50 %: sizes vary and transfers are stored and forwarded, so that small"
    stored = " ".join(dse.answer(write(text), flips=False).text(all=True).split())
    assert said in stored
    through = write(text.replace("store_and_forward", "cut_through"))
    assert "Stored load" not in dse.answer(through, flips=False).text(all=True)


@pytest.mark.parametrize(("gaps", "wait"), [(4.0, 0.6), (1.0, 0.6), (0.0, None)])
def test_offloads_of_a_mix_keep_their_slot_while_they_wait(gaps: float, wait: float | None) -> None:
    """Fleet half busy, S = 1 s, c_s2 = 1: Pollaczek and Khinchine's 1 s whatever the bursts, and
    half of it, times exp(-1/3 / 0.5), without; at most 1.5 s before it, of two others in slots."""
    one = np.ones(1)
    mixed = {
        "fleet_load": 0.5 * one,
        "link_load": 0.0 * one,
        "slots": 3 * one,
        "workload_granularity_byte": one,
        "stream_rate_bit_per_s": 8 * one,
        "link_limit_bit_per_s": np.inf * one,
        "offload_arrival_cv2": gaps * one,
    }
    found = size_wait_s(**mixed, workload_size_cv2=one)
    if wait is None:
        alone = 0.5 * np.exp(-2 / 3)
        wait = alone * 1.5 / (alone + 1.5)
    assert found == pytest.approx(wait)
    given = {"arrival_rate_hz": 0.5 * one, "offload_latency_s": 2 * one, "slots": 3 * one}
    assert slot_load(**given, size_wait_s=found) == pytest.approx(0.5 * (2 + wait) / 3)
    assert size_wait_s(**mixed, workload_size_cv2=0 * one) == 0
