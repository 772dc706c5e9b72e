"""Pieces of Verilog text."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill


def concatenation(terms: Sequence[str], indent: str = "    ") -> str:
    """Return ``{a, b, ...}``, the first term leftmost, over as many lines as it takes."""
    return "{" + fill(", ".join(terms), 96, subsequent_indent=indent) + "}"


def picked(source: str, bits: Sequence[int]) -> str:
    """Return a concatenation of bits of a signal, the first leftmost."""
    return concatenation([f"{source}[{bit}]" for bit in bits])
