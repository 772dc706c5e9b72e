"""Designs that are evaluated already: a table with a row each, as the space of a study.

There is no model behind such a study: every column is a quantity that objectives and constraints
may name, and the search chooses rows.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from dse.algebra import units
from dse.algebra.magnitudes import compared_with_zero
from dse.contract import Column, Objective
from dse.errors import StudyError, UnitError, nearest
from dse.files import headers
from dse.model.graph import Graph, wire
from dse.model.space import Space
from dse.study import core_models, schema, tables
from dse.study.field_kinds import choices
from dse.study.overrides import DESIGN
from dse.study.reader import Reader
from dse.study.scenario import Scenario
from dse.study.tables import Places

MODELLED = ("workload", "stages", "evaluate", "interface", "budget", "axes", "sweep")
"""Sections of a study that describe a model, or an evaluator."""


def space(written: schema.StudyFile, scenario: Scenario, reader: Reader) -> tuple[Space, Graph]:
    """Return the designs of the table that a study names, and their quantities.

    Raises
    ------
    StudyError
        All errors of the table, and of the sections that name and restrict its columns.
    """
    here = reader.below("designs")
    for name in MODELLED:
        if name in written.model_fields_set:
            rule = "designs that are evaluated already have no model for it to describe"
            reader.fault((name,), rule, "remove it, or the designs", "")
    section, where = written.designs, here
    if isinstance(section, schema.DesignsSection):
        where = here.below("table")
    else:
        section = schema.DesignsSection(table=str(section), uncertainty={})
    table = tables.read_input(section.table, where)
    if table is None:
        raise StudyError(reader.faults)
    places = tables.called(table, section.columns, here.below("columns"))
    meant = compared_with_zero(written.constraints)
    own = tables.TableColumns(table, places, here)
    columns, quantities = _quantities(own, _named_in(written, section), meant)
    names = own.row_names(_candidates(places, written.objectives), ())
    kept = own.restricted(section.parameters)
    if section.only is not None:
        kept &= _only(names, section.only, here.below("only"))
    reader.raise_any()
    shares = {}
    for name, value in section.uncertainty.items():
        with reader.at(("designs", "uncertainty", name)):
            shares[named(quantities, name)] = core_models.share(value)
    reader.raise_any()
    reader.notes.append(reader.inputs[section.table].note)
    rows = np.flatnonzero(kept)
    chosen = {name: values[rows] for name, values in columns.items()}
    axis = choices(DESIGN, chosen, [names[row] for row in rows])
    for name, share in shares.items():
        scenario.sureness.shares[DESIGN, name] = np.full(axis.size, share)
    return Space((axis,)), wire({one.name: one for one in quantities}, chosen)


def with_quantities(written: schema.StudyFile, known: Collection[str]) -> schema.StudyFile:
    """Return a study whose objectives may be written like headers: ``area_um2`` for ``area_m2``."""
    objectives = {}
    for name, sense in written.objectives.items():
        quantity = _of_header(name)
        free = quantity in known and quantity not in written.objectives
        objectives[quantity if free else name] = sense
    return written.model_copy(update={"objectives": objectives})


def _of_header(name: str) -> str:
    """Return the name of a column whose header may be `name`."""
    try:
        return headers.read_header(name).name
    except UnitError:
        return name


def named(quantities: Collection[Objective], written: str) -> str:
    """Return the column of numbers called `written`: as its header, or without its unit.

    Raises
    ------
    UnitError
        No column has this name, or only one of texts, or several have it.
    """
    numbers = {one.name for one in quantities if not one.labels}
    found = {written, _of_header(written)} & numbers or {
        one for one in numbers if units.stem(one) == written
    }
    if len(found) > 1:
        raise UnitError("several columns have this name", f"write {' or '.join(sorted(found))}")
    if not found:
        rule = "the table has no such column of numbers"
        raise UnitError(rule, nearest(written, {*map(units.stem, numbers), *numbers}))
    return found.pop()


def _named_in(written: schema.StudyFile, section: schema.DesignsSection) -> set[str]:
    """Return the columns that a study may mean, with their units and without."""
    rules = " ".join([*written.constraints, written.prefer or ""])
    named = {*written.objectives, *section.uncertainty, *re.findall(r"[^\W\d]\w*", rules)}
    return named | {_of_header(name) for name in named}


def _quantities(
    own: tables.TableColumns, wanted: Collection[str], meant: set[str]
) -> tuple[dict[str, Column], tuple[Objective, ...]]:
    """Return every column except the names as numbers, texts as positions of labels.

    Unreadable columns that are not `wanted` are set aside.  A 0 is a number in columns that the
    study compares with 0, `meant`.
    """
    columns: dict[str, Column] = {}
    quantities = []
    named = own.name_column
    others = {name: place for name, place in own.places.items() if name != named}
    for header, cells in tables.columns_of(own.table, others, own.reader, wanted):
        place, labels = own.places[header.written], tuple[str, ...]()
        if header.name in columns:
            rule = f"two columns are called {header.name!r}"
            own.refuse_cell(None, place, rule, "rename or remove one of them")
        if {header.name, units.stem(header.name)} & {*wanted}:
            tables.refuse_impossible(own.table, place, header.name, cells, meant, own.reader)
        if isinstance(cells, list):
            texts, codes = np.unique(np.array(cells, dtype=object), return_inverse=True)
            cells, labels = codes.astype(np.float64), tuple(texts.tolist())
        columns[header.name] = cells
        words, about = f"Column {header.written!r}", {"source": own.table.file, "labels": labels}
        quantities.append(tables.column_quantity(header.name, words, **about))
    return columns, tuple(quantities)


def _candidates(places: Places, objectives: Collection[str]) -> list[str]:
    """Return the columns that may name designs, which are no objectives."""
    free = []
    for written in places:
        with suppress(UnitError):
            name = headers.read_header(written).name
            if {written, name, units.stem(name)}.isdisjoint(objectives):
                free.append(written)
    return free


def _only(
    names: Sequence[str], wanted: Sequence[str | int | float], reader: Reader
) -> NDArray[np.bool_]:
    position = {name: row for row, name in enumerate(names)}
    kept = np.zeros(len(names), dtype=bool)
    for place, name in enumerate(map(str, wanted)):
        if name in position:
            kept[position[name]] = True
        else:
            reader.fault((place,), "the table has no such design", nearest(name, names), repr(name))
    return kept
