"""Claims of a paper from a table, one per row, checked by functions called by name.

The columns of a table:

name
    Unique, such as ``logca-5.4-apu-gemm-regions``.  The word before the first hyphen is the paper.
where
    Section, table, equation or figure.
statement
    The claim in our words.
printed
    The printed value: a number, a name, ``true`` for a statement, or a bound such as ``< 0.5``.
unit
    Unit of the number, empty for plain numbers.
rounded_to
    Rounding of a number.  Empty for its last significant digit, which excludes zeros at the end
    of a whole number; ``1`` or ``0.01``; ``octave`` for a value read off a plot with an axis of
    powers of two, which may be off by a factor of two.
ours
    The value of our models, in the same unit: a function and its arguments, such as
    ``device_speedup(apu, aes, 128)``.  Empty if it cannot be checked or depends on a reading.
verdict
    Empty if it is computed: agrees, agrees within the inputs' rounding, cannot be checked.  Else
    a judgement: ``contradicts itself``, ``residual of a fit`` (only the deviation is reported) or
    ``depends on a reading``.
against
    For a contradiction: the other printed value and its place, from which ``ours`` follows.
readings
    Value for each reading: ``at 1/4 flop/B = platform(0.25); at 1/2 flop/B = platform(0.5)``.  A
    reading without a call has no value to compare.
refers_to
    The row with the finding of which this row is a part.  A row of a contradiction may depend on
    a reading.
inputs
    Source of every input, separated by semicolons.  ``none`` if it cannot be checked.
reason
    Reason for the verdict.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from importlib.resources.abc import Traversable
from typing import TypeVar

from dse.contract.papers import JUDGEMENTS, Claim, ClaimAnswer, ClaimValue, last_digit
from dse.contract.published import read_published

CLAIM_COLUMNS = (
    *("name", "where", "statement", "printed", "unit", "rounded_to", "ours"),
    *("verdict", "against", "readings", "refers_to", "inputs", "reason"),
)
_OCTAVE = "octave"
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_CALL = re.compile(r"(\w+)\((.*)\)")
_LENT = ("laboratory", "printed")
"""Optional first arguments of a function: studies, and inputs within their rounding."""

Functions = Mapping[str, Callable[..., ClaimValue]]
Added = TypeVar("Added", bound=Callable[..., ClaimValue])


class ClaimTableError(ValueError):
    """A row of a table of claims that cannot be read."""


class ClaimFunctions(dict[str, Callable[..., ClaimValue]]):
    """Functions that a table of claims may call, by name.  Used as a decorator, it adds one.

    A function takes the arguments of the call: numbers if they can be read as numbers, else text.
    Before them it may take a `Laboratory`, called ``laboratory``, for studies, and
    `PrintedNumbers`, called ``printed``, through which it reads inputs that are rounded.
    """

    def __call__(self, function: Added) -> Added:
        """Add a function under its own name."""
        self[function.__name__] = function
        return function


def read_claims(table: Traversable, functions: Functions) -> tuple[Claim, ...]:
    """Return the claims of a table with the columns `CLAIM_COLUMNS`, in its order.

    Raises
    ------
    ClaimTableError
        With file and line: a column is missing, a cell cannot be read, or it calls an unknown
        function or one with other arguments.
    """
    found = read_published(table)
    if set(found.header) != {*CLAIM_COLUMNS}:
        columns = ", ".join(CLAIM_COLUMNS)
        raise ClaimTableError(f"{found.file}:{found.header_line}: the columns are {columns}")
    claims = []
    for line, row in zip(found.lines, found.rows, strict=True):
        place = f"{found.file}:{line}"
        try:
            claims.append(_claim(row, functions, found.source, place))
        except (ValueError, TypeError, KeyError) as fault:
            raise ClaimTableError(f"{place}: {fault}") from fault
    return tuple(claims)


def _claim(row: Mapping[str, str], functions: Functions, source: str, place: str) -> Claim:
    cells = {name: row[name].strip() for name in CLAIM_COLUMNS}
    if cells["verdict"] not in ("", *JUDGEMENTS):
        raise ClaimTableError(f"{cells['verdict']!r} is no judgement: {', '.join(JUDGEMENTS)}")
    plain = ("name", "where", "statement", "unit", "verdict", "against", "refers_to", "reason")
    return Claim(
        **{name: cells[name] for name in plain},
        paper=cells["name"].partition("-")[0],
        source=source,
        place=place,
        printed=_printed(cells["printed"]),
        rounding=_rounding(cells["printed"], cells["rounded_to"]),
        ours=_answer(cells["ours"], functions),
        readings=dict(_readings(cells["readings"], functions)),
        inputs=tuple(part.strip() for part in cells["inputs"].split(";")),
    )


def _printed(cell: str) -> ClaimValue:
    if _NUMBER.fullmatch(cell):
        return float(cell)
    if cell.lower() in ("true", "false"):  # a spreadsheet writes TRUE
        return cell.lower() == "true"
    return cell


def _rounding(written: str, rounded_to: str) -> tuple[float, float] | None:
    """Return the range of values that round to a printed number, or None for other text."""
    if not _NUMBER.fullmatch(written):
        return None
    number = float(written)
    if rounded_to == _OCTAVE:
        return number / 2, number * 2
    half = (float(rounded_to) if rounded_to else last_digit(written)) / 2
    return number - half, number + half


def _readings(cell: str, functions: Functions) -> Iterator[tuple[str, ClaimAnswer | None]]:
    for part in filter(None, (part.strip() for part in cell.split(";"))):
        words, _, call = (piece.strip() for piece in part.partition("="))
        yield words, _answer(call, functions)


def _answer(cell: str, functions: Functions) -> ClaimAnswer | None:
    """Return the call of a cell as a function, or None for an empty cell."""
    if not cell:
        return None
    call = _CALL.fullmatch(cell)
    if not call or call[1] not in functions:
        raise ClaimTableError(f"{cell!r} calls none of the functions {', '.join(functions)}")
    function = functions[call[1]]
    parts = [part.strip() for part in call[2].split(",")] if call[2].strip() else []
    arguments = [float(one) if _NUMBER.fullmatch(one) or one == "inf" else one for one in parts]
    signature = inspect.signature(function)
    taken = [name for name in _LENT if name in signature.parameters]
    signature.bind(*taken, *arguments)

    def answer(laboratory: object, printed: object) -> ClaimValue:
        lent = {"laboratory": laboratory, "printed": printed}
        return function(*(lent[name] for name in taken), *arguments)

    return answer
