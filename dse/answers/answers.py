"""The answer to a study's question: which design, why, what limits it, what else would cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dse import contract
from dse.algebra import units
from dse.answers import answer_tables, answer_text, questions, words
from dse.answers.alternatives import MOST_CHOICES, Alternative, alternatives
from dse.answers.design import Pick, pick
from dse.answers.questions import Solved
from dse.cli.commands import print_json, settings
from dse.errors import ExpressionError, InfeasibleError, UnitError
from dse.files.document import Document
from dse.model.graph import explain_missing
from dse.model.preference import Preference, prefer
from dse.model.problem import Problem
from dse.model.space import Index
from dse.plugins import registry
from dse.reports.sections import Readable
from dse.runs.runner import Options
from dse.stability import flip_section
from dse.study.scenario import field_path
from dse.study.schema import SECTIONS
from dse.study.study import Study, Sweep
from dse.uncertainty import sampling_text
from dse.uncertainty.sampling import Certainty, Sampled, certainty


@dataclass(frozen=True, repr=False, kw_only=True)
class Answer(Readable):
    """The answer of a study; as text it is what `dse answer` prints.

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
    certainty
        How sure it is, when that was asked for.
    """

    pick: Pick
    runner_up: Pick | None
    best: Mapping[str, Pick]
    others: tuple[Alternative, ...]
    certainty: Certainty | None = None


@dataclass(frozen=True, repr=False, kw_only=True)
class SweepAnswer(Readable):
    """The answers of a study with a sweep: one design, or None, per value of the swept field."""

    path: str
    values: tuple[float | str, ...]
    picks: tuple[Pick | None, ...]


def answer(
    source: str | Path,
    *,
    rate: str | None = None,
    preferred: str | None = None,
    overrides: Sequence[tuple[str, str]] = (),
    flips: bool | None = None,
    sampled: Sampled | None = None,
) -> Answer | SweepAnswer:
    """Answer a study, or what a finished run has found.

    Parameters
    ----------
    source, rate, overrides
        See `questions.solve`.
    preferred
        ``power``, ``area``, ``knee``, an objective or an expression; see `preference.prefer`.
    flips
        Tell what would change the answer: True for all of it, None for what is near, if the
        front is proven.
    sampled
        How to draw what is uncertain; None not to ask how sure the answer is.

    Raises
    ------
    StudyError, UnitError, ExpressionError, OutputError
        What was asked for makes no sense.
    InfeasibleError
        When no design meets every constraint.
    """
    question = questions.solve(Path(source), rate=rate, overrides=overrides)
    preference = _preference(question.points[0].study, preferred)
    if question.sweep is not None:
        if sampled is not None:
            raise _one_at_a_time(question.sweep)
        swept = _swept(question.points, question.sweep, preference)
        return swept.with_section(flip_section.swept()) if flips else swept
    solved = question.points[0]
    found = _answer(solved, preference, question.options)
    changing = flips is not False and flip_section.section(
        solved.study,
        solved.front,
        preferred,
        exact=bool(solved.found["exact"]),
        full=bool(flips),
    )
    found = found.with_section(changing) if changing else found
    if sampled is None:
        return found
    settings = question.options.apply(solved.study.settings)
    sure = certainty(solved.study, solved.front, preference, sampled, settings=settings)
    return replace(found.with_section(sampling_text.section(sure)), certainty=sure)


def _one_at_a_time(sweep: Sweep) -> UnitError:
    rule = f"the study sweeps {sweep.path}, and --samples asks about one answer"
    return UnitError(rule, f"set one value: --set {sweep.path}={sweep.written[0]!r}")


def _preference(asked: Study, preferred: str | None) -> Preference:
    try:
        return prefer(asked.problem, preferred)
    except ExpressionError as error:
        rule = f"--prefer {preferred!r}: {error.rule}"
        remedy = f"{error.remedy}; or write power, area, knee or an objective"
        raise ExpressionError(rule, remedy) from error


def _answer(solved: Solved, preference: Preference, options: Options) -> Answer:
    problem, front = solved.study.problem, solved.front
    ranked = front[preference.order(problem, front)]
    preferred = preference.quantity
    chosen = pick(problem, ranked[0], preferred)
    goals = [goal.name for goal in problem.goals]
    best = {
        goal: pick(problem, front[problem.evaluate(front).loss[:, column].argmin()], preferred)
        for column, goal in enumerate(problem.goals)
    }
    others = alternatives(solved.study, options, preference, chosen)
    tied = _tied(problem, ranked)
    second = _runner_up(problem, preference, ranked[tied][0], ranked[~tied], others)
    tie = pick(problem, ranked[tied][1], preferred) if tied.sum() > 1 else None
    text, given = _text(preference), _given(solved.study.document)
    reason = answer_text.reason(chosen, text, preferred, goals)
    parts = [
        answer_text.answer(chosen, reason, given, solved.found, tie, int(tied.sum()) - 1),
        answer_text.limits(chosen),
        answer_text.advice(chosen),
        answer_text.runner_up(chosen, second, goals),
        answer_text.best(best),
    ]
    for axis in dict.fromkeys(entry.axis for entry in others):
        entries = sorted((entry for entry in others if entry.axis == axis), key=_cost)
        parts.append(answer_tables.others(axis, entries, chosen, goals, preferred))
    parts.append(answer_text.notes(_notes(solved.study, preference)))
    return Answer(
        question=solved.study.question,
        preference=text,
        sections=tuple(parts),
        pick=chosen,
        runner_up=second,
        best={goal.name: found for goal, found in best.items()},
        others=others,
    )


def _cost(entry: Alternative) -> tuple[bool, float]:
    """Return what orders alternatives: the infeasible ones last."""
    return entry.design is None, entry.merit or 0.0


def _tied(problem: Problem, ranked: Index) -> NDArray[np.bool_]:
    """Return which designs are worth what the first one is, up to rounding."""
    loss = problem.evaluate(ranked).loss
    return np.asarray(np.isclose(loss, loss[0], rtol=words.TINY, atol=0.0).all(axis=1))


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
        if not preference.is_quantity:
            return first
        candidates.append((float(preference.merit(problem, rest[:1])[0]), first))
    for entry in others:
        if entry.design is not None and entry.merit is not None and entry.merit >= merit:
            candidates.append((entry.merit, entry.design))
    return min(candidates, key=lambda candidate: candidate[0])[1] if candidates else None


def _text(preference: Preference) -> str:
    """Return a preference in words."""
    name = preference.quantity
    if name is None:
        return preference.text
    return f"{'most' if preference.maximise else 'least'} {words.named(name)}"


def _given(found: Document) -> dict[str, str]:
    """Return what the study fixes about workload, interface and budget, as it is written."""
    given = {}
    for section in SECTIONS:
        fields = found.data.get(section)
        for name, written in fields.items() if isinstance(fields, dict) else ():
            if isinstance(written, str | int | float):
                given[f"{section}.{name}"] = (
                    str(written).lower() if isinstance(written, bool) else str(written)
                )
    return given


def _notes(prepared: Study, preference: Preference) -> list[str]:
    notes = list(prepared.notes)
    goals = prepared.problem.goals
    demanded = {"workload_rate_bit_per_s"} & set(prepared.problem.space.constants)
    most = [goal for goal in goals if goal.maximise]
    if (
        not demanded
        and most
        and len(goals) > 1
        and not preference.maximise
        and preference.is_quantity
    ):
        notes.insert(
            0,
            f"nothing is demanded, so {_text(preference)} alone favours the smallest design; "
            f"ask with --prefer {units.stem(most[0].name)}, --prefer knee or --rate",
        )
    axes = prepared.problem.space.axes
    notes += [
        f"{axis.name}: {axis.size} choices are too many to try each other one"
        for axis in axes
        if not axis.ordered and axis.size > MOST_CHOICES
    ]
    return notes + _unknown(prepared)


def _unknown(prepared: Study) -> list[str]:
    """Return what the study would have to set to be told from where on something pays."""
    problem = prepared.problem
    missing = problem.graph.missing
    told = []
    for name, quantity in registry.records(contract.Objective).items():
        about = quantity.threshold
        if about is not None and name in missing and about.column in problem.available:
            fields = sorted({field_path(column) for column in explain_missing(name, missing)})
            told.append(f"{words.named(name)} is unknown: it needs {' and '.join(fields)}")
    return told


def _swept(points: Sequence[Solved], sweep: Sweep, preference: Preference) -> SweepAnswer:
    picks = tuple(_first(entry, preference) for entry in points)
    first = points[0].study
    goals = [goal.name for goal in first.problem.goals]
    parts = (
        answer_tables.swept(sweep, picks, goals, _text(preference)),
        answer_text.notes(list(dict.fromkeys(n for entry in points for n in entry.study.notes))),
    )
    return SweepAnswer(
        question=first.question,
        preference=_text(preference),
        sections=parts,
        path=sweep.path,
        values=sweep.values,
        picks=picks,
    )


def _first(solved: Solved, preference: Preference) -> Pick | None:
    if not len(solved.front):
        return None
    order = preference.order(solved.study.problem, solved.front)
    return pick(solved.study.problem, solved.front[order[0]], preference.quantity)


def command(
    source: Path,
    rate: str | None,
    preferred: str | None,
    pairs: Sequence[str],
    sampled: Sampled | None,
    *,
    flips: bool | None,
    as_json: bool,
) -> None:
    """Print the answer of a study or of a run."""
    overrides = settings(pairs)
    try:
        found = answer(
            source,
            rate=rate,
            preferred=preferred,
            overrides=overrides,
            flips=flips,
            sampled=sampled,
        )
    except InfeasibleError as error:
        if as_json:
            print_json(error.facts)
        raise
    if as_json:
        print_json(found.plain())
    else:
        print(found)
