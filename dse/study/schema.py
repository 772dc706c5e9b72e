"""The shape of a study file, as pydantic models; ``dse schema`` prints their JSON Schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Discriminator, Field, Tag, field_validator

from dse.contract import PCIE_LINKS, PRECISIONS, TRANSFERS, WAIT_MODES
from dse.errors import nearest
from dse.study.fields import (
    Amount,
    Given,
    StudySection,
    Uncertainty,
    Unit,
    Values,
    fault,
    form,
    unit_of,
)
from dse.study.sizes import Sizes

PACKET_SIZES = (128.0, 256.0, 512.0, 1024.0, 2048.0, 4096.0)
"""What PCI Express allows as the largest payload and the largest read request, in B."""


class KernelSection(StudySection):
    """Time of the computation on the host, defined in place: offset + index * g ** exponent."""

    index: Annotated[Given, Unit("Host time per byte (LogCA's C)", "kernel_index_s_per_byte")]
    exponent: Annotated[Given, Unit("Complexity exponent (LogCA's beta)", "kernel_exponent")] = (
        Given(column="kernel_exponent", value=1.0)
    )
    offset: Annotated[Given, Unit("Fixed host time per call", "kernel_offset_s", zero=True)] = (
        Given(column="kernel_offset_s", value=0.0)
    )


class WorkloadSection(StudySection):
    """What has to be computed."""

    rate: Annotated[
        Amount, Unit("Payload rate demanded of every design", "workload_rate_bit_per_s")
    ] = None
    task_rate: Annotated[
        Amount,
        Unit(
            "Tasks demanded per second, each of them one offload: it stands for `rate`",
            "workload_task_rate_task_per_s",
        ),
    ] = None
    granularity: Annotated[
        Amount,
        Sizes(
            "Size of one offload (LogCA's g), or a mix: each size with its share of all offloads",
            "workload_granularity_byte",
            integer=True,
        ),
    ] = None
    offload_above: Annotated[
        Amount,
        Unit(
            "Sizes of a mix up to this one stay on the host, those above it are offloaded; 0 B "
            "offloads all",
            "workload_offload_above_byte",
            integer=True,
            zero=True,
        ),
    ] = None
    arrivals: Annotated[
        Amount,
        Unit(
            "How offloads arrive: steady (where it is left out), poisson, or the squared "
            "coefficient of variation of the gaps between them, {cv2: 4}",
            "workload_arrival_cv2",
            zero=True,
            words={"steady": 0.0, "poisson": 1.0},
            key="cv2",
        ),
    ] = None
    kernel: Annotated[
        Annotated[KernelSection, Tag("range")] | Annotated[str | None, Tag("one")],
        Discriminator(form),
        Field(description="Kernel by name, or in place"),
    ] = None
    streams: Annotated[
        Amount, Unit("Independent streams of tasks", "workload_streams", integer=True)
    ] = None
    chained: Annotated[
        bool,
        Field(description="Each task of a stream needs the one before it (CBC, for instance)"),
    ] = False
    program_share: Annotated[
        Amount,
        Unit(
            "Share of a program's host time that the kernel takes, up to 1 (Accelerometer's alpha)",
            "workload_program_share",
        ),
    ] = None
    program_offloads: Annotated[
        Amount,
        Unit(
            "Its calls of the kernel in a second of host time (Accelerometer's n / C)",
            "workload_program_offloads_hz",
        ),
    ] = None
    intensity: Annotated[
        Amount,
        Unit(
            "Operations per byte of memory traffic, for studies of platforms",
            "workload_intensity_op_per_byte",
        ),
    ] = None


Columns = Annotated[
    dict[str, str],
    Field(description="What columns are to be called: name with its unit -> header in the file"),
]


class StageSection(StudySection):
    """One fleet of the chain: instances of designs of one core family, or of one table."""

    word: ClassVar[str] = "stage"

    core: Annotated[str | None, Field(description="Core family; `dse list` shows them")] = None
    table: Annotated[
        str | None, Field(description="CSV file of designs, beside the study, in place of `core`")
    ] = None
    columns: Columns = Field(default_factory=dict)
    values: Annotated[
        dict[str, int | float | str],
        Field(description="Figures that the table lacks, the same for every design"),
    ] = Field(default_factory=dict)
    uncertainty: Uncertainty
    name: Annotated[
        str | None,
        Field(pattern=r"^[A-Za-z][A-Za-z0-9_]*$", description="Prefix of its columns; the core"),
    ] = None
    model: Annotated[str, Field(description="table, law, or their published form")] = "table"
    designs: Annotated[
        list[str] | None, Field(min_length=1, description="Designs to consider; all of them")
    ] = None
    parameters: Annotated[
        dict[str, Values],
        Field(description="Values of a law's parameters, of options, or of columns of a table"),
    ] = Field(default_factory=dict)
    fleet: Annotated[
        Literal["single", "mixed"],
        Field(description="One design per fleet, or any mix of designs"),
    ] = "single"
    instances: Annotated[
        Values | None,
        Field(description="How many; `least` carries the rate with the fewest; of each if mixed"),
    ] = None
    counts: Annotated[
        dict[str, Annotated[int, Field(ge=0)]] | None,
        Field(min_length=1, description="A fixed fleet: design -> instances"),
    ] = None
    clock: Annotated[
        Values | None, Field(description="`meet` the rate, or fractions of the top clock to run at")
    ] = None
    idle: Annotated[
        Literal["gated", "clocked"],
        Field(description="Whether the clock of idle pipelines is gated, or they switch like busy"),
    ] = "gated"

    @field_validator("designs", mode="before")
    @classmethod
    def _one_design(cls, written: Any) -> Any:
        single = isinstance(written, str | int | float) and not isinstance(written, bool)
        return [str(written)] if single else written


class DesignsSection(StudySection):
    """Designs that are evaluated already: a row each, with any parameters and any metrics."""

    table: Annotated[str, Field(description="CSV file, beside the study")]
    columns: Columns = Field(default_factory=dict)
    parameters: Annotated[
        dict[str, Values], Field(description="Values of columns to consider; all of them")
    ] = Field(default_factory=dict)
    only: Annotated[
        list[str | int | float] | None,
        Field(min_length=1, description="Designs to consider, by name; all of them"),
    ] = None
    uncertainty: Uncertainty


class InterfaceSection(StudySection):
    """How the host hands work to the accelerators: a device, fields that override it, or both."""

    device: Annotated[str | None, Field(description="Interface by name; `dse list` shows them")] = (
        None
    )
    host: Annotated[str | None, Field(description="Name of the host processor")] = None
    host_clock: Annotated[Amount, Unit("Clock of the host", "interface_host_clock_hz")] = None
    overhead: Annotated[
        Amount,
        Unit(
            "Host time to set up one offload (LogCA's o)",
            "interface_overhead_cycles",
            "interface_overhead_s",
            zero=True,
        ),
    ] = None
    latency: Annotated[
        Amount,
        Unit(
            "Time to cross the interface (LogCA's L), fixed or per byte",
            "interface_latency_cycles",
            "interface_latency_s",
            "interface_latency_cycles_per_byte",
            "interface_latency_s_per_byte",
            zero=True,
        ),
    ] = None
    switch: Annotated[
        Amount,
        Unit(
            "One thread switch, for wait: sync_os",
            "interface_switch_cycles",
            "interface_switch_s",
            zero=True,
        ),
    ] = None
    link: Annotated[
        Amount,
        Unit("Bandwidth of the link", "interface_link_byte_per_s", "interface_link_byte_per_cycle"),
    ] = None
    overhead_plus_latency: Annotated[
        Amount,
        Unit(
            "Sum of overhead and latency, where only that is known",
            "interface_overhead_plus_latency_cycles",
            "interface_overhead_plus_latency_s",
            zero=True,
        ),
    ] = None
    overhead_share: Annotated[
        Amount, Unit("Share of that sum which is overhead, up to 1", "interface_overhead_share")
    ] = None
    pcie: Annotated[
        str | None, Field(description="PCI Express link: gen1 to gen5, x1, x2, x4, x8 or x16")
    ] = None
    max_payload: Annotated[
        Amount,
        Unit(
            "Most payload of a PCI Express packet", "interface_max_payload_byte", among=PACKET_SIZES
        ),
    ] = None
    max_read_request: Annotated[
        Amount,
        Unit(
            "Most that one PCI Express read asks for",
            "interface_max_read_request_byte",
            among=PACKET_SIZES,
        ),
    ] = None
    completion: Annotated[
        Amount,
        Unit(
            "Payload at which the host cuts completions, if below the maximum payload",
            "interface_completion_byte",
            among=(64.0, *PACKET_SIZES),
        ),
    ] = None
    descriptors: Annotated[
        Amount,
        Unit("Descriptors of one offload", "interface_descriptors", integer=True, zero=True),
    ] = None
    batch: Annotated[
        Amount,
        Unit("Offloads that share a doorbell and an interrupt", "interface_batch", integer=True),
    ] = None
    round_trip: Annotated[
        Amount, Unit("Time of a read across the link", "interface_round_trip_s", zero=True)
    ] = None
    wait: Annotated[
        Literal["sync", "sync_os", "async"] | None, Field(description="How the host waits")
    ] = None
    transfer: Annotated[
        Literal["cut_through", "store_and_forward"] | None,
        Field(description="Whether an offload is computed while it is transferred, or after"),
    ] = None
    in_flight: Annotated[
        Amount, Unit("Concurrent offloads", "interface_in_flight", integer=True)
    ] = None
    max_in_flight: Annotated[
        Amount, Unit("Most concurrent offloads", "interface_max_in_flight", integer=True)
    ] = None
    host_cores: Annotated[Amount, Unit("Cores of the host", "interface_host_cores")] = None
    host_power: Annotated[Amount, Unit("Power of the whole host", "interface_host_power_w")] = None
    buffer_area: Annotated[
        Amount, Unit("Area of buffer memory", "interface_buffer_area_m2_per_bit", zero=True)
    ] = None
    buffer_leakage: Annotated[
        Amount, Unit("Leakage of buffer memory", "interface_buffer_leakage_w_per_bit", zero=True)
    ] = None

    idle_power: Annotated[
        Amount,
        Unit("Power that the attachment draws anyway", "interface_idle_power_w", zero=True),
    ] = None
    transfer_energy: Annotated[
        Amount,
        Unit(
            "Energy to move a byte of payload in, and its result out",
            "interface_transfer_j_per_byte",
            zero=True,
        ),
    ] = None
    attachment_area: Annotated[
        Amount, Unit("Silicon area of the attachment", "interface_attachment_area_m2", zero=True)
    ] = None

    @field_validator("pcie")
    @classmethod
    def _known_link(cls, written: str | None) -> str | None:
        if written is not None and written not in PCIE_LINKS:
            rule = "PCI Express links are gen1 to gen5 with x1, x2, x4, x8 or x16 lanes"
            raise fault(rule, nearest(written, PCIE_LINKS))
        return written


class BudgetSection(StudySection):
    """What surrounds the cores: a platform, fields that override it, or both."""

    platform: Annotated[str | None, Field(description="Platform by name; `dse list`")] = None
    precision: Annotated[
        Literal["single", "double"] | None, Field(description="Precision of its operations")
    ] = None
    power_cap: Annotated[
        Amount,
        Unit(
            "Execution slows so that constant and usable power stay under it", "budget_power_cap_w"
        ),
    ] = None
    constant_power: Annotated[
        Amount, Unit("Power drawn whatever happens", "budget_constant_power_w", zero=True)
    ] = None
    memory_bandwidth: Annotated[
        Amount, Unit("Bandwidth of the memory", "budget_memory_byte_per_s")
    ] = None
    memory_energy: Annotated[
        Amount, Unit("Energy of moving a byte", "budget_memory_j_per_byte", zero=True)
    ] = None
    copies: Annotated[Amount, Unit("Platforms side by side", "budget_copies", integer=True)] = None
    cap_divisor: Annotated[
        Amount, Unit("Divides the power usable above constant power", "budget_cap_divisor")
    ] = None


SECTIONS: Mapping[str, type[StudySection]] = {
    "workload": WorkloadSection,
    "interface": InterfaceSection,
    "budget": BudgetSection,
}
"""The sections whose fields may be axes."""

FIELDS: Mapping[str, Unit | None] = {
    f"{section}.{name}": unit_of(model, name)
    for section, model in SECTIONS.items()
    for name in model.model_fields
}
"""The fields of these sections by dotted path, each with what it carries; None for a choice."""


RECORDS: Mapping[str, str] = {"interface": "device", "budget": "platform"}
"""The field by which a section names a record, whose fields it may override."""

FREE = frozenset(
    {
        "workload.granularity",
        "interface.in_flight",
        "interface.transfer",
        "interface.pcie",
        "interface.batch",
        "budget.copies",
        "budget.cap_divisor",
    }
)
"""How a device or platform is used, which is a choice whatever its record says."""


class SearchSection(StudySection):
    """How to look for the front."""

    method: Annotated[str, Field(description="Search method; `dse list methods`")] = "exact"
    budget: Annotated[int | None, Field(ge=1, description="Most designs to evaluate")] = None
    seed: Annotated[int, Field(ge=0, lt=2**32, description="Same seed, same front")] = 1
    population: Annotated[int | None, Field(ge=2, le=100_000)] = None
    effort: Annotated[
        Amount, Unit("CPU time that a proof may take; then the front so far counts", "effort_s")
    ] = None
    memory: Annotated[Amount, Unit("Memory that a proof may take", "memory_byte")] = None
    on_failure: Annotated[
        Literal["stop", "infeasible"],
        Field(description="What a design is that cannot be evaluated: an error, or infeasible"),
    ] = "stop"
    compiled: Annotated[
        Literal["auto", "yes", "no"],
        Field(
            description="Whether machine code evaluates all designs: where it pays, always, never"
        ),
    ] = "auto"
    warm_start: Annotated[
        bool, Field(description="Begin a heuristic with corners and a coarse grid of the space")
    ] = True
    options: Annotated[
        dict[str, bool | int | float | str],
        Field(description="Options of the method; `dse show METHOD` tells them"),
    ] = Field(default_factory=dict)


Sense = Literal["minimise", "maximise"]


class StudyFile(StudySection):
    """A question about accelerator cores: what to build it from, and what counts."""

    word: ClassVar[str] = "study"

    question: Annotated[str | None, Field(description="The question in plain words")] = None
    workload: WorkloadSection = Field(default_factory=WorkloadSection)
    stages: list[StageSection] = Field(default_factory=list)
    designs: Annotated[
        Annotated[DesignsSection, Tag("range")] | Annotated[str | None, Tag("one")],
        Discriminator(form),
        Field(description="CSV file of designs evaluated already, in place of `stages`"),
    ] = None
    interface: InterfaceSection | None = None
    budget: BudgetSection = Field(default_factory=BudgetSection)
    axes: Annotated[
        dict[str, Values],
        Field(description="Fields left open: dotted path -> values, for interface.in_flight"),
    ] = Field(default_factory=dict)
    objectives: Annotated[
        dict[str, Sense], Field(min_length=1, description="Quantity -> minimise or maximise")
    ]
    constraints: Annotated[
        list[str],
        Field(description="Bounds with units (`power <= 30 mW`) and expressions in SI"),
    ] = Field(default_factory=list)
    prefer: Annotated[
        str | None,
        Field(description="Which design of the front is recommended; `dse answer --help`"),
    ] = None
    tolerance: Annotated[
        str | int | float | None,
        Field(description="Share of the best within which the other objectives decide: 1 %"),
    ] = None
    search: SearchSection = Field(default_factory=SearchSection)
    sweep: Annotated[
        dict[str, Values],
        Field(max_length=1, description="One field and its values; the study runs for each"),
    ] = Field(default_factory=dict)

    @field_validator("objectives", mode="before")
    @classmethod
    def _american_spelling(cls, written: Any) -> Any:
        if not isinstance(written, dict):
            return written
        spelling = {"minimize": "minimise", "maximize": "maximise"}
        spelling |= {"min": "minimise", "max": "maximise"}
        return {
            name: spelling.get(sense, sense) if isinstance(sense, str) else sense
            for name, sense in written.items()
        }


CHOICES: Mapping[str, tuple[str, ...]] = {
    "interface_wait": WAIT_MODES,
    "interface_transfer": TRANSFERS,
    "interface_pcie": PCIE_LINKS,
    "budget_precision": PRECISIONS,
    "workload_chained": ("false", "true"),
    "workload_meet": ("false", "true"),
    "workload_common": ("false", "true"),
}
"""Columns that hold a choice as its position among the names."""


def code(column: str, written: str) -> float:
    """Return the number by which a column holds a choice such as ``async``."""
    return float(CHOICES[column].index(written))


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of a study."""
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return head | StudyFile.model_json_schema(by_alias=True)
