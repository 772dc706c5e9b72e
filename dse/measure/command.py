"""A program of the user that measures one design."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from string import Formatter

from dse.algebra.units import factor, show
from dse.contract.evaluators import INFEASIBLE, Measurement, Value
from dse.errors import nearest
from dse.measure import called
from dse.measure.called import INPUT_NAME, OUTPUT_NAME
from dse.measure.outputs import (
    NO_OUTPUTS,
    RETURNED,
    Declared,
    UnusableOutputError,
    read,
    values,
)
from dse.workers.programs import Ended, how_it_ended, machine_byte, supervised
from dse.workers.supervisor import OUTPUT

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
    outputs, identity
        As in `dse.contract.evaluators.Evaluator`.
    beside
        The folder of the study, where the relative path of a program begins.
    units
        Unit of the numbers of an axis for the program, by axis, or SI.
    timeout_s, memory_byte
        Limits of an attempt and of each process, or None for the limits of the machine.
    declared
        Exit statuses and ranges.
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
        places = {"input": folder / INPUT_NAME, "output": folder / OUTPUT_NAME}
        given = {**written, **places, "study": self.beside}
        found = [
            "".join(
                text + ("" if name is None else str(given[name]))
                for text, name, _, _ in Formatter().parse(argument)
            )
            for argument in self.arguments
        ]
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
    """A function of a file of Python, which a program calls with the axes in SI.

    Attributes
    ----------
    file, name
        Path of the file, and name of the function.
    """

    arguments: Sequence[str] = ()
    file: str
    name: str

    def _arguments(self, written: Mapping[str, int | float | str], folder: Path) -> list[str]:
        return [sys.executable, "-P", called.__file__, self.file, self.name]

    def _values(self, ended: Ended, folder: Path) -> dict[str, float]:
        kind, cause, text = json.loads(read(folder / OUTPUT_NAME))
        if kind:
            raise UnusableOutputError(cause, kind)
        return values(text.encode(), self.outputs, RETURNED, self.declared)


def placeholders(arguments: Iterable[str]) -> Iterator[str]:
    """Yield the name of each placeholder in arguments.

    Raises
    ------
    ValueError
        A brace is neither doubled nor closed.

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
