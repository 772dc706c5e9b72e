"""Liberty files: the cells of a process at one corner."""

from __future__ import annotations

import gzip
import hashlib
import io
import zlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from dse.errors import Fault, StudyError, refuse
from dse.files.json import read_bytes
from dse.reports.text import plural
from dse.silicon.cells.liberty_cells import CellReader
from dse.silicon.cells.liberty_grammar import LibertyGroup, LibertyText
from dse.silicon.cells.liberty_tables import read_units
from dse.silicon.cells.library import Cell, CellLibrary

MOST_BYTE = 500_000_000
"""Of a packed file, unpacked."""


def read_liberty(*paths: str | Path) -> CellLibrary:
    """Return the cells in liberty files, which may be gzipped; several make one library.

    Delays, slews and energies are tables of the nonlinear delay model (Liberty User Guide and
    Reference Manual, Open Source Liberty).  Not read: current-source models, banks of bits
    and buses (their cells are omitted and named), energy drawn from rails of 0 V (the same charge
    is counted at the supply), wires.  Leakage is ``cell_leakage_power``; where it
    is missing or 0, the mean over the states of ``leakage_power``.

    Raises
    ------
    StudyError
        A file cannot be read, or breaks a rule; all faults at once.
    """
    parts: list[CellLibrary] = []
    readers: list[CellReader] = []
    faults: list[Fault] = []
    for path in map(Path, paths):
        content = read_bytes(path)
        text = LibertyText(_unpacked(content, path).decode(errors="replace"), str(path))
        library = text.library()
        if library is not None:
            source = {path.name: hashlib.sha256(content).hexdigest()}
            reader = CellReader(library, text, read_units(library, text))
            readers.append(reader)
            parts.append(_library(library, reader, source))
        faults += text.faults
    faults += _disagreements(parts)
    refuse(faults)
    return _joined(parts, tuple(_notes(readers)))


def _unpacked(content: bytes, path: Path) -> bytes:
    if not content.startswith(b"\x1f\x8b"):
        return content
    try:
        with gzip.open(io.BytesIO(content)) as stream:
            found = stream.read(MOST_BYTE + 1)
    except (OSError, EOFError, zlib.error) as error:
        rule, remedy = f"the file cannot be unpacked: {error}", "fetch it again"
    else:
        if len(found) <= MOST_BYTE:
            return found
        rule = f"the file unpacks to more than {MOST_BYTE // 10**6} MB"
        remedy = "split it by groups of cells, and name all files"
    raise StudyError([Fault("", repr(str(path)), rule, remedy)])


def _library(library: LibertyGroup, reader: CellReader, source: dict[str, str]) -> CellLibrary:
    text, units = reader.text, reader.units
    cells: dict[str, Cell] = {}
    for group in library.all("cell"):
        cell = reader.cell(group)
        if cell is not None and cell.name in cells:
            rule, remedy = "two cells have this name", "remove one of them"
            text.fault(group.at, (cell.name,), f"cell ({cell.name})", rule, remedy)
        elif cell is not None:
            cells[cell.name] = cell
    voltage, temperature, corner = _conditions(library, text)
    return CellLibrary(
        name=next(iter(library.words()), ""),
        voltage_v=voltage * units.volt,
        temperature_c=temperature,
        corner=corner,
        cells=cells,
        sources=source,
    )


def _conditions(library: LibertyGroup, text: LibertyText) -> tuple[float, float, str]:
    """Return voltage, temperature and name of the default operating conditions."""
    conditions = {
        name: group for group in library.all("operating_conditions") for name in group.words()[:1]
    }
    default = library.get("default_operating_conditions")
    name = default if default in conditions else next(iter(conditions), "")
    group = conditions.get(name, library)
    found = []
    for key in ("voltage", "temperature"):
        written = group.get(key) or library.get(f"nom_{key}")
        try:
            found.append(float(written))
        except ValueError:
            rule, remedy = f"the library needs a {key}", f"write 'nom_{key} : ...;'"
            text.fault(group.place(key), (), repr(written), rule, remedy)
            found.append(0.0)
    return found[0], found[1], name


def _notes(readers: list[CellReader]) -> Iterator[str]:
    omitted = [name for reader in readers for name in reader.omitted]
    if omitted:
        yield f"cells with banks of bits or buses are omitted: {', '.join(omitted)}"
    if count := sum(reader.mean_leakage for reader in readers):
        yield f"leakage is the mean over the states in {plural(count, 'cell')}"
    if count := sum(reader.ground_energy for reader in readers):
        yield f"energy drawn from rails of 0 V is omitted: {plural(count, 'group')}"


def _disagreements(parts: list[CellLibrary]) -> Iterator[Fault]:
    """Yield what keeps files from being one library."""
    for part in parts[1:]:
        (file,), (first,) = part.sources, parts[0].sources
        for what in ("voltage_v", "temperature_c"):
            one, other = getattr(parts[0], what), getattr(part, what)
            if one != other:
                written = f"{file} has {other:g}, {first} {one:g}"
                rule, remedy = "files of one library have one corner", "give files of one corner"
                yield Fault(what, written, rule, remedy)
    owner: dict[str, str] = {}
    for part in parts:
        (file,) = part.sources
        for cell in part.cells:
            if cell in owner:
                written, rule = f"in {owner[cell]} and {file}", "two cells have this name"
                yield Fault(cell, written, rule, "give only one of the two files")
            owner[cell] = file


def _joined(parts: list[CellLibrary], notes: tuple[str, ...]) -> CellLibrary:
    """Return one library, which is named like its first file."""
    return replace(
        parts[0],
        cells={name: cell for part in parts for name, cell in part.cells.items()},
        sources={name: digest for part in parts for name, digest in part.sources.items()},
        notes=notes,
    )
