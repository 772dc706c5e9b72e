"""What the claims about the core paper share."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from functools import partial
from typing import TypedDict

from dse.contract import Column, CoreMetrics
from dse.contract.papers import Claim, ClaimValue, Laboratory

claim = partial(Claim, paper="cores")

Ours = Callable[[Laboratory], ClaimValue]


class Rounded(TypedDict):
    """A printed number and the relative error that its rounding allows."""

    printed: float
    tolerance: float


def rounded(text: str) -> Rounded:
    """Return a number as printed, tolerated by half a unit in its last place."""
    number = Decimal(text)
    unit = Decimal(1).scaleb(int(number.as_tuple().exponent))
    return {"printed": float(number), "tolerance": float(unit / 2 / abs(number))}


def half_unit(place: float, value: float) -> float:
    """Return half a unit in the last printed place, relative to a value."""
    return place / 2 / abs(value) * (1 + 1e-9)  # a tie may round to either side


def always(value: ClaimValue) -> Ours:
    """Return an answer that needs no study."""
    return lambda _: value


def least(values: Column, names: tuple[str, ...]) -> str:
    """Return the name of the least value."""
    return names[int(values.argmin())]


def power_mw(of: CoreMetrics) -> Column:
    """Return power at full clock, in mW as the tables print it."""
    return (of.dynamic_power_w + of.leakage_power_w) * 1e3


def task_rate(of: CoreMetrics) -> Column:
    """Return tasks per second at full clock."""
    return of.clock_hz / of.cycles_per_task
