"""What offloads wait: exact results, laws, and what a study with arrivals says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import poisson

import dse
from benchmarks import simulation as random_designs
from dse.errors import InfeasibleError
from dse.objectives.system import mixes
from dse.objectives.system.mixes import decay_per_gap, station_wait_s
from dse.objectives.system.waiting import taken_slots
from dse.study import study
from tests.conftest import STUDIES, Write

LOADS = np.array([0.05, 0.3, 0.5, 0.8, 0.95, 0.999])


def wait(load, servers=1.0, arrival_cv2=1.0, service_cv2=0.0):
    load = np.asarray(load, dtype=np.float64)
    ones = np.ones_like(load)
    return station_wait_s(
        load=load,
        service_s=ones,
        servers=servers * ones,
        arrival_cv2=arrival_cv2 * ones,
        service_cv2=service_cv2,
    )


def test_one_server_and_poisson_arrivals_wait_as_pollaczek_and_khinchine_say() -> None:
    for service_cv2 in (0.0, 1.0, 1.393):
        exact = LOADS * (1 + service_cv2) / (2 * (1 - LOADS))
        assert wait(LOADS, service_cv2=service_cv2) == pytest.approx(exact, rel=1e-13)


def crommelin(load: float, servers: int) -> float:
    """Exact mean wait of M/D/k in services (Crommelin, Post Office El. Eng. J. 25, 1932)."""
    number = np.arange(1, 4000)
    offered, least = number * servers * load, number * servers
    return float((poisson.sf(least - 1, offered) - poisson.sf(least, offered) / load).sum())


@pytest.mark.parametrize("servers", [2, 4, 16])
def test_many_servers_wait_nearly_as_crommelin_says(servers: int) -> None:
    assert crommelin(0.8, 1) == pytest.approx(2.0)
    for load, within in ((0.5, 0.14), (0.8, 0.05), (0.9, 0.03), (0.97, 0.02)):
        exact = crommelin(load, servers)
        assert abs(wait(load, servers) - exact) < max(within * exact, 0.005), (load, servers)


def test_a_wait_that_is_rounding_of_the_service_is_none() -> None:
    """64 cores of which 0.68 are busy: M/D/64 waits 1e-90 services, the exponent gives 2e-23."""
    assert wait(0.68 / 64, 64.0) == 0
    assert wait([1.9e-12, 2.1e-12]).tolist() == [0, pytest.approx(1.05e-12, rel=1e-12)]


def test_bursts_count_fewer_servers() -> None:
    """0.339 +- 0.004 of the service for 16 servers at a load of 0.8 and c_a2 = 4, simulated with
    1.5 million arrivals; Sakasegawa's exponent alone gives 0.183."""
    assert wait(0.8, 16.0, 4.0) == pytest.approx(0.339, rel=0.17)


def test_steady_arrivals_wait_nothing_and_an_overload_forever() -> None:
    assert (wait([0.3, 1.0, 1.5], arrival_cv2=0.0) == 0).all()
    assert (wait([1.0, 1.5], arrival_cv2=1e-9) == np.inf).all()
    assert wait(0.0) == 0


def test_waits_get_rare_as_fast_as_the_equation_says() -> None:
    for cv2 in (1e-3, 0.5, 1.0, 1.5, 4.0, 1e4):
        x = decay_per_gap(load=LOADS, arrival_cv2=np.full(LOADS.shape, cv2))
        if cv2 <= 1:
            logarithm = -np.log1p(x * cv2) / cv2
        else:
            share = (1 + np.sqrt((cv2 - 1) / (cv2 + 1))) / 2
            rest = 1 / (2 * share * (cv2 + 1))  # 1 - share
            logarithm = np.log(share / (1 + x / (2 * share)) + rest / (1 + x / (2 * rest)))
        assert (x > 0).all()
        assert logarithm + LOADS * x == pytest.approx(0, abs=1e-9), cv2
    heavy = decay_per_gap(load=np.array([1 - 1e-7]), arrival_cv2=np.array([4.0]))
    assert heavy == pytest.approx(2 * 1e-7 / 4, rel=1e-5)  # the limit of heavy traffic
    ends = decay_per_gap(load=np.array([0.0, 1.0, 2.0]), arrival_cv2=np.ones(3))
    assert ends.tolist() == [np.inf, 0, 0]


