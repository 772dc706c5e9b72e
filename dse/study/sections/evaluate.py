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
    least: Annotated[
        int | float | str | None, Field(description="Less is no value, but an accident")
    ] = None
    most: Annotated[
        int | float | str | None, Field(description="More is no value, but an accident")
    ] = None
    expect: Annotated[
        str | None, Field(description="What it is expected to be: an expression over axes")
    ] = None


Output = Annotated[
    Annotated[OutputSection, Tag("range")] | Annotated[str | int | None, Tag("one")],
    Discriminator(range_or_one),
    Field(description="The unit in which it is told, `um2` say; `1` for a plain number"),
]


Word = str | int | float


class InfeasibleSection(StudySection):
    """How what measures says that a design is infeasible, which is a fact and no accident."""

    word: ClassVar[str] = "sign of an infeasible design"

    exit: Annotated[
        Annotated[int, Field(ge=1, le=255)] | list[Annotated[int, Field(ge=1, le=255)]],
        Field(description="Exit statuses that say so"),
    ] = Field(default_factory=no_items)
    output: Annotated[
        dict[str, Word | list[Word]],
        Field(description="Name -> what is written of it where a design is infeasible"),
    ] = Field(default_factory=dict)


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
    infeasible: Annotated[
        InfeasibleSection | None, Field(description="How it says that a design is infeasible")
    ] = None
    retries: Annotated[int, Field(ge=0, le=100, description="Attempts after an accident")] = 1
    on_failure: Annotated[
        Literal["continue", "abort"],
        Field(description="After an accident the search goes on without the design, or ends"),
    ] = "continue"
    stop_at_failures: Annotated[
        int, Field(ge=0, le=20, description="Accidents among 20 designs that end a run; 0: never")
    ] = 10
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
