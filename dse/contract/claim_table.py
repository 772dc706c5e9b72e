"""Claims of a paper read from a table, one per row; our values from functions called by name.

The columns of a table:

name
    Unique, such as ``logca-5.4-apu-gemm-regions``; the word before the first hyphen is the paper.
where
    Section, table, equation or figure.
statement
    What it says, in our words.
printed
    What is printed: a number, a name, ``true`` for a statement, or a bound such as ``< 0.5``.
unit
    Unit of the number, empty for plain numbers.
rounded_to
    To what a number is rounded: empty for its last digit that counts, where zeros at the end of a
    whole number do not; ``1`` or ``0.01``; ``octave`` for what is read off a figure drawn at powers
    of two, which may be off by a factor of two.
ours
    What our models give, in the same unit: a function and its arguments, such as
    ``device_speedup(apu, aes, 128)``.  Empty where it cannot be checked or depends on a reading.
verdict
    Empty where it is computed: agrees, agrees within the inputs' rounding, cannot be checked.  Else
    a judgement: ``contradicts itself``, ``residual of a fit`` (how far off is reported, no more) or
    ``depends on a reading``.
against
    What else is printed, and where, that a contradiction is with; ``ours`` follows from it.
readings
    What each reading gives: ``at 1/4 flop/B = platform(0.25); at 1/2 flop/B = platform(0.5)``; a
    reading without a call gives nothing to compare.
refers_to
    The row that tells the finding of which this one is a part; one of a contradiction may depend on
    a reading.
inputs
    Where every input comes from, separated by semicolons; ``none`` where it cannot be checked.
reason
    Why the verdict is what it is.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from difflib import get_close_matches
from importlib.resources.abc import Traversable
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

from dse.contract.papers import (
    CONTRADICTION,
    JUDGEMENTS,
    READING,
    Claim,
    ClaimAnswer,
    ClaimValue,
    last_digit,
)
from dse.contract.published import PublishedTable, read_published

CLAIM_COLUMNS = (
    *("name", "where", "statement", "printed", "unit", "rounded_to", "ours"),
    *("verdict", "against", "readings", "refers_to", "inputs", "reason"),
)
_FILLED = ("name", "where", "statement", "printed", "inputs")
_OCTAVE = "octave"
_PARTS = {CONTRADICTION: (CONTRADICTION, READING), READING: (READING,)}
"""Verdicts of rows that may be part of one: of a contradiction, what any reading of it gives."""
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_CALL = re.compile(r"(\w+)\((.*)\)")
_LENT = ("laboratory", "printed")
"""What a function may ask for besides its arguments: studies, and inputs within their rounding."""

Functions = Mapping[str, Callable[..., ClaimValue]]
Named = Mapping[str, Path]
Added = TypeVar("Added", bound=Callable[..., ClaimValue])


class ClaimTableError(ValueError):
    """A table of claims that cannot be read: every faulty row, one on a line."""


class ClaimFunctions(dict[str, Callable[..., ClaimValue]]):
    """Functions that a table of claims may call, by name; used as a decorator, it adds one.

    A function takes the arguments of the call: numbers where they read like numbers, else text.
    Before them it may take a `Laboratory`, called ``laboratory``, which gives it studies, and
    `PrintedNumbers`, called ``printed``, through which it reads inputs that are rounded.
    """

    def __call__(self, function: Added) -> Added:
        """Add a function under its own name."""
        self[function.__name__] = function
        return function


def read_claims(
    table: Traversable, functions: Functions, named: Named = MappingProxyType({})
) -> tuple[Claim, ...]:
    """Return the claims of a table, in its order.

    Parameters
    ----------
    table
        A file with the columns `CLAIM_COLUMNS`.
    functions
        By name, those that the table may call.
    named
        Files that stand in place of arguments which are their names.

    Raises
    ------
    ClaimTableError
        With file and line: a column is missing or unknown, a cell is empty or cannot be read or
        has no place beside its verdict, a name stands twice, a function is unknown or takes other
        arguments, a row refers to one that does not tell the same finding.
    """
    found = read_published(table)
    if faults := list(_header_faults(found)):
        raise ClaimTableError("\n".join(faults))
    claims: dict[str, Claim] = {}
    for line, row in zip(found.lines, found.rows, strict=True):
        place = f"{found.file}:{line}"
        try:
            claim = replace(_claim(row, functions, named), source=found.source, place=place)
            if claim.name in claims:
                raise ClaimTableError(f"{claim.name!r} stands twice; names are unique: rename one")
            claims[claim.name] = claim
        except ClaimTableError as fault:
            faults.append(f"{place}: {fault}")
    faults += _reference_faults(claims)
    if faults:
        raise ClaimTableError("\n".join(faults))
    return tuple(claims.values())


def _header_faults(table: PublishedTable) -> Iterator[str]:
    where = f"{table.file}:{table.header_line}: "
    for name in CLAIM_COLUMNS:
        if name not in table.header:
            columns = ", ".join(CLAIM_COLUMNS)
            yield f"{where}the column {name!r} is missing; the columns are {columns}"
    for name in table.header:
        if name not in CLAIM_COLUMNS:
            yield f"{where}{name!r} is not a column of claims; {_nearest_of(name, CLAIM_COLUMNS)}"


def _reference_faults(claims: Mapping[str, Claim]) -> Iterator[str]:
    for claim in claims.values():
        if not claim.refers_to:
            continue
        root = claims.get(claim.refers_to)
        if root is None:
            nearest = _nearest_of(claim.refers_to, claims)
            yield f"{claim.place}: refers_to names no row: {claim.refers_to!r}; {nearest}"
        elif root.refers_to:
            yield f"{claim.place}: {root.name!r} refers on; write {root.refers_to!r}"
        elif claim.verdict not in _PARTS.get(root.verdict, ()):
            yield (
                f"{claim.place}: {root.name!r} has another verdict; a row refers to one of "
                "the same finding"
            )


def _claim(row: Mapping[str, str], functions: Functions, named: Named) -> Claim:
    if None in row or None in row.values():
        raise ClaimTableError(
            "this row has more or fewer cells than the header; quote a cell that contains a comma"
        )
    cells = {name: cell.strip() for name, cell in row.items()}
    for name in _FILLED:
        if not cells[name]:
            raise ClaimTableError(f"{name} is empty; fill it in")
    for fault in _judgement_faults(cells):
        raise ClaimTableError(fault)
    plain = ("name", "where", "statement", "unit", "verdict", "against", "refers_to", "reason")
    return Claim(
        **{name: cells[name] for name in plain},
        paper=cells["name"].partition("-")[0],
        printed=_printed(cells["printed"]),
        rounding=_rounding(cells["printed"], cells["rounded_to"]),
        ours=_claim_answer(cells["ours"], functions, named) if cells["ours"] else None,
        readings=_readings(cells["readings"], functions, named),
        inputs=tuple(part.strip() for part in cells["inputs"].split(";")),
    )


def _judgement_faults(cells: Mapping[str, str]) -> Iterator[str]:
    """Say which cells lack beside a verdict, and which have no place there."""
    verdict = cells["verdict"]
    if verdict and verdict not in JUDGEMENTS:
        yield (
            f"{verdict!r} is no judgement; {_nearest_of(verdict, JUDGEMENTS)}  Leave it empty "
            "where the verdict is computed"
        )
    if bool(cells["against"]) != (verdict == CONTRADICTION):
        yield (
            "a contradiction has two sides: write under against what else is printed, and where"
            if verdict == CONTRADICTION
            else f"against belongs to the verdict {CONTRADICTION!r}; leave it out"
        )
    if bool(cells["readings"]) != (verdict == READING):
        yield (
            "write under readings what each reading gives: words = call; words = call"
            if verdict == READING
            else f"readings belong to the verdict {READING!r}; leave them out"
        )
    if verdict == READING and cells["ours"]:
        yield "ours has no place with readings; make it one of them"
    if verdict and verdict != READING and not cells["ours"]:
        yield f"ours is empty, and {verdict!r} needs it; fill it in"
    if (verdict or not cells["ours"]) and not (cells["reason"] or cells["refers_to"]):
        yield "reason is empty; say why the verdict is what it is"


def _printed(cell: str) -> ClaimValue:
    if _NUMBER.fullmatch(cell):
        return float(cell)
    if cell.lower() in ("true", "false"):  # a spreadsheet writes TRUE
        return cell.lower() == "true"
    return cell


def _rounding(written: str, rounded_to: str) -> tuple[float, float] | None:
    """Return from where to where a printed number can have been rounded; None for what is none."""
    if not _NUMBER.fullmatch(written):
        if rounded_to:
            raise ClaimTableError(f"only a number is rounded, not {written}; leave rounded_to out")
        return None
    number = float(written)
    if rounded_to == _OCTAVE:
        return number / 2, number * 2
    if rounded_to and not _NUMBER.fullmatch(rounded_to):
        raise ClaimTableError(
            f"{rounded_to!r} is nothing to round to; write a unit such as 0.01, {_OCTAVE}, or "
            "nothing where the last digit decides"
        )
    half = (float(rounded_to) if rounded_to else last_digit(written)) / 2
    return number - half, number + half


def _readings(cell: str, functions: Functions, named: Named) -> dict[str, ClaimAnswer | None]:
    readings: dict[str, ClaimAnswer | None] = {}
    for part in filter(None, (part.strip() for part in cell.split(";"))):
        words, _, call = (piece.strip() for piece in part.partition("="))
        readings[words] = _claim_answer(call, functions, named) if call else None
    evaluated = sum(answer is not None for answer in readings.values())
    if readings and (len(readings) < 2 or not evaluated):
        raise ClaimTableError(
            f"{len(readings)} readings, {evaluated} of them with a call; a verdict that depends on "
            "the reading has two, and both calls unless only one can be computed"
        )
    return readings


def _claim_answer(cell: str, functions: Functions, named: Named) -> ClaimAnswer:
    """Return the call of a cell as a function.

    Raises
    ------
    ClaimTableError
        It is no call, or one of an unknown function or with other arguments.
    """
    function, written = _call(cell, functions)
    arguments = [named.get(one, one) if isinstance(one, str) else one for one in written]
    taken = [name for name in _LENT if name in inspect.signature(function).parameters]

    def answer(laboratory: object, printed: object) -> ClaimValue:
        lent = {"laboratory": laboratory, "printed": printed}
        return function(*(lent[name] for name in taken), *arguments)

    return answer


def _call(cell: str, functions: Functions) -> tuple[Callable[..., ClaimValue], list[float | str]]:
    call = _CALL.fullmatch(cell)
    if not call:
        raise ClaimTableError(f"{cell!r} is no call; write a function and arguments, as f(a, b)")
    name, inside = call.groups()
    if name not in functions:
        raise ClaimTableError(f"{name!r} is not a known function; {_nearest_of(name, functions)}")
    parts = [part.strip() for part in inside.split(",")] if inside.strip() else []
    arguments = [float(one) if _NUMBER.fullmatch(one) or one == "inf" else one for one in parts]
    signature = inspect.signature(functions[name])
    takes = [parameter for key, parameter in signature.parameters.items() if key not in _LENT]
    try:
        signature.replace(parameters=takes).bind(*arguments)
    except TypeError as error:
        wanted = ", ".join(map(str, takes)) or "nothing"
        raise ClaimTableError(f"{cell}: {error}; {name} takes {wanted}") from None
    return functions[name], arguments


def _nearest_of(name: str, known: Iterable[str]) -> str:
    """Return a question for the nearest known name, or all of them."""
    close = get_close_matches(name, list(known), n=1, cutoff=0.5)
    return f"did you mean {close[0]!r}?" if close else f"known: {', '.join(known)}"
