"""What a plug-in says of the papers behind it: claims to check and figures to draw again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from types import MappingProxyType
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

ClaimValue = float | bool | str

DOES_NOT_EXIST = "does not exist"
"""The answer for a quantity that a design or a device has not."""


class Laboratory(Protocol):
    """What the engine lends to claims and figures that need more than their own package."""

    def designs(self, study: str) -> Mapping[str, NDArray[Any]]:
        """Return all feasible designs of a study (YAML text) as columns."""


class PrintedNumbers:
    """Reads printed numbers, each on request at an end of its rounding.

    A function of a table of claims whose parameter is called ``printed`` reads its inputs through
    one.  So the program learns which numbers an answer rests on, and asks again with each of them
    half a unit of its last digit up or down.

    Attributes
    ----------
    names
        Names of the numbers that were read, in that order.
    """

    def __init__(self, ends: Mapping[str, int] = MappingProxyType({})) -> None:
        """Move numbers to an end of their rounding, by name: 1 is up, -1 is down."""
        self._ends = ends
        self.names: dict[str, None] = {}

    def read(self, name: str, written: str, others: Iterable[str] = ()) -> float:
        """Return a number.

        Parameters
        ----------
        name
            Its own, such as ``Table I, u1, area``.
        written
            How it is printed.
        others
            Further entries of its column: see `last_digit`.
        """
        self.names[name] = None
        end = self._ends.get(name, 0)
        return float(written) + (end * last_digit(written, others) / 2 if end else 0.0)

    def share(self, name: str, written: str, others: Iterable[str] = ()) -> float:
        """Return a number over what is printed: 1 unless it is moved."""
        return self.read(name, written, others) / float(written)


def last_digit(written: str, others: Iterable[str] = ()) -> float:
    """Return the unit of the last digit that counts.

    Zeros at the end of a whole number count as far as another entry shows as many digits: beside
    151 the last digit of 140 is a 0, alone it is the 4.

    >>> last_digit("1.30"), last_digit("140"), last_digit("140", ["151"]), last_digit("3e3")
    (0.01, 10.0, 1.0, 1000.0)
    """
    number = Decimal(written)
    if not _whole(written):
        return float(Decimal(1).scaleb(int(number.as_tuple().exponent)))
    digits = len(number.as_tuple().digits)
    shown = max(1, *(_digits_shown(entry) for entry in (written, *others) if entry))
    return float(10 ** max(0, digits - shown))


def _whole(written: str) -> bool:
    return written.lstrip("+-").isdigit()


def _digits_shown(written: str) -> int:
    digits = "".join(map(str, Decimal(written).as_tuple().digits))
    return len(digits.rstrip("0") if _whole(written) else digits)


ClaimAnswer = Callable[[Laboratory, PrintedNumbers], ClaimValue]
"""Gives what models make of a claim, in its unit."""

CONTRADICTION = "contradicts itself"
RESIDUAL = "residual of a fit"
READING = "depends on a reading"
JUDGEMENTS = (CONTRADICTION, RESIDUAL, READING)
"""Verdicts that somebody who knows the paper gives; the others are computed."""


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A number or statement that a paper prints, and how ours is found.

    Attributes
    ----------
    name
        Unique, such as ``logca-5.4-t2-overhead-cutoff``.
    paper
        Key of the paper, one word, such as ``logca``.
    source
        Its authors, title and place.
    where
        Section, table, equation or figure.
    statement
        What it says, in our words.
    printed
        What is printed: a number, a name, a bound such as ``< 0.5``, or True for a statement.
    unit
        Unit of the number, as `dse.algebra.units` reads it; empty for plain numbers.
    rounding
        From where to where a printed number can have been rounded.
    ours
        What our models give, in the same unit; None when it cannot be checked, or when it depends
        on the reading.
    verdict
        One of `JUDGEMENTS`; empty where it is computed.
    against
        What else the paper prints, and where, that cannot hold beside this; `ours` follows from it.
    readings
        What each reading gives, by its words; None for one that gives nothing to compare.
    refers_to
        Name of the claim that tells the finding of which this one is a part.
    reason
        Why the verdict is what it is.
    inputs
        Where every input comes from: ``table``, ``text``, ``read off figure N``.
    place
        File and line, for messages.
    """

    name: str
    paper: str
    source: str = ""
    where: str
    statement: str
    printed: ClaimValue
    unit: str = ""
    rounding: tuple[float, float] | None = None
    ours: ClaimAnswer | None
    verdict: str = ""
    against: str = ""
    readings: Mapping[str, ClaimAnswer | None] = field(default_factory=dict)
    refers_to: str = ""
    reason: str = ""
    inputs: tuple[str, ...]
    place: str = ""


def on_all(holds: Mapping[str, bool]) -> str:
    """Return on how many of some devices or platforms a statement holds, and where it fails."""
    failing = [name for name, held in holds.items() if not held]
    if not failing:
        return f"on all {len(holds)}"
    return f"on {len(holds) - len(failing)} of {len(holds)}, not on {', '.join(failing)}"


Style = Literal["line", "dashed", "points", "bars"]


@dataclass(frozen=True, kw_only=True)
class Series:
    """One curve, cloud or set of bars; `x` in the unit of the panel, or names for bars."""

    label: str
    x: Sequence[float] | Sequence[str] | NDArray[np.float64]
    y: Sequence[float] | NDArray[np.float64]
    style: Style = "line"


@dataclass(frozen=True, kw_only=True)
class Mark:
    """A labelled vertical line, or a labelled point when `y` is given; bars count from x = 0."""

    label: str
    x: float
    y: float | None = None


@dataclass(frozen=True, kw_only=True)
class Region:
    """A labelled range of x, shaded; equal `shade` numbers look alike in all figures."""

    label: str
    low: float
    high: float
    shade: int | None = None


@dataclass(frozen=True, kw_only=True)
class Panel:
    """One pair of axes."""

    title: str
    x_label: str
    y_label: str
    series: tuple[Series, ...]
    marks: tuple[Mark, ...] = ()
    regions: tuple[Region, ...] = ()
    x_scale: Literal["linear", "log", "log2"] = "linear"
    y_scale: Literal["linear", "log", "log2"] = "linear"


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A figure of a paper, drawn again from our models.

    Attributes
    ----------
    name
        Such as ``logca-3``.
    source
        Paper and figure.
    caption
        What one sees, in our words, and what is not drawn (measured points, say).
    draw
        Returns its panels.
    """

    name: str
    source: str
    caption: str
    draw: Callable[[Laboratory], Sequence[Panel]] = field(repr=False)
