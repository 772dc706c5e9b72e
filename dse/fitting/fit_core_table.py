"""The designs of a table and the parameters over which laws are fitted to them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from dse.algebra import units
from dse.contract import Column
from dse.errors import UnitError, nearest
from dse.files import headers
from dse.files.csv import CsvTable
from dse.model.designs import Designs
from dse.study import inputs, schema
from dse.study.faults import Faults
from dse.study.scenario import Scenario
from dse.study.tables import core_table, table_rows

FEWEST = 3
"""A law has two coefficients or more, and needs a design more than that."""


def parameterised_designs(
    stage: schema.StageSection, over: Sequence[str], scenario: Scenario, faults: Faults
) -> tuple[Designs, dict[str, Column]] | None:
    """Return the chosen designs of the table, and the values of their parameters."""
    every = stage.model_copy(update={"parameters": {}, "designs": None})
    found = core_table.table_designs(every, scenario, (), faults)
    read = inputs.read_input(str(stage.table), ("table",), faults)
    if found is None or read is None:
        return None
    table = read[1]
    places = table_rows.called(table, stage.columns, ("columns",), faults)
    kept = table_rows.restricted(table, places, stage.parameters, ("parameters",), faults)
    for position, name in enumerate(stage.designs or ()):
        if name not in found.names:
            rule, remedy = "the table has no such design", nearest(name, found.names)
            faults.add(("designs", position), rule, remedy)
    if stage.designs is not None:
        kept &= np.isin(found.names, stage.designs)
    rows = np.flatnonzero(kept)
    parameters = _parameters(table, places, rows, over, faults)
    if len(rows) < FEWEST and not faults.found:
        rule = "a law has two coefficients or more, and needs a design more than that"
        faults.add(("table",), rule, f"use {FEWEST} designs or more", f"{len(rows)} designs")
    return found.take(rows), parameters


def _parameters(
    table: CsvTable, places: Mapping[str, int], rows: Any, over: Sequence[str], faults: Faults
) -> dict[str, Column]:
    chosen = list(over) or _candidates(table, places, faults)
    if len(chosen) > 2:
        faults.add((), "a law has one or two parameters", "name one or two", ", ".join(chosen))
    parameters: dict[str, Column] = {}
    for name in chosen:
        if name not in places:
            remedy = nearest(name, places)
            faults.add((), f"{table.file} has no column {name!r}", remedy, f"--over {name}")
            continue
        if not name.isidentifier() or not name.isascii() or name.startswith("_"):
            rule = "a parameter is called by letters, digits and underscores"
            short = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_").lower()
            short = short if short.isidentifier() else "n"
            remedy = f'call it so: --set "columns.{short}={name}" --over {short}'
            faults.add((), rule, remedy, repr(name))
        place = places[name]
        bad = len(faults.found)
        values = table.numbers(place, Fraction(1), faults.found)
        for row in rows[values[rows] <= 0] if len(faults.found) == bad else ():
            rule, remedy = "a parameter is more than 0", "leave the row out, or count from 1"
            faults.found.append(table.fault(int(row), place, rule, remedy))
        parameters[name] = values[rows]
    return parameters


def _candidates(table: CsvTable, places: Mapping[str, int], faults: Faults) -> list[str]:
    """Return the only column that may be a parameter: plain numbers that are no figure."""
    names = [
        name
        for name, place in places.items()
        if name not in core_table.KNOWN and _is_plain(name) and table.share_of_numbers(place) == 1.0
    ]
    if len(names) != 1:
        shown = f"they may be {', '.join(names)}" if names else "no column holds plain numbers"
        rule = f"which columns are the parameters is open: {shown}"
        faults.add((), rule, f"add --over {names[0] if names else 'NAME'}", "")
    return names[:1]


def _is_plain(header: str) -> bool:
    """Tell a header without a unit."""
    try:
        return headers.read_header(header).name == header and not units.suffix(header)
    except UnitError:
        return False
