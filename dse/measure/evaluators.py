"""Programs and functions of the user that measure one design, and the numbers that they give."""

from __future__ import annotations

import ast
import hashlib
import inspect
import json
import os
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from string import Formatter
from typing import Any

from dse.algebra.magnitudes import fault_of
from dse.algebra.units import factor, parse, show, stem
from dse.contract.evaluators import INFEASIBLE, Measurement, Ranges, Value
from dse.errors import DseError, UnitError, nearest
from dse.measure import called
from dse.measure.called import INPUT_NAME, OUTPUT_NAME, outcome
from dse.workers.programs import OUTPUT_BYTE, Ended, how_it_ended, machine_byte, supervised
from dse.workers.supervisor import OUTPUT

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
    """Declaration of outputs, by quantity.

    These are their units, their least and most possible values in SI, beyond which a value is an
    accident, the quantities whose least value the study `stated`, and the exit statuses of
    infeasible designs.
    """

    units: Mapping[str, str] = field(default_factory=dict, hash=False)
    ranges: Ranges = field(default_factory=dict, hash=False)
    stated: frozenset[str] = frozenset()
    exits: Sequence[int] = ()


NO_OUTPUTS = Declared()


def values(
    text: bytes, outputs: Mapping[str, str], file: str, declared: Declared = NO_OUTPUTS
) -> dict[str, float]:
    """Return the outputs in a whole text, called `file` in messages, in SI, by quantity.

    A text that begins with a brace is an object of JSON.  Lines of any other text count that
    begin with the name of an output, with or without its unit suffix.  `outputs` are the units of
    numbers without a unit.

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
        if wrong := _wrong(number, quantity, declared):
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

    It is an `UnusableOutputError` if it cannot be read, or is not a file: a pipe would block.
    """
    try:
        if not path.is_file():
            raise UnusableOutputError(f"there is no file {path.name}")
        with path.open("rb") as file:
            return file.read(OUTPUT_BYTE + 1)
    except OSError as error:
        raise UnusableOutputError(f"{path.name} cannot be read: {error.strerror}") from error


CAUSE_CHARACTERS = 100
"""Longest last line of standard error in a cause."""

PLACES = ("input", "output", "study")
"""Placeholders that are no axes: the files of the design and its outputs, the study's folder."""


