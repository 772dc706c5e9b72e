"""An answer says how far the model of its design is from a simulation."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import dse

Write = Callable[[str], Path]
STUDY = """\
workload: {rate: 55 Gbit/s, granularity: {64 B: 7/12, 576 B: 4/12, 1500 B: 1/12}, arrivals: poisson}
stages:
  - {core: des, designs: [u16], instances: {from: 2, to: 6}, clock: 1}
interface: {overhead: 20 ns, latency: 200 ns, link: 50 GB/s, in_flight: 16, host_cores: 8}
objectives: {area: minimise, offload_latency_p99: minimise}
constraints: [offload_latency_p99 <= 336 ns]
"""


def asked(path: Path) -> dse.Answer:
    found = dse.answer(path, all=False, flips=False)
    assert isinstance(found, dse.Answer)
    return found


def test_a_difference_is_named_and_changes_no_answer(write: Write) -> None:
    """5 u16 have 335.1 ns by the model, and 339 +- 2 ns in a simulation."""
    path = write(STUDY)
    found = asked(path)
    assert found.pick.line == "5 u16, clock 1"
    said = found.to_dict()["simulation"]
    seen = said["quantities"]["offload_latency_p99_s"]
    assert seen["simulated"] > 336e-9 > seen["model"] > 335e-9
    assert said["unsettled"] == []
    text = " ".join(found.text().split())
    assert "In a simulation of 50,000 offloads: offload latency p99 33" in text
    assert "(335.1 ns by the model)" in text
    longer = dse.simulate(path, "des.instances=5", offloads=40_000).to_dict()["quantities"]
    assert longer["offload_latency_p99_s"]["simulated"] > 336e-9
    assert asked(path).to_dict() == found.to_dict()


def test_what_few_offloads_do_not_settle_is_named(write: Write) -> None:
    full = STUDY.replace("55 Gbit/s", "153 Gbit/s").replace("[offload_latency_p99 <= 336 ns]", "[]")
    found = asked(write(full.replace("to: 6", "to: 5").replace("from: 2", "from: 5")))
    assert found.to_dict()["simulation"]["unsettled"]
    assert "simulated offloads do not settle" in " ".join(found.text(all=True).split())


def test_what_does_not_vary_is_not_simulated(write: Write) -> None:
    steady = STUDY.replace("{64 B: 7/12, 576 B: 4/12, 1500 B: 1/12}", "354 B")
    path = write(steady.replace("poisson", "steady"))
    assert "simulation" not in asked(path).to_dict()
    capped = STUDY.replace(
        "constraints: [offload_latency_p99 <= 336 ns]", "budget: {power_cap: 2 W}"
    )
    found = asked(write(capped))
    assert "Not simulated: a power cap" in found.text(all=True)
    assert "Not simulated" not in found.text()


def test_a_table_without_power_is_simulated(write: Callable[..., Path]) -> None:
    write("design,area_um2,clock_mhz,cycles_per_block,payload_bit\na,1000,200,64,512\n", "t.csv")
    timed = STUDY.replace("{core: des, designs: [u16]", "{table: t.csv").replace(
        "55 Gbit/s", "5 Gbit/s"
    )
    found = asked(write(timed.replace("336 ns", "1 ms").replace("to: 6", "to: 9")))
    assert "offload_latency_p99_s" in found.to_dict()["simulation"]["quantities"]


def test_a_tail_that_only_a_simulation_knows_is_said_first(write: Write) -> None:
    """Bursts of 64 B and 16 KiB: the model has 29 us for what a simulation sees as 36 us."""
    mix = "{64 B: 0.9, 16 KiB: 0.1}, arrivals: {cv2: 4}"
    text = STUDY.replace("{64 B: 7/12, 576 B: 4/12, 1500 B: 1/12}, arrivals: poisson", mix)
    text = text.replace("55 Gbit/s", "70 Gbit/s").replace("{from: 2, to: 6}, clock: 1", "2")
    text = text.replace("overhead: 20 ns, latency: 200 ns", "overhead: 100 ns, latency: 500 ns")
    text = text.replace("in_flight: 16", "in_flight: 64").replace("336 ns", "60 us")
    rough = "Offload latency p99 is about 35.77 us by simulation (29.34 us by the model)."
    assert rough in " ".join(asked(write(text)).text().split())
    bound = text.replace(", offload_latency_p99: minimise", "")
    assert rough in " ".join(asked(write(bound)).text().split())
