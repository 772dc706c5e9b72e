"""A front as text for a terminal: its designs, the best of them, how good and how sure it is."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.algebra import units
from dse.model.evaluation import ledger_of
from dse.model.labels import labelled, same_parts
from dse.model.space import ALONE, HOST
from dse.reports.front_view import (
    FrontView,
    Recommended,
    Values,
    cell_text,
    choice_text,
    is_long,
)
from dse.reports.sections import Section, html
from dse.reports.text import (
    hanging,
    listed,
    plural,
    table_text,
    terminal_width,
    with_error,
)

SHOWN_RULE = "the best in each objective, the recommended one, and those farthest from all before"
"""Rule of `representative_rows`, in words."""

MOST_CANDIDATES = 100_000
"""Most designs that are examined, drawn at random: the work is their number times the rows."""

MOST_ROWS = 15
WIDEST_HEADERS = (16, 12, 8)
"""The first with which all choices have a column."""

NARROWEST_DESIGN = 10

LINES = 18
"""Most lines of a front with the recommended design, if `_FEWEST` of its designs fit."""

_FEWEST = 3

MARK = "▸"
"""Mark before the recommended design."""

Cells = tuple[str, list[str]]
"""A column of a table: header and one text per row."""


def front_text(
    view: FrontView, facts: Mapping[str, Any], *, width: int | None = None, rows: int = MOST_ROWS
) -> str:
    """Return a front in a few lines: the recommended design, and at most `rows` of all.

    Fewer are shown if more would not fit a terminal.

    `facts` are a manifest's: the counts ``designs``, ``evaluated``, ``feasible`` (among the
    evaluated) and, if known, ``feasible_in_space``,
    ``exact``, ``method`` and ``wall_s``, the known share of the exact front's
    hypervolume, ``notes``, and the notes that are shown, ``unchecked``.
    """
    width = width or terminal_width()
    parts = [textwrap.fill(view.title, width)]
    if why := (facts.get("certificate") or {}).get("unfinished"):
        several = f"{len(why)} values of the sweep, the first because " if len(why) > 1 else ""
        parts.insert(0, hanging("not proven", several + why[0], width=width))
    end = "\n".join(_filled(line, width) for line in facts_lines(view, facts))
    if not view.size:
        return "\n\n".join([*parts, "no feasible design", end])
    if view.recommended is not None:
        parts.append(_pick(view, view.recommended, width))
    for most in range(rows, min(rows, _FEWEST) - 1, -1):
        text = "\n\n".join([*parts, f"{_front(view, width, most)}\n{end}"])
        if text.count("\n") < LINES:
            break
    return text


def _filled(line: str, width: int) -> str:
    return textwrap.fill(line, width, subsequent_indent="  ", break_on_hyphens=False)


def _pick(view: FrontView, chosen: Recommended, width: int) -> str:
    """Return the recommended design, and its objectives."""
    limit = None if view.category is None else view.front[view.category][chosen.row]
    bound = f"; {limit}-bound" if view.limits and limit else ""
    return "\n".join(_filled(one, width) for one in (f"{MARK} {chosen.design}{bound}", view.worth))


def known_values(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Return the mask of designs with a value: the host by itself lacks most choices."""
    return ~np.isnan(values) if values.dtype.kind == "f" else np.ones(len(values), dtype=bool)


def _front(view: FrontView, width: int, most: int) -> str:
    """Return the table of designs and, below, its omissions."""
    rows = representative_rows(view, most).tolist()
    alike = _alike(view)
    codes = [view.codes[row] for row in rows] if view.codes else []
    same = same_parts([code for code in codes if code != ALONE], view.labels)
    names = [labelled(one, view.labels, same) for one in codes]
    names = names or [view.names[row] for row in rows if view.names]
    columns, behind = _fitting(
        view, rows, width - (max(map(len, names)) + 4 if names else 0), alike
    )
    lines = [_designs(view, _named(view, rows, names, behind), columns, width)]
    shared = [*same, *(choice_text(view, name, row) for name, row in alike.items())]
    omitted = [f"{len(rows):,} of the {view.size:,} in front.csv"] * (len(rows) < view.size)
    host = " but the host" * (ALONE in view.codes)
    omitted += [f"all{host} have {', '.join(shared)}"] * bool(shared and view.size > 1)
    return "\n".join([*lines, *[_filled("; ".join(omitted), width)] * bool(omitted)])


