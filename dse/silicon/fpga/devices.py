"""Families of field-programmable gate arrays: a record each, their devices and netlists."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dse.errors import Fault, StudyError, nearest
from dse.silicon.cells.library import Cell, CellLibrary, FlipFlop, Pin
from dse.silicon.netlists.netlist import Netlist, read_netlist

MakesCell = Callable[[str, Mapping[str, str]], Cell]


@dataclass(frozen=True)
class Primitive:
    """A cell of the family at work beside a core.

    `nets` says for each pin what it is joined to: ``clock``; ``port``, a bit of one of the core's
    ports; ``0`` or ``1``; any other word is a net of its own.
    """

    kind: str
    parameters: Mapping[str, str]
    nets: Mapping[str, str]
    output: str


@dataclass(frozen=True)
class LookUpTable:
    """The cell that is any function of its inputs: entry k of `parameter`, whose bit i is input i.

    Written with the highest entry first.
    """

    kind: str
    parameter: str
    inputs: tuple[str, ...]
    output: str

    def cell(self, name: str, parameters: Mapping[str, str]) -> Cell:
        """Return a cell with the function that its parameter has."""
        function = sum_of_products(parameters[self.parameter], self.inputs)
        return cell_of(name, self.inputs, {self.output: function})


@dataclass(frozen=True)
class DeviceBlock:
    """A cell that is more than logic: a memory or a multiplier.

    Attributes
    ----------
    clocks
        Its clock inputs.
    reported
        What the report calls it.
    counted
        What the table does; empty for one that takes logic cells.
    """

    clocks: tuple[str, ...]
    reported: str = ""
    counted: str = ""

    def cell(self, name: str, written: Mapping[str, Any]) -> Cell:
        """Return a cell with the pins that an instance, as Yosys writes it, has connected."""
        pins: dict[str, Pin] = {}
        buses = {}
        for port, bits in written["connections"].items():
            several = tuple(f"{port}[{bit}]" for bit in range(len(bits)))
            buses[port] = several if bits[1:] else (port,) * len(bits)
            for pin in buses[port]:
                direction = written["port_directions"][port]
                pins[pin] = Pin(pin, direction, clock=port in self.clocks)
        return Cell(name=name, area_m2=0.0, leakage_w=0.0, pins=pins, buses=buses)


@dataclass(frozen=True)
class LogicPart:
    """A part of each logic cell, which designs fill.

    Attributes
    ----------
    called
        As the table calls it.
    reported
        What fills it, as the report calls it: what fills one, and what fills two.
    of_port
        How many the register at a port's bit takes.
    """

    called: str
    reported: tuple[str, ...]
    of_port: int

    def filled(self, counts: Mapping[str, int], registers: int) -> int:
        """Return how many a design fills, without so many registers at its ports."""
        used = sum(counts[kind] * size for size, kind in enumerate(self.reported, 1))
        return used - self.of_port * registers


@dataclass(frozen=True)
class DeviceFamily:
    """How designs get into the devices of a family, and what stands in the report.

    Attributes
    ----------
    name
        Stands before the colon: ``ice40:hx8k``, and in ``synth_ice40`` of Yosys.
    devices
        Arguments that choose a device, by its name.
    multipliers
        Option of Yosys for a description that multiplies, by the devices that have multipliers.
    blocks
        Cells that are more than logic.
    models, own_models
        Verilog of Yosys in which these have their functions, and of those that it lacks.
    logic
        Parts of a logic cell; a design takes as many cells as it fills of the fullest part.
    cells, by_parameters
        Functions of all other cells that netlists may have; of those whose parameters set them, by
        kind, a function that makes the cell of a name.
    table
        The look-up table.
    launch, capture
        A register before an input and behind an output, each in a logic cell of its own.
    """

    name: str
    devices: Mapping[str, tuple[str, ...]]
    logic: tuple[LogicPart, ...]
    cells: Mapping[str, Cell]
    table: LookUpTable
    blocks: Mapping[str, DeviceBlock]
    models: str
    multipliers: Mapping[str, str]
    launch: tuple[Primitive, ...]
    capture: tuple[Primitive, ...]
    by_parameters: Mapping[str, MakesCell] = field(default_factory=dict)
    own_models: str = ""

    @property
    def program(self) -> str:
        """What places and routes."""
        return f"nextpnr-{self.name}"


@dataclass(frozen=True)
class Device:
    """A device of a family."""

    family: DeviceFamily
    name: str

    @property
    def full_name(self) -> str:
        """As it is written: ``ice40:hx8k``."""
        return f"{self.family.name}:{self.name}"

    def synthesis(self, top: str, described: str) -> tuple[str, str]:
        """Return the commands of Yosys to cells before look-up tables, and on to all cells.

        `described` is the module, as Yosys has it before it is mapped.
        """
        options = "" if re.search(r"^  memory ", described, re.M) else " -nobram"
        if re.search(r"^  cell \$mul ", described, re.M):
            options += self.family.multipliers.get(self.name, "")
        command = f"synth_{self.family.name}{options} -top {top} -run"
        return f"{command} begin:map_luts", f"{command} map_luts:"


def sum_of_products(written: str, inputs: Sequence[str]) -> str:
    """Return the function whose value for entry k is bit k of what is written, highest first.

    Examples
    --------
    >>> sum_of_products("1000", ("A", "B"))
    'A B'
    """
    products = (
        " ".join(f"{'' if k >> i & 1 else '!'}{pin}" for i, pin in enumerate(inputs))
        for k, bit in enumerate(reversed(written))
        if bit == "1"
    )
    return " + ".join(products) or "0"


def cell_of(
    name: str,
    inputs: Sequence[str],
    functions: Mapping[str, str],
    flip_flop: FlipFlop | None = None,
) -> Cell:
    """Return a cell that is known by its functions alone; a clock is its first input."""
    clock = inputs[0] if flip_flop else ""
    pins = {pin: Pin(pin, "input", clock=pin == clock) for pin in inputs}
    pins |= {pin: Pin(pin, "output", function=written) for pin, written in functions.items()}
    return Cell(name=name, area_m2=0.0, leakage_w=0.0, pins=pins, flip_flop=flip_flop)


def device_called(name: str, families: Sequence[DeviceFamily]) -> Device:
    """Return the device of a name.

    Raises
    ------
    StudyError
        There is none.
    """
    devices = [Device(family, one) for family in families for one in family.devices]
    known = {one.full_name: one for one in devices}
    if name not in known:
        fault = Fault("device", repr(name), "no known device has this name", nearest(name, known))
        raise StudyError([fault])
    return known[name]


def read_device_netlist(
    mapped: str, family: DeviceFamily, *, top: str
) -> tuple[Netlist, CellLibrary]:
    """Return a netlist of a family's cells, and a library in which each function is a cell.

    Parameters
    ----------
    mapped
        JSON of Yosys.
    top
        The module.

    Raises
    ------
    StudyError
        It is no netlist of cells; see `read_netlist`.
    """
    data, cells = json.loads(mapped), dict(family.cells)
    by_parameters = {**family.by_parameters, family.table.kind: family.table.cell}
    for cell in data["modules"][top]["cells"].values():
        kind = cell["type"]
        if kind in by_parameters:
            parameters = {name: text.strip() for name, text in cell["parameters"].items()}
            cell["type"] = " ".join((kind, *parameters.values()))
            if cell["type"] not in cells:
                cells[cell["type"]] = by_parameters[kind](cell["type"], parameters)
        elif kind in family.blocks:
            ports = (port for port, bits in cell["connections"].items() if bits)
            cell["type"] = " ".join((kind, *ports))
            cells.setdefault(cell["type"], family.blocks[kind].cell(cell["type"], cell))
    library = CellLibrary(
        name=family.name,
        voltage_v=0.0,
        temperature_c=0.0,
        corner="",
        cells=cells,
        sources={},
        wire_loads={},
    )
    return read_netlist(json.dumps(data), top=top, library=library), library


def with_plain_tables(mapped: str, family: DeviceFamily, *, top: str) -> str:
    """Return a module alone, JSON of Yosys, with look-up tables as Yosys itself has them.

    A model in Verilog would be elaborated anew for each content of a table.
    """
    module, table = json.loads(mapped)["modules"][top], family.table
    for cell in module["cells"].values():
        if cell["type"] == table.kind:
            nets = cell["connections"]
            width = len(table.inputs)
            cell |= {
                "type": "$lut",
                "parameters": {
                    "WIDTH": f"{width:032b}",
                    "LUT": cell["parameters"][table.parameter].zfill(1 << width),
                },
                "port_directions": {"A": "input", "Y": "output"},
                "connections": {
                    "A": [*(bit for pin in table.inputs for bit in nets[pin])],
                    "Y": nets[table.output],
                },
            }
    return json.dumps({"creator": "dse", "modules": {top: module}})
