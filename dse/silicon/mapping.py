"""Verilog to a netlist of standard cells, through Yosys and its abc."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from dse.errors import Fault, StudyError
from dse.silicon.clock_gates import ENABLES, enables, gating
from dse.silicon.description import Reading, elaborating, run_description, wrong_names
from dse.silicon.full_adders import ADDERS, adders, adding
from dse.silicon.library import CellLibrary
from dse.silicon.netlist import (
    CONSTANT_0,
    CONSTANT_1,
    Instance,
    Netlist,
    check_netlist,
    read_netlist,
)
from dse.silicon.targets import BOOTH, PLAIN
from dse.silicon.usable_cells import UsableCells, usable_cells
from dse.silicon.yosys import chosen_yosys, full_name

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
    tool
        Program and version.
    script
        What it ran, for those who want to repeat it.
    warnings
        What it warned of.
    omitted
        Cells of the library that were not used, and why.
    cpu_s
        Processor time of the tool.
    refused
        Why slang did not read the files, where Yosys did instead.
    """

    netlists: tuple[Netlist, ...]
    tool: str
    script: str
    warnings: tuple[str, ...]
    omitted: Mapping[str, str]
    cpu_s: float
    refused: str = ""


@dataclass(frozen=True)
class _Wanted:
    top: str
    target_period_s: float
    most_fan_out: int
    gating: tuple[str, ...]
    multiplier: str
    full_adders: bool


def map_description(
    reads: Reading,
    library: CellLibrary,
    *,
    top: str,
    target_period_s: float,
    usable: UsableCells | None = None,
    most_fan_out: int = 16,
    gate_clocks: int = 0,
    multiplier: str = PLAIN,
    full_adders: bool = False,
    tool: str | None = None,
    time_limit_s: float = 3600.0,
) -> Mapped:
    """Return a description as netlists of cells of a library.

    Yosys flattens and simplifies it, maps flip-flops (set and reset tied off where they are not
    used), and abc the logic between them, with buffers and sizes for the target.  abc does not see
    flip-flops: what they drive is for `spread_fan_out`.

    Parameters
    ----------
    reads
        How it is read.
    library
        The cells.
    top
        The outermost module.
    target_period_s
        What abc makes the longest path between flip-flops for.
    usable
        As `usable_cells` returns it, by default all of the library that can be used.
    most_fan_out
        Inputs that a gate drives without buffers.
    gate_clocks
        Flip-flops with one enable that get a clock gate; 0 for no gates.
    multiplier
        One of `dse.silicon.targets.MULTIPLIERS`.
    full_adders
        Whether there are netlists with those of the library as well, which abc does not see.
    tool
        ``"pyosys"`` or ``"yosys"``; by default the first that is installed.
    time_limit_s
        The longest that the tool may take.

    Raises
    ------
    StudyError
        The description cannot be mapped: file and line where Yosys tells; all faults at once.
    MissingLibraryError
        There is no Yosys.
    ToolTimeError
        It took too long.
    """
    yosys = chosen_yosys(tool)
    usable = usable or usable_cells(library)
    gates = tuple(gating(library, gate_clocks)) if gate_clocks else ()
    wanted = _Wanted(top, target_period_s, most_fan_out, gates, multiplier, full_adders)
    _check_wanted(wanted, usable, library)
    given = {"usable.lib": usable.liberty} | ({ENABLES: enables()} if gates else {})
    given |= {ADDERS: adders(library)} if full_adders else {}
    script, places = [*_script(wanted)], range(len(_ways(wanted)))
    output, way, refused = run_description(
        yosys, reads, script, given, done=_file(places[-1]), time_limit_s=time_limit_s
    )
    netlists = []
    for place in places:
        netlist = read_netlist(output.files[_file(place)], top=wanted.top, library=library)
        netlists.append(replace(netlist, instances=tuple(_with_ties(netlist, usable))))
        check_netlist(netlists[-1], library)
    warnings = dict.fromkeys(re.findall(r"^(?:.*: )?Warning: (.*)$", output.log, re.M))
    return Mapped(
        tuple(netlists),
        full_name(yosys),
        "\n".join((*way, *script)),
        tuple(warnings),
        usable.omitted,
        output.cpu_s,
        refused,
    )


def _script(wanted: _Wanted) -> Iterator[str]:
    yield from elaborating(wanted.top)
    booth = "-booth " if wanted.multiplier == BOOTH else ""
    yield f"synth -flatten -noabc {booth}-top {wanted.top}"
    yield "tee -q -o check check"
    yield from wanted.gating
    yield "dfflibmap -liberty usable.lib"
    yield "design -save unmapped"
    for place, (first, way, target_s) in enumerate(_ways(wanted)):
        if place:
            yield "design -load unmapped"
        yield from first
        abc = _ABC.replace("{how}", way).format(f"{target_s * 1e12:.6g}", wanted.most_fan_out)
        yield f"abc -liberty usable.lib -script +{abc}"
        yield "setundef -zero"
        yield "opt_clean -purge"
        yield f"write_json {_file(place)}"


def _ways(wanted: _Wanted) -> list[tuple[tuple[str, ...], str, float]]:
    """Return for each netlist the commands before abc, how that maps, and for which period.

    It does not see full adders: with them logic is mapped as fast as it gets, too.
    """
    target_s = wanted.target_period_s
    with_adders = ((_WAYS[-1], target_s), (_WAYS[0], FASTEST_S)) if wanted.full_adders else ()
    adders = ((tuple(adding()), *way) for way in with_adders)
    return [*(((), way, target_s) for way in _WAYS), *adders]


def _file(place: int) -> str:
    return f"mapped{place or ''}.json"


def _check_wanted(wanted: _Wanted, usable: UsableCells, library: CellLibrary) -> None:
    """Refuse what could not be mapped, or would be taken for something else by Yosys."""
    faults = [*wrong_names(wanted.top, {})]
    if not wanted.target_period_s > 0:
        rule, remedy = "a period is above 0 s", "write that of the wanted clock"
        written = f"{wanted.target_period_s:g} s"
        faults.append(Fault(where="target_period_s", written=written, rule=rule, remedy=remedy))
    if "    ff (" not in usable.liberty:
        rule = "the library has no flip-flop that can be used"
        remedy = "add the file of its sequential cells"
        files = ", ".join(library.sources)
        faults.append(Fault(where="library", written=files, rule=rule, remedy=remedy))
    if faults:
        raise StudyError(faults)


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
