"""What would change the answer: reported intervals against every design on a dense grid."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import dse
from dse.errors import InfeasibleError, UnitError
from dse.model.tables import design_names
from dse.parametric import breakpoints
from dse.parametric.breakpoints import EVERY
from dse.parametric.decision_map import find_map
from dse.parametric.flips import NOTHING_FITS, find_flips
from dse.study import assumptions, study
from dse.study.overrides import override
from tests.conftest import STUDIES, everything

MIXED = """
workload: {rate: 30 Gbit/s}
stages:
  - {core: des, fleet: mixed, designs: [u4, u8, u16]}
objectives: {power: minimise, area: minimise}
constraints: ["area <= 300000 um2"]
"""
BEHIND_INTERFACES = """
workload: {rate: 20 Gbit/s, granularity: 1500 B}
stages:
  - {core: des, designs: [u8, u16], instances: {from: 1, to: 3}}
axes:
  interface.device: [sparc_t4_engine, sparc_t4_instruction]
  interface.in_flight: [1, 4, 16]
objectives: {total_power: minimise, area: minimise}
"""
WITH_HOST = (
    BEHIND_INTERFACES.replace("core: des, designs: [u8, u16]", "core: fft, designs: [r2, r4]")
    .replace("axes:", "interface: {link: 4 GB/s, host_cores: 64, host_power: 40 W}\naxes:")
    .replace("1500 B}", "1500 B, kernel: fft64}")
)


SINGLE = ("power", "area", "total_power")
"""Preferences that one objective decides: every design is compared."""


def prepared(text: str, write, seed: int | None = None) -> study.Study:
    """Return a study, all of its numbers changed at random where a seed is given."""
    found = study.prepare(study.read_study(write(text)))
    if seed is not None:
        random = np.random.default_rng(seed)
        for name in [entry.name for entry in assumptions.assumptions_of(found)]:
            (entry,) = (other for other in assumptions.assumptions_of(found) if other.name == name)
            if not entry.integer:
                factor = math.exp(random.uniform(-0.2, 0.2))
                found = replace(found, problem=entry.at(entry.value * factor))
    return found


def answer(problem, preference):
    """Return the name of the best of all designs, found without a search."""
    points = np.vstack([everything(problem).points, problem.hosts])
    evaluation = problem.evaluate(np.ascontiguousarray(points))
    rows = evaluation.points[evaluation.feasible]
    loss = evaluation.loss[evaluation.feasible]
    if not len(rows):
        return None
    kept = [not ((loss <= own).all(1) & (loss < own).any(1)).any() for own in loss]
    front = rows[np.array(kept)]
    best = front[preference.order(problem, front)[:1]]
    axes = problem.space.axes
    chosen = [axis.labels[i] for axis, i in zip(axes, best[0], strict=True) if not axis.unit_name]
    return (design_names(problem, best)[0], tuple(best[0].tolist()), *chosen)


@pytest.mark.parametrize(
    ("text", "written", "seed"),
    [
        (MIXED, "power", 1),
        (MIXED, "area", 2),
        (MIXED, "knee", 3),
        (f"{MIXED}tolerance: 10 %", "power", 6),
        (BEHIND_INTERFACES, "total_power", 4),
        (BEHIND_INTERFACES, "area_m2 * total_power_w", 5),
        (WITH_HOST, "total_power", 7),
    ],
)
def test_no_flip_hides_inside_an_interval(text, written, seed, write) -> None:
    """Every design at random values inside each interval, and at the flips themselves."""
    found = prepared(text, write, seed)
    preference = found.preferring(written)
    single = written in SINGLE and not preference.tolerance
    nominal = answer(found.problem, preference)
    random = np.random.default_rng(seed)
    by_name = {entry.name: entry for entry in assumptions.assumptions_of(found)}
    only = random.choice(list(by_name), 7 if single else 2, replace=False).tolist()
    flipped = 0
    for entry in find_flips(found, preference=preference, only=only).found:
        at = by_name[entry.name].at
        low, high = math.log(entry.low.holds_to), math.log(entry.high.holds_to)
        values = np.exp(random.uniform(low, high, 15))
        if by_name[entry.name].integer:
            values = np.clip(np.round(values), entry.low.holds_to, entry.high.holds_to)
        for value in (*values.tolist(), entry.low.holds_to, entry.high.holds_to):
            assert answer(at(value), preference) == nominal, (entry.name, value)
        for side in (entry.low, entry.high):
            if side.flips_at is not None:
                flipped += 1
                assert answer(at(side.flips_at), preference) != nominal, (entry.name, side)
    assert flipped or not single


@pytest.mark.parametrize("text", [MIXED, BEHIND_INTERFACES], ids=["mixed", "interfaces"])
@pytest.mark.parametrize("step", [9, pytest.param(1, marks=pytest.mark.slow)], ids=["few", "all"])
def test_a_space_too_large_for_bounds_has_the_same_flips_as_one_that_is_not(
    step, text, write, monkeypatch
) -> None:
    """Exact searches at some values find what bounds prove."""
    found = prepared(text, write, 0)
    proven = find_flips(found, factor=3.0).found[::step]
    assert proven[0].low.flips_at
    monkeypatch.setattr(breakpoints, "rivals_of", lambda spans, _: [None for _ in spans])
    names = [entry.name for entry in proven]
    searched = find_flips(found, factor=3.0, only=names).found
    assert {entry.name for entry in searched} == {*names}
    for entry in proven:
        (other,) = (one for one in searched if one.name == entry.name)
        for ours, theirs in ((entry.low, other.low), (entry.high, other.high)):
            assert theirs.becomes == ours.becomes, entry.name
            assert theirs.holds_to == pytest.approx(ours.holds_to, rel=1e-6), entry.name
            assert theirs.proof == breakpoints.ENDS


def test_the_host_alone_flips_answers_among_assumptions_that_are_checked_together() -> None:
    """By hand: records of TLS, by a core of 96, take what the engine takes: cheap is the host."""
    front = dse.run(STUDIES / "tls_100gbps.yaml").front
    busy = 100e9 / (8 * 16384) * (103.82e-9 + 38.6968e-12 * 16384)
    found = find_flips(
        study.prepare(study.read_study(STUDIES / "tls_100gbps.yaml")), only=["interface"]
    )
    (entry,) = (one for one in found.found if one.name == "interface.host_power")
    assert len(found.found) > 1
    assert entry.low.becomes == ("the host alone",)
    assert entry.low.flips_at == pytest.approx(front["total_power_w"].min() * 96 / busy, rel=1e-3)


def test_an_answer_that_the_rate_outgrows_is_infeasible_beyond(write) -> None:
    """As few instances as carry the rate: today's carry no more than they do."""
    text = """
workload: {rate: 116.43 Mbit/s}
stages: [{core: des, instances: least}]
objectives: {area: minimise, power: minimise}
"""
    found = prepared(text, write)
    (rate,) = find_flips(found, only=["workload.rate"], factor=1000.0).found
    assert rate.high.flips_at is not None
    assert rate.high.saving == math.inf


