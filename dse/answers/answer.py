"""The answer to a study's question: which design, why, what limits it, what else would cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray

from dse import contract
from dse.algebra import units
from dse.answers import sections
from dse.answers.alternatives import (
    MOST_CHOICES,
    Alternative,
    alternatives,
    alternatives_section,
    host_sections,
    staying_sections,
)
from dse.answers.design import Pick, pick
from dse.answers.roofs import roofs_section
from dse.answers.shortfall import margins_section, undemanded_section
from dse.answers.trade import bought_section
from dse.model.graph import explain_missing
from dse.model.preference import Preference
from dse.model.problem import Problem
from dse.model.space import Axis, Index
from dse.plugins import registry
from dse.reports.designs import host_notes
from dse.reports.designs import parts as design_parts
from dse.reports.sections import OneScreen, Section
from dse.reports.text import ROUNDING, in_words, listed
from dse.runs.notes import implausible
from dse.runs.solved import KnownFront, Options
from dse.search.settings import Budget
from dse.study.measured.evaluated import is_evaluated
from dse.study.overrides import Sweep
from dse.study.scenario import field_path
from dse.study.stages import COMPUTE_ALONE
from dse.study.study import Study
from dse.study.workload_interface_budget import FIELDS
from dse.study.written import stages_of

Callback = Callable[[Sequence[Section]], None]
"""Called with sections as soon as they are known."""


@dataclass(frozen=True, repr=False, kw_only=True)
class Recommendation(OneScreen):
    """The answer of a study: which design, why, and what any other choice would cost.

    Attributes
    ----------
    pick
        The recommended design; its numbers in SI are in ``pick.quantities``.
    runner_up
        The next best: of the front, or with another choice; None when there is none.
    best
        The best design by objective.
    others
        What any other choice would cost.
    """

    pick: Pick
    runner_up: Pick | None
    best: Mapping[str, Pick]
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
) -> Recommendation:
    """Return the answer of a study from its front, of at least one design.

    `callback` is called with sections as soon as they are known, all but the notes.  With `all`,
    what any other choice would cost is searched for, too, as `options` and `budget` say.
    """
    study, front = solved.study, solved.front
    problem, goals = study.problem, study.problem.goals
    ranked = front[preference.order(problem, front)]
    preferred = preference.quantity
    chosen = pick(problem, ranked[0], preferred)
    senses = {goal.name: goal.sense for goal in goals}
    least = front[problem.evaluate(front).loss.argmin(axis=0)]
    best = {goal: pick(problem, row, preferred) for goal, row in zip(goals, least, strict=True)}
    loss = problem.evaluate(ranked).loss
    tied = np.isclose(loss, loss[0], rtol=ROUNDING, atol=0.0).all(axis=1)
    parts = [
        sections.recommendation_section(solved, preference, chosen, ranked[tied]),
        *filter(None, [undemanded_section(study, front, chosen, best, preference)]),
        *_implausible(study, ranked[0]),
        sections.limits_section(chosen),
        roofs_section(problem, front, chosen, preference),
        margins_section(problem, ranked[0]),
        *staying_sections(problem, ranked[:1]),
        bought_section(problem, front, chosen, preference),
        sections.advice_section(chosen, [*study.refused.values()]),
        *host_sections(problem, preference, chosen),
    ]
    callback(parts)
    others, short = alternatives(study, options, preference, chosen, budget) if all else ((), "")
    second = _runner_up(problem, preference, ranked[0], ranked[~tied], others)
    compared = [
        sections.runner_up_section(chosen, second, [*senses]),
        sections.best_section(best),
        *(
            alternatives_section(axis, [*found], chosen, [*senses], preferred)
            for axis, found in groupby(others, key=attrgetter("axis"))
        ),
        *([Section("ended early", lines=(short,))] if short else []),
    ]
    callback(compared)
    return Recommendation(
        question=solved.study.question,
        preference=preference.text,
        sections=(*parts, *compared, _notes_section(study, ranked[0])),
        pick=chosen,
        runner_up=second,
        best={goal.name: found for goal, found in best.items()},
        others=others,
    )


def _runner_up(
    problem: Problem,
    preference: Preference,
    best: NDArray[np.int64],
    rest: Index,
    others: Sequence[Alternative],
) -> Pick | None:
    """Return the next best design: of the rest of the front, or of those with another choice."""
    merit = float(preference.merit(problem, best[np.newaxis])[0])
    candidates: list[tuple[float, Pick]] = []
    if len(rest):
        first = pick(problem, rest[0], preference.quantity)
        if not preference.is_quantity or preference.tolerance:
            return first
        candidates.append((float(preference.merit(problem, rest[:1])[0]), first))
    for entry in others:
        if entry.design is not None and entry.merit is not None and entry.merit >= merit:
            candidates.append((entry.merit, entry.design))
    return min(candidates, key=lambda candidate: candidate[0])[1] if candidates else None


def _implausible(study: Study, design: NDArray[np.int64]) -> Iterator[Section]:
    found = implausible(study, design)
    if found is not None:
        text, facts = found
        line = f"{text[0].upper()}{text[1:]}."
        yield Section("plausible", lines=(line,), facts=facts, brief=(line,))


def _notes_section(study: Study, design: NDArray[np.int64]) -> Section:
    axes = study.problem.space.axes
    notes = [
        *boundary_notes(study, design),
        *study.notes,
        *(
            f"{axis.name}: {axis.size} choices are too many to try each other one"
            for axis in axes
            if not axis.ordered and axis.size > MOST_CHOICES
        ),
        *host_notes(study.problem),
        *_unknown(study),
    ]
    unpublished = study.sureness.unpublished(axes, design.tolist())
    rest = ("the runner-up", "what any other choice costs")
    return sections.notes_section(notes, unpublished, rest, study.unchecked)


def _unknown(prepared: Study) -> list[str]:
    """Return what the study would have to set to know from where on something pays."""
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
        sections.intervals_section(sweep, picks, designs, lacking, goals, preference.design),
        sections.sweep_section(sweep, picks, lacking, goals, preference.design),
        sections.notes_section(
            dict.fromkeys(n for entry in points for n in entry.study.notes),
            rest=(f"the answer at each {in_words(sweep.path)}",),
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
    """Return why there is no answer where there is none."""
    if study.problem.unmeasured:
        return "none is measured"
    few = COMPUTE_ALONE in study.notes
    return "none is feasible" + " with the least instances: give `instances` a range" * few


def boundary_notes(study: Study, design: NDArray[np.int64]) -> Iterator[str]:
    """Yield a note for each axis with an order at whose end a design (d,) lies.

    Omitted are ends beyond which there is nothing: one of what is counted, no instances, the top
    clock, counts that end where the design alone carries the rate, and tables of designs that are
    evaluated already.
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
    """Tell whether an axis ends at a position because there is nothing beyond."""
    counted = FIELDS.get(axis.name)
    if counted and counted.integer and axis.columns[axis.unit_name][position] <= 1:
        return True
    stage, _, field = axis.name.partition(".")
    if stage not in {one.name for one in study.problem.stages}:
        return False
    if field == "clock":
        return float(axis.columns[axis.unit_name][position]) == 1.0
    limits = {one.name: one.fields.get("instances") for one in stages_of(study.document)}
    return position == 0 or limits.get(stage) in (None, "least")
