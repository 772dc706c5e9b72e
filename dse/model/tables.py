"""Designs as tables: the columns that a run writes and shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.algebra import units
from dse.contract import Column
from dse.model.evaluation import label_columns
from dse.model.host import hosts_among
from dse.model.problem import Problem
from dse.model.space import ALONE, HOST, Axis, Index
from dse.model.stage import Stage

Table = dict[str, NDArray[Any]]
"""Column by name, all of one length.  Numbers in SI, choices as text."""


MOST_COLUMNS = 100
"""Number of designs above which a fleet of one of them has no column for each, but only
``<stage>.design`` and ``<stage>.instances``.  A table of designs grows linearly with the cores."""

HOST_COLUMN = "host.alone"
"""1 for the host without accelerators, in tables of a study that compares it."""

EQUALS = "equal_designs"
"""How many designs of the space have the objective values of a row, its own among them; a column
of fronts of which that is known, if some values are those of several."""

MOST_KINDS = 20
"""Most names of a quantity that groups designs.  A comment, for instance, has more."""

UNNAMED = "the design"
"""Name of a design that only numbers of axes distinguish from others."""


def design_table(problem: Problem, index: Index) -> Table:
    """Return the designs `index`, shape (n, d), with all their columns.

    The columns of a fleet are a count per design, ``<stage>.<design>``.  For one of more than
    `MOST_COLUMNS` designs, they are the design and its count.  The axes follow as the study
    names them, with their unit suffix, then `HOST_COLUMN` and every quantity.  A text that the
    host lacks is ``host``, and a number that it lacks or leaves undefined is empty.
    """
    quantities = label_columns(problem.quantities, problem.describe(index))
    alone = hosts_among(index)
    if alone is not None:
        quantities |= {
            quantity.name: np.where(alone, HOST, quantities[quantity.name])
            for quantity in problem.quantities
            if quantity.labels
        }
    return chosen_columns(problem, index) | {
        name: np.asarray(values) for name, values in quantities.items()
    }


def chosen_columns(problem: Problem, index: Index) -> Table:
    """Return the choices of the designs `index`: their fleets, and their scenario."""
    rows: Table = {}
    for stage, groups in zip(problem.stages, problem.fleets(index), strict=True):
        rows |= _fleets(stage, groups, hosts_among(index))
    for position, axis in enumerate(problem.space.axes):
        if is_choice_of_scenario(problem, axis):
            values, places = axis_values(axis), index[:, position]
            without = HOST if values.dtype == object else np.nan
            rows[axis_column(axis)] = np.where(places < 0, without, values[places])
    if len(problem.hosts):
        rows[HOST_COLUMN] = np.asarray((index < 0).any(axis=1).astype(np.int64))
    return rows


def _fleets(
    stage: Stage,
    groups: Sequence[tuple[Column, NDArray[np.int64]]],
    alone: NDArray[np.bool_] | None,
) -> Table:
    """Return a count per design of a stage, or its one design and the count of it."""
    names = stage.designs.names
    counts = [some.astype(np.int64) for some, _ in groups]
    if stage.mixed:
        return {f"{stage.name}.{name}": some for name, some in zip(names, counts, strict=True)}
    chosen = groups[0][1]
    if len(names) <= MOST_COLUMNS:
        return {
            f"{stage.name}.{name}": np.where(chosen == place, counts[0], 0)
            for place, name in enumerate(names)
        }
    design = np.array(names, dtype=object)[chosen]
    design = design if alone is None else np.where(alone, HOST, design)
    return {f"{stage.name}.design": design, f"{stage.name}.instances": counts[0]}


def is_choice_of_scenario(problem: Problem, axis: Axis) -> bool:
    """Return whether an axis is of workload, interface, budget or clocks, not a fleet's count."""
    stage, _, rest = axis.name.partition(".")
    return stage not in {entry.name for entry in problem.stages} or rest == "clock"


