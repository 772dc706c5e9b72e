"""Break the code in many places, one at a time, and count how often no test fails.

``python -m tests.mutants [--sample N | all] [--seed N] [--match TEXT] [group ...]`` prints a table
and the survivors; `survivors.md` says why each lives.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

os.environ |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}  # forks lose other threads

from tests.mutants import runner
from tests.mutants.operators import Mutant, mutants

ROOT = Path(__file__).parents[2]
PAGE = Path(__file__).with_name("survivors.md")


@dataclass(frozen=True)
class Group:
    """Sources that are broken together, the tests that hold them, the share they have to kill."""

    name: str
    sources: tuple[str, ...]
    tests: tuple[str, ...]
    wanted: float


@dataclass(frozen=True)
class Result:
    """What became of the mutants of a group: how many there are, which were tried and lived."""

    group: Group
    every: int
    tried: int
    survivors: tuple[Mutant, ...]

    @property
    def killed(self) -> int:
        """How many of those tried made a test fail."""
        return self.tried - len(self.survivors)

    @property
    def equivalent(self) -> int:
        """How many survivors do what the code does."""
        return sum(is_listed(mutant, "Equivalent") for mutant in self.survivors)

    @property
    def share(self) -> float:
        """Killed, of those that a test could kill."""
        return self.killed / max(1, self.tried - self.equivalent)

    def row(self) -> str:
        """Return the row of the table."""
        low, high = interval(self.share, self.tried - self.equivalent)
        sure = "all tried" if self.tried == self.every else f"{low:.0%} to {high:.0%}"
        lived = len(self.survivors) - self.equivalent
        counts = (self.every, self.tried, self.killed, self.equivalent, lived)
        cells = (self.group.name, *counts, f"{self.share:.1%}", sure)
        return f"| {' | '.join(map(str, cells))} |".replace("%", " %")


def groups() -> Iterator[Group]:
    """Yield the groups of ``pyproject.toml``."""
    table = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["mutants"]
    for name, group in table.items():
        yield Group(name, tuple(group["sources"]), tuple(group["tests"]), group["killed"])


def interval(share: float, tried: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval of the share of all mutants, from that of a sample."""
    z, n = 1.96, max(1, tried)
    middle = share + z * z / (2 * n)
    spread = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return (middle - spread) / (1 + z * z / n), (middle + spread) / (1 + z * z / n)


def is_listed(mutant: Mutant, section: str = "") -> bool:
    """Tell whether the page, or its section whose title begins so, says why a mutant lives."""
    text = PAGE.read_text(encoding="utf-8")
    if section:
        text = text.partition(f"## {section}")[2].partition("\n## ")[0]
    return f"- {mutant.label}:" in text


def tried(group: Group, options: argparse.Namespace) -> Result:
    """Return what becomes of the mutants of a group, or of a sample of them."""
    every = [mutant for path in group.sources for mutant in mutants(ROOT, path)]
    chosen = every
    if options.match:
        chosen = [mutant for mutant in every if any(text in mutant.label for text in options.match)]
    elif options.sample != "all" and int(options.sample) < len(every):
        # text seeds Python's generator alike on every machine
        picked = random.Random(f"{options.seed} {group.name}")  # noqa: S311
        chosen = picked.sample(every, int(options.sample))
    passed, took_s = runner.run(group.tests, None)
    if not passed:
        sys.exit(f"the tests of {group.name} fail as the code is; mutants would say nothing")
    limit_s, survivors = runner.limit_of(took_s), []
    for number, mutant in enumerate(chosen, start=1):
        lived, _ = runner.run(group.tests, runner.Hook(ROOT, mutant.path, mutant.apply), limit_s)
        if lived:
            survivors.append(mutant)
            print(f"{mutant.path}:{mutant.line} lives: {mutant.label}", file=sys.stderr)
        if number % 20 == 0:
            print(f"{group.name}: {number} of {len(chosen)} tried", file=sys.stderr)
    return Result(group, len(every), len(chosen), tuple(survivors))


def main() -> int:
    """Return 1 when too many mutants live, or one of which the page does not say why."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants")
    parser.add_argument("--sample", default="all", help="mutants of each group, or all")
    parser.add_argument("--seed", default="0", help="of the sample")
    parser.add_argument("--match", action="append", help="only mutants with this in their label")
    parser.add_argument("groups", nargs="*", help="only these groups")
    options = parser.parse_args()
    runner.prepare()
    wanted = [group for group in groups() if group.name in options.groups or not options.groups]
    results = [tried(group, options) for group in wanted]
    print("| group | mutants | tried | killed | equivalent | lived | killed | of all, 95 % sure |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for result in results:
        print(result.row())
    living = [mutant for result in results for mutant in result.survivors]
    for mutant in living:
        known = "" if is_listed(mutant) else "; not on the page"
        print(f"- line {mutant.line} of {mutant.label}{known}")
    few = any(result.share < result.group.wanted for result in results)
    return int(few or not all(map(is_listed, living)))


if __name__ == "__main__":
    sys.exit(main())
