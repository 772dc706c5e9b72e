"""A front as text for a terminal: its designs, the best of them, how good and how sure it is."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.algebra import units
from dse.model.evaluation import ledger_of
from dse.model.space import HOST
from dse.reports.front_view import FrontView, Values, cell_text, choice_text, is_long
from dse.reports.sections import Section, html
from dse.reports.text import (
    hanging,
    pairs,
    plural,
    table_text,
    terminal_width,
    with_error,
)

RULE = "the best in each objective, the recommended one, and those farthest from all before"
"""How `representative_rows` chooses, in words."""

MOST_CANDIDATES = 100_000
"""Of more designs so many are examined, drawn at random: the work is theirs by those shown."""

MOST_ROWS = 15
WIDEST_HEADER = 12
NARROWEST_DESIGN = 10
WIDEST_DESIGN = 28
"""Beyond this, the names of designs wrap when the other columns need the room."""

Cells = tuple[str, list[str]]
"""A column of a table: header and one text per row."""


def front_text(
    view: FrontView, facts: Mapping[str, Any], *, width: int | None = None, rows: int = MOST_ROWS
) -> str:
    """Return a front in a few lines, at most `rows` of its designs.

    `facts` are those of a manifest: the counts ``designs``, ``evaluated``, ``feasible`` (of those)
    and, if known, ``feasible_in_space``;
    ``exact``, ``method`` and ``wall_s``; if known ``hypervolume``, what is known of its share of
    the exact front's, and ``notes``.
    """
    width = width or terminal_width()
    title = textwrap.fill(view.title, width)
    if why := (facts.get("certificate") or {}).get("unfinished"):
        several = f"{len(why)} values of the sweep, the first because " if len(why) > 1 else ""
        title = f"{hanging('not proven', several + why[0], width=width)}\n\n{title}"
    if not view.size:
        return f"{title}\n\nno feasible design\n\n{_facts(view, facts, width)}"
    parts = [title, _front(view, width, rows)]
    if view.sweep is None and view.size > 1:
        parts.append(_highlights(view, width))
    return "\n\n".join([*parts, _facts(view, facts, width)])


def _known(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which designs have a value: the host alone has none of most choices."""
    return ~np.isnan(values) if values.dtype.kind == "f" else np.ones(len(values), dtype=bool)


def _front(view: FrontView, width: int, most: int) -> str:
    """Return the table of designs and, below, what it omits."""
    rows = representative_rows(view, most).tolist()
    known = {name: _known(view.front[name]) for name in view.axes}
    alike = [n for n in view.axes if len(set(view.front[n][known[n]].tolist())) < 2]
    differing = [name for name in view.axes if name not in alike]
    needed = [name for name in (view.sweep,) if name] + [name for name, _ in view.objectives]
    optional = [name for name in (*differing, view.category) if name and name not in needed]
    columns = {name: _column(view, name, rows) for name in (*optional, *needed)}
    designs = ("design", [view.names[row] for row in rows]) if view.names else None
    breadth = max(NARROWEST_DESIGN, min(_breadth(designs), WIDEST_DESIGN)) if designs else -2
    room = width - breadth - 2 - sum(_breadth(columns[name]) + 2 for name in needed)
    kept = set(needed)
    for name in optional:
        if _breadth(columns[name]) + 2 <= room:
            room -= _breadth(columns[name]) + 2
            kept.add(name)
    if designs:  # a choice without a column stands behind the name
        behind = [name for name in differing if name not in kept]
        texts = [[choice_text(view, name, row) for name in behind] for row in rows]
        names = (", ".join([name, *text]) for name, text in zip(designs[1], texts, strict=True))
        designs = ("design", [*names])
    order = [view.sweep, *differing, *(name for name, _ in view.objectives), view.category]
    shown = [name for name in dict.fromkeys(order) if name in kept]
    lines = [_designs(view, designs, {name: columns[name] for name in shown}, width)]
    lines += [hanging(count, rule, width=width) for count, rule in omitted(view, rows)]
    visible = {*kept, *differing} if designs else kept
    if hidden := [name for name in optional if name not in visible]:
        lines.append(hanging("more columns in front.csv", ", ".join(hidden), width=width))
    if alike and view.size > 1:
        first = {name: int(known[name].argmax()) for name in alike}  # that has a value, if one has
        same = (f"{view.words(name)} {_value(view, name, row)}" for name, row in first.items())
        lines.append(hanging("same for all", ", ".join(same), width=width))
    return "\n".join(lines)


def omitted(
    view: FrontView, rows: Sequence[int], *, written: bool = True
) -> Iterator[tuple[str, str]]:
    """Yield which designs of a front are not among the rows that are shown, and why.

    Where the front is not `written` yet there is no file that has all.
    """
    all_are = "; all are in front.csv" if written else ""
    if len(rows) < view.size:
        yield (f"{len(rows):,} of {plural(view.size, 'design')} shown", f"{RULE}{all_are}")


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


