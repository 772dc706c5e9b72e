"""A program of the user's own that measures one design."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from string import Formatter

from dse.algebra.units import factor, show
from dse.contract.evaluators import INFEASIBLE, InfeasibleDesign, Measurement, Value
from dse.errors import UnitError, nearest
from dse.measure.outputs import NO_OUTPUTS, Declared, UnusableOutputError, read, values
from dse.workers.programs import Ended, how_it_ended, machine_byte, supervised
from dse.workers.supervisor import OUTPUT

CAUSE_CHARACTERS = 100
"""Most of the last line of standard error that is part of a cause."""

PLACES = ("input", "output", "study")
"""Placeholders that are no axes: the file of the design, that of the outputs, the study's folder"""


INPUT_NAME, OUTPUT_NAME = "design.json", "outputs"


@dataclass(frozen=True, kw_only=True)
class Command:
    """A program that measures one design: no shell reads its arguments.

    It runs in a working folder of its own, in a session of its own, with nothing on standard
    input.  It receives the design by its arguments and by a file, `design.json`, an object of JSON
    with the value of each axis; the path of that file is the placeholder ``{input}`` and the
    environment variable ``DSE_INPUT``.  It tells its outputs in the file ``{output}``
    (``DSE_OUTPUT``) if that is among its arguments or it writes it, and otherwise on standard
    output, as `dse.measure.outputs.values` reads them.

    Attributes
    ----------
    arguments
        The program and what it gets; ``{axis}`` stands for the value of an axis, ``{axis:unit}``
        for it in a unit, ``{study}`` for `beside`; ``{{`` and ``}}`` for one brace.
    outputs, identity
        As of `dse.contract.evaluators.Evaluator`.
    beside
        The folder of the study: a relative path of the program starts there, and a name without
        a slash is looked for in ``PATH``.
    units
        Unit in which an axis is written for the program, by axis; SI where it has none.
    timeout_s, memory_byte
        Of an attempt, and of each process; None for no limit but the machine's.
    declared
        What its exit statuses and outputs mean besides.
    """

    arguments: Sequence[str]
    outputs: Mapping[str, str] = field(hash=False)
    identity: str
    beside: str
    units: Mapping[str, str] = field(default_factory=dict, hash=False)
    timeout_s: float | None = None
    memory_byte: int | None = None
    declared: Declared = NO_OUTPUTS

    def measure(self, design: Mapping[str, Value], folder: Path) -> Measurement:
        """Measure one design once."""
        return self.measure_until(design, folder, lambda: False)

    def measure_until(
        self, design: Mapping[str, Value], folder: Path, stop: Callable[[], bool]
    ) -> Measurement:
        """Measure one design once; `stop` is polled ten times a second, and ends the program."""
        folder = folder.absolute()
        places = {"input": folder / INPUT_NAME, "output": folder / OUTPUT_NAME}
        inputs = {name: _number(value, self.units.get(name, "")) for name, value in design.items()}
        places["input"].write_text(json.dumps(inputs, indent=2) + "\n", encoding="utf-8")
        arguments = self._arguments(design, {name: str(path) for name, path in places.items()})
        begin = time.monotonic()
        ended = supervised(
            arguments,
            folder=folder,
            environment={
                **os.environ,
                **{f"DSE_{name.upper()}": str(path) for name, path in places.items()},
            },
            timeout_s=self.timeout_s,
            stop=stop,
            memory_byte=self.memory_byte,
        )
        seconds = time.monotonic() - begin
        kind, cause = self._failure(ended, arguments[0])
        found: dict[str, float] = {}
        if not cause:
            try:
                found = self._values(ended, folder)
            except InfeasibleDesign as said:
                kind, cause = INFEASIBLE, str(said)
            except UnusableOutputError as error:
                kind, cause = "output", str(error)
        return Measurement(values=found, cause=cause, kind=kind, seconds=seconds, said=ended.said)

    def _arguments(self, design: Mapping[str, Value], places: Mapping[str, str]) -> list[str]:
        places = {**places, "study": self.beside}
        found = []
        for argument in self.arguments:
            text = ""
            for literal, name, unit, _ in Formatter().parse(argument):
                text += literal
                if name in places:
                    text += places[name]
                elif name is not None:
                    text += str(_number(design[name], unit or self.units.get(name, "")))
            found.append(text)
        program = found[0]
        if "/" in program:
            found[0] = os.path.join(self.beside, program)
        return found

    def _failure(self, ended: Ended, program: str) -> tuple[str, str]:
        """Return kind and cause of a failure; both empty where the program says that it is well."""
        if ended.unstarted:
            hint = ""
            if "/" in program and os.path.isfile(program) and os.access(program, os.X_OK):
                hint = (
                    "; the file is there, but perhaps not the interpreter that its first line names"
                )
            cause = f"{program} cannot be started: {ended.unstarted}{hint}"
            return "start" if ended.lasting else "worker", cause
        if ended.status in self.declared.exits:
            return INFEASIBLE, _how(ended)
        if ended.why == "timeout":
            return "timeout", f"it took longer than {self.timeout_s:g} s"
        if ended.why == "memory":
            most = show(self.memory_byte or machine_byte(), "memory_byte")
            return "memory", f"it took more memory than {most} (evaluate.memory): {_how(ended)}"
        if ended.why:
            return "worker", "it was stopped"
        if ended.status is None:
            return "worker", "the process that watched over it was ended"
        if ended.status:
            return "signal" if ended.status < 0 else "exit", _how(ended)
        return "", ""

    def _values(self, ended: Ended, folder: Path) -> dict[str, float]:
        path = folder / OUTPUT_NAME
        named = any(name == "output" for name, _ in placeholders(self.arguments))
        if named or path.exists():
            return values(read(path), self.outputs, path.name, self.declared)
        if ended.cut:
            raise UnusableOutputError("standard output is longer than what is read of it")
        return values(read(folder / OUTPUT), self.outputs, "standard output", self.declared)