def test_a_fleet_that_a_faster_clock_makes_enough_wins_though_it_is_not_offered_further_on(
    write,
) -> None:
    """Two of the faster design are more than enough at far ends, and too few today."""
    text = """
workload: {rate: 100 Gbit/s}
stages: [{core: des, fleet: mixed, designs: [u4, u16], clock: meet}]
objectives: {area: minimise, power: minimise}
prefer: area
"""
    found = prepared(text, write)
    small, large = found.problem.stages[0].designs.bandwidth_bit_per_s.tolist()
    flips = find_flips(found, only=["des.u16.clock"])
    (clock,) = flips.found
    assert flips.answer == ("2 u4 + 2 u16",)
    assert clock.high.becomes == ("1 u4 + 2 u16",)
    enough = clock.nominal * (100e9 - small) / (2 * large)
    assert clock.high.flips_at == pytest.approx(enough, rel=1e-6)


def test_where_whole_rounds_of_tasks_do_not_fill_the_demand_an_answer_holds_no_longer(
    write,
) -> None:
    """Four u2 carry 20 Gbit/s in tasks of 1 724 B, and 0.9 % less in tasks of 1 730 B."""
    text = """
workload: {rate: 20 Gbit/s, granularity: 4 KiB, kernel: des}
stages: [{core: des, designs: [u1, u2, u4], clock: meet}]
interface: {device: sandy_bridge}
objectives: {area: minimise, power: minimise}
prefer: area
"""
    found = prepared(text, write)
    (size,) = find_flips(found, only=["workload.granularity"]).found
    assert size.low.holds_to > 1730
    assert size.low.proof != EVERY
    (entry,) = (one for one in assumptions.assumptions_of(found) if one.name == size.name)
    assert answer(entry.at(size.low.holds_to), found.preference) == answer(
        found.problem, found.preference
    )
    assert answer(entry.at(1730.0), found.preference) != answer(found.problem, found.preference)


