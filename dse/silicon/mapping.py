"""Verilog to a netlist of standard cells, through Yosys and its abc.

Full adders of a library, cells with two outputs, abc cannot choose: with them sums are mapped in
another way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from dse.errors import Fault, StudyError, refuse
from dse.silicon.cells.boolean import truth_table
from dse.silicon.cells.library import Cell, CellLibrary
from dse.silicon.cells.usable_cells import UsableCells
from dse.silicon.descriptions.description import Reading, elaborating, run_description, wrong_names
from dse.silicon.figures import Conditions
from dse.silicon.netlists.clocks import ENABLES, enables, gating
from dse.silicon.netlists.fan_out import MOST_FAN_OUT
from dse.silicon.netlists.netlist import (
    CONSTANT_0,
    CONSTANT_1,
    Instance,
    Netlist,
    check_netlist,
    read_netlist,
)
from dse.silicon.targets import BOOTH, PLAIN
from dse.silicon.yosys import chosen_yosys

_WAYS = (
    "dch,-f;map,-B,0.9,-D,{0};",
    "scorr;dc2;dch,-f;map,-B,0.9,-D,{0};",
    "scorr;dc2;strash;&get,-n;&dch,-f;&nf;&put;",
)
"""Logic to cells within the target, for abc: each is the fastest or the smallest of some logic."""

_ABC = (
    "strash;&get,-n;&fraig,-x;&put;{how}topo;buffer,-c,-p,-N,{1};topo;"
    "upsize,-D,{0};dnsize,-D,{0};stime,-p"
)
"""Equal signals merged, logic mapped, buffers where a gate drives too many, sizes."""

FASTEST_S = 1e-12
"""A target that no logic meets: mapping then makes it as fast as it can."""

ADDERS = "adders.v"
"""File of `adders`, as the commands of `ADDING` read it."""

ADDING = ("extract_fa -fa", "opt_clean", f"techmap -map {ADDERS}", "simplemap", "opt_clean")
"""Commands of Yosys that find full adders in gates, and take cells for them."""

_ONES = np.array([sum(bits) for bits in product((0, 1), repeat=3)])
_OUTPUTS = {"X": _ONES >= 2, "Y": _ONES % 2 == 1}
"""Carry and sum, as Yosys calls them, over three inputs in any order."""


@dataclass(frozen=True)
class Mapped:
    """Netlists of one description, and how they came about.

    Attributes
    ----------
    netlists
        Flat, of cells of the library, each mapped in another way.
    script
        What the tool ran, for those who want to repeat it.
    refused
        Why slang did not read the files, where Yosys did instead.
    """

    netlists: tuple[Netlist, ...]
    script: str
    refused: str


def map_description(
    reads: Reading,
    library: CellLibrary,
    usable: UsableCells,
    *,
    top: str,
    target_period_s: float,
    conditions: Conditions,
    multiplier: str = PLAIN,
) -> Mapped:
    """Return a description as netlists of cells of a library.

    Yosys flattens and simplifies it, maps flip-flops (set and reset tied off where they are not
    used), and abc the logic between them, with buffers and sizes for the target.  abc does not see
    flip-flops: what they drive is for `spread_fan_out`.

    Parameters
    ----------
    reads
        How it is read.
    library, usable
        The cells, and those that netlists are made of.
    top
        The outermost module.
    target_period_s
        What abc makes the longest path between flip-flops for.
    conditions
        With the tool and its time, clock gates, and whether there are netlists with full
        adders of the library as well, which abc does not see.
    multiplier
        One of `dse.silicon.targets.MULTIPLIERS`.

    Raises
    ------
    StudyError
        The description cannot be mapped: file and line where Yosys tells; all faults at once.
    MissingLibraryError
        There is no Yosys.
    ToolTimeError
        It took too long.
    """
    yosys = chosen_yosys(conditions.time_limit_s)
    given = {"usable.lib": usable.liberty}
    gates: list[str] = []
    if conditions.gate_clocks:
        gates, given[ENABLES] = [*gating(library, conditions.gate_clocks)], enables()
    _check_wanted(top, target_period_s, usable, library)
    if conditions.full_adders:
        given[ADDERS] = adders(library)
    ways = _ways(target_period_s, conditions.full_adders)
    script = [
        *elaborating(top),
        f"synth -flatten -noabc {'-booth ' if multiplier == BOOTH else ''}-top {top}",
        *("tee -q -o check check", *gates, "dfflibmap -liberty usable.lib"),
        "design -save unmapped",
    ]
    for place, (first, way, target_s) in enumerate(ways):
        abc = _ABC.replace("{how}", way).format(f"{target_s * 1e12:.6g}", MOST_FAN_OUT)
        script += ["design -load unmapped"] * (place > 0)
        script += [*first, f"abc -liberty usable.lib -script +{abc}"]
        script += ["setundef -zero", "opt_clean -purge", f"write_json {_file(place)}"]
    read = run_description(yosys, reads, script, given, done=_file(len(ways) - 1))
    netlists = []
    for place in range(len(ways)):
        netlist = read_netlist(read.output.files[_file(place)], top=top, library=library)
        netlists.append(replace(netlist, instances=tuple(_with_ties(netlist, usable))))
        check_netlist(netlists[-1], library)
    return Mapped(tuple(netlists), "\n".join((*read.commands, *script)), read.refused)


def _ways(target_s: float, full_adders: bool) -> list[tuple[Sequence[str], str, float]]:
    """Return for each netlist the commands before abc, how that maps, and for which period.

    It does not see full adders: with them logic is mapped as fast as it gets, too.
    """
    found: list[tuple[Sequence[str], str, float]] = [((), way, target_s) for way in _WAYS]
    if full_adders:
        found += [(ADDING, _WAYS[-1], target_s), (ADDING, _WAYS[0], FASTEST_S)]
    return found


def _file(place: int) -> str:
    return f"mapped{place or ''}.json"


def _check_wanted(
    top: str, target_period_s: float, usable: UsableCells, library: CellLibrary
) -> None:
    """Refuse what could not be mapped, or would be taken for something else by Yosys."""
    faults = [*wrong_names(top, {})]
    if not target_period_s > 0:
        rule, remedy = "a period is above 0 s", "write that of the wanted clock"
        faults.append(Fault("target_period_s", f"{target_period_s:g} s", rule, remedy))
    if "    ff (" not in usable.liberty:
        rule = "the library has no flip-flop that can be used"
        remedy = "add the file of its sequential cells"
        faults.append(Fault("library", ", ".join(library.sources), rule, remedy))
    refuse(faults)


def _with_ties(netlist: Netlist, usable: UsableCells) -> Iterator[Instance]:
    """Yield the instances; flip-flops with ties as they are in the library."""
    constants = {False: CONSTANT_0, True: CONSTANT_1}
    for instance in netlist.instances:
        if instance.cell in usable.tied:
            cell, ties = usable.tied[instance.cell]
            tied = {pin: constants[value] for pin, value in ties.items()}
            yield replace(instance, cell=cell, nets={**instance.nets, **tied})
        else:
            yield instance


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