def _alike(view: FrontView) -> dict[str, int]:
    """Return choices with one value at most, and for each a row that has it, if one has."""
    known = {name: known_values(view.front[name]) for name in view.axes}
    return {
        name: int(known[name].argmax())
        for name in view.axes
        if len({*view.front[name][known[name]].tolist()}) < 2
    }


def _fitting(
    view: FrontView, rows: list[int], room: int, alike: Collection[str]
) -> tuple[dict[str, Cells], list[str]]:
    """Return the columns that fit in so many characters, and differing choices that do not."""
    differing = [name for name in view.axes if name not in alike]
    goals = [name for name, _ in view.objectives]
    order = [name for name in (view.sweep, *differing, *goals, view.category) if name]
    needed = {*goals, *filter(None, [view.sweep])}
    for widest in WIDEST_HEADERS:
        columns = {name: _column(view, name, rows, widest) for name in order}
        widths = {name: _breadth(column) + 2 for name, column in columns.items()}
        if sum(widths[name] for name in needed.union(differing)) <= room:
            break
    kept = _within(widths, needed, room)
    shown = {name: column for name, column in columns.items() if name in kept}
    return shown, [name for name in differing if name not in kept]


def _within(widths: Mapping[str, int], needed: Collection[str], room: int) -> list[str]:
    """Return the needed columns, then of the others each that still fits in so many characters."""
    kept = [name for name in widths if name in needed]
    room -= sum(widths[name] for name in kept)
    for name, width in widths.items():
        if name not in needed and width <= room:
            kept.append(name)
            room -= width
    return kept


def _named(
    view: FrontView, rows: list[int], names: Sequence[str], behind: Sequence[str]
) -> Cells | None:
    """Return the column of names with their marks, each before its choices without a column."""
    if not names:
        return None
    cells = []
    for row, name in zip(rows, names, strict=True):
        mark = MARK if view.recommended is not None and view.recommended.row == row else " "
        cells.append(f"{mark} {', '.join([name, *(choice_text(view, n, row) for n in behind)])}")
    return "  design", cells


def _designs(
    view: FrontView, designs: Cells | None, columns: Mapping[str, Cells], width: int
) -> str:
    """Return the table: numbers to the right, headers at the bottom of theirs."""
    deepest = max(header.count("\n") for header, _ in columns.values())
    shown = [(designs[0].ljust(NARROWEST_DESIGN), designs[1])] if designs else []
    for name, column in columns.items():
        breadth = _breadth(column) if _numeric(view, name) else 0
        header, *cells = (_to_the_right(text, breadth) for text in (column[0], *column[1]))
        shown.append((header, cells))
    headers = ["\n" * (deepest - header.count("\n")) + header for header, _ in shown]
    rows = zip(*(cells for _, cells in shown), strict=True)
    return table_text(rows, headers, width=width, names=True)


def _to_the_right(text: str, breadth: int) -> str:
    return "\n".join(line.rjust(breadth) for line in text.split("\n"))


def facts_lines(view: FrontView, facts: Mapping[str, Any]) -> list[str]:
    """Return the origin of the front and its reliability, from `facts` as in `front_text`."""
    points = facts.get("points") or ()  # each has a separate space
    lines = [f"{_counted(facts, points)}: {_front_of(view.size, facts)}"]
    if not facts["exact"]:
        shares = [f"{point['value']} {_share(point)}" for point in points]
        lines.append(f"share of the exact front's hypervolume: {listed(shares) or _share(facts)}")
    if notes := len(facts.get("notes") or ()):
        lines[-1] += f"; {plural(notes, 'note')}"
    return lines + [f"note: {note}" for note in facts.get("unchecked", ())]


def designs_of(facts: Mapping[str, Any]) -> int:
    """Return the number of designs of a run, with a sweep of all its values."""
    return int(facts["certificate"]["designs"] if facts.get("points") else facts["designs"])


