"""A design of hardware on a device: mapping, known answers, placing and routing."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dse.algebra import units
from dse.reports.text import plural
from dse.silicon.cells.library import CellLibrary
from dse.silicon.characteriser import Characteriser, script_sha256
from dse.silicon.descriptions.description import elaborating, run_description
from dse.silicon.descriptions.source_simulation import Held, held_vectors, netlist_answers
from dse.silicon.figures import CharacterisedDesign, of_one_task, period_of
from dse.silicon.fpga.devices import Device, read_device_netlist, with_plain_tables
from dse.silicon.fpga.ecp5 import ECP5
from dse.silicon.fpga.ice40 import ICE40
from dse.silicon.fpga.place_and_route import Placement, command_of, place_and_route, version_of
from dse.silicon.netlists.answers import settled_answers
from dse.silicon.netlists.clocks import clocks_of
from dse.silicon.netlists.netlist import Netlist, check_netlist
from dse.silicon.targets import Target
from dse.silicon.tasks import DesignTask, check_answers
from dse.silicon.yosys import chosen_yosys

FAMILIES = (ICE40, ECP5)
"""Families that are known."""


@dataclass(kw_only=True)
class DeviceCharacteriser(Characteriser):
    """Maps to the cells of a device, and places and routes.

    Attributes
    ----------
    device
        Each design has one to itself.
    placements
        Seeds of placing, from 1; the clock is the median of theirs.
    """

    device: Device
    placements: int = 3

    @property
    def placer(self) -> str:
        """What places and routes, and its version."""
        return version_of(command_of(self.device))

    def check(self) -> None:
        """Refuse a device whose program is not installed."""
        command_of(self.device)

    def depends_on(self) -> Mapping[str, Any]:
        """Return the device and what places."""
        named = {"device": self.device.full_name, "placements": self.placements}
        return {**named, "placer": self.placer}

    def remarks(self, targets: Sequence[Target]) -> Iterator[str]:
        """Yield what clock and cells mean, and what is not known."""
        period_s = self.conditions.period_s
        median = f"the median of {plural(self.placements, 'placement')}, seeds from 1"
        if period_s:
            yield f"clock: {units.show(1 / period_s, 'clock_hz')}, reached by {median}"
        else:
            yield f"clock: {median}; its period rounded up to 3 digits"
        if self.placements > 1:
            yield "clock_uncertainty: standard deviation of the placements' clocks"
        family = self.device.family
        counted = " and ".join(one.counted for one in family.blocks.values() if one.counted)
        parts = " and ".join(one.called for one in family.logic)
        most = f", the larger of {parts}" if family.logic[1:] else ""
        yield f"area_lc: logic cells{most}, without {counted}"
        yield "ports: a register at each bit holds it to the clock; area_lc is without these"
        yield "power: not known"
        yield "each design has a device to itself; on a full one wires are longer and clocks lower"

    def figures_of(self, task: DesignTask) -> CharacterisedDesign:
        """Map a design, hold it to its answers, and place it."""
        design = task.design
        held = held_vectors(task, self.conditions)
        vectors = held.vectors
        written, script = self._mapped(task, held)
        netlist, library = read_device_netlist(written, self.device.family, top=design.top)
        check_netlist(netlist, library)
        clocks_of(netlist, library, design.clock)
        if any(library.cells[one.cell].buses for one in netlist.instances):
            plain = with_plain_tables(written, self.device.family, top=design.top)
            found = netlist_answers(plain, self.device.family, vectors, design, self.conditions)
        else:
            found = settled_answers(netlist, library, clock=design.clock, stimulus=vectors.stimulus)
        check_answers(task, vectors, found)
        placed = place_and_route(
            written,
            self.device,
            top=design.top,
            clock=design.clock,
            seeds=range(1, self.placements + 1),
            time_limit_s=self.conditions.time_limit_s,
        )
        clocks = ", ".join(units.show(one.clock_hz, "clock_hz") for one in placed)
        return CharacterisedDesign(
            name=design.name,
            parameters=dict(design.parameters),
            figures=self._figures(task, netlist, library, placed),
            facts={
                "library": self.device.full_name,
                "tool": self.tool,
                "placer": self.placer,
                "script": script_sha256(script),
                "description": task.description_sha256,
                "vectors": task.vectors_sha256,
                "tasks": str(vectors.tasks),
                "clocks": clocks,
            },
            notes=held.notes,
        )

    def _mapped(self, task: DesignTask, held: Held) -> tuple[str, str]:
        """Return the netlist as Yosys writes it, and the script."""
        design = task.design
        tool = chosen_yosys(self.conditions.tool, self.conditions.time_limit_s)
        first, second = self.device.synthesis(design.top, held.described)
        script = [
            *elaborating(design.top),
            *(first, "tee -q -o check check", second),
            *("setundef -zero", "opt_clean -purge", "write_json mapped.json"),
        ]
        output, way, _ = run_description(tool, held.reads, script, done="mapped.json")
        return output.files["mapped.json"], "\n".join((*way, *script))

    def _figures(
        self,
        task: DesignTask,
        netlist: Netlist,
        library: CellLibrary,
        placed: Sequence[Placement],
    ) -> dict[str, float]:
        design = task.design
        clocks = [one.clock_hz for one in placed]
        median = statistics.median(clocks)
        spread = {"clock_uncertainty": statistics.stdev(clocks) / median} if clocks[1:] else {}
        states = [library.cells[one.cell].flip_flop for one in netlist.instances]
        return {
            "area_lc": float(placed[0].logic_cells),
            "clock_hz": 1.0 / period_of(1.0 / median, self.conditions.period_s),
            **of_one_task(design),
            "least_period_s": 1.0 / median,
            "flip_flops": sum(state is not None for state in states),
            **placed[0].counted,
            **spread,
        }
