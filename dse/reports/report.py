"""Answers as text for a terminal: fronts, terms, conflicts and catalogues.

Everything is plain text that fits the given width: by default that of the terminal, or 100
columns where the output is no terminal.
"""

from __future__ import annotations

import io
import shutil
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from dse.algebra import units
from dse.reports.front_view import FrontView
from dse.reports.words import in_words

MOST_ROWS = 15
WIDEST = 120
WIDEST_HEADER = 12
WIDEST_DESIGN = 28
"""Beyond this, the names of designs wrap when the other columns need the room."""

Cells = tuple[str, list[str]]
"""A column of a table: header and one text per row."""


def front_text(view: FrontView, facts: Mapping[str, Any], *, width: int | None = None) -> str:
    """Return a front in a few lines: its designs, the best ones, how good and how sure it is.

    Parameters
    ----------
    view
        The front.
    facts
        The counts ``designs``, ``evaluated`` and ``feasible``; ``exact``, ``method`` and
        ``wall_s``; if known ``hypervolume`` (a share of the box between the front's best
        values and its reference point), ``hypervolume_share_of_exact``, or at least
        ``hypervolume_share_at_least``, and ``notes``.
    width
        Longest line.
    """
    width = width or _width()
    title = textwrap.fill(view.title, width)
    if not view.size:
        return f"{title}\n\nno feasible design\n\n{_facts(view, facts, width)}"
    parts = [title, _front(view, width)]
    if view.sweep is None and view.size > 1:
        parts.append(_highlights(view, width))
    return "\n\n".join([*parts, _facts(view, facts, width)])


def terms(rows: Iterable[tuple[str, float | str, str, str]], *, width: int | None = None) -> str:
    """Return every term of a model: quantity, value, what it is, and the source.

    Parameters
    ----------
    rows
        Name with unit suffix; value in SI, or a text; meaning; source.
    """
    table = [
        (
            name,
            value if isinstance(value, str) else units.show(value, name),
            meaning,
            source,
        )
        for name, value, meaning, source in rows
    ]
    return catalogue(table, ("quantity", "value", "what it is", "source"), width=width)


def infeasible(
    conflicts: Iterable[Sequence[str]],
    nearest: str,
    misses: Mapping[str, float],
    *,
    more_conflicts: int = 0,
    repairs: Sequence[str] = (),
    beyond: Sequence[str] = (),
    apart: Sequence[tuple[Sequence[str], Sequence[str]]] = (),
    evaluated: int | None = None,
    ruled_out: int | None = None,
    width: int | None = None,
) -> str:
    """Return why no design is feasible, what would admit one, and how far the nearest one is.

    Parameters
    ----------
    conflicts
        Sets of constraints that no design meets together.
    nearest
        The design that misses least.
    misses
        Its violation of each constraint, relative to the bound; met where <= 0.
    more_conflicts
        How many further sets there are.
    repairs
        What to change, by how much, and which design that admits, in words.
    beyond
        Constraints in conflict that no value of their own repairs.
    apart
        Where no one change helps: conflicts, and what repairs each with the others left out.
    evaluated
        Number of designs evaluated when that is not every design.
    ruled_out
        Number of designs when bounds prove that none of them is feasible.
    """
    width = width or _width()
    lines = ["no feasible design"]
    if ruled_out is not None:
        number = f"{ruled_out:,}" if ruled_out < 1e15 else f"{ruled_out:.3g}"
        lines = [f"no feasible design: bounds rule out all {number}"]
    if evaluated is not None:
        lines = [f"no feasible design among the {evaluated:,} evaluated"]
    for conflict in conflicts:
        alone = "no design meets" if len(conflict) == 1 else "no design meets together"
        lines.append(_hanging(alone, " and ".join(conflict), width))
    if more_conflicts:
        lines.append(f"and {more_conflicts} larger sets in conflict")
    if repairs:
        lines.append("any one of these changes admits a design, the smallest first:")
        lines += _numbered(repairs, width)
    if apart:
        lines.append("no one change is enough; each conflict needs one:")
    for conflict, changes in apart:
        lines += [_hanging("of", " and ".join(conflict), width), *_numbered(changes, width)]
    for rule in beyond:
        lines.append(_hanging("no change of its own repairs", rule, width))
    label = "nearest design" if ruled_out is None else "nearest design of those tried"
    lines.append(_hanging(label, nearest, width))
    missed = {name: by for name, by in misses.items() if not by <= 0}
    rows = [(f"  {name}", _miss(by)) for name, by in missed.items()]
    return "\n".join([*lines, *([_plain(_grid(rows), width)] if rows else [])])


