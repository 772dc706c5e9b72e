"""What surrounds the cores."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from dse.study.fields import Amount, StudySection, Unit


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
