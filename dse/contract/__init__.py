"""Records of plug-ins: plain data around pure functions of columns.

A *column* is a float64 array, one value per design point, in SI.  The unit is the suffix of
its name (``area_m2``, ``capacity_bit_per_s``).  Functions take their columns as keyword-only
arguments and the engine wires them by name.  An argument with a default is optional.  Columns
may come in any mutually broadcastable shapes, so a function must be elementwise.

This package is all of the engine that a plug-in imports.  A search method may also use
`dse.search.heuristic`.  May import `dse.errors`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from dse.contract import fields
from dse.contract.columns import ATTACHMENTS as ATTACHMENTS
from dse.contract.columns import PCIE_LINKS as PCIE_LINKS
from dse.contract.columns import PRECISIONS as PRECISIONS
from dse.contract.columns import TRANSFERS as TRANSFERS
from dse.contract.columns import WAIT_MODES as WAIT_MODES
from dse.contract.columns import Column as Column
from dse.contract.columns import Falling as Falling
from dse.contract.columns import Rising as Rising
from dse.contract.functions import EVIDENCE as EVIDENCE
from dse.contract.functions import Function as Function
from dse.contract.methods import Index as Index
from dse.contract.methods import Matrix as Matrix
from dse.contract.methods import Method as Method
from dse.contract.methods import Option as Option
from dse.contract.methods import Search as Search
from dse.contract.methods import method as method
from dse.contract.quantities import SIZE as SIZE
from dse.contract.quantities import Alone as Alone
from dse.contract.quantities import Caution as Caution
from dse.contract.quantities import Guard as Guard
from dse.contract.quantities import Limit as Limit
from dse.contract.quantities import Objective as Objective
from dse.contract.quantities import Requirement as Requirement
from dse.contract.quantities import Simulated as Simulated
from dse.contract.quantities import SizeColumn as SizeColumn
from dse.contract.quantities import Threshold as Threshold
from dse.contract.quantities import guard as guard
from dse.contract.quantities import objective as objective
from dse.contract.quantities import requirement as requirement


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """A number that a core model takes.

    `low` and `high` bound the values it was fitted on (or makes sense for).  Beyond them a result
    is ``extrapolated``.  A parameter with a `default` need not be given.
    """

    name: str
    description: str
    low: float
    high: float
    integer: bool = False
    default: float | None = None


_NO_FIGURES: Column = np.full(1, np.nan)
_NO_END: Column = np.zeros(1)


@dataclass(frozen=True, kw_only=True)
class CoreMetrics:
    """The columns of a core family, one value per design, at full clock and peak rate.

    Attributes
    ----------
    area_m2, area_ge, area_lc
        Silicon area, gate equivalents, logic cells of an FPGA: one or several, which never mix.
    block_rams, multipliers
        Blocks of an FPGA in an instance.
    dynamic_power_w, leakage_power_w
        Switching power at `clock_hz`, and leakage power.  Both or neither.
    clock_hz
        Highest clock.
    payload_bit
        Payload of one task.
    message_end_bit
        Bits that a core adds to the end of a message: a length block or padding.  0 by default.
    cycles_per_task
        Initiation interval in cycles, below 1 if several tasks start per cycle.
    latency_cycles
        From the first input of a task to its last output.
    tasks_in_flight
        Independent tasks that one instance works on at once.
    read_byte, written_byte
        Traffic of one task.
    extrapolated
        1.0 if a law predicts a design outside the range it was fitted on.

    Another column that is omitted is NaN for every design.  Quantities that need it do not exist.
    """

    area_m2: Column = field(default_factory=lambda: _NO_FIGURES)
    area_ge: Column = field(default_factory=lambda: _NO_FIGURES)
    area_lc: Column = field(default_factory=lambda: _NO_FIGURES)
    block_rams: Column = field(default_factory=lambda: _NO_FIGURES)
    multipliers: Column = field(default_factory=lambda: _NO_FIGURES)
    clock_hz: Column
    dynamic_power_w: Column = field(default_factory=lambda: _NO_FIGURES)
    leakage_power_w: Column = field(default_factory=lambda: _NO_FIGURES)
    payload_bit: Column
    message_end_bit: Column = field(default_factory=lambda: _NO_END)
    cycles_per_task: Column
    latency_cycles: Column
    tasks_in_flight: Column
    read_byte: Column
    written_byte: Column
    extrapolated: Column

    def __post_init__(self) -> None:
        """Set omitted columns to NaN, and omitted ends of messages to 0: one value per design."""
        for name, column in vars(self).items():
            if column is _NO_FIGURES or column is _NO_END:
                object.__setattr__(self, name, np.full(np.shape(self.clock_hz), column[0]))


@dataclass(frozen=True, kw_only=True, eq=False)
class Model:
    """One way to obtain the designs of a core: a published table or a fitted law.

    Its function is called once for the same arguments, as long as these are few.

    Attributes
    ----------
    function
        Keyword-only: one argument per entry of `parameters`.  Returns `CoreMetrics`.
    parameters
        Design parameters (a law has at least one), then options that have a default.
    designs
        Names of the rows that `function` returns.  Empty for a law.
    design_name
        Format of a law's design names, for instance ``"u{unroll}"``, or empty for a table.
    source
        Paper, table and equation, and corrections with their reasons.
    residuals
        For a law: its columns against the table it describes, as
        ``{quantity: (design names, table values, law values)}``.
    uncertainty
        Relative standard uncertainty of metrics, by field of `CoreMetrics`.  The uncertainty of a
        law's residuals adds in squares.
    kit
        For values of mapped gates: the kit whose routed runs scale them to placed designs, one of
        `KITS` or ``other``.  Empty for values that are not scaled.
    assumed
        Fields of `CoreMetrics` that are assumed, since no source has them.  Results note them.  An
        assumed latency is an error in a chained mode, as it decides the rate.
    labels
        Labels that distinguish designs for people, by design name: ``10 rounds, half clock``.
    """

    function: Callable[..., CoreMetrics]
    parameters: tuple[Parameter, ...] = ()
    designs: tuple[str, ...] = ()
    design_name: str = ""
    source: str
    residuals: Callable[[], Mapping[str, tuple[tuple[str, ...], Column, Column]]] | None = None
    uncertainty: Mapping[str, float] = field(default_factory=dict)
    kit: str = ""
    assumed: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Core:
    """A family of accelerator cores: its models by name (``table``, ``law``, ...).

    Attributes
    ----------
    provides
        Names of each `Function` that its designs compute.
    node
        Process named in the source by feature size (``65 nm``), or family of FPGAs.
    evidence
        Origin of the values, one of `EVIDENCE`.
    omitted
        Designs of the source that no study can use, with the reason.
    label
        Label of the family, shown before a design's own label: ``AES-GCM``.
    """

    name: str
    summary: str
    models: Mapping[str, Model]
    label: str = ""
    provides: tuple[str, ...] = ()
    node: str = ""
    evidence: str = ""
    omitted: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Sureness:
    """Trust in the values of a record: fields by their names.

    Attributes
    ----------
    assumptions
        Fields that are assumed rather than published or measured.
    fitted
        Fields that are fitted to measurements.
    uncertainty
        Relative standard uncertainty of fields, absent if unknown.
    unspecified
        Fields that a record does not give, or its sources do not publish.  Neutral values replace
        them.
    zeros
        Fields that a record gives as zero, if zero is not their neutral value.
    """

    assumptions: tuple[str, ...] = ()
    fitted: tuple[str, ...] = ()
    uncertainty: Mapping[str, float] = field(default_factory=dict, hash=False)
    unspecified: tuple[str, ...] = ()
    zeros: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Kernel(Sureness):
    """Time of the computation on the host: ``offset_s + index_s_per_byte * g ** exponent``.

    `provides` names each `Function` that it computes.
    """

    name: str
    provides: tuple[str, ...] = ()
    index_s_per_byte: float
    exponent: float = 1.0
    offset_s: float = 0.0
    host: str = ""
    source: str = ""


@dataclass(frozen=True, kw_only=True)
class Interface(Sureness, fields.InterfaceColumns):  # type: ignore[misc]
    """Offload of work from a host to an accelerator (LogCA's record and additions for systems).

    `dse.contract.fields` lists the fields with a unit, one for each column: ``overhead_cycles``
    and ``overhead_s``.  Times are given in cycles of the host or in seconds.  Both are added, so a
    record fills one of the two.  A field that is not given is None, or 0 where that is neutral.

    Attributes
    ----------
    label
        Label shown in place of the name: ``on a card``.
    attachment
        ``inline`` for an engine in the path of the data, any other word for an engine outside it.
    pcie
        One of `PCIE_LINKS`, or empty.
    includes
        ``device`` if times include the device's computing: whole offloads, as measured.
    sources
        Sources of single fields, by field.
    """

    name: str
    label: str = ""
    host: str = ""
    attachment: str = ""
    pcie: str = ""
    includes: str = ""
    wait: str = "async"
    transfer: str = "cut_through"
    in_flight: float = 1.0
    host_power_w: float | None = None
    source: str = ""
    sources: Mapping[str, str] = field(default_factory=dict, hash=False)
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Platform(Sureness):
    """Surroundings of the cores: memory, constant power and a power cap (energy roofline).

    `usable_power_w` is the power that may be used above `constant_power_w`.  Execution slows to
    stay under their sum.  Fields that a source does not give are None.
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
