"""A pool: the designs that may be measured, as rows of a table, in place of axes.

Its columns are the axes.  Of their product only the rows exist; all other designs are excluded
before anything is measured, as by a rule on axes alone.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from dse.algebra import units
from dse.contract import Column
from dse.contract.evaluators import Value
from dse.errors import UnitError
from dse.files.headers import read_header
from dse.model.space import Axis
from dse.study import schema
from dse.study.faults import Faults, Path
from dse.study.scenario import Scenario
from dse.study.tables import read_input

PATH: Path = ("designs",)

OTHERS = ("axes", "stages", "sweep")
"""Sections that say otherwise which designs there are."""

MOST_COMBINATIONS = 2**62

Columns = dict[str, tuple[str, Column | list[str]]]
"""By the name of an axis: its column in SI, and numbers or texts, a row each."""


def with_axes(written: schema.StudyFile, faults: Faults) -> schema.StudyFile:
    """Return a study whose axes are the columns of its pool."""
    for name in OTHERS:
        if name in written.model_fields_set:
            rule = "the rows of `designs` are all designs that there are"
            faults.add((name,), rule, "write it as columns of the table, or remove it", "")
    axes: dict[str, Any] = {}
    for name, (quantity, cells) in _read(written, faults).items():
        if isinstance(cells, list):
            axes[name] = [*dict.fromkeys(cells)]
        elif units.suffix(quantity):
            axes[name] = [units.show_exactly(one, quantity) for one in np.unique(cells).tolist()]
        else:
            axes[name] = np.unique(cells).tolist()
    if prod(map(len, axes.values())) > MOST_COMBINATIONS:
        rule = "its columns have too many values"
        faults.add(PATH, rule, "drop columns that only name designs", "")
    faults.raise_any()
    return written.model_copy(update={"axes": axes})


def rows_of(
    written: schema.StudyFile, axes: tuple[Axis, ...], scenario: Scenario, faults: Faults
) -> list[tuple[Value, ...]] | None:
    """Return the designs of the pool of a study by their values, each once; None without one."""
    if written.designs is None:
        return None
    columns = _read(written, faults, scenario)
    faults.raise_any()
    found: list[list[Value]] = []
    for axis in axes:
        cells = columns[axis.name][1]
        if isinstance(cells, list):
            if axis.ordered:
                rule = f"{axis.name} has units in its cells"
                faults.add(PATH, rule, "write the unit in the header, `clock [MHz]` say", "")
                return None
            found.append([*map(str, cells)])
        else:  # a value that was written with its unit may be read as one beside it
            values = np.sort(axis.columns[axis.unit_name])
            middles = (values[1:] + values[:-1]) / 2
            found.append(values[np.searchsorted(middles, cells)].tolist())
    return [*dict.fromkeys(zip(*found, strict=True))]


def _read(written: schema.StudyFile, faults: Faults, scenario: Scenario | None = None) -> Columns:
    """Return the columns of the table; what is read is kept with the run."""
    section = written.designs
    if isinstance(section, schema.DesignsSection):
        faults.add(PATH, "a pool is the name of a CSV file", "write `designs: pool.csv`", "")
        return {}
    found = read_input(str(section), PATH, faults)
    if found is None:
        return {}
    entry, table = found
    if scenario is not None:
        scenario.inputs[entry.written] = entry
    columns: Columns = {}
    for place, header in enumerate(table.headers):
        try:
            column = read_header(header)
        except UnitError as error:
            faults.found.append(table.fault(None, place, error.rule, error.remedy))
            continue
        if units.suffix(column.name) or table.share_of_numbers(place, filled=True) > 0.5:
            cells: Column | list[str] = table.numbers(place, column.factor, faults.found)
        else:
            cells = [cell.strip() for cell in table.columns[place]]
        columns[units.stem(column.name)] = column.name, cells
    return columns
