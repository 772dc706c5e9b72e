"""Sizes that stay on the host: what is offloaded is a study of its own, the rest is host time."""

from __future__ import annotations

import numpy as np
import pytest

import dse
from dse.errors import InfeasibleError
from dse.model.problem import Problem
from dse.model.space import as_index, one_block
from dse.objectives.system.waiting import offload_arrival_cv2
from dse.parametric.infeasible import repairs_of
from dse.study import study
from tests import conftest
from tests.conftest import Write
from tests.search.test_compose import front

SHARES = {64: 7 / 12, 576: 4 / 12, 1500: 1 / 12}
MEAN = sum(size * share for size, share in SHARES.items())
RATE = 12e9
CORES = 40.0
STUDY = """\
workload: {WORK, kernel: {index: 3 ns/B, exponent: 1.1, offset: 20 ns}}
stages: [{core: des, fleet: mixed, instances: {from: 0, to: 2}}]
interface: {overhead: 50 ns, latency: 300 ns, host_cores: HOST, host_power: 200 W, LINK}
axes: {interface.in_flight: [1, 4, 16, 64], interface.wait: [sync, async]}
objectives: {power: minimise, total_power: minimise, area: minimise, offload_latency: minimise}
"""
LINKS = ("link: 20 GB/s", "pcie: gen3 x8, round_trip: 1 us, max_payload: 128 B")
MIX = "granularity: {64 B: 7/12, 576 B: 4/12, 1500 B: 1/12}"


def problem_of(write: Write, work: str, link: str = LINKS[0], host: str = "40") -> Problem:
    text = STUDY.replace("WORK", work).replace("LINK", link).replace("HOST", host)
    return conftest.problem_of(write(text))


def problem_text(rate: str, host: str) -> str:
    work = f"{rate}, {MIX}, offload_above: 64 B"
    return STUDY.replace("WORK", work).replace("LINK", LINKS[0]).replace("HOST", host)


def described(problem: Problem) -> dict[str, np.ndarray]:
    index = np.random.default_rng(1).integers(0, problem.sizes, (300, len(problem.sizes)))
    index[:, 1] = np.maximum(index[:, 1], 1)
    return problem.describe(index)


def host_time_s(size: float) -> float:
    return float(20e-9 + 3e-9 * size**1.1)


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("arrivals", ["", "arrivals: poisson, "])
@pytest.mark.parametrize("above", [64, 576])
def test_what_is_offloaded_is_a_study_of_its_own(
    write: Write, link: str, arrivals: str, above: int
) -> None:
    """Its rate and its sizes, on a host that lacks the cores of the sizes that stay."""
    sent = {size: share for size, share in SHARES.items() if size > above}
    tasks_per_s = RATE / (8 * MEAN)
    stays = sum(tasks_per_s * p * host_time_s(g) for g, p in SHARES.items() if g <= above)
    offloads_per_s = tasks_per_s * sum(sent.values())
    bit_per_s = sum(8 * size * share * tasks_per_s for size, share in sent.items())
    whole = f"rate: {RATE} bit/s, {arrivals}{MIX}, offload_above: {above} B"
    listed = ", ".join(f"{g} B: {p / sum(sent.values())!r}" for g, p in sent.items())
    alone = f"rate: {bit_per_s!r} bit/s, {arrivals}granularity: {{{listed}}}"
    got = described(problem_of(write, whole, link))
    right = described(problem_of(write, alone, link, repr(CORES - stays)))
    host = {"interface_host_cores", "total_power_w", "energy_j_per_bit", "task_energy_j"}
    host |= {"host_power_w", "host_cores", "workload_rate_bit_per_s", "workload_granularity_byte"}
    reached = right["throughput_bit_per_s"] >= bit_per_s * (1 - 1e-9)
    assert reached.sum() > 50
    for name in set(right) - host:
        assert got[name][reached] == pytest.approx(right[name][reached], nan_ok=True), name
    per_core, met = 200 / CORES, {name: column[reached] for name, column in got.items()}
    offloading = right["host_cores"][reached]
    assert met["arrival_rate_hz" if arrivals else "throughput_bit_per_s"] == pytest.approx(
        offloads_per_s if arrivals else bit_per_s
    )
    assert met["host_cores"] == pytest.approx(offloading + stays)
    assert met["host_power_w"] == pytest.approx((offloading + stays) * per_core)
    assert met["staying_power_w"] == pytest.approx(stays * per_core)
    total = (right["total_power_w"] - right["host_power_w"])[reached] + met["host_power_w"]
    assert met["total_power_w"] == pytest.approx(total)
    assert met["energy_j_per_bit"] == pytest.approx(total / RATE)
    problem = problem_of(write, whole, link)
    every = sum(tasks_per_s * p * host_time_s(g) for g, p in SHARES.items())
    alone = problem.describe(problem.hosts)
    assert alone["host_cores"] == pytest.approx(every)
    assert alone["energy_j_per_bit"] == pytest.approx(every * per_core / RATE)


def test_thinned_arrivals_vary_as_a_geometric_number_of_gaps() -> None:
    """Drawn: one in four of arrivals with gaps of c_a2 = 0.25, whichever came before."""
    random = np.random.default_rng(5)
    times = np.cumsum(random.gamma(4.0, 0.25, 2_000_000))
    gaps = np.diff(times[random.random(times.size) < 0.25])
    law = offload_arrival_cv2(
        workload_arrival_cv2=np.array([0.25]), workload_tasks_offloaded=np.array([0.25])
    )
    assert law == pytest.approx(gaps.var() / gaps.mean() ** 2, rel=0.01)


