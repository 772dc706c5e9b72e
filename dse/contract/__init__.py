"""What a plug-in provides: plain records around pure functions of columns.

A *column* is a float64 array, one value per design point, in SI; the unit is the suffix of
its name (``area_m2``, ``capacity_bit_per_s``).  Functions take their columns as keyword-only
arguments and the engine wires them by name; an argument with a default is optional.  Columns
may come in any mutually broadcastable shapes, so a function must be elementwise.

This is the only module of the engine that a plug-in imports.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Column = NDArray[np.float64]
"""One float64 value per design point."""

WAIT_MODES = ("sync", "sync_os", "async")
"""How a host waits for an offload; a column holds the position in this tuple."""

PRECISIONS = ("single", "double")
"""Floating-point precision of a platform's operations; a column holds the position."""


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """A number that a core model takes.

    `low` and `high` bound the values it was fitted on (or makes sense for); beyond them the
    model says ``extrapolated``.  A parameter with a `default` need not be given.
    """

    name: str
    description: str
    low: float
    high: float
    integer: bool = False
    default: float | None = None


@dataclass(frozen=True, kw_only=True)
class CoreMetrics:
    """The columns of a core family, one value per design, at full clock and peak rate.

    Attributes
    ----------
    area_m2, dynamic_power_w, leakage_power_w
        Silicon area; switching power at `clock_hz`; leakage power.
    clock_hz
        Highest clock.
    payload_bit
        Payload of one task.
    cycles_per_task
        Initiation interval in cycles; below 1 when several tasks start per cycle.
    latency_cycles
        From the first input of a task to its first output.
    tasks_in_flight
        Independent tasks that one instance works on at once.
    read_byte, written_byte
        Traffic of one task.
    extrapolated
        1.0 where a law was asked for a design outside the range it was fitted on.
    """

    area_m2: Column
    clock_hz: Column
    dynamic_power_w: Column
    leakage_power_w: Column
    payload_bit: Column
    cycles_per_task: Column
    latency_cycles: Column
    tasks_in_flight: Column
    read_byte: Column
    written_byte: Column
    extrapolated: Column


@dataclass(frozen=True, kw_only=True)
class Model:
    """One way to obtain the designs of a core: a published table or a fitted law.

    Attributes
    ----------
    function
        Keyword-only: one argument per entry of `parameters`; returns `CoreMetrics`.
    parameters
        Design parameters (a law has at least one), then options that have a default.
    designs
        Names of the rows that `function` returns; empty for a law.
    design_name
        How a law names a design, for instance ``"u{unroll}"``; empty for a table.
    source
        Paper, table and equation; what was corrected and why.
    residuals
        For a law: its columns against the table it describes, as
        ``{quantity: (design names, table values, law values)}``.
    """

    function: Callable[..., CoreMetrics]
    parameters: tuple[Parameter, ...] = ()
    designs: tuple[str, ...] = ()
    design_name: str = ""
    source: str
    residuals: Callable[[], Mapping[str, tuple[tuple[str, ...], Column, Column]]] | None = None


@dataclass(frozen=True, kw_only=True)
class Core:
    """A family of accelerator cores: its models by name (``table``, ``law``, ...)."""

    name: str
    summary: str
    models: Mapping[str, Model]


@dataclass(frozen=True, kw_only=True)
class Kernel:
    """Time of the computation on the host: ``offset_s + index_s_per_byte * g ** exponent``."""

    name: str
    index_s_per_byte: float
    exponent: float = 1.0
    offset_s: float = 0.0
    host: str = ""
    source: str = ""


