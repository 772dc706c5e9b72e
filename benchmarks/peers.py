"""The exact method beside other people's: solvers of integer programs, and heuristics.

Solvers get the models of mixed fleets at a fixed rate, written out for them (`Fleets`), and find
fronts of two objectives by epsilon constraints (Haimes, Lasdon and Wismer 1971).  What they find
counts as our own evaluation says.  `pip install '.[peers]'` installs them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

from benchmarks import growth
from benchmarks.methods import HEURISTICS, ROOT, Truth, trial
from benchmarks.timing import cpu_seconds, table
from dse import search
from dse.model.front import nondominated
from dse.model.problem import Problem
from dse.search import SearchSettings
from dse.study import study

SECONDS = 60.0
"""Wall time that a solver gets for one front."""

MIXED = "  - {{core: {}, fleet: mixed, instances: {{from: 0, to: {}}}, clock: meet}}\n"
GOALS = "objectives: {{area: minimise, {}: minimise}}\n"


def chain(most: int, second: str) -> str:
    """Return a study: three mixed stages at 10 Gbit/s, up to `most` instances of each design."""
    stages = "".join(MIXED.format(core, most) for core in growth.CORES)
    return f"workload: {{rate: 10 Gbps}}\nstages:\n{stages}{GOALS.format(second)}"


DES = (ROOT / "studies" / "des_100gbps.yaml").read_text(encoding="utf-8")
EXACT_STUDIES = {
    "des_100gbps": DES,
    "des_100gbps, area and instances": DES.replace("  power: min", "  instances: min"),
    "three mixed stages": chain(3, "power"),
    "three mixed stages, area and instances": chain(3, "instances"),
}

LEAST = "workload: {rate: 100 Gbps}\nstages:\n" + "".join(
    f"  - {{core: {core}, instances: least}}\n" for core in growth.CORES
)
NEW_STUDIES = {
    "three mixed stages": chain(3, "power"),
    "three least stages": LEAST + GOALS.format("power"),
    "a mixed stage behind an interface": growth.text(*growth.FAMILY[2]),
    "two mixed stages behind interfaces": growth.text(*growth.FAMILY[4]),
    "three mixed stages behind interfaces": growth.text(*growth.FAMILY[7]),
}


def problem_of(source: str | Path) -> Problem:
    """Return the problem of a study, as text or as a file."""
    return study.prepare(study.read_study(source)).problem


@dataclass(frozen=True)
class Fleets:
    """Mixed fleets that meet a fixed rate R, gated, as an integer program over their counts n.

    Whole numbers: area in um2, capacity in 10 Mbit/s, power in uW; `q` of a stage is its dynamic
    power in nW, q sum(n b) >= R sum(n d), for which alone a product of variables is needed.
    """

    problem: Problem

    @cached_property
    def rate(self) -> int:
        """R in 10 Mbit/s."""
        return round(float(self.problem.space.constants["workload_rate_bit_per_s"][0]) / 1e7)

    @cached_property
    def stages(self) -> list[list[int]]:
        """Return the counts of a stage."""
        names = [axis.name for axis in self.problem.space.axes]
        return [
            [names.index(f"{stage.name}.{design}") for design in stage.designs.names]
            for stage in self.problem.stages
        ]

    @cached_property
    def most(self) -> list[int]:
        """Largest value of each count, which starts at 0."""
        return [size - 1 for size in self.problem.sizes]

    def figures(self, metric: str, unit: float) -> np.ndarray:
        """Return a metric of the design behind each count, in whole units."""
        found = [
            stage.designs.bandwidth_bit_per_s
            if metric == "bandwidth"
            else getattr(stage.designs.metrics, metric)
            for stage in self.problem.stages
        ]
        scaled = np.concatenate(found) / unit
        whole = np.rint(scaled).astype(int)
        if not np.allclose(whole, scaled, rtol=1e-9):
            raise ValueError(f"{metric} is no whole number of {unit:g}")
        return whole

    def linear(self, goal: str) -> np.ndarray | None:
        """Return the weights of the counts in a goal; None for one that is not linear."""
        if goal == "area_m2":
            return self.figures("area_m2", 1e-12)
        return np.ones(len(self.most), dtype=int) if goal == "instances" else None


Minimise = Callable[[int, int, int | None], tuple[list[int], int] | None]
"""Minimise goal 0 or 1 with a limit on the other: the counts and the least value; None if none."""


def epsilon_front(minimise: Minimise) -> Iterator[list[int]]:
    """Yield a design for each point of the front of two whole-numbered goals."""
    limit: int | None = None
    while (first := minimise(0, 1, limit)) is not None:
        best = minimise(1, 0, first[1])
        if best is None:
            raise TimeoutError
        yield best[0]
        limit = best[1] - 1


def highs(fleets: Fleets, end: float) -> Minimise:
    """Return the minimiser of scipy's HiGHS; both goals have to be linear."""
    weights = [fleets.linear(goal.name) for goal in fleets.problem.goals]
    if any(goal is None for goal in weights):
        raise NotImplementedError("not linear")
    carried = fleets.figures("bandwidth", 1e7)
    masks = [np.isin(np.arange(len(carried)), stage) for stage in fleets.stages]
    rates = [LinearConstraint(carried * mask, lb=fleets.rate) for mask in masks]

    def minimise(goal: int, other: int, limit: int | None) -> tuple[list[int], int] | None:
        limits = [] if limit is None else [LinearConstraint(weights[other], ub=limit + 0.5)]
        found = milp(
            weights[goal],
            integrality=np.ones(len(carried)),
            bounds=Bounds(0, fleets.most),
            constraints=[*rates, *limits],
            options={"mip_rel_gap": 0.0, "time_limit": max(0.1, end - time.perf_counter())},
        )
        if found.status == 1:
            raise TimeoutError
        if found.x is None:
            return None
        counts = np.rint(found.x).astype(int)
        return counts.tolist(), int(counts @ weights[goal])

    return minimise


