"""Pieces of Verilog text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from textwrap import fill


def concatenation(terms: Sequence[str], indent: str = "    ") -> str:
    """Return ``{a, b, ...}``, the first term leftmost, over as many lines as it takes."""
    return "{" + fill(", ".join(terms), 96, subsequent_indent=indent) + "}"


def picked(source: str, bits: Sequence[int]) -> str:
    """Return a concatenation of bits of a signal, the first leftmost."""
    return concatenation([f"{source}[{bit}]" for bit in bits])


def weighted(factors: Mapping[str, int]) -> str:
    """Return signals times constants as shifts to add and subtract.

    7 a is `` - (a <<< 0) + (a <<< 3)``.  The constants are in canonical signed digits, of which as
    few as can be differ from zero and no two neighbours do (Reitwiesner 1960).  Shifts have the
    width of what the sum is assigned to.
    """
    return "".join(
        f" {'+' if digit > 0 else '-'} ({signal} <<< {place})"
        for signal, factor in factors.items()
        for place, digit in signed_digits(factor)
    )


def signed_digits(number: int) -> Iterator[tuple[int, int]]:
    """Yield place and digit, 1 or -1, of each canonical signed digit of a number but zeros."""
    place = 0
    while number:
        if number & 1:
            digit = 2 - (number & 3)
            yield place, digit
            number -= digit
        number >>= 1
        place += 1