@pytest.mark.parametrize(
    ("prefer", "stages", "interface", "swept", "there"),
    [
        (
            "area",
            "{core: des, instances: least, designs: [u1, u8]}",
            "{device: sparc_t4_engine}",
            "des.u1.clock=129..3225MHz",
            1e9,
        ),
        (
            "total_power",
            "{core: des, instances: least, designs: [u1, u2], clock: 1}",
            "{device: sandy_bridge, in_flight: 1}",
            "des.u1.clock=129..3225MHz",
            191.98e6,
        ),
        (
            "area",
            "{core: des, instances: least, designs: [u1, u4]}",
            "{device: sandy_bridge}",
            "granularity=512B..32KiB",
            997.0,
        ),
        (
            "area",
            "{core: des, fleet: mixed, designs: [u16, u2], clock: 1}, "
            "{core: jacobi, instances: least, clock: meet}",
            "{device: sparc_t4_engine, latency: 324.20988866275246 cycles, in_flight: 1}",
            "rate=2.5..40Gbps",
            16.8e9,
        ),
    ],
)
def test_no_design_is_better_for_a_while_inside_an_interval_said_to_be_proven(
    prefer, stages, interface, swept, there, write
) -> None:
    """As few instances as carry the rate, in whole rounds of tasks, fit here and there only."""
    text = f"""
workload: {{rate: 10 Gbit/s, granularity: 4 KiB, kernel: des}}
stages: [{stages}]
interface: {interface}
objectives: {{area: minimise, power: minimise, total_power: minimise}}
prefer: {prefer}
"""
    found = prepared(text, write)
    result = find_map(found.document, [swept])
    random, at = np.random.default_rng(0), result.numbers[0].at
    for interval in result.intervals:
        nominal = answer(at(interval.low), result.study.preference)
        values = random.uniform(interval.low, interval.high, 40).round().tolist()
        for value in values + [there] * (interval.low < there < interval.high):
            same = answer(at(value), result.study.preference) == nominal
            assert same or interval.proof != EVERY, value


def test_what_fits_again_beyond_where_nothing_does_is_found(write) -> None:
    text = """
workload: {rate: 10 Gbit/s, granularity: 4 KiB, kernel: des}
stages:
  - {core: des, name: first, instances: least, designs: [u1, u4], clock: 1}
  - {core: des, name: second, instances: least, designs: [u8, u1], clock: 1}
interface: {device: sparc_t4_engine}
objectives: {power: minimise, area: minimise}
"""
    result = find_map(prepared(text, write).document, ["rate=1..60Gbps"])
    intervals = [one for one in result.intervals if one.low < 21.8e9 < one.high]
    assert NOTHING_FITS not in [one.name for one in intervals]
    assert answer(result.numbers[0].at(21.8e9), result.study.preference) is not None
    empty = [one for one in result.intervals if one.name == NOTHING_FITS]
    assert len(empty) == 3
    assert not any(one.proof == EVERY for one in empty)


def test_what_answers_for_a_few_bytes_only_is_searched_for(write) -> None:
    text = """
workload: {rate: 10 Gbit/s, granularity: 4 KiB, kernel: des}
stages: [{core: des, instances: least, designs: [u16, u4], clock: 1}]
interface: {device: sandy_bridge}
objectives: {area: minimise, instances: minimise}
prefer: area
"""
    result = find_map(prepared(text, write).document, ["granularity=1024..1040B"])
    found = [(one.low, one.high, one.name) for one in result.intervals]
    assert found[:2] == [(1024.0, 1024.0, "u4"), (1025.0, 1028.0, "u16")]
    for low, high, design in found:
        for value in np.arange(low, high + 1):
            assert answer(result.numbers[0].at(value), result.study.preference)[0].endswith(design)


