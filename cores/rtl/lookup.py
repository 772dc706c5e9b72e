"""Tables of constants as a module: one multiplexer for what differs, alike parts once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


def decision_diagram(name: str, table: Sequence[int], width: int) -> Iterator[str]:
    """Yield a module that gives an entry of a table: a reduced ordered decision diagram.

    It has ports `from` and `to`; entries, of `width` bits, are 0 past the last.
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