def placeholders(arguments: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield name and unit of each placeholder of arguments.

    Raises
    ------
    ValueError
        A brace is neither doubled nor closed.

    Examples
    --------
    >>> list(placeholders(["./synth.sh", "{unroll}", "-f={clock:MHz}", "{{braces}}"]))
    [('unroll', ''), ('clock', 'MHz')]
    """
    for argument in arguments:
        for _, name, unit, conversion in Formatter().parse(argument):
            if name is not None:
                yield name + (f"!{conversion}" if conversion else ""), unit or ""


def wrong_arguments(
    arguments: Sequence[str], axes: Mapping[str, str | None]
) -> list[tuple[int, str, str]]:
    """Return position, rule and remedy of each argument that no design can fill in.

    `axes` has the unit in which each axis is written, ``""`` for plain numbers, None for choices.

    Examples
    --------
    >>> wrong_arguments(["./synth.sh", "{unrol}"], {"unroll": ""})
    [(1, "'{unrol}' is no axis", "did you mean 'unroll'?")]
    """
    found = []
    if not arguments or not arguments[0]:
        found.append((0, "the command is empty", "write a list: the program, then its arguments"))
    for position, argument in enumerate(arguments):
        if "\0" in argument:
            found.append((position, "an argument cannot hold a zero byte", "leave it out"))
        try:
            for name, unit in placeholders([argument]):
                if wrong := _wrong(name, unit, axes):
                    found.append((position, *wrong))
        except ValueError as error:
            rule = f"{argument!r} has a brace by itself: {error}"
            found.append((position, rule, "write '{{' or '}}' for a brace"))
    return found


def taken_names(axes: Iterable[str]) -> list[str]:
    """Return the names of axes that stand for something else among arguments."""
    return [name for name in axes if name in PLACES]


def _wrong(name: str, unit: str, axes: Mapping[str, str | None]) -> tuple[str, str] | None:
    """Return rule and remedy for a placeholder, or None."""
    if name in PLACES and not unit:
        return None
    if name not in axes:
        return f"'{{{name}}}' is no axis", nearest(name, [*axes, *PLACES])
    own = axes[name]
    if unit and own is None:
        return f"'{name}' is a choice, which has no unit", f"write '{{{name}}}'"
    try:
        if unit and own is not None and factor(unit)[1] != factor(own)[1]:
            return f"'{name}' is in {own or 'no unit'}, not in {unit}", f"write '{{{name}}}'"
    except UnitError as error:
        return error.rule, error.remedy
    return None


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
