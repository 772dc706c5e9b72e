"""Characterisation of a design of hardware: mapping, timing, known answers, power."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from math import ceil
from pathlib import Path

from dse.algebra import units
from dse.algebra.magnitudes import fault_of
from dse.contract.generators import Design, Vectors
from dse.contract.placement import kit_of, placement_text
from dse.errors import DseError, Fault, OutputError, StudyError, refuse
from dse.files.json import json_text
from dse.silicon.cells.liberty import read_liberty
from dse.silicon.cells.library import CellLibrary
from dse.silicon.cells.usable_cells import UsableCells, computes, lacking, usable_cells
from dse.silicon.descriptions.description import Reading, elaborating, run_description, wrong_names
from dse.silicon.descriptions.source_simulation import held_vectors
from dse.silicon.figures import (
    FIGURES,
    UNKEPT,
    CharacterisedDesign,
    Conditions,
    Target,
    of_design,
    period_of,
)
from dse.silicon.kept_results import KeptResults, own_sha256, script_sha256, sha256
from dse.silicon.netlists.clocks import ENABLES, enables, gated_counts, gating, sized_gates
from dse.silicon.netlists.fan_out import MOST_FAN_OUT, spread_fan_out
from dse.silicon.netlists.netlist import (
    CONSTANT_0,
    CONSTANT_1,
    Instance,
    Netlist,
    check_netlist,
    read_netlist,
)
from dse.silicon.netlists.power import Power, average_power
from dse.silicon.netlists.simulate import Activity, simulate_gates
from dse.silicon.netlists.timing import Timing, analyse
from dse.silicon.tasks import DesignTask, check_answers
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
"""Equal signals merged, logic mapped, gates with too many loads buffered, sizes chosen."""

FASTEST_S = 1e-12
"""A target that no logic meets: mapping then makes it as fast as it can."""


@dataclass(frozen=True)
class Mapped:
    """Netlists of one description, and their origin.

    Attributes
    ----------
    netlists
        Flat, of cells of the library, each mapped in another way.
    script
        Commands that the tool ran, for repeating the run.
    refused
        Reason why slang did not read the files, if Yosys did instead.
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

    Yosys flattens and simplifies it, maps flip-flops (unused set and reset are tied off), and abc
    the logic between them, with buffers and sizes for the target.  abc does not see flip-flops:
    their loads are for `spread_fan_out`.

    Parameters
    ----------
    reads
        The ways to read it.
    library, usable
        The cells, and the cells that netlists are made of.
    top
        The outermost module.
    target_period_s
        Target of abc for the longest path between flip-flops.
    conditions
        With the time that the tool may take, and clock gates.

    Raises
    ------
    StudyError
        The description cannot be mapped: file and line if Yosys reports them, all errors at once.
    MissingLibraryError
        There is no Yosys.
    ToolTimeError
        It took too long.
        It took too long.
    """
    yosys = chosen_yosys(conditions.time_limit_s)
    given = {"usable.lib": usable.liberty}
    gates: list[str] = []
    if conditions.gate_clocks:
        gates, given[ENABLES] = [*gating(library, conditions.gate_clocks)], enables()
    _check_wanted(top, usable, library)
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


def _check_wanted(top: str, usable: UsableCells, library: CellLibrary) -> None:
    """Raise StudyError if Yosys cannot map the design or would mistake a name."""
    refuse([*wrong_names(top, {}), *lacking(library, usable)])


def _with_ties(netlist: Netlist, usable: UsableCells) -> Iterator[Instance]:
    """Yield the instances, with flip-flops and their ties as they are in the library."""
    constants = {False: CONSTANT_0, True: CONSTANT_1}
    for instance in netlist.instances:
        if instance.cell in usable.tied:
            cell, ties = usable.tied[instance.cell]
            tied = {pin: constants[value] for pin, value in ties.items()}
            yield replace(instance, cell=cell, nets={**instance.nets, **tied})
        else:
            yield instance


IDLE_CYCLES = 32
"""Least number of cycles that are counted with inputs held, and of cycles before them."""


@dataclass(kw_only=True)
class Characteriser:
    """Characterisation of designs, one object per worker for all of its designs.

    It reads its library when a design first needs it.

    Attributes
    ----------
    library_files
        Files with the delays and energies.
    conditions
        For all designs.
    kept
        Results of earlier calls.
    fastest_s
        By design, its least period, rounded up, when mapped for the highest speed.
    tool
        Name and version of the mapping tool.
    """

    library_files: tuple[str, ...]
    conditions: Conditions
    kept: KeptResults | None = None
    fastest_s: dict[str, float] = field(default_factory=dict, init=False)
    tool: str = field(init=False)

    def __post_init__(self) -> None:
        """Ask the mapping tool for its version."""
        self.tool = full_name(chosen_yosys())

    @cached_property
    def library(self) -> CellLibrary:
        """Return the cells."""
        return read_liberty(*self.library_files)

    @cached_property
    def usable(self) -> UsableCells:
        """Return the cells that netlists are made of."""
        return usable_cells(self.library)

    @cached_property
    def gate(self) -> tuple[str, float] | None:
        """Return name and area (m2) of the smallest NAND with two inputs."""
        found = [
            (cell.area_m2, cell.name)
            for cell in self.library.cells.values()
            if cell.name not in self.usable.omitted
            if computes(cell, [True, True, True, False])
        ]
        return (min(found)[1], min(found)[0]) if found else None

    @cached_property
    def library_sha256(self) -> Mapping[str, str]:
        """Return the hash of each file of the library, without parsing the library."""
        return {Path(file).name: sha256(Path(file).read_bytes()) for file in self.library_files}

    def remarks(self, targets: Sequence[Target]) -> Iterator[str]:
        """Yield files, clocks and wires."""
        for file, digest in self.library_sha256.items():
            yield f"library file: {file}, sha256 {digest}"
        period_s = self.conditions.period_s
        clock = units.show(1 / period_s, "clock_hz") if period_s else ""
        shown = ", ".join(dict.fromkeys(one.text() for one in targets))
        yield f"mapped for: {shown or clock or 'the fastest'}"
        yield f"clock: {clock or 'the least period of each design, rounded up to 3 digits'}"
        yield "wire load: none"
        yield placement_text(kit_of(self.library.name))
        if fewest := self.conditions.gate_clocks:
            yield f"clock gates: for {fewest} flip-flops or more with one enable"
        yield (
            "settled_power, settled_energy: without glitches; energy: of a task, without leakage; "
            "idle_power: inputs held as in the last cycle, without leakage"
        )

    def key(self, task: DesignTask) -> str:
        """Return a hash of all inputs of the results, this program included."""
        design = replace(task.design, verilog="")
        inputs = {
            "program": own_sha256(),
            "tool": self.tool,
            "conditions": asdict(self.conditions) | {"time_limit_s": 0},
            "design": asdict(design),
            "description": task.description_sha256,
            "vectors": task.vectors_sha256,
            "target": asdict(task.target),
            "library": self.library_sha256,
        }
        return sha256(json_text(inputs).encode())

    def known(self, task: DesignTask) -> CharacterisedDesign | None:
        """Return the result of an earlier call, if it was kept."""
        found = self.kept.read(self.key(task)) if self.kept else None
        if found is None:
            return None
        try:
            return CharacterisedDesign(**{**found, "notes": tuple(found["notes"])})
        except (KeyError, TypeError):  # something else was kept
            return None

    def measured(self, task: DesignTask) -> CharacterisedDesign | tuple[Fault, ...]:
        """Characterise a design, or return the reasons of failure.  A result is kept at once."""
        try:
            found = self.figures_of(task)
            for name, value in found.figures.items():
                if wrong := fault_of(value, name, signed=True):
                    return (Fault(task.design.name, name, *wrong),)
        except StudyError as error:
            return tuple(of_design(task.design.name, one) for one in error.faults)
        except DseError as error:
            return (Fault(task.design.name, "", str(error), ""),)
        if self.kept is not None:
            try:
                self.kept.write(self.key(task), asdict(found))
            except OutputError as error:  # hours of work are worth more than that
                remedy = "set XDG_CACHE_HOME to a folder that can be written, or say so with"
                unkept = f"{error}; {remedy} --no-cache"
                return replace(found, facts={**found.facts, UNKEPT: unkept})
        return found

    def figures_of(self, task: DesignTask) -> CharacterisedDesign:
        """Map a design, time it, hold it to its answers, and find its power."""
        design = task.design
        held = held_vectors(task, self.conditions)
        target_s = self._target_s(task, held.reads)
        mapped, netlist, buffers = self._mapped(task, held.reads, target_s)
        timing = analyse(netlist, self.library, clock=design.clock)
        period = period_of(timing.period_s, self.conditions.period_s)
        activity = self._simulated(task, netlist, timing, period, held.vectors)
        power, idle = (
            average_power(netlist, self.library, timing, one, clock=design.clock, period_s=period)
            for one in (activity, activity.idle)
            if one is not None
        )
        return CharacterisedDesign(
            name=design.name,
            parameters=dict(design.parameters),
            figures=self._figures(task, netlist, timing.period_s, power)
            | self._counts(netlist, buffers, design.clock)
            | {"idle_power_w": idle.dynamic_w},
            facts=self._facts(task, mapped, held.vectors, activity),
            notes=(
                *filter(None, [mapped.refused]),
                *held.notes,
                *timing.notes,
                *activity.notes,
                *power.notes,
                *self.library.notes,
                *self.usable.notes(),
            ),
        )

    def _simulated(
        self, task: DesignTask, netlist: Netlist, timing: Timing, period_s: float, vectors: Vectors
    ) -> Activity:
        """Return how often nets change while a netlist gives the known answers."""
        activity = simulate_gates(
            netlist,
            self.library,
            timing,
            clock=task.design.clock,
            stimulus=vectors.stimulus,
            warm_up=_settled_in(vectors, task.design.latency_cycles),
            period_s=period_s,  # `period_of` refuses one that is shorter than the least
            idle=_idle_cycles(task.design),
        )
        check_answers(task, vectors, activity)
        return activity

    def _counts(self, netlist: Netlist, buffers: int, clock: str) -> dict[str, float]:
        used = [self.library.cells[one.cell] for one in netlist.instances]
        counts: dict[str, float] = {"cells": len(used), "buffers": buffers}
        counts["flip_flops"] = sum(cell.flip_flop is not None for cell in used)
        if self.conditions.gate_clocks:
            counts |= gated_counts(netlist, self.library, clock)
        return counts

    def _target_s(self, task: DesignTask, reads: Reading) -> float:
        """Return the period that a design is mapped for."""
        target, period_s = task.target, self.conditions.period_s
        if target.clock_hz:
            return 1.0 / target.clock_hz
        if not target.share:
            return period_s or FASTEST_S
        if target.share == 1.0:
            return FASTEST_S
        if task.design.name not in self.fastest_s:
            self._mapped(task, reads, FASTEST_S)
        return self.fastest_s[task.design.name] / target.share

    def _mapped(
        self, task: DesignTask, reads: Reading, target_s: float
    ) -> tuple[Mapped, Netlist, int]:
        """Return the smallest netlist that meets a target, else of the fastest to three digits.

        The last value is the number of buffers behind its flip-flops.
        """
        library, design = self.library, task.design
        mapped = map_description(
            reads,
            library,
            self.usable,
            top=design.top,
            target_period_s=target_s,
            conditions=self.conditions,
        )
        sized = [sized_gates(one, library) for one in mapped.netlists]
        found = [spread_fan_out(one, library, self.usable) for one in sized]
        each_s = [analyse(one, library, clock=design.clock).period_s for one in found]
        areas_m2 = [_area_m2(one, library) for one in found]
        periods_s = [period_of(max(one_s, target_s), 0.0) for one_s in each_s]
        best = min(range(len(found)), key=lambda at: (periods_s[at], areas_m2[at]))
        if target_s == FASTEST_S:
            self.fastest_s[design.name] = periods_s[best]
        return mapped, found[best], len(found[best].instances) - len(sized[best].instances)

    def _figures(
        self, task: DesignTask, netlist: Netlist, least_s: float, power: Power
    ) -> dict[str, float]:
        design = task.design
        area = _area_m2(netlist, self.library)
        task_s = design.cycles_per_task * power.period_s
        return {
            "area_m2": area,
            **({} if self.gate is None else {"gate_equivalents": area / self.gate[1]}),
            "clock_hz": 1.0 / power.period_s,
            "dynamic_power_w": power.dynamic_w,
            "leakage_power_w": power.leakage_w,
            **{figure: getattr(design, figure) for figure in FIGURES.values()},
            "settled_power_w": power.settled_w,
            "energy_j": power.dynamic_w * task_s,
            "settled_energy_j": power.settled_w * task_s,
            "least_period_s": least_s,
        }

    def _facts(
        self, task: DesignTask, mapped: Mapped, vectors: Vectors, activity: Activity
    ) -> dict[str, str]:
        library, gate = self.library, self.gate
        corner = f"{library.corner}, " if library.corner else ""
        return {
            "library": library.name,
            "corner": f"{corner}{library.voltage_v:g} V, {library.temperature_c:g} C",
            "gate": f"{gate[0]}, {gate[1] * 1e12:.6g} um2" if gate else "no NAND of two inputs",
            "tool": self.tool,
            "script": script_sha256(mapped.script),
            "description": task.description_sha256,
            "vectors": task.vectors_sha256,
            "tasks": str(vectors.tasks),
            "cycles": str(activity.cycles),
        }


def _area_m2(netlist: Netlist, library: CellLibrary) -> float:
    """Return the sum of the areas of all cells."""
    return sum(library.cells[one.cell].area_m2 for one in netlist.instances)


def _settled_in(vectors: Vectors, latency: int) -> int:
    """Return the warm-up: one task longer than answers need, for registers that no answer shows."""
    return max(vectors.warm_up, min(vectors.warm_up + latency, vectors.cycles // 2))


def _idle_cycles(design: Design) -> int:
    """Return the cycles, whole tasks, that a core with held inputs may still work on its data."""
    task = ceil(design.cycles_per_task)
    return task * ceil(max(IDLE_CYCLES, design.latency_cycles) / task)