def axis_column(axis: Axis) -> str:
    """Return the column of an axis in a table: its path and the suffix of its unit."""
    suffix = units.suffix(axis.unit_name) if axis.unit_name else ""
    return f"{axis.name}_{suffix}" if suffix else axis.name


def axis_values(axis: Axis) -> NDArray[Any]:
    """Return the values of an axis: numbers in SI, or names."""
    if axis.unit_name:
        return axis.columns[axis.unit_name]
    return np.array(axis.labels, dtype=object)


def design_names(problem: Problem, index: Index) -> list[str]:
    """Return a short name per design: ``1 u8 + 2 u16``, stages joined by arrows.

    A study without stages names its designs after its choices without an order.
    """
    if problem.stages:
        pairs = zip(problem.counts(index), index, strict=True)
        return [ALONE if (row < 0).any() else _chain(problem, counts) for counts, row in pairs]
    axes = [(place, axis) for place, axis in enumerate(problem.space.axes) if not axis.ordered]
    chosen = (", ".join(axis.labels[row[place]] for place, axis in axes) for row in index)
    return [name or UNNAMED for name in chosen]


def _chain(problem: Problem, counts: Mapping[str, int]) -> str:
    """Return a name of one design from its counts of instances."""
    fleets: dict[str, list[str]] = {stage.name: [] for stage in problem.stages}
    for name, count in counts.items():
        stage, _, design = name.partition(".")
        fleets[stage].append(f"{count} {name if len(fleets) > 1 else design}")
    return " -> ".join(" + ".join(fleet) for fleet in fleets.values())


def category(problem: Problem) -> str | None:
    """Return the quantity that groups designs by name: the one with the most labels."""
    some = range(1, MOST_KINDS + 1)
    labelled = [quantity for quantity in problem.quantities if len(quantity.labels) in some]
    found = max(labelled, key=lambda quantity: len(quantity.labels), default=None)
    return found.name if found is not None else None


def axis_text(problem: Problem, axis: Axis) -> Callable[[Mapping[str, str]], str]:
    """Return a function that reads an axis in a row of a written table: the inverse of `table`.

    It raises KeyError or ValueError if the row lacks a column, or a count is not a number.
    """
    if is_choice_of_scenario(problem, axis):
        return itemgetter(axis_column(axis))
    name, _, rest = axis.name.partition(".")
    stage = next(stage for stage in problem.stages if stage.name == name)
    if stage.mixed or len(stage.designs.names) > MOST_COLUMNS:
        return itemgetter(axis.name)
    designs = stage.designs.names

    def text(row: Mapping[str, str]) -> str:
        counts = {design: int(row[f"{name}.{design}"]) for design in designs}
        used = next((design for design, count in counts.items() if count), designs[0])
        return used if rest == "design" else str(counts[used])

    return text


def absent(name: str) -> float:
    """Return the value of a column in the rows of a table without it: no instance, or NaN."""
    return 0.0 if "." in name and not name.endswith(".design") else np.nan


def join(tables: list[Table]) -> Table:
    """Return tables below each other.  A column that some lack is 0 or empty there."""
    columns = list(dict.fromkeys(name for entry in tables for name in entry))
    joined: Table = {}
    for name in columns:
        kinds = {entry[name].dtype for entry in tables if name in entry}
        counts = "." in name and all(kind.kind == "i" for kind in kinds)
        empty = 0 if counts else absent(name)
        parts = []
        for entry in tables:
            length = len(next(iter(entry.values()), ()))
            parts.append(entry.get(name, np.full(length, empty)))
        joined[name] = np.concatenate(parts)
    return joined


def sort_order(problem: Problem, index: Index, loss: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the order of a front: by its objectives in turn, then by the designs' choices.

    It does not depend on the order in which the study lists its axes.
    """
    ranks: list[NDArray[Any]] = [loss[:, column] for column in range(loss.shape[1])]
    rows = chosen_columns(problem, index)
    for name in sorted(rows):
        values = rows[name]
        ranks.append(
            np.unique(values.astype(str), return_inverse=True)[1]
            if values.dtype == object
            else values
        )
    return np.lexsort(ranks[::-1])
