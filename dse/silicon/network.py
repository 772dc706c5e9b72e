"""What each core of a fleet costs in the network that joins them, added to a table of cores."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from dse.algebra import units
from dse.contract import Column
from dse.errors import Fault, StudyError, refuse
from dse.files.csv import CsvTable, parse_csv
from dse.files.document import no_such
from dse.files.headers import read_header
from dse.files.json import read_bytes
from dse.silicon.characterisation import COLUMNS, Characterisation
from dse.silicon.figures import CharacterisedDesign

INSTANCES = "instances"
"""Column of the cores behind each network."""

FEWEST = 3
"""Networks through which a straight line has an error."""

_READ = (
    *("area_m2", "clock_hz", "dynamic_power_w", "settled_power_w", "leakage_power_w"),
    "least_period_s",
)


@dataclass(frozen=True)
class Network:
    """Networks of one kind, fitted over the instances behind them.

    Attributes
    ----------
    file
        Their table.
    stated
        Library and corner, as the table states them.
    slopes
        Area (m2), leakage (W), and energy of a clock cycle (J) with glitches and without, which
        each instance adds.
    least_clock_hz
        The slowest of the networks can be clocked so fast.
    remarks
        What a table that counts them says of them.
    """

    file: str
    stated: Mapping[str, str]
    slopes: Mapping[str, float]
    least_clock_hz: float
    remarks: tuple[str, ...]


def read_network(path: Path) -> Network:
    """Return the networks of a table of `dse characterise`.

    Energy of a cycle is dynamic power over the clock, so that networks may have several.

    Parameters
    ----------
    path
        The table: a column ``instances``, and those of `dse characterise`.

    Raises
    ------
    StudyError
        All that is wrong with the table.
    """
    if not path.is_file():
        raise no_such(path, "file", "*.csv")
    table = parse_csv(read_bytes(path), str(path))
    faults: list[Fault] = []
    columns = _columns(table, faults)
    if len(table) < FEWEST:
        rule, remedy = f"a line needs {FEWEST} networks or more", "characterise further ones"
        faults.append(_of(table.file, f"{len(table)} rows", rule, remedy))
    refuse(faults)
    if len({*columns[INSTANCES]}) < len(table):
        rule, remedy = "a line has one network for each number", "map them for one --clock"
        raise StudyError([_of(table.file, f"{INSTANCES} that stand twice", rule, remedy)])
    instances, clock = columns[INSTANCES], columns["clock_hz"]
    figures = {
        "area_m2": columns["area_m2"],
        "leakage_power_w": columns["leakage_power_w"],
        "energy_j": columns["dynamic_power_w"] / clock,
        "settled_energy_j": columns["settled_power_w"] / clock,
    }
    lines = {name: _line(instances, values) for name, values in figures.items()}
    origin = f"{table.file}, sha256 {hashlib.sha256(table.text.encode()).hexdigest()}"
    joined = f"{instances.min():g} to {instances.max():g} instances"
    remarks = [line[2:] for line in table.text.splitlines() if line.startswith("# ")]
    return Network(
        file=table.file,
        stated=dict(line.split(": ", 1) for line in remarks if ": " in line),
        slopes={name: line["slope"] for name, line in lines.items()},
        least_clock_hz=float(1.0 / columns["least_period_s"].max()),
        remarks=(f"network: {origin}; {joined}; least squares", *_in_words(lines)),
    )


def with_network(cores: Characterisation, network: Network) -> Characterisation:
    """Return a table of cores whose rows have what each adds to a network.

    Area, leakage and the energy of a clock cycle are those of the core plus the slopes of the
    network; the network has the clock of its cores.  What a fleet pays once, whatever its size,
    is in no row: a remark tells it.

    Raises
    ------
    StudyError
        The networks are of another library or corner, or do not say of which.
    """
    faults = []
    for what in ("library", "corner"):
        wanted, found = cores.designs[0].facts[what], network.stated.get(what, "not stated")
        if wanted != found:
            rule = f"that of the cores is {wanted}"
            remedy = "characterise both in the same library"
            faults.append(_of(network.file, f"{what} {found}", rule, remedy))
    refuse(faults)
    return replace(
        cores,
        designs=tuple(_joined(one, network) for one in cores.designs),
        remarks=(*cores.remarks, *network.remarks),
    )


def _joined(one: CharacterisedDesign, network: Network) -> CharacterisedDesign:
    had, slopes, clock = one.figures, network.slopes, one.figures["clock_hz"]
    area = had["area_m2"] + slopes["area_m2"]
    figures = {
        "area_m2": area,
        "leakage_power_w": had["leakage_power_w"] + slopes["leakage_power_w"],
        "network_area_m2": slopes["area_m2"],
        "network_power_w": slopes["energy_j"] * clock,
        "network_leakage_w": slopes["leakage_power_w"],
    }
    for power, energy in (("dynamic_power_w", "energy_j"), ("settled_power_w", "settled_energy_j")):
        figures[power] = had[power] + slopes[energy] * clock
        figures[energy] = figures[power] * had["cycles_per_task"] / clock
    if "gate_equivalents" in had:
        figures["gate_equivalents"] = had["gate_equivalents"] * area / had["area_m2"]
    slower = network.least_clock_hz < clock
    shown = units.show(network.least_clock_hz, "clock_hz")
    note = f"faster than the slowest of the networks, {shown}, which would need more registers"
    return replace(one, figures={**had, **figures}, notes=(*one.notes, *([note] * slower)))


def _line(over: Column, values: Column) -> dict[str, float]:
    """Return a straight line of least squares: start, slope and root mean square of what is left.

    The start is what a fleet pays once, the slope what each instance adds.
    """
    columns = np.column_stack([np.ones_like(over), over])
    start, slope = np.linalg.lstsq(columns, values, rcond=None)[0].tolist()
    left = values - start - slope * over
    return {"start": start, "slope": slope, "error": float(np.sqrt(np.mean(left**2)))}


def _in_words(lines: Mapping[str, Mapping[str, float]]) -> Iterator[str]:
    def each(part: str) -> str:
        words = {"area_m2": "", "energy_j": " a cycle", "leakage_power_w": " of leakage"}
        found = (units.show(lines[one][part], one) + word for one, word in words.items())
        return ", ".join(found)

    yield f"network, in each row: {each('slope')}; root mean square errors {each('error')}"
    yield f"network, in no row, once for each fleet: {each('start')}"


def _columns(table: CsvTable, faults: list[Fault]) -> dict[str, Column]:
    """Return the figures of a table in SI, by name."""
    headers = {one.name: one for one in COLUMNS}
    found = {}
    for one in (read_header(INSTANCES), *(headers[name] for name in _READ)):
        if one.written in table.headers:
            column = table.headers.index(one.written)
            found[one.name] = table.numbers(column, one.factor, faults)
        else:
            rule = f"a table of networks has a column {one.written!r}"
            remedy = "write it with `dse characterise`, over the instances behind the network"
            faults.append(_of(table.file, "", rule, remedy))
    return found


def _of(file: str, written: str, rule: str, remedy: str) -> Fault:
    return Fault(f"joined_by: {file}", written, rule, remedy)