@dataclass(frozen=True, kw_only=True)
class Command:
    """A program that measures one design, started without a shell.

    It runs in a separate working folder and session, without standard input.  The file
    ``design.json`` there has the value of each axis as JSON.  Its outputs are in the file
    ``outputs`` if it writes one, otherwise on standard output.

    Attributes
    ----------
    arguments
        The program and its arguments.  ``{axis}`` is replaced by the value of an axis, ``{input}``
        and ``{output}`` by the paths of the two files, ``{study}`` by `beside`.
    beside
        The folder of the study, where the relative path of a program begins.
    units
        Unit of the numbers of an axis for the program, by axis, or SI.
    timeout_s, memory_byte
        Limits of an attempt and of each process, or None for the limits of the machine.
    """

    arguments: Sequence[str]
    outputs: Mapping[str, str] = field(hash=False)
    identity: str
    beside: str
    units: Mapping[str, str] = field(default_factory=dict, hash=False)
    timeout_s: float | None = None
    memory_byte: int | None = None
    declared: Declared = NO_OUTPUTS

    def measure(
        self, design: Mapping[str, Value], folder: Path, stop: Callable[[], bool]
    ) -> Measurement:
        """Measure one design once, and end the program when `stop`, polled at 10 Hz, is True."""
        folder = folder.absolute()
        written = {name: _number(value, self.units.get(name, "")) for name, value in design.items()}
        text = json.dumps(written, indent=2) + "\n"
        (folder / INPUT_NAME).write_text(text, encoding="utf-8")
        arguments = self._arguments(written, folder)
        ended = supervised(
            arguments,
            folder=folder,
            environment=os.environ,
            timeout_s=self.timeout_s,
            stop=stop,
            memory_byte=self.memory_byte,
        )
        try:
            self._require_success(ended, arguments[0])
            return Measurement(values=self._values(ended, folder), said=ended.said)
        except UnusableOutputError as error:
            return Measurement(values={}, cause=str(error), kind=error.kind, said=ended.said)

    def _arguments(self, written: Mapping[str, int | float | str], folder: Path) -> list[str]:
        places = {"input": str(folder / INPUT_NAME), "output": str(folder / OUTPUT_NAME)}
        given = {**written, **places, "study": self.beside}
        found = [argument.format_map(given) for argument in self.arguments]
        if "/" in found[0]:
            found[0] = os.path.join(self.beside, found[0])
        return found

    def _require_success(self, ended: Ended, program: str) -> None:
        """Raise an error with the kind and cause of a failure."""
        kind, cause = "", _how(ended)
        if ended.unstarted:
            there = "/" in program and os.path.isfile(program) and os.access(program, os.X_OK)
            hint = "; the file is there, but perhaps not the interpreter that its first line names"
            kind = "start" if ended.lasting else "worker"
            cause = f"{program} cannot be started: {ended.unstarted}{hint * there}"
        elif ended.status in self.declared.exits:
            kind = INFEASIBLE
        elif ended.why == "timeout":
            kind, cause = "timeout", f"it took longer than {self.timeout_s:g} s"
        elif ended.why == "memory":
            most = show(self.memory_byte or machine_byte(), "memory_byte")
            kind, cause = "memory", f"it took more memory than {most} (evaluate.memory): {cause}"
        elif ended.why:
            kind, cause = "worker", "it was stopped"
        elif ended.status is None:
            kind, cause = "worker", "the process that watched over it was ended"
        elif ended.status:
            kind = "signal" if ended.status < 0 else "exit"
        if kind:
            raise UnusableOutputError(cause, kind)

    def _values(self, ended: Ended, folder: Path) -> dict[str, float]:
        path = folder / OUTPUT_NAME
        if "output" in placeholders(self.arguments) or path.exists():
            return values(read(path), self.outputs, path.name, self.declared)
        if ended.cut:
            raise UnusableOutputError("standard output is longer than what is read of it")
        return values(read(folder / OUTPUT), self.outputs, "standard output", self.declared)


@dataclass(frozen=True, kw_only=True)
class FileFunction(Command):
    """A function, by `name`, of a `file` of Python, which a program calls with the axes in SI."""

    arguments: Sequence[str] = ()
    file: str
    name: str

    def _arguments(self, written: Mapping[str, int | float | str], folder: Path) -> list[str]:
        return [sys.executable, "-P", called.__file__, self.file, self.name]

    def _values(self, ended: Ended, folder: Path) -> dict[str, float]:
        return _returned(self, *json.loads(read(folder / OUTPUT_NAME)))


def placeholders(arguments: Iterable[str]) -> Iterator[str]:
    """Yield the name of each placeholder, or raise `ValueError` for a brace that is not closed.

    Examples
    --------
    >>> list(placeholders(["./synth.sh", "{unroll}", "-f={clock}", "{{braces}}"]))
    ['unroll', 'clock']
    """
    for argument in arguments:
        for _, name, unit, conversion in Formatter().parse(argument):
            if name is not None:
                name += f"!{conversion}" if conversion else ""
                yield f"{name}:{unit}" if unit else name


def wrong_arguments(arguments: Sequence[str], axes: Iterable[str]) -> list[tuple[int, str, str]]:
    """Return position, rule and remedy of each argument that no design can complete.

    Examples
    --------
    >>> wrong_arguments(["./synth.sh", "{unrol}"], ["unroll"])
    [(1, "'{unrol}' is no axis", "did you mean 'unroll'?")]
    """
    known = [*axes, *PLACES]
    found = []
    if not arguments or not arguments[0]:
        found.append((0, "the command is empty", "write a list: the program, then its arguments"))
    for position, argument in enumerate(arguments):
        if "\0" in argument:
            found.append((position, "an argument cannot hold a zero byte", "leave it out"))
        try:
            wrong = [name for name in placeholders([argument]) if name not in known]
        except ValueError as error:
            rule = f"{argument!r} has a brace by itself: {error}"
            found.append((position, rule, "write '{{' or '}}' for a brace"))
            continue
        found += [(position, f"'{{{name}}}' is no axis", nearest(name, known)) for name in wrong]
    return found


