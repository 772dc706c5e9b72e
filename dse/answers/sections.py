"""Sections of an answer: the design, its bottlenecks, advice, a sweep, notes."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from types import MappingProxyType
from typing import Any

import numpy as np

from dse.algebra import units
from dse.answers.design import (
    Advice,
    Bottleneck,
    Bottlenecks,
    Pick,
    Trade,
    pick,
)
from dse.files.document import Document
from dse.model.evaluation import ledger_of
from dse.model.labels import labelled
from dse.model.preference import Preference
from dse.model.problem import Problem
from dse.model.space import Index
from dse.reports.front_view import Ranges, objectives_text
from dse.reports.sections import Section
from dse.reports.text import (
    LARGE,
    SHOWN_ROUNDING,
    in_words,
    listed,
    multiple,
    percent,
    plural,
)
from dse.runs.runner import KnownFront
from dse.search.outcome import UNFINISHED
from dse.study.overrides import Sweep
from dse.study.scenario import field_path
from dse.study.schema import SECTIONS

MOST_INTERVALS = 12
"""Intervals of a sweep on one screen."""

_CLOSE = 0.5
"""A limit is shown when a quantity could not grow by more than this share."""


def recommendation_section(
    solved: KnownFront,
    preference: Preference,
    chosen: Pick,
    point: Index,
    spread: Ranges,
    gaps: Mapping[str, Sequence[str]],
) -> Section:
    """Return the recommendation: the design, why, its objectives with their ranges and `gaps`.

    `point` is the design, (1, d).
    """
    problem, found, given = solved.study.problem, solved.found, _given(solved.study.document)
    goals = [goal.name for goal in problem.goals]
    lines = [f"Take {chosen.line}.", f"{_reason(solved, preference, chosen)} {_proof(found)}"]
    facts = chosen.to_dict() | {"given": given} | dict(found)
    if preference.tolerance:
        strict = preference.within(0).first(problem, solved.front)[0]
        best = pick(problem, strict, preference.quantity)
        trade = Trade(chosen, best, preference, problem.goals)
        lines.append(trade.text)
        facts["trade"] = trade.to_dict()
    for axis, free in _free(problem, point):
        lines.append(
            f"{axis} is free: {free['values']} of {free['of']} values give the same objectives."
        )
        facts["free"] = facts.get("free", {}) | {axis: free}
    rows = tuple((in_words(name), chosen.shown(name)) for name in chosen.quantities)
    rule, shown = preference.design_on(problem, solved.front), map(chosen.shown, goals)
    objectives = objectives_text(rule, dict(zip(goals, shown, strict=True)), spread, gaps)
    unproven = [_proof(found)] * (not found["exact"])
    brief = (lines[0], objectives, *unproven, *lines[2:])
    if given:
        lines.append(f"Given: {listed([f'{in_words(n)} {text}' for n, text in given.items()])}.")
    return Section("answer", lines=tuple(lines), rows=rows, facts=facts, brief=brief)


def _free(problem: Problem, point: Index) -> Iterator[tuple[str, dict[str, int]]]:
    """Yield axes on which other values give a design (1, d) the same objectives, and how many do.

    Nothing is measured for it.
    """
    for place, axis in enumerate(
        () if problem.measured or (point < 0).any() else problem.space.axes
    ):
        moved = np.repeat(point, axis.size, axis=0)
        moved[:, place] = np.arange(axis.size)
        found = problem.evaluate(moved)
        same = found.feasible & (found.loss == found.loss[point[0, place]]).all(axis=1)
        if same.sum() > 1:
            yield axis.name, {"values": int(same.sum()), "of": axis.size}


def spread_section(problem: Problem, found: Ranges, gaps: Mapping[str, Sequence[str]]) -> Section:
    """Return the meaning of an answer's ranges.  `facts` are these, and the omitted terms."""
    lines: tuple[str, ...] = ()
    if found:
        scaled = any(stage.designs.percentiles for stage in problem.stages)
        figures = "figures, scaled to placed designs" if scaled else "figures"
        lines = (f"Ranges: 10th to 90th percentile of the cores' {figures}; all else nominal.",)
    facts = {"ranges": {name: list(ends) for name, ends in found.items()}, "omitted": gaps}
    return Section("ranges", "", lines, facts=facts, brief=())


def _given(found: Document) -> dict[str, str]:
    """Return the fixed fields of workload, interface and budget, as written."""
    given = {}
    for section in SECTIONS:
        for name, written in found.section(section).items():
            if isinstance(written, dict) and name == "granularity":  # a mix of sizes
                given[f"{section}.{name}"] = ", ".join(f"{k} ({one})" for k, one in written.items())
            elif isinstance(written, str | int | float):
                text = str(written)
                given[f"{section}.{name}"] = text.lower() if isinstance(written, bool) else text
    return given


