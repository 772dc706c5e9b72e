"""Units: conversion of a written quantity to an SI float, and back.

A bare float is SI and its unit is the longest suffix of its name that is a unit:
``rate_bit_per_s`` is in bit/s, ``latency_s_per_byte`` in s/B.  A name without such a suffix is
dimensionless.  A suffix is ``<base>`` or ``<base>_per_<base>...`` over the closed table of
`dse.algebra.base_units`.  Only prefixes are converted: bits, bytes, cycles, tasks,
offloads and operations stay apart, and so do J/s and W.  ``kB`` is 1000 bytes, ``KiB`` 1024.  A
prefix of an area is squared.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from contextlib import suppress
from fractions import Fraction
from functools import lru_cache

from dse.algebra.base_units import BASES, BINARY, DECIMAL, PER_SECOND, PLURAL, SPELLINGS, Base
from dse.errors import UnitError, comma, nearest

_KNOWN = (*SPELLINGS, *PER_SECOND)
_DENOMINATOR = "|".join(BASES)
_NUMERATOR = "|".join(PLURAL.get(name, name) for name in BASES)
_UNIT_SUFFIX = re.compile(
    rf"(?:|.*?_)((?:{_NUMERATOR}|per_(?:{_NUMERATOR}|{_DENOMINATOR}))(?:_per_(?:{_DENOMINATOR}))*)"
)
_QUANTITY = re.compile(r"([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)\s*(.*)", re.DOTALL)
_OPERATIONS = re.compile(r"([kMGTP]?)(?:FL)?OPs?", re.IGNORECASE)
_LONGEST_TEXT = 100


@lru_cache(maxsize=4096)
def suffix(name: str) -> str:
    """Return the unit suffix of a quantity's name, ``""`` if it is dimensionless.

    A name that is a base unit has no suffix: ``w`` may count words.

    Raises
    ------
    UnitError
        The name ends in ``_per_<unit>`` without a unit before it.

    Examples
    --------
    >>> suffix("rate_bit_per_s"), suffix("bit_per_s"), suffix("instances")
    ('bit_per_s', 'bit_per_s', '')
    """
    match = _UNIT_SUFFIX.fullmatch(name)
    found = match[1] if match and (match[1] != name or "per_" in name) else ""
    if found.startswith("per_"):
        raise UnitError(
            f"the name {name!r} has no unit before '_{found}'",
            f"write one, such as 'energy_j_{found}', or a name without 'per'",
        )
    return found


@lru_cache(maxsize=1_000)
def stem(name: str) -> str:
    """Return a quantity's name without its unit suffix.  A name that is a unit is kept."""
    unit = suffix(name)
    return name.removesuffix(unit).removesuffix("_") or name if unit else name


def label(name: str) -> str:
    """Return the SI unit of a name, or of ``_`` and a suffix, for instance ``"bit/s"``."""
    return _label(suffix(name), "")


def parse(text: str | float, name: str) -> float:
    """Return in SI the value written for the quantity called `name`.

    The result is the float nearest to the exact decimal value, rounded once.

    Raises
    ------
    UnitError
        The unit is missing, unknown or not the unit of `name`, or the number is not finite.

    Examples
    --------
    >>> parse("100 Gbps", "rate_bit_per_s"), parse("50 %", "share"), parse(3, "instances")
    (100000000000.0, 0.5, 3.0)
    """
    wanted = suffix(name)
    number, unit = _split(text, wanted)
    if wanted and not unit:
        raise UnitError(f"a value in {label(name)} needs its unit", _remedy(wanted))
    factor, written = _unit(unit, wanted)
    if _dimension(written) != _dimension(wanted):
        needed = f"a value in {label(name)}" if wanted else "a plain number"
        raise UnitError(
            f"{needed} is needed, not one in {_label(written, '') or unit}",
            _conversion(unit, factor, written, wanted) or _remedy(wanted),
        )
    return _to_float(number, factor)


def parse_any(text: str | float) -> tuple[float, str]:
    """Return the SI value of a written quantity and the suffix of its unit.

    Examples
    --------
    >>> parse_any("1 us"), parse_any("15 cycle/B"), parse_any(3)
    ((1e-06, 's'), (15.0, 'cycles_per_byte'), (3.0, ''))
    """
    number, unit = _split(text, "")
    factor, written = _unit(unit, "")
    return _to_float(number, factor), written


def parse_clock(text: str | float) -> float:
    """Return a clock that is written as a frequency or as its period.

    Examples
    --------
    >>> parse_clock("500 MHz"), parse_clock("5 ns")
    (500000000.0, 200000000.0)
    """
    with suppress(UnitError, ZeroDivisionError):
        return 1.0 / parse(text, "period_s")
    return parse(text, "clock_hz")


def factor(unit: str) -> tuple[Fraction, str]:
    """Return the factor from a written unit to SI, and the suffix of the SI unit.

    Examples
    --------
    >>> factor("mW"), factor("Gbps")
    ((Fraction(1, 1000), 'w'), (Fraction(1000000000, 1), 'bit_per_s'))
    """
    return _unit(unit, "")


