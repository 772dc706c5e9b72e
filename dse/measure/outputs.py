"""Outputs of a program for one design: a JSON object, or lines ``name = value unit``."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dse.algebra.magnitudes import fault_of
from dse.algebra.units import parse, show, stem
from dse.contract.evaluators import Ranges
from dse.errors import DseError, UnitError, nearest
from dse.workers.programs import OUTPUT_BYTE

NAME_CHARACTERS = 60
"""Longest name of another output in a message."""

RETURNED = "what it returns"
"""Name of the outputs of a function in messages."""

_LINE = re.compile(r"\s*([^\s=]+)\s*=\s*(.*?)\s*")
_STATED = "where it is right, state `least` of the output"


class UnusableOutputError(DseError):
    """A measurement has no values, for a cause of some `kind`."""

    def __init__(self, cause: str, kind: str = "output") -> None:
        """Keep cause and kind."""
        super().__init__(cause)
        self.kind = kind


@dataclass(frozen=True, kw_only=True)
class Declared:
    """Declaration of outputs besides their units.

    Attributes
    ----------
    ranges
        Least and most possible value in SI, by quantity.  A value outside is an accident.
    stated
        Quantities whose least value is in the study.
    exits
        Exit statuses of infeasible designs.
    """

    ranges: Ranges = field(default_factory=dict, hash=False)
    stated: frozenset[str] = frozenset()
    exits: Sequence[int] = ()


NO_OUTPUTS = Declared()


def values(
    text: bytes, outputs: Mapping[str, str], file: str, declared: Declared = NO_OUTPUTS
) -> dict[str, float]:
    """Return the outputs in a text, in SI, by quantity.

    A text that begins with a brace is an object of JSON.  Lines of any other text count that
    begin with the name of an output, with or without its unit suffix.

    Parameters
    ----------
    text
        The whole text.
    outputs
        Unit of numbers without a unit, by quantity.
    file
        Name of the text in messages.
    declared
        Ranges of the outputs.

    Raises
    ------
    UnusableOutputError
        It cannot be read, or a value is missing, doubled, not finite, of another dimension or
        outside its range.

    Examples
    --------
    >>> values(b"area = 12 um2\\npower = 3\\n", {"area_m2": "um2", "power_w": "mW"}, "x")
    {'area_m2': 1.2e-11, 'power_w': 0.003}
    """
    words = _decoded(text, file)
    pairs = _entries(words, file) if words.lstrip().startswith("{") else _lines(words, file)
    written = _written(pairs, outputs, file)
    found = {name: _value(written[name], name, unit, file) for name, unit in outputs.items()}
    for quantity, number in found.items():
        wrong = _wrong(number, quantity, declared)
        if wrong:
            raise UnusableOutputError(f"{file}: {stem(quantity)}: {show(number, quantity)}{wrong}")
    return found


def _decoded(text: bytes, file: str) -> str:
    if not text.strip():
        raise UnusableOutputError(f"{file} is empty")
    if len(text) > OUTPUT_BYTE:
        raise UnusableOutputError(f"{file} has more than {OUTPUT_BYTE} bytes")
    try:
        words = text.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnusableOutputError(f"{file} is not text: byte {error.start} is not UTF-8") from error
    if "\0" in words:
        raise UnusableOutputError(f"{file} is not text: it holds zero bytes")
    return words


def _entries(text: str, file: str) -> list[tuple[str, Any]]:
    """Return the entries of an object of JSON, also those that occur twice."""
    decoder = json.JSONDecoder(object_pairs_hook=list, parse_int=str, parse_float=str)
    try:
        found: list[tuple[str, Any]] = decoder.decode(text)
    except json.JSONDecodeError as error:
        rule = f"{file}:{error.lineno}:{error.colno} is not JSON: {error.msg}"
        raise UnusableOutputError(rule) from error
    except RecursionError as error:
        raise UnusableOutputError(f"{file} is not JSON: it is nested too deeply") from error
    return found


def _lines(text: str, file: str) -> list[tuple[str, Any]]:
    if not text.endswith("\n"):
        rule = f"the last line of {file} does not end in a newline"
        raise UnusableOutputError(f"{rule}; was it cut? end every line with a newline")
    return [(match[1], match[2]) for line in text.splitlines() if (match := _LINE.fullmatch(line))]


def _written(
    pairs: Sequence[tuple[str, Any]], outputs: Mapping[str, str], file: str
) -> dict[str, Any]:
    """Return the written value of each output."""
    written: dict[str, Any] = {}
    names = {name: quantity for quantity in outputs for name in (stem(quantity), quantity)}
    for name, value in pairs:
        quantity = names.get(name)
        if quantity in written:
            raise UnusableOutputError(f"{file} has {name!r} twice")
        if quantity is not None:
            written[quantity] = value
    others = [name[:NAME_CHARACTERS] for name, _ in pairs if name not in names][:100]
    for quantity in outputs:
        if quantity not in written:
            more = f"; {nearest(stem(quantity), others)}" if others else ""
            raise UnusableOutputError(f"{file} has no {stem(quantity)!r}{more}")
    return written


def _value(written: Any, quantity: str, unit: str, file: str) -> float:
    where = f"{file}: {stem(quantity)}"
    if not isinstance(written, str | float):
        shown = json.dumps(written) if isinstance(written, bool | None) else "a list or an object"
        raise UnusableOutputError(f"{where}: {shown} is not a number")
    text = str(written).strip()  # NaN and infinities of JSON are floats
    try:
        return parse(_with_unit(text, unit), quantity)
    except UnitError as error:
        raise UnusableOutputError(f"{where}: {error.rule}") from error


def _with_unit(text: str, unit: str) -> str:
    """Return a number without a unit with its declared one."""
    try:
        float(text)
    except ValueError:
        return text
    return f"{text} {unit}" if text[-1] in "0123456789." else text  # not nan, not inf


def _wrong(number: float, quantity: str, declared: Declared) -> str:
    """Return the end of a message on a number that cannot be right, or an empty text."""
    least, most = declared.ranges.get(quantity, (number, number))
    if number < least:
        return f" is beyond its least, {show(least, quantity)}"
    if number > most:
        return f" is beyond its most, {show(most, quantity)}"
    wrong = fault_of(number, quantity, signed=quantity in declared.stated)
    return f"; {'; '.join(wrong)}; {_STATED}" if wrong else ""


def read(path: Path) -> bytes:
    """Return the beginning of a file, one byte more than `values` takes.

    Raises
    ------
    UnusableOutputError
        It cannot be read, or is not a file: a pipe would block.
    """
    try:
        if not path.is_file():
            raise UnusableOutputError(f"there is no file {path.name}")
        with path.open("rb") as file:
            return file.read(OUTPUT_BYTE + 1)
    except OSError as error:
        raise UnusableOutputError(f"{path.name} cannot be read: {error.strerror}") from error
