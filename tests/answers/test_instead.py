"""Staying on the host: in every answer with a kernel, recommended only where it can be done."""

from __future__ import annotations

from typing import Any

import pytest

import dse

STUDY = """\
workload: {rate: 1 Gbit/s, granularity: 64 B, kernel: {index: 2 ns/B}}
stages: [{core: des, instances: {from: 1, to: 4}}]
interface: {overhead: 1 us, link: 4 GB/s, in_flight: 64, host_cores: 4, host_power: 100 W}
objectives: {total_power: minimise, area: minimise}
"""


def answered(*changes: tuple[str, str], **options: Any) -> tuple[str, str, dict[str, Any]]:
    """Return the first line of an answer, what it says of the host alone, and its facts."""
    text = STUDY
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    found = dse.answer(text, flips=False, **options)
    (section,) = (one for one in found.sections if one.key == "instead")
    (line,), (facts,) = section.lines, section.facts
    first = next(one.lines[0] for one in found.sections if one.key == "answer")
    return first, line, facts


def test_a_host_that_can_and_takes_less_is_recommended() -> None:
    """1.953 M offloads/s of 128 ns keep a quarter of a core busy; offloading them two cores."""
    first, line, facts = answered()
    assert first == "Leave it to the host alone, which dominates the best design."
    assert line == (
        "The host alone would need 0.25 host cores of 4, with total power 6.25 W (87.2 % less): "
        "stay on it."
    )
    assert facts["needs"] == pytest.approx(1e9 / 512 * 64 * 2e-9)
    assert facts["costs"]["total_power_w"] == pytest.approx(0.25 * 100 / 4)
    assert (facts["enough"], facts["better"], facts["demanded"]) == (True, True, True)


def test_a_host_that_is_preferred_and_not_judged_by_every_objective_is_better() -> None:
    """Nobody says at which clock the host would be, so it cannot dominate."""
    first, _, facts = answered(("area: minimise", "clock: minimise"))
    assert first == (
        "Leave it to the host alone, which has the least total power of all, but its clock is "
        "unknown."
    )
    assert facts["unjudged"] == ("clock_hz",)
    assert not facts["dominates"]


def test_a_host_that_dominates_comes_first_whatever_is_preferred() -> None:
    first, _, facts = answered(prefer="knee")
    assert first == "Leave it to the host alone, which dominates the best design."
    assert not facts["better"]
    assert (facts["beats"], facts["beaten_by"]) == (1, 0)


def test_without_accelerators_there_is_no_area_of_theirs() -> None:
    facts = answered(("objectives", "constraints: [area <= 1 mm2, power <= 1 W]\nobjectives"))[2]
    assert facts["unknown"] == ()
    assert facts["costs"]["area_m2"] == 0


def test_a_host_that_cannot_is_never_recommended() -> None:
    """Sixteen times the time on the same host: offloads still keep it busier, but 4 cores are 4."""
    first, line, facts = answered(
        ("index: 2 ns", "index: 100 ns"), ("overhead: 1 us", "overhead: 2 us")
    )
    assert first.startswith("Take ")
    assert line.startswith(
        "The host alone would need 12.5 host cores of 4, with total power 312.5 W"
    )
    assert line.endswith(": it cannot.")
    assert not facts["better"]
    just = answered(("index: 2 ns", "index: 32 ns"))[2]
    assert just["needs"] == pytest.approx(4.0)
    assert just["enough"]


def test_a_host_that_can_but_takes_more_is_told() -> None:
    first, line, facts = answered(("overhead: 1 us", "overhead: 1 ns"))
    assert first.startswith("Take ")
    assert line.endswith("x).")
    assert facts["enough"]
    assert not facts["better"]


def test_a_host_that_violates_a_constraint_is_not_recommended() -> None:
    slow = "constraints: [offload_latency <= 100 ns]\n"
    fast = ("overhead: 1 us", "overhead: 10 ns, latency: 0 s")
    text = ("objectives", f"{slow}objectives")
    first, line, facts = answered(text, fast, ("index: 2 ns", "index: 2 ns"))
    assert first.startswith("Take ")
    assert line.endswith(": it violates offload_latency <= 100 ns.")
    assert facts["violated"] == ("offload_latency <= 100 ns",)


def test_what_is_unknown_of_a_host_is_said() -> None:
    unknown = ("objectives", "constraints: [clock <= 1 GHz]\nobjectives")
    first, line, _ = answered(unknown)
    assert first.startswith("Take ")
    assert line.endswith("; whether it meets clock <= 1 GHz is unknown.")
    first, line, facts = answered((", host_cores: 4, host_power: 100 W", ""))
    assert first.startswith("Take ")
    assert line == (
        "The host alone would need 0.25 host cores, with offload latency 128 ns (89.3 % less); how "
        "many there are is unknown."
    )
    assert "total_power_w" not in facts["costs"]


def test_without_a_demand_the_host_is_compared_and_not_recommended() -> None:
    first, line, facts = answered(
        ("rate: 1 Gbit/s, ", ""),
        ("total_power: minimise", "throughput: maximise"),
        ("in_flight: 64", "in_flight: 2"),
    )
    assert first.startswith("Take ")
    assert line.startswith("The host alone would need for as much ")
    assert not facts["demanded"]


def test_a_study_without_a_kernel_says_nothing_of_it() -> None:
    text = STUDY.replace(", kernel: {index: 2 ns/B}", "")
    assert not [one for one in dse.answer(text, flips=False).sections if one.key == "instead"]


def test_a_kernel_that_was_measured_on_another_host_is_told() -> None:
    text = STUDY.replace("kernel: {index: 2 ns/B}", "kernel: aes_sparc_t4")
    assert not [note for note in dse.load(text).notes if note.startswith("kernel")]
    other = text.replace("interface: {", "interface: {device: sandy_bridge, ")
    (note,) = (note for note in dse.load(other).notes if note.startswith("kernel"))
    assert note == (
        "kernel aes_sparc_t4 was measured on SPARC T4, which is not the host of sandy_bridge: "
        "speedup, break even and the host alone are those of SPARC T4"
    )
    same = text.replace("interface: {", "interface: {device: sparc_t4_engine, ")
    assert not [note for note in dse.load(same).notes if note.startswith("kernel")]
