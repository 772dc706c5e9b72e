"""Share of 95 % intervals of fits that hold the truth: ``python -m benchmarks.coverage [draws]``.

Not part of ``make bench``, for it takes minutes.  Prints a line of Markdown per case: the share of
intervals that hold the figure behind the noise.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np

from benchmarks.timing import table
from dse.contract import Column
from dse.fitting.core import fit_law
from dse.study.core_models import evaluate_law

DRAWS = 50
LAWS = {
    "power, 1 to 16": ("power", np.array([1.0, 2, 4, 8, 16]), (5e3, 0.9)),
    "power, 1 to 1000": ("power", np.geomspace(1, 1000, 7), (5e3, 0.9)),
    "affine, 1 to 1000": ("affine", np.geomspace(1, 1000, 7), (5e3, 3e3)),
    "square, 1 to 100": ("square", np.geomspace(1, 100, 7), (5e3, 3e3)),
    "exponential, 1 to 8": ("exponential", np.arange(1.0, 9), (5e3, 0.7)),
}


def main() -> None:
    """Print how often the intervals of laws hold the truth."""
    draws = int(sys.argv[1]) if len(sys.argv) > 1 else DRAWS
    title = f"95 % intervals that hold the truth, {draws} draws with errors of 2 and 10 %"
    table(title, ("law", "2 %", "10 %"), list(_laws(draws)))
    table(
        f"Constants with errors of 5 % taken for a law, {4 * draws} draws",
        ("designs", "taken for a law"),
        [(f"{count}", f"{_taken(count, 4 * draws):.0%}") for count in (4, 5, 8)],
    )


def _taken(count: int, draws: int) -> float:
    random, n = np.random.default_rng(1), np.exp2(np.arange(float(count)))
    found = [fit_law({"n": n}, 5e8 * random.lognormal(0.0, 0.05, count)) for _ in range(draws)]
    return float(np.mean([one is not None and one.law.form != "constant" for one in found]))


def _laws(draws: int) -> Iterator[tuple[str, ...]]:
    for name, (form, n, truth) in LAWS.items():
        exact = evaluate_law(form, [n], truth)
        yield name, *(f"{_held(form, n, exact, truth, noise, draws):.0%}" for noise in (0.02, 0.1))


def _held(
    form: str, n: Column, exact: Column, truth: tuple[float, ...], noise: float, draws: int
) -> float:
    random, held = np.random.default_rng(1), []
    for _ in range(draws):
        found = fit_law({"n": n}, exact * random.lognormal(0.0, noise, len(n)), form)
        pairs = zip(found.intervals, truth, strict=True) if found else ()
        held += [low <= value <= high for (low, high), value in pairs]
    return float(np.mean(held))


if __name__ == "__main__":
    main()