def _counted(facts: Mapping[str, Any], points: Sequence[Mapping[str, Any]]) -> str:
    """Return the numbers of designs, of evaluated ones and of feasible ones, if known."""
    size = designs_of(facts)
    pruned = facts["exact"] and facts["evaluated"] < size
    count = facts.get("feasible_in_space") if pruned else facts["feasible"]
    method = facts["method"]
    if points and facts["sweep"] == "search.method":
        method = ", ".join(point["value"] for point in points)
    over = f" over {plural(len(points), 'value')}" * bool(points)
    found = "all evaluated" if facts["evaluated"] == size else f"{facts['evaluated']:,} evaluated"
    if not facts["exact"]:
        found += f" ({method}, {units.show(facts['wall_s'], 'wall_s')})"
    found += ", the rest pruned" * pruned
    found += f", {count:,} feasible" if count is not None else ""
    return f"{plural(size, 'design')}{over}, {found}"


def _front_of(count: int, facts: Mapping[str, Any]) -> str:
    """Return the size of a front and its proof."""
    return f"front of {count:,} {proof_of(facts)}" if count else "none is feasible"


def proof_of(facts: Mapping[str, Any]) -> str:
    """Return the completeness of the front of a run, in a sweep of methods those that prove."""
    methods = facts.get("points") or () if facts.get("sweep") == "search.method" else ()
    proven = [point["value"] for point in methods if point["exact"]]
    some = f"proven for {listed(proven)}" if proven and not facts["exact"] else ""
    return some or ledger_of(facts).proof


def _share(facts: Mapping[str, Any]) -> str:
    """Return which share of the exact front's hypervolume a heuristic's front has."""
    share, least = (facts.get(f"hypervolume_share_{key}") for key in ("of_exact", "at_least"))
    error = facts.get("hypervolume_share_error") or 0.0
    if share is not None:
        return with_error(share, error, 100, " %")
    if least is None:
        return "an unknown share"
    least = np.floor(least * 1e4) / 1e4  # rounded up, it would claim too much
    return f"at least {with_error(least, error, 100, ' %')}"


def _column(view: FrontView, name: str, rows: list[int], widest: int) -> Cells:
    values = view.front[name]
    if not _numeric(view, name):
        return _header(view, name, "", widest), [str(value) for value in values[rows]]
    known = values[~np.isnan(values)]  # the host by itself lacks most axes
    sizes = np.abs(known[known != 0])
    if len(sizes) and sizes.max() > 1e4 * sizes.min():  # no unit suits all
        return _header(view, name, "", widest), [cell_text(value, name) for value in values[rows]]
    factor, unit = units.scale(known, name)
    there = ~np.isnan(values[rows])
    cells = np.full(len(rows), HOST, dtype=object)
    cells[there] = _digits(values[rows][there] / factor)
    return _header(view, name, unit, widest), cells.tolist()


def _digits(values: np.ndarray) -> list[str]:
    """Equally many decimals: four digits of the largest value, or three of the smallest."""
    sizes = np.abs(values[values != 0])
    smallest, largest = (sizes.min(), sizes.max()) if len(sizes) else (1.0, 1.0)
    if smallest < 1e-3 or largest >= 1e7:
        return [units.show(float(value), "") for value in values]
    whole = bool((values == np.rint(values)).all())
    digits = max(3 - np.floor(np.log10(largest)), 2 - np.floor(np.log10(smallest)), 0)
    return [f"{value:.{0 if whole or not value else int(digits)}f}" for value in values]


def _numeric(view: FrontView, name: str) -> bool:
    return view.front[name].dtype.kind in "fiub"


def _header(view: FrontView, name: str, unit: str, widest: int) -> str:
    text = f"{view.words(name)} [{unit}]" if unit else view.words(name)
    return textwrap.fill(text, widest, break_long_words=False)


def _breadth(column: Cells) -> int:
    header, cells = column
    return max(len(line) for line in (*header.splitlines(), *cells))


