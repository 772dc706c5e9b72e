"""A front as a table: for pages and notebooks, and as columns in units that suit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.algebra import units
from dse.reports.front_text import facts_lines, omitted, representative_rows
from dse.reports.front_view import FrontView, cell_text
from dse.reports.sections import Section, html


def table_columns(view: FrontView) -> list[str]:
    """Return the columns of a front that tell its designs apart and how good they are."""
    names = [view.sweep, *view.axes, *(name for name, _ in view.objectives), view.category]
    return [name for name in dict.fromkeys(names) if name]


def front_table(view: FrontView, title: str, most: int, *, written: bool = True) -> Section:
    """Return the front as a table: all of it, or the `most` rows that tell most.

    `written` says whether front.csv has it.
    """
    columns = table_columns(view)
    chosen = representative_rows(view, most).tolist() if view.size else []
    rows = tuple(
        (view.names[row], *(cell_text(view.front[name][row], name) for name in columns))
        for row in chosen
    )
    lines = tuple(f"{count}: {rule}." for count, rule in omitted(view, chosen, written=written))
    return Section("front", title, lines, ("design", *map(view.words, columns)), rows)


def front_html(view: FrontView, facts: Mapping[str, Any], *, rows: int) -> str:
    """Return a front as HTML for a notebook, at most `rows` of its designs; see `front_text`."""
    lines = facts_lines(view, facts)
    if view.recommended is not None:
        lines.insert(0, f"recommended: {view.recommended.design}, {view.recommended.rule}")
    table = front_table(view, "", rows) if view.size else Section("", "no feasible design")
    why = (facts.get("certificate") or {}).get("unfinished") or ()
    parts = (Section("unproven", lines=tuple(f"not proven: {reason}" for reason in why)), table)
    return html(view.title, (*parts, Section("facts", lines=tuple(lines))))


def in_units(view: FrontView) -> dict[str, NDArray[Any]]:
    """Return the columns of a front, each in one unit, which stands in its header."""
    found: dict[str, NDArray[Any]] = {"design": np.asarray(view.names, dtype=object)}
    for name in table_columns(view):
        values = view.front[name]
        number = values.dtype.kind in "fiub"
        factor, unit = units.scale(values, name) if number else (1.0, "")
        header = f"{view.words(name)} [{unit}]" if unit else view.words(name)
        found[header] = values / factor if number and factor != 1.0 else values
    return found