def _reason(solved: KnownFront, preference: Preference, chosen: Pick) -> str:
    """Return why a design is the answer.

    Only an objective is known to be least among all designs, the front holds the others' least
    or not.
    """
    problem, name = solved.study.problem, preference.quantity
    if not preference.is_quantity:
        return f"It is {preference.design_on(problem, solved.front)}."
    objective = name in [goal.name for goal in problem.goals]
    start = "It has" if objective else "Of the designs on the front it has"
    number = ""
    if name is not None and not preference.tolerance:
        number = f", {units.show(chosen.quantities[name], name)}"
    return f"{start} the {preference.text}{number}."


def _proof(found: Mapping[str, Any]) -> str:
    if found["designs"] == 1:
        return "It is the only design of the study."
    designs, evaluated, feasible = (
        f"{found[key]:,}" for key in ("designs", "evaluated", "feasible")
    )
    looked = f"{evaluated} {'was' if found['evaluated'] == 1 else 'were'} evaluated"
    meet = f"meet{'s' * (found['feasible'] == 1)} the constraints"
    if found["exact"] and found["evaluated"] < found["designs"]:
        return f"Of {designs} designs, {looked}, the rest pruned; none is better."
    if found["exact"]:
        return f"Of {designs} designs, all evaluated, {feasible} {meet}."
    some = f"Of {designs} designs, {looked} and {feasible} of those {meet}"
    if but := ledger_of(found).but:
        return f"{some}: {but}."
    why = "; ".join(found.get(UNFINISHED, ()))
    return f"{some}; a better one may have been missed{f': {why}' if why else ''}."


def limits_section(pick: Pick) -> Section:
    """Return the bottlenecks of a design, and the slack up to this and the next limit."""
    several = len(pick.bottlenecks) > 1
    lines = [_bottleneck_text(entry, several) for entry in pick.bottlenecks]
    spare = {name: limit / pick.used[name] - 1.0 for name, limit in pick.most.items()}
    brief = [text.partition(". ")[0].rstrip(".") + "." for text in lines]
    close = [_close(pick, name, share) for name, share in spare.items() if share < _CLOSE]
    if close:
        lines.append(f"Close to a limit: {listed(close)}.")
    warned = [
        f"{in_words(name).capitalize()} {percent(value)}: {words}."
        for name, (value, words) in pick.cautions.items()
    ]
    lines += warned
    limited = [
        vars(entry) | {"limits": [limit.to_dict() for limit in entry.limits]}
        for entry in pick.bottlenecks
    ]
    bounded = {
        name: {"value": pick.used[name], "at_most": limit, "spare": spare[name]}
        for name, limit in pick.most.items()
    }
    cautions = {name: value for name, (value, _) in pick.cautions.items()}
    facts = {"limited": limited, "bounded": bounded, "cautions": cautions}
    title = "What limits it" if lines else ""
    return Section(
        "limits",
        title,
        tuple(lines),
        facts=facts,
        brief=(*brief, *(re.sub(r" \(.*?\)", "", text) for text in warned)),
    )


def _close(pick: Pick, name: str, spare: float) -> str:
    left = "none" if spare < SHOWN_ROUNDING else percent(spare)
    used, most = (units.show(value[name], name) for value in (pick.used, pick.most))
    return f"{in_words(field_path(name))} {used} of {most} ({left} to spare)"


def _bottleneck_text(entry: Bottlenecks, several: bool) -> str:
    first, *others = entry.limits
    text = f"Bottleneck{f' of the {in_words(entry.quantity)}' * several}: {first.words}"
    if first.value is None:
        return f"{text}."
    text = f"{text}, {_headroom(first, entry)}."
    if not others:
        return f"{text} There is no other limit."
    return f"{text} Next: {others[0].words}, {_headroom(others[0], entry)}."


def _headroom(limit: Bottleneck, entry: Bottlenecks) -> str:
    left = headroom(limit).replace("none", "no")
    return f"at {units.show(limit.value or 0.0, entry.quantity)} ({left} headroom)"


def headroom(limit: Bottleneck) -> str:
    """Return the distance of a limit above the reached value: ``14.8 %``, ``15.6x``, ``none``."""
    if limit.slack is None or abs(limit.slack) < SHOWN_ROUNDING:
        return "none"
    return f"{multiple(limit.slack)}x" if limit.slack >= LARGE else percent(limit.slack)


def advice_section(pick: Pick, measured: Sequence[str] = ()) -> Section:
    """Return the thresholds from which something pays.

    `measured` has the measured thresholds of refused fits, which have no model.
    """
    if measured:
        lines = tuple(
            f"Measured: the offload is faster {text}." for text in dict.fromkeys(measured)
        )
        return Section("advice", "Break even", lines, facts=[], brief=())
    lines = tuple(_advice_text(entry) for entry in pick.advice)
    facts = [
        {
            "quantity": entry.quantity,
            "value": entry.value,
            "column": entry.threshold.column,
            "chosen": entry.chosen,
        }
        for entry in pick.advice
    ]
    return Section("advice", "Break even" if lines else "", lines, facts=facts, brief=())


