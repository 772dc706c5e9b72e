"""Quantities and conditions on them: records around functions of columns.

A record is made by a decorator, so that its declaration is next to the function::

    @objective(source="definition")
    def power_density_w_per_m2(*, power_w: Rising[Column], area_m2: Falling[Column]) -> Column:
        ...

The record can be called like the function.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Literal

import numpy as np

from dse.contract.columns import Column
from dse.contract.decorator import decorator

SIZE = "workload_granularity_byte"
"""The column with the size of an offload, or the mean if a study mixes sizes."""

SizeColumn = Column | tuple[tuple[Column, float], ...]
"""The size of all offloads, or each size of a mix with its share (`Objective.over_sizes`)."""

Function = Callable[..., Column]
"""A function whose keyword-only arguments name its columns."""


@dataclass(frozen=True)
class _Wired:
    """A function of columns, wired by the names of its arguments and called like a function."""

    function: Function

    @np.errstate(divide="ignore", invalid="ignore", over="ignore")
    def __call__(self, **columns: Any) -> Column:
        """Return the column of the function for `columns`, without warnings, as in the engine."""
        return self.function(**columns)

    @property
    def name(self) -> str:
        """Return the name of the function, which studies, conflicts and failures use."""
        return str(self.function.__name__)

    @property
    def summary(self) -> str:
        """Return the first line of the function's docstring."""
        return (self.function.__doc__ or "").strip().partition("\n")[0]


@dataclass(frozen=True, kw_only=True)
class Limit:
    """Meaning of a label of a categorical quantity, in words: ``the power cap``.

    `quantities` are the limits behind it, and the least of them counts.  A study may lack some.
    """

    words: str
    quantities: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Threshold:
    """Advice of a quantity about an input: do `above` from its value on, else `below`.

    `column` is the input, for instance ``workload_granularity_byte``.  `never` is the advice if
    the quantity does not exist.
    """

    column: str
    above: str
    below: str
    never: str


@dataclass(frozen=True, kw_only=True)
class Alone:
    """A study whose host does the work without accelerators, for comparison.

    `columns` maps each column that changes to the column that replaces it then, or to a number.
    The host keeps the `own` columns of the interface and loses its other columns, as well as the
    columns of stages.  A quantity that takes a lost column is undefined.  If an own column is not a
    number above 0, the host without accelerators is unknown.  It is compared only if an objective
    is or takes its `cost`.  Otherwise its cost does not count.
    """

    columns: Mapping[str, str | float]
    own: tuple[str, ...]
    cost: str


@dataclass(frozen=True, kw_only=True)
class Caution:
    """A warning of an answer if a quantity is `above` a value: ``words``, to read aloud.

    It is reported for studies that have the column `given`.
    """

    above: float
    words: str
    given: str


Simulated = Literal["", "rate", "wait", "time", "rare_time", "cores", "energy", "packet_rate"]
"""Results of a simulation of offloads: payload per second, mean wait, mean time from arrival to
end, the time that one in a hundred exceeds, busy host cores, and energy per bit of payload.  The
last is an input: bytes of packets per second, in each direction of the link."""


