"""A simulation agrees with recursions, with what is known exactly, and with the model."""

from __future__ import annotations

import heapq
import itertools
import json
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import dse
from benchmarks import simulation as random_designs
from dse.errors import UnitError
from dse.simulation.pipeline import (
    Draw,
    Passage,
    Pipeline,
    Station,
    Traffic,
    arrivals,
    kinds,
    pass_through,
    passed,
)
from dse.simulation.plots import save_simulation
from dse.simulation.report import enough, measure
from dse.simulation.traffic import traffic_of, wire_byte

Write = Callable[[str], Path]
FLEET = (Station("link in", 1.0), Station("fleet", 2.0, 0.5), Station("link out", 1.0))
PIPELINE = Pipeline(4, 2, False, 0.25, 0.75, 3.0, FLEET, 8.0)
inf = float("inf")


def passing(pipeline: Pipeline, arrived: np.ndarray) -> Passage:
    return pass_through([pipeline], np.zeros(len(arrived), int), arrived)


def ends(pipeline: Pipeline, arrived: np.ndarray) -> np.ndarray:
    return passing(pipeline, arrived).ended_s


def by_events(pipelines: Sequence[Pipeline], kind: np.ndarray, arrived: np.ndarray) -> list[float]:
    """Return when offloads end, from discrete events: each is a process that waits in queues."""
    parts, ended, now = pipelines[0], [0.0] * len(arrived), 0.0
    free = {"slot": parts.slots, "core": parts.cores} | dict.fromkeys(parts.stations, 1)
    lines = {part: deque() for part in free}
    places, order, ready = [*parts.stations], itertools.count(), [0.0] * len(parts.stations)

    def frees(part: object, at: float) -> Iterator[object]:
        yield at
        free[part] += 1

    def offload(pipeline: Pipeline, number: int) -> Iterator[object]:
        yield float(arrived[number])
        yield "slot"
        yield "core"
        if not pipeline.sync:
            begin(frees("core", now + pipeline.core_s))
        yield now + pipeline.overhead_s
        yield (first := (last := now + pipeline.latency_s))
        for place, station in enumerate(pipeline.stations):
            yield last if station.whole else first
            yield places[place]
            first, last, until, ready[place] = passed(station, now, first, last, ready[place])
            begin(frees(places[place], until))
        yield last
        ended[number] = now
        free["slot"] += 1
        free["core"] += pipeline.sync

    def begin(process: Iterator[object]) -> None:
        for wanted in process:
            if isinstance(wanted, float):
                heapq.heappush(heap, (wanted, next(order), process))
                return
            if free[wanted] < 1 or lines[wanted]:
                lines[wanted].append(process)
                return
            free[wanted] -= 1

    heap: list[tuple[float, int, Iterator[object]]] = []
    for number, one in enumerate(kind.tolist()):
        begin(offload(pipelines[one], number))
    while heap:
        now, _, process = heapq.heappop(heap)
        begin(process)
        for part, line in lines.items():
            while line and free[part] >= 1:
                free[part] -= 1
                begin(line.popleft())
    return ended


def test_one_offload_by_hand() -> None:
    """o 0.25, L 3; the fleet begins with the first bit, gives its first one 0.5 later, and its last
    one after 2.5; the link is never behind it."""
    assert PIPELINE.alone_s == 0.25 + 3.0 + 0.5 + 2.0
    assert ends(PIPELINE, np.zeros(1)) == [5.75]
    stored = tuple(replace(one, whole=one.name != "fleet") for one in FLEET)
    whole = replace(PIPELINE, stations=stored)
    assert whole.alone_s == 0.25 + 3.0 + 1.0 + 0.5 + 2.0 + 1.0
    assert ends(whole, np.zeros(1)) == [7.75]


def test_a_crowd_by_hand() -> None:
    """Two cores take one each and are held for 0.75; the fleet ends one every 2 s; the fifth needs
    the slot of the first, which comes back at 5.75, so that it would end 5.75 later."""
    assert ends(PIPELINE, np.zeros(5)).tolist() == [5.75, 7.75, 9.75, 11.75, 13.75]
    few = replace(PIPELINE, slots=2)
    assert ends(few, np.zeros(5)).tolist() == [5.75, 7.75, 11.5, 13.5, 17.25]
    waiting = replace(PIPELINE, sync=True)  # two cores, each held to the end
    passage = passing(waiting, np.zeros(5))
    assert passage.ended_s.tolist() == [5.75, 7.75, 11.5, 13.5, 17.25]
    assert passage.core_s.tolist() == [5.75, 7.75, 5.75, 5.75, 5.75]