def _highlights(view: FrontView, width: int) -> str:
    bound = "-bound" if view.limits else ""

    def design(row: int) -> str:
        parts = [view.names[row] if view.names else f"row {row + 1}"]
        parts += [choice_text(view, name, row) for name in view.axes if view.names]
        limit = "" if view.category is None else f" ({view.front[view.category][row]}{bound})"
        return ", ".join(dict.fromkeys(parts)) + limit

    rows = []
    for name, sense in view.objectives:
        word = "least" if sense == "minimise" else "most"
        row = view.best(name)
        rows.append((f"{word} {view.words(name)}", _value(view, name, row), design(row)))
    if view.recommended is None:
        return pairs(rows, width=width)
    values = ", ".join(_value(view, name, view.recommended.row) for name, _ in view.objectives)
    rows.append(("recommended", values, design(view.recommended.row)))
    rule = hanging("recommended", view.recommended.rule, width=width)
    return f"{pairs(rows, width=width)}\n{rule}"


def _facts(view: FrontView, facts: Mapping[str, Any], width: int) -> str:
    lines = facts_lines(view, facts)
    return "\n".join(textwrap.fill(line, width, subsequent_indent="  ") for line in lines)


def facts_lines(view: FrontView, facts: Mapping[str, Any]) -> list[str]:
    """Return how the front was found and how good it is, and notes; `facts` as in `front_text`."""
    points = facts.get("points")  # each has a space of its own
    size = facts["certificate"]["designs"] if points else facts["designs"]
    pruned = facts["exact"] and facts["evaluated"] < size
    count = facts.get("feasible_in_space") if pruned else facts["feasible"]
    found = "the rest pruned" if pruned else ""
    found += f"{'; ' * pruned}{count:,} feasible" if count is not None else ""
    if view.size:
        found += f"; Pareto front of {plural(view.size, 'design')}, {ledger_of(facts).proof}"
    wall = units.show(facts["wall_s"], "wall_s")
    method = facts["method"]
    if points and facts["sweep"] == "search.method":
        method = ", ".join(point["value"] for point in points)
    counts = f"{facts['evaluated']:,} evaluated ({method}, {wall}), {found}"
    over = f" over {plural(len(points), 'value')} of the sweep" if points else ""
    lines = [f"{plural(size, 'design')}{over}: {counts}"]
    if view.category is not None and view.size:
        kinds, sizes = np.unique(view.front[view.category].astype(str), return_counts=True)
        tally = ", ".join(f"{size} {kind}" for kind, size in zip(kinds, sizes, strict=True))
        lines.append(f"{view.words(view.category)}: {tally}")
    if facts.get("hypervolume") is not None and (view.size > 1 or not facts["exact"]):
        volume = with_error(facts["hypervolume"], facts.get("hypervolume_error") or 0.0)
        share = f"{_share(facts)} of the exact front's"
        lines.append(f"normalised hypervolume: {volume}{'' if facts['exact'] else f', {share}'}")
    if points and not facts["exact"]:
        shares = ", ".join(f"{point['value']} {_share(point)}" for point in points)
        lines.append(f"share of the exact front's hypervolume: {shares}")
    notes = (f"note: {note}" for note in facts.get("notes") or ())
    return [*lines, *notes]


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


def _column(view: FrontView, name: str, rows: list[int]) -> Cells:
    values = view.front[name]
    if not _numeric(view, name):
        return _header(view, name, ""), [str(value) for value in values[rows]]
    known = values[~np.isnan(values)]  # the host alone has none of most axes
    sizes = np.abs(known[known != 0])
    if len(sizes) and sizes.max() > 1e4 * sizes.min():  # no unit suits all
        return _header(view, name, ""), [cell_text(value, name) for value in values[rows]]
    factor, unit = units.scale(known, name)
    there = ~np.isnan(values[rows])
    cells = np.full(len(rows), HOST, dtype=object)
    cells[there] = _digits(values[rows][there] / factor)
    return _header(view, name, unit), cells.tolist()


def _digits(values: np.ndarray) -> list[str]:
    """Equally many decimals: four digits of the largest value, or three of the smallest."""
    sizes = np.abs(values[values != 0])
    smallest, largest = (sizes.min(), sizes.max()) if len(sizes) else (1.0, 1.0)
    if smallest < 1e-3 or largest >= 1e7:
        return [units.show(float(value), "") for value in values]
    whole = bool((values == np.rint(values)).all())
    digits = max(3 - np.floor(np.log10(largest)), 2 - np.floor(np.log10(smallest)), 0)
    return [f"{value:.{0 if whole or not value else int(digits)}f}" for value in values]


def _value(view: FrontView, name: str, row: int) -> str:
    return cell_text(view.front[name][row], name)


def _numeric(view: FrontView, name: str) -> bool:
    return view.front[name].dtype.kind in "fiub"


def _header(view: FrontView, name: str, unit: str) -> str:
    text = f"{view.words(name)} [{unit}]" if unit else view.words(name)
    return textwrap.fill(text, WIDEST_HEADER, break_long_words=False)


def _breadth(column: Cells) -> int:
    header, cells = column
    return max(len(line) for line in (*header.splitlines(), *cells))


def representative_rows(view: FrontView, most: int) -> NDArray[np.intp]:
    """Return at most `most` rows of a front, in order, always the same.

    The recommended design and the best in each objective come first.  Then that design follows
    whose nearest chosen one is farthest (Gonzalez, Theoretical Computer Science 38, 1985), by
    objectives and swept value, each scaled to [0, 1], or its logarithm where it is a long one.
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
    """Let `nearest` be the squared distance to the next chosen point, -1 for that point itself."""
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