def _advice_text(entry: Advice) -> str:
    about = entry.threshold
    name = in_words(field_path(about.column))
    chosen = f"{name} {units.show(entry.chosen, about.column)}"
    if math.isnan(entry.value):
        return f"Never: {about.never}."
    if entry.value <= 0:
        return f"Always: {about.above} at every {name}."
    side = about.above if entry.chosen >= entry.value else about.below
    return (
        f"{in_words(entry.quantity).capitalize()} at {name} "
        f"{units.show(entry.value, about.column)}: {about.above} above, {about.below} below. "
        f"At {chosen}, as here: {side}."
    )


def intervals_sections(
    sweep: Sweep,
    picks: Sequence[Pick | None],
    designs: Sequence[tuple[str, ...]],
    lacking: Sequence[str],
    goals: Sequence[str],
    design: str,
) -> Iterator[Section]:
    """Yield the intervals of a sweep with the same design as the answer, choices singly.

    `designs` are the distinguishing parts of the answers, empty without an answer, and
    `lacking` has the reason.  One screen has the first section, all has what is left, too.
    """
    shown = [v if isinstance(v, str) else units.show(v, sweep.column) for v in sweep.values]
    rows, facts = [], []
    for first, last in _stretches(sweep, designs):
        ends = [pick for pick in (picks[first], picks[last]) if pick is not None]
        parts = [labelled(part, one.labels) for one in ends[:1] for part in designs[first]]
        values = [_span([pick.shown(name) for pick in ends]) for name in goals]
        at = _span([shown[first], shown[last]])
        rows.append((at, ", ".join(parts) or lacking[first], *values))
        named = {"design": ", ".join(designs[first]) or None}
        sides = {"at_from": _values(ends[:1], goals), "at_to": _values(ends[-1:], goals)}
        facts.append({"from": sweep.values[first], "to": sweep.values[last]} | named | sides)
    left = len(rows) - MOST_INTERVALS
    remarks = (f"... and {left} more with --all.",) * (left > 0)
    swept = in_words(sweep.path)
    headers = (swept, "design", *map(in_words, goals))
    line = f"T{design[1:]}, by {swept}:"
    kept, rest = tuple(rows[:MOST_INTERVALS]), tuple(rows[MOST_INTERVALS:])
    yield Section("intervals", "", (line,), headers, kept, remarks, facts)
    line = f"For all about one {swept} add --set {sweep.path}=..."
    yield Section("sweep", "", (line,), headers, rest, brief=())


def _stretches(sweep: Sweep, designs: Sequence[tuple[str, ...]]) -> Iterator[tuple[int, int]]:
    """Yield the first and last place of each interval with one design, choices singly."""
    same = designs.__getitem__ if sweep.column else None
    for _, group in groupby(range(len(designs)), key=same):
        places = [*group]
        yield places[0], places[-1]


def _values(picks: Sequence[Pick], names: Sequence[str]) -> dict[str, float]:
    return {name: pick.quantities[name] for pick in picks for name in names}


def _span(ends: Sequence[str]) -> str:
    """Return two texts as one, a unit that both have once: ``14.21 to 15.18 mW``."""
    first, last = ends[:1], ends[-1:]
    if first == last:
        return "".join(first)
    (number, _, unit), (_, _, same) = first[0].rpartition(" "), last[0].rpartition(" ")
    return f"{number if unit == same and number else first[0]} to {last[0]}"


def notes_section(
    found: Iterable[str],
    unpublished: int = 0,
    unchecked: Sequence[str] = (),
    evidence: str = "",
    proven: Mapping[str, Any] = MappingProxyType({}),
) -> Section:
    """Return the notes on the numbers, of which so many are `unpublished`.

    `evidence` is of the cores' values, `proven` are the counts of the search.

    Of the notes, one screen shows those that are `unchecked` rules.
    """
    notes = list(found)
    known = [f"{plural(proven.get('designs', 0), 'design')}, proven"] * bool(proven.get("exact"))
    known += [f"cores: {evidence}"] * bool(evidence)
    known += [plural(unpublished, "assumption")] * bool(unpublished)
    known.append(f"{plural(len(notes), 'note') if notes else 'more'} with --all.")
    trust = "; ".join(known)
    brief = [*(f"note: {note}" for note in unchecked), f"{trust[0].upper()}{trust[1:]}"]
    lines = tuple(f"note: {note}" for note in notes)
    return Section("notes", lines=lines, facts=notes, brief=tuple(brief))
