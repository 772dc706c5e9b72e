"""What a chain is built from: fleets of cores, or designs that are evaluated already."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Discriminator, Field, Tag, field_validator

from dse.study.fields import StudySection, Uncertainty, Values, form
from dse.study.sections.evaluate import EvaluateSection

Columns = Annotated[
    dict[str, str],
    Field(description="What columns are to be called: name with its unit -> header in the file"),
]


class StageSection(StudySection):
    """One fleet of the chain: instances of designs of one core family, or of one table."""

    word: ClassVar[str] = "stage"

    core: Annotated[
        Annotated[EvaluateSection, Tag("range")] | Annotated[str | None, Tag("one")],
        Discriminator(form),
        Field(description="Core family, `dse list` shows them; or what measures its designs"),
    ] = None
    table: Annotated[
        str | None, Field(description="CSV file of designs, beside the study, in place of `core`")
    ] = None
    provides: Annotated[
        str | None,
        Field(description="A function, in place of `core`: all cores that provide it"),
    ] = None
    node: Annotated[
        str | list[str] | None, Field(description="Their nodes, such as 65 nm; all of them")
    ] = None
    evidence: Annotated[
        list[Literal["synthesis", "placed", "measured", "vendor"]] | None,
        Field(min_length=1, description="What their figures may be; anything"),
    ] = None
    among: Annotated[
        list[str] | None,
        Field(min_length=1, description="Cores, records and tables to take; all cores"),
    ] = None
    scale_to: Annotated[
        str | None, Field(description="Node that their areas are scaled to, such as 7 nm")
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
