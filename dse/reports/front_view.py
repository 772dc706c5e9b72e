"""The view of a front for drawing and printing: columns, names, axes, groups."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.algebra import units
from dse.model.labels import COUNT_BEFORE_NAME, Labels
from dse.model.space import HOST
from dse.reports.text import in_words, listed

Values = NDArray[np.float64]

Columns = Mapping[str, NDArray[Any]]
"""Column by name: float64 in SI for quantities, strings for categorical ones."""

ARROW = " -> "
"""Between the stages of a chain."""

MOST_CHARACTERS = 40
"""Longest name, or line of an axis label, in a picture."""


Ranges = Mapping[str, Sequence[float]]
"""Lowest and highest value by quantity."""

HOST_POWER = "host power"
"""Term of the host, if its power is not given."""

Omitted = Mapping[str, Sequence[str]]
"""By quantity the terms that are unknown or 0."""


@dataclass(frozen=True)
class Recommended:
    """The recommended design of a front: its row, its description, and the rule of its choice.

    For its objectives, `ranges` are the ranges due to the uncertainty of its cores, and `omitted`
    the terms that are unknown or 0.
    """

    row: int
    design: str
    rule: str
    ranges: Ranges = field(default_factory=dict)
    omitted: Omitted = field(default_factory=dict)


def objective_text(name: str, value: str, ranges: Ranges, omitted: Omitted) -> str:
    """Return an objective in words: its value, how far that may go, and which terms are missing."""
    text = f"{in_words(name)} {value}".strip()
    if name in ranges:
        low, high = (units.show(float(f"{end:.3g}"), name) for end in ranges[name])
        unit = f" {high.partition(' ')[2]}"
        low = low.removesuffix(unit) if high.endswith(unit) else low
        high = high.removesuffix(unit) if value.endswith(unit) else high
        text += f" ({low} to {high} as cores vary)"
    without = " without the host (its power is not given)"
    return f"{text}{without * (HOST_POWER in omitted.get(name, ()))}"


def uncounted_text(omitted: Omitted) -> str:
    """Return in a sentence the terms of objectives that are unknown or 0, empty for none.

    The host, which is usually the largest, is named beside its objective.
    """
    found = []
    for name, gaps in omitted.items():
        kind = in_words(name).rpartition(" ")[2]  # area, or power
        terms = [gap for gap in gaps if gap != HOST_POWER]
        words = [gap.removesuffix(f" {kind}").removesuffix(" energy") for gap in terms]
        short = [one for one in dict.fromkeys(words) if _is_first(one, words)]
        if "buffer energy" in terms and "buffer leakage" not in words:  # the leakage is counted
            short[short.index("buffer")] = "access"
        found += [f"{listed(short)} {kind}"] * bool(short)
    return f"Not counted: {'; '.join(found)}." if found else ""


def _is_first(term: str, terms: Sequence[str]) -> bool:
    """Whether no other term is the first word of a term, as ``buffer`` of ``buffer leakage``."""
    return term.partition(" ")[0] not in {*terms} - {term}


def objectives_text(rule: str, values: Mapping[str, str], ranges: Ranges, omitted: Omitted) -> str:
    """Return the objectives of a design in words, first the one that its `rule` names."""
    rule = rule.removeprefix("the design with the ")
    how, _, what = rule.partition(" ")
    texts = {name: objective_text(name, text, ranges, omitted) for name, text in values.items()}
    first = [name for name in texts if in_words(name) == what][:1]
    parts = [f"{how} {texts.pop(name)}" for name in first]
    sentences = ["; ".join([*parts, *texts.values()]), *[rule] * (not first)]
    lines = [f"{one[0].upper()}{one[1:]}." for one in sentences]
    return " ".join([*lines, *filter(None, [uncounted_text(omitted)])])


@dataclass(frozen=True, kw_only=True)
class FrontView:
    """The answer of a study, ready to be drawn (`plots`) or printed (`front_text`).

    Attributes
    ----------
    title
        One line: the question that the study asks.
    objectives
        Pairs of a quantity's name, with its unit suffix, and ``minimise`` or ``maximise``.
    front
        Columns of the n designs on the front: at least the objectives, `axes`, `category`
        and `sweep`.
    cloud
        The same columns of feasible designs, or of a sample of them.  May be empty.
    axes
        Columns that distinguish the designs (design choices), the most informative first.
    category
        The categorical column that colours the points, for instance ``bound``.
    limits
        Whether the category is the limit of a design: its bottleneck.
    sweep
        The column whose values were swept.
    names
        A short label per design on the front, for instance ``1 u8 + 2 u16``, or no names at all.
    recommended
        The design that the study recommends.  None for a sweep, and for an empty front.
    labels, codes
        Labels in place of code names, as in `names`, and the names without them.
    """

    title: str
    objectives: tuple[tuple[str, str], ...]
    front: Columns
    cloud: Columns = field(default_factory=dict)
    axes: tuple[str, ...] = ()
    category: str | None = None
    limits: bool = True
    sweep: str | None = None
    names: Sequence[str] = ()
    recommended: Recommended | None = None
    labels: Labels = field(default_factory=dict)
    codes: Sequence[str] = ()

    @property
    def size(self) -> int:
        """Return the number of designs on the front."""
        return len(self.front.get(self.objectives[0][0], ()))

    @property
    def worth(self) -> str:
        """Return the objectives of the recommended design in words, empty without one."""
        if (one := self.recommended) is None:
            return ""
        values = {name: cell_text(self.front[name][one.row], name) for name, _ in self.objectives}
        return objectives_text(one.rule, values, one.ranges, one.omitted)

    def words(self, column: str) -> str:
        """Return a column in words."""
        bottleneck = self.limits and column == self.category
        return "bottleneck" if bottleneck else in_words(column)

    def best(self, objective: str) -> int:
        """Return the best row in an objective, the first of equals."""
        sign = 1 if dict(self.objectives)[objective] == "minimise" else -1
        return int(np.argmin(sign * self.front[objective]))


@dataclass(frozen=True)
class Scale:
    """One column as an axis of a picture.

    Attributes
    ----------
    label
        Words and unit.
    front, cloud
        Values in that unit, or the positions of the `ticks` for a categorical column.
    low, high
        Range: all of the front, and the cloud as far as the front stays readable.
    log
        The range is positive and longer than two decades.
    ticks
        The categories, at positions 0, 1, ..., empty for numbers.
    factor
        Divisor of a value in SI.
    """

    label: str
    front: Values
    cloud: Values
    low: float
    high: float
    log: bool = False
    ticks: tuple[str, ...] = ()
    factor: float = 1.0

    @property
    def inside(self) -> NDArray[np.bool_]:
        """Return the mask of rows of the cloud within the range."""
        return np.asarray((self.low <= self.cloud) & (self.cloud <= self.high) | bool(self.ticks))


def axis_scale(view: FrontView, name: str, cloud: Columns) -> Scale:
    """Return one column of the front, and of the cloud behind it, as an axis."""
    values, background = view.front[name], cloud.get(name, np.empty(0))
    title = "\n".join(textwrap.wrap(view.words(name), MOST_CHARACTERS))
    if values.dtype.kind not in "fiub":
        kinds, codes = np.unique(values.astype(str), return_inverse=True)
        ticks = tuple(elided(kind) for kind in kinds)
        return Scale(title, codes.astype(float), np.empty(0), -0.5, len(ticks) - 0.5, ticks=ticks)
    low, high = _range(values, background)
    log = is_long(low, high) and not _is_even(values if name == view.sweep else ())
    factor, unit = units.scale([np.sqrt(low * high)] if log and high > 1e4 * low else values, name)
    largest = max(abs(low), abs(high)) / factor
    if not log and largest and not 1e-2 <= largest < 1e7:  # more digits than a tick has room for
        power = 3 * int(np.floor(np.log10(largest) / 3))
        factor, unit = factor * 10.0**power, f"{power_of_ten(power)} {unit}".rstrip()
    low, high = _with_margin(low, high, log)
    label = f"{title} [{unit}]" if unit else title
    ends = low / factor, high / factor
    return Scale(label, values / factor, background / factor, *ends, log, factor=factor)


def plain_axes(view: FrontView) -> list[dict[str, Any]]:
    """Return the front along its first two objectives as plain data, in the units of its axes."""
    scales = [axis_scale(view, name, {}) for name, _ in view.objectives[:2]]
    names = ("label", "low", "high", "log")
    return [
        {name: getattr(scale, name) for name in names} | {"values": scale.front.tolist()}
        for scale in scales
    ]


def is_long(low: float, high: float) -> bool:
    """Return whether a range is positive and longer than two decades, and needs a logarithm."""
    return low > 0 and high > 100 * low


def _is_even(values: Values | tuple[()]) -> bool:
    """Return whether many values follow each other in equal steps, as in a linear sweep."""
    steps = np.diff(np.unique(values))
    return len(steps) > 9 and bool(steps.max() < 1.5 * steps.min())


def _range(front: Values, cloud: Values) -> tuple[float, float]:
    """Return the range of the front's values, with the part of the cloud not too far from it."""
    front = front[~np.isnan(front)]
    low, high = (float(front.min()), float(front.max())) if len(front) else (0.0, 0.0)
    if not len(cloud):
        return low, high
    reach = max(high - low, 0.25 * max(abs(low), abs(high))) if low < high else np.inf
    lower, upper = max(float(cloud.min()), low - reach), min(float(cloud.max()), high + reach)
    return min(low, lower), max(high, upper)