@pytest.mark.parametrize("cv2", [1e-3, 0.1, 0.9, 1.0, 1.5, 4.0, 100.0, 1e4])
def test_more_of_newtons_steps_change_nothing(monkeypatch: pytest.MonkeyPatch, cv2: float) -> None:
    """But rounding, which counts the more the nearer the load is to 1."""
    loads = np.concatenate([np.geomspace(1e-4, 0.5, 200), 1.0 - np.geomspace(0.5, 1e-3, 200)])
    imix = ((64 / 354.25, 7 / 12), (576 / 354.25, 4 / 12), (1500 / 354.25, 1 / 12))
    noises = {((1.0, 1.0),): 1e-12, imix: 1e-9, ((0.5, 0.999), (500.5, 0.001)): 1e-8}
    for sizes, noise in noises.items():
        steps = []
        for count in (mixes.NEWTON_STEPS, 40):
            monkeypatch.setattr(mixes, "NEWTON_STEPS", count)
            steps.append(decay_per_gap(load=loads, arrival_cv2=np.full(400, cv2), sizes=sizes))
        assert (np.abs(steps[0] / steps[1] - 1) < noise * max(1, cv2 / 50) / (1 - loads)).all()
        monkeypatch.undo()


def described(path: Path, *overrides: tuple[str, str]):
    problem = study.prepare(study.read_study(path, overrides)).problem
    index = np.random.default_rng(1).integers(0, problem.sizes, (3000, len(problem.sizes)))
    return problem.describe(index)


def test_steady_arrivals_change_nothing() -> None:
    path = STUDIES / "crypto_interface_100gbps.yaml"
    without, steady = described(path), described(path, ("workload.arrivals", "steady"))
    for name, column in without.items():
        assert np.array_equal(steady[name], column, equal_nan=True), name
    new = set(steady) - set(without) - {"workload_arrival_cv2"}
    assert "offload_latency_p99_s" in new
    assert (steady["wait_s"] == 0).all()
    assert np.array_equal(steady["offload_latency_p99_s"], steady["offload_latency_s"])


def test_hosts_that_wait_are_busy_while_offloads_wait() -> None:
    path = STUDIES / "crypto_interface_100gbps.yaml"
    for mode in ("sync", "sync_os", "async"):
        still = described(path, ("interface.wait", mode))
        moved = described(path, ("interface.wait", mode), ("workload.arrivals", "poisson"))
        more = moved["host_cores"] > still["host_cores"]
        assert (moved["host_cores"] >= still["host_cores"]).all()
        assert more.any() == (mode == "sync")
        if mode == "sync":  # up to one in each slot, those before it
            most = moved["arrival_rate_hz"] * moved["wait_s"]
            assert (moved["host_cores"] - still["host_cores"] <= most * (1 + 1e-9)).all()


def test_no_more_slots_are_taken_than_there_are() -> None:
    random = np.random.default_rng(3)
    slots = random.choice([1.0, 1.5, 2.0, 3.0, 4.0, 16.0, 256.0], 20_000)
    given = {
        "arrival_rate_hz": np.ones(20_000),
        "offload_latency_s": slots * random.uniform(0, 1, 20_000),
        "fleet_wait_s": 10 ** random.uniform(-4, 4, 20_000),
        "link_wait_s": random.choice([0.0, 1.0, np.inf], 20_000),
        "fleet_load": random.uniform(0, 1.1, 20_000),
        "link_load": random.uniform(0, 1.0, 20_000),
        "slots": slots,
    }
    taken = taken_slots(**given)
    assert (taken <= slots * (1 + 1e-15)).all()
    assert (taken >= given["offload_latency_s"]).all()
    one = (slots == 1) & (given["fleet_load"] < 1)
    assert (taken[one] == given["offload_latency_s"][one]).all()
    nobody = dict.fromkeys(("fleet_wait_s", "link_wait_s"), np.zeros(20_000))
    assert np.array_equal(taken_slots(**given | nobody), given["offload_latency_s"])


