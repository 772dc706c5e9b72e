"""Claims of a paper read from a table, one per row; our values from functions called by name.

The columns of a table:

name
    Unique, such as ``logca-5.4-apu-gemm-regions``; the word before the first hyphen is the paper.
where
    Section, table, equation or figure.
statement
    What it says, in our words.
printed
    What is printed: a number, a name, ``true`` for a statement, or a bound such as ``< 0.5``.  A
    call, written like ``ours``, gives what a printed equation comes to.
unit
    Unit of the number, empty for plain numbers.
tolerance
    How far ours may be off: not at all where it is empty; ``rounded``, by half a unit in the last
    digit that is printed; ``rounded to 0.01``, by 0.005; ``1e-9``, by that share.
ours
    What our models give, in the same unit: a function and its arguments, such as
    ``device_speedup(apu, aes, 128)``.  Empty where it cannot be checked.
inputs
    Where every input comes from, separated by semicolons; ``none`` where it cannot be checked.
reason
    Why it disagrees or cannot be checked, or why a tolerance is wider than rounding.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal
from difflib import get_close_matches
from importlib.resources.abc import Traversable
from typing import TypeVar

from dse.contract.papers import Claim, ClaimValue, Laboratory
from dse.contract.published import PublishedTable, read_published

CLAIM_COLUMNS = (
    *("name", "where", "statement", "printed", "unit", "tolerance", "ours", "inputs", "reason"),
)
_FILLED = ("name", "where", "statement", "printed", "inputs")
_STUDIES = "laboratory"
"""The parameter of a function that asks for studies."""

_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_CALL = re.compile(r"(\w+)\((.*)\)")
_ROUNDED, _TO = "rounded", "rounded to "
_TIE = 1 + 1e-9
"""A value half-way between two printed ones may have been rounded to either."""

Functions = Mapping[str, Callable[..., ClaimValue]]
Added = TypeVar("Added", bound=Callable[..., ClaimValue])


class ClaimTableError(ValueError):
    """A table of claims that cannot be read: every faulty row, one on a line."""


class ClaimFunctions(dict[str, Callable[..., ClaimValue]]):
    """Functions that a table of claims may call, by name; used as a decorator, it adds one.

    A function takes the arguments of the call: numbers where they read like numbers, else text.
    One that asks for studies takes a `Laboratory` before them, called ``laboratory``.
    """

    def __call__(self, function: Added) -> Added:
        """Add a function under its own name."""
        self[function.__name__] = function
        return function


def read_claims(table: Traversable, functions: Functions) -> tuple[Claim, ...]:
    """Return the claims of a table, in its order.

    Parameters
    ----------
    table
        A file with the columns `CLAIM_COLUMNS`.
    functions
        By name, those that the table may call.

    Raises
    ------
    ClaimTableError
        With file and line: a column is missing or unknown, a cell is empty or cannot be read, a
        name stands twice, a function is unknown or takes other arguments.
    """
    found = read_published(table)
    if faults := list(_header_faults(found)):
        raise ClaimTableError("\n".join(faults))
    claims: dict[str, Claim] = {}
    for line, row in zip(found.lines, found.rows, strict=True):
        try:
            claim = _claim(row, functions)
            if claim.name in claims:
                raise ClaimTableError(f"{claim.name!r} stands twice; names are unique: rename one")
            claims[claim.name] = claim
        except ClaimTableError as fault:
            faults.append(f"{found.file}:{line}: {fault}")
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
            yield f"{where}{name!r} is not a column of claims; {_nearest(name, CLAIM_COLUMNS)}"


def _claim(row: Mapping[str, str], functions: Functions) -> Claim:
    if None in row or None in row.values():
        raise ClaimTableError(
            "this row has more or fewer cells than the header; quote a cell that contains a comma"
        )
    cells = {name: cell.strip() for name, cell in row.items()}
    for name in _FILLED:
        if not cells[name]:
            raise ClaimTableError(f"{name} is empty; fill it in")
    printed = _printed(cells["printed"], functions)
    return Claim(
        name=cells["name"],
        paper=cells["name"].partition("-")[0],
        where=cells["where"],
        statement=cells["statement"],
        printed=printed,
        unit=cells["unit"],
        ours=_when_asked(cells["ours"], functions) if cells["ours"] else None,
        tolerance=_tolerance(cells["tolerance"], cells["printed"], printed),
        reason=cells["reason"],
        inputs=tuple(part.strip() for part in cells["inputs"].split(";")),
    )


def _printed(cell: str, functions: Functions) -> ClaimValue:
    if _NUMBER.fullmatch(cell):
        return float(cell)
    if cell.lower() in ("true", "false"):  # a spreadsheet writes TRUE
        return cell.lower() == "true"
    if not _CALL.fullmatch(cell):
        return cell
    function, arguments = _call(cell, functions)
    try:
        return function(*arguments)
    except Exception as error:  # whatever a model raises
        raise ClaimTableError(
            f"{cell} cannot be computed: {type(error).__name__}: {error}; repair the call, or "
            "write what is printed"
        ) from error


def _tolerance(cell: str, written: str, printed: ClaimValue) -> float:
    """Return the largest relative error that a cell allows for a printed number."""
    if not cell:
        return 0.0
    if isinstance(printed, bool | str) or not printed:
        raise ClaimTableError(f"only a number but 0 has a tolerance, not {written}; leave it out")
    if cell == _ROUNDED and _NUMBER.fullmatch(written):
        number = Decimal(written)
        return float(Decimal(1).scaleb(int(number.as_tuple().exponent)) / 2 / abs(number))
    place = cell.removeprefix(_TO)
    if not _NUMBER.fullmatch(place):
        raise ClaimTableError(
            f"{cell!r} is no tolerance of {written}; write 'rounded' if its digits show the last "
            "place, else 'rounded to 0.01', or a relative error such as 1e-9"
        )
    return float(place) if place == cell else float(place) / 2 / abs(printed) * _TIE


def _when_asked(cell: str, functions: Functions) -> Callable[[Laboratory], ClaimValue]:
    function, arguments = _call(cell, functions)
    if _STUDIES in inspect.signature(function).parameters:
        return lambda laboratory: function(laboratory, *arguments)
    return lambda _: function(*arguments)


def _call(cell: str, functions: Functions) -> tuple[Callable[..., ClaimValue], list[float | str]]:
    """Return the function and the arguments of a call such as ``device_speedup(apu, aes, 128)``."""
    call = _CALL.fullmatch(cell)
    if not call:
        raise ClaimTableError(f"{cell!r} is no call; write a function and arguments, as f(a, b)")
    name, inside = call.groups()
    if name not in functions:
        raise ClaimTableError(f"{name!r} is not a known function; {_nearest(name, functions)}")
    arguments = [_argument(part.strip()) for part in inside.split(",")] if inside.strip() else []
    signature = inspect.signature(functions[name])
    takes = [parameter for key, parameter in signature.parameters.items() if key != _STUDIES]
    try:
        signature.replace(parameters=takes).bind(*arguments)
    except TypeError as error:
        wanted = ", ".join(map(str, takes)) or "nothing"
        raise ClaimTableError(f"{cell}: {error}; {name} takes {wanted}") from None
    return functions[name], arguments


def _argument(text: str) -> float | str:
    return float(text) if _NUMBER.fullmatch(text) or text == "inf" else text


def _nearest(name: str, known: Iterable[str]) -> str:
    close = get_close_matches(name, list(known), n=1, cutoff=0.5)
    return f"did you mean {close[0]!r}?" if close else f"known: {', '.join(known)}"