def _numbered(texts: Sequence[str], width: int) -> list[str]:
    return [
        textwrap.fill(f"  {number}. {text}", width, subsequent_indent="     ")
        for number, text in enumerate(texts, 1)
    ]


def catalogue(
    rows: Iterable[Sequence[str]], headers: Sequence[str], *, width: int | None = None
) -> str:
    """Return rows of text as a table; columns after the first wrap, between words if they fit."""
    table = _table()
    cells = [tuple(row) for row in rows]
    columns = list(zip(headers, *cells, strict=True))
    widest = [max(len(line) for text in columns[0] for line in text.splitlines() or [""])]
    widest += [
        max(len(word) for text in column for word in text.split() or [""]) for column in columns[1:]
    ]
    fits = sum(widest) + 2 * len(headers) <= (width or _width())
    for position, header in enumerate(headers):
        least = widest[position] if fits else None
        table.add_column(Text(header), no_wrap=position == 0, overflow="fold", min_width=least)
    for row in cells:
        table.add_row(*map(Text, row))
    return _plain(table, width or _width())


def _front(view: FrontView, width: int) -> str:
    """Return the table of designs and, below, what it leaves out."""
    rows = _chosen(view)
    alike = [name for name in view.axes if len(set(view.front[name].tolist())) == 1]
    differing = [name for name in view.axes if name not in alike]
    needed = [name for name in (view.sweep,) if name] + [name for name, _ in view.objectives]
    optional = [name for name in (view.category, *differing) if name and name not in needed]
    columns = {name: _column(view, name, rows) for name in (*optional, *needed)}
    designs = ("design", [view.names[row] for row in rows]) if view.names else None
    room = width - (min(_breadth(designs), WIDEST_DESIGN) + 2 if designs else 0)
    room -= sum(_breadth(columns[name]) + 2 for name in needed)
    kept = set(needed)
    for name in optional:
        room -= _breadth(columns[name]) + 2
        if room >= 0:
            kept.add(name)
    order = [view.sweep, *differing, *(name for name, _ in view.objectives), view.category]
    shown = [name for name in dict.fromkeys(order) if name in kept]
    lines = [_plain(_designs(view, designs, {name: columns[name] for name in shown}), width)]
    if view.size > len(rows):
        lines.append(f"... and {view.size - len(rows)} more in front.csv")
    if hidden := [name for name in optional if name not in kept]:
        lines.append(_hanging("more columns in front.csv", ", ".join(hidden), width))
    if alike and view.size > 1:
        same = (f"{in_words(name)} {_value(view, name, 0)}" for name in alike)
        lines.append(_hanging("same for all", ", ".join(same), width))
    return "\n".join(lines)


def _designs(view: FrontView, designs: Cells | None, columns: Mapping[str, Cells]) -> Table:
    table = _table()
    if designs:
        table.add_column(Text(designs[0]), overflow="fold", min_width=10)
    for name, (header, _) in columns.items():
        justify = "right" if _numeric(view, name) else "left"
        table.add_column(Text(header), justify=justify, no_wrap=True)  # type: ignore[arg-type]
    cells = [designs[1]] if designs else []
    cells += [column for _, column in columns.values()]
    for row in zip(*cells, strict=True):
        table.add_row(*map(Text, row))
    return table


def _chosen(view: FrontView) -> list[int]:
    """Rows to print: all, or the best ones, the knee and others evenly between them."""
    if view.size <= MOST_ROWS:
        return list(range(view.size))
    telling = {view.best(name) for name, _ in view.objectives}
    telling |= set() if view.knee is None else {view.knee}
    free = max(0, MOST_ROWS - len(telling))
    others = [row for row in range(view.size) if row not in telling]
    spread = np.linspace(0, len(others) - 1, free).astype(int)
    return sorted(telling | {others[position] for position in spread})


def _highlights(view: FrontView, width: int) -> str:
    bound = "-bound" if view.limits else ""

    def design(row: int) -> str:
        parts = [view.names[row] if view.names else f"row {row + 1}"]
        for name in view.axes if view.names else ():
            value = _value(view, name, row)
            parts.append(f"{in_words(name)} {value}" if _numeric(view, name) else value)
        limit = "" if view.category is None else f" ({view.front[view.category][row]}{bound})"
        return ", ".join(dict.fromkeys(parts)) + limit

    rows = []
    for name, sense in view.objectives:
        word = "least" if sense == "minimise" else "most"
        row = view.best(name)
        rows.append((f"{word} {in_words(name)}", _value(view, name, row), design(row)))
    if view.knee is not None and len(view.objectives) > 1:
        values = ", ".join(_value(view, name, view.knee) for name, _ in view.objectives)
        rows.append(("knee", values, design(view.knee)))
    return _plain(_grid(rows), width)


