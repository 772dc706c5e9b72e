"""Quantities, and what has to hold of them: records around functions of columns.

A record is made by a decorator, so that what it declares stands beside the function::

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
"""The column with the size of an offload; the mean where a study mixes sizes."""

SizeColumn = Column | tuple[tuple[Column, float], ...]
"""The size of all offloads; or each size of a mix with its share (`Objective.over_sizes`)."""

Function = Callable[..., Column]
"""Keyword-only arguments name the columns that it takes."""


@dataclass(frozen=True)
class _Wired:
    """A function of columns, wired by the names of its arguments; called like a function."""

    function: Function

    @np.errstate(divide="ignore", invalid="ignore", over="ignore")
    def __call__(self, **columns: Any) -> Column:
        """Return the column that the function makes of `columns`, as quiet as in the engine."""
        return self.function(**columns)

    @property
    def name(self) -> str:
        """The name of the function: what a study, a conflict or a failure calls it."""
        return str(self.function.__name__)

    @property
    def summary(self) -> str:
        """First line of the function's docstring."""
        return (self.function.__doc__ or "").strip().partition("\n")[0]


@dataclass(frozen=True, kw_only=True)
class Limit:
    """What a label of a categorical quantity stands for, in words: ``the power cap``.

    `quantities` are the limits behind it, of which the least counts; a study may lack some.
    """

    words: str
    quantities: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Threshold:
    """What a quantity advises about an input: do `above` from its value on, else `below`.

    `column` is the input, for instance ``workload_granularity_byte``; `never` is said where
    the quantity does not exist.
    """

    column: str
    above: str
    below: str
    never: str


@dataclass(frozen=True, kw_only=True)
class Alone:
    """What a study is where the host does the work alone, beside what accelerators do.

    `columns` are those that change -> the column that stands for each then, or its number.  The
    host keeps the `own` columns of the interface and loses its others, as it loses those of stages;
    what takes one of these is undefined.  Where an own column is not a number above 0, nothing is
    known of the host alone.  Nor is it compared where no objective is or takes its `cost`: then
    what it takes counts for nothing.
    """

    columns: Mapping[str, str | float]
    own: tuple[str, ...]
    cost: str


@dataclass(frozen=True, kw_only=True)
class Caution:
    """What an answer warns of where a quantity is `above` a value: ``words``, to read aloud.

    It is reported for studies that have the column `given`.
    """

    above: float
    words: str
    given: str


Simulated = Literal["", "rate", "wait", "time", "rare_time", "cores", "energy", "packet_rate"]
"""What a simulation of offloads measures: payload per second; mean wait; mean time from arrival to
end, and the one that one in a hundred exceeds; busy host cores; energy per bit of payload.  What it
takes as given: bytes of packets per second, in each direction of the link."""


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
        True when "does not exist" is an answer, as NaN.  A design without the quantity
        is infeasible in a study that optimises or bounds it.
    signed
        True when negative values make sense; otherwise they are refused as a broken model.
    grows_with_instances
        True when another instance, all else equal, must make it larger.
    rises_with, falls_with
        Arguments in which the function never falls, or never rises: those that it annotates as
        `Rising` or `Falling`, unless they are given.  Proven, not hoped: exact composition of
        fronts relies on them.
    at_most
        Columns that the quantity never exceeds, each stage's if staged; proven like the above.
    report
        True for a quantity that belongs in every answer about a design.
    limits, limited
        For a categorical quantity that tells what limits a design: one `Limit` per label, and
        the quantity that they limit.
    threshold
        For a quantity from which on something pays: what to do on either side of it.
    alone
        For the time that the same work takes on the host: what a study is with the host alone.
    staying
        True for what the sizes of a mix that stay on the host take of it, which an answer tells.
    caution
        From which value on an answer warns, and of what.
    simulated
        What a simulation measures where this quantity predicts it.
    over_stages
        For a quantity of stage columns: how the values of its stages, each alone, become that of
        the chain when its other arguments stay: ``sum``, ``least`` or ``largest``.
    over_sizes
        For a quantity of one offload that is not linear in its size (`SIZE`): how its values for
        the sizes of a mix become that of the mix: ``mean`` or ``largest``; ``together`` hands it
        all sizes at once, smallest first, as pairs of a size and its share.  ``staying``: the mean
        of the sizes that stay on the host.  Others take the mean size.
    settled_while
        Argument -> column that does not depend on fleets.  While the column is positive, and
        among designs that are the same outside the stages and reach what is demanded
        (`Requirement.at_least`), the quantity rises and falls as declared when this argument is
        ignored: all that it changes comes through the others.
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
    different requirements can be compared.  `rule` says it in words.  `rises_with` and `falls_with`
    are those of an `Objective`.  A requirement that bounds a `quantity` names
    the column that it is to be `at_most` or `at_least`: every design that meets it keeps to that,
    and an answer can tell both numbers.

    Attributes
    ----------
    strict
        True when reaching the bound is a violation too.
    implies
        Quantities that are no arguments -> columns that they reach in every design that meets the
        requirement: consequences of how the arguments are made, proven like the rest.
    relaxed_by_less, relaxed_by_more
        Columns of the study (``workload_rate_bit_per_s``) of which less, or more, can meet it.
        When nothing fits, the least change of each that admits a design is looked for.
    """

    _: KW_ONLY
    rule: str
    rises_with: tuple[str, ...] = field(default=())
    falls_with: tuple[str, ...] = field(default=())
    quantity: str = ""
    at_most: str = ""
    at_least: str = ""
    relaxed_by_less: tuple[str, ...] = ()
    relaxed_by_more: tuple[str, ...] = ()
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
    """Return what a function says of its arguments by `Rising` and `Falling`."""
    written = {name: str(one) for name, one in function.__annotations__.items()}
    return {
        field: tuple(name for name, one in written.items() if word in one)
        for field, word in (("rises_with", "Rising"), ("falls_with", "Falling"))
    }


objective = decorator(Objective, _directions)
"""Makes an `Objective` of the function below it."""

requirement = decorator(Requirement, _directions)
"""Makes a `Requirement` of the function below it."""

guard = decorator(Guard)
"""Makes a `Guard` of the function below it."""
