"""The shape of a study file: a section each with its fields, and its JSON Schema."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import cache
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Discriminator, Field, Tag, WithJsonSchema, field_validator
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import core_schema

from dse import contract
from dse.algebra import units
from dse.contract import ATTACHMENTS, PCIE_LINKS, PRECISIONS, TRANSFERS, WAIT_MODES
from dse.errors import nearest
from dse.plugins import registry
from dse.study.field_kinds import (
    Amount,
    Coded,
    Given,
    Node,
    SectionOrName,
    StudySection,
    Uncertainty,
    Unit,
    Values,
    amounts,
    entries,
    fault,
    form,
    items,
    no_items,
    option,
    range_or_one,
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
    kernel: SectionOrName[KernelSection] = option("Kernel by name, or in place", None)
    chained: Annotated[
        bool,
        Field(description="Each task of a stream needs the one before it (CBC, for instance)"),
        Coded(("workload_chained",), ("false", "true")),
    ] = False


class WorkloadSection(amounts("workload", _Workload, "workload_")):  # type: ignore[misc]
    """Work to compute."""


class _Interface(StudySection):
    device: str | None = option("Interface by name (`dse list interfaces`)", None)
    host: str | None = option("Name of the host processor", None)
    attachment: Annotated[
        str | None, Coded(("interface_attachment",), ATTACHMENTS, ("attachment",))
    ] = option(
        "Place of the engine: `inline`, on the way of the data, or next to them: "
        "look_aside, or another word such as pcie_card",
        None,
    )
    pcie: Annotated[str | None, Coded(("interface_pcie",), PCIE_LINKS, ("pcie",))] = option(
        "PCI Express link: gen1 to gen5, x1, x2, x4, x8 or x16", None
    )
    includes: Literal["device"] | None = option(
        "`device`: its times hold the device's computing too (without `stages`)", None
    )
    wait: Annotated[
        Literal["sync", "sync_os", "async"] | None, Coded(("interface_wait",), WAIT_MODES)
    ] = option("How the host waits", None)
    transfer: Annotated[
        Literal["cut_through", "store_and_forward"] | None,
        Coded(("interface_transfer",), TRANSFERS),
    ] = option("Whether an offload is computed while it is transferred, or after", None)

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
    precision: Annotated[
        Literal["single", "double"] | None, Coded(("budget_precision",), PRECISIONS)
    ] = option("Precision of its operations", None)


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
    declared.columns[0]: declared.names
    for declared in DECLARED.values()
    if isinstance(declared, Coded)
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


class OutputSection(StudySection):
    """A quantity that is measured."""

    word: ClassVar[str] = "output"

    unit: str | int | None = option("Its unit, or 1 for none", None)
    least: int | float | str | None = option("Less is no value, but an accident", None)
    most: int | float | str | None = option("More is no value, but an accident", None)


Output = Annotated[
    Annotated[OutputSection, Tag("range")] | Annotated[str | int | None, Tag("one")],
    Discriminator(range_or_one),
    Field(description="Its unit, such as `um2`, or `1` for a plain number"),
]


class InfeasibleSection(StudySection):
    """Report of an infeasible design by its evaluator, which is a fact and no accident."""

    word: ClassVar[str] = "sign of an infeasible design"

    exit: Annotated[
        Annotated[int, Field(ge=1, le=255)] | list[Annotated[int, Field(ge=1, le=255)]],
        Field(description="Exit statuses of an infeasible design"),
    ] = Field(default_factory=no_items)


class EvaluateSection(StudySection):
    """Evaluator of a design, and its outputs."""

    word: ClassVar[str] = "evaluator"

    command: list[str | int | float] | None = option(
        "Program and arguments, with {axis} in place of its value", None, min_length=1
    )
    function: str | None = option(
        "A function of a file in its folder, `model.py:area`, in place of a command", None
    )
    outputs: dict[str, Output] = entries("Quantity -> unit")
    timeout: Annotated[
        Amount, Unit("Longest that one attempt may take", ("timeout_s",), ("duration",))
    ] = None
    memory: Annotated[
        Amount, Unit("Most memory of each of its processes (default: all)", ("memory_byte",))
    ] = None
    infeasible: InfeasibleSection | None = option("Its sign of an infeasible design", None)
    files: list[str] = items("Files whose content counts: other content, other values")
    version: str | int | float | None = option(
        "Version of the evaluator: another version, other values", None
    )

    retries: int = option("Attempts after an accident", 1, ge=0, le=100)
    stop_at_failures: int = option(
        "Accidents among 20 designs that end a run (0: never)", 10, ge=0, le=20
    )
    workers: int = option("Designs measured at once", 1, ge=1, le=1000)


Columns = Annotated[
    dict[str, str],
    Field(description="Names of columns: name with its unit -> header in the file"),
]


class StageSection(StudySection):
    """One fleet of the chain: instances of designs of one core family, or of one table."""

    word: ClassVar[str] = "stage"

    core: str | None = option("Core family, `dse list` shows them", None)
    table: str | None = option(
        "CSV file of designs, in the folder of the study, in place of `core`", None
    )
    provides: str | None = option("A function, in place of `core`: all cores that provide it", None)
    node: Annotated[
        Annotated[list[Node], Tag("list")] | Annotated[Node | None, Tag("one")],
        Discriminator(form),
        Field(description="Their nodes, such as 65 nm (default: all)"),
    ] = None
    evidence: list[Literal["synthesis", "placed", "measured", "vendor"]] | None = option(
        "Accepted origins of their values (default: all)", None, min_length=1
    )
    among: list[str] | None = option(
        "Cores and records to take (default: all cores)", None, min_length=1
    )
    scale_to: Node | None = option("Node that their areas are scaled to, such as 7 nm", None)
    columns: Columns = Field(default_factory=dict)
    values: dict[str, int | float | str] = entries(
        "Values that the table lacks, the same for every design"
    )
    figures: Literal["placed", "synthesised"] = Field(
        "placed",
        alias="as",
        description="Values of our own mapped gates: scaled to placed designs, or as mapped",
    )
    uncertainty: Uncertainty
    name: str | None = option(
        "Prefix of its columns (default: the core)", None, pattern=r"^[A-Za-z][A-Za-z0-9_]*$"
    )
    model: str = option("table, law, or their published form", "table")
    designs: list[str] | None = option("Designs to consider (default: all)", None, min_length=1)
    parameters: dict[str, Values] = entries(
        "Values of a law's parameters, of options, or of columns of a table"
    )
    fleet: Literal["single", "mixed"] = option(
        "One design per fleet, or any mix of designs", "single"
    )
    instances: Values | None = option(
        "Number, of each design if mixed: `least` carries the rate with the fewest", None
    )
    counts: dict[str, Annotated[int, Field(ge=0)]] | None = option(
        "A fixed fleet: design -> instances", None, min_length=1
    )
    clock: Values | None = option(
        "`meet` the rate, fractions of the top clock to run at, or a cap: `50 MHz`", None
    )
    idle: Literal["gated", "clocked"] = option(
        "Whether the clock of idle pipelines is gated, or they switch like busy", "gated"
    )

    @property
    def takes_least(self) -> bool:
        """Return whether it has the fewest instances that carry the rate."""
        return self.counts is None and self.instances in (None, "least")

    @field_validator("designs", mode="before")
    @classmethod
    def _one_design(cls, written: Any) -> Any:
        single = isinstance(written, str | int | float) and not isinstance(written, bool)
        return [str(written)] if single else written


class DesignsSection(StudySection):
    """Designs that are evaluated already: a row each, with any parameters and any metrics."""

    table: str = Field(description="CSV file, in the folder of the study")
    columns: Columns = Field(default_factory=dict)
    parameters: dict[str, Values] = entries("Values of columns to consider (default: all)")
    only: list[str | int | float] | None = option(
        "Designs to consider, by name (default: all)", None, min_length=1
    )
    uncertainty: Uncertainty


class SpendingSection(StudySection):
    """Limits of a search."""

    word: ClassVar[str] = "budget of a search"

    designs: int | None = option("Most designs to evaluate", None, ge=1)
    time: Annotated[
        Amount,
        Unit("Time in which designs are measured, of the whole run", ("time_s",), ("duration",)),
    ] = None


class SearchSection(StudySection):
    """Settings of the search for the front."""

    method: str = option("Search method (`dse list methods`)", "exact")
    budget: Annotated[
        Annotated[SpendingSection, Tag("range")] | Annotated[int | None, Tag("one"), Field(ge=1)],
        Discriminator(range_or_one),
        Field(description="Most designs to evaluate, or {designs: 100, time: 2 h}"),
    ] = None
    seed: int = option("Same seed, same front", 1, ge=0, lt=2**32)
    population: int | None = Field(default=None, ge=2, le=100_000)
    effort: Annotated[
        Amount,
        Unit("CPU time that a proof may take, after which the front so far counts", ("effort_s",)),
    ] = None
    memory: Annotated[Amount, Unit("Memory that a proof may take", ("memory_byte",))] = None
    options: dict[str, bool | int | float | str] = entries(
        "Options of the method (`dse list METHOD`)"
    )

    @property
    def spending(self) -> SpendingSection:
        """Return the budget in either written form."""
        found = self.budget
        return found if isinstance(found, SpendingSection) else SpendingSection(designs=found)


SENSES = {"minimize": "minimise", "maximize": "maximise", "min": "minimise", "max": "maximise"}
"""Other words for the senses of an objective."""

Sense = Annotated[
    Literal["minimise", "maximise"],
    BeforeValidator(lambda said: SENSES.get(said, said) if isinstance(said, str) else said),
    WithJsonSchema({"type": "string", "enum": ["minimise", "maximise", *SENSES]}),
]


class StudyFile(StudySection):
    """A question about accelerator cores: building blocks, objectives and constraints."""

    word: ClassVar[str] = "study"

    question: str | None = option("The question in plain words", None)
    workload: WorkloadSection = Field(default_factory=WorkloadSection)
    stages: list[StageSection] = Field(default_factory=no_items)
    designs: SectionOrName[DesignsSection] = option(
        "CSV file of designs: evaluated already, or those that `evaluate` measures", None
    )
    evaluate: EvaluateSection | None = option("Evaluator of designs, outside this program", None)
    interface: InterfaceSection | None = None
    budget: BudgetSection = Field(default_factory=BudgetSection)
    axes: dict[str, Values] = entries("Open choices: field, or name in a measured study -> values")
    objectives: dict[str, Sense] = Field(
        min_length=1, description="Quantity -> minimise or maximise"
    )
    constraints: list[str] = items("Bounds with units (`power <= 30 mW`) and expressions in SI")
    prefer: str | None = option(
        "Rule for the recommended design of the front (`dse answer --help`)", None
    )
    tolerance: str | int | float | None = option(
        "Share of the best within which the other objectives decide: 1 %", None
    )
    search: SearchSection = Field(default_factory=SearchSection)
    sweep: dict[str, Values] = entries(
        "One field and its values, for each of which the study runs", max_length=1
    )

    def place(self, path: str) -> tuple[str | int, ...]:
        """Return the path of a field such as ``workload.rate``: in `axes`, or in its section."""
        section, _, name = path.partition(".")
        return ("axes", path) if path in self.axes else (section, name)

    def gives(self, path: str) -> bool:
        """Return whether a field is written in its section, or in `axes`."""
        section, _, name = path.partition(".")
        return path in self.axes or getattr(getattr(self, section), name, None) is not None


class _ForEditors(GenerateJsonSchema):
    """A schema without defaults that are null: a language server offers no keys with them."""

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> dict[str, Any]:
        """Return the schema of a field, with its default if that is a value."""
        found = super().default_schema(schema)
        return {key: said for key, said in found.items() if (key, said) != ("default", None)}


WITH_NAMES = (
    ("StageSection", "core", contract.Core),
    ("StageSection", "provides", contract.functions.Function),
    ("InterfaceSection", "device", contract.Interface),
    ("BudgetSection", "platform", contract.Platform),
    ("WorkloadSection", "kernel", contract.Kernel),
    ("SearchSection", "method", contract.Method),
)
"""Fields that name a record of a kind."""


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of a study, with the names that are installed as examples."""
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    found = StudyFile.model_json_schema(by_alias=True, schema_generator=_ForEditors)
    for section, name, kind in WITH_NAMES:
        found["$defs"][section]["properties"][name]["examples"] = [*registry.names(kind)]
    goals = found["properties"]["objectives"]
    names = (units.stem(name) or name for name in registry.names(contract.Objective))
    goals["properties"] = dict.fromkeys(sorted(names), goals["additionalProperties"])
    return head | found
