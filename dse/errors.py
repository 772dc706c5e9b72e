"""The exception tree.  Every message has the place, the written text, the rule and the remedy."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from typing import Any, NamedTuple


class DseError(Exception):
    """An error reported to the user.  The command exits with `exit_code`."""

    exit_code = 2


FOREIGN = (Exception, SystemExit)
"""Exceptions that the code of a plug-in may raise.

They must not end the program, and must not pass for its own errors.
"""


@dataclass(frozen=True)
class Fault:
    """One error in a file.

    Attributes
    ----------
    where
        Dotted path inside the study, for instance ``workload.rate``.
    written
        The written text, as the user would recognise it.
    rule
        The rule that is broken.
    remedy
        A correct text.
    file, line, column
        Position, counted from 1, or 0 if it did not come from a file.
    """

    where: str
    written: str
    rule: str
    remedy: str
    file: str = ""
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        """Return ``file:line:column: path: written, rule, remedy`` on one line."""
        position = f"{self.file}:{self.line}:{self.column}: " if self.line else ""
        where = f"{self.where}: " if self.where else ""
        text = "; ".join(part for part in (self.written, self.rule, self.remedy) if part)
        return f"{position}{where}{text}"


MOST_FAULTS = 40
"""Most errors in one message.  A file with more has another problem than any of them."""

ENOUGH_FAULTS = 400
"""Number of errors that ends the reading of a file, since each search for a remedy takes time."""


class StudyError(DseError):
    """A study that cannot be run, with all its errors at once."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        """Keep the errors in the order of their positions in the file."""
        each = dict.fromkeys(faults)
        self.faults: Sequence[Fault] = sorted(each, key=lambda fault: (fault.line, fault.column))
        shown = [str(fault) for fault in self.faults[:MOST_FAULTS]]
        if len(self.faults) > MOST_FAULTS:
            least = "at least " if len(self.faults) >= ENOUGH_FAULTS else ""
            shown.append(f"... and {least}{len(self.faults) - MOST_FAULTS} more")
        super().__init__("\n".join(shown))


def refuse(faults: Iterable[Fault]) -> None:
    """Raise StudyError with all errors at once, if there are any.

    Raises
    ------
    StudyError
        There is an error.
    """
    if found := [*faults]:
        raise StudyError(found)


def _faults(error: DseError) -> Sequence[Fault]:
    if isinstance(error, StudyError):
        return error.faults
    return [Fault("", "", str(error), "")]


def results_of(*steps: Callable[[], Any]) -> list[Any]:
    """Return the results of steps that do not need each other.

    Raises
    ------
    StudyError
        The errors of all steps at once.
    """
    found: list[Any] = []
    faults: list[Fault] = []
    for step in steps:
        try:
            found.append(step())
        except DseError as error:
            faults += _faults(error)
    refuse(faults)
    return found


def faults_of(error: DseError) -> Iterator[dict[str, str | int]]:
    """Yield each error as plain data.  Line and column are 0 if unknown."""
    for fault in _faults(error):
        yield {
            "file": fault.file,
            "line": fault.line,
            "column": fault.column,
            "path": fault.where,
            "written": fault.written,
            "rule": fault.rule,
            "remedy": fault.remedy,
        }


class ArgumentError(DseError):
    """An argument of a function that is not of the required kind."""


class _RuleError(DseError):
    """A broken rule and its remedy."""

    def __init__(self, rule: str, remedy: str) -> None:
        """Keep the rule and the remedy apart, so that a `Fault` can show both."""
        self.rule = rule
        self.remedy = remedy
        super().__init__(f"{rule}; {remedy}")


class UnitError(_RuleError):
    """A value whose unit is missing, unknown or of another dimension."""


class ExpressionError(UnitError):
    """An expression that is not allowed, or names something that does not exist."""


class MeasurementError(DseError):
    """A design could not be measured, and the study requires the search to end then."""


class BudgetError(DseError):
    """The time for measurements is used up.  Results until then hold."""


class ContractError(DseError):
    """A plug-in broke its contract: the message names the quantity and the design point."""


class EvaluationError(ContractError):
    """The function of a plug-in fails for some designs."""

    def __init__(self, message: str, remedy: str) -> None:
        """Keep the cause and the remedy apart, so that the design can be named between them."""
        self.message = message
        super().__init__(f"{message}; {remedy}")


class NotFiniteError(ContractError):
    """A number of a design that meets every constraint is infinite or missing."""


class PluginError(_RuleError):
    """A plug-in cannot be used."""


class UnknownPluginError(PluginError):
    """No plug-in has this name."""


class DuplicatePluginError(PluginError):
    """Two plug-ins have the same name."""


class BrokenPluginError(PluginError):
    """A plug-in fails to import."""


class WrongTypePluginError(PluginError):
    """An entry point leads to an object that is not a record of its group."""


class MisnamedPluginError(PluginError):
    """An entry point and the record that it leads to have different names."""


class TooLargeError(DseError):
    """A space that the method cannot finish.  The message prints its size."""


class InfeasibleError(DseError):
    """No design meets every constraint.  `facts` has the message as plain data."""

    exit_code = 3

    def __init__(self, text: str, facts: Mapping[str, object]) -> None:
        """Keep the facts with the text."""
        self.facts = facts
        super().__init__(text)


class NothingFoundError(DseError):
    """A search was interrupted before it found a feasible design."""


class MissingLibraryError(DseError):
    """A library that an extra installs is needed, and is not there."""

    def __init__(self, what: str, library: str, extra: str, instead: str = "") -> None:
        """State that `what` needs the library, its installation, and an alternative (`instead`)."""
        remedy = f'pip install "accel-dse[{extra}]"'
        super().__init__(f"{what} needs {library}, which is not installed; {remedy}{instead}")


def extra_module(module: str, what: str, library: str, extra: str, instead: str = "") -> Any:
    """Import and return a module that needs the library of an extra.

    Raises
    ------
    MissingLibraryError
        The library is not installed.  The error takes the other arguments.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingLibraryError(what, library, extra, instead) from error