def longest_path(pipeline: Pipeline, arrived_s: np.ndarray) -> np.ndarray:
    """Return when offloads of one size end by the longest of all paths that lead there.

    ``D_n = max(A_n + T1, D_(n-1) + S, D_(n-k) + T1, D_(n-H) + b)``: the time alone, the busiest
    station, a slot that comes back, a core that comes back.
    """
    alone, spacing = pipeline.alone_s, max(one.busy_s for one in pipeline.stations)
    slots = min(pipeline.slots, pipeline.cores) if pipeline.sync else pipeline.slots
    cores = float("inf") if pipeline.sync else pipeline.cores
    ended: list[float] = []
    for number, at in enumerate(arrived_s.tolist()):
        last = at + alone
        if number:
            last = max(last, ended[number - 1] + spacing)
        if number >= slots:
            last = max(last, ended[number - int(slots)] + alone)
        if number >= cores:
            last = max(last, ended[number - int(cores)] + pipeline.core_s)
        ended.append(last)
    return np.array(ended)


@pytest.mark.parametrize("cv2", [0.0, 0.5, 1.0, 4.0])
def test_events_agree_with_the_longest_path(cv2: float) -> None:
    """To rounding of the last time, where there is one stage."""
    for seed in range(25):
        traffic, load = random_designs.traffic(seed)
        pipeline = traffic.pipelines[0]
        arrived = arrivals(cv2=cv2, rate_hz=load * traffic.most_hz, count=3000, seed=seed)
        ended = ends(pipeline, arrived)
        if any(station.name == "fleet" for station in pipeline.stations):  # of one stage
            apart = np.abs(ended - longest_path(pipeline, arrived)).max()
            assert apart <= 1e-11 * ended[-1], seed
        waits = ended - arrived - pipeline.alone_s
        assert (waits >= -1e-11 * ended[-1]).all()
        if cv2 == 0:
            assert waits == pytest.approx(0, abs=1e-11 * ended[-1])


def test_one_offload_takes_what_the_model_says() -> None:
    """Of one stage to rounding; of several the model adds up rounds that overlap in part, by less
    than an interval of each stage."""
    for seed in range(40):
        prepared = random_designs.study_of(seed, None, 0.0)
        problem, index = prepared.problem, random_designs.first(prepared.problem)
        told = float(problem.describe(index)["offload_latency_s"][0])
        alone = traffic_of(prepared, index).pipelines[0].alone_s
        fleets = problem.stage_columns(problem.space.columns(index), ["stage_round_s"])
        overlapping = sum(float(one[0]) for one in fleets["stage_round_s"])
        above = overlapping if len(fleets["stage_round_s"]) > 1 else 0.0
        assert -1e-12 * alone <= told - alone <= above + 1e-12 * alone, seed


def test_rounds_by_hand() -> None:
    """Four rounds of 3 s each: the first is in after 1 s of 4, the last starts 9 s later and is out
    after 2 s more; the next offload begins when four rounds are over."""
    fleet = Station("fleet", 12.0, 2.0, first_round=0.25, last_round_s=9.0)
    pipeline = replace(PIPELINE, stations=(Station("link in", 4.0), fleet))
    assert pipeline.alone_s == 3.25 + 1.0 + 9.0 + 2.0
    assert ends(pipeline, np.zeros(2)).tolist() == [15.25, 27.25]
    one_round = replace(fleet, busy_s=3.0, first_round=1.0, last_round_s=0.0)
    short = replace(pipeline, stations=(Station("link in", 4.0), one_round))
    assert short.alone_s == 3.25 + 4.0 + 2.0


def test_gaps_have_the_mean_and_the_variation_that_is_asked_for() -> None:
    for cv2 in (0.0, 0.3, 1.0, 4.0):
        gaps = np.diff(arrivals(cv2=cv2, rate_hz=1e6, count=400_000, seed=1))
        assert gaps.mean() == pytest.approx(1e-6, rel=0.02)
        assert gaps.var() / gaps.mean() ** 2 == pytest.approx(cv2, rel=0.05, abs=1e-6)
    same = (arrivals(cv2=4.0, rate_hz=1.0, count=9, seed=seed) for seed in (1, 1, 2))
    one, again, other = same
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)


def test_a_single_station_waits_as_pollaczek_and_khinchine_say() -> None:
    alone = Pipeline(inf, inf, False, 0.0, 0.0, 0.0, (Station("fleet", 1.0),), 1.0)
    arrived = arrivals(cv2=1.0, rate_hz=0.8, count=300_000, seed=5)
    found = measure(Traffic((alone,)), passing(alone, arrived))
    wait = found["wait"]
    assert abs(wait.value - 2.0) < 4 * wait.error
    assert 0 < wait.error < 0.05
    assert found["rate"].value == pytest.approx(0.8, rel=0.01)