def _with_margin(low: float, high: float, log: bool) -> tuple[float, float]:
    if log:
        margin = (high / low) ** 0.06
        return low / margin, high * margin
    size = max(abs(low), abs(high))
    # A relative span below 1e-4 would need ticks of more digits than fit.
    margin = max(0.06 * (high - low), 1e-4 * size) if low < high else 0.1 * size or 0.5
    return low - margin, high + margin


def thinned(cloud: Columns, most: int) -> Columns:
    """Return at most `most` rows, always the same ones."""
    count = row_count(cloud)
    if count <= most:
        return cloud
    # At random, because a regular step beats with the regular order of a design space.
    kept = np.random.default_rng(0).choice(count, most, replace=False)
    return {name: values[kept] for name, values in cloud.items()}


def row_count(columns: Columns) -> int:
    """Return the length of the columns, 0 without columns."""
    return len(next(iter(columns.values()), ()))


def groups(
    view: FrontView, most: int, given: NDArray[np.str_] | None = None
) -> dict[str, NDArray[np.bool_]]:
    """Return the rows of the front by group, in order, grouped by the most informative choice.

    A sweep that leads to at most `most` designs is grouped by design.  Otherwise the groups are by
    the choice that explains most of the objectives (`telling_choice`), and without one by category.
    Beyond `most` of its values the rarest become ``other``.  `given` are labels to group by
    instead.
    """
    names = np.asarray(view.names, dtype=str)
    choice = telling_choice(view, most) if given is None else None
    if given is not None:
        labels = given
    elif view.sweep is not None and 0 < len(np.unique(names)) <= most:
        labels = names
    elif choice is not None:
        labels = choice_labels(view, choice)
    elif view.category is not None:
        kinds = view.front[view.category]
        labels = np.array([f"{view.words(view.category)}: {kind}" for kind in kinds], dtype=str)
    else:
        labels = np.full(view.size, "front")
    kinds, first, counts = np.unique(labels, return_index=True, return_counts=True)
    if choice is not None and choice and view.front[choice].dtype.kind in "fiub":
        order = np.argsort(view.front[choice][first], kind="stable")
        kinds, counts = kinds[order], counts[order]
    if len(kinds) > most:
        frequent = np.sort(kinds[np.argsort(-counts, kind="stable")[: most - 1]])
        labels = np.where(np.isin(labels, frequent), labels, "other")
        kinds = np.append(frequent, "other")
    return {str(kind): labels == kind for kind in kinds}