@dataclass(frozen=True, kw_only=True)
class Interface:
    """How a host hands work to an accelerator (LogCA's record and what a system adds).

    Times are given in cycles of the host or in seconds; both are added, so a record fills
    one of the two.  `assumptions` names the fields that are assumed rather than published.
    """

    name: str
    host: str = ""
    attachment: str = ""
    host_clock_hz: float | None = None
    overhead_cycles: float = 0.0
    overhead_s: float = 0.0
    latency_cycles: float = 0.0
    latency_s: float = 0.0
    latency_cycles_per_byte: float = 0.0
    latency_s_per_byte: float = 0.0
    switch_cycles: float = 0.0
    switch_s: float = 0.0
    link_byte_per_cycle: float | None = None
    link_byte_per_s: float | None = None
    wait: str = "async"
    in_flight: float = 1.0
    max_in_flight: float | None = None
    host_cores: float | None = None
    host_power_w: float | None = None
    buffer_area_m2_per_bit: float = 0.0
    buffer_leakage_w_per_bit: float = 0.0
    source: str = ""
    note: str = ""
    assumptions: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Platform:
    """What surrounds the cores: memory, constant power and a power cap (energy roofline).

    `usable_power_w` is what may be spent above `constant_power_w`; execution slows to stay
    under their sum.  Fields that a source does not give are None.
    """

    name: str
    processor: str = ""
    constant_power_w: float = 0.0
    usable_power_w: float | None = None
    memory_byte_per_s: float | None = None
    memory_j_per_byte: float = 0.0
    single_op_per_s: float | None = None
    single_j_per_op: float | None = None
    double_op_per_s: float | None = None
    double_j_per_op: float | None = None
    source: str = ""


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
class Objective:
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
        True when "does not exist" is an answer, told as NaN.  A design without the quantity
        is infeasible in a study that optimises or bounds it.
    signed
        True when negative values make sense; otherwise they are refused as a broken model.
    grows_with_instances
        True when another instance, all else equal, must make it larger.
    rises_with, falls_with
        Arguments in which the function never falls, or never rises.  Proven, not hoped:
        exact composition of fronts relies on them.
    at_most
        Columns that the quantity never exceeds, each stage's if staged; proven like the above.
    told
        True for a quantity that belongs into every answer about a design.
    limits, limited
        For a categorical quantity that tells what limits a design: one `Limit` per label, and
        the quantity that they limit.
    threshold
        For a quantity from which on something pays: what to do on either side of it.
    over_stages
        For a quantity of stage columns alone: how the values of its stages, each alone, become
        that of the chain: ``sum``, ``least`` or ``largest``.
    settled_while
        Argument -> column of the study.  While the column is positive, and among designs that
        are the same outside the stages and reach what is demanded (`Requirement.at_least`), the
        quantity rises and falls as declared when this argument is ignored: all that it changes
        comes through the others.
    """

    function: Callable[..., Column]
    source: str
    labels: tuple[str, ...] = ()
    partial: bool = False
    signed: bool = False
    grows_with_instances: bool = False
    rises_with: tuple[str, ...] = field(default=())
    falls_with: tuple[str, ...] = field(default=())
    at_most: tuple[str, ...] = field(default=())
    told: bool = False
    limits: tuple[Limit, ...] = field(default=(), repr=False)
    limited: str = ""
    threshold: Threshold | None = field(default=None, repr=False)
    over_stages: Literal["", "sum", "least", "largest"] = ""
    settled_while: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The quantity's name with its unit suffix."""
        return str(self.function.__name__)

    @property
    def summary(self) -> str:
        """First line of the function's docstring."""
        return (self.function.__doc__ or "").strip().partition("\n")[0]


@dataclass(frozen=True, kw_only=True)
class Requirement:
    """A constraint that every design has to meet: ``function(...) <= 0``, wired by name.

    The violation is relative (1.0 means off by the whole bound), so that violations of
    different requirements can be compared.  `rule` says it in words.  `rises_with` and
    `falls_with` are those of an `Objective`.  A requirement that bounds a `quantity` names the
    column that it is to be `at_most` or `at_least`: every design that meets it keeps to that,
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

    function: Callable[..., Column]
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

    @property
    def name(self) -> str:
        """The name under which conflicts report it."""
        return str(self.function.__name__)


@dataclass(frozen=True, kw_only=True)
class Guard:
    """An invariant of the models: ``function(...) <= 0`` for every design, wired by name.

    A design that breaks it is no bad design but a broken model: the run stops and names the
    design and the rule.  `tolerance` is the excess, relative to the terms compared, that
    rounding may cause.
    """

    function: Callable[..., Column]
    rule: str
    tolerance: float = 1e-9

    @property
    def name(self) -> str:
        """The name under which a failure reports it."""
        return str(self.function.__name__)
