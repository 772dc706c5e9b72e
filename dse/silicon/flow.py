"""The flow of a design: mapping, timing, known answers, power.  Results are kept."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from math import ceil
from pathlib import Path
from typing import Any

from dse.algebra import units
from dse.algebra.magnitudes import fault_of
from dse.contract.generators import Vectors
from dse.contract.placement import kit_of, placement_text
from dse.errors import DseError, Fault, OutputError, StudyError, refuse
from dse.files.json import json_text, read_regular, write_text
from dse.silicon.cells import CellLibrary
from dse.silicon.description import Reading
from dse.silicon.figures import (
    FIGURES,
    CharacterisedDesign,
    Target,
    are_rows,
    at_target,
    period_of,
    rows_apart,
)
from dse.silicon.liberty import read_liberty
from dse.silicon.mapping import (
    FASTEST_S,
    Mapped,
    UsableCells,
    computes,
    gated_counts,
    map_description,
    sized_gates,
    spread_fan_out,
    usable_cells,
)
from dse.silicon.netlist import Netlist
from dse.silicon.power import Power, average_power
from dse.silicon.simulation import Activity, simulate_gates
from dse.silicon.tasks import DesignTask, sha256
from dse.silicon.timing import Timing, analyse
from dse.silicon.yosys import chosen_yosys, full_name
from dse.workers import shared

_LARGEST_BYTE = 1_000_000
"""A larger file is no result."""


def own_sha256(folder: Path = Path(__file__).parent) -> str:
    """Return a hash of the modules that compute the results."""
    return sha256(b"".join(path.read_bytes() for path in sorted(folder.rglob("*.py"))))


def user_folder() -> Path:
    """Return the folder for reproducible data of this user's programs (XDG Base Directory)."""
    given = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(given) if Path(given).is_absolute() else Path.home() / ".cache") / "dse"


@dataclass(frozen=True)
class KeptResults:
    """A folder of results by key.  The oldest are deleted when there are more than `most`."""

    folder: Path
    most: int = 20_000

    def read(self, key: str) -> CharacterisedDesign | None:
        """Return the result kept under a key, or None if it is missing or cannot be read."""
        try:
            found = json.loads(read_regular(self.folder / f"{key}.json", _LARGEST_BYTE))
            return CharacterisedDesign(**{**found, "notes": tuple(found["notes"])})
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def write(self, key: str, result: CharacterisedDesign) -> None:
        """Keep a result, whole or not at all, and drop the oldest."""
        with suppress(OutputError):  # hours of work are worth more than a cache
            write_text(self.folder / f"{key}.json", json_text(asdict(result)))
        with suppress(OSError):  # another process drops some as well
            files = sorted(self.folder.glob("*.json"), key=lambda path: path.stat().st_mtime)
            for path in files[: -self.most]:
                path.unlink(missing_ok=True)