def _facts(view: FrontView, facts: Mapping[str, Any], width: int) -> str:
    front = f"{view.size:,} on the front{', which is exact' if facts['exact'] else ''}"
    ruled_out = facts["exact"] and facts["evaluated"] < facts["designs"]
    others = "the others ruled out by bounds" if ruled_out else f"{facts['feasible']:,} feasible"
    lines = [
        f"{facts['designs']:,} designs, {facts['evaluated']:,} evaluated "
        f"({facts['method']}, {units.show(facts['wall_s'], 'wall_s')}), {others}, {front}"
    ]
    if view.category is not None and view.size:
        kinds, counts = np.unique(view.front[view.category].astype(str), return_counts=True)
        tally = ", ".join(f"{count} {kind}" for kind, count in zip(kinds, counts, strict=True))
        lines.append(f"{in_words(view.category)}: {tally}")
    if facts.get("hypervolume") is not None and (view.size > 1 or not facts["exact"]):
        share = facts.get("hypervolume_share_of_exact")
        least = facts.get("hypervolume_share_at_least")
        of_exact = "" if facts["exact"] else ", of the exact front's unknown"
        if least is not None and share is None:
            surely = np.floor(least * 1e4) / 1e4  # rounded up, it would claim too much
            of_exact = f", at least {surely:.2%} of the exact front's"
        if share is not None and not facts["exact"]:
            of_exact = f", {share:.2%} of the exact front's"
        lines.append(f"hypervolume: {facts['hypervolume']:.4f} of its box{of_exact}")
    lines += [f"note: {note}" for note in facts.get("notes") or ()]
    return "\n".join(textwrap.fill(line, width, subsequent_indent="  ") for line in lines)


def _column(view: FrontView, name: str, rows: list[int]) -> Cells:
    values = view.front[name]
    if not _numeric(view, name):
        return _header(name, ""), [str(value) for value in values[rows]]
    sizes = np.abs(values[values != 0])
    if len(sizes) and sizes.max() > 1e4 * sizes.min():  # no unit suits all
        return _header(name, ""), [units.show(float(value), name) for value in values[rows]]
    factor, unit = units.scale(values, name)
    return _header(name, unit), _digits(values[rows] / factor)


def _digits(values: np.ndarray) -> list[str]:
    """Equally many decimals: four digits of the largest value, or three of the smallest."""
    sizes = np.abs(values[values != 0])
    smallest, largest = (sizes.min(), sizes.max()) if len(sizes) else (1.0, 1.0)
    if smallest < 1e-3 or largest >= 1e7:
        return [units.show(float(value), "") for value in values]
    whole = bool((values == np.rint(values)).all())
    digits = max(3 - np.floor(np.log10(largest)), 2 - np.floor(np.log10(smallest)), 0)
    return [f"{value:.{0 if whole else int(digits)}f}" for value in values]


def _value(view: FrontView, name: str, row: int) -> str:
    value = view.front[name][row]
    return units.show(float(value), name) if _numeric(view, name) else str(value)


def _numeric(view: FrontView, name: str) -> bool:
    return view.front[name].dtype.kind in "fiub"


def _header(name: str, unit: str) -> str:
    text = f"{in_words(name)} [{unit}]" if unit else in_words(name)
    return textwrap.fill(text, WIDEST_HEADER, break_long_words=False)


def _breadth(column: Cells) -> int:
    header, cells = column
    return max(len(line) for line in (*header.splitlines(), *cells))


def _miss(by: float) -> str:
    if not np.isfinite(by):
        return "does not exist"
    return f"missed by {100 * by:.3g} %" if by < 10 else f"missed by {by:.3g} times the bound"


def _hanging(label: str, text: str, width: int) -> str:
    return textwrap.fill(f"{label}: {text}", width, subsequent_indent="  ")


def _table() -> Table:
    return Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))


def _grid(rows: Iterable[Sequence[str]]) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    for row in rows:
        table.add_row(*map(Text, row))
    return table


def _plain(table: Table, width: int) -> str:
    stream = io.StringIO()
    Console(file=stream, width=width, color_system=None, force_terminal=False).print(table)
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines())


def _width() -> int:
    return min(WIDEST, shutil.get_terminal_size(fallback=(100, 24)).columns)
