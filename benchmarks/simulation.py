"""Random offload pipelines: what the model says of them, and what a simulation sees."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.timing import table
from dse.contract import PCIE_LINKS
from dse.model.problem import Problem
from dse.model.space import Index
from dse.simulation.pipeline import Traffic, arrivals, kinds, pass_through
from dse.simulation.report import Seen, measure
from dse.simulation.traffic import traffic_of
from dse.study import study

DESIGNS = 200
SEED = 2026
UNSEEN = 1000
"""The first seed of designs of a mix: 3/4 in `size_wait_s` was fitted to others."""

OFFLOADS = 300_000
ARRIVALS = {"steady": 0.0, "poisson": 1.0, "cv2 4": 4.0}
IMIX = {64: 7 / 12, 576: 4 / 12, 1500: 1 / 12}
"""Simple IMIX: sizes in bytes and their shares; random designs scale it."""

MEAN_BYTE = sum(share * size for size, share in IMIX.items())


def text(random: np.random.Generator, rate: float | None, cv2: float, mix: bool = False) -> str:
    """Return a study of one design: log-uniform times, sizes, links and fleets.

    With `mix` its size is the mean of IMIX, and every other design has PCI Express.
    """

    def drawn(low: float, high: float) -> float:
        return float(np.exp(random.uniform(np.log(low), np.log(high))))

    granularity, in_flight = round(drawn(64, 65536)), 2 ** random.integers(0, 9)
    mode = random.choice(["sync", "sync_os", "async"], p=[0.3, 0.1, 0.6])
    transfer = random.choice(["cut_through", "store_and_forward"], p=[0.8, 0.2])
    scale = granularity / MEAN_BYTE
    several = ", ".join(
        f"{max(round(size * scale), place)} B: {share!r}"
        for place, (size, share) in enumerate(IMIX.items(), 1)
    )
    sizes = f"{{{several}}}" if mix else f"{granularity} B"
    arriving = f", arrivals: {{cv2: {cv2}}}" if rate is not None or not mix else ""
    lines = [f"workload: {{granularity: {sizes}{arriving}"]
    lines[0] += "}" if rate is None else f", rate: {rate!r} bit/s}}"
    lines.append("stages:")
    for number in range(random.choice([1, 2], p=[0.8, 0.2])):
        core, most = (("des", 14), ("fft", 4))[random.integers(2)]
        instances = max(1, round(drawn(1, most)))
        clock = random.choice([1.0, 0.5, 0.25])
        design = "u8" if core == "des" else "r2"
        lines.append(
            f"  - {{core: {core}, name: s{number}, designs: [{design}], instances: {instances}, "
            f"clock: {clock}}}"
        )
    lines += [
        f"interface: {{overhead: {drawn(5, 500)!r} ns, latency: {drawn(20, 2000)!r} ns,",
        f"  link: {drawn(2.5, 50)!r} GB/s, in_flight: {in_flight}, switch: {drawn(5, 500)!r} ns,",
        f"  host_cores: {random.integers(1, 17)}, wait: {mode}, transfer: {transfer}}}",
        "objectives: {area: minimise}",
    ]
    if mix and random.integers(2):
        link = random.choice([one for one in PCIE_LINKS[1:] if int(one[3]) > 2])
        lines[-2] = lines[-2].removesuffix("}") + (
            f", pcie: {link}, max_payload: {random.choice([128, 256, 512])} B, batch: "
            f"{min(random.choice([1, 8, 32]), in_flight)}, round_trip: {drawn(400, 1500)!r} ns}}"
        )
    return "\n".join(lines) + "\n"


def study_of(seed: int, rate: float | None, cv2: float, mix: bool = False) -> study.Study:
    """Return a random study."""
    written = text(np.random.default_rng([SEED, seed]), rate, cv2, mix)
    return study.prepare(study.read_study(written))


@dataclass(frozen=True)
class Witnessed:
    """One design at a load: the model and what was seen of it, by measure."""

    load: float
    alone_s: float
    starved: float
    stored: bool
    chained: bool
    model: dict[str, float]
    seen: dict[str, Seen]

    def error(self, name: str) -> float:
        """Return how much more the model says, relative to what was seen."""
        return self.model[name] / self.seen[name].value - 1.0

    def within(self, name: str, limit: float) -> bool:
        """Return whether the model is that near, or within two standard errors beyond."""
        return abs(self.error(name)) <= limit + 2 * self.seen[name].error / self.seen[name].value


def traffic(seed: int, mix: bool = False) -> tuple[Traffic, float]:
    """Return what passes a random design, and the load of its busiest part."""
    prepared = study_of(seed, None, 0.0, mix)
    load = float(np.random.default_rng([SEED, seed, 1]).uniform(0.3, 0.98))
    return traffic_of(prepared, first(prepared.problem)), load


def first(problem: Problem) -> Index:
    """Return the only design."""
    return np.zeros((1, len(problem.sizes)), dtype=np.int64)


def predicted(problem: Problem) -> dict[str, float]:
    """Return what the model says, by measure."""
    columns = problem.describe(first(problem))
    asked = (one for one in problem.quantities if one.simulated)
    return {one.simulated: float(columns[one.name][0]) for one in asked}


def witnessed(
    cv2: float,
    designs: int = DESIGNS,
    count: int = OFFLOADS,
    mix: bool = False,
    seeds: Sequence[int] = (),
) -> list[Witnessed]:
    """Simulate random designs, and ask the model; those of a mix at loads of what they carry."""
    seeds = seeds or (range(UNSEEN, UNSEEN + designs) if mix else range(designs))
    drawn = [traffic(seed, mix) for seed in seeds]
    passed = [one for one, _ in drawn]
    most = [one.most_hz * one.bits for one in passed]
    if mix:
        most = [min(one, carried(seed)) for seed, one in zip(seeds, most, strict=True)]
    rates = [load * one for (_, load), one in zip(drawn, most, strict=True)]
    found = []
    for seed, (one, load), rate in zip(seeds, drawn, rates, strict=True):
        kind = kinds(shares=one.shares, count=count, seed=seed)
        times = arrivals(cv2=cv2, rate_hz=rate / one.bits, count=count, seed=seed)
        seen = dict(measure(one, pass_through(one.pipelines, kind, times)))
        problem = study_of(seed, rate, cv2, mix).problem
        starved = float(problem.describe(first(problem)).get("starved_share", [0.0])[0])
        alone = sum(s * p.alone_s for s, p in zip(one.shares, one.pipelines, strict=True))
        stations = one.pipelines[0].stations
        stored = any(station.whole for station in stations)
        chained = all(station.name != "fleet" for station in stations)
        found.append(Witnessed(load, alone, starved, stored, chained, predicted(problem), seen))
    return found


def carried(seed: int) -> float:
    """Return the rate of a random design of a mix, as the model has it."""
    return predicted(study_of(seed, None, 0.0, mix=True).problem)["rate"]


def saturated(designs: int = DESIGNS, count: int = 20_480) -> np.ndarray:
    """Return the rates that the model gives where nothing is demanded, over those of crowds."""
    passed = [traffic(seed)[0] for seed in range(designs)]
    pipelines = [one.pipelines[0] for one in passed]
    half, crowd = count // 2, np.zeros(count)
    alike = crowd.astype(np.intp)
    ends = [pass_through([one], alike, crowd).ended_s for one in pipelines]
    seen = np.array([half / (end[-1] - end[half - 1]) for end in ends])
    # host cores are a requirement of the model and no limit of its rate
    host = [
        min(one.slots, one.cores) / one.alone_s if one.sync else one.cores / one.core_s
        for one in pipelines
    ]
    rates = [predicted(study_of(seed, None, 0.0).problem)["rate"] for seed in range(designs)]
    bits = np.array([one.bits for one in pipelines])
    return np.minimum(np.array(rates) / bits, host) / seen


def shares(errors: np.ndarray) -> tuple[str, ...]:
    """Return median, range, and how many of a hundred are within 5, 10 and 15 per cent."""
    sizes = np.abs(errors)
    within = (f"{100 * np.mean(sizes <= limit):.0f}" for limit in (0.05, 0.10, 0.15))
    ends = f"{100 * errors.min():+.2g} .. {100 * errors.max():+.2g}"
    return f"{100 * np.median(sizes):.2g}", ends, *within


HEADERS = ("arrivals", "what", "designs", "median [%]", "range [%]", "≤ 5 %", "≤ 10 %", "≤ 15 %")


def rows(arriving: str, found: list[Witnessed]) -> list[tuple[str, ...]]:
    """Return the table of one kind of arrivals."""
    words = {"time": "mean time", "rare_time": "99th percentile", "cores": "host cores"}
    result = []
    for name, what in words.items():
        errors = np.array([one.error(name) for one in found])
        result.append((arriving, what, str(len(found)), *shares(errors)))
    waiting = [one for one in found if one.seen["wait"].value > 0.05 * one.alone_s]
    if waiting:
        errors = np.array([one.error("wait") for one in waiting])
        result.append((arriving, "mean wait, above 5 % of T1", str(len(waiting)), *shares(errors)))
    return result


def of_mixes(found: list[Witnessed]) -> list[tuple[str, ...]]:
    """Return the table of mixes, by transfers and by what the model says that they lose."""
    result = []
    for stored, way in ((False, "cut through"), (True, "stored")):
        for name, what in (("time", "mean time"), ("rare_time", "99th percentile")):
            for low, high in ((0.0, 0.02), (0.02, 1.0)):
                part = [one for one in found if one.stored == stored and low <= one.starved < high]
                errors = np.array([one.error(name) for one in part])
                told = errors[np.isfinite(errors)]
                where = f"{way}, starved {100 * low:g} to {100 * high:g} %"
                never = str(len(errors) - len(told))
                result.append((where, what, str(len(part)), never, *shares(told)))
    return result


def broken(found: Mapping[str, list[Witnessed]], rates: np.ndarray) -> list[str]:
    """Return which promises of docs/simulation.md do not hold."""
    calm = [one for one in found["poisson"] if one.load <= 0.9]
    mixed = [one for one in found["mixes"] if one.load <= 0.9 and not one.stored]

    def share(among: list[Witnessed], name: str, limit: float) -> float:
        counted = [o for o in among if name != "wait" or o.seen["wait"].value > 0.05 * o.alone_s]
        return float(np.mean([one.within(name, limit) for one in counted]))

    promises = {
        "steady: rate within 0.1 %, of chains up to 1 % below": all(
            -(1e-2 if one.chained else 1e-3) < rate - 1.0 < 1e-3
            for one, rate in zip(found["steady"], rates, strict=True)
        ),
        "steady: time to rounding, of chains up to 2 % above": all(
            -1e-9 < one.error("time") < (2e-2 if one.chained else 1e-9) for one in found["steady"]
        ),
        "poisson up to 0.9: mean time within 10 %": share(calm, "time", 0.10) >= 0.99,
        "poisson up to 0.9: wait within 15 % for 95 of 100": share(calm, "wait", 0.15) >= 0.95,
        "cv2 4: mean time within 15 % for 99 of 100": share(found["cv2 4"], "time", 0.15) >= 0.99,
        "cv2 4: wait within 15 % for 9 of 10": share(found["cv2 4"], "wait", 0.15) >= 0.90,
        "mixes up to 0.9: mean time within 10 % for 95 of 100": share(mixed, "time", 0.10) >= 0.95,
        "mixes up to 0.9: mean time within 15 % for 99 of 100": share(mixed, "time", 0.15) >= 0.99,
        "mixes up to 0.9: p99 within 15 % for 95 of 100": share(mixed, "rare_time", 0.15) >= 0.95,
    }
    return [promise for promise, holds in promises.items() if not holds]


def main() -> None:
    """Print the table, and what it does not keep."""
    rates = saturated()
    worst = 100 * np.abs(rates - 1).max()
    print(f"Rate of {DESIGNS} saturated designs: at most {worst:.2g} % apart.")
    found = {name: witnessed(cv2) for name, cv2 in ARRIVALS.items()}
    body = [row for name, each in found.items() for row in rows(name, each)]
    table(f"Model against simulation, {DESIGNS} random designs", HEADERS, body)
    found["mixes"] = witnessed(1.0, mix=True)
    bursts = witnessed(4.0, mix=True)
    headers = (HEADERS[1], HEADERS[2], "told to be full", *HEADERS[3:])
    for arriving, each in (("poisson", found["mixes"]), ("cv2 4", bursts)):
        first_header = f"designs of IMIX, {arriving}"
        table("Mixes against simulation", (first_header, *headers), of_mixes(each))
    for name in ("poisson", "cv2 4"):
        far = sorted(found[name], key=lambda one: -abs(one.error("time")))[:5]
        print(f"\nWorst mean times, {name}:")
        for one in far:
            seen = one.seen["time"]
            sure = seen.error / seen.value
            print(f"load {one.load:.2f}: {100 * one.error('time'):+.1f} % +- {100 * sure:.1f} %")
    far_off = broken(found, rates)
    print("\n".join(f"broken: {promise}" for promise in far_off) or "Every promise holds.")
    sys.exit(bool(far_off))


if __name__ == "__main__":
    main()
