"""Composed fronts are those of all designs, point for point."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dse import search
from dse.contract import CoreMetrics
from dse.model.designs import Designs
from dse.model.evaluation import distinct
from dse.model.front import dominated, nondominated
from dse.model.problem import Problem
from dse.model.space import Index, as_index, one_block
from dse.search import SearchSettings
from dse.search.exact import compose
from dse.study import study

CHAIN = """
workload:
  kernel: des
  rate: 20 Gbps
stages:
  - {core: des, fleet: mixed, instances: {from: 0, to: 4}}
  - {core: fft, fleet: mixed, instances: {from: 0, to: 4}}
  - {core: jacobi, fleet: mixed, instances: {from: 0, to: 9}}
interface: {device: sparc_t4_engine}
axes:
  interface.in_flight: [4, 64]
  workload.granularity: [1500 B, 4 KiB]
objectives:
  area: minimise
  total_power: minimise
  offload_latency: minimise
"""
FEW, MANY = range(96), range(96, 480)
GOALS = {
    "area": "minimise",
    "power": "minimise",
    "total_power": "minimise",
    "energy": "minimise",
    "throughput": "maximise",
    "instances": "minimise",
    "offload_latency": "minimise",
    "host_cores": "minimise",
}
WITH_INTERFACE = ("offload_latency", "host_cores")

KINDS = """
workload: {kernel: des}
stages:
  - {core: des, fleet: mixed, instances: {from: 0, to: 2}}
interface: {}
axes:
  workload.rate: [10 Gbps, 50 Gbps, 100 Gbps]
  interface.device: [sparc_t4_engine, sandy_bridge]
  workload.granularity: [256 B, 4 KiB, 64 KiB]
objectives: {area: minimise, total_power: minimise, throughput: maximise}
"""
"""Scenarios of 18 kinds, of which bounds leave 13."""


def random_study(rng: np.random.Generator) -> str:
    """Return a study of a few thousand designs at most."""
    lines: list[str] = []
    demanded = rng.random() < 0.6
    if demanded:
        lines.append(f"  rate: {rng.integers(1, 30)} Gbit/s")
    if rng.random() < 0.2:
        lines += ["  chained: true", f"  streams: {rng.integers(1, 40)}"]
    interface = rng.random() < 0.5
    if interface:
        lines += ["  granularity: 1 KiB", "  kernel: des"]
    lines = ["workload:" if lines else "workload: {}", *lines, "stages:"]
    number = int(rng.choice([1, 2, 3], p=[0.4, 0.4, 0.2]))
    meet = demanded and rng.random() < 0.6
    for position in range(number):
        lines += [f"  - core: {rng.choice(['des', 'fft', 'jacobi'])}", f"    name: s{position}"]
        if rng.random() < 0.7:
            lines += ["    fleet: mixed", f"    instances: {{from: 0, to: {4 // number + 1}}}"]
        else:
            lines.append("    instances: {from: 1, to: 4}")
        if not meet:
            lines.append(f"    clock: {rng.choice(['1', '0.5', '[0.5, 1]'])}")
    if interface:
        lines += ["interface:", f"  wait: {rng.choice(['sync', 'async'])}", "axes:"]
        lines.append("  interface.device: [sparc_t4_engine, sparc_t4_instruction, sandy_bridge]")
        lines.append("  interface.in_flight: [1, 8]")
        if rng.random() < 0.5:
            lines.append("  workload.granularity: [256 B, 4 KiB]")
    elif rng.random() < 0.3:
        lines += ["budget:", "  power_cap: 2 W", "  memory_bandwidth: 4 GB/s"]
        lines.append("  memory_energy: 100 pJ/B")
    known = [name for name in GOALS if interface or name not in WITH_INTERFACE]
    chosen = rng.choice(known, size=rng.integers(2, 5), replace=False)
    lines += ["objectives:", *(f"  {name}: {GOALS[name]}" for name in chosen)]
    if rng.random() < 0.4:
        bound = rng.choice(
            ["area <= 12 mm2", "power <= 8 W", "instances <= 4", "power + '1 W' < 9 W"]
        )
        lines += ["constraints:", f"  - {bound}"]
    return "\n".join(lines) + "\n"


def random_designs(rng: np.random.Generator, names: tuple[str, ...]) -> Designs:
    """Return designs with few distinct values, so that ties and duplicates are common."""
    few = rng.random() < 0.5
    count = len(names)

    def draw(unit: float) -> np.ndarray:
        values = rng.integers(1, 4, count) if few else np.exp(rng.uniform(0, 2, count))
        return values * unit

    metrics = CoreMetrics(
        area_m2=draw(1e-6),
        clock_hz=draw(5e8) if rng.random() < 0.3 else np.full(count, 1e9),
        dynamic_power_w=draw(1.0),
        leakage_power_w=draw(0.1) * rng.integers(0, 2),
        payload_bit=np.full(count, 64.0),
        cycles_per_task=1.0 / rng.integers(1, 4, count) * 16,
        latency_cycles=draw(16.0),
        tasks_in_flight=rng.integers(1, 4, count).astype(float),
        read_byte=draw(4.0),
        written_byte=draw(4.0),
        extrapolated=np.zeros(count),
    )
    return Designs(names, metrics)


def random_problem(
    seed: int, folder: Path, written: Callable[[np.random.Generator], str] = random_study
) -> Problem:
    rng = np.random.default_rng(seed)
    while True:
        path = folder / "study.yaml"
        path.write_text(written(rng))
        problem = study.prepare(study.read_study(path)).problem
        kept = _fewer_designs(rng, problem)
        if 1 < kept.size <= 30_000:
            return kept


def _fewer_designs(rng: np.random.Generator, problem: Problem) -> Problem:
    """Replace every design's figures; fewer designs per mixed stage keep the space small."""
    stages, axes = [], list(problem.space.axes)
    for stage in problem.stages:
        names = stage.designs.names
        if stage.mixed:
            names = names[: int(rng.integers(2, 4))]
            own = {f"{stage.name}.{name}" for name in stage.designs.names}
            axes = [a for a in axes if a.name not in own - {f"{stage.name}.{n}" for n in names}]
        stages.append(replace(stage, designs=random_designs(rng, names)))
    space = replace(problem.space, axes=tuple(axes))
    return replace(problem, space=space, stages=tuple(stages))


