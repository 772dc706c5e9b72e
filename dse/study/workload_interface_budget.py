"""Sections of a study whose fields become columns: workload, interface and budget."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping
from functools import cache
from typing import Annotated, Literal

from pydantic import Field, field_validator

from dse.contract import ATTACHMENTS, PCIE_LINKS, PRECISIONS, TRANSFERS, WAIT_MODES
from dse.errors import nearest
from dse.study.field_kinds import (
    Amount,
    Coded,
    Given,
    SectionOrName,
    Sizes,
    StudySection,
    Unit,
    choice,
    fault,
    option,
    quantity,
)


class KernelSection(StudySection):
    """Time of the computation on the host, defined in place: offset + index * g ** exponent."""

    index: Annotated[Given, Unit("Host time per byte (LogCA's C)", ("kernel_index_s_per_byte",))]
    exponent: Annotated[Given, Unit("Complexity exponent (LogCA's beta)", ("kernel_exponent",))] = (
        Given(column="kernel_exponent", value=1.0)
    )
    offset: Annotated[Given, Unit("Fixed host time per call", ("kernel_offset_s",), zero=True)] = (
        Given(column="kernel_offset_s", value=0.0)
    )


class WorkloadSection(StudySection):
    """Work to compute."""

    rate: Amount = quantity("Payload rate demanded of every design", "workload_rate_bit_per_s")
    offload_rate: Amount = quantity(
        "Offloads demanded per second, each of `granularity`, in place of `rate`",
        "workload_offload_rate_offload_per_s",
    )
    granularity: Annotated[
        Amount,
        Sizes(
            "Size of one offload (LogCA's g), or a mix: each size with its share of all offloads",
            ("workload_granularity_byte",),
            integer=True,
        ),
    ] = None
    offload_above: Amount = quantity(
        "Sizes of a mix up to this one stay on the host, larger ones are offloaded (0 B: all)",
        "workload_offload_above_byte",
        integer=True,
        zero=True,
    )
    arrivals: Amount = quantity(
        "How offloads arrive: steady (the default), poisson, or the squared "
        "coefficient of variation of the gaps between them, {cv2: 4}",
        "workload_arrival_cv2",
        zero=True,
        words={"steady": 0.0, "poisson": 1.0},
        key="cv2",
    )
    kernel: SectionOrName[KernelSection] = option("Kernel by name, or in place", None)
    streams: Amount = quantity("Independent streams of tasks", "workload_streams", integer=True)
    chained: Annotated[
        bool,
        Field(description="Each task of a stream needs the one before it (CBC, for instance)"),
        Coded("workload_chained", ("false", "true")),
    ] = False
    program_share: Amount = quantity(
        "Share of a program's host time that the kernel takes, up to 1 (Accelerometer's alpha)",
        "workload_program_share",
    )
    program_offloads: Amount = quantity(
        "Its calls of the kernel in a second of host time (Accelerometer's n / C)",
        "workload_program_offloads_hz",
    )
    intensity: Amount = quantity(
        "Operations per byte of memory traffic, for studies of platforms",
        "workload_intensity_op_per_byte",
    )


PACKET_SIZES = (128.0, 256.0, 512.0, 1024.0, 2048.0, 4096.0)
"""Sizes that PCI Express allows for the largest payload and the largest read request, in B."""


class InterfaceSection(StudySection):
    """Offload of work from the host: a device, fields that override it, or both."""

    device: str | None = option("Interface by name (`dse list interfaces`)", None)
    host: str | None = option("Name of the host processor", None)
    attachment: str | None = choice(
        "Place of the engine: `inline`, on the way of the data, or next to them: "
        "look_aside, or another word such as pcie_card",
        "interface_attachment",
        ATTACHMENTS,
        ("attachment",),
    )
    host_clock: Amount = quantity("Clock of the host", "interface_host_clock_hz", neutral=math.inf)
    overhead: Amount = quantity(
        "Host time to set up one offload (LogCA's o)",
        "interface_overhead_cycles",
        "interface_overhead_s",
        zero=True,
        unwritten="no overhead",
        instead=("overhead_plus_latency",),
    )
    latency: Amount = quantity(
        "Time to cross the interface (LogCA's L), fixed or per byte",
        "interface_latency_cycles",
        "interface_latency_s",
        "interface_latency_cycles_per_byte",
        "interface_latency_s_per_byte",
        zero=True,
        unwritten="no latency",
        instead=("overhead_plus_latency", "round_trip"),
    )
    switch: Amount = quantity(
        "One thread switch, for wait: sync_os",
        "interface_switch_cycles",
        "interface_switch_s",
        zero=True,
    )
    link: Amount = quantity(
        "Bandwidth of the link",
        "interface_link_byte_per_s",
        "interface_link_byte_per_cycle",
        neutral=math.inf,
        unwritten="an unlimited link",
        instead=("pcie",),
    )
    overhead_plus_latency: Amount = quantity(
        "Sum of overhead and latency, if only the sum is known",
        "interface_overhead_plus_latency_cycles",
        "interface_overhead_plus_latency_s",
        zero=True,
        belongs_to=("overhead_plus_latency",),
    )
    overhead_share: Amount = quantity(
        "Share of that sum which is overhead, up to 1",
        "interface_overhead_share",
        neutral=1.0,
        belongs_to=("overhead_plus_latency",),
    )
    pcie: str | None = choice(
        "PCI Express link: gen1 to gen5, x1, x2, x4, x8 or x16",
        "interface_pcie",
        PCIE_LINKS,
        ("pcie",),
    )
    max_payload: Amount = quantity(
        "Most payload of a PCI Express packet",
        "interface_max_payload_byte",
        among=PACKET_SIZES,
        neutral=math.inf,
        usual=256.0,
        belongs_to=("pcie",),
    )
    max_read_request: Amount = quantity(
        "Most that one PCI Express read asks for",
        "interface_max_read_request_byte",
        among=PACKET_SIZES,
        neutral=math.inf,
        usual=512.0,
        belongs_to=("pcie",),
    )
    completion: Amount = quantity(
        "Payload at which the host cuts completions, if below the maximum payload",
        "interface_completion_byte",
        among=(64.0, *PACKET_SIZES),
        neutral=math.inf,
        belongs_to=("pcie",),
    )
    descriptors: Amount = quantity(
        "Descriptors of one offload",
        "interface_descriptors",
        integer=True,
        zero=True,
        neutral=1.0,
        belongs_to=("pcie",),
    )
    batch: Amount = quantity(
        "Offloads that share a doorbell and an interrupt",
        "interface_batch",
        integer=True,
        neutral=1.0,
        belongs_to=("pcie",),
    )
    round_trip: Amount = quantity(
        "Time of a read across the link",
        "interface_round_trip_s",
        zero=True,
        belongs_to=("round_trip",),
    )
    retransmit_share: Amount = quantity(
        "Share of segments that are sent again, which an inline engine reads its record for",
        "interface_retransmit_share",
        zero=True,
        belongs_to=("attachment",),
    )
    segment: Amount = quantity(
        "Payload of a segment of a record",
        "interface_segment_byte",
        neutral=1448.0,
        belongs_to=("retransmit_share",),
    )
    acceleration: Amount = quantity(
        "How many times faster than the host a whole accelerator computes (LogCA's A), "
        "in a study without `stages`",
        "interface_acceleration",
        neutral=math.inf,
        belongs_to=("acceleration",),
    )
    includes: Literal["device"] | None = option(
        "`device`: its times hold the device's computing too (without `stages`)", None
    )
    wait: Literal["sync", "sync_os", "async"] | None = choice(
        "How the host waits", "interface_wait", WAIT_MODES
    )
    transfer: Literal["cut_through", "store_and_forward"] | None = choice(
        "Whether an offload is computed while it is transferred, or after",
        "interface_transfer",
        TRANSFERS,
    )
    in_flight: Amount = quantity(
        "Concurrent offloads",
        "interface_in_flight",
        integer=True,
        unwritten="one offload in flight",
    )
    max_in_flight: Amount = quantity(
        "Most concurrent offloads",
        "interface_max_in_flight",
        integer=True,
        neutral=math.inf,
        unwritten="any number of offloads in flight",
    )
    host_cores: Amount = quantity(
        "Cores of the host",
        "interface_host_cores",
        counts=True,
        neutral=math.inf,
        unwritten="any number of host cores",
    )
    host_power: Amount = quantity("Power of the whole host", "interface_host_power_w")
    buffer_area: Amount = quantity(
        "Area of buffer memory",
        "interface_buffer_area_m2_per_bit",
        zero=True,
        assumed=0.285e-12,
        unwritten="buffers of 0.285 um2/bit",
    )
    buffer_leakage: Amount = quantity(
        "Leakage of buffer memory",
        "interface_buffer_leakage_w_per_bit",
        zero=True,
        assumed=20e-12,
        unwritten="buffers that leak 20 pW/bit",
    )
    buffer_energy: Amount = quantity(
        "Energy to write or read a bit of buffer memory",
        "interface_buffer_j_per_bit",
        zero=True,
        unwritten="buffers without energy of access",
    )

    idle_power: Amount = quantity(
        "Power that the attachment draws anyway",
        "interface_idle_power_w",
        zero=True,
        belongs_to=("idle_power", "transfer_energy"),
        unwritten="an attachment without idle power",
    )
    transfer_energy: Amount = quantity(
        "Energy to move a byte of payload in, and its result out",
        "interface_transfer_j_per_byte",
        zero=True,
        belongs_to=("idle_power", "transfer_energy"),
        unwritten="transfers without energy",
    )
    attachment_area: Amount = quantity(
        "Silicon area of the attachment",
        "interface_attachment_area_m2",
        zero=True,
        belongs_to=("attachment_area",),
        unwritten="an attachment without area",
    )

    @field_validator("pcie")
    @classmethod
    def _known_link(cls, written: str | None) -> str | None:
        if written is None:
            return None
        written = re.sub(r"^(gen\d)\s*(x\d+)$", r"\1 \2", written)
        if written not in PCIE_LINKS:
            rule = "PCI Express links are gen1 to gen5 with x1, x2, x4, x8 or x16 lanes"
            raise fault(rule, nearest(written, PCIE_LINKS))
        return written


class BudgetSection(StudySection):
    """Surroundings of the cores: a platform, fields that override it, or both."""

    platform: str | None = option("Platform by name (`dse list platforms`)", None)
    precision: Literal["single", "double"] | None = choice(
        "Precision of its operations", "budget_precision", PRECISIONS
    )
    power_cap: Amount = quantity(
        "Execution slows so that constant and usable power stay under it", "budget_power_cap_w"
    )
    constant_power: Amount = quantity(
        "Power drawn whatever happens", "budget_constant_power_w", zero=True
    )
    memory_bandwidth: Amount = quantity("Bandwidth of the memory", "budget_memory_byte_per_s")
    memory_energy: Amount = quantity(
        "Energy of moving a byte", "budget_memory_j_per_byte", zero=True
    )
    copies: Amount = quantity("Platforms side by side", "budget_copies", integer=True)
    cap_divisor: Amount = quantity(
        "Divides the power usable above constant power", "budget_cap_divisor"
    )


SECTIONS: Mapping[str, type[StudySection]] = {
    "workload": WorkloadSection,
    "interface": InterfaceSection,
    "budget": BudgetSection,
}
"""The sections whose fields may be axes."""

DECLARED: Mapping[str, Unit | Coded | None] = {
    f"{section}.{name}": model.declared().get(name)
    for section, model in SECTIONS.items()
    for name in model.model_fields
}
"""The fields of these sections by dotted path, with the declarations of those that set columns."""

FIELDS: Mapping[str, Unit] = {
    path: declared for path, declared in DECLARED.items() if isinstance(declared, Unit)
}
"""The fields of these sections that have a unit."""

PATHS: Mapping[str, str] = {
    column: path for path, declared in DECLARED.items() if declared for column in declared.columns
}
"""The column that a field sets -> the field."""

CHOICES: Mapping[str, tuple[str, ...]] = {
    declared.column: declared.names for declared in DECLARED.values() if isinstance(declared, Coded)
}
"""Columns that hold a choice as its position among the names."""

UNWRITTEN: Mapping[str, str] = {
    path.removeprefix("interface."): unit.unwritten
    for path, unit in FIELDS.items()
    if unit.unwritten
}
"""Assumptions, in words, for fields that an interface omits."""

RECORDS: Mapping[str, str] = {"interface": "device", "budget": "platform"}
"""The field by which a section names a record, whose fields it may override."""

FREE = frozenset(f"interface.{name}" for name in ("in_flight", "transfer", "pcie", "batch")) | {
    "workload.granularity",
    "budget.copies",
    "budget.cap_divisor",
}
"""Fields on the use of a device or platform, which are a choice whatever its record has."""


def code(column: str, written: str) -> float:
    """Return the number by which a column holds a choice such as ``async``."""
    known = CHOICES[column]
    if known == ATTACHMENTS and written not in known:
        return 0.0  # a record's word for an engine outside the path of the data
    return float(known.index(written))


def declared_neutral(column: str) -> float:
    """Return the value of a column that leaves it without effect."""
    declared = DECLARED.get(PATHS.get(column, ""))
    return 0.0 if declared is None else declared.neutral


@cache
def owners_of(column: str) -> tuple[str, ...]:
    """Return the columns of the fields to which a column's field belongs."""
    owners = getattr(DECLARED.get(PATHS.get(column, "")), "belongs_to", ())
    return tuple(name for name, path in PATHS.items() if path.removeprefix("interface.") in owners)


def unspecified_fields(written: Collection[str]) -> tuple[str, ...]:
    """Return the fields of `UNWRITTEN` that the fields in `written` do not replace."""
    instead = {name: FIELDS[f"interface.{name}"].instead for name in UNWRITTEN}
    return tuple(name for name in UNWRITTEN if {name, *instead[name]}.isdisjoint(written))
