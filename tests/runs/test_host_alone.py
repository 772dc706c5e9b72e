"""The host alone: a design of no instances, wherever designs are evaluated, compared or shown."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dse
from dse.errors import InfeasibleError, StudyError
from dse.parametric.breakpoints import EVERY
from dse.study import study
from tests.conftest import STUDIES

STUDY = """\
# Which cores?
workload: {rate: 1 Gbit/s, granularity: 64 B, kernel: {index: 2 ns/B}}
stages: [{core: des, instances: {from: 1, to: 4}}]
interface: {overhead: 30 ns, link: 4 GB/s, in_flight: 64, host_cores: 4, host_power: 100 W}
objectives: {total_power: minimise, area: minimise}
"""
BUSY = STUDY.replace("overhead: 30 ns", "overhead: 1 us")
T0_S = 64 * 2e-9
CORES = 1e9 / 512 * T0_S
"""Of 1.953 M offloads per second, 128 ns each: a quarter of a core."""

HOST = "the host alone"


def changed(text: str, *changes: tuple[str, str]) -> str:
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return text


def first_line(text: str, **options: Any) -> str:
    answer = dse.answer(text, flips=False, **options)
    return next(one.lines[0] for one in answer.sections if one.key == "answer")


@pytest.mark.parametrize("method", ["exact", "enumerate", "compose", "nsga2", "tpe"])
def test_every_method_finds_the_front_of_all_designs_and_the_host(method: str) -> None:
    """By brute force: each design of the product, and the host by hand, with each other."""
    more = ("area: minimise", "area: minimise, offload_latency: minimise")
    text = changed(STUDY, ("in_flight: 64, ", ""), more)
    text += "axes: {interface.in_flight: [1, 2, 64], interface.wait: [async, sync]}\n"
    problem = study.prepare(study.read_study(text)).problem
    every = np.indices(problem.sizes).reshape(len(problem.sizes), -1).T
    found = problem.evaluate(every)
    losses = {tuple(row) for row in found.loss[found.feasible].tolist()}
    losses.add((CORES * 100 / 4, 0.0, T0_S))

    def dominates(other: tuple[float, ...], one: tuple[float, ...]) -> bool:
        return other != one and all(a <= b for a, b in zip(other, one, strict=True))

    front = {one for one in losses if not any(dominates(other, one) for other in losses)}
    run = dse.run(text, method=method, budget=problem.size if method in ("nsga2", "tpe") else None)
    got = run.front[[*run.manifest["objectives"]]].to_numpy()
    assert {tuple(row) for row in np.float32(got)} == {tuple(np.float32(one)) for one in front}
    assert len(front) > 5
    assert run.manifest["designs"] == problem.size + 1


def test_what_the_host_alone_is() -> None:
    """Nothing of accelerators, T0 for each task, and what a queue for four cores makes of it."""
    problem = study.prepare(
        study.read_study(changed(STUDY, ("64 B,", "64 B, arrivals: poisson,")))
    ).problem
    (host,) = problem.hosts
    assert (host < 0).all()
    seen = {name: float(column[0]) for name, column in problem.describe(problem.hosts).items()}
    assert seen["host_cores"] == pytest.approx(CORES)
    assert seen["total_power_w"] == pytest.approx(CORES * 100 / 4)
    assert seen["energy_j_per_bit"] == pytest.approx(CORES * 100 / 4 / 1e9)
    assert (seen["area_m2"], seen["power_w"], seen["speedup"]) == (0.0, 0.0, 1.0)
    assert seen["offload_latency_s"] == pytest.approx(T0_S)
    assert (seen["slots"], seen["slot_load"]) == (4.0, pytest.approx(CORES / 4))
    assert T0_S < seen["offload_latency_p99_s"] < 2 * T0_S
    assert np.isnan(seen["break_even_byte"])
    assert problem.counts(problem.hosts) == [{}]


def test_of_a_mix_the_largest_size_is_late() -> None:
    """One in twelve is of 1500 B, and next to nothing waits."""
    mix = (
        "granularity: 64 B",
        "granularity: {64 B: 7/12, 576 B: 4/12, 1500 B: 1/12}, arrivals: poisson",
    )
    found = dse.run(changed(STUDY, mix, ("1 Gbit/s", "1 Mbit/s"))).front
    (host,) = (row for _, row in found.iterrows() if row["host.alone"])
    assert host["offload_latency_p99_s"] == pytest.approx(1500 * 2e-9, rel=1e-3)
    assert host["host_cores"] == pytest.approx(1e6 / 8 * 2e-9)


@pytest.mark.usefixtures("drawn")
def test_a_run_has_it_in_text_table_picture_and_check(tmp_path: Path) -> None:
    found = dse.run(STUDY, out=tmp_path / "run")
    assert re.search(rf"{HOST} +6.250 +0  host\n", found.text())
    with (tmp_path / "run" / "front.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    host = next(row for row in rows if row["host.alone"] == "1")
    assert (float(host["total_power_w"]), host["des.u1"], host["bound"]) == (6.25, "0", "host")
    assert host["break_even_byte"] == ""
    assert "bottleneck: host" in (tmp_path / "run" / "front.svg").read_text()
    assert dse.verify(tmp_path / "run").holds
    assert dse.explain(tmp_path / "run", "host.alone=1").verdict == "front"
    text = (tmp_path / "run" / "front.csv").read_text()
    (tmp_path / "run" / "front.csv").write_text(text.replace(",6.25,", ",6.5,"))
    assert not dse.verify(tmp_path / "run").holds


def test_every_term_that_it_has_is_written_out() -> None:
    """On a host whose engine is not used: nothing of the link, of fleets and of buffers."""
    run = dse.run(STUDIES / "tls_100gbps.yaml")
    found = dse.explain(run, f"{HOST}, host")
    (row,) = (row for _, row in run.front.iterrows() if row["host.alone"])
    assert dse.explain(STUDIES / "tls_100gbps.yaml", HOST).to_dict() == found.to_dict()
    terms = {term.name: term.value for term in found.terms}
    assert (found.verdict, found.design) == ("front", HOST)
    assert terms["total_power_w"] == pytest.approx(row["total_power_w"], rel=1e-9)
    assert terms["offload_latency_s"] == terms["host_time_s"]
    kept = {"interface_host_cores", "interface_host_power_w", "interface_in_flight"}
    assert {name for name in terms if name.startswith(("interface_", "aes", "buffer"))} == kept
    assert not any(value != value for value in terms.values())
    assert "interface.in_flight is at most" not in found.text()
    with pytest.raises(StudyError, match="this study does not compare it; state what it takes"):
        dse.explain(STUDIES / "des_100gbps.yaml", HOST)


def test_it_is_the_answer_where_it_is_the_best() -> None:
    assert first_line(BUSY) == f"Take {HOST}."
    slow = changed(BUSY, ("index: 2 ns", "index: 32.1 ns"), ("overhead: 1 us", "overhead: 2 us"))
    assert first_line(slow).startswith("Take 1 u1")  # it would need all of four cores and more
    assert dse.run(changed(slow, ("32.1 ns", "32 ns"))).front["host.alone"].sum() == 1
    assert first_line(changed(slow, ("32.1 ns", "31 ns"))) == f"Take {HOST}."
    (host,) = (one for one in dse.answer(slow, flips=False).sections if one.key == "host")
    assert host.lines[0].startswith("The host alone: total power 100.3 W")
    assert host.lines[0].endswith("; infeasible: it needs 4.013 host cores of 4.")


def test_each_stream_of_dependent_tasks_keeps_one_core() -> None:
    """Messages of 64 B take 2 us each, so that two streams reach 512 Mbit/s of 1 Gbit/s by hand."""
    text = changed(STUDY, ("index: 2 ns", "index: 31.25 ns"), ("30 ns", "10 us"))
    assert first_line(text) == f"Take {HOST}."
    for streams, reached in ((1, 0.256e9), (2, 0.512e9), (4, 1e9)):
        chained = changed(text, ("64 B,", f"64 B, chained: true, streams: {streams},"))
        problem = study.prepare(study.read_study(chained)).problem
        found = {name: float(one[0]) for name, one in problem.describe(problem.hosts).items()}
        assert found["throughput_bit_per_s"] == pytest.approx(reached)
        assert found["host_cores"] == pytest.approx(reached * 2e-6 / 512)
        assert problem.evaluate(problem.hosts).feasible.tolist() == [streams == 4]
    with pytest.raises(InfeasibleError, match=r"workload\.streams at least 4 .*: the host alone"):
        dse.run(changed(chained, ("streams: 4", "streams: 2")))


def test_a_constraint_that_it_violates_rules_it_out() -> None:
    fast = changed(STUDY, ("objectives", "constraints: [offload_latency <= 100 ns]\nobjectives"))
    assert dse.run(changed(fast, ("30 ns", "10 ns, latency: 0 s"))).front["host.alone"].sum() == 0


@pytest.mark.parametrize(
    ("change", "lack"),
    [
        (("total_power: minimise", "clock: minimise"), "clock"),
        ((", host_cores: 4, host_power: 100 W", ""), "interface host cores"),
        ((", host_power: 100 W", ""), "interface host power"),
        (("rate: 1 Gbit/s, ", ""), "demand"),
    ],
)
def test_what_it_cannot_state_keeps_it_out_and_is_said(change: tuple[str, str], lack: str) -> None:
    found = dse.run(changed(STUDY, change))
    (note,) = (one for one in found.manifest["notes"] if one.startswith(HOST))
    assert note.startswith(f"{HOST} is not compared, for lack of ")
    assert lack in note
    assert "host.alone" not in found.front


def test_without_a_kernel_nothing_is_said() -> None:
    found = dse.run(changed(STUDY, (", kernel: {index: 2 ns/B}", "")))
    assert HOST not in found.text()


def test_choices_that_it_takes_are_its_own() -> None:
    """Of two sizes of offloads there are two hosts; how many are in flight is none of its."""
    text = changed(STUDY, ("granularity: 64 B, ", ""), ("in_flight: 64, ", ""))
    text += "axes: {workload.granularity: [64 B, 1 KiB], interface.in_flight: [1, 2]}\n"
    text = changed(text, ("area: minimise", "area: minimise, offload_latency: minimise"))
    run = dse.run(text)
    (host,) = (row for _, row in run.front.iterrows() if row["host.alone"])
    assert (host["workload.granularity_byte"], host["offload_latency_s"]) == (
        64,
        pytest.approx(T0_S),
    )
    assert np.isnan(host["interface.in_flight"])
    assert run.manifest["designs"] == study.prepare(study.read_study(text)).problem.size + 2


def test_flips_to_the_host_and_from_it() -> None:
    """Offloads cost T0 of a core at an overhead of 128 ns; four cores are enough for 16 Gbit/s."""
    to = {one.name: one for one in dse.flips(STUDY).found}["interface.overhead"].high
    assert to.flips_at == pytest.approx(T0_S, rel=2e-2)
    assert (to.becomes[0], to.proof) == (HOST, EVERY)
    back = {one.name: one for one in dse.flips(BUSY).found}
    assert back["interface.overhead"].low.flips_at == pytest.approx(to.flips_at, rel=1e-6)


def test_diff_tells_that_it_is_gained(tmp_path: Path) -> None:
    dse.run(changed(STUDY, ("host_cores: 4", "host_cores: 0.2")), out=tmp_path / "few")
    dse.run(STUDY, out=tmp_path / "enough")
    (point,) = dse.diff(tmp_path / "few", tmp_path / "enough").points
    assert HOST in [one.design for one in point.kinds["gained"]]


def test_an_infeasible_study_says_what_it_violates() -> None:
    with pytest.raises(InfeasibleError) as error:
        dse.run(changed(STUDY, ("rate: 1 Gbit/s", "rate: 400 Gbit/s")))
    assert f"{HOST}: busy host cores are at most interface.host_cores: " in str(error.value)


def test_it_may_be_the_only_feasible_design() -> None:
    found = dse.run(changed(STUDY, ("objectives", "constraints: [area <= 1 um2]\nobjectives")))
    assert [*found.shown.codes] == [HOST]
    assert found.manifest["recommended"]["design"] == HOST
