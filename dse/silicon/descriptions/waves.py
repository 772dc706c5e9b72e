"""Known answers as a designer has them: recorded waves.

Waves are value change dumps (VCD, IEEE 1364-2005, 18): signals of a scope at each clock edge.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from dse.errors import Fault, Position, StudyError, nearest
from dse.files.csv import CsvTable
from dse.files.document import no_such

UNKNOWN = "-"
"""A value of which a bit is neither 0 nor 1."""

WAVES = ".vcd"
"""Ending of files of known answers that are no table."""


class Waves(CsvTable):
    """Signals as a table; a row is what stands right before a rising edge, at whose line it is.

    The first row may be what stands right after it, where the clock was unknown before.
    """

    def fault(self, row: int | None, column: int, rule: str, remedy: str) -> Fault:
        """Return a fault of a signal, in a cycle counted from 0, or of all."""
        written = "" if row is None else f"cycle {row}: {self.columns[column][row]}"
        place = Position(self.lines[0 if row is None else row + 1], 1, self.file)
        return place.fault((self.headers[column],), written, rule, remedy)


def read_waves(lines: Iterable[str], *, file: str, scope: str, clock: str) -> Waves:
    """Return the signals of a scope before each rising edge of its clock.

    Parameters
    ----------
    lines
        Of the dump.
    file
        Its name, for messages.
    scope
        Names of modules from the outermost, with dots between them.
    clock
        A signal of the scope.

    Raises
    ------
    StudyError
        It is no dump, has no such scope or clock, or the clock does not rise.
    """
    numbered = enumerate(lines, start=1)
    scopes, ends = _header(numbered)
    if not ends:
        _refuse(file, "", "it is no value change dump", "write one with $dumpfile and $dumpvars")
    if scope not in scopes:
        remedy = nearest(scope, scopes)
        _refuse(file, repr(scope), "the dump has no signals of this scope", remedy)
    signals = scopes[scope]
    if clock not in signals:
        remedy = f"{nearest(clock, signals)}; name it with --clock-port"
        _refuse(file, repr(clock), f"{scope} has no signal of this name", remedy)
    rows, edges = _sampled(numbered, signals, signals[clock])
    if not rows:
        _refuse(file, repr(clock), "the clock does not rise", "dump cycles in which it does")
    headers = tuple(signals)
    columns = tuple(zip(*rows, strict=True))
    text = "\n".join(map(",".join, (headers, *rows)))
    return Waves(file, text, headers, columns, (ends, *edges))


def _refuse(file: str, written: str, rule: str, remedy: str) -> None:
    raise StudyError([Fault(file, written, rule, remedy)])


def _header(lines: Iterator[tuple[int, str]]) -> tuple[dict[str, dict[str, str]], int]:
    """Return by scope the code of each signal, and the last line, 0 where there is none."""
    scopes: dict[str, dict[str, str]] = {}
    within: list[str] = []
    words: list[str] = []
    for number, line in lines:
        words += line.split()
        if "$end" not in words[-1:]:
            continue
        match words:
            case ["$scope", _, name, "$end"]:
                within.append(name)
            case ["$upscope", "$end"]:
                within = within[:-1]
            case ["$var", kind, _, code, name, *_] if kind != "real":
                signals = scopes.setdefault(".".join(within), {})
                signals[name.partition("[")[0].removeprefix("\\")] = code
            case ["$enddefinitions", "$end"]:
                return scopes, number
        words = []
    return scopes, 0


def _sampled(
    lines: Iterator[tuple[int, str]], signals: Mapping[str, str], clock: str
) -> tuple[list[tuple[str, ...]], list[int]]:
    """Return the values of signals before each rising edge, and its line."""
    values = {**dict.fromkeys(signals.values(), UNKNOWN), clock: ""}
    codes = [*signals.values()]
    changed: dict[str, str] = {}
    rows: list[tuple[str, ...]] = []
    edges: list[int] = []
    rose = 0

    def settle() -> None:
        before = dict(values)
        values.update(changed)
        if rose and before[clock] in ("0x0", UNKNOWN) and changed[clock] == "0x1":
            # what was unknown before the first edge gets its value at that time, like the clock
            stood = before if before[clock] == "0x0" else values
            rows.append(tuple([stood[code] for code in codes]))
            edges.append(rose)
        changed.clear()

    for number, line in lines:
        first = line[:1]
        if first == "#":
            settle()
            rose = 0
            continue
        bits, _, code = line[1:].partition(" ") if first in ("b", "B") else (first, "", line[1:])
        code = code.strip()
        if code in values:
            changed[code] = _value(bits)
            rose = number if code == clock else rose
    settle()
    return rows, edges


def _value(bits: str) -> str:
    return UNKNOWN if bits.strip("01") else hex(int(bits, 2))


def recorded(check: Path, dut: str, clock: str) -> Waves:
    """Return the signals of an instance in a dump.

    Parameters
    ----------
    check
        The dump.
    dut
        The instance: names from the outermost module, with dots between them.
    clock
        Its clock.

    Raises
    ------
    StudyError
        The file is not there, or cannot be read.
    """
    if not check.is_file():
        raise no_such(check, "file", f"*{WAVES}")
    if not re.fullmatch(r"\w+(\.\w+)*", dut):
        rule, remedy = "waves are those of an instance", "name it from the outermost: --dut tb.dut"
        raise StudyError([Fault("dut", repr(dut), rule, remedy)])
    with check.open(encoding="utf-8", errors="replace") as lines:
        return read_waves(lines, file=str(check), scope=dut, clock=clock)
