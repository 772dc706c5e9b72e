"""Known answers of hardware: a table of them, and the first wrong answer.

A table has a column for each port and a row for each clock cycle: the value of an input before
the rising edge that ends the cycle, and the value of an output at that edge.  Cells are whole
numbers, decimal, ``0x`` or ``0b``.  ``-`` at an output is not compared.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dse.contract.generators import Bits, Design, Vectors
from dse.errors import Fault, nearest, refuse
from dse.files.csv import CsvTable, parse_csv
from dse.files.document import no_such
from dse.files.json import read_bytes
from dse.reports.text import plural
from dse.silicon.netlist import Netlist

NOT_COMPARED = "-"
"""Cell of an output that is not compared."""

_ROUNDING = 1e-9
Rows = NDArray[np.intp]
_NUMBER = re.compile(r"0[xX][0-9a-fA-F_]+|0[bB][01_]+|[0-9]+")


@dataclass(frozen=True)
class WrittenVectors:
    """A table of known answers.  Its inputs are known once the design is mapped."""

    table: CsvTable

    @staticmethod
    def read(path: Path) -> WrittenVectors:
        """Read a table.  Every cell that is no number is an error with its place.

        Raises
        ------
        StudyError
            The file does not exist, is no table, or has such cells.
        """
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
            if port in netlist.inputs and not compared[port].all():
                rule = "an input needs a value in every cycle"
                row = int(np.argmin(compared[port]))
                faults.append(self.table.fault(row, column, rule, "write it"))
        return bits, compared

    def _length_faults(self, rows: Rows, warm_up: int) -> Iterator[Fault]:
        """Yield why the table has no cycle to count, given the cycles with answers."""
        file = self.table.file
        if not len(rows):
            rule, remedy = "no output is compared", "write the answers that are known"
            yield Fault(file, "", rule, remedy)
        elif warm_up >= len(self.table):
            count = plural(len(self.table), "cycle")
            rule = f"the table has {count}, and the warm-up takes {warm_up}"
            yield Fault(file, "", rule, "add rows in which the design works at full rate")

    def _shape_faults(self, netlist: Netlist, clock: str) -> Iterator[Fault]:
        ports = {**netlist.inputs, **netlist.outputs}
        for column, port in enumerate(self.table.headers):
            if port == clock:
                rule = "each row is a cycle of the clock"
                yield self.table.fault(None, column, rule, "leave this column out")
            elif port not in ports:
                rule = f"{netlist.top} has no port of this name"
                yield self.table.fault(None, column, rule, nearest(port, ports))
        for port in netlist.inputs:
            if port != clock and port not in self.table.headers:
                rule, remedy = "an input needs a column", "add one with its values"
                yield Fault(f"{self.table.file}: {port}", "", rule, remedy)

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
