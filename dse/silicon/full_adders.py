"""Full adders of a library, cells with two outputs, which abc cannot choose: a way to map sums."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

import numpy as np

from dse.errors import Fault, StudyError
from dse.silicon.boolean import truth_table
from dse.silicon.library import Cell, CellLibrary
from dse.silicon.netlist import Netlist

ADDERS = "adders.v"
"""File of `adders`, as the commands of `ADDING` read it."""

ADDING = ("extract_fa -fa", "opt_clean", f"techmap -map {ADDERS}", "simplemap", "opt_clean")
"""Commands of Yosys that find full adders in gates, and take cells for them."""

_ONES = np.array([sum(bits) for bits in product((0, 1), repeat=3)])
_OUTPUTS = {"X": _ONES >= 2, "Y": _ONES % 2 == 1}
"""Carry and sum, as Yosys calls them, over three inputs in any order."""


def adders(library: CellLibrary) -> str:
    """Return how a full adder of Yosys becomes the smallest of a library, and perhaps inverters.

    Raises
    ------
    StudyError
        The library has none.
    """
    found = [one for one in library.cells.values() if not one.dont_use and _ends(one)]
    if not found:
        written, rule = ", ".join(library.sources), "the library has no full adder"
        remedy = "add the file of its adders, or leave full_adders out"
        raise StudyError([Fault("full_adders", written, rule, remedy)])
    cell = min(found, key=lambda one: (one.area_m2, one.name))
    pins = [f".{pin}({port})" for port, pin in zip("ABC", cell.inputs, strict=True)]
    lines = []
    for port, (pin, inverted) in _ends(cell).items():
        pins.append(f".{pin}({port.lower()})")
        lines.append(f"  assign {port} = {'~' if inverted else ''}{port.lower()};\n")
    return (
        "module \\$fa (input A, B, C, output X, Y);\n  parameter WIDTH = 1;\n  wire x, y;\n"
        f"  {cell.name} _TECHMAP_REPLACE_ ({', '.join(pins)});\n{''.join(lines)}endmodule\n"
    )


def count_adders(netlist: Netlist, library: CellLibrary) -> int:
    """Return how many full adders a netlist has."""
    return sum(bool(_ends(library.cells[one.cell])) for one in netlist.instances)


def _ends(cell: Cell) -> Mapping[str, tuple[str, bool]]:
    """Return the pins of carry and sum, and whether they are inverted; nothing of other cells."""
    outputs = [pin for pin in cell.outputs if pin.function]
    if cell.flip_flop or cell.latch or len(cell.inputs) != 3 or len(outputs) != 2:
        return {}
    found = {}
    for pin in outputs:
        values = truth_table(pin.function or "", cell.inputs)
        for port, wanted in _OUTPUTS.items():
            for inverted in (False, True):
                if (values == (wanted ^ inverted)).all():
                    found[port] = pin.name, inverted
    return found if len(found) == 2 else {}
