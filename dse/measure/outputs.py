"""What a program tells about a design: a JSON object, or lines ``name = value unit``."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dse.algebra.magnitudes import fault_of
from dse.algebra.units import parse, show, stem
from dse.contract.evaluators import InfeasibleDesign, Ranges
from dse.errors import DseError, UnitError, nearest
from dse.workers.programs import OUTPUT_BYTE

NAME_CHARACTERS = 60
"""Most of the name of another output that a message has."""

_BRACE, _REST = re.compile(r'^\{(?=\s*(?:["}]|\Z))', re.MULTILINE), re.compile(r"[ \t\r]*(?:\n|\Z)")
_LINE = re.compile(r"\s*([^\s=]+)\s*=\s*(.*?)\s*")


class UnusableOutputError(DseError):
    """What a program wrote is not what its outputs are declared to be."""


@dataclass(frozen=True, kw_only=True)
class Declared:
    """What a study says of outputs besides their units.

    Attributes
    ----------
    ranges
        Least and most that an output can be, in SI, by quantity; what lies outside is an accident.
    stated
        Quantities of which the study states the least.
    infeasible
        What is written of a name where a design is infeasible, texts or numbers as written.
    exits
        Exit statuses that say so.
    """

    ranges: Ranges = field(default_factory=dict, hash=False)
    stated: frozenset[str] = frozenset()
    infeasible: Mapping[str, Sequence[str]] = field(default_factory=dict, hash=False)
    exits: Sequence[int] = ()


NO_OUTPUTS = Declared()

_STATED = "where it is right, state `least` of the output"


def values(
    text: bytes, outputs: Mapping[str, str], file: str, declared: Declared = NO_OUTPUTS
) -> dict[str, float]:
    """Return in SI what a program wrote, by quantity.

    The last object of JSON that stands on lines of its own and names an output, or the one that
    the text begins with; lines otherwise, of which those count whose name is that of an output.
    A name is that of the quantity, with its unit suffix
    or without it; a value has a unit, or is in the one declared.

    Parameters
    ----------
    text
        All of what was written.
    outputs
        Unit in which each is written, by quantity, as `dse.contract.evaluators.Evaluator` has it.
    file
        What it was written into, for messages.
    declared
        What else is known of them.

    Raises
    ------
    UnusableOutputError
        It cannot be read, or a value is missing, doubled, not finite, of another dimension or
        outside its range.
    InfeasibleDesign
        It says that the design is infeasible.

    Examples
    --------
    >>> values(b"area = 12 um2\\npower = 3\\n", {"area_m2": "um2", "power_w": "mW"}, "x")
    {'area_m2': 1.2e-11, 'power_w': 0.003}
    """
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
    names = {name for quantity in outputs for name in (quantity, stem(quantity))}
    pairs = _object(words, file, names | declared.infeasible.keys()) or _lines(words, file)
    for name, given in pairs:
        for said in declared.infeasible.get(name, ()):
            if _is_written(str(given).strip(), said):
                raise InfeasibleDesign(f"{name} is {said}")
    found = _found(pairs, outputs, file)
    for quantity, (least, most) in declared.ranges.items():
        if not least <= found[quantity] <= most:
            value = show(found[quantity], quantity)
            side = f"least, {show(least, quantity)}" if found[quantity] < least else ""
            side = side or f"most, {show(most, quantity)}"
            where = f"{file}: {stem(quantity)}"
            raise UnusableOutputError(f"{where}: {value} is beyond its {side}")
    _check_units(found, declared, file)
    return found


def _check_units(found: Mapping[str, float], declared: Declared, file: str) -> None:
    """Raise for a number that cannot be of its unit, unless the study states its least."""
    for quantity, number in found.items():
        if wrong := fault_of(number, quantity, signed=quantity in declared.stated):
            shown = show(number, quantity)
            raise UnusableOutputError(
                f"{file}: {stem(quantity)}: {shown}; {'; '.join(wrong)}; {_STATED}"
            )


def _is_written(written: str, said: str) -> bool:
    """Tell whether a value is what was declared: the same text, or the same number."""
    try:
        return float(written.partition(" ")[0]) == float(said)
    except ValueError:
        return written == said


def read(path: Path) -> bytes:
    """Return the beginning of a file, one byte more than `values` takes; empty if it is none.

    Raises
    ------
    UnusableOutputError
        It cannot be read, or is not a file: a pipe would be waited for.
    """
    try:
        if not path.is_file():
            raise UnusableOutputError(f"there is no file {path.name}")
        with path.open("rb") as file:
            return file.read(OUTPUT_BYTE + 1)
    except OSError as error:
        raise UnusableOutputError(f"{path.name} cannot be read: {error.strerror}") from error


def _object(text: str, file: str, names: set[str]) -> list[tuple[str, Any]]:
    """Return the entries of an object of JSON, those that stand twice twice; none without one."""
    pairs: list[list[tuple[str, Any]]] = []
    found: list[tuple[str, Any]] = []
    end = 0

    def entries(read: list[tuple[str, Any]]) -> dict[str, Any]:
        pairs.append(read)
        return dict(read)

    decoder = json.JSONDecoder(object_pairs_hook=entries, parse_int=str, parse_float=str)
    try:
        for brace in _BRACE.finditer(text):
            if brace.start() < end:
                continue
            try:
                _, end = decoder.raw_decode(text, brace.start())
            except json.JSONDecodeError as error:
                if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated"):
                    raise  # it was cut
            else:
                alone = _REST.match(text, end) and any(name in names for name, _ in pairs[-1])
                found = pairs[-1] if alone else found
        if not found and text.lstrip().startswith("{"):
            decoder.decode(text)
            found = pairs[-1]
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


def _found(
    pairs: Iterable[tuple[str, Any]], outputs: Mapping[str, str], file: str
) -> dict[str, float]:
    written: dict[str, Any] = {}
    others: list[str] = []
    names = {name: quantity for quantity in outputs for name in (stem(quantity), quantity)}
    for name, value in pairs:
        if name not in names:
            others.append(name)
        elif names[name] in written:
            raise UnusableOutputError(f"{file} has {name!r} twice")
        else:
            written[names[name]] = value
    for quantity in outputs:
        if quantity not in written:
            shown = [other[:NAME_CHARACTERS] for other in others[:100]]
            more = f"; {nearest(stem(quantity), shown)}" if shown else ""
            raise UnusableOutputError(f"{file} has no {stem(quantity)!r}{more}")
    return {
        quantity: _value(written[quantity], quantity, unit, file)
        for quantity, unit in outputs.items()
    }


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
    """Return what is a number alone with the unit in which it is declared."""
    try:
        float(text)
    except ValueError:
        return text
    return f"{text} {unit}" if text[-1] in "0123456789." else text  # not nan, not inf
