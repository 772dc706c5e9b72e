"""Known answers of hardware: a table of them, and the first wrong answer.

A table has a column for each port and a row for each clock cycle: the value of an input before
the rising edge that ends the cycle, and the value of an output at that edge.  Cells are whole
numbers, decimal, ``0x`` or ``0b``.  ``-`` at an output is not compared.

Waves are value change dumps (VCD, IEEE 1364-2005, 18): signals of a scope at each clock edge.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dse.contract.generators import Bits, Design, Vectors
from dse.errors import Fault, Position, StudyError, nearest, refuse
from dse.files.csv import CsvTable, parse_csv
from dse.files.document import no_such
from dse.files.json import read_bytes
from dse.reports.text import plural
from dse.silicon.netlist import Netlist

NOT_COMPARED = "-"
"""Cell of an output that is not compared.  In waves, a value with a bit that is not 0 or 1."""

WAVES = ".vcd"
"""Ending of files of known answers that are no table."""


class Waves(CsvTable):
    """Signals as a table.  A row has the values right before a rising edge, and the edge's line.

    The first row may have the values right after it, if the clock was unknown before.
    """

    def fault(self, row: int | None, column: int, rule: str, remedy: str) -> Fault:
        """Return an error in a signal, in a cycle counted from 0, or in all cycles."""
        written = "" if row is None else f"cycle {row}: {self.columns[column][row]}"
        place = Position(self.lines[0 if row is None else row + 1], 1, self.file)
        return place.fault((self.headers[column],), written, rule, remedy)


def read_waves(lines: Iterable[str], *, file: str, scope: str, clock: str) -> Waves:
    """Return the signals of a scope of a dump before each rising edge of its clock.

    A scope is names of modules from the outermost, with dots between them.

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
    return Waves(file, text, headers, columns, (ends, *edges), tuple(range(len(headers))))


def _refuse(file: str, written: str, rule: str, remedy: str) -> None:
    raise StudyError([Fault(file, written, rule, remedy)])


def _header(lines: Iterator[tuple[int, str]]) -> tuple[dict[str, dict[str, str]], int]:
    """Return by scope the code of each signal, and the last line, or 0 without a last line."""
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
    values = {**dict.fromkeys(signals.values(), NOT_COMPARED), clock: ""}
    codes = [*signals.values()]
    changed: dict[str, str] = {}
    rows: list[tuple[str, ...]] = []
    edges: list[int] = []
    rose = 0

    def settle() -> None:
        before = dict(values)
        values.update(changed)
        if rose and before[clock] in ("0x0", NOT_COMPARED) and changed[clock] == "0x1":
            # a value that is unknown before the first edge is set at its time, like the clock
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
            changed[code] = NOT_COMPARED if bits.strip("01") else hex(int(bits, 2))
            rose = number if code == clock else rose
    settle()
    return rows, edges


def recorded(check: Path, dut: str, clock: str) -> Waves:
    """Return the result of `read_waves` for an instance in a file."""
    if not check.is_file():
        raise no_such(check, "file", f"*{WAVES}")
    if not re.fullmatch(r"\w+(\.\w+)*", dut):
        rule, remedy = "waves need an instance", "name it from the outermost: --dut tb.dut"
        raise StudyError([Fault("dut", repr(dut), rule, remedy)])
    with check.open(encoding="utf-8", errors="replace") as lines:
        return read_waves(lines, file=str(check), scope=dut, clock=clock)


_ROUNDING = 1e-9
Rows = NDArray[np.intp]
_NUMBER = re.compile(r"0[xX][0-9a-fA-F_]+|0[bB][01_]+|[0-9]+")


