"""The answer to a study: the design, its reason and limits, and the cost of other choices."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import groupby
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse import contract
from dse.algebra import units
from dse.answers import sections
from dse.answers.design import Pick, amount, bought_section, pick
from dse.answers.roofs import roofs_section
from dse.answers.shortfall import (
    Shortfall,
    margins_section,
    of_point,
    shortfalls,
    undemanded_sections,
)
from dse.contract import SIZE
from dse.model.graph import explain_missing
from dse.model.labels import labelled, same_parts
from dse.model.mixed import PAYLOAD_OFFLOADED, TASKS_OFFLOADED, Mixed
from dse.model.preference import Preference
from dse.model.problem import Problem
from dse.model.space import ALONE, Axis, Index
from dse.model.stage import Stage
from dse.plugins import registry
from dse.reports.designs import host_notes
from dse.reports.designs import parts as design_parts
from dse.reports.front_text import MARK
from dse.reports.front_view import Ranges
from dse.reports.sections import OneScreen, Section
from dse.reports.text import change, in_words, listed, percent
from dse.runs import runner
from dse.runs.manifest import gaps_of, implausible, spread_of
from dse.runs.runner import KnownFront, Options
from dse.search.exact.work import EffortError, limited
from dse.search.settings import Budget
from dse.study.assumptions import assumptions_of, unpublished
from dse.study.demand import DEVICE
from dse.study.overrides import Sweep, is_evaluated, stages_of
from dse.study.scenario import field_path
from dse.study.schema import FIELDS, SECTIONS
from dse.study.stages import COMPUTE_ALONE
from dse.study.study import Study

Callback = Callable[[Sequence[Section]], None]
"""Called with sections as soon as they are known."""

_FEW = 4
"""Designs with another choice that one screen shows."""

_MOST_CHOICES = 64
"""Choices by name of one axis beyond this number are not tried one by one."""

ROUGH = 100.0
"""Factors above it have two digits, because they compare values of unlike evidence."""

_MOST_ROWS = 15
"""Rows of a table of alternatives, the cheapest first."""


@dataclass(frozen=True)
class Alternative:
    """The best design with one choice made otherwise: ``interface.device`` as ``apu``.

    Attributes
    ----------
    design, merit
        The best such design and the value that the preference minimises, None if infeasible.
    shortfalls, together
        Then: the least violations of single constraints, or of several `together`.
    """

    axis: str
    choice: str
    design: Pick | None
    merit: float | None = None
    shortfalls: tuple[Shortfall, ...] = ()
    together: bool = False

    @property
    def closest(self) -> Pick | None:
        """The design, or the one that comes closest to being feasible."""
        return self.design or (self.shortfalls[0].design if self.shortfalls else None)

    @property
    def meets_demand(self) -> bool:
        """Whether `closest` meets every lower limit, whatever else it violates."""
        shown = self.shortfalls if self.together else self.shortfalls[:1]
        return not any(entry.at_least for entry in shown)

    @property
    def why_infeasible(self) -> str:
        """The choice without a feasible design, in words."""
        texts = [entry.text(together=self.together) for entry in self.shortfalls]
        return listed(texts, "and" if self.together else "or") or "no design was found"

    def cost(self, answer: Pick, quantity: str) -> str:
        """Return the change of a quantity, empty for a design that misses the demand."""
        if self.closest is None or not self.meets_demand:
            return ""
        return change(self.closest.quantities[quantity], answer.quantities[quantity])

    def to_dict(self, pick: Pick, goals: Sequence[str]) -> dict[str, Any]:
        """Return plain data, for JSON, compared with the recommended design."""
        facts: dict[str, Any] = {"choice": self.choice, "feasible": self.design is not None}
        if self.design is not None:
            facts |= self.design.to_dict()
        if self.shortfalls:
            violations = [entry.to_dict() for entry in self.shortfalls]
            facts |= {"together": self.together, "violations": violations}
        if self.closest is not None:
            facts["differences"] = pick.differences(self.closest, goals)
        return facts


Cut = Mapping[int, Sequence[int]]
"""Index of an axis -> the indices of the values that stay."""


def alternatives(
    study: Study,
    options: Options,
    preference: Preference,
    answer: Pick,
    budget: Budget,
    *,
    all: bool = True,
) -> tuple[tuple[Alternative, ...], str]:
    """Return the best design for every other choice by name, and with or without each design.

    Without `all`, on one axis.  Each search has its share of the rest of a budget.
    Also return a sentence on the searches that this ended, or an empty text.
    """
    found, short, missing = [], 0, 0
    cuts = [*_cuts(study.problem, answer)]
    one_axis = _compared(axis for axis, _, _ in cuts)
    cuts = [cut for cut in cuts if all or cut[0] == one_axis]
    for place, (axis, choice, cut) in enumerate(cuts):
        best, share = None, budget.left_s / (len(cuts) - place)
        with suppress(EffortError), limited(seconds=share, byte=budget.byte) as work:
            space = study.problem.space.restricted(cut)
            problem = replace(study.problem, space=space, beside=False)
            best = _best(study, axis, choice, problem, options, preference)
        short += bool(work.ended)
        if best is None or (work.ended and best.design is None):
            missing += 1  # that it is infeasible is not known
        else:
            found.append(best)
    words = f"The time (--time) ended {short} of {len(cuts)} searches for other choices early"
    words += ", whose designs may be beaten" * (missing < short)
    words += f"; {missing} found no design" * bool(missing)
    return tuple(found), f"{words}." * bool(short)


def _cuts(problem: Problem, answer: Pick) -> Iterator[tuple[str, str, Cut]]:
    """Yield every other value of one choice: axis, choice, and the rest of the space."""
    for number, axis in enumerate(problem.space.axes):
        if not axis.ordered and 1 < axis.size <= _MOST_CHOICES:
            for choice, label in enumerate(axis.labels):
                if not _chosen(axis, label, answer):
                    yield axis.name, label, {number: [choice]}
    for stage in problem.stages:
        if stage.mixed:
            yield from _fleet_cuts(problem.space.axes, stage, answer)


def _fleet_cuts(axes: Sequence[Axis], stage: Stage, answer: Pick) -> Iterator[tuple[str, str, Cut]]:
    """Yield the fleets without each design of a stage, and of it only.

    A design that the answer does not use changes nothing when it is omitted.
    """
    names = [f"{stage.name}.{design}" for design in stage.designs.names]
    none = {axis.name: (at, _zero(axis)) for at, axis in enumerate(axes) if axis.name in names}
    if not 1 < len(none) <= _MOST_CHOICES:
        return
    used = [name for name in answer.counts if name.startswith(f"{stage.name}.")]
    for name, (number, zero) in none.items():
        design = name.removeprefix(f"{stage.name}.")
        if zero and name in used:
            yield stage.name, f"without {design}", {number: zero}
        others = dict(none[other] for other in none if other != name)
        if all(others.values()) and used != [name]:
            yield stage.name, f"only {design}", others


def _chosen(axis: Axis, label: str, answer: Pick) -> bool:
    stage, _, _ = axis.name.partition(".")
    return answer.choices.get(axis.name) == label or f"{stage}.{label}" in answer.counts


def _zero(axis: Axis) -> list[int]:
    return np.flatnonzero(axis.columns[axis.unit_name] == 0).tolist()


def _best(
    study: Study, axis: str, choice: str, problem: Problem, options: Options, preference: Preference
) -> Alternative:
    outcome = runner.solve_study(replace(study, problem=problem), options, partial=True).outcome
    front = outcome.front_index
    if not len(front):
        found, together = shortfalls(problem, outcome, preference)
        return Alternative(axis, choice, None, shortfalls=found, together=together)
    point = preference.first(problem, front)
    merit = float(preference.merit(problem, point)[0]) if preference.is_quantity else None
    return Alternative(axis, choice, pick(problem, point[0], preference.quantity), merit)


def _host_alone(problem: Problem, preference: Preference, answer: Pick) -> Iterator[Alternative]:
    """Yield the best host alone, or the one that misses least, if it is not the answer."""
    if not len(problem.hosts) or answer.name == ALONE:
        return
    found = problem.evaluate(problem.hosts)
    missed = np.maximum(found.violation, 0.0).max(axis=1)
    merit = preference.merit(problem, problem.hosts, found.loss)
    point = problem.hosts[int(np.lexsort((merit, missed))[0])]
    violations = of_point(problem, preference, point)
    design = None if violations else pick(problem, point, preference.quantity)
    yield Alternative(ALONE, ALONE, design, shortfalls=violations, together=True)


def host_section(
    problem: Problem, host: Alternative, answer: Pick, preferred: str | None, spread: Ranges
) -> Section:
    """Return the cost of the host alone."""
    goals, design = [goal.name for goal in problem.goals], host.closest or answer
    name = preferred if preferred in answer.quantities and preferred else goals[0]
    value = design.quantities[name]
    low, high = spread.get(name, 2 * (answer.quantities[name],))
    by = " to ".join(dict.fromkeys(change(value, one) for one in (high, low)))
    by = "over a hundred times" if value > ROUGH * high else by
    line = f"The host alone: {in_words(name)} {units.show(value, name)}{f' ({by})' if by else ''}"
    line += f"; infeasible: {host.why_infeasible}" * (host.design is None)
    facts = host.to_dict(answer, goals) | design.to_dict()
    return Section("host", "The host alone", (f"{line}.",), facts=facts, brief=())


def beside_section(
    problem: Problem,
    answer: Pick,
    others: Sequence[Alternative],
    near: Sequence[Pick],
    hosts: Sequence[Alternative],
    preferred: str | None,
) -> Section:
    """Return the answer beside the best designs with another choice, and the host alone.

    A design that is `near`, bought by a small loss, comes second.  If no other design meets the
    constraints, the reasons come first.  The largest terms of the `preferred` quantity are shown
    if they differ.
    """
    others = _alike([*others])
    designs = {one.design.line: one.design for one in others if one.design is not None}
    found = _few(designs)
    rivals = [*near, *found, *(one.design for one in hosts if one.design is not None)]
    lines = () if rivals else _failures(others, answer)
    picks = [answer, *{one.line: one for one in rivals if one.line != answer.line}.values()]
    if len(picks) < 2:
        return Section("beside", "", lines)
    goals = [goal.name for goal in problem.goals]
    few = f" ({len(found)} of {len(designs)} others)" * (len(found) < len(designs))
    (first, *more), cells = _named(picks, near, few)
    columns = _worths(picks, goals, preferred)
    rows = tuple(
        (f"{MARK if one is answer else ' '} {name}", *rest, *(shown[at] for _, shown in columns))
        for at, (one, (name, *rest)) in enumerate(zip(picks, cells, strict=True))
    )
    headers = (f"  {first}", *more, *(head for head, _ in columns))
    counts = {"shown": len(found), "others": len(designs)}
    return Section("beside", "", lines, headers, rows, facts=counts)


def _worths(
    picks: Sequence[Pick], goals: Sequence[str], preferred: str | None
) -> list[tuple[str, list[str]]]:
    """Return the columns of objectives, and after the preferred one its largest terms."""
    columns = [
        (in_words(goal), [units.show(one.quantities[goal], goal) for one in picks])
        for goal in goals
    ]
    if preferred in goals and len({one.mostly for one in picks} - {""}) > 1:
        columns.insert(goals.index(preferred) + 1, ("mostly", [one.mostly for one in picks]))
    return columns


def _alike(others: Sequence[Alternative]) -> list[Alternative]:
    """Return the other choices of the axis that is compared, the best first."""
    axis = _compared([entry.axis for entry in others])
    compared = [entry for entry in others if entry.axis == axis]
    return sorted(compared, key=lambda entry: entry.merit or 0.0)


def _failures(others: Iterable[Alternative], answer: Pick) -> tuple[str, ...]:
    failing = [entry for entry in others if entry.design is None]
    why = [f"{labelled(one.choice, answer.labels)}: {one.why_infeasible}" for one in failing]
    return (f"The others fail. {'; '.join(why)}.",) if why else ()


def _named(
    picks: Sequence[Pick], near: Sequence[Pick], few: str
) -> tuple[list[str], list[list[str]]]:
    """Return headers and cells that name designs: the device, if any has one, and the rest.

    The rest of a design with a device has the choices in which the answer, the first of `picks`,
    and those `near` it differ.
    """
    built = [one for one in picks if one.name != ALONE]
    if not any(DEVICE in one.choices for one in built):
        short = _short(built, built)
        return [f"design{few}"], [[short.get(one.line, ALONE)] for one in picks]
    short = _short(built, [picks[0], *near])
    devices = [ALONE if one.name == ALONE else one.shown(DEVICE) for one in picks]
    if len({*short.values()}) > 1:
        rest = [short.get(one.line, "") for one in picks]
        return [f"device{few}", "design"], [list(pair) for pair in zip(devices, rest, strict=True)]
    of = f" of {short[built[0].line]}" * (picks[0].name == ALONE)
    return [f"device{of}{few}"], [[device] for device in devices]


def _short(picks: Sequence[Pick], compared: Sequence[Pick], but: str = DEVICE) -> dict[str, str]:
    """Return designs by their lines, with the choices in which those `compared` differ."""
    names = {name for one in compared for name in one.choices} - {but}
    shown = {name for name in names if len({one.choices.get(name) for one in compared}) > 1}
    same = same_parts([one.name for one in picks], picks[0].labels)
    return {one.line: one.line_with(shown, same) for one in picks}


def _compared(axes: Iterable[str]) -> str:
    """Return the axis whose choices one screen compares: the device, else the first."""
    known = [*axes]
    return DEVICE if DEVICE in known else "".join(known[:1])


def _few(designs: Mapping[str, Pick]) -> list[Pick]:
    """Return the first few of designs by their lines, the first of every core before others."""
    names = {line: labelled(one.name, one.labels) for line, one in designs.items()}
    cores = {names[line].partition(" (")[0].lstrip("0123456789 "): line for line in reversed(names)}
    few = sorted(designs, key=lambda line: line not in cores.values())[:_FEW]
    return [one for line, one in designs.items() if line in few]


def staying_sections(problem: Problem, point: Index) -> Iterator[Section]:
    """Yield a section for the design at `point`, (1, d), or nothing if every size is offloaded."""
    mixed = problem.graph.quantities
    columns = {name: float(column[0]) for name, column in problem.describe(point).items()}
    share = columns.get(TASKS_OFFLOADED, 1.0)
    if not isinstance(mixed, Mixed) or share == 1.0:
        return
    (parted,) = (one for one in mixed.parts if one.share == share)
    sizes = [size for size, _ in parted.staying]
    takes = {q.name: columns[q.name] for q in problem.quantities if q.staying}
    shares = {"tasks": 1.0 - share, "payload": 1.0 - columns[PAYLOAD_OFFLOADED]}
    known = [amount(value, name) for name, value in takes.items() if value > 0]
    parts = listed([f"{percent(part)} of the {what}" for what, part in shares.items()])
    verb = "stays" if len(sizes) == 1 else "stay"
    line = f"{listed([units.show(size, SIZE) for size in sizes])} {verb}, {parts}: "
    facts = {"sizes_byte": sizes, "shares": shares, "takes": takes}
    yield Section("staying", "On the host", (f"{line}{listed(known)}.",), facts=facts)


def alternatives_section(
    axis: str,
    found: Sequence[Alternative],
    answer: Pick,
    goals: Sequence[str],
    preferred: str | None,
) -> Section:
    """Return the cost of every other choice on one axis, one line each.

    `preferred` is the deciding quantity, None for several.
    """
    found = sorted(found, key=lambda entry: (entry.design is None, entry.merit or 0.0))
    compared = [preferred] if preferred in answer.quantities and preferred else []
    picks = [answer, *(entry.closest for entry in found if entry.closest is not None)]
    rows, remarks, short = [], [], _short(picks, picks, axis)
    for entry in found[:_MOST_ROWS]:
        choice, other = labelled(entry.choice, answer.labels), entry.closest
        if entry.design is None:
            remarks.append(f"(!) {choice} is infeasible: {entry.why_infeasible}.")
            choice = f"{choice} (!)"
        if other is not None:
            costs = [entry.cost(answer, name) for name in compared]
            rows.append((choice, short[other.line], *map(other.shown, goals), *costs))
    left = max(len(found) - _MOST_ROWS, 0)
    if left:
        remarks.append(f"... and {left} more, which --json lists.")
    return Section(
        f"instead.{axis}",
        f"Any other {_of_axis(axis, answer)}",
        headers=("instead", "design", *map(in_words, goals), *["change"] * len(compared)),
        rows=tuple(rows),
        remarks=tuple(remarks),
        facts={"choices": [entry.to_dict(answer, goals) for entry in found], "not_shown": left},
        brief=(),
    )


def _of_axis(axis: str, answer: Pick) -> str:
    """Return the choices of an axis in words."""
    section, _, name = axis.partition(".")
    if section in SECTIONS:
        return in_words(name)
    if axis in answer.choices and not name:
        return in_words(axis)  # of a table of designs, or of measured designs: no stage
    return f"{section} {in_words(name) or 'fleet'}"


@dataclass(frozen=True, repr=False, kw_only=True)
class Answer(OneScreen):
    """The answer of a study.  Its text is the output of `dse answer`.

    Attributes
    ----------
    pick
        The recommended design, with its numbers in SI in ``pick.quantities``.
    others
        The cost of any other choice.
    """

    pick: Pick
    others: tuple[Alternative, ...]


@dataclass(frozen=True, repr=False, kw_only=True)
class SweepAnswer(OneScreen):
    """The answers of a study with a sweep: one design, or None, per value of the swept field."""

    path: str
    values: tuple[float | str, ...]
    picks: tuple[Pick | None, ...]


def recommend(
    solved: KnownFront,
    preference: Preference,
    options: Options,
    callback: Callback = lambda _: None,
    *,
    all: bool = True,
    budget: Budget,
) -> Answer:
    """Return the answer of a study from its front, of at least one design.

    `callback` is called with sections as soon as they are known, all but the notes.  The design
    is compared with the best of every other device, with `all` of any other choice, for which
    `options` and `budget` hold.
    """
    problem, front = solved.study.problem, solved.front
    point = preference.first(problem, front)
    chosen = pick(problem, point[0], preference.quantity)
    bought, cheaper = bought_section(problem, front, chosen, preference)
    hosts = [*_host_alone(problem, preference, chosen)]
    first, *rest = _own_sections(solved, preference, point, chosen, bought, hosts)
    callback([first])
    others, short = alternatives(solved.study, options, preference, chosen, budget, all=all)
    near, wanted = [*filter(None, [cheaper])], preference.quantity
    rest.insert(0, beside_section(problem, chosen, others, near, hosts, wanted))
    callback(rest)
    goals = [goal.name for goal in problem.goals]
    compared = [
        alternatives_section(axis, [*found], chosen, goals, preference.quantity)
        for axis, found in groupby(others if all else (), key=attrgetter("axis"))
    ]
    compared += [Section("ended early", lines=(short,))] * bool(short)
    callback(compared)
    return Answer(
        question=solved.study.question,
        preference=preference.text,
        sections=(first, *rest, *compared, _notes_section(solved, point[0], chosen)),
        pick=chosen,
        others=others,
    )


def _own_sections(
    solved: KnownFront,
    preference: Preference,
    point: Index,
    chosen: Pick,
    bought: Section,
    hosts: Sequence[Alternative],
) -> list[Section]:
    """Return the sections on the design `chosen`, at `point` (1, d), the recommendation first."""
    study, problem = solved.study, solved.study.problem
    goals = [goal.name for goal in problem.goals]
    spread, gaps = spread_of(problem, point, goals), gaps_of(problem, point, goals)
    return [
        sections.recommendation_section(solved, preference, chosen, point, spread, gaps),
        sections.spread_section(problem, spread, gaps),
        *undemanded_sections(solved, chosen, preference),
        *_implausible(study, point[0]),
        sections.limits_section(chosen),
        roofs_section(problem, solved.front, chosen, preference),
        margins_section(problem, point[0]),
        *staying_sections(problem, point),
        bought,
        sections.advice_section(chosen, [*study.refused.values()]),
        *(host_section(problem, one, chosen, preference.quantity, spread) for one in hosts),
    ]


def _implausible(study: Study, design: NDArray[np.int64]) -> Iterator[Section]:
    found = implausible(study, design)
    if found is not None:
        text, facts = found
        line = f"{text[0].upper()}{text[1:]}."
        yield Section("plausible", lines=(line,), facts=facts, brief=(line,))


def _notes_section(solved: KnownFront, design: NDArray[np.int64], chosen: Pick) -> Section:
    study, axes = solved.study, solved.study.problem.space.axes
    notes = [
        *boundary_notes(study, design),
        *study.notes,
        *(
            f"{axis.name}: {axis.size} choices are too many to try each other one"
            for axis in axes
            if not axis.ordered and axis.size > _MOST_CHOICES
        ),
        *host_notes(study.problem),
        *_unknown(study),
    ]
    assumed = assumptions_of(study, designs=False, of=design[np.newaxis])
    few = len(unpublished(study, assumed, [*design]))
    stages = [name.partition(".") for name in chosen.counts]
    known = [study.sureness.designs.get(stage, {}).get(name) for stage, _, name in stages]
    evidence = listed([*dict.fromkeys(one[0] for one in known if one and one[0])])
    return sections.notes_section(notes, few, study.unchecked, evidence, solved.found)


def _unknown(prepared: Study) -> list[str]:
    """Return a sentence for each unknown threshold, with the fields that it needs."""
    problem = prepared.problem
    missing = problem.graph.missing
    found = []
    for name, quantity in registry.records(contract.Objective).items():
        about = quantity.threshold
        if about is not None and name in missing and about.column in problem.available:
            fields = sorted({field_path(column) for column in explain_missing(name, missing)})
            found.append(f"{in_words(name)} is unknown: it needs {listed(fields)}")
    return found


def recommend_swept(
    points: Sequence[KnownFront], sweep: Sweep, preference: Preference
) -> SweepAnswer:
    """Return the answers of a study with a sweep from the fronts at its values."""
    picks: list[Pick | None] = []
    designs: list[tuple[str, ...]] = []
    for entry in points:
        problem = entry.study.problem
        best = preference.first(problem, entry.front)
        picks += [pick(problem, row, preference.quantity) for row in best] or [None]
        designs += design_parts(problem, best, counts=False) or [()]
    lacking = [_lacking(entry.study) for entry in points]
    first = points[0].study
    goals = [goal.name for goal in first.problem.goals]
    parts = (
        *sections.intervals_sections(sweep, picks, designs, lacking, goals, preference.design),
        sections.notes_section(
            dict.fromkeys(n for entry in points for n in entry.study.notes),
            unchecked=first.unchecked,
        ),
    )
    return SweepAnswer(
        question=first.question,
        preference=preference.text,
        sections=parts,
        path=sweep.path,
        values=sweep.values,
        picks=tuple(picks),
    )


def _lacking(study: Study) -> str:
    """Return the reason why there is no answer."""
    if study.problem.unmeasured:
        return "none is measured"
    few = COMPUTE_ALONE in study.notes
    return "none is feasible" + " with the least instances: give `instances` a range" * few


def boundary_notes(study: Study, design: NDArray[np.int64]) -> Iterator[str]:
    """Yield a note for each axis with an order at whose end a design (d,) lies.

    Omitted are ends without a beyond: a count of one, no instances, the top clock, counts that
    end when one design carries the rate, and tables of designs that are evaluated already.
    """
    for axis, position in zip(study.problem.space.axes, design.tolist(), strict=True):
        inside = not axis.ordered or axis.size < 2 or 0 < position < axis.size - 1 or position < 0
        if inside or is_evaluated(study.document) or _is_all(study, axis, position):
            continue
        end = "high" if position else "low"
        value = axis.labels[position]
        if axis.unit_name in axis.columns:
            value = units.show(float(axis.columns[axis.unit_name][position]), axis.unit_name)
        yield (
            f"{axis.name} = {value} is the {end}est of the {axis.size} values tried; "
            f"add {end}er ones to be sure"
        )


def _is_all(study: Study, axis: Axis, position: int) -> bool:
    """Return whether an axis ends at a position because there is nothing beyond."""
    counted = FIELDS.get(axis.name)
    if counted and counted.integer and axis.columns[axis.unit_name][position] <= 1:
        return True
    stage, _, field = axis.name.partition(".")
    if stage not in {one.name for one in study.problem.stages}:
        return False
    if field == "clock":
        return float(axis.columns[axis.unit_name][position]) == 1.0
    limits = {name: fields.get("instances") for name, fields in stages_of(study.document).items()}
    return position == 0 or limits.get(stage) in (None, "least")
