"""Verilog to a netlist of standard cells, through Yosys and its abc."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from dse.errors import Fault, refuse
from dse.silicon.cells.library import CellLibrary
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
        With the time that the tool may take, and clock gates.

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
    script = [
        *elaborating(top),
        f"synth -flatten -noabc -top {top}",
        *("tee -q -o check check", *gates, "dfflibmap -liberty usable.lib"),
        "design -save unmapped",
    ]
    for place, way in enumerate(_WAYS):
        abc = _ABC.replace("{how}", way).format(f"{target_period_s * 1e12:.6g}", MOST_FAN_OUT)
        script += ["design -load unmapped"] * (place > 0)
        script += [f"abc -liberty usable.lib -script +{abc}"]
        script += ["setundef -zero", "opt_clean -purge", f"write_json {_file(place)}"]
    read = run_description(yosys, reads, script, given, done=_file(len(_WAYS) - 1))
    netlists = []
    for place in range(len(_WAYS)):
        netlist = read_netlist(read.output.files[_file(place)], top=top)
        netlists.append(replace(netlist, instances=tuple(_with_ties(netlist, usable))))
        check_netlist(netlists[-1], library)
    return Mapped(tuple(netlists), "\n".join((*read.commands, *script)), read.refused)


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
