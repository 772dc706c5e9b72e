"""A netlist placed and routed by nextpnr: its clock with wires, and the logic cells that it takes.

A core is placed alone, with a register before each input and behind each output: they hold its
ports to the clock, and take no pads, of which devices have few.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from dse.errors import Fault, MissingLibraryError, StudyError, refuse
from dse.silicon.fpga.devices import Device, Primitive
from dse.silicon.programs import Output, raise_errors, run_program

_USED = re.compile(r"^Info:\s+(\w+):\s+(\d+)/\s*(\d+)\s+\d+%", re.M)


@dataclass(frozen=True)
class Placement:
    """What came of one seed.

    Attributes
    ----------
    clock_hz
        The highest, from the slowest path between registers, those of the ports included.
    logic_cells
        Of the core, without the registers at its ports.
    counted
        How many blocks of each kind and parts of logic cells, as the table calls them.
    """

    clock_hz: float
    logic_cells: int
    counted: Mapping[str, int]


def found_command(program: str) -> tuple[str, ...]:
    """Return what runs a program that places and routes; nothing where it is not installed.

    It is the one of the PATH, or else that of the extra, which is compiled to WebAssembly.
    """
    path = shutil.which(program)
    if path:
        return (path,)
    name = program.replace("-", "_")
    code = f"import sys, yowasp_{name}; sys.exit(yowasp_{name}.run_{name}(sys.argv[1:]))"
    return (sys.executable, "-P", "-c", code) if find_spec(f"yowasp_{name}") else ()


def command_of(device: Device) -> tuple[str, ...]:
    """Return what runs the program that places and routes for a device.

    Raises
    ------
    MissingLibraryError
        It is not installed.
    """
    program = device.family.program
    found = found_command(program)
    if not found:
        instead = f", or put a {program} on the PATH"
        raise MissingLibraryError("placing and routing", program, "fpga", instead)
    return found


@cache
def version_of(command: tuple[str, ...]) -> str:
    """Return what a program calls itself, and its version, found once."""
    output = run_program((*command, "--version"), {}, what="asking for it", time_limit_s=600.0)
    found = re.search(r'([^\s"]+)"? -- .*Version (?:nextpnr-)?([^\s)]+)', output.log)
    return f"{found[1]} {found[2]}" if found else f"{Path(command[0]).name} of unknown version"


def place_and_route(
    mapped: str,
    device: Device,
    *,
    top: str,
    clock: str,
    seeds: Iterable[int],
    time_limit_s: float,
) -> list[Placement]:
    """Place and route a netlist on a device of its own, once for each seed.

    Parameters
    ----------
    mapped
        JSON of Yosys, of cells of the device's family.
    top, clock
        The module and its clock input.
    seeds
        Of the random numbers in placing.
    time_limit_s
        The longest that each may take.

    Raises
    ------
    MissingLibraryError
        The program is not there.
    StudyError
        The design does not fit, or there was another error.
    ToolTimeError
        It took too long.
    """
    text, registers = with_registers(mapped, device, top=top, clock=clock)
    command = (*command_of(device), *device.family.devices[device.name], "--timing-allow-fail")
    files, placing = {"design.json": text}, "placing and routing"
    found = []
    for seed in seeds:
        said = ("--json", "design.json", "--seed", str(seed), "--report", "report.json")
        output = run_program((*command, *said), files, what=placing, time_limit_s=time_limit_s)
        if "report.json" not in output.files:
            _raise_too_large(output, device)
        raise_errors(output, (), done="report.json", program=device.family.program)
        found.append(_reported(output.files["report.json"], device, registers))
    return found


def with_registers(mapped: str, device: Device, *, top: str, clock: str) -> tuple[str, int]:
    """Return a netlist with a register at each bit of its ports, and how many these are.

    The clock alone is left as a port.
    """
    family = device.family
    module = json.loads(mapped)["modules"][top]
    (clock_net,) = module["ports"][clock]["bits"]
    cells, registers = dict(module["cells"]), 0
    joined = [cell["connections"].values() for cell in cells.values()]
    joined.append(port["bits"] for port in module["ports"].values())
    free = 1 + max(bit for each in joined for bits in each for bit in bits if isinstance(bit, int))
    for port, said in module["ports"].items():
        if port == clock:
            continue
        chain = family.launch if said["direction"] == "input" else family.capture
        for place, bit in enumerate(said["bits"]):
            nets: dict[str, int | str] = {"clock": clock_net, "port": bit, "0": "0", "1": "1"}
            for one in chain:
                for net in one.nets.values():
                    if net not in nets:
                        nets[net], free = free, free + 1
                cells[f"register {port} {place} {one.kind}"] = _written(one, nets)
            registers += 1
    alone = {**module, "cells": cells, "ports": {clock: module["ports"][clock]}}
    return json.dumps({"modules": {top: alone}}), registers


def _written(one: Primitive, nets: Mapping[str, int | str]) -> dict[str, Any]:
    return {
        "type": one.kind,
        "parameters": one.parameters,
        "attributes": {},
        "port_directions": {pin: "output" if pin == one.output else "input" for pin in one.nets},
        "connections": {pin: [nets[net]] for pin, net in one.nets.items()},
    }


def _raise_too_large(output: Output, device: Device) -> None:
    """Raise what a device has too little of, if the log says so."""
    faults = []
    names = {one.reported: one.counted for one in device.family.blocks.values()}
    parts = {one.reported[0]: one for one in device.family.logic}
    for kind, needed, there in dict.fromkeys(_USED.findall(output.log)):
        if int(needed) > int(there):
            what = parts[kind].called if kind in parts else names.get(kind, kind)
            written = f"{needed} {what.replace('_', ' ')}"
            if kind in parts and parts[kind].of_port:
                written += ", registers at its ports included"
            rule = f"{device.full_name} has {there}"
            remedy = "take a larger device, or leave this design out"
            faults.append(Fault(what, written, rule, remedy))
    refuse(faults)


def _reported(written: str, device: Device, registers: int) -> Placement:
    """Return what stands in a report (nextpnr, ``--report``: clocks in MHz)."""
    try:
        report = json.loads(written)
        clocks = [float(one["achieved"]) for one in report["fmax"].values()]
        counts = {kind: int(one["used"]) for kind, one in report["utilization"].items()}
        logic = {one.called: one.filled(counts, registers) for one in device.family.logic}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        rule = f"its report cannot be read: {type(error).__name__} {error}"
        remedy = "use nextpnr 0.4 or later"
        raise StudyError([Fault(device.family.program, "", rule, remedy)]) from None
    if not clocks:
        rule = "no path between registers, so that no clock is too fast"
        raise StudyError([Fault("clock", "", rule, "clock the design")])
    kinds = (one for one in device.family.blocks.values() if one.counted)
    counted = {one.counted: counts.get(one.reported, 0) for one in kinds}
    return Placement(min(clocks) * 1e6, max(logic.values()), {**logic, **counted})