def test_a_flip_is_where_two_lines_cross(write) -> None:
    """Power at a rate is leakage plus rate times energy per bit; u1 and u2 cross where it says."""
    text = """
workload: {rate: 0.2 Gbit/s}
stages: [{core: des, designs: [u1_p2, u1], instances: 1}]
objectives: {power: minimise}
"""
    found = prepared(text, write)
    metrics = found.problem.stages[0].designs.metrics
    energy = metrics.dynamic_power_w / found.problem.stages[0].designs.bandwidth_bit_per_s
    crossing = -np.diff(metrics.leakage_power_w)[0] / np.diff(energy)[0]
    (rate,) = find_flips(found, only=["workload.rate"]).found
    side = rate.high if crossing > rate.nominal else rate.low
    held = 0 < crossing < found.problem.stages[0].designs.bandwidth_bit_per_s.min()
    assert held == (side.flips_at == pytest.approx(crossing, rel=1e-6))


CAPPED = """
stages: [{core: jacobi, instances: {from: 1, to: 4}, clock: [0.1, 0.2]}]
budget: {memory_bandwidth: 25.6 GB/s, memory_energy: 100 pJ/B, power_cap: 2.5 W}
objectives: {area: minimise, total_power: minimise, throughput: maximise}
"""


def test_a_tie_is_no_flip(write) -> None:
    """Below some cap all designs use it up: their power is the same but for rounding."""
    found = prepared(CAPPED, write)
    (cap,) = find_flips(found, only=["budget.power_cap"]).found
    assert cap.low.flips_at is None
    entry = next(e for e in assumptions.assumptions_of(found) if e.name == cap.name)
    nominal = everything(found.problem)
    best = nominal.loss[:, 1].argmin()
    for value in np.geomspace(cap.low.holds_to, cap.high.holds_to, 200):
        loss = everything(entry.at(float(value))).loss
        least = loss[:, 1] <= loss[:, 1].min() * (1 + 2e-12)
        assert least[best]
        assert loss[best, 0] == loss[least, 0].min()


LARGE_CONSTANT = """
workload: {rate: 100 Gbit/s}
stages: [{core: des, designs: [u8, u16], fleet: mixed}]
budget: {constant_power: 1 kW}
objectives: {area: minimise, total_power: minimise}
"""


def test_an_answer_that_ties_is_none_beyond_a_flip(write) -> None:
    """Beside 1 kW the powers of both differ by no more than rounding where they cross."""
    chosen = prepared(LARGE_CONSTANT, write)
    result = find_flips(chosen, only=["u8"], preference=chosen.preferring("total_power"))
    becomes = {entry.name: entry.low.becomes for entry in result.moving}
    assert result.answer == ("3 u16",)
    assert becomes["des.u8.dynamic_power"] == ("1 u8 + 2 u16",)
    assert ("3 u16",) not in [side.becomes for entry in result.moving for side in entry.sides]


def test_a_bound_and_whole_numbers_flip_where_they_bind(write) -> None:
    text = MIXED.replace("power: minimise, area: minimise", "power: minimise")
    found = prepared(text, write)
    result = find_flips(found, only=["area <= 300000 um2"])
    (bound,) = result.found
    area = found.problem.describe(np.array([[0, 0, 1]]))["area_m2"][0]
    assert result.answer == ("1 u16",)
    assert bound.low.holds_to == pytest.approx(area, rel=1e-6)
    assert bound.high.flips_at is None
    behind = prepared(BEHIND_INTERFACES, write)
    (fits,) = find_flips(behind, only=["sparc_t4_engine.max_in_flight"]).found
    assert fits.low.flips_at == fits.low.holds_to - 1


PACKETS = """
workload: {rate: 48 Gbit/s, granularity: 9000 B}
stages: [{core: des, designs: [u16], instances: {from: 1, to: 3}}]
interface: {pcie: gen3 x8, max_payload: 512 B, max_in_flight: 128, in_flight: 128, wait: async}
objectives: {area: minimise}
"""


def test_a_field_of_given_values_steps_through_them(write) -> None:
    """The link carries 50.0 Gbit/s in packets of 256 B, 45.3 in those of 128 B."""
    (packet,) = find_flips(prepared(PACKETS, write), only=["max_payload"]).found
    assert (packet.low.holds_to, packet.low.flips_at) == (256.0, 128.0)
    assert (packet.high.holds_to, packet.high.flips_at) == (4096.0, None)
    document = study.read_study(write(PACKETS))
    sweep = find_map(document, ["max_payload=128B..1KiB"])
    assert [(i.low, i.high) for i in sweep.intervals] == [(128, 128), (256, 1024)]
    with pytest.raises(UnitError, match="one of 128 B"):
        find_map(document, ["max_payload=128B..1000B"])