@dataclass(frozen=True)
class Objective(_Wired):
    """A quantity of a design: a pure function of columns, named after the function.

    Attributes
    ----------
    function
        Keyword-only arguments name the columns it needs: fields of the study
        (``workload_rate_bit_per_s``), other objectives, or ``stage_<metric>``, which is
        a tuple with one column per stage in chain order.
    source
        Paper and equation.
    labels
        For a categorical quantity: the names of its codes 0, 1, ...
    partial
        True if "does not exist" is an answer, as NaN.  A design without the quantity
        is infeasible in a study that optimises or bounds it.
    signed
        True if negative values make sense.  Otherwise they are an error of the model.
    grows_with_instances
        True if another instance, all else equal, must make it larger.
    rises_with, falls_with
        Arguments in which the function never falls, or never rises: those annotated as
        `Rising` or `Falling`, unless they are given.  Proven, not assumed: exact composition of
        fronts relies on them.
    at_most
        Columns that the quantity never exceeds, each stage's if staged.  Proven like the above.
    report
        True for a quantity that belongs in every answer about a design.
    limits, limited
        For a categorical quantity that names the limit of a design: one `Limit` per label, and
        the quantity that they limit.
    threshold
        For a quantity from which on something pays: the advice on either side of it.
    alone
        For the time of the same work on the host: the study with only the host.
    staying
        True for the share due to sizes of a mix that stay on the host, which answers report.
    caution
        The value from which on an answer warns, and the warning.
    simulated
        The result of a simulation that this quantity predicts.
    over_stages
        For a quantity of stage columns: composition of the values of single stages into the value
        of the chain while its other arguments stay: ``sum``, ``least`` or ``largest``.
    over_sizes
        For a quantity of one offload that is not linear in its size (`SIZE`): composition of its
        values for the sizes of a mix into the value of the mix: ``mean`` or ``largest``.
        ``together`` passes all sizes at once, smallest first, as pairs of a size and its share.
        ``staying``: the mean of the sizes that stay on the host.  Others take the mean size.
    settled_while
        Argument -> column that does not depend on fleets.  While the column is positive, and
        among designs that are the same outside the stages and reach the demand
        (`Requirement.at_least`), the quantity rises and falls as declared when this argument is
        ignored: all its effects come through the other arguments.
    """

    _: KW_ONLY
    source: str
    labels: tuple[str, ...] = ()
    partial: bool = False
    signed: bool = False
    grows_with_instances: bool = False
    rises_with: tuple[str, ...] = field(default=())
    falls_with: tuple[str, ...] = field(default=())
    at_most: tuple[str, ...] = field(default=())
    report: bool = False
    limits: tuple[Limit, ...] = field(default=(), repr=False)
    limited: str = ""
    threshold: Threshold | None = field(default=None, repr=False)
    alone: Alone | None = field(default=None, repr=False)
    staying: bool = False
    caution: Caution | None = field(default=None, repr=False)
    simulated: Simulated = ""
    over_stages: Literal["", "sum", "least", "largest"] = ""
    over_sizes: Literal["", "mean", "largest", "together", "staying"] = ""
    settled_while: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Requirement(_Wired):
    """A constraint that every design has to meet: ``function(...) <= 0``, wired by name.

    The violation is relative (1.0 means off by the whole bound), so that violations of
    different requirements can be compared.  `rule` is the constraint in words.  `rises_with` and
    `falls_with` are as in `Objective`.  A requirement that bounds a `quantity` names
    the column that it must be `at_most` or `at_least`.  Every design that meets the requirement
    keeps to it, and an answer can report both numbers.

    Attributes
    ----------
    strict
        True if reaching the bound is a violation too.
    implies
        Quantities that are no arguments -> columns that they reach in every design that meets the
        requirement: consequences of the way the arguments are made, proven like the rest.
    """

    _: KW_ONLY
    rule: str
    rises_with: tuple[str, ...] = field(default=())
    falls_with: tuple[str, ...] = field(default=())
    quantity: str = ""
    at_most: str = ""
    at_least: str = ""
    strict: bool = False
    implies: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Guard(_Wired):
    """An invariant of the models: ``function(...) <= 0`` for every design, wired by name.

    A design that breaks it is no bad design but a broken model: the run stops and names the
    design and the rule.  `tolerance` is the excess, relative to the terms compared, that
    rounding may cause.
    """

    _: KW_ONLY
    rule: str
    tolerance: float = 1e-9


def _directions(function: Function) -> dict[str, tuple[str, ...]]:
    """Return the arguments that a function annotates as `Rising` and `Falling`."""
    written = {name: str(one) for name, one in function.__annotations__.items()}
    return {
        field: tuple(name for name, one in written.items() if word in one)
        for field, word in (("rises_with", "Rising"), ("falls_with", "Falling"))
    }


objective = decorator(Objective, _directions)
"""Decorator that makes an `Objective` of the function below it."""

requirement = decorator(Requirement, _directions)
"""Decorator that makes a `Requirement` of the function below it."""

guard = decorator(Guard)
"""Decorator that makes a `Guard` of the function below it."""
