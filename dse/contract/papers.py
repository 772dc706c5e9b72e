"""Papers behind a plug-in: claims to check and figures to draw again."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

from numpy.typing import NDArray

if TYPE_CHECKING:  # it takes long to import
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Sheet

ClaimValue = float | bool | str

DOES_NOT_EXIST = "does not exist"
"""The answer for a quantity that does not exist for a design or a device."""


class Laboratory(Protocol):
    """Studies that the engine lends to claims and plots that need more than their own package."""

    def designs(self, study: str) -> Mapping[str, NDArray[Any]]:
        """Return all feasible designs of a study (YAML text) as columns."""


class PrintedNumbers:
    """A reader of printed numbers, each on request at an end of its rounding.

    A function of a table of claims whose parameter is called ``printed`` reads its inputs through
    one.  So the program learns the numbers that an answer rests on, and repeats the call with each
    of them half a unit of its last digit up or down.

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
            Name of the number, such as ``Table I, u1, area``.
        written
            The printed text.
        others
            Further entries of its column: see `last_digit`.
        """
        self.names[name] = None
        end = self._ends.get(name, 0)
        return float(written) + (end * last_digit(written, others) / 2 if end else 0.0)

    def share(self, name: str, written: str, others: Iterable[str] = ()) -> float:
        """Return a number over the printed number: 1 unless it is moved."""
        return self.read(name, written, others) / float(written)


def last_digit(written: str, others: Iterable[str] = ()) -> float:
    """Return the unit of the last significant digit.

    Zeros at the end of a whole number are significant if another entry shows as many digits: with
    151, the last significant digit of 140 is the 0, and without it the 4.

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
"""A function that returns the value of models for a claim, in its unit."""

Draw = Callable[["Sheet", Laboratory], None]

ORDERS: Mapping[str, Callable[[Any, Any], bool]] = MappingProxyType(
    {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
)
CONTRADICTION = "contradicts itself"
RESIDUAL = "residual of a fit"
READING = "depends on a reading"
JUDGEMENTS = (CONTRADICTION, RESIDUAL, READING)
"""Verdicts of a person who knows the paper.  The others are computed."""


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A number or statement printed in a paper, and the computation of ours.

    Attributes without an entry are as the columns of `dse.contract.claim_table`.

    Attributes
    ----------
    paper
        Key of the paper, one word, such as ``logca``.
    source
        Its authors, title and place.
    printed
        The printed value: a number, a name, a bound such as ``< 0.5``, or True for a statement.
    rounding
        Range of values that round to a printed number.
    ours
        The value of our models, in the same unit, or None if it cannot be checked, or depends on
        the reading.
    readings
        Value for each reading, by its words, or None for a reading without a value to compare.
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
    """Return the number of devices or platforms for which a statement holds, and the others."""
    failing = [name for name, held in holds.items() if not held]
    if not failing:
        return f"on all {len(holds)}"
    return f"on {len(holds) - len(failing)} of {len(holds)}, not on {', '.join(failing)}"


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
        Content in our words, and parts that are not drawn (for instance measured points).
    draw
        Draws it on an empty sheet of matplotlib.  The program then sets colours, ticks of
        logarithmic axes, the legend and the size: the same label looks alike in all panels.
    """

    name: str
    source: str
    caption: str
    draw: Draw = field(repr=False)


class PaperFigures(list[Figure]):
    """The figures of a paper.  Called with a number and a caption, it adds the decorated one."""

    def __init__(self, paper: str, source: str) -> None:
        """Begin with an empty list for a paper, by its key, and by authors and place."""
        super().__init__()
        self._paper, self._source = paper, source

    def __call__(self, number: int, caption: str) -> Callable[[Draw], Draw]:
        """Return a decorator that adds the drawing function."""
        name, source = f"{self._paper}-{number}", f"{self._source}, figure {number}"

        def add(draw: Draw) -> Draw:
            self.append(Figure(name=name, source=source, caption=caption, draw=draw))
            return draw

        return add


def panels(
    sheet: Sheet, titles: Iterable[str], xlabel: str, ylabel: str = "", **bases: int
) -> list[Axes]:
    """Return axes by title, at most four in a row.  `bases` of logarithms, such as ``x=2``."""
    names = [*titles]
    across = min(4, -(-len(names) // 3) if len(names) > 3 else len(names))
    cells = sheet.subplots(-(-len(names) // across), across, squeeze=False).ravel()
    for axes, title in zip(cells, names, strict=False):
        axes.set(title=title, xlabel=xlabel, ylabel=ylabel)
        for which, base in bases.items():
            getattr(axes, f"set_{which}scale")("log", base=base)
    for unused in cells[len(names) :]:
        unused.remove()
    return [*cells[: len(names)]]


def note(axes: Axes, text: str, x: float, y: float, **look: Any) -> None:
    """Write a text next to a point."""
    axes.annotate(text, (x, y), (3, 3), textcoords="offset points", **look)


SHADES = (
    *("#DCE9F4", "#FBEFD5", "#E9E9E9", "#DDF0E9"),
    *("#F5E4EE", "#FFFDE0", "#FBE3D6", "#E3E0F3"),
)
"""Light fills of ranges that carry their names."""


def shade_range(axes: Axes, low: float, high: float, label: str, colour: str) -> None:
    """Fill a range of x, with its label on top."""
    axes.axvspan(low, high, color=colour, zorder=0)
    middle = math.sqrt(low * high) if axes.get_xscale() == "log" else (low + high) / 2
    place = axes.get_xaxis_transform()
    axes.text(middle, 0.98, label, ha="center", va="top", transform=place, clip_on=True)
