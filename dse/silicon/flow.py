"""A mapped netlist placed and routed by OpenROAD, through OpenROAD-flow-scripts.

The flow's synthesis is skipped, and it times with the files that the netlist was mapped with.
Variables, files and metrics are those of its scripts at 8c009b0b6 (22 August 2026).
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from dse.errors import Fault, StudyError, refuse
from dse.silicon.cells.library import CellLibrary
from dse.silicon.characteriser import sha256
from dse.silicon.handover import CONSTRAINTS, NETLIST, files_for_placing
from dse.silicon.netlists.macros import macros_of
from dse.silicon.netlists.netlist import Netlist
from dse.silicon.programs import Output, run_program

_PROGRAMS = ("make", "openroad", "yosys")
_PLATFORMS = {
    "sky130_fd_sc_hd__": "sky130hd",
    r"asap7sc7p5t_\w+_RVT_": "asap7",
    "sg13g2_stdcell_": "ihp-sg13g2",
}
"""What the flow calls a process, by how names of its libraries begin."""

_SETTINGS = {
    **dict.fromkeys(("DESIGN_NAME", "DESIGN_NICKNAME"), "core"),
    **dict.fromkeys(("VERILOG_FILES", "SYNTH_NETLIST_FILES"), NETLIST),
    "SDC_FILE": CONSTRAINTS,
    "WORK_HOME": ".",
    "FLOW_VARIANT": "base",
    "CORE_UTILIZATION": "40",
    "PLACE_DENSITY_LB_ADDON": "0.2",
    "FILL_CELLS": "",  # those of some platforms would count as area
}
_LOGS = "logs/{platform}/core/base/"
_REPORT, _ROUTING = "6_report.json", "5_2_route.json"
_METRICS = (
    "finish__design__instance__area__stdcell",  # um2
    "finish__timing__fmax",  # Hz
    "finish__power__leakage__total",  # W
)
_VIOLATIONS = "detailedroute__route__drc_errors"
_NOTES = (
    "area and leakage: of the routed cells with clock buffers and taps, without fillers, in a core "
    "of which they take 40 %",
    "clock: with extracted wires and the clock tree, which a path to an output has in it; that of "
    "the netlist where it is slower",
    "dynamic and idle power, energies, counts of cells, other notes: of the netlist before "
    "placement",
)


@dataclass(frozen=True)
class Flow:
    """OpenROAD-flow-scripts in a folder, with a hash of them, and the version of OpenROAD."""

    folder: Path
    library_files: tuple[Path, ...]
    version: str
    sha256: str


@dataclass(frozen=True)
class Routed:
    """A design with wires and a clock tree, and what placed it."""

    area_m2: float
    period_s: float
    leakage_w: float
    placer: str
    notes: tuple[str, ...]


def flow_in(
    folder: Path, library_files: Sequence[str | Path], corners: Sequence[str | Path]
) -> Flow:
    """Return the flow in a folder, which times with files of a library, at one corner.

    Raises
    ------
    StudyError
        Everything that is missing or too many, or a path that `make` cannot take.
    """
    paths = [folder.absolute(), *(Path(one).absolute() for one in library_files)]
    faults = [
        _fault(program, "it is not on the PATH, and the flow runs it", "source the flow's env.sh")
        for program in _PROGRAMS
        if shutil.which(program) is None
    ]
    if not (folder / "Makefile").is_file() or not (folder / "platforms").is_dir():
        rule = "it has no Makefile or no platforms/"
        faults.append(_fault(str(folder), rule, "name the folder flow of OpenROAD-flow-scripts"))
    if corners:
        rule, remedy = "designs are routed at the corner of --library", "leave the others out"
        faults.append(_fault(", ".join(map(str, corners)), rule, remedy))
    faults += [
        _fault(str(path), "make takes no path with a space, $ or #", "move it, or give it a link")
        for path in paths
        if re.search(r"[\s$#]", str(path))
    ]
    refuse(faults)
    return Flow(
        paths[0], tuple(paths[1:]), _version_of(str(shutil.which("openroad"))), _sha256_of(paths[0])
    )


def platform_of(library: CellLibrary) -> str:
    """Return what the flow calls the process of a library.

    Raises
    ------
    StudyError
        It is none that is known, or there are macros, of which the flow has no layout.
    """
    found = [name for text, name in _PLATFORMS.items() if re.match(text, library.name)]
    if not found:
        rule = "the flow has no known platform for this library"
        remedy = f"take one of {', '.join(_PLATFORMS.values())}, or leave place out"
        raise StudyError([_fault(library.name, rule, remedy)])
    if macros := sorted(macros_of(library)):
        rule, remedy = "the flow has no layout of macros", "leave place out"
        raise StudyError([_fault(", ".join(macros), rule, remedy)])
    return found[0]


def placed_and_routed(
    flow: Flow,
    netlist: Netlist,
    library: CellLibrary,
    *,
    clock: str,
    period_s: float,
    time_limit_s: float,
) -> Routed:
    """Place and route a netlist alone, for a clock period that it may miss.

    Raises
    ------
    StudyError
        The flow failed, with what its log ends with, or its report lacks a metric.
    ToolTimeError
        It took too long.
    """
    platform = platform_of(library)
    logs = _LOGS.format(platform=platform)
    placing = files_for_placing(
        replace(netlist, top="core"), library, clock=clock, period_s=period_s
    )
    output = run_program(
        (
            *("make", "--no-print-directory", "--file", str(flow.folder / "Makefile")),
            "DESIGN_CONFIG=config.mk",
            f"{logs}6_report.log",  # what follows makes the file for a fab, with KLayout
        ),
        {**placing, "config.mk": "\n".join(_settings(flow, platform)) + "\n"},
        what="placing and routing",
        time_limit_s=time_limit_s,
        back=("log", f"{logs}*.json"),
    )
    if _REPORT not in output.files:
        raise StudyError([_failed(output.log)])
    area_um2, clock_hz, leakage_w = _metrics(_report(output, _REPORT))
    violations = _report(output, _ROUTING).get(_VIOLATIONS, "an unknown number of")
    scripts = f"OpenROAD-flow-scripts for {platform} (sha256 {flow.sha256[:12]})"
    return Routed(
        area_m2=area_um2 * 1e-12,
        period_s=1.0 / clock_hz,
        leakage_w=leakage_w,
        placer=f"OpenROAD {flow.version} through {scripts}",
        notes=(*_NOTES, f"routed with {violations} violations of design rules"),
    )


def with_routed(figures: Mapping[str, float], routed: Routed) -> dict[str, float]:
    """Return figures with those of the routed design, which are no longer uncertain."""
    certain = {f"{name}_uncertainty" for name in ("area", "clock", "leakage_power")}
    found = {name: value for name, value in figures.items() if name not in certain}
    if "gate_equivalents" in found:
        found["gate_equivalents"] *= routed.area_m2 / found["area_m2"]
    return found | {"area_m2": routed.area_m2, "leakage_power_w": routed.leakage_w}


def _settings(flow: Flow, platform: str) -> Iterator[str]:
    given = {"FLOW_HOME": flow.folder, "PLATFORM": platform} | _SETTINGS
    given |= {f"{name.upper()}_EXE": shutil.which(name) for name in _PROGRAMS[1:]}
    for name, value in given.items():
        yield f"export {name} = {value}"
    # platforms add libraries of their own, which would be read as well
    yield f"override export LIB_FILES = {' '.join(map(str, flow.library_files))}"


def _failed(log: str) -> Fault:
    """Return what a log has of errors, else its last lines."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    said = [line for line in lines if line.startswith("[ERROR")] or lines[-3:]
    rule = f"the flow ended before its report: {' / '.join(said[:3])}"
    remedy = "leave place out: --keep then writes what the flow takes, to run it by hand"
    return _fault("", rule, remedy)


def _report(output: Output, name: str) -> dict[str, Any]:
    """Return a report of the flow; of several metrics with one name the last counts."""
    try:
        return dict(json.loads(output.files[name]))
    except (ValueError, TypeError, KeyError):
        return {}


def _metrics(report: Mapping[str, Any]) -> list[float]:
    found = {name: report.get(name) for name in _METRICS}
    refuse(
        _fault(
            name if value is None else f"{name}: {value}",
            f"{_REPORT} needs it, above 0",
            "use OpenROAD-flow-scripts of August 2025 or later",
        )
        for name, value in found.items()
        if not isinstance(value, int | float) or not value > 0
    )
    return [float(value or 0) for value in found.values()]


@cache
def _version_of(program: str) -> str:
    said = run_program((program, "-version"), {}, what="asking for a version", time_limit_s=60.0)
    return next(iter(said.log.split()), "of unknown version")


@cache
def _sha256_of(folder: Path) -> str:
    """Return a hash of the scripts, and of what platforms set."""
    found = [
        file for one in ("Makefile", "scripts/*", "platforms/*/*") for file in folder.glob(one)
    ]
    return sha256(b"".join(file.read_bytes() for file in sorted(found) if file.is_file()))


def _fault(written: str, rule: str, remedy: str) -> Fault:
    return Fault("place", written, rule, remedy)
