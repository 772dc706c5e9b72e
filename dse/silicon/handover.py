"""A characterised design in files that other tools read: OpenSTA, simulators, place and route."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from dse.algebra import units
from dse.files.json import write_text
from dse.reports.text import table_text
from dse.silicon.cells.library import CellLibrary
from dse.silicon.netlists.netlist import CONSTANT_0, CONSTANT_1, Netlist
from dse.silicon.netlists.simulate import Activity
from dse.silicon.netlists.timing import Timing

NETLIST, CONSTRAINTS, ACTIVITY = "netlist.v", "constraints.sdc", "activity.saif"
CRITICAL_PATH, SCRIPT = "critical_path.txt", "opensta.tcl"

_PLAIN = re.compile(r"[A-Za-z_][\w$]*")


def write_design(
    folder: Path,
    netlist: Netlist,
    library: CellLibrary,
    timing: Timing,
    activity: Activity,
    *,
    clock: str,
    period_s: float,
    library_files: Sequence[str],
    wire: str | None = None,
) -> None:
    """Write the mapped netlist, its constraints, activity and critical path, and a script for STA.

    Activity is in the switching activity interchange format (SAIF 2.0) of IEEE 1801: per input of
    the module and per output of an instance, which is how OpenSTA reads it, the time at 0 and 1 and
    the transitions, glitches among them, over the simulated cycles.  Clocks are ideal in the
    constraints, so that a clock gate's own delay is not in what STA finds for its enable.

    Parameters
    ----------
    period_s
        The clock period at which it was simulated.
    wire
        Wire load of the library; without it wires have no capacitance, whatever the library says.
    """
    placing = files_for_placing(netlist, library, clock=clock, period_s=period_s)
    files = {
        ACTIVITY: _saif(netlist, library, activity, period_s),
        CRITICAL_PATH: [_path_text(netlist, timing)],
        SCRIPT: _script(netlist, library_files, wire),
    }
    for name, text in (placing | {name: _text(lines) for name, lines in files.items()}).items():
        write_text(folder / name, text)


def files_for_placing(
    netlist: Netlist, library: CellLibrary, *, clock: str, period_s: float
) -> dict[str, str]:
    """Return netlist and constraints, with times in the library's unit.

    Ports have no hold constraint: their outer registers would need the clock tree's delay.
    """
    return {
        NETLIST: _text(_verilog(netlist, library)),
        CONSTRAINTS: _text(_constraints(netlist, clock, period_s / library.time_unit_s)),
    }


def _text(lines: Iterable[str]) -> str:
    return "\n".join(lines) + "\n"


def bits(netlist: Netlist) -> tuple[dict[int, str], list[tuple[str, str]]]:
    """Return what each net is called in the netlist, and the port bits that only repeat a net."""
    names = {CONSTANT_0: "1'b0", CONSTANT_1: "1'b1"}
    repeated = []
    for port, nets in (*netlist.inputs.items(), *netlist.outputs.items()):
        for place, net in enumerate(nets):
            bit = f"{_called(port)}[{place}]" if len(nets) > 1 else _called(port)
            if net in names:
                repeated.append((bit, names[net]))
            else:
                names[net] = bit
    inner = {net for one in netlist.instances for net in one.nets.values()} - names.keys()
    return names | {net: f"n{net}" for net in sorted(inner)}, repeated


def instance_names(netlist: Netlist) -> dict[str, str]:
    """Return a plain name for each instance: no format has all that mapping tools write."""
    found: dict[str, str] = {}
    taken: set[str] = set()
    for place, one in enumerate(netlist.instances):
        plain = re.sub(r"\W+|\$", "_", one.name).strip("_") or "i"
        plain = f"i_{plain}" if plain[0].isdigit() else plain
        found[one.name] = f"{plain}_i{place}" if plain in taken else plain
        taken.add(found[one.name])
    return found


def _called(name: str) -> str:
    """Return a name as Verilog has it: escaped where it is no plain one."""
    return name if _PLAIN.fullmatch(name) else f"\\{name} "


def _verilog(netlist: Netlist, library: CellLibrary) -> Iterator[str]:
    names, repeated = bits(netlist)
    ports = (*netlist.inputs, *netlist.outputs)
    yield f"module {_called(netlist.top)}({', '.join(map(_called, ports))});"
    for direction, each in (("input", netlist.inputs), ("output", netlist.outputs)):
        for port, nets in each.items():
            width = f" [{len(nets) - 1}:0]" if len(nets) > 1 else ""
            yield f"  {direction}{width} {_called(port)};"
    for net, name in names.items():
        if name == f"n{net}":
            yield f"  wire {name};"
    instances = instance_names(netlist)
    for one in netlist.instances:
        joined = {pin: names[net] for pin, net in one.nets.items()}
        for bus, wide in library.cells[one.cell].buses.items():
            if {*wide} <= {*joined}:
                joined[bus] = f"{{{', '.join(joined.pop(bit) for bit in reversed(wide))}}}"
        pins = ", ".join(f".{_called(pin)}({net})" for pin, net in joined.items())
        yield f"  {_called(one.cell)} {instances[one.name]} ({pins});"
    for bit, same in repeated:
        yield f"  assign {bit} = {same};"
    yield "endmodule"


def _constraints(netlist: Netlist, clock: str, period: float) -> Iterator[str]:
    others = " ".join(f"{{{port}}}" for port in netlist.inputs if port != clock)
    yield f"create_clock -name {{{clock}}} -period {period:.12g} [get_ports {{{clock}}}]"
    if others:
        yield f"set_input_delay -max 0 -clock {{{clock}}} [get_ports [list {others}]]"
    yield f"set_output_delay -max 0 -clock {{{clock}}} [all_outputs]"


def _saif(
    netlist: Netlist, library: CellLibrary, activity: Activity, period_s: float
) -> Iterator[str]:
    duration_ps = round(activity.cycles * period_s * 1e12)

    def of(name: str, net: int) -> str:
        high = round(float(activity.high[net]) * duration_ps)
        shown = name.strip().replace("[", "\\[").replace("]", "\\]")
        times = f"(T0 {duration_ps - high}) (T1 {high}) (TX 0)"
        return f"({shown} {times} (TC {int(activity.toggles[net])}) (IG 0))"

    names, instances = bits(netlist)[0], instance_names(netlist)
    yield '(SAIFILE (SAIFVERSION "2.0") (DIRECTION "backward") (DIVIDER /)'
    yield f"(TIMESCALE 1 ps) (DURATION {duration_ps})"
    yield f"(INSTANCE {netlist.top}"
    yield "(NET"
    for nets in netlist.inputs.values():
        yield from (of(names[net], net) for net in nets)
    yield ")"
    for one in netlist.instances:
        pins = library.cells[one.cell].pins
        driven = [of(pin, net) for pin, net in one.nets.items() if pins[pin].direction == "output"]
        if driven:
            yield f"(INSTANCE {instances[one.name]} (NET {' '.join(driven)}))"
    yield "))"


def _path_text(netlist: Netlist, timing: Timing) -> str:
    names = instance_names(netlist)
    rows = [
        (
            names.get(one.instance, one.instance),
            one.cell,
            one.pin,
            one.edge,
            units.show(one.increment_s, "delay_s"),
            units.show(one.arrival_s, "delay_s"),
        )
        for one in timing.critical_path
    ]
    headers = ("instance", "cell", "pin", "edge", "increment", "arrival")
    return table_text(rows, headers, width=160)


def _script(netlist: Netlist, library_files: Sequence[str], wire: str | None) -> Iterator[str]:
    for file in library_files:
        yield f"read_liberty {{{Path(file).resolve()}}}"
    yield f"read_verilog {NETLIST}"
    yield f"link_design {{{netlist.top}}}"
    yield f"read_sdc {CONSTRAINTS}"
    yield f"set_wire_load_model -name {{{wire}}}" if wire else "set_load 0 [get_nets *]"
    yield "report_checks -path_delay max -digits 4"
    yield "if {[info commands read_saif] ne {}} {"  # older versions have no such command
    yield f"  read_saif -scope {{{netlist.top}}} {ACTIVITY}"
    yield "  report_power"
    yield "}"
