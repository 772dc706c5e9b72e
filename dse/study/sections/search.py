"""How to look for the front, and for how long."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from dse.study.fields import Amount, StudySection, Unit


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

    @property
    def tolerant(self) -> bool:
        """Whether a design that cannot be evaluated is infeasible, and no error."""
        return self.on_failure == "infeasible"