def telling_choice(view: FrontView, most: int) -> str | None:
    """Return the choice that explains most of the objectives of a front, "" for its names.

    That is the column of `axes`, or the names, of at most `most` values, whose groups leave the
    least of the objectives' variance (of their logarithms if they are long), corrected for the
    number of groups, as in an analysis of variance.  None if no choice explains anything.
    """
    best, found = 0.0, None
    for name in (*view.axes, ""):
        if not name and len(view.names) != view.size:
            continue
        groups_of = np.unique(choice_labels(view, name), return_inverse=True)[1]
        count = int(groups_of.max(initial=0)) + 1
        if not 1 < count <= most or view.size <= count:
            continue
        shares = [_explained(view.front[goal], groups_of) for goal, _ in view.objectives]
        if np.mean(shares) > best + 1e-9:
            best, found = float(np.mean(shares)), name
    return found


def _explained(values: Values, groups_of: NDArray[np.intp]) -> float:
    """Return the adjusted share of the variance that lies between groups."""
    if is_long(values.min(), values.max()):
        values = np.log(values)
    if np.ptp(values) <= 1e-12 * np.abs(values).max():
        return 0.0
    sizes = np.bincount(groups_of)
    means = np.bincount(groups_of, values) / sizes
    within = ((values - means[groups_of]) ** 2).sum() / (len(values) - len(sizes))
    return float(1.0 - within / values.var(ddof=1))