def representative_rows(view: FrontView, most: int) -> NDArray[np.intp]:
    """Return at most `most` rows of a front, in order, always the same.

    The recommended design and the best in each objective come first.  The next design is always the
    one whose nearest chosen one is farthest (Gonzalez, Theoretical Computer Science 38, 1985), by
    objectives and swept value, each scaled to [0, 1], or its logarithm if its range is long.
    """
    candidates = np.arange(view.size)
    if view.size <= most:
        return candidates
    telling = [view.recommended.row] if view.recommended else []
    telling += [view.best(name) for name, _ in view.objectives]
    chosen = list(dict.fromkeys(telling))[:most]
    if view.size > MOST_CANDIDATES:
        drawn = np.random.default_rng(0).choice(view.size, MOST_CANDIDATES, replace=False)
        candidates = np.union1d(drawn, chosen)
    points = np.stack([values[candidates] for values in _scaled(view)])
    nearest = np.full(len(candidates), np.inf)
    for row in chosen:
        _approach(nearest, points, int(np.searchsorted(candidates, row)))
    while len(chosen) < most:
        place = int(nearest.argmax())
        chosen.append(int(candidates[place]))
        _approach(nearest, points, place)
    return np.sort(np.array(chosen, dtype=np.intp))


def _approach(nearest: Values, points: Values, place: int) -> None:
    """Update squared distances `nearest` to the next chosen point, -1 for that point itself."""
    distance = ((points - points[:, [place]]) ** 2).sum(axis=0)
    np.minimum(nearest, distance, out=nearest)
    nearest[place] = -1.0


def _scaled(view: FrontView) -> list[Values]:
    names = [name for name, _ in view.objectives] + [name for name in (view.sweep,) if name]
    scaled = []
    for name in names:
        values = view.front[name]
        if values.dtype.kind not in "fiub":
            values = np.unique(values.astype(str), return_inverse=True)[1]
        values = values.astype(np.float64)
        if is_long(values.min(), values.max()):
            values = np.log(values)
        spread = np.ptp(values)
        scaled.append((values - values.min()) / (spread if spread > 0 else 1.0))
    return scaled


def table_columns(view: FrontView) -> list[str]:
    """Return the columns of a front that distinguish its designs, and their objectives."""
    names = [view.sweep, *view.axes, *(name for name, _ in view.objectives), view.category]
    return [name for name in dict.fromkeys(names) if name]


def front_table(view: FrontView, title: str, most: int, *, written: bool = True) -> Section:
    """Return the front as a table: all of it, or the `most` representative rows.

    `written` is whether front.csv has it.
    """
    columns = table_columns(view)
    chosen = representative_rows(view, most).tolist() if view.size else []
    rows = tuple(
        (view.names[row], *(cell_text(view.front[name][row], name) for name in columns))
        for row in chosen
    )
    shown = f"{len(chosen):,} of {plural(view.size, 'design')} shown: {SHOWN_RULE}"
    lines = (f"{shown}{'; all are in front.csv' * written}.",) * (len(chosen) < view.size)
    return Section("front", title, lines, ("design", *map(view.words, columns)), rows)


def front_html(view: FrontView, facts: Mapping[str, Any], *, rows: int) -> str:
    """Return a front as HTML for a notebook, with at most `rows` designs, as in `front_text`."""
    lines = facts_lines(view, facts)
    if view.recommended is not None:
        lines.insert(0, f"recommended: {view.recommended.design}, {view.recommended.rule}")
    table = front_table(view, "", rows) if view.size else Section("", "no feasible design")
    why = (facts.get("certificate") or {}).get("unfinished") or ()
    parts = (Section("unproven", lines=tuple(f"not proven: {reason}" for reason in why)), table)
    return html(view.title, (*parts, Section("facts", lines=tuple(lines))))


def in_units(view: FrontView) -> dict[str, NDArray[Any]]:
    """Return the columns of a front, each in one unit, given in its header."""
    found: dict[str, NDArray[Any]] = {"design": np.asarray(view.names, dtype=object)}
    for name in table_columns(view):
        values = view.front[name]
        number = values.dtype.kind in "fiub"
        factor, unit = units.scale(values, name) if number else (1.0, "")
        header = f"{view.words(name)} [{unit}]" if unit else view.words(name)
        found[header] = values / factor if number and factor != 1.0 else values
    return found
