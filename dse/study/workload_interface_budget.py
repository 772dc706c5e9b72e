"""Sections of a study whose fields become columns: workload, interface and budget."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import cache
from typing import Annotated, Literal

from pydantic import Field, field_validator

from dse.contract import ATTACHMENTS, PCIE_LINKS, PRECISIONS, TRANSFERS, WAIT_MODES
from dse.errors import nearest
from dse.study.field_kinds import (
    Amount,
    Arrivals,
    Coded,
    Given,
    SectionOrName,
    Sizes,
    StudySection,
    Unit,
    amounts,
    choice,
    fault,
    option,
)


class KernelSection(StudySection):
    """Time of the computation on the host, defined in place: offset + index * g ** exponent."""

    index: Annotated[Given, Unit("Host time per byte (LogCA's C)", ("kernel_index_s_per_byte",))]
    exponent: Annotated[Given, Unit("Complexity exponent (LogCA's beta)", ("kernel_exponent",))] = (
        Given(column="kernel_exponent", value=1.0)
    )
    offset: Annotated[Given, Unit("Fixed host time per call", ("kernel_offset_s",), ("zero",))] = (
        Given(column="kernel_offset_s", value=0.0)
    )


class _Workload(StudySection):
    granularity: Annotated[
        Amount,
        Sizes(
            "Size of one offload (LogCA's g), or a mix: each size with its share of all offloads",
            ("workload_granularity_byte",),
            ("integer",),
        ),
    ] = None
    arrivals: Annotated[
        Amount,
        Arrivals(
            "How offloads arrive: steady (the default), poisson, or the squared "
            "coefficient of variation of the gaps between them, {cv2: 4}",
            ("workload_arrival_cv2",),
            ("zero",),
        ),
    ] = None
    kernel: SectionOrName[KernelSection] = option("Kernel by name, or in place", None)
    chained: Annotated[
        bool,
        Field(description="Each task of a stream needs the one before it (CBC, for instance)"),
        Coded("workload_chained", ("false", "true")),
    ] = False


class WorkloadSection(amounts("workload", _Workload, "workload_")):  # type: ignore[misc]
    """Work to compute."""


class _Interface(StudySection):
    device: str | None = option("Interface by name (`dse list interfaces`)", None)
    host: str | None = option("Name of the host processor", None)
    attachment: str | None = choice(
        "Place of the engine: `inline`, on the way of the data, or next to them: "
        "look_aside, or another word such as pcie_card",
        "interface_attachment",
        ATTACHMENTS,
        ("attachment",),
    )
    pcie: str | None = choice(
        "PCI Express link: gen1 to gen5, x1, x2, x4, x8 or x16",
        "interface_pcie",
        PCIE_LINKS,
        ("pcie",),
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


class InterfaceSection(amounts("interface", _Interface, "interface_")):  # type: ignore[misc]
    """Offload of work from the host: a device, fields that override it, or both."""


class _Budget(StudySection):
    platform: str | None = option("Platform by name (`dse list platforms`)", None)
    precision: Literal["single", "double"] | None = choice(
        "Precision of its operations", "budget_precision", PRECISIONS
    )


class BudgetSection(amounts("budget", _Budget, "budget_")):  # type: ignore[misc]
    """Surroundings of the cores: a platform, fields that override it, or both."""


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
