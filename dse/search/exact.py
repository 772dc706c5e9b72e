"""The exact method: evaluate every design."""

from __future__ import annotations

from dse.errors import TooLargeError
from dse.search.archive import Archive, Problem
from dse.space import blocks, product_text

CHUNK = 65_536
"""Designs evaluated at once: what bounds the memory."""


def check(problem: Problem, *, budget: int | None, limit: int) -> None:
    """Refuse a continuous axis, and a space larger than `limit`, or than `budget` where set.

    Raises
    ------
    TooLargeError
        The message prints the size as a product.
    """
    if problem.continuous:
        names = " and ".join(problem.continuous)
        raise TooLargeError(
            f"exact search cannot try every value of {names}, which is continuous; "
            f"give `points` in place of `continuous`, for instance points: 101, "
            f"or search with another method, for instance nsga2"
        )
    bound = limit if budget is None else min(budget, limit)
    if problem.size > bound:
        budgeted = budget is not None and budget <= limit
        raise TooLargeError(
            f"exact search would evaluate {product_text(problem.sizes)} designs; "
            f"{'its budget' if budgeted else 'the most it takes on'} is "
            f"{f'{bound:,}'.replace(',', ' ')}; "
            f"give axes fewer values{', raise the budget' if budgeted else ''}, "
            f"or search with another method, for instance nsga2"
        )


def enumerate_all(archive: Archive, *, chunk: int = CHUNK) -> None:
    """Evaluate every design once, in lexicographic order, in constant memory."""
    for block in blocks(archive.problem.sizes, chunk):
        archive.evaluate_new(block)
