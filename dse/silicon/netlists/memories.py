"""Memories in a description, which become flip-flops."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from dse.algebra import units
from dse.errors import Fault, visible
from dse.silicon.netlists.netlist import placed

MOST_BIT = 20_000
"""Of a memory; a larger one would be a macro, which has other figures."""

_MEMORY = re.compile(
    r'^  attribute \\src "(.*)"\n'
    r"  memory (?:width (\d+) )?(?:size (\d+) )?(?:offset \S+ )?\\(\S+)$",
    re.M,
)
_WRITTEN = re.compile(r'^  cell \$memwr\S* \S+\n    parameter \\MEMID "\\\\(.*)"$', re.M)


class Memory(NamedTuple):
    """A memory that is written; `source` is its place."""

    name: str
    words: int
    width: int
    source: str

    @property
    def bits(self) -> int:
        """Return how many it has."""
        return self.words * self.width

    def __str__(self) -> str:
        """Return name and size as messages have them."""
        size = units.show(self.bits, "memory_bit")
        return f"{self.name}, a memory of {size} ({self.words} x {self.width})"


def memories_in(described: str) -> list[Memory]:
    """Return the memories that a description writes to, as Yosys has it after ``proc``."""
    written = {*_WRITTEN.findall(described)}
    return [
        Memory(visible(name), int(words or 1), int(width or 1), source)
        for source, width, words, name in _MEMORY.findall(described)
        if name in written
    ]


def too_large(memories: Iterable[Memory]) -> Iterator[Fault]:
    """Yield memories that are not made of flip-flops, because they have more than `MOST_BIT`."""
    for one in memories:
        if one.bits > MOST_BIT:
            most = units.show(MOST_BIT, "memory_bit")
            rule = f"memories become flip-flops here, of at most {most}"
            remedy = "characterise the design with a smaller one, or leave it outside"
            shown = f"{units.show(one.bits, 'memory_bit')} ({one.words} x {one.width})"
            yield placed(Fault(one.name, shown, rule, remedy), one.source)