def scale(values: Iterable[float], name: str) -> tuple[float, str]:
    """Return one factor and unit label that suit a column in SI: divide by the factor.

    The largest value gets one to three digits before the point.  Zero has no scale: it has no
    prefix, an area is in mm2.  Other areas are in um2 below 0.01 mm2.  Bits, bytes, operations,
    tasks and cycles have no prefix below 10 000.  Bytes are in KiB, MiB, ... if all are
    whole multiples, and have no prefix if some are.
    """
    unit = suffix(name)
    sizes = [abs(float(value)) for value in values if math.isfinite(value)]
    if not unit:
        return 1.0, ""
    base = BASES[_parts(unit)[0]]
    binary = _binary_prefix(sizes) if unit == "byte" else ""
    if binary:
        return float(BINARY[binary]), _label(unit, binary)
    largest = max(sizes, default=0.0)
    mixed = unit == "byte" and largest < 1e7 and any(size and size % 1024 == 0 for size in sizes)
    prefix = "" if mixed else _decimal_prefix(largest, base, alone="_per_" not in unit)
    return float(SPELLINGS[prefix + base.symbol][0]), _label(unit, prefix)


def show(value: float, name: str) -> str:
    """Return a value in SI in a readable form with its unit, or ``"none"``, or ``"infinite"``.

    Four significant digits, and never fewer than the digits before the point.

    Examples
    --------
    >>> show(1.4969e-7, "area_m2"), show(0.02525, "power_w"), show(65536, "granularity_byte")
    ('0.1497 mm2', '25.25 mW', '64 KiB')
    """
    if math.isnan(value):
        return "none"
    if math.isinf(value):
        return "infinite" if value > 0 else "-infinite"
    factor, unit = scale([value], name)
    return f"{_digits(float(value) / factor)} {unit}".rstrip()


def exact_text(value: float, name: str) -> str:
    """Return text that `parse` reads back as exactly `value`, with a prefix if possible.

    Examples
    --------
    >>> exact_text(4e8, "clock_hz"), exact_text(123456789.0, "clock_hz")
    ('400 MHz', '123.456789 MHz')
    """
    factor, unit = scale([value], name)
    if unit and math.isfinite(value / factor):
        for digits in (f"{value / factor:.12g}", f"{float(value / factor)!r}"):
            with suppress(UnitError):  # beyond the range of a number
                if parse(f"{digits} {unit}", name) == value:
                    return f"{digits} {unit}"
    return f"{float(value)!r} {label(name)}".rstrip()


def written(value: float, name: str) -> str | float:
    """Return a value to twelve digits for a file: with its unit and a customary prefix, if any."""
    factor, unit = scale([value], name)
    text = f"{value / factor:.12g}"
    return f"{text} {unit}" if unit else float(text)


def example(name: str) -> str:
    """Return a value with its unit as a user would write it for the quantity called `name`."""
    unit = suffix(name)
    if not unit:
        return "1"
    head, *rest = _parts(unit)
    base = BASES[head]
    fast = rest == ["s"] and "G" in base.prefixes
    amount, _, prefix = ("100 G" if fast else base.example).partition(" ")
    return f"{amount} {_label(unit, prefix)}"


def _parts(unit: str) -> list[str]:
    """Split a suffix into base units: the numerator, then the denominators."""
    head, *rest = unit.split("_per_")
    return ["cycle" if head == "cycles" else head, *rest]


def _dimension(unit: str) -> tuple[str, ...]:
    head, *rest = _parts(unit)
    return (head, *sorted(rest))


def _label(unit: str, prefix: str) -> str:
    if not unit:
        return ""
    head, *rest = _parts(unit)
    numerator = PLURAL.get(head, BASES[head].symbol)
    return prefix + "/".join([numerator, *(BASES[name].symbol for name in rest)])


def _remedy(unit: str) -> str:
    if not unit:
        return "write a number without a unit"
    return f"write the value with its unit, such as '{example(f'_{unit}')}'"


def _conversion(text: str, factor: Fraction, written: str, wanted: str) -> str:
    """Return the remedy if bits are written for bytes or the reverse, else ``""``."""
    if written.replace("byte", "bit") != wanted.replace("byte", "bit"):
        return ""
    for index, (old, new) in enumerate(zip(_parts(written), _parts(wanted), strict=True)):
        if old != new:
            eight = Fraction(8) if old == "byte" else Fraction(1, 8)
            factor *= eight if index == 0 else 1 / eight
    shown, needed = show(float(factor), f"_{wanted}"), label(f"_{wanted}")
    return f"1 {text} is {shown}: write the value in {needed}"