def choice_labels(view: FrontView, choice: str) -> NDArray[np.str_]:
    """Return the choice of each design of the front: ``device: apu``, or its names for ""."""
    if not choice:
        return np.asarray(view.names, dtype=str)
    kinds, place = np.unique(view.front[choice], return_inverse=True)
    shown = [cell_text(kind, choice) for kind in kinds]
    return np.array([f"{in_words(choice)}: {text}" for text in shown], dtype=str)[place]


def choice_text(view: FrontView, choice: str, row: int) -> str:
    """Return the choice of one design, in the form that follows its name: ``in flight 2``."""
    value = view.front[choice][row]
    if isinstance(value, str) or np.isnan(value):
        return cell_text(value, choice)
    return f"{view.words(choice)} {cell_text(value, choice)}"


def cell_text(value: Any, column: str) -> str:
    """Return a value of a column with its unit.  The host by itself lacks most axes."""
    if isinstance(value, str):
        return value
    return HOST if np.isnan(value) else units.show(float(value), column)


def distinct_names(view: FrontView, rows: Sequence[int]) -> dict[int, str]:
    """Return the names of some designs, equal names with the choices that distinguish them."""
    parts = {row: [view.names[row]] for row in rows}
    for choice in view.axes:
        alike: dict[tuple[str, ...], list[int]] = {}
        for row, part in parts.items():
            alike.setdefault(tuple(part), []).append(row)
        for several in alike.values():
            texts = {row: choice_text(view, choice, row) for row in several}
            if len(set(texts.values())) > 1:
                for row, text in texts.items():
                    parts[row].append(text)
    return {row: elided(", ".join(part)) for row, part in parts.items()}


def kind_of(name: str) -> str:
    """Return the name of a design without counts: ``u1 + u16`` of ``2 u1 + 1 u16``."""
    return COUNT_BEFORE_NAME.sub("", name)


def is_same(view: FrontView, name: str) -> bool:
    """Return whether an objective has one value for all designs of the front and around it."""
    ends = np.concatenate([view.front[name], view.cloud.get(name, np.empty(0))])
    return bool(np.ptp(ends) <= 1e-12 * np.abs(ends).max(initial=0.0))


def staircase(x: Values, y: Values, sense: str) -> Values:
    """Return the corners (k, 2) of the boundary of the region that a front attains.

    `sense` is the sense of `x`.  The sense of `y` follows, since no point dominates another.
    """
    order = np.lexsort((y, x))
    x, y = np.repeat(x[order], 2), np.repeat(y[order], 2)
    return np.column_stack((x[1:], y[:-1]) if sense == "minimise" else (x[:-1], y[1:]))


def best_rows(x: Values, y: Values, sense: str) -> NDArray[np.intp]:
    """Return for every value of `x`, rising, the row with the best `y`, the first of equals."""
    order = np.lexsort((y if sense == "minimise" else -y, x))
    return order[np.unique(x[order], return_index=True)[1]]


def elided(name: str, most: int = MOST_CHARACTERS) -> str:
    """Cut the middle out of a long name, because its ends distinguish designs."""
    if len(name) <= most:
        return name
    keep = (most - 3) // 2
    return f"{name[:keep]}...{name[-keep:]}"


def elided_apart(names: Sequence[str], most: int = 64) -> list[str]:
    """Cut the middle out of long names, less of it if two would become equal."""
    for length in range(MOST_CHARACTERS, most + 1, 4):
        shown = [elided(name, length) for name in names]
        if len({*shown}) == len({*names}):
            break
    return shown


def power_of_ten(exponent: int) -> str:
    """Return for instance ``10⁻⁶``."""
    return "10" + str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def power_text(value: float) -> str:
    """Return for instance ``10⁵``, and ``2·10⁵`` between decades."""
    exponent = int(np.floor(np.log10(value) + 1e-9))
    factor = round(value / 10.0**exponent)
    return (f"{factor}·" if factor > 1 else "") + power_of_ten(exponent)