def test_no_more_cores_are_busy_than_wait_in_random_studies() -> None:
    """A core that waits is a slot: of designs that carry their load min(k, H) at most, and nearly
    as many as in a simulation of 4 slots and cores (3.43), where 4.18 of them were said to be."""
    for seed in range(60):
        cv2 = (0.0, 0.5, 1.0, 4.0)[seed % 4]
        traffic, load = random_designs.traffic(seed)
        rate = load * traffic.most_hz * traffic.bits
        problem = random_designs.study_of(seed, rate, cv2).problem
        found = problem.describe(random_designs.first(problem))
        if found["interface_wait"] == 0 and np.isfinite(found["wait_s"]):
            assert found["host_cores"] <= found["slots"] * (1 + 1e-12), seed
    prepared = study.prepare(study.read_study(CROWDED))
    problem, index = prepared.problem, random_designs.first(prepared.problem)
    assert problem.evaluate(index).feasible.all()
    assert problem.describe(index)["host_cores"] == pytest.approx(3.43, rel=0.06)


CROWDED = """\
workload: {rate: 74 Gbit/s, granularity: 1500 B, arrivals: poisson}
stages:
  - {core: des, designs: [u16], instances: 2, clock: 1}
interface:
  {overhead: 50 ns, latency: 200 ns, link: 50 GB/s, in_flight: 4, host_cores: 4, wait: sync}
objectives: {area: minimise}
"""
GOOD = """\
workload: {rate: 100 Gbit/s, granularity: 4 KiB, arrivals: poisson}
stages:
  - {core: des, designs: [u16], instances: 4}
interface: {overhead: 100 ns, latency: 500 ns, link: 20 GB/s, in_flight: 8, host_cores: 4}
objectives: {offload_latency_p99: minimise}
"""


def test_an_answer_warns_of_a_bottleneck_that_is_nearly_always_busy(write: Write) -> None:
    calm = dse.answer(write(GOOD), flips=False).text(all=True)
    assert "load 9" not in calm
    assert "wait" in calm
    crowded = write(GOOD.replace("100 Gbit/s", "160 Gbit/s").replace("20 GB/s", "20.5 GB/s"))
    said = " ".join(dse.answer(crowded, flips=False).text(all=True).split())
    assert (
        "Fleet load 96.9 %: expect queueing for the cores (add instances or raise the clock) "
        "unless offloads arrive steadily." in said
    )
    steady = write(GOOD.replace("poisson", "steady").replace("100 Gbit/s", "160 Gbit/s"))
    steady.write_text(steady.read_text().replace("_p99", ""))
    assert "Fleet load 96.9 %" in dse.answer(steady, flips=False).text(all=True)


def test_an_overload_is_no_design_and_the_remedy_is_named(write: Write) -> None:
    tight = GOOD.replace("20 GB/s", "12.5 GB/s")  # 100 Gbit/s, all of it
    with pytest.raises(InfeasibleError) as caught:
        dse.run(write(tight))
    assert "queues are stable if arrivals or sizes vary" in str(caught.value)
    assert len(dse.run(write(tight.replace("poisson", "steady"))).front) == 1


def test_arrivals_are_axes_and_sweeps(write: Write) -> None:
    path = write(GOOD + "axes: {workload.arrivals: [steady, poisson, 4]}\n")
    path.write_text(path.read_text().replace(", arrivals: poisson", ""))
    found = dse.run(path).evaluations
    waits = found.sort_values("workload.arrivals")["wait_s"].to_list()
    assert waits[0] == 0
    assert waits == sorted(waits)
    swept = write(GOOD + "sweep: {workload.arrivals: {from: 0, to: 4, step: 2}}\n")
    front = dse.run(swept).front
    assert front["offload_latency_p99_s"].is_monotonic_increasing
    assert len(front) == 3
