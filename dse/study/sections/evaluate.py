"""What measures the designs of a study: a program, a plug-in or a Python function."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Discriminator, Field, Tag

from dse.study.fields import Amount, Duration, StudySection, no_items, range_or_one


class OutputSection(StudySection):
    """A quantity that is measured."""

    word: ClassVar[str] = "output"

    unit: Annotated[str | int | None, Field(description="In which unit it is told; 1 for none")] = (
        None
    )
    expect: Annotated[
        str | None, Field(description="What it is expected to be: an expression over axes")
    ] = None


Output = Annotated[
    Annotated[OutputSection, Tag("range")] | Annotated[str | int | None, Tag("one")],
    Discriminator(range_or_one),
    Field(description="The unit in which it is told, `um2` say; `1` for a plain number"),
]


class EvaluateSection(StudySection):
    """What measures a design, and what it tells of it."""

    word: ClassVar[str] = "evaluator"

    command: Annotated[
        list[str | int | float] | None,
        Field(min_length=1, description="Program and arguments; {axis} stands for its value"),
    ] = None
    using: Annotated[
        str | None,
        Field(description="A plug-in of the group dse.evaluators, in place of a command"),
    ] = None
    outputs: Annotated[dict[str, Output], Field(description="Quantity -> unit")] = Field(
        default_factory=dict
    )
    timeout: Annotated[Amount, Duration("Longest that one attempt may take", "timeout_s")] = None
    retries: Annotated[int, Field(ge=0, le=100, description="Attempts after a failure")] = 0
    on_failure: Annotated[
        Literal["infeasible", "abort", "continue"],
        Field(description="A design that fails is infeasible, ends the search, or is left out"),
    ] = "infeasible"
    workers: Annotated[int, Field(ge=1, le=1000, description="Designs measured at once")] = 1
    files: Annotated[
        list[str], Field(description="Files whose content counts: other content, other values")
    ] = Field(default_factory=no_items)
    cost: Annotated[
        str | int | float | None,
        Field(description="What it costs to measure a design: an expression over axes and outputs"),
    ] = None
    version: Annotated[
        str | int | float | None, Field(description="Of what measures; another one, other values")
    ] = None