def random_study(random: np.random.Generator) -> tuple[str, list[str]]:
    """Return a study with a policy to choose, and what it may write for that."""
    count = int(random.integers(2, 6))
    sizes = np.unique(random.integers(1, 4000, count))
    parts = random.integers(1, 9, len(sizes))
    mix = ", ".join(f"{g} B: {p}/{parts.sum()}" for g, p in zip(sizes, parts, strict=True))
    above = ["0 B", *(f"{size} B" for size in sizes[:-1])]
    arrive = random.choice(
        ["", "arrivals: steady, ", "arrivals: poisson, ", "arrivals: {cv2: 4}, "]
    )
    work = (
        f"{{rate: {random.uniform(1, 60):.3f} Gbit/s, {arrive}granularity: {{{mix}}}, "
        f"kernel: {{index: {10 ** random.uniform(-1, 1):.3f} ns/B, offset: 10 ns}}}}"
    )
    fleet = "fleet: mixed, instances: {from: 0, to: 2}"
    stage = random.choice(
        [fleet, "fleet: mixed, designs: [u4, u16], instances: {from: 0, to: 3}", "instances: least"]
    )
    second = random.choice(
        ["", ", {core: fft, designs: [r2, r8, r64], instances: {from: 1, to: 3}}"]
    )
    latency = "offload_latency_p99" if arrive else "offload_latency"
    goals = ["power", "total_power", "area", latency, "host_cores", "energy"]
    chosen = random.choice(goals, 3, replace=False)
    return (
        f"workload: {work}\n"
        f"stages: [{{core: des, {stage}}}{second}]\n"
        f"interface: {{overhead: 50 ns, latency: 300 ns, {random.choice(LINKS)}, "
        f"host_cores: {random.integers(1, 24)}, host_power: 100 W}}\n"
        f"axes: {{workload.offload_above: [{', '.join(above)}], "
        f"interface.in_flight: [2, 8, 64], interface.wait: [sync, async]}}\n"
        f"objectives: {{{', '.join(f'{goal}: minimise' for goal in chosen)}}}\n"
    ), above


def losses(write: Write, text: str, above: str) -> np.ndarray:
    """Return the losses of all feasible designs of one policy, worked out without an axis."""
    fixed = study.read_study(write(text), [("workload.offload_above", above)])
    problem = study.prepare(fixed).problem
    every = as_index(one_block(problem.sizes))
    found = problem.evaluate(np.concatenate([problem.hosts, every]))
    # what differs by rounding only is equal
    rows = [[float(f"{loss:.10e}") for loss in row] for row in found.loss[found.feasible]]
    return np.array(rows).reshape(-1, len(problem.goals))


def test_composed_fronts_are_those_of_all_designs_of_all_policies(write: Write) -> None:
    random, points, policies = np.random.default_rng(11), 0, set()
    for number in range(16):
        text, above = random_study(random)
        problem = conftest.problem_of(write(text))
        if problem.size > 600:
            continue
        every, composed = front(problem, "enumerate"), front(problem, "compose")
        assert composed.exact, number
        assert np.array_equal(composed.front_index, every.front_index), number
        assert np.array_equal(composed.front_loss, every.front_loss), number
        known = np.unique(np.concatenate([losses(write, text, one) for one in above]), axis=0)
        beaten = [((known <= row).all(axis=1) & (known < row).any(axis=1)).any() for row in known]
        right = known[~np.array(beaten, dtype=bool)]
        assert np.unique(every.front_loss, axis=0) == pytest.approx(right, rel=1e-9), number
        points += len(right)
        axis = [one.name for one in problem.space.axes].index("workload.offload_above")
        policies |= {*every.front_index[:, axis].tolist()}
    assert points > 20
    assert len(policies) > 2


def test_an_answer_says_what_stays_and_what_that_takes(write: Write) -> None:
    """12 Gbit/s are 4.233 Mtask/s; 7/12 of them take 20 ns + 3 ns 64^1.1 = 311.0 ns."""
    text = problem_text("rate: 12 Gbit/s", "40")
    found = dse.answer(text, flips=False)
    (section,) = (one for one in found.sections if one.key == "staying")
    assert section.lines == (
        "64 B stays, 58.3 % of the tasks and 10.5 % of the payload: 0.768 staying cores and "
        "staying power 3.84 W.",
    )
    none = dse.answer(text.replace("above: 64 B", "above: 0 B"), flips=False)
    assert not [one for one in none.sections if one.key == "staying"]


def test_a_rate_that_is_too_high_is_told_whole(write: Write) -> None:
    """The remedy is what to write: at that rate a design can, at a little more none."""
    found = problem_text("rate: 1 Tbit/s", "400")
    (least,) = (
        entry
        for entry in repairs_of(study.prepare(study.read_study(found)))[0]
        if entry.path == "workload.rate"
    )
    assert dse.run(found, overrides={"workload.rate": least.written}).front.shape[0]
    with pytest.raises(InfeasibleError):
        dse.run(found, overrides={"workload.rate": f"{least.value * 1.001} bit/s"})