@pytest.mark.parametrize("load", [0.7, 0.9])
def test_standard_errors_are_those_of_repetitions(load: float) -> None:
    """Also of the percentile: the spread of those of batches would be half of it at 0.9."""
    traffic, _ = random_designs.traffic(3)
    count = int(enough(load, 1.0, 0.0))
    found = []
    for seed in range(20):
        arrived = arrivals(cv2=1.0, rate_hz=load * traffic.most_hz, count=count, seed=seed)
        passage = pass_through(traffic.pipelines, np.zeros(count, int), arrived)
        found.append(measure(traffic, passage))
    for name in ("time", "rare_time"):
        told = np.sqrt(np.mean([one[name].error ** 2 for one in found]))
        seen = np.std([one[name].value for one in found], ddof=1)
        assert 0.75 < told / seen < 1.5, name


def test_few_offloads_have_no_error() -> None:
    ended = np.arange(1.0, 11.0)
    alike = np.zeros(10, int)
    few = measure(Traffic((PIPELINE,)), Passage(alike, ended - 1.0, ended, np.ones(10)))
    assert np.isnan(few["time"].error)
    assert np.isnan(few["rare_time"].error)
    nobody = Passage(alike[:0], ended[:0], ended[:0], ended[:0])
    none = measure(Traffic((PIPELINE,)), nobody)
    assert np.isnan(none["time"].value)


def test_the_passage_agrees_with_events_bit_for_bit() -> None:
    for seed in range(30):
        one = random_designs.traffic(seed, mix=seed % 2 > 0)[0]
        arrived = arrivals(cv2=1.0, rate_hz=one.most_hz, count=500, seed=7)
        kind = kinds(shares=one.shares, count=500, seed=7)
        found = pass_through(one.pipelines, kind, arrived)
        assert found.ended_s.tolist() == by_events(one.pipelines, kind, arrived), seed
    assert len(pass_through([PIPELINE], kind[:0], arrived[:0]).ended_s) == 0


def test_a_trace_of_two_sizes_by_hand() -> None:
    """Sizes 1, 3, 1 arrive together: the fleet ends them 5, 3 and 1 s of work after 3.5 s; the
    second leaves the link at 3.25 + 1 + 3, when the fleet is at work for 2 of its 6 s."""
    small = PIPELINE
    stations = tuple(replace(one, busy_s=3 * one.busy_s) for one in FLEET)
    large = replace(small, stations=stations, bits=24.0)
    kind = np.array([0, 1, 0])
    passage = pass_through([small, large], kind, np.zeros(3))
    first = 3.25 + 0.5 + 2.0
    assert passage.ended_s.tolist() == [first, first + 6.0, first + 8.0]
    found = measure(Traffic((small, large), (2 / 3, 1 / 3), draw=Draw(2.0, 4.0, 0.5)), passage)
    alone = (5.75, 9.75, 5.75)
    assert found["wait"].value == pytest.approx((sum(passage.ended_s) - sum(alone)) / 3)
    assert found["rate"].value == (24.0 + 8.0) / 8.0  # after the end of the first
    # 8 s at 2 W, two offloads that hold a core of 4 W for 0.75 s, 32 bit of 0.5 J
    assert found["energy"].value == pytest.approx((16.0 + 6.0 + 16.0) / 32.0)


def test_sizes_are_drawn_by_their_shares() -> None:
    drawn = kinds(shares=(7 / 12, 4 / 12, 1 / 12), count=120_000, seed=3)
    assert np.bincount(drawn) == pytest.approx([70_000, 40_000, 10_000], rel=0.03)
    assert np.array_equal(drawn[:99], kinds(shares=(7, 4, 1), count=99, seed=3))


def test_packets_are_counted_as_by_hand() -> None:
    """Of 600 B: requests of 512 and 88 B, completions of 256, 256 and 88 B, three writes; of a
    batch of two: a doorbell of 4 B, 32 B of descriptors, an interrupt of 4 B, 4 B read back."""
    fields = {"max_payload_byte": 256, "max_read_request_byte": 512, "completion_byte": inf}
    fields |= {"batch": 2, "descriptors": 1}
    to_device, to_host = wire_byte({f"interface_{key}": fields[key] for key in fields}, 600.0)
    shared_in = (24 + 4) + (20 + 32) + 24
    shared_out = 24 + (24 + 32) + (24 + 4) + (20 + 4)
    assert to_device == 600 + 3 * 20 + shared_in / 2
    assert to_host == 2 * 24 + 600 + 3 * 24 + shared_out / 2


