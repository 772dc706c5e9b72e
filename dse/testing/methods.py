"""Conformance of search methods: the part of `dse.testing` for searches."""

from __future__ import annotations

import inspect
import math
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from dse.contract import Index, Matrix, Method
from dse.contract.methods import OptionValue
from dse.errors import ContractError
from dse.model.evaluation import Evaluation
from dse.model.front import nondominated
from dse.model.space import Points, as_index, one_block
from dse.search import run_method
from dse.search.archive import Archive
from dse.search.settings import allowed_text, option_faults
from dse.testing.quantities import require

_GIVEN = ("seed", "population")
_SEED = 2015
_BUDGET = 60
_PATIENCE = 40
"""A method that asks for so many times its budget of designs does not come to an end."""


def check_method(method: Method, *, options: Mapping[str, OptionValue] | None = None) -> None:
    """Raise AssertionError unless `method` keeps the contract.

    Checked: description, docstring, signature and options, and that it chooses the same designs for
    the same seed, no more than it has room for, and comes to an end, on spaces with and without
    an order, of one design and of few, with one objective and three, and without any
    feasible design.  A method that `proves` has to find the front of all designs.

    Parameters
    ----------
    method
        The method to check.
    options
        Its options, if its defaults do not suit a budget of 60 designs.
    """
    where = f"method {method.name!r}"
    require(bool(method.description.strip()), f"{where}: no description; write one line")
    require(bool(inspect.getdoc(method.function)), f"{where}: no docstring; describe its way")
    require(method.budget >= 1, f"{where}: a budget of {method.budget}; give at least 1")
    require(method.population >= 2, f"{where}: a population of {method.population}; give 2 or more")
    if not method.proves:
        _check_signature(method, where)
        _check_options(method, where)
    for name, space in _SPACES.items():
        _check_search(method, space, options or {}, f"{where}, {name}")


def _check_signature(method: Method, where: str) -> None:
    found = list(inspect.signature(method.function).parameters.values())
    keywords = [one.name for one in found if one.kind is inspect.Parameter.KEYWORD_ONLY]
    wanted = [*_GIVEN, *(option.name for option in method.options)]
    require(
        len(found) == len(keywords) + 1 and sorted(keywords) == sorted(wanted),
        f"{where}: takes ({', '.join(one.name for one in found)}); write (search, *, "
        f"{', '.join(wanted)})",
    )


def _check_options(method: Method, where: str) -> None:
    for option in method.options:
        require(
            bool(option.description.strip()), f"{where}: option {option.name!r} has no description"
        )
        require(
            not list(option_faults(method, option.name, option.default)),
            f"{where}: option {option.name!r} defaults to {option.default!r}, and is "
            f"{allowed_text(option)}",
        )


@dataclass
class _Landscape:
    """A problem made of a formula of the positions."""

    sizes: tuple[int, ...]
    ordered: tuple[bool, ...]
    losses: Callable[[Matrix], Matrix]
    limit: float = math.inf
    """Designs are feasible whose first coordinates add up to at most this."""
    constraint_names: tuple[str, ...] = ("small", "not empty")
    seen: list[tuple[int, ...]] = field(default_factory=list)

    @property
    def size(self) -> int:
        return math.prod(self.sizes)

    @property
    def objective_count(self) -> int:
        return len(self.losses(np.zeros((1, len(self.sizes))))[0])

    @property
    def coordinates(self) -> tuple[Matrix | None, ...]:
        pairs = zip(self.sizes, self.ordered, strict=True)
        return tuple(np.linspace(0, 1, size) if ordered else None for size, ordered in pairs)

    def evaluate(self, points: Points) -> Evaluation:
        index = as_index(points)
        self.seen += map(tuple, index.tolist())
        total = index.sum(axis=1) / sum(self.sizes)
        violation = np.stack([total - self.limit, np.full(len(index), -1.0)], axis=1)
        return Evaluation(index, self.losses(index / self.sizes), violation)


def _one(x: Matrix) -> Matrix:
    return np.asarray(np.abs(x - 0.4).sum(axis=1, keepdims=True))


def _three(x: Matrix) -> Matrix:
    return np.stack([((x - spot) ** 2).sum(axis=1) for spot in (0.1, 0.5, 0.8)], axis=1)


_SPACES: Mapping[str, Callable[[], _Landscape]] = {
    "one design": lambda: _Landscape((1, 1), (True, False), _one),
    "five designs, one objective": lambda: _Landscape((5,), (False,), _one),
    "six designs, three objectives": lambda: _Landscape((1, 3, 2), (True, True, False), _three),
    "one objective": lambda: _Landscape((40, 40, 3), (True, True, False), _one),
    "three objectives": lambda: _Landscape((40, 40, 3), (True, True, False), _three),
    "few feasible designs": lambda: _Landscape((30, 30), (True, True), _three, limit=0.1),
    "nothing feasible": lambda: _Landscape((30, 30), (True, False), _three, limit=-1.0),
}


def _check_search(
    method: Method, space: Callable[[], _Landscape], options: Mapping[str, OptionValue], where: str
) -> None:
    if method.proves:
        _check_proof(method, space(), where)
        return
    chosen = []
    for unseeded in (1, 2):
        random.seed(unseeded)
        np.random.seed(unseeded)  # noqa: NPY002 state that a method must not depend on
        chosen.append(_designs(method, space(), options, where))
    require(
        chosen[0] == chosen[1],
        f"{where}: chooses other designs in a second search with the same seed; take all that "
        "is random from np.random.default_rng(seed)",
    )


def _designs(
    method: Method, space: _Landscape, options: Mapping[str, OptionValue], where: str
) -> list[tuple[int, ...]]:
    """Return the designs that a method evaluates, in their order."""
    total = min(_BUDGET, space.size)
    archive = _Watched(space, total=total)
    try:
        run_method(
            method,
            archive,
            seed=_SEED,
            population=min(10, max(2, total)),
            options=options,
        )
    except ContractError as error:
        raise AssertionError(f"{where}: {error}") from error
    return space.seen[: archive.evaluated]


class _Watched(Archive):
    """An archive that loses patience with a method that does not come to an end."""

    requested = 0

    def evaluate(self, index: Index) -> tuple[Matrix, Matrix]:
        self.requested += max(1, len(index))
        if self.requested > _PATIENCE * (self.total + 10):
            raise ContractError(
                f"it requested {self.requested} designs, has {self.room} of {self.total} left "
                f"to evaluate, and does not come to an end; ask for designs that are not `seen`"
            )
        return super().evaluate(index)


def _check_proof(method: Method, space: _Landscape, where: str) -> None:
    found = method.function(space, None, budget=None, limit=10_000)
    evaluation = space.evaluate(one_block(space.sizes))
    loss = evaluation.loss[evaluation.feasible]
    best = np.unique(loss[nondominated(loss)], axis=0) if len(loss) else loss
    require(
        np.array_equal(np.unique(found.front_loss, axis=0), best),
        f"{where}: its front is not the front of all designs",
    )
