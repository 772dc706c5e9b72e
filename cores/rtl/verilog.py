"""Pieces of Verilog text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from textwrap import fill


def concatenation(terms: Sequence[str]) -> str:
    """Return ``{a, b, ...}``, the first term leftmost, over as many lines as it takes."""
    return "{" + fill(", ".join(terms), 96, subsequent_indent="    ") + "}"


def picked(source: str, bits: Sequence[int]) -> str:
    """Return a concatenation of bits of a signal, the first leftmost."""
    return concatenation([f"{source}[{bit}]" for bit in bits])


def chosen_by(which: str, values: Iterable[str]) -> str:
    """Return an expression for the value at each number of a signal, equal values once."""
    passes: dict[str, list[int]] = {}
    for number, value in enumerate(values):
        passes.setdefault(value, []).append(number)
    *others, last = sorted(passes, key=lambda value: len(passes[value]))
    text = ""
    for value in others:
        condition = " | ".join(f"{which} == {number}" for number in passes[value])
        text += f"({condition}) ? {value}\n    : "
    return text + last


def weighted(factors: Mapping[str, int]) -> str:
    """Return signals times constants as shifts to add and subtract.

    7 a is `` - (a <<< 0) + (a <<< 3)``.  The constants are in canonical signed digits, of which as
    few as possible differ from zero and no two neighbours do (Reitwiesner 1960).  Shifts have the
    width of the variable that the sum is assigned to.
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


def cut(signal: str, place: int, width: int) -> str:
    """Return a piece of a signal, the lowest of its width at place 0.

    Examples
    --------
    >>> cut("word", 1, 8)
    'word[15:8]'
    """
    return f"{signal}[{width * (place + 1) - 1}:{width * place}]"


def reversed_bytes(signal: str, words: int, size: int) -> str:
    """Return words of a signal, each of `size` bytes with its bytes in reverse."""
    places = (size * word + byte for word in reversed(range(words)) for byte in range(size))
    return concatenation([cut(signal, place, 8) for place in places])


def decision_diagram(name: str, table: Sequence[int], width: int) -> Iterator[str]:
    """Yield a module that gives an entry of a table: a reduced ordered decision diagram.

    It has ports `from` and `to`.  Entries, of `width` bits, are 0 past the last.
    """
    address = max(1, (len(table) - 1).bit_length())
    entries = [*table, *[0] * ((1 << address) - len(table))]
    lines: list[str] = []
    known: dict[tuple[int, ...], str] = {(0,): "1'b0", (1,): "1'b1"}

    def node(bits: tuple[int, ...]) -> str:
        if bits not in known:
            half = len(bits) // 2
            low, high = bits[:half], bits[half:]
            select = f"from[{half.bit_length() - 1}]"
            if low == high:
                known[bits] = node(low)
            else:
                opposite = all(a != b for a, b in zip(low, high, strict=True))
                zero = node(low)
                text = f"{select} ^ {zero}" if opposite else f"{select} ? {node(high)} : {zero}"
                known[bits] = f"node_{len(lines)}"
                lines.append(f"  wire node_{len(lines)} = {text};")
        return known[bits]

    ends = [node(tuple(entry >> bit & 1 for entry in entries)) for bit in range(width)]
    yield f"module {name} (input [{address - 1}:0] from, output [{width - 1}:0] to);"
    yield from lines
    for bit, end in enumerate(ends):
        yield f"  assign to[{bit}] = {end};"
    yield "endmodule"
