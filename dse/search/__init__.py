"""Choosing designs: `exact` proves fronts, `heuristic` samples them, the archive keeps them.

May import `dse.model` and lower floors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from types import MappingProxyType

from dse.errors import Fault, StudyError, UnknownPluginError, nearest
from dse.model.problem import Evaluation
from dse.search.archive import Archive, Progress, Searchable
from dse.search.exact import proven
from dse.search.heuristic.start import coarse_grid
from dse.search.outcome import Certificate, Outcome

__all__ = [
    "EXACT_LIMIT",
    "METHODS",
    "Archive",
    "Certificate",
    "Evaluation",
    "Method",
    "Outcome",
    "Progress",
    "SearchSettings",
    "Searchable",
    "check",
    "run",
]

EXACT_LIMIT = 200_000_000
"""Largest space that is enumerated unless told otherwise."""

WARM_SHARE = 0.1
WARM_POPULATIONS = 4
"""A warm start takes this share of the budget, and at most so many populations."""


@dataclass(frozen=True, kw_only=True)
class Method:
    """A way to choose designs.

    Attributes
    ----------
    description
        One line for those who choose.
    budget
        Designs evaluated when the study does not say.
    module, function
        Where the code of a heuristic is, imported only when it runs.
    population
        Designs per generation (or batch) when the study does not say.
    """

    description: str
    budget: int
    module: str = ""
    function: str = ""
    population: int = 100

    def load(self) -> Callable[..., None]:
        """Import the function: ``(archive, *, seed, population, start) -> None``."""
        function: Callable[..., None] = getattr(import_module(self.module), self.function)
        return function


_PYMOO, _OPTUNA = "dse.search.heuristic.pymoo", "dse.search.heuristic.optuna"

METHODS: Mapping[str, Method] = MappingProxyType(
    {
        "exact": Method(
            description="the proven front, composed or enumerated, whichever suits the space",
            budget=EXACT_LIMIT,
        ),
        "enumerate": Method(
            description="the proven front: every design is evaluated or ruled out",
            budget=EXACT_LIMIT,
        ),
        "compose": Method(
            description="the proven front: bounds give up parts that cannot lead to it",
            budget=EXACT_LIMIT,
        ),
        "nsga2": Method(
            description="NSGA-II: a good start for two or three objectives",
            module=_PYMOO,
            function="nsga2",
            budget=12_000,
        ),
        "nsga3": Method(
            description="NSGA-III: for four or more objectives",
            module=_PYMOO,
            function="nsga3",
            budget=12_000,
        ),
        "sms-emoa": Method(
            description="SMS-EMOA: maximises the hypervolume, slower per design",
            module=_PYMOO,
            function="sms_emoa",
            budget=12_000,
        ),
        "tpe": Method(
            description="tree-structured Parzen estimator: when evaluations are dear",
            module=_OPTUNA,
            function="tpe",
            budget=1_000,
            population=25,
        ),
        "nsga2-optuna": Method(
            description="NSGA-II as optuna has it, to compare with",
            module=_OPTUNA,
            function="nsga2_optuna",
            budget=2_000,
            population=50,
        ),
        "random": Method(
            description="random designs: what every other method has to beat",
            module=_OPTUNA,
            function="random",
            budget=12_000,
            population=1_000,
        ),
    }
)
"""The methods by name."""


@dataclass(frozen=True, kw_only=True)
class SearchSettings:
    """How to search.

    Attributes
    ----------
    method
        A key of `METHODS`.
    budget
        Most designs to evaluate; None for the method's own default.  A budget that covers
        the space is spent on all of it, whatever the method.
    seed
        Two searches with the same seed choose the same designs.
    population
        Designs per generation (or batch); None for the method's own default.
    limit
        Largest space that is enumerated.
    warm_start
        Heuristics begin with the corners and a coarse grid of the space.
    """

    method: str = "exact"
    budget: int | None = None
    seed: int = 0
    population: int | None = None
    limit: int = EXACT_LIMIT
    warm_start: bool = True

    def __post_init__(self) -> None:
        """Refuse an unknown method and numbers out of range."""
        if self.method not in METHODS:
            raise UnknownPluginError(
                f"there is no search method {self.method!r}", nearest(self.method, METHODS)
            )
        _at_least("budget", self.budget, 1)
        _at_least("population", self.population, 2)
        _at_least("seed", self.seed, 0)
        _at_least("limit", self.limit, 1)
        if self.seed >= 2**32:
            raise StudyError([_fault("seed", self.seed, "less than 2**32")])


def run_search(
    problem: Searchable, settings: SearchSettings, progress: Progress | None = None
) -> Outcome:
    """Search `problem` and return what was found.

    Parameters
    ----------
    problem
        Evaluates rows of indices.
    settings
        Method, budget and seed.
    progress
        Called with (designs evaluated, designs planned) after every batch.

    Raises
    ------
    TooLargeError
        The exact method was asked for a space beyond its limit or budget.
    ContractError
        A feasible design has a loss that is not finite.
    """
    check_search(problem, settings)
    method = METHODS[settings.method]
    total = min(settings.budget or method.budget, problem.size)
    if settings.method in proven.METHODS:
        return proven.prove(
            problem, settings.method, progress, budget=settings.budget, limit=settings.limit
        )
    if total == problem.size:
        return proven.enumerated(problem, progress, "the budget covers the space")
    archive = Archive(problem, total=total, progress=progress)
    population = max(2, min(settings.population or method.population, total))
    warm = min(int(total * WARM_SHARE), WARM_POPULATIONS * population)
    start = coarse_grid(problem, warm if settings.warm_start else 0)
    method.load()(archive, seed=settings.seed, population=population, start=start)
    return archive.outcome()


def check_search(problem: Searchable, settings: SearchSettings) -> None:
    """Raise `TooLargeError` when the method cannot finish the space; evaluates nothing."""
    if settings.method in proven.METHODS:
        proven.check_provable(
            problem, settings.method, budget=settings.budget, limit=settings.limit
        )


def _at_least(name: str, value: int | None, least: int) -> None:
    if value is not None and value < least:
        raise StudyError([_fault(name, value, f"at least {least}")])


def _fault(name: str, value: int, bound: str) -> Fault:
    return Fault(
        where=f"search.{name}",
        written=str(value),
        rule=f"{name} must be {bound}",
        remedy="leave it out for the default",
    )
