"""The closed table of units: base units, their prefixes, and every way to spell them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Base:
    """A base unit: its symbol, other names, prefixes and an example."""

    symbol: str
    also: tuple[str, ...] = ()
    prefixes: str = ""
    binary: bool = False
    power: int = 1
    counted: bool = False
    example: str = "15 "


BASES = {
    "m2": Base("m2", prefixes="num", power=2, example="0.5 m"),
    "ge": Base("GE", prefixes="kM", counted=True, example="25 k"),
    "lc": Base("LC", prefixes="k", counted=True, example="5280 "),
    "w": Base("W", prefixes="fpnumkM", example="25 m"),
    "j": Base("J", prefixes="afpnumkM", example="15 p"),
    "s": Base("s", prefixes="fpnum", example="10 u"),
    "hz": Base("Hz", prefixes="kMGT", example="1.2 G"),
    "bit": Base("bit", ("bits", "b"), "kMGTP", binary=True, counted=True, example="64 "),
    "byte": Base("B", ("byte", "bytes"), "kMGTP", binary=True, counted=True, example="64 "),
    "op": Base("op", ("flop",), "kMGTP", counted=True),
    "task": Base("task", ("tasks",), "kMGTP", counted=True),
    "offload": Base("offload", ("offloads",), "kMGTP", counted=True),
    "cycle": Base("cycle", ("cycles",), counted=True),
}
"""Base units by their name in a suffix."""

# A clock's "cycle" is plural before "per" only: `duty_cycle` is a plain number.
PLURAL = {"cycle": "cycles"}
DECIMAL = {"": 0, "a": -18, "f": -15, "p": -12, "n": -9, "u": -6, "m": -3}
DECIMAL |= {"k": 3, "M": 6, "G": 9, "T": 12, "P": 15}
"""Powers of ten by prefix."""

BINARY = {"Ki": 1024, "Mi": 1024**2, "Gi": 1024**3, "Ti": 1024**4}
"""Multiples by prefix."""


def _spellings() -> dict[str, tuple[Fraction, str]]:
    """Return every base unit with every prefix, as ``{text: (factor, base)}``."""
    table: dict[str, tuple[Fraction, str]] = {}
    for name, base in BASES.items():
        # in m2 a prefix comes before the m
        factors = {p: Fraction(10) ** (DECIMAL[p] * base.power) for p in ("", *base.prefixes)}
        if base.binary:
            factors |= {prefix: Fraction(value) for prefix, value in BINARY.items()}
        for symbol in (base.symbol, *base.also):
            table |= {prefix + symbol: (factor, name) for prefix, factor in factors.items()}
    return table


SPELLINGS = _spellings()
"""Factor and base unit by spelling."""

PER_SECOND = {
    f"{prefix}{symbol}": f"{prefix}{unit}/s"
    for symbol, unit in (("bps", "bit"), ("Bps", "B"))
    for prefix in ("", *BASES["bit"].prefixes)
}
"""Rates that are written in one word, as a fraction."""
