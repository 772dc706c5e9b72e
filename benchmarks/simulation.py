"""Random offload pipelines: what the model says of them, and what a simulation sees."""

from __future__ import annotations

import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np

from benchmarks.timing import table
from dse.model.problem import Problem
from dse.model.space import Index
from dse.simulation.arrivals import arrivals
from dse.simulation.events import longest_path, simulate
from dse.simulation.measures import Estimate, measure
from dse.simulation.pipeline import Pipeline, pipeline_of
from dse.study import study

DESIGNS = 200
SEED = 2026
WANTED, LEAST, MOST = 0.02, 20_000, 500_000
"""Relative standard error of a mean wait that is wanted, and offloads at least and at most."""

ONE: Index = np.zeros((1, 0), dtype=np.int64)
ARRIVALS = {"steady": 0.0, "poisson": 1.0, "cv2 4": 4.0}


def text(random: np.random.Generator, rate: float | None, cv2: float) -> str:
    """Return a study of one design: log-uniform times, sizes, links and fleets."""

    def drawn(low: float, high: float) -> float:
        return float(np.exp(random.uniform(np.log(low), np.log(high))))

    granularity, in_flight = round(drawn(64, 65536)), 2 ** random.integers(0, 9)
    mode = random.choice(["sync", "sync_os", "async"], p=[0.3, 0.1, 0.6])
    transfer = random.choice(["cut_through", "store_and_forward"], p=[0.8, 0.2])
    lines = [f"workload: {{granularity: {granularity} B, arrivals: {{cv2: {cv2}}}"]
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
    return "\n".join(lines) + "\n"


def problem_of(seed: int, rate: float | None, cv2: float) -> Problem:
    """Return the problem of a random study."""
    written = text(np.random.default_rng([SEED, seed]), rate, cv2)
    return study.prepare(study.read_study(written)).problem


@dataclass(frozen=True)
class Witnessed:
    """One design at a load: the model and what was seen of it, by measure."""

    load: float
    alone_s: float
    model: dict[str, float]
    seen: dict[str, Estimate]

    def error(self, name: str) -> float:
        """Return how much more the model says, relative to what was seen."""
        return self.model[name] / self.seen[name].value - 1.0


def pipeline(seed: int) -> tuple[Pipeline, float]:
    """Return a random pipeline, and the load of its busiest part."""
    problem = problem_of(seed, None, 0.0)
    found, _, _ = pipeline_of(problem, first(problem))
    return found, float(np.random.default_rng([SEED, seed, 1]).uniform(0.3, 0.98))


def first(problem: Problem) -> Index:
    """Return the only design."""
    return np.zeros((1, len(problem.sizes)), dtype=np.int64)


def witnessed(seed: int, cv2: float, most: int = MOST) -> Witnessed:
    """Simulate a random design, and ask the model."""
    piped, load = pipeline(seed)
    rate = load * piped.most_hz
    problem = problem_of(seed, rate * piped.bits, cv2)
    columns = problem.describe(first(problem))
    model = {
        one.simulated: float(columns[one.name][0]) for one in problem.quantities if one.simulated
    }
    count = 2 * cv2 / (WANTED * (1 - load)) ** 2
    times = arrivals(
        cv2=cv2, rate_hz=rate, count=int(min(max(count, min(LEAST, most)), most)), seed=seed
    )
    seen = measure(piped, simulate(piped, times, most_events=np.inf))
    return Witnessed(load, piped.alone_s, model, dict(seen))


def saturated(seed: int) -> tuple[float, float]:
    """Return the rate that the model gives where nothing is demanded, over that of a crowd; and
    how far the ends of its offloads are from those of the longest path, relative to the last."""
    piped, _ = pipeline(seed)
    problem = problem_of(seed, None, 0.0)
    columns = problem.describe(first(problem))
    (name,) = (one.name for one in problem.quantities if one.simulated == "rate")
    # host cores are a requirement of the model and no limit of its rate
    host_hz = np.inf if piped.sync else piped.cores / piped.core_s
    places = min(piped.slots, piped.cores) if piped.sync else piped.slots
    host_hz = min(host_hz, places / piped.alone_s)
    limit = min(float(columns[name][0]) / piped.bits, host_hz)
    crowd = np.zeros(20_000)
    ended = simulate(piped, crowd, most_events=np.inf).ended_s
    apart = np.abs(ended - longest_path(piped, crowd)).max() / ended[-1]
    half = len(ended) // 2
    return limit / ((len(ended) - half) / (ended[-1] - ended[half - 1])), float(apart)


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


def broken(found: dict[str, list[Witnessed]], rates: np.ndarray) -> list[str]:
    """Return which promises of docs/simulation.md do not hold."""
    calm = [one for one in found["poisson"] if one.load <= 0.9]

    def share(among: list[Witnessed], name: str, limit: float) -> float:
        counted = [o for o in among if name != "wait" or o.seen["wait"].value > 0.05 * o.alone_s]
        return float(np.mean([abs(one.error(name)) <= limit for one in counted]))

    promises = {
        "steady: rate within 0.1 %": bool((np.abs(rates - 1) <= 1e-3).all()),
        "steady: time to the last digits": all(
            abs(o.error("time")) < 1e-9 for o in found["steady"]
        ),
        "poisson up to 0.9: mean time within 10 %": share(calm, "time", 0.10) >= 0.99,
        "poisson up to 0.9: wait within 15 % for 95 of 100": share(calm, "wait", 0.15) >= 0.95,
        "cv2 4: mean time within 15 % for 99 of 100": share(found["cv2 4"], "time", 0.15) >= 0.99,
        "cv2 4: wait within 15 % for 9 of 10": share(found["cv2 4"], "wait", 0.15) >= 0.90,
    }
    return [promise for promise, holds in promises.items() if not holds]


def main() -> None:
    """Print the table, and what it does not keep."""
    with ProcessPoolExecutor() as pool:
        crowds = np.array([*pool.map(saturated, range(DESIGNS))])
        found = {
            name: [*pool.map(partial(witnessed, cv2=cv2), range(DESIGNS))]
            for name, cv2 in ARRIVALS.items()
        }
    rates, apart = crowds[:, 0], crowds[:, 1].max()
    worst = 100 * np.abs(rates - 1).max()
    print(f"Rate of {DESIGNS} saturated designs: at most {worst:.2g} % apart.")
    print(f"Longest path against events, relative: at most {apart:.1g}.\n")
    body = [row for name, each in found.items() for row in rows(name, each)]
    table(f"Model against simulation, {DESIGNS} random designs", HEADERS, body)
    far = broken(found, rates)
    print("\n".join(f"broken: {promise}" for promise in far) or "Every promise holds.")
    sys.exit(bool(far))


if __name__ == "__main__":
    main()