def test_the_model_keeps_its_promises_for_some_random_designs() -> None:
    """`python -m benchmarks.simulation` holds 200 designs to them, with longer runs."""
    assert np.abs(random_designs.saturated(15, 4096) - 1).max() < 4e-3
    for one in random_designs.witnessed(0.0, 15, 3000):
        longer = 3e-3 if one.chained else 1e-6  # the time through a chain is an upper bound
        assert -1e-6 < one.error("time") < longer
        assert -1e-6 < one.error("cores") < longer
    for one in random_designs.witnessed(1.0, 15, 20_000):
        assert one.load > 0.9 or one.within("time", 0.1)
    for one in random_designs.witnessed(1.0, 15, 20_000, mix=True):
        assert one.load > 0.9 or one.stored or one.within("time", 0.15)


STUDY = """\
# Which fleet?
workload: {rate: 100 Gbit/s, granularity: 4 KiB}
stages:
  - {core: des, designs: [u16], instances: [3, 4]}
interface: {overhead: 100 ns, latency: 500 ns, link: 20 GB/s, in_flight: 8, host_cores: 4}
objectives: {area: minimise, offload_latency: minimise}
"""


def test_the_recommended_design_or_one_that_is_named(write: Write) -> None:
    path = write(STUDY)
    steady = dse.simulate(path)
    assert steady.design == "3 u16"
    assert "the same" in steady.text()
    poisson = dse.simulate(path, "des.instances=4", overrides="workload.arrivals=poisson", seed=2)
    assert poisson.design == "4 u16"
    said = poisson.to_dict()
    assert [*said["quantities"]] == [
        "throughput_bit_per_s",
        "wait_s",
        "offload_latency_mean_s",
        "offload_latency_p99_s",
        "host_cores",
        "energy_j_per_bit",
    ]
    time = said["quantities"]["offload_latency_mean_s"]
    assert abs(time["model"] - time["simulated"]) <= 4 * time["standard_error"]
    assert time["difference"] == pytest.approx(time["model"] / time["simulated"] - 1)
    again = dse.simulate(path, "des.instances=4", overrides="workload.arrivals=poisson", seed=2)
    assert again.to_dict() == said


def test_a_mix_of_one_size_is_that_size(write: Write) -> None:
    """Also across PCI Express, where steady offloads take what the model says, which lets payload
    come in at the rate of the slower direction."""
    link = "link: 20 GB/s", "pcie: gen4 x16, round_trip: 600 ns, batch: 8"
    for text in (STUDY, STUDY.replace(*link)):
        told = []
        for size in ("4 KiB", "{4 KiB: 100 %}"):
            path = write(text.replace("4 KiB", size))
            poisson = "workload.arrivals=poisson"
            found = dse.simulate(path, "des.instances=4", overrides=poisson, offloads=20_000)
            told.append(found)
        one, mix = told
        assert np.array_equal(one.time_s, mix.time_s)
        assert {**mix.to_dict()} == one.to_dict()
        steady = dse.simulate(write(text), "des.instances=4", offloads=500).to_dict()["quantities"]
        near = 1e-9 if text == STUDY else 1e-4
        for name in ("offload_latency_mean_s", "energy_j_per_bit", "host_cores"):
            assert steady[name]["simulated"] == pytest.approx(steady[name]["model"], rel=near)


def test_a_finished_run_and_its_pictures(write: Write, tmp_path: Path) -> None:
    dse.run(write(STUDY), out=tmp_path / "run")
    found = dse.simulate(tmp_path / "run", overrides="workload.arrivals=poisson")
    save_simulation(found, tmp_path / "out")
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "simulation.json",
        "simulation.png",
        "simulation.svg",
    }
    told = json.loads((tmp_path / "out" / "simulation.json").read_text())
    assert told["offloads"] == found.offloads


def test_progress_is_told_and_too_many_offloads_are_refused(write: Write) -> None:
    seen: list[tuple[int, int]] = []
    found = dse.simulate(write(STUDY), offloads=12_000, progress=lambda *done: seen.append(done))
    assert found.offloads == len(found.time_s) == 12_000
    assert seen == [(5000, 12_000), (10_000, 12_000)]
    with pytest.raises(UnitError, match="1,000,000,000 offloads are too many"):
        dse.simulate(write(STUDY), offloads=1_000_000_000)