# Characterisation of a design


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
    period_s
        Clock period of all designs, 0 for the least of each, rounded up.
    gate_clocks
        Flip-flops with one enable that get a clock gate, 0 for no gates.
    kept
        Results of earlier calls.
    fastest_s
        By design, its least period, rounded up, when mapped for the highest speed.
    tool
        Name and version of the mapping tool.
    """

    library_files: tuple[str, ...]
    period_s: float = 0.0
    gate_clocks: int = 0
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
        clock = units.show(1 / self.period_s, "clock_hz") if self.period_s else ""
        shown = ", ".join(dict.fromkeys(one.text for one in targets))
        yield f"mapped for: {shown or clock or 'the fastest'}"
        yield f"clock: {clock or 'the least period of each design, rounded up to 3 digits'}"
        yield "wire load: none"
        yield placement_text(kit_of(self.library.name))
        if self.gate_clocks:
            yield f"clock gates: for {self.gate_clocks} flip-flops or more with one enable"
        yield (
            "settled_power, settled_energy: without glitches; energy: of a task, without leakage; "
            "idle_power: inputs held as in the last cycle, without leakage"
        )

    def key(self, task: DesignTask) -> str:
        """Return a hash of all inputs of the results, this program included."""
        inputs = {
            "program": own_sha256(),
            "tool": self.tool,
            "conditions": [self.period_s, self.gate_clocks],
            "design": asdict(replace(task.design, verilog="")),
            "description": task.description_sha256,
            "vectors": task.vectors_sha256,
            "target": asdict(task.target),
            "library": self.library_sha256,
        }
        return sha256(json_text(inputs).encode())

    def known(self, task: DesignTask) -> CharacterisedDesign | None:
        """Return the result of an earlier call, if it was kept."""
        return self.kept.read(self.key(task)) if self.kept else None

    def measured(self, task: DesignTask) -> CharacterisedDesign | tuple[Fault, ...]:
        """Characterise a design, or return the reasons of failure.  A result is kept at once."""
        name = task.design.name
        try:
            found = self.figures_of(task)
        except StudyError as error:  # an error in a file may belong to several designs
            return tuple(
                one if one.line else replace(one, where=": ".join(filter(None, (name, one.where))))
                for one in error.faults
            )
        except DseError as error:
            return (Fault(name, "", str(error), ""),)
        for figure, value in found.figures.items():
            if wrong := fault_of(value, figure, signed=True):
                return (Fault(name, figure, *wrong),)
        if self.kept is not None:
            self.kept.write(self.key(task), found)
        return found

    def figures_of(self, task: DesignTask) -> CharacterisedDesign:
        """Map a design, time it, hold it to its answers, and find its power."""
        design = task.design
        vectors, reads, notes = task.read()
        target_s = self._target_s(task, reads)
        mapped, netlist, buffers = self._mapped(task, reads, target_s)
        timing = analyse(netlist, self.library, clock=design.clock)
        period = period_of(timing.period_s, self.period_s)
        activity = self._simulated(task, netlist, timing, period, vectors)
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
            facts=self._facts(task, mapped, vectors, activity),
            notes=(
                *notes,
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
        """Return how often nets change while a netlist gives the known answers.

        The warm-up is one task longer than answers need, for registers that no answer shows.  A
        core with held inputs may still work on its data for some cycles, whole tasks.
        """
        latency, task_cycles = task.design.latency_cycles, ceil(task.design.cycles_per_task)
        longer = min(vectors.warm_up + latency, vectors.cycles // 2)
        activity = simulate_gates(
            netlist,
            self.library,
            replace(timing, period_s=period_s),  # `period_of` refuses less than the least
            clock=task.design.clock,
            stimulus=vectors.stimulus,
            warm_up=max(vectors.warm_up, longer),
            idle=task_cycles * ceil(max(IDLE_CYCLES, latency) / task_cycles),
        )
        task.check_answers(vectors, activity.outputs, activity.known)
        return activity

    def _counts(self, netlist: Netlist, buffers: int, clock: str) -> dict[str, float]:
        used = [self.library.cells[one.cell] for one in netlist.instances]
        counts: dict[str, float] = {"cells": len(used), "buffers": buffers}
        counts["flip_flops"] = sum(cell.flip_flop is not None for cell in used)
        if self.gate_clocks:
            counts |= gated_counts(netlist, self.library, clock)
        return counts

    def _target_s(self, task: DesignTask, reads: Reading) -> float:
        """Return the period that a design is mapped for."""
        target = task.target
        if target.clock_hz:
            return 1.0 / target.clock_hz
        if not target.share:
            return self.period_s or FASTEST_S
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
            gate_clocks=self.gate_clocks,
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
            # without the commands that name files, whose contents have a hash
            "script": sha256(re.sub(r"^read_verilog.*\n?", "", mapped.script, flags=re.M).encode()),
            "description": task.description_sha256,
            "vectors": task.vectors_sha256,
            "tasks": str(vectors.tasks),
            "cycles": str(activity.cycles),
        }


def _area_m2(netlist: Netlist, library: CellLibrary) -> float:
    """Return the sum of the areas of all cells."""
    return sum(library.cells[one.cell].area_m2 for one in netlist.instances)


# Characterisation of several designs


def characterise_all(
    tasks: Sequence[DesignTask],
    targets: Sequence[Target],
    characteriser: Characteriser,
    *,
    jobs: int,
    progress: Callable[[int, int, str], None],
) -> tuple[list[CharacterisedDesign], int]:
    """Return the rows of designs for targets, and how many results are kept from earlier calls.

    All reasons why designs have no results are raised at once.
    """
    wanted = [replace(task, target=target) for task in tasks for target in targets]
    found: list[Any] = [characteriser.known(one) for one in wanted]
    missing = [place for place, one in enumerate(found) if one is None]
    names = [wanted[place].design.name for place in missing]
    kept = len(wanted) - len(missing)
    if missing:
        _ = characteriser.library  # its errors come before any work
        progress(kept, len(wanted), names[0])
    with shared(characteriser.measured, [wanted[place] for place in missing], jobs) as answers:
        for count, (place, answer) in enumerate(zip(missing, answers, strict=True), start=1):
            found[place] = answer
            progress(kept + count, len(wanted), "".join(names[count : count + 1]))
    refuse(fault for one in found if isinstance(one, tuple) for fault in one)
    if are_rows(targets):
        found = [at_target(one, task.target) for one, task in zip(found, wanted, strict=True)]
    rows = [*rows_apart(found)]
    return rows, min(kept, len(rows))