@dataclass(frozen=True)
class WrittenVectors:
    """A table of known answers.  Its inputs are known once the design is mapped."""

    table: CsvTable

    @property
    def recorded(self) -> bool:
        """Return whether it is waves.  Their other signals and unknown inputs are ignored."""
        return isinstance(self.table, Waves)

    @staticmethod
    def read(path: Path) -> WrittenVectors:
        """Read a table.  Every cell that is no number is an error with its place."""
        if not path.is_file():
            raise no_such(path, "file", "*.csv")
        table = parse_csv(read_bytes(path), str(path))
        faults = []
        for column, cells in enumerate(table.columns):
            for row, cell in enumerate(cells):
                if cell.strip() != NOT_COMPARED and not _NUMBER.fullmatch(cell.strip()):
                    rule = "a cell is a whole number from 0, or - for an output not compared"
                    faults.append(table.fault(row, column, rule, "write 12, 0x0c or 0b1100"))
        refuse(faults)
        return WrittenVectors(table)

    def of(self, netlist: Netlist, design: Design) -> Vectors:
        """Return the bits of each port of a netlist.

        Raises
        ------
        StudyError
            A column that is no port, an input without a column or with empty cells, a
            number too large for its port, no output that is compared, or cycles per task that
            ports or answers refute.
        """
        faults = [*self._shape_faults(netlist, design.clock)]
        bits, compared = self._columns(netlist, design.clock, faults)
        refuse(faults)
        known = {port: compared[port] for port in compared if port in netlist.outputs}
        if self.recorded:
            for answers in known.values():
                answers[0] = False  # nothing is set before the first edge
        none = np.zeros(len(self.table), np.bool_)
        rows = np.flatnonzero(np.logical_or.reduce([none, *known.values()]))
        warm_up = max([1, *rows[:1].tolist()])
        refuse(self._length_faults(rows, warm_up))
        refuse(_pace_faults(self.table.file, rows, netlist, design))
        return Vectors(
            stimulus={port: bits[port] for port in netlist.inputs if port != design.clock},
            expected={port: bits[port] for port in known},
            known=known,
            warm_up=warm_up,
            tasks=_tasks(rows, design.cycles_per_task),
        )

    def _columns(
        self, netlist: Netlist, clock: str, faults: list[Fault]
    ) -> tuple[dict[str, Bits], dict[str, NDArray[np.bool_]]]:
        """Return the bits of each port with a column, and the cycles in which it has a value."""
        ports = {**netlist.inputs, **netlist.outputs}
        bits: dict[str, Bits] = {}
        compared = {}
        for column, port in enumerate(self.table.headers):
            if port not in ports or port == clock:
                continue
            bits[port] = self._bits(column, len(ports[port]), faults)
            cells = [cell.strip() for cell in self.table.columns[column]]
            compared[port] = np.array([cell != NOT_COMPARED for cell in cells])
            if port in netlist.inputs and not (self.recorded or compared[port].all()):
                rule = "an input needs a value in every cycle"
                row = int(np.argmin(compared[port]))
                faults.append(self.table.fault(row, column, rule, "write it"))
        return bits, compared

    def _length_faults(self, rows: Rows, warm_up: int) -> Iterator[Fault]:
        """Yield why the table has no cycle to count, given the cycles with answers."""
        file = self.table.file
        if not len(rows):
            rule, remedy = "no output is compared", "write the answers that are known"
            if self.recorded:
                remedy = "name the instance of the design: --dut tb.dut"
            yield Fault(file, "", rule, remedy)
        elif warm_up >= len(self.table):
            count = plural(len(self.table), "cycle")
            rule = f"the table has {count}, and the warm-up takes {warm_up}"
            yield Fault(file, "", rule, "add rows in which the design works at full rate")

    def _shape_faults(self, netlist: Netlist, clock: str) -> Iterator[Fault]:
        ports = {**netlist.inputs, **netlist.outputs}
        for column, port in enumerate(() if self.recorded else self.table.headers):
            if port == clock:
                rule = "each row is a cycle of the clock"
                yield self.table.fault(None, column, rule, "leave this column out")
            elif port not in ports:
                rule = f"{netlist.top} has no port of this name"
                yield self.table.fault(None, column, rule, nearest(port, ports))
        for port in netlist.inputs:
            if port != clock and port not in self.table.headers:
                rule, remedy = "an input needs a column", "add one with its values"
                if self.recorded:
                    rule, remedy = "the waves lack this input", "dump the ports: $dumpvars(1, DUT)"
                yield Fault(f"{self.table.file}: {port}", "", rule, remedy)

    def notes(self, netlist: Netlist) -> Iterator[str]:
        """Yield how many values of inputs are unknown in waves."""
        columns = (self.table.columns[self.table.headers.index(port)] for port in netlist.inputs)
        unknown = sum(column.count(NOT_COMPARED) for column in columns) if self.recorded else 0
        if unknown:
            yield f"{plural(unknown, 'unknown value')} of inputs in {self.table.file} taken as 0"

    def _bits(self, column: int, width: int, faults: list[Fault]) -> Bits:
        """Return the low bits of the numbers of a column, 0 of those that are not compared."""
        octets, values = -(-width // 8), []
        for row, cell in enumerate(self.table.columns[column]):
            value = 0 if cell.strip() == NOT_COMPARED else _value(cell)
            if value >> width:
                rule = f"the port has {width} bits"
                remedy = f"write a number below {1 << width:#x}"
                faults.append(self.table.fault(row, column, rule, remedy))
            values.append(value & (1 << width) - 1)
        rows = np.frombuffer(b"".join(one.to_bytes(octets, "little") for one in values), np.uint8)
        bits = np.unpackbits(rows.reshape(len(values), octets), axis=1, bitorder="little")
        return bits[:, :width].astype(np.bool_)


def _value(cell: str) -> int:
    return int(cell.strip(), 0 if cell.strip()[:2].lower() in ("0x", "0b") else 10)


def _tasks(rows: Rows, cycles_per_task: float) -> int:
    """Return how many tasks have an answer that is compared, in these cycles.

    Examples
    --------
    >>> _tasks(np.arange(600), 16.0), _tasks(np.array([7, 15, 23]), 8.0), _tasks(np.arange(3), 0.5)
    (38, 3, 6)
    """
    if cycles_per_task <= 1:
        return round(len(rows) / cycles_per_task)
    return len(np.unique((rows - rows[0]) // cycles_per_task))


def _pace_faults(file: str, rows: Rows, netlist: Netlist, design: Design) -> Iterator[Fault]:
    """Yield why a design cannot take tasks at the rate that was stated."""
    inward = sum(len(nets) for port, nets in netlist.inputs.items() if port != design.clock)
    widest = max(inward, sum(map(len, netlist.outputs.values())))
    moved = min(design.payload_bit, 8.0 * max(design.read_byte, design.written_byte))
    least = moved / max(widest, 1)
    apart = int(np.diff(rows).min()) if len(rows) > 1 else 0
    if design.cycles_per_task < least * (1 - _ROUNDING):
        bits = f"{moved:g} bits of a task take {least:.4g} cycles or more"
        rule = f"{bits} through ports of {widest} bits"
    elif apart > max(np.ceil(design.cycles_per_task), 1):
        rule = f"answers in {file} are {apart} cycles apart or more"
    else:
        return
    yield Fault(
        "cycles_per_task",
        f"{design.cycles_per_task:g}",
        rule,
        "correct it, or the bytes of a task, or compare the answers of all tasks",
    )