class OutputError(DseError):
    """The run folder cannot be written."""


class StoreError(DseError):
    """A store whose measurements cannot be written or read back."""


_COMMA = re.compile(r"[+-]?[0-9]+(?:,[0-9]+)+(?:\.[0-9]*)?")
_THOUSANDS = re.compile(r"[+-]?[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]*)?")


def comma(number: str) -> tuple[str, str] | None:
    """Return rule and remedy when a number is written with commas, else None.

    Examples
    --------
    >>> comma("8,5")
    ('a number has a decimal point', 'write 8.5')
    >>> comma("231,000")
    ('a number has no commas', 'write 231000, or 231.000 if the comma is the decimal one')
    """
    if not _COMMA.fullmatch(number):
        return None
    plain, point = number.replace(",", ""), number.replace(",", ".")
    if not _THOUSANDS.fullmatch(number):
        rule = "a number has a decimal point"
        return rule, f"write {point}" if point.count(".") == 1 else "write it with one"
    remedy = f"write {plain}"
    if point.count(".") == 1:
        remedy += f", or {point} if the comma is the decimal one"
    return "a number has no commas", remedy


def followed(remedy: str, other: str) -> str:
    """Return a remedy and another, which begins a sentence if the first is a question."""
    question = remedy.endswith("?")
    return f"{remedy} {other[0].upper()}{other[1:]}" if question else f"{remedy}; {other}"


def plural(number: int, word: str) -> str:
    """Return a number of things: ``1 row``, ``2,000 rows``."""
    return f"{number:,} {word}{'s' * (number != 1)}"


FEW_NAMES = 12
"""Number of names that are listed if no known name is close."""


def nearest(name: str, known: Iterable[str], cutoff: float = 0.5) -> str:
    """Return a remedy: the closest known names.  If no name is close, all, or the 12 shortest."""
    names = sorted(known)
    close = get_close_matches(name, names, n=3, cutoff=cutoff)
    if close:
        return "did you mean " + " or ".join(repr(match) for match in close) + "?"
    if len(names) > FEW_NAMES:
        names = get_close_matches(name, names, len(names), 0.0)
        names = [*sorted(names, key=lambda path: path.count("."))[:FEW_NAMES], "..."]
    return f"known: {', '.join(names)}" if names else "none are known"


_STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")

KeyPath = tuple[str | int, ...]
"""Keys and list positions from the top of the document."""


class Position(NamedTuple):
    """Position in a file.  Line and column count from 1."""

    line: int
    column: int
    file: str

    def fault(self, path: KeyPath, written: str, rule: str, remedy: str) -> Fault:
        """Return an error at this position."""
        return Fault(dotted(path), written, rule, remedy, **self._asdict())


def dotted(path: KeyPath) -> str:
    """Return keys joined by dots.  A key that cannot be printed is quoted."""
    parts = (str(part) for part in path)
    return ".".join(part if part.isprintable() else repr(part) for part in parts)


def quoted(value: Any) -> str:
    """Return a value as text in quotes, shortened."""
    return shortened(repr(value))


def shortened(text: str) -> str:
    """Return the beginning of a long text."""
    return text if len(text) <= 60 else f"{text[:57]}..."


def line_column(before: str) -> tuple[int, int]:
    """Return the position, counted from 1, that follows a text."""
    return before.count("\n") + 1, len(before) - before.rfind("\n")


def visible(text: str) -> str:
    """Return a text with its terminal control characters escaped.

    Examples
    --------
    >>> visible("a\x1b[2Jb")
    'a\\x1b[2Jb'
    """
    return _STEERING.sub(lambda found: ascii(found[0])[1:-1], text)
