"""Numbers as papers print them, and the rounding that each has gone through."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from types import MappingProxyType


class PrintedNumbers:
    """Reads printed numbers, each where asked at an end of its rounding.

    A function of a table of claims whose parameter is called ``printed`` reads its inputs through
    one.  So the program learns which numbers an answer rests on, and asks again with each of them
    half a unit of its last digit up or down.

    Attributes
    ----------
    asked
        Names of the numbers that were read, in that order.
    """

    def __init__(self, ends: Mapping[str, int] = MappingProxyType({})) -> None:
        """Move numbers to an end of their rounding, by name: 1 is up, -1 is down."""
        self._ends = ends
        self.asked: dict[str, None] = {}

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
        self.asked[name] = None
        return float(written) + self._ends.get(name, 0) * last_digit(written, others) / 2

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