def front(problem: Problem, method: str) -> search.Outcome:
    return search.run_search(problem, SearchSettings(method=method))


def same_losses(one: search.Outcome, other: search.Outcome) -> bool:
    """Tell whether fronts have the same vectors of losses but for rounding."""
    pairs = one.front_loss[:, np.newaxis], other.front_loss
    near = np.isclose(*pairs, rtol=1e-11, atol=0.0).all(axis=2)
    return bool(near.any(axis=0).all() and near.any(axis=1).all())


def accounted(found: search.Outcome) -> int:
    return found.evaluated + found.certificate.dominated + found.certificate.infeasible


@pytest.mark.parametrize("seeds", [FEW, pytest.param(MANY, marks=pytest.mark.slow)])
@pytest.mark.parametrize("block", range(8))
def test_the_composed_front_is_that_of_all_designs(
    block: int, seeds: range, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if block % 2:  # stages with more fleets than this are grown behind the others
        monkeypatch.setattr(compose, "FEW_ROWS", 10)
        monkeypatch.setattr(compose, "BATCH", 2)
    if block in (4, 5):  # with lists of fleets, although bounds alone would do
        monkeypatch.setattr(compose.Composer, "bounds_first", lambda _, scenarios: scenarios)
    if block in (2, 6):  # fleets are joined block by block
        monkeypatch.setattr(compose, "MOST_ROWS", 40)
    if block in (6, 7):  # without lists of fleets
        monkeypatch.setattr(compose.Composer, "drop_replaceable_fleets", lambda _, some: some)
    for seed in seeds[block::8]:
        problem = random_problem(seed, tmp_path)
        every, composed = front(problem, "enumerate"), front(problem, "compose")
        assert same_losses(composed, every), seed
        assert composed.exact, seed
        assert accounted(composed) == problem.whole_size, seed


def test_more_designs_than_anyone_can_enumerate_are_accounted_for(tmp_path: Path) -> None:
    path = tmp_path / "study.yaml"
    path.write_text(CHAIN)
    problem = study.prepare(study.read_study(path)).problem
    found = front(problem, "exact")
    assert problem.size == 5**6 * 5**6 * 10**4 * 2 * 2
    assert accounted(found) == problem.whole_size
    drawn = np.random.default_rng(2).integers(0, problem.sizes, (20_000, len(problem.sizes)))
    # neighbours of the front: one fleet of each differs
    near = np.repeat(found.front_index, 200, axis=0)
    place = np.random.default_rng(3).integers(0, near.shape[1], len(near))
    near[np.arange(len(near)), place] = np.random.default_rng(4).integers(
        0, np.array(problem.sizes)[place]
    )
    others = problem.evaluate(np.concatenate([drawn, near]))
    best = others.loss[others.feasible]
    assert not dominated(found.front_loss, best).any()


ALIKE = """
workload: {rate: 100 Gbit/s}
stages:
  - {table: alike.csv, values: {payload: 128 bit}, fleet: mixed, instances: {from: 0, to: 6}}
objectives: {area: minimise, throughput: maximise, power: minimise}
search: {method: METHOD, budget: 343}
"""


def test_equals_that_rounding_divides_are_the_same_for_every_method(tmp_path: Path) -> None:
    """Three designs of the same figures: fleets of as many instances tie, but areas that are added
    up in another order may lie on either side of the middle between two rounded ones."""
    rows = [f"d{n},70.46753314164283,1e9,1,2" for n in range(3)]
    header = "design,area_um2,clock_hz,cycles_per_block,power_mw"
    (tmp_path / "alike.csv").write_text("\n".join([header, *rows, ""]))
    found = []
    for method in ("enumerate", "random", "compose"):
        (tmp_path / "study.yaml").write_text(ALIKE.replace("METHOD", method))
        prepared = study.prepare(study.read_study(tmp_path / "study.yaml"))
        found.append(search.run_search(prepared.problem, prepared.settings))
    every = as_index(one_block(prepared.problem.sizes))
    loss = np.empty((len(every), 3))
    for some in np.array_split(np.random.default_rng(0).permutation(len(every)), 20):
        loss[some] = prepared.problem.evaluate(every[some]).loss
    count = every.sum(axis=1)
    assert any(len(distinct(loss[count == total])) == 2 for total in range(19))
    feasible = prepared.problem.evaluate(every).feasible
    kept = nondominated(loss[feasible])
    best, worth = every[feasible][kept], loss[feasible][kept]
    best = best[np.sort(np.unique(worth, axis=0, return_index=True)[1])].tolist()
    every_equal, drawn, one_of_equals = found
    assert every_equal.front_index.tolist() == drawn.front_index.tolist() == best
    assert same_losses(one_of_equals, every_equal)


@pytest.mark.parametrize(("tried", "open_"), [(1, 13), (20_000, 1), (10**9, 0)])
def test_scenarios_of_many_kinds_are_closed_by_bounds_as_far_as_that_is_little_work(
    monkeypatch: pytest.MonkeyPatch, tried: int, open_: int
) -> None:
    left: list[int] = []
    by_bounds = compose.Composer.bounds_first

    def watched(self: compose.Composer, scenarios: Index) -> Index:
        others = by_bounds(self, scenarios)
        left.append(len(others))
        return others

    monkeypatch.setattr(compose.Composer, "bounds_first", watched)
    monkeypatch.setattr(compose, "TRIED", tried)
    monkeypatch.setattr(compose, "BATCH", 4)
    problem = study.prepare(study.read_study(KINDS)).problem
    found, truth = (front(problem, method) for method in ("compose", "enumerate"))

    assert found.front_index.tobytes() == truth.front_index.tobytes()
    assert found.front_loss.tobytes() == truth.front_loss.tobytes()
    assert accounted(found) == problem.whole_size
    assert left == [open_]