def test_assumptions_are_what_no_search_chooses(write) -> None:
    every = {
        entry.name: entry
        for entry in assumptions.assumptions_of(prepared(BEHIND_INTERFACES, write))
    }
    assert {
        "workload.rate",
        "workload.granularity",
        "sparc_t4_engine.overhead",
        "des.u16.leakage_power",
    } <= every.keys()
    assert not any("in_flight" in name and "max" not in name for name in every)
    for entry in every.values():
        same = entry.at(entry.value)
        assert (everything(same).loss == everything(entry.problem).loss).all(), entry.name
    with pytest.raises(UnitError, match=r"has no assumption named 'overheat'.*did you mean"):
        assumptions.choose_assumptions(tuple(every.values()), "overheat")


def test_names_are_unique() -> None:
    for path in sorted(STUDIES.glob("*.yaml")):
        every = [
            entry.name
            for entry in assumptions.assumptions_of(study.prepare(study.read_study(path)))
        ]
        assert len(set(every)) == len(every) > 0, path


def test_a_rate_opens_and_closes_counts(write) -> None:
    """The space at another rate is that of the study written with this rate."""
    found = prepared(MIXED, write)
    (rate,) = assumptions.choose_assumptions(assumptions.assumptions_of(found), "rate")
    written = study.prepare(override(found.document, [("workload.rate", "77 Gbit/s")]))
    moved = rate.at(77e9)
    assert moved.sizes == written.problem.sizes != found.problem.sizes
    assert np.array_equal(everything(moved).loss, everything(written.problem).loss)


def test_without_an_answer_nothing_flips(write) -> None:
    with pytest.raises(InfeasibleError, match="no design meets"):
        find_flips(prepared(MIXED.replace("300000", "3"), write))


def test_text_and_json_say_the_same(write) -> None:
    result = find_flips(prepared(MIXED, write), only=["u16", "u8.area"])
    facts = result.to_dict()
    text = result.text()
    assert facts["answer"] == ", ".join(result.answer)
    changes = [entry["least_factor"] for entry in facts["assumptions"]]
    known = [change for change in changes if change is not None]
    assert known == sorted(known)
    assert changes[: len(known)] == known
    first = facts["assumptions"][0]
    assert first["assumption"] in text
    assert text.startswith(facts["answer"])
    json.dumps(facts, allow_nan=False)


def test_a_picture_is_drawn(write, tmp_path: Path) -> None:
    from dse.parametric import plots

    result = find_flips(prepared(MIXED, write), only=["u16"])
    once, again = tmp_path / "once", tmp_path / "again"
    for folder in (once, again):
        plots.save_flips(result, folder)
        for ending in ("png", "svg"):
            assert (folder / f"flips.{ending}").stat().st_size > 5_000
    assert (again / "flips.svg").read_bytes() == (once / "flips.svg").read_bytes()


def test_shipped_study_flips_where_it_should() -> None:
    """Three u16 carry 3 * 41.29 Gbit/s; the FFT's clock is the closest to a flip."""
    found = study.prepare(
        study.read_study(STUDIES / "des_fft_sweep.yaml", [("workload.rate", "100 Gbit/s")])
    )
    result = find_flips(found, only=["workload.rate", "fft.r64.clock", "des.u1.area"])
    assert next(entry.name for entry in result.found) == "fft.r64.clock"
    rate = next(entry for entry in result.found if entry.name == "workload.rate")
    assert (rate.low.flips_at, rate.high.flips_at) == pytest.approx((82.58e9, 102.1e9), rel=1e-4)


def test_a_flip_nearby_is_found_in_the_whole_range_too() -> None:
    """What bounds a way up from the nominal value bounds none down from it."""
    found = study.prepare(study.read_study(STUDIES / "des_100gbps.yaml"))
    name = "des.u8.dynamic_power"
    near, whole = (find_flips(found, only=[name], factor=f).found[0] for f in (2.0, 1000.0))
    assert whole.low.flips_at == pytest.approx(near.low.flips_at, rel=1e-6)
    assert whole.low.becomes == near.low.becomes == ("1 u8 + 2 u16",)


