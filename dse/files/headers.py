"""Headers of tables: a name and its unit in any prefix, read as an SI column.

``area_um2``, ``Area [um2]`` and ``area (um2)`` are all ``area_m2`` in 1e-12.  A header may be
all lower case: ``mw`` is then milliwatt, ``mhz`` megahertz and ``gbps`` gigabit per second.
``mb`` is an error, because it may be megabits or megabytes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from dse.algebra import units
from dse.algebra.base_units import BASES, PER_SECOND, PLURAL, SPELLINGS
from dse.errors import UnitError, followed

DIMENSIONLESS = ("-", "1")
"""Texts in square brackets after the name of a plain number."""

CAPITALS = ("MW", "MJ")
"""Units that a header in capitals may write for milli or for mega."""

_BRACKETS = re.compile(r"(.+?)\s*[\[(](.+)[\])]")


@dataclass(frozen=True)
class Header:
    """A header as written, its SI column, and the factor of its cells."""

    written: str
    name: str
    factor: Fraction = Fraction(1)


def read_header(written: str) -> Header:
    """Return the column of a header.  A header without a known unit is a plain number.

    Raises
    ------
    UnitError
        The unit is ambiguous, as `MW` is in a header in capitals, is ``per`` a unit without a
        numerator, or is unknown and in square brackets.

    Examples
    --------
    >>> [read_header(header).name for header in ("area_um2", "Power [mW]", "rate_gbps", "ms")]
    ['area_m2', 'Power_w', 'rate_bit_per_s', 'ms']
    """
    return _bracketed(written) or _worded(written)


def _bracketed(written: str) -> Header | None:
    """Return the column of a header with its unit in brackets, or None without one."""
    bracketed = _BRACKETS.fullmatch(written.strip())
    if bracketed is None:
        return None
    unit, plain = bracketed[2].strip(), worded(bracketed[1])
    _check_capitals(written, unit, plain)
    try:
        factor, suffix = units.factor(unit)
    except UnitError as error:
        if "[" in written and unit not in DIMENSIONLESS:
            remedy = f"`columns: {{{plain}: {written!r}}}` reads plain numbers"
            raise UnitError(error.rule, followed(error.remedy, remedy)) from None
        return None  # in round brackets it may be a remark
    return _named(written, bracketed[1], suffix, factor)


def _worded(written: str) -> Header:
    """Return the column of a header whose last word may be its unit."""
    plain = worded(written)
    head, *rest = re.split("_per_", plain, flags=re.IGNORECASE)
    stem, _, last = head.rpartition("_")
    _check_capitals(written, last, stem)
    if not stem and not units.suffix(plain):  # a bare `W`, `ms` or `OP` is a name, not a unit
        return _named(written, plain, "", Fraction(1))
    found = [_unit(part) for part in (last, *rest)]
    if last == "percent":
        return _named(written, stem, "", Fraction(1, 100))
    if None in found or last == "cycle":  # `duty_cycle` is a plain number
        return _named(written, plain, "", Fraction(1))
    (factor, suffix), *divisors = (unit for unit in found if unit is not None)
    for divisor, _ in divisors:
        factor /= divisor
    suffix = "_per_".join([PLURAL.get(suffix, suffix), *(base for _, base in divisors)])
    return _named(written, stem, suffix, factor)


def _check_capitals(written: str, unit: str, stem: str) -> None:
    """Raise UnitError if a unit in a header in capitals may be milli or mega."""
    if unit in CAPITALS and written.isupper() and stem:
        small = f"{unit[0].lower()}{unit[1:]}"
        remedy = f"`columns: {{{stem.lower()}_{small}: {written!r}}}`, or with {unit}, reads it"
        raise UnitError(f"{unit!r} in a header of capitals may be {small} or {unit}", remedy)


def worded(written: str) -> str:
    """Return a text in which only letters, digits and underscores remain, the rest underscores."""
    return re.sub(r"\W+", "_", written).strip("_")


def in_unit_of(name: str, header: str) -> str:
    """Return a name with a unit, in the unit of a header for the same quantity.

    Examples
    --------
    >>> in_unit_of("clock_mhz", "Fmax [GHz]"), in_unit_of("clock_mhz", "Fmax")
    ('clock_GHz', 'clock_mhz')
    """
    try:
        own, other = read_header(name), read_header(header)
    except UnitError:
        return name
    if own.factor == other.factor or units.suffix(own.name) != units.suffix(other.name):
        return name
    bracketed = _BRACKETS.fullmatch(header.strip())
    unit = bracketed[2] if bracketed else header.rpartition("_")[2]
    found = "_".join((units.stem(own.name), re.sub(r"\W", "", unit)))
    return found if read_header(found).factor == other.factor else name


def _named(written: str, stem: str, suffix: str, factor: Fraction) -> Header:
    name = "_".join(filter(None, (worded(stem), suffix)))
    if not name.isidentifier():
        name = f"_{name}"
    if units.suffix(name) != suffix:
        raise UnitError(
            f"the name {name!r} seems to end in the unit {units.label(name)}",
            "give it another name with `columns`",
        )
    return Header(written, name, factor)


def _unit(text: str) -> tuple[Fraction, str] | None:
    """Return factor and suffix of one part of a header's unit, or None if it is no unit."""
    lowered = text.casefold()
    rates = [word for word in PER_SECOND if word.casefold() == lowered and word[-3:] == text[-3:]]
    if rates:
        return units.factor(PER_SECOND[rates[0]])
    if text in SPELLINGS and text != lowered:
        return SPELLINGS[text]
    alike = [spelling for spelling in SPELLINGS if spelling.casefold() == lowered]
    _check_kinds(text, alike)
    as_written = [spelling for spelling in alike if spelling[0] == text[0]]
    chosen = as_written or alike  # `mw` is milliwatt although MW is known too
    return SPELLINGS[chosen[0]] if chosen else None


def _check_kinds(text: str, alike: Sequence[str]) -> None:
    """Raise UnitError if spellings that differ only in capitals are of different kinds."""
    kinds = sorted({SPELLINGS[spelling][1] for spelling in alike})
    if len(kinds) > 1:
        shown = " or ".join(f"{kind}s" for kind in kinds)
        written = " or ".join(f"{alike[0][:-1]}{BASES[kind].symbol}" for kind in kinds)
        raise UnitError(f"{text!r} may count {shown}", f"write {written}")
