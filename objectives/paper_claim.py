"""What the claims about LogCA and the energy roofline share."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import TypedDict

from dse.contract.papers import ClaimValue, Laboratory

Ours = Callable[[Laboratory], ClaimValue]

NONE = "does not exist"
"""The answer for a granularity that no offload has."""


class Rounded(TypedDict):
    """A printed number and the relative error that its rounding allows."""

    printed: float
    tolerance: float


def rounded(text: str) -> Rounded:
    """Return a number as printed, tolerated by half a unit in its last place."""
    number = Decimal(text)
    unit = Decimal(1).scaleb(int(number.as_tuple().exponent))
    return {"printed": float(number), "tolerance": float(unit / 2 / abs(number))}


def asked(function: Callable[..., ClaimValue], *arguments: object) -> Ours:
    """Return an answer that is worked out, without a study, when it is asked for."""
    return lambda _: function(*arguments)


def always(value: ClaimValue) -> Ours:
    """Return an answer that needs no study."""
    return lambda _: value


def on_all(holds: dict[str, bool]) -> str:
    """Return on how many of some devices or platforms a statement holds, and where it fails."""
    failing = [name for name, held in holds.items() if not held]
    if not failing:
        return f"on all {len(holds)}"
    return f"on {len(holds) - len(failing)} of {len(holds)}, not on {', '.join(failing)}"