SLACK = "name,area_um2,wns_ns\n" + "".join(
    f"d{row},{100 + 10 * row},{0.05 * row - 0.3:.2f}\n" for row in range(12)
)


def test_negative_numbers_flip_where_they_bind(write) -> None:
    """Slack is met from d4 on: its bound may move to the slack of d3 and to its own."""
    write(SLACK, "slack.csv")
    text = (
        "designs: slack.csv\nobjectives: {area: minimise, wns: maximise}\n"
        "constraints: [wns >= -0.1 ns]\n"
    )
    found = {entry.name: entry for entry in find_flips(prepared(text, write)).found}
    bound, own = found["wns >= -0.1 ns"], found["d4.wns"]
    ends = (bound.low.flips_at, bound.high.holds_to, own.low.holds_to)
    assert ends == pytest.approx((-0.15e-9, -0.1e-9, -0.1e-9), rel=1e-6)
    assert (bound.low.becomes, bound.high.becomes) == (("d3",), ("d5",))
    assert own.high.flips_at is None
    assert found["d5.area"].low.flips_at == pytest.approx(140e-12)


@pytest.mark.parametrize("least", ["5e-324", "1e308"])
def test_a_bound_at_the_end_of_the_floats_is_varied_within_them(least: str, write) -> None:
    write("name,a,accuracy\nx,1,0.9\ny,2,1.5e308\n", "table.csv")
    text = "designs: table.csv\nobjectives: {a: minimise}\n" + f"constraints: [accuracy >= {least}]"
    found = {entry.name: entry for entry in find_flips(prepared(text, write)).found}
    bound = found[f"accuracy >= {least}"]
    assert 0.0 < bound.low.holds_to <= bound.nominal <= bound.high.holds_to < math.inf


OVERFLOWING = """
workload: {rate: 1 Gbit/s, granularity: 4 KiB, kernel: {index: 15 ns/B, exponent: 1.2}}
stages: [{core: des, designs: [u8, u16], instances: {from: 1, to: 3}}]
interface: {device: sparc_t4_engine}
objectives: {speedup: maximise, area: minimise}
"""


def test_a_range_ends_where_a_quantity_overflows(write) -> None:
    """The host takes 15 ns * 2 ** (12 * exponent): no float from 1024 / 12 on."""
    chosen = prepared(OVERFLOWING, write)
    with pytest.raises(UnitError, match="no assumption named 'exponent'"):
        find_flips(chosen, only=["exponent"])
    sweep = find_map(chosen.document, ["kernel.exponent=1..400"], prefer="speedup")
    assert sweep.intervals[-1].high == pytest.approx(1024 / 12, rel=1e-3)
    assert "above it a quantity overflows" in sweep.text()
    (size,) = find_flips(
        chosen, preference=chosen.preferring("speedup"), only=["granularity"], factor=1e300
    ).found
    assert size.high.limited == breakpoints.OVERFLOW


def test_an_answer_that_fits_for_a_few_bytes_of_records_flips_there() -> None:
    """One core instead of two is enough from 10 192 B down, and not from 10 185 to 10 177 B."""
    found = study.prepare(study.read_study(STUDIES / "tls_100gbps.yaml"))
    (size,) = find_flips(found, only=["granularity"]).found
    assert (size.low.holds_to, size.low.flips_at) == (10193.0, 10192.0)


def test_a_zero_that_a_record_gives_is_moved_upward() -> None:
    """The card on the die wins from 158.9 mW; below, and of zeros nobody wrote, nothing is said."""
    path = STUDIES / "tls_100gbps.yaml"
    found = find_flips(study.prepare(study.read_study(path)), only=["nic_inline"], factor=2.0)
    entries = {entry.name: entry for entry in found.found}
    idle = entries["nic_inline.idle_power"]
    assert idle.high.flips_at == pytest.approx(0.15895, rel=1e-3)
    assert "dsa_batch" in idle.high.becomes
    assert 0 < idle.high.saving < 0.5
    assert (idle.low.flips_at, idle.nominal) == (None, 0.0)
    assert not entries.keys() & {"nic_inline.latency", "nic_inline.batch", "kernel.exponent"}
