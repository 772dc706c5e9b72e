"""Memories in a description, and what they take as flip-flops."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from dse.algebra import units
from dse.errors import Fault, visible
from dse.silicon.netlists.netlist import placed

_MEMORY = re.compile(
    r'^  attribute \\src "(.*)"\n'
    r"  memory (?:width (\d+) )?(?:size (\d+) )?(?:offset \S+ )?\\(\S+)$",
    re.M,
)
_PORT = re.compile(r'^  cell \$mem(rd|wr)\S* \S+\n    parameter \\MEMID "\\\\(.*)"$', re.M)
_HELD, _READ = 2.6, 2.5
"""Smallest NANDs with two inputs for each bit and write port, and for each bit and read port.

Least squares over sky130, sg13g2 and ASAP7, 64 and 256 words of 8 bits, one and two read ports,
mapped for the fastest and for 100 MHz: within 6 % of the former.
"""


@dataclass(frozen=True)
class Memory:
    """A memory that is written: `reads` is its read ports, `source` its place."""

    name: str
    words: int
    width: int
    reads: int
    source: str

    @property
    def bits(self) -> int:
        """Return how many it has."""
        return self.words * self.width

    def __str__(self) -> str:
        """Return name and size as messages have them."""
        return f"{self.name}, a memory of {units.show(self.bits, 'memory_bit')} ({self.size})"

    @property
    def size(self) -> str:
        """Return words and their width."""
        return f"{self.words} x {self.width}"

    def area_m2(self, flip_flop_m2: float, gate_m2: float) -> float:
        """Return about what it takes as flip-flops: ``bits (F + (2.6 + 2.5 reads) G)``.

        F is the smallest flip-flop, G the smallest NAND with two inputs (m2).
        """
        return self.bits * (flip_flop_m2 + (_HELD + _READ * self.reads) * gate_m2)


def memories_in(described: str) -> list[Memory]:
    """Return the memories that a description writes to, as Yosys has it after ``proc``."""
    ports = [match.groups() for match in _PORT.finditer(described)]
    return [
        Memory(visible(name), int(words or 1), int(width or 1), ports.count(("rd", name)), source)
        for source, width, words, name in _MEMORY.findall(described)
        if ("wr", name) in ports
    ]


def too_large(
    memories: list[Memory], most_bit: float, areas_m2: tuple[float, float]
) -> Iterator[Fault]:
    """Yield memories that are not made of flip-flops, because they have more than `most_bit`."""
    for one in memories:
        if one.bits > most_bit:
            shown = units.show(one.bits, "memory_bit")
            about = units.show(one.area_m2(*areas_m2), "area_m2")
            rule = (
                f"a memory of more than {units.show(most_bit, 'memory_bit')} takes a macro; "
                f"as flip-flops it has about {about}"
            )
            remedy = (
                "make it an instance of a macro of a --library file, or allow it: "
                f'--memory "{one.bits} bit"'
            )
            yield placed(Fault(one.name, f"{shown} ({one.size})", rule, remedy), one.source)
