"""Characterised designs as a table."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from dse.algebra import units
from dse.contract.placement import MAPPED_IN
from dse.errors import Fault, refuse
from dse.files.csv import inert
from dse.files.headers import read_header
from dse.model.designs import AREAS, BLOCKS
from dse.reports.text import Printable, listed, paragraph, plural, table_text
from dse.silicon.figures import TARGET, CharacterisedDesign, rounded_down
from dse.silicon.tasks import DesignTask

_COLUMNS = tuple(
    read_header(header)
    for header in (
        *("area_um2", "gate_equivalents", "clock_mhz", "dynamic_power_mw"),
        *("leakage_power_uw", "payload_bit", "cycles_per_task", "latency_cycles"),
        *("tasks_in_flight", "read_byte", "written_byte", "settled_power_mw", "idle_power_mw"),
        *("energy_pj", "settled_energy_pj", "least_period_ns", "cells", "flip_flops"),
        *("buffers", "clock_gates", "gated_flip_flops"),
    )
)
"""Headers, with their quantities in SI."""

_SHARED = (
    ("library", "library"),
    ("corner", "corner"),
    ("mapped by", "tool"),
    ("gate equivalent", "gate"),
)


_SHOWN = {
    "area": "area_m2",
    "clock": "clock_hz",
    "dynamic": "dynamic_power_w",
    "leakage": "leakage_power_w",
    "energy": "energy_j",
}
"""Headers and quantities of the text."""


@dataclass(frozen=True, repr=False)
class Characterisation(Printable):
    """Designs with their quantities.

    Attributes
    ----------
    name
        Of the generator, or of the top module.
    designs
        In the order of the request.
    remarks
        Lines above the table, for every reader of it.
    kept
        Number of designs known from earlier runs.
    """

    name: str
    designs: tuple[CharacterisedDesign, ...]
    remarks: tuple[str, ...]
    kept: int

    def csv(self) -> str:
        """Return the table, remarks above it.  Equal results give the same bytes."""
        stream = io.StringIO()
        for line in (*self.remarks, *self._facts()):
            stream.write(f"# {line}\n")
        parameters = list(self.designs[0].parameters)
        columns = [one for one in _COLUMNS if one.name in self.designs[0].figures]
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["design", *parameters, MAPPED_IN, *(one.written for one in columns)])
        scales = {column.name: float(1 / column.factor) for column in columns}
        for one in self.designs:
            values = (f"{one.figures[name] * scale:.7g}" for name, scale in scales.items())
            named = (inert(str(one.parameters[name])) for name in parameters)
            writer.writerow([one.name, *named, inert(one.facts["library"]), *values])
        return stream.getvalue()

    def _facts(self) -> Iterator[str]:
        first = self.designs[0].facts
        for label, fact in _SHARED:
            yield f"{label}: {first[fact]}"
        for one in self.designs:
            facts = one.facts
            yield (
                f"{one.name}: description sha256 {facts['description']}, script sha256 "
                f"{facts['script']}, stimulus sha256 {facts['vectors']}"
            )
            yield (
                f"{one.name}: {facts['tasks']} answers checked, "
                f"transitions counted over {facts['cycles']} cycles"
            )
        for note in self._notes():
            yield f"note: {note}"

    def _notes(self) -> Iterator[str]:
        """Yield each note, with the designs that have it unless all have."""
        found: dict[str, list[str]] = {}
        for one in self.designs:
            for note in dict.fromkeys(one.notes):
                found.setdefault(note, []).append(one.name)
        for note, names in found.items():
            yield note if len(names) == len(self.designs) else f"{listed(names)}: {note}"

    def text(self) -> str:
        """Return the results as a table, and the notes."""
        rows = [
            (
                one.name,
                *(_shown(one.figures[name], name) for name in _SHOWN.values()),
                _glitches(one.figures),
                one.facts["tasks"],
            )
            for one in self.designs
        ]
        headers = ("design", *_SHOWN, "glitches", "checked")
        parts = [
            "{0} in {library} ({corner}), mapped by {tool}".format(
                self.name, **self.designs[0].facts
            ),
            table_text(rows, headers),
            _LEGEND,
        ]
        notes = [*map(paragraph, self._notes())]
        if self.kept:
            notes.append(f"{plural(self.kept, 'design')} of {len(rows)} kept from an earlier run")
        return "\n\n".join(filter(None, [*parts, "\n".join(notes)]))

    def to_dict(self) -> dict[str, Any]:
        """Return the designs as plain data, in SI."""
        return {"name": self.name, "designs": [asdict(one) for one in self.designs]}


def _shown(value: float, figure: str) -> str:
    return units.show(rounded_down(value, 4) if figure == "clock_hz" else value, figure)


_LEGEND = "energy: of a task, without leakage; glitches: their share of it; checked: tasks"


def _glitches(figures: Mapping[str, float]) -> str:
    total = figures["dynamic_power_w"]
    return f"{1 - figures['settled_power_w'] / total:.0%}" if total > 0 else "none"


def check_names(tasks: Sequence[DesignTask]) -> None:
    """Raise StudyError for all parameters that have the name of a column."""
    taken = {"design", TARGET, MAPPED_IN, *AREAS, *BLOCKS, *(one.written for one in _COLUMNS)}
    named = {name for task in tasks for name in task.design.parameters}
    rule, remedy = "the table has a column of this name already", "rename the parameter"
    refuse(Fault(f"over.{name}", "", rule, remedy) for name in sorted(named & taken))
