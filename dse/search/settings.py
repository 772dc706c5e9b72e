"""Settings of a search: the method, its budget, seed and options."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol, runtime_checkable

from dse.algebra import units
from dse.contract import Matrix, Method, Option
from dse.contract.methods import Axes, OptionValue
from dse.errors import ContractError, Fault, UnitError, nearest, refuse
from dse.model.evaluation import Evaluation
from dse.model.measured import Beforehand
from dse.model.space import Points
from dse.plugins import registry

Progress = Callable[[int, int], None]
"""Called with the number of designs evaluated so far and the number planned."""


@runtime_checkable
class FrontWatcher(Protocol):
    """A `Progress` that shows the front, too."""

    def watch(self, front: Callable[[], Matrix]) -> None:
        """Take a function that returns the losses (n, m) of the front so far, in any thread."""


CONSTRAINT_LIMIT = 62
"""A set of constraints is the bits of one int64."""


class Searchable(Axes, Protocol):
    """A study, as a search needs it."""

    @property
    def size(self) -> int:
        """Number of designs, however large."""

    @property
    def objective_count(self) -> int:
        """Columns of a loss."""

    @property
    def constraint_names(self) -> tuple[str, ...]:
        """Name of each column of a violation."""

    def evaluate(self, points: Points) -> Evaluation:
        """Evaluate designs, one result per row."""


def beforehand(problem: Searchable) -> Beforehand | None:
    """Return the rules on axes of a problem with measured designs, if any."""
    found: Beforehand | None = getattr(problem, "beforehand", None)
    return found if found is not None and found.any else None


def left_of(problem: Searchable) -> int:
    """Return the number of designs that no rule on axes excludes."""
    before = beforehand(problem)
    return problem.size - (0 if before is None else before.count or 0)


def check_constraints(problem: Searchable) -> None:
    """Raise `ContractError` when a study has more constraints than a search keeps apart."""
    count = len(problem.constraint_names)
    if count > CONSTRAINT_LIMIT:
        raise ContractError(
            f"a study has {count} constraints; at most {CONSTRAINT_LIMIT} are supported; join "
            f"some of them with `and`"
        )


EFFORT_S = 60.0
"""CPU time that the proof of a front may take by default."""

DESIGNS_PER_S = 100_000_000
"""More designs for each second of effort are not enumerated: bounds do not prune so fast."""

MEMORY_BYTE = 2.0**30
"""Memory that it may take beyond the memory in use at its start."""


@dataclass(frozen=True, kw_only=True)
class SearchSettings:
    """Settings of a search.

    Attributes
    ----------
    method
        Name of a `Method`.
    budget
        Most designs to evaluate, or None for the method's default.  A budget that covers the space
        is spent on all of it, whatever the method.
    assumed
        Whether the budget is a default: a method that proves its front then has none.
    time_s
        Most time of measurements, or None.
    seed
        Two searches with the same seed choose the same designs.
    population
        Designs per generation (or batch), or None for the method's default.
    effort_s, memory_byte
        CPU time of a proof, and its memory beyond the memory in use at its start.
    partial
        Whether the front so far is an answer when these are used up, and no error.
    options
        Options of the method by name.  The others have their default.
    """

    method: str = "exact"
    budget: int | None = None
    assumed: bool = False
    time_s: float | None = None
    seed: int = 0
    population: int | None = None
    effort_s: float = EFFORT_S
    memory_byte: float = MEMORY_BYTE
    partial: bool = False
    options: Mapping[str, OptionValue] = field(default_factory=dict)

    @property
    def most_enumerated(self) -> int:
        """Largest space that is enumerated."""
        return int(DESIGNS_PER_S * self.effort_s)

    def __post_init__(self) -> None:
        """Raise an error for an unknown method, unknown options and values out of range."""
        known = registry.get(Method, self.method)
        budget, population = self.budget, self.population
        rules = (
            ("budget", budget, budget is None or budget >= 1, "at least 1"),
            ("population", population, population is None or population >= 2, "at least 2"),
            ("seed", self.seed, self.seed >= 0, "at least 0"),
            ("seed", self.seed, self.seed < 2**32, "less than 2**32"),
            ("effort", self.effort_s, 0 < self.effort_s < math.inf, "a number above 0"),
            ("memory", self.memory_byte, 0 < self.memory_byte < math.inf, "a number above 0"),
        )
        remedy = "leave it out for the default"
        refuse(
            Fault(f"search.{name}", str(value), f"{name} must be {bound}", remedy)
            for name, value, holds, bound in rules
            if not holds
        )
        refuse(
            Fault(f"search.options.{name}", repr(value), rule, remedy)
            for name, value in self.options.items()
            for rule, remedy in option_faults(known, name, value)
        )


def option_faults(method: Method, name: str, value: object) -> Iterator[tuple[str, str]]:
    """Yield rule and remedy if a method has no such option, or not with this value."""
    options = {option.name: option for option in method.options}
    if name not in options:
        remedy = nearest(name, options) if options else "remove it"
        yield f"{method.name} has no such option", remedy
    elif not _allowed(options[name], value):
        option = options[name]
        yield (
            f"{name} is {allowed_text(option)}",
            f"write for instance {value_text(option.default)}",
        )


def _allowed(option: Option, value: object) -> bool:
    if isinstance(option.default, str):
        return isinstance(value, str) and (not option.choices or value in option.choices)
    if isinstance(option.default, bool) or isinstance(value, bool):
        return isinstance(option.default, bool) and isinstance(value, bool)
    kinds = int if isinstance(option.default, int) else (int, float)
    return isinstance(value, kinds) and option.low <= value <= option.high


def allowed_text(option: Option) -> str:
    """Return the values of an option, in words."""
    if isinstance(option.default, str):
        return f"one of {', '.join(option.choices)}" if option.choices else "a text"
    if isinstance(option.default, bool):
        return "true or false"
    kind = "a whole number" if isinstance(option.default, int) else "a number"
    ends = [f"from {option.low:g}"] if option.low > -float("inf") else []
    ends += [f"to {option.high:g}"] if option.high < float("inf") else []
    return " ".join([kind, *ends])


def value_text(value: OptionValue) -> str:
    """Return a value as a study writes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


@dataclass(frozen=True, kw_only=True)
class Budget:
    """CPU time from now on, and memory beyond the memory in use now: infinite if not limited."""

    seconds: float = math.inf
    byte: float = math.inf
    start_s: float = field(default_factory=lambda: time.process_time())

    def within(self, settings: SearchSettings) -> Budget:
        """Return the budget with infinite values replaced by the settings of a study."""
        seconds = settings.effort_s if math.isinf(self.seconds) else self.seconds
        byte = settings.memory_byte if math.isinf(self.byte) else self.byte
        return replace(self, seconds=seconds, byte=byte)

    @property
    def left_s(self) -> float:
        """CPU time that is left, not less than 0."""
        return max(0.0, self.start_s + self.seconds - time.process_time())


def budget_of(time: str | None) -> Budget:
    """Return a budget of time as it is written: ``60 s``.  Raise `UnitError` if it is none."""
    if time is None:
        return Budget()
    try:
        seconds = units.parse(units.in_seconds(time), "budget_s")
    except UnitError as error:
        raise UnitError(f"time {time!r}: {error.rule}", error.remedy) from error
    if seconds <= 0:
        raise UnitError(f"time {time!r}: it must be positive", "write for instance 60 s")
    return Budget(seconds=seconds)
