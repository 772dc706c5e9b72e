"""The shape of a study file, as pydantic models; ``dse schema`` prints their JSON Schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Discriminator, Field, Tag, field_validator

from dse.contract import PCIE_LINKS, PRECISIONS, TRANSFERS, WAIT_MODES
from dse.study.fields import StudySection, Unit, Values, form, no_items, unit_of
from dse.study.sections.budget import BudgetSection
from dse.study.sections.evaluate import EvaluateSection, InfeasibleSection, OutputSection
from dse.study.sections.interface import InterfaceSection
from dse.study.sections.search import SearchSection
from dse.study.sections.stages import DesignsSection, StageSection
from dse.study.sections.workload import KernelSection, WorkloadSection

__all__ = [
    "CHOICES",
    "FIELDS",
    "FREE",
    "RECORDS",
    "SECTIONS",
    "BudgetSection",
    "DesignsSection",
    "EvaluateSection",
    "InfeasibleSection",
    "InterfaceSection",
    "KernelSection",
    "OutputSection",
    "SearchSection",
    "StageSection",
    "StudyFile",
    "WorkloadSection",
    "code",
    "json_schema",
]

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


Sense = Literal["minimise", "maximise"]


class StudyFile(StudySection):
    """A question about accelerator cores: what to build it from, and what counts."""

    word: ClassVar[str] = "study"

    question: Annotated[str | None, Field(description="The question in plain words")] = None
    workload: WorkloadSection = Field(default_factory=WorkloadSection)
    stages: list[StageSection] = Field(default_factory=no_items)
    designs: Annotated[
        Annotated[DesignsSection, Tag("range")] | Annotated[str | None, Tag("one")],
        Discriminator(form),
        Field(description="CSV file of designs evaluated already, in place of `stages`"),
    ] = None
    evaluate: Annotated[
        EvaluateSection | None, Field(description="What measures designs, outside this program")
    ] = None
    interface: InterfaceSection | None = None
    budget: BudgetSection = Field(default_factory=BudgetSection)
    axes: Annotated[
        dict[str, Values],
        Field(description="What is left open: field, or name of what is measured -> values"),
    ] = Field(default_factory=dict)
    objectives: Annotated[
        dict[str, Sense], Field(min_length=1, description="Quantity -> minimise or maximise")
    ]
    constraints: Annotated[
        list[str],
        Field(description="Bounds with units (`power <= 30 mW`) and expressions in SI"),
    ] = Field(default_factory=no_items)
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
}
"""Columns that hold a choice as its position among the names."""


def code(column: str, written: str) -> float:
    """Return the number by which a column holds a choice such as ``async``."""
    return float(CHOICES[column].index(written))


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of a study."""
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return head | StudyFile.model_json_schema(by_alias=True)
