"""How to look for the front, and for how long."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Discriminator, Field, Tag

from dse.study.fields import Amount, Duration, StudySection, Unit, range_or_one


class SpendingSection(StudySection):
    """What a search may take."""

    word: ClassVar[str] = "budget of a search"

    designs: Annotated[int | None, Field(ge=1, description="Most designs to evaluate")] = None
    time: Annotated[
        Amount, Duration("Time in which designs are measured, of the whole run", "time_s")
    ] = None
    cost: Annotated[
        str | int | float | None,
        Field(description="Sum of `evaluate.cost` of the designs measured, of the whole run"),
    ] = None


class SearchSection(StudySection):
    """How to look for the front."""

    method: Annotated[str, Field(description="Search method; `dse list methods`")] = "exact"
    budget: Annotated[
        Annotated[SpendingSection, Tag("range")] | Annotated[int | None, Tag("one"), Field(ge=1)],
        Discriminator(range_or_one),
        Field(description="Most designs to evaluate; or {designs: 100, time: 2 h, cost: 500}"),
    ] = None
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

    @property
    def tolerant(self) -> bool:
        """Whether a design that cannot be evaluated is infeasible, and no error."""
        return self.on_failure == "infeasible"

    @property
    def spending(self) -> SpendingSection:
        """The budget, however it is written."""
        found = self.budget
        return found if isinstance(found, SpendingSection) else SpendingSection(designs=found)
