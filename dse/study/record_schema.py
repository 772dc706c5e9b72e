"""The shape of a record file: cores, interfaces, kernels and platforms of a user's own."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from dse.study import schema
from dse.study.core_law import Form
from dse.study.fields import Amount, StudySection, Uncertainty, Unit, no_items

Name = Annotated[
    str,
    Field(pattern=r"^[A-Za-z][A-Za-z0-9_]*$", description="What results call it"),
]
Text = Annotated[str, Field(description="In plain words")]
Fields = Annotated[list[str], Field(default_factory=no_items)]


Provides = Annotated[
    list[Name],
    Field(default_factory=no_items, description="Functions that it computes, `dse list functions`"),
]


class SureEntry(StudySection):
    """How far the figures of a record can be trusted."""

    assumptions: Annotated[Fields, Field(description="Fields that are assumed, not measured")]
    fitted: Annotated[Fields, Field(description="Fields that are fitted to measurements")]
    uncertainty: Uncertainty


class ParameterEntry(StudySection):
    """A parameter of a law, and the range on which the law was fitted."""

    low: Annotated[float, Field(allow_inf_nan=False, description="Least value fitted on")]
    high: Annotated[float, Field(allow_inf_nan=False, description="Largest value fitted on")]
    integer: Annotated[bool, Field(description="Whether it takes whole numbers only")] = False
    description: Text = ""


class LawEntry(StudySection):
    """A quantity as a function of parameters."""

    form: Form
    over: Annotated[
        list[str],
        Field(default_factory=no_items, max_length=2, description="Parameters it depends on"),
    ]
    coefficients: Annotated[
        list[float | str],
        Field(min_length=1, description="With units; exponents and rates of growth have none"),
    ]


class CoreEntry(StudySection):
    """A family of cores, given by laws."""

    name: Name
    provides: Provides
    node: Text = ""
    evidence: Literal["", "synthesis", "placed", "measured", "vendor"] = ""
    summary: Text = ""
    source: Text = ""
    note: Text = ""
    uncertainty: Uncertainty
    parameters: Annotated[dict[Name, ParameterEntry], Field(min_length=1, max_length=2)]
    laws: Annotated[
        dict[str, LawEntry | float | str],
        Field(description="Quantity -> law, or one value for all designs"),
    ]


class InterfaceEntry(SureEntry, schema.InterfaceSection):
    """An interface; the fields of a study's section, and where it comes from."""

    name: Name
    attachment: Text = ""
    source: Text = ""
    note: Text = ""


class KernelEntry(SureEntry, schema.KernelSection):
    """Time on the host; the fields of a study's kernel, and where it comes from."""

    name: Name
    provides: Provides
    host: Text = ""
    source: Text = ""


class PlatformEntry(SureEntry):
    """What surrounds the cores: memory, constant power and a power cap (energy roofline)."""

    name: Name
    processor: Text = ""
    source: Text = ""
    constant_power: Annotated[
        Amount, Unit("Drawn whatever happens", "constant_power_w", zero=True)
    ] = None
    usable_power: Annotated[Amount, Unit("May be spent above constant power", "usable_power_w")] = (
        None
    )
    memory_bandwidth: Annotated[Amount, Unit("Bandwidth of the memory", "memory_byte_per_s")] = None
    memory_energy: Annotated[
        Amount, Unit("Energy of moving a byte", "memory_j_per_byte", zero=True)
    ] = None
    single_rate: Annotated[Amount, Unit("Operations in single precision", "single_op_per_s")] = None
    single_energy: Annotated[
        Amount, Unit("Energy of one of them", "single_j_per_op", zero=True)
    ] = None
    double_rate: Annotated[Amount, Unit("Operations in double precision", "double_op_per_s")] = None
    double_energy: Annotated[
        Amount, Unit("Energy of one of them", "double_j_per_op", zero=True)
    ] = None


class Record(StudySection):
    """A record file: what a study can use, and where it comes from."""

    word: ClassVar[str] = "record"

    core: CoreEntry | None = None
    interface: InterfaceEntry | None = None
    kernel: KernelEntry | None = None
    platform: PlatformEntry | None = None
    provenance: Annotated[
        dict[str, Any],
        Field(
            default_factory=dict,
            description="File, sha256, date, method, range and residuals of the data behind it",
        ),
    ]