def _split(text: str | float, wanted: str) -> tuple[str, str]:
    """Split a written value into the text of a number and the text of its unit."""
    if isinstance(text, bool) or not isinstance(text, str | int | float):
        raise UnitError(f"{text!r} is not a number", _remedy(wanted))
    if isinstance(text, int) and text.bit_length() > 1024:
        text = math.inf
    written = repr(float(text)) if isinstance(text, float) else str(text).strip()
    match = _QUANTITY.fullmatch(written)
    if not match or len(written) > _LONGEST_TEXT:
        shown = written if len(written) <= 40 else written[:40] + "..."
        form = "a finite number with its unit" if wanted else "a finite number"
        raise UnitError(f"{shown!r} is not {form}", _remedy(wanted))
    if comma_fault := comma(written[: len(written) - len(match[2].lstrip("0123456789.,"))].strip()):
        raise UnitError(*comma_fault)
    return match[1], match[2].strip()


def _unit(text: str, wanted: str) -> tuple[Fraction, str]:
    """Return the factor to SI and the suffix of a written unit."""
    if text in ("", "%"):
        return (Fraction(1, 100) if text else Fraction(1)), ""
    plain = text.replace("\u00b5", "u").replace("\u03bc", "u").replace("^2", "2")
    plain = plain.replace("\u00b2", "2")
    parts = [part.strip() for part in PER_SECOND.get(plain, plain).split("/")]
    for part in parts:
        if part not in SPELLINGS:
            raise _unknown(text, plain, part, wanted)
    (factor, head), *rest = (SPELLINGS[part] for part in parts)
    for divisor, _ in rest:
        factor /= divisor
    return factor, "_per_".join([PLURAL.get(head, head), *(base for _, base in rest)])


def _unknown(text: str, unit: str, part: str, wanted: str) -> UnitError:
    """Return the error for a unit with an unknown part."""
    alike = [known for known in _KNOWN if known.casefold() == part.casefold()]
    remedy = nearest(part, alike or _KNOWN) if alike or not wanted else _remedy(wanted)
    if alike and part != unit:
        remedy = nearest(unit, [unit.replace(part, one, 1) for one in alike])
    if found := _OPERATIONS.fullmatch(part):
        op = f"{found[1].upper().replace('K', 'k')}op"
        remedy = f"write {op} for operations, {op}/s for their rate"
    return UnitError(f"{text!r} is not a known unit", remedy)


def _to_float(number: str, factor: Fraction) -> float:
    """Multiply exactly, then round once."""
    if not number.lower().partition("e")[0].strip("+-0."):
        return 0.0
    try:
        # Only a number that a float can hold becomes a fraction: '1e999999999' fills the memory.
        rough = float(number)
        value = float(Fraction(number) * factor) if rough and math.isfinite(rough) else 0.0
    except OverflowError:
        value = 0.0
    if value == 0.0:
        raise UnitError(
            f"{number} is beyond the range of a floating-point number",
            "write a number of ordinary size",
        )
    return value


def _rounded(value: float) -> float:
    return float(f"{value:.3e}")


def _digits(value: float) -> str:
    size = _rounded(abs(value))
    if size == 0.0 or math.isinf(size) or not 1e-3 <= size < 1e6:
        return f"{value:.4g}"
    decimals = max(0, 3 - math.floor(math.log10(size)))
    text = f"{value:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if decimals else text


def _binary_prefix(sizes: list[float]) -> str:
    largest = max(sizes, default=0.0)
    for prefix, size in reversed(BINARY.items()):
        whole = all(value % size == 0 for value in sizes)
        if whole and size <= largest < 10_000 * size:
            return prefix
    return ""


def _decimal_prefix(largest: float, base: Base, *, alone: bool) -> str:
    size = _rounded(largest)
    if base.power == 2:
        return "m" if size >= 1e-8 or (alone and size == 0.0) else "u"
    if size == 0.0 or (alone and base.counted and size < 10_000):
        return ""
    prefixes: list[str] = sorted(["", *base.prefixes], key=lambda prefix: DECIMAL[prefix])
    fitting = [prefix for prefix in prefixes if 10.0 ** DECIMAL[prefix] <= size]
    return fitting[-1] if fitting else prefixes[0]


_LONG = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(min|h)\s*")
_LONG_S = {"min": 60, "h": 3600}


def in_seconds(written: str) -> str:
    """Return a time of minutes or hours in seconds, ``600.000000 s``, or any other text as is."""
    found = _LONG.fullmatch(written)
    return f"{float(Fraction(found[1]) * _LONG_S[found[2]]):f} s" if found else written


def duration(seconds: float) -> str:
    """Return a time in whole seconds, minutes or hours.  A short time has two digits.

    Examples
    --------
    >>> duration(0.42), duration(4.2), duration(600.0), duration(9000.0)
    ('0.42 s', '4 s', '10 min', '2.5 h')
    """
    if seconds < 1.0:
        return "less than 1 ms" if 0.0 < seconds < 1e-3 else f"{seconds:.2g} s"
    if seconds < 120.0:
        return f"{seconds:.0f} s"
    if seconds < 7200.0:
        return f"{seconds / 60.0:.0f} min"
    return f"{seconds / 3600.0:.1f} h" if math.isfinite(seconds) else "a long time"
