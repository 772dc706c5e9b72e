"""Few evaluations of designs that take minutes: methods on spaces that are known whole.

    python -m benchmarks.expensive --spector DIR --black-scholes FILE [--seeds 10] [--budget 200]

The tables are other people's and not part of this project: `results_and_analysis` of
github.com/KastnerRG/spector (Gautier et al., FPT 2016), and
`tests/data/BlackScholes_exhaustive_search_data.csv` of github.com/luinardi/hypermapper.  Results
are appended to a file, a line of JSON for each search; those that are there are not run again.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import json
import math
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.samplers import PEERS, peer
from dse.contract import Index, Matrix, Method
from dse.model.evaluation import Evaluation
from dse.model.front import nondominated
from dse.model.space import Points, as_index
from dse.model.volume import hypervolume
from dse.plugins import registry
from dse.search import run_method
from dse.search.archive import Archive

REFERENCE = 1.1
"""Of log objectives in which the true front spans [0, 1]."""

BUDGETS = (20, 50, 100, 200)
SPECTOR = {
    "sobel": "sobel",
    "fir": "fir",
    "mm": "mm",
    "normals": "normals",
    "mergesort": "mergesort",
    "hist": "hist",
    "bfs": "bfs_dense",
    "spmv": "spmv_5000",
    "dct": "dct",
    "nw": "nw",
}
NEW = ("dct", "nw")
"""Spaces that nobody looked at before the method was frozen for good."""

POPULATION = {"gaussian": 4, "tpe": 4, "nsga2": 20, "random": 20, "gp-sampler": 4, "smac3": 1}


@dataclass(frozen=True)
class Table:
    """A space known whole: rows of knobs, and what was measured of them.

    A design that is no row counts as the row nearest to it, and costs no more than once.
    """

    knobs: Matrix
    loss: Matrix
    valid: np.ndarray
    choices: tuple[int, ...] = ()
    continuous: tuple[str, ...] = ()
    constraint_names: tuple[str, ...] = ("valid",)

    @cached_property
    def levels(self) -> list[np.ndarray]:
        """The values of each knob."""
        return [np.unique(column) for column in self.knobs.T]

    @cached_property
    def index(self) -> Index:
        """Each row as a design."""
        pairs = zip(self.levels, self.knobs.T, strict=True)
        return np.stack([np.searchsorted(*pair) for pair in pairs], axis=1)

    @cached_property
    def row(self) -> dict[bytes, int]:
        """The row of each design that there is."""
        return {row.tobytes(): at for at, row in enumerate(self.index)}

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        return tuple(map(len, self.levels))

    @property
    def size(self) -> int:
        return math.prod(self.sizes)

    @property
    def ordered(self) -> tuple[bool, ...]:
        return tuple(axis not in self.choices for axis in range(len(self.levels)))

    @property
    def objective_count(self) -> int:
        return self.loss.shape[1]

    @property
    def coordinates(self) -> tuple[np.ndarray | None, ...]:
        pairs = zip(self.levels, self.ordered, strict=True)
        return tuple(_scale(values) if ordered else None for values, ordered in pairs)

    def rows(self, index: Index) -> np.ndarray:
        """Return the row of each design, or the nearest one."""
        found = []
        for design in np.ascontiguousarray(index, dtype=np.int64):
            at = self.row.get(design.tobytes())
            if at is None:
                steps = (self.index - design) / np.maximum(np.array(self.sizes) - 1, 1)
                at = (steps**2).sum(axis=1).argmin()
            found.append(int(at))
        return np.array(found, dtype=np.int64)

    def evaluate(self, points: Points) -> Evaluation:
        rows = self.rows(as_index(points))
        violation = np.where(self.valid[rows], -1.0, 1.0)[:, None]
        return Evaluation(points, self.loss[rows], violation)


def _scale(values: np.ndarray) -> np.ndarray:
    if len(values) < 2:
        return np.zeros(len(values))
    if values[0] > 0 and values[-1] > 3 * values[0]:
        values = np.log(values)
    return (values - values[0]) / (values[-1] - values[0])


class Rows(Archive):
    """The one door to a table: only its rows are designs."""

    def _row(self, index: Index) -> Index:
        return self.problem.index[self.problem.rows(index)]

    def evaluate(self, index: Index) -> tuple[Matrix, Matrix]:
        return super().evaluate(self._row(index))

    def seen(self, index: Index) -> np.ndarray:
        return super().seen(self._row(index))

    def unseen(self, random: np.random.Generator, count: int) -> Index:
        left = self.problem.index[~super().seen(self.problem.index)]
        return random.permutation(left)[:count]

    @property
    def order(self) -> np.ndarray:
        """Rows in the order in which they were evaluated."""
        keys = [np.frombuffer(key, dtype=np.int64) for key in self._known]
        return self.problem.rows(np.array(keys))


def spector(path: Path) -> Table:
    """Return a kernel of Spector: knobs, run time and logic cells."""
    import scipy.io

    found = scipy.io.loadmat(path)
    loss = np.c_[found["run_results_timing"][:, 0], found["logic_util"][:, 0]].astype(float)
    knobs, first = np.unique(found["knob_settings"].astype(float), axis=0, return_index=True)
    return Table(knobs, loss[first], np.ones(len(knobs), dtype=bool))


def black_scholes(path: Path, *, limited: bool) -> Table:
    """Return the pricing kernel: 76 800 designs, ALMs and cycles; `limited`: to those that fit."""
    with path.open(encoding="utf-8") as lines:
        rows = list(csv.reader(lines))[1:]
    knobs = np.array([[*map(float, row[:3]), float(row[3] == "true")] for row in rows])
    loss = np.array([[float(row[4]), float(row[7])] for row in rows])
    fits = np.array([row[8] == "true" for row in rows])
    return Table(knobs, loss, fits if limited else np.ones(len(rows), dtype=bool), (3,))


UNROLLED = {1: 1.0, 2: 1.61, 4: 2.83, 8: 5.27, 16: 10.15}


def made_up() -> Table:
    """Return fleets of a core unrolled n times, all made up.

    Area grows with the clock, c cores do the work of c^0.93, and cores and link have a soft
    minimum.
    """
    top = {1: 1.0, 2: 0.97, 4: 1.0, 8: 0.94, 16: 1.72}
    knobs, loss = [], []
    counts = (1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40)
    clocks = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
    for n, c, clock, width in itertools.product(UNROLLED, counts, clocks, (32, 64, 128, 256, 512)):
        link = 0.15 * width / 32
        rate = 4 * n * min(clock, top[n]) * c**0.93
        area = UNROLLED[n] * (1 + 0.33 * clock**4) * c + link * (1 + 0.03 * c)
        knobs.append([n, c, clock, width])
        loss.append([area, (rate**-4.0 + float(width) ** -4.0) ** 0.25])
    knobs, loss = (np.array(rows, dtype=float) for rows in (knobs, loss))
    return Table(knobs, loss, np.ones(len(knobs), dtype=bool))


def spaces(arguments: argparse.Namespace) -> Iterator[tuple[str, Callable[[], Table]]]:
    """Yield the spaces that can be had, by name."""
    if arguments.spector:
        for name, file in SPECTOR.items():
            yield name, lambda file=file: spector(arguments.spector / f"{file}.mat")
    yield "fleets", made_up
    if arguments.black_scholes:
        for name, limited in (("bs", False), ("bs, 4 % valid", True)):
            yield (
                name,
                lambda limited=limited: black_scholes(arguments.black_scholes, limited=limited),
            )


def trial(
    table: Table,
    name: str,
    seed: int,
    budget: int,
    *,
    population: int | None = None,
) -> dict[str, Any]:
    """Run a method once: CPU seconds, and shares of the true hypervolume after each design."""
    method = peer(name) if name in PEERS else registry.get(Method, name)
    population = population or POPULATION[name]
    archive = Rows(table, total=min(budget, len(table.knobs)))
    before = time.process_time()
    with threadpool_limits(1):
        run_method(method, archive, seed=seed, population=population)
    spent = time.process_time() - before
    return {"cpu": spent, "curve": curve(table, archive.order)}


def curve(table: Table, order: Sequence[int]) -> list[float]:
    """Return the share of the true hypervolume after each evaluation."""
    log = np.log(table.loss)
    valid = log[table.valid]
    front = valid[nondominated(valid)]
    low, span = front.min(axis=0), np.ptp(front, axis=0)
    scaled, reference = (log - low) / span, np.full(log.shape[1], REFERENCE)
    whole = hypervolume((front - low) / span, reference).value
    best, shares = np.empty((0, log.shape[1])), []
    for row in order:
        if table.valid[row]:
            best = np.concatenate([best, scaled[row : row + 1]])
            best = best[nondominated(best)]
        shares.append(round(hypervolume(best, reference).value / whole, 5) if len(best) else 0.0)
    return shares


def needed(shares: Sequence[float], share: float) -> float:
    """Return after how many evaluations a share was reached; infinite when it was not."""
    return next((at + 1 for at, found in enumerate(shares) if found >= share), math.inf)


def report(lines: Sequence[Mapping[str, Any]]) -> None:
    """Print a table: medians, and the range of shares."""
    print("| space | method | seeds | " + " | ".join(map(str, BUDGETS)), end="")
    print(" | to 90 % | to 95 % | CPU ms |")
    print("|---" * (6 + len(BUDGETS)) + "|")
    groups: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for line in lines:
        groups.setdefault((line["space"], line["method"]), []).append(line)
    for (space, method), runs in sorted(groups.items(), key=_place):
        curves = [run["curve"] for run in runs]
        cells = [shares_text([run[at - 1] for run in curves if at <= len(run)]) for at in BUDGETS]
        cells += [needed_text(curves, share) for share in (0.9, 0.95)]
        cpu = statistics.median(1e3 * run["cpu"] / len(run["curve"]) for run in runs)
        name = f"**{space}**" if space in NEW else space
        print(f"| {name} | {method} | {len(runs)} | {' | '.join(cells)} | {cpu:.1f} |")


def _place(group: tuple[tuple[str, str], Any]) -> tuple[bool, str, str]:
    return group[0][0] not in NEW, *group[0]


def shares_text(found: Sequence[float]) -> str:
    """Return the median and the range of shares."""
    if not found:
        return "-"
    return f"{statistics.median(found):.3f} ({min(found):.2f}-{max(found):.2f})"


def needed_text(curves: Sequence[Sequence[float]], share: float) -> str:
    """Return the median number of evaluations to a share, and how many searches got there."""
    found = [needed(run, share) for run in curves]
    middle = statistics.median(found)
    reached = sum(map(math.isfinite, found))
    text = f"{middle:g}" if math.isfinite(middle) else f"> {max(map(len, curves))}"
    return f"{text} [{reached}/{len(found)}]"


def main() -> None:
    """Measure what is not measured yet, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--spector", type=Path, help="folder of Spector's .mat files")
    parser.add_argument("--black-scholes", type=Path, help="table of all BlackScholes designs")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--budget", type=int, default=200)
    parser.add_argument("--methods", nargs="*", default=["gaussian", "tpe", "nsga2", "random"])
    parser.add_argument("--only", nargs="*", help="names of spaces")
    parser.add_argument("--results", type=Path, default=Path("expensive.jsonl"))
    arguments = parser.parse_args()
    arguments.results.touch()
    lines = [json.loads(line) for line in arguments.results.read_text().splitlines()]
    done = {(line["space"], line["method"], line["seed"]) for line in lines}
    wanted = [pair for pair in spaces(arguments) if not arguments.only or pair[0] in arguments.only]
    for name, make in wanted:
        table = make()
        for method, seed in itertools.product(arguments.methods, range(arguments.seeds)):
            if (name, method, seed) in done:
                continue
            found = trial(table, method, seed, arguments.budget)
            line = {"space": name, "method": method, "seed": seed}
            line |= found
            with arguments.results.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
            lines.append(line)
    report(lines)


if __name__ == "__main__":
    main()