def _how(ended: Ended) -> str:
    """Return how a program ended, with the beginning of its last line on standard error."""
    last = ended.said.strip().rpartition("\n")[2].strip()
    shown = last if len(last) <= CAUSE_CHARACTERS else f"{last[:CAUSE_CHARACTERS]}..."
    return how_it_ended(ended.status or 0) + (f" with the message {shown!r}" if shown else "")


def _number(value: Value, unit: str) -> int | float | str:
    """Return a value in a unit, as the nearest number that a program can read."""
    if isinstance(value, str):
        return value
    exact = Fraction(repr(float(value))) / factor(unit)[0]
    return int(exact) if exact.denominator == 1 and abs(exact) < 2**53 else float(exact)


@dataclass(frozen=True, kw_only=True)
class FunctionEvaluator:
    """A function with an argument for each axis, which returns outputs by name.

    It gets numbers in SI and choices as texts, as keyword arguments.  It returns numbers in the
    units of `outputs`, or texts with their own (``"3 mW"``), and raises `InfeasibleDesign` for an
    infeasible design.  Any other exception is an accident.
    """

    function: Callable[..., Mapping[str, float | str]]
    outputs: Mapping[str, str] = field(hash=False)
    identity: str
    declared: Declared = NO_OUTPUTS

    def measure(
        self, design: Mapping[str, Value], folder: Path, stop: Callable[[], bool]
    ) -> Measurement:
        """Measure one design once.  Exceptions of the function become causes."""
        try:
            found = _returned(self, *outcome(self.function, design))
            return Measurement(values=found)
        except UnusableOutputError as error:
            return Measurement(values={}, cause=str(error), kind=error.kind)


def _returned(
    evaluator: FunctionEvaluator | FileFunction, kind: str, cause: str, text: str
) -> dict[str, float]:
    """Return the outputs of a function from what `outcome` returned for it."""
    if kind:
        raise UnusableOutputError(cause, kind)
    return values(text.encode(), evaluator.outputs, RETURNED, evaluator.declared)


def require_function(text: str, name: str, axes: Collection[str]) -> None:
    """Raise `UnitError` if a Python file lacks a function of these axes, without running it.

    Examples
    --------
    >>> require_function("def area(unroll, width=8): ...", "area", ["unroll"])
    """
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise UnitError(f"the file is no Python: {error}", "repair it") from error
    known = {one.name: one.args for one in tree.body if isinstance(one, ast.FunctionDef)}
    if name not in known:
        remedy = nearest(name, known) if known else f"write `def {name}(...)`"
        raise UnitError(f"the file defines no function {name!r}", remedy)
    given = known[name]
    if not _takes(given, {*axes}):
        names = [one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
        taken = ", ".join(names) or "nothing"
        rule = f"{name} is called with {', '.join(axes)}, by name, and it takes {taken}"
        raise UnitError(rule, "name its arguments and the axes alike")


def _takes(given: ast.arguments, axes: set[str]) -> bool:
    """Return whether a function with some arguments can be called with these axes by name."""
    names = {one.arg for one in (*given.args, *given.kwonlyargs)}
    required = {one.arg for one in given.args[: len(given.args) - len(given.defaults)]}
    pairs = zip(given.kwonlyargs, given.kw_defaults, strict=True)
    required |= {one.arg for one, default in pairs if default is None}
    known = given.kwarg is not None or axes <= names
    return known and required <= axes and not given.posonlyargs


def code_identity(function: Callable[..., object]) -> str:
    """Return the name of a function with a hash of its text, if there is one.

    For a callable object, these are of its class: a version names its state.
    """
    named = function if hasattr(function, "__qualname__") else type(function)
    name = f"{named.__module__}.{named.__qualname__}"
    try:
        text = inspect.getsource(named)
    except (OSError, TypeError):
        return name
    return f"{name} {hashlib.sha256(text.encode()).hexdigest()}"