def cp_sat(fleets: Fleets, end: float) -> Minimise:
    """Return the minimiser of OR-tools' CP-SAT, of one worker."""
    cp_model = import_module("ortools.sat.python.cp_model")
    carried = fleets.figures("bandwidth", 1e7).tolist()
    names = [goal.name for goal in fleets.problem.goals]

    def minimise(goal: int, other: int, limit: int | None) -> tuple[list[int], int] | None:
        model = cp_model.CpModel()
        counts = [model.new_int_var(0, most, str(n)) for n, most in enumerate(fleets.most)]
        for stage in fleets.stages:
            model.add(sum(carried[n] * counts[n] for n in stage) >= fleets.rate)
        goals = [_expression(model, fleets, counts, name) for name in names]
        if limit is not None:
            model.add(goals[other] <= limit)
        model.minimize(goals[goal])
        solver = cp_model.CpSolver()
        solver.parameters.num_workers = 1
        solver.parameters.max_time_in_seconds = max(0.1, end - time.perf_counter())
        status = solver.solve(model)
        if status == cp_model.INFEASIBLE:
            return None
        if status != cp_model.OPTIMAL:
            raise TimeoutError
        return [solver.value(count) for count in counts], round(solver.objective_value)

    return minimise


def _expression(model, fleets: Fleets, counts: list, name: str):  # noqa: ANN001, ANN202
    """Return a goal as an expression of CP-SAT: linear, or power in nW."""
    weights = fleets.linear(name)
    if weights is not None:
        return sum(weight * count for weight, count in zip(weights.tolist(), counts, strict=True))
    carried = fleets.figures("bandwidth", 1e7).tolist()
    dynamic = fleets.figures("dynamic_power_w", 1e-9).tolist()
    leaked = fleets.figures("leakage_power_w", 1e-9).tolist()
    power = sum(weight * count for weight, count in zip(leaked, counts, strict=True))
    for stage in fleets.stages:
        most = sum(carried[n] * fleets.most[n] for n in stage)
        highest = fleets.rate * max(-(-dynamic[n] // carried[n]) for n in stage) + fleets.rate
        total = model.new_int_var(fleets.rate, most, "")
        model.add(total == sum(carried[n] * counts[n] for n in stage))
        own = model.new_int_var(0, highest, "")
        product = model.new_int_var(0, highest * most, "")
        model.add_multiplication_equality(product, [own, total])
        model.add(product >= fleets.rate * sum(dynamic[n] * counts[n] for n in stage))
        power += own
    return power


def solved(solver: Callable[[Fleets, float], Minimise], problem: Problem, truth: Truth) -> tuple:
    """Return CPU s, share of the hypervolume and of the points, and the verdict of a solver."""
    start, found, verdict = time.process_time(), [], "proven"
    try:
        minimise = solver(Fleets(problem), time.perf_counter() + SECONDS)
        for counts in epsilon_front(minimise):
            found.append(counts)
    except TimeoutError:
        verdict = "not proven"
    except NotImplementedError as error:
        return "", "", "", str(error)
    except ImportError:
        return "", "", "", "not installed"
    seconds = time.process_time() - start
    loss = np.empty((0, problem.objective_count))
    if found:
        evaluated = problem.evaluate(np.array(found, dtype=np.int64))
        loss = evaluated.loss[evaluated.feasible]
    return _judged(seconds, loss, truth, verdict)


def _judged(seconds: float, loss: np.ndarray, truth: Truth, verdict: str) -> tuple[str, ...]:
    front = loss[nondominated(loss)] if len(loss) else loss
    met = len(set(map(tuple, front.tolist())) & truth.points) / len(truth.points)
    return f"{seconds:.2f}", f"{truth.share(front):.4f}", f"{met:.0%}", verdict


def platypus(problem: Problem, truth: Truth) -> tuple[str, ...]:
    """Run Platypus' NSGA-II, 200 x 60 evaluations, one at a time as it asks for them."""
    if find_spec("platypus") is None:
        return "", "", "", "not installed"
    theirs = import_module("platypus")
    core = import_module("platypus.core")
    losses = []

    def evaluate(choice: list[int]) -> tuple[list[float], list[float]]:
        found = problem.evaluate(np.array([choice], dtype=np.int64))
        if found.feasible[0]:
            losses.append(found.loss[0])
        return found.loss[0].tolist(), np.maximum(found.violation[0], 0.0).tolist()

    asked = theirs.Problem(
        len(problem.sizes), problem.objective_count, len(problem.constraint_names)
    )
    asked.types[:] = [theirs.Integer(0, size - 1) for size in problem.sizes]
    asked.constraints[:] = [core.Constraint("<=0") for _ in problem.constraint_names]
    asked.function = evaluate
    np.random.seed(1)  # noqa: NPY002
    import_module("random").seed(1)
    start = time.process_time()
    theirs.NSGAII(asked, population_size=200).run(200 * 60)
    found = np.array(losses).reshape(-1, problem.objective_count)
    return _judged(time.process_time() - start, found, truth, "heuristic")


def beside_others(name: str, text: str) -> None:
    """Print one row for each way to the front of a study."""
    problem = problem_of(text)
    outcome = search.run_search(problem, SearchSettings())
    truth = Truth(outcome.front_loss)
    ours = cpu_seconds(lambda: search.run_search(problem, SearchSettings()))
    rows = [(f"ours, {outcome.certificate.way}", *_judged(ours, truth.front, truth, "proven"))]
    rows.append(("CP-SAT", *solved(cp_sat, problem, truth)))
    rows.append(("HiGHS", *solved(highs, problem, truth)))
    rows.append(("Platypus NSGA-II 200 x 60", *platypus(problem, truth)))
    for label in ("NSGA-II 200 x 60", "optuna NSGA-II", "random"):
        run = trial(problem, HEURISTICS[label], 1, truth)
        row = (f"{run.cpu:.2f}", f"{run.share:.4f}", f"{run.found:.0%}", "heuristic")
        rows.append((label, *row))
    table(
        f"Beside others: {name} ({problem.size:.1e} designs, {len(truth.points)} points)",
        ("method", "CPU s", "hypervolume / exact", "points found", "verdict"),
        rows,
    )


def against_nsga2() -> None:
    """Print what the default way takes, and NSGA-II 200 x 60, on shipped studies and five more."""
    shipped = {path.stem: path for path in sorted((ROOT / "studies").glob("*.yaml"))}
    rows = []
    for name, source in {**shipped, **NEW_STUDIES}.items():
        problem = problem_of(source)
        outcome = search.run_search(problem, SearchSettings())
        ours = cpu_seconds(lambda problem=problem: search.run_search(problem, SearchSettings()))
        settings = SearchSettings(**HEURISTICS["NSGA-II 200 x 60"], seed=1)
        theirs = cpu_seconds(lambda p=problem, s=settings: search.run_search(p, s), 1)
        covered = problem.size <= settings.budget
        ratio = "-" if covered else f"{theirs / ours:.0f}"
        told = "all evaluated" if covered else f"{theirs:.2f}"
        way = outcome.certificate.way
        rows.append((name, f"{problem.size:.1e}", way, f"{ours:.3f}", told, ratio))
    table(
        "The default way to the front and NSGA-II 200 x 60: seconds of CPU time",
        ("study", "designs", "way", "ours", "NSGA-II", "ratio"),
        rows,
    )
    print("\nAll evaluated: its budget covers the space, and is spent on that once.")


def main() -> None:
    """Print all tables."""
    for name, text in EXACT_STUDIES.items():
        beside_others(name, text)
    against_nsga2()


if __name__ == "__main__":
    main()
