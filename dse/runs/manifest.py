"""The manifest of a run: study, versions, results, notes, and how sure its numbers are."""

from __future__ import annotations

import hashlib
import platform
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.algebra import units
from dse.contract import Column
from dse.files import inputs
from dse.files.document import Document
from dse.model import tables
from dse.model.cells import opaque
from dse.model.designs import PACED
from dse.model.evaluation import LEDGER
from dse.model.graph import argument_names
from dse.model.labels import Labels, labelled, labelled_line, labels_in
from dse.model.problem import Problem
from dse.model.space import Index
from dse.model.stage import Stage
from dse.model.tables import Table
from dse.reports.designs import described, host_notes, objective_values, open_axes
from dse.reports.front_view import FrontView, Ranges, Recommended
from dse.reports.text import in_words, listed, plural
from dse.runs.measurements import causes_of, causes_text
from dse.runs.runner import Quality, Run, SolvedStudy, inputs_of
from dse.search.exact.prove import ENOUGH
from dse.study.assumptions import MOST_ASSUMPTIONS, assumptions_of, source_of
from dse.study.demand import DEVICE, OFFERED, RATE
from dse.study.overrides import Sweep
from dse.study.scenario import field_path
from dse.study.stages import COMPUTE_ALONE
from dse.study.study import Study

FORMAT = 4
"""Format of the folder of a run."""

FEASIBLE = "feasible"
"""Column of the evaluations."""

FLOAT_POLICY = (
    "losses are compared at 40 significant bits (relative 9e-13); a part is pruned only when a "
    "bound is worse by more than 1e-9, relative"
)

GROWTH = "growth"
"""Entry with the hypervolume of a heuristic over evaluations, as a share of the last."""

_LIBRARIES = ("accel-dse", "numpy", "moocore", "pymoo", "optuna", "pandas", "pyarrow")


def manifest_of(run: Run, stored: int) -> dict[str, Any]:
    """Return the manifest of a run with `stored` evaluations, without its checksums.

    Counts, except ``designs``, are sums over all values of a sweep.
    """
    parts = [
        FrontOfPart(a.study, a.outcome.front_index, a.quality, a.outcome.exact) for a in run.answers
    ]
    unmet = [unmet_by(answer) for answer in run.answers] if run.sweep else []
    facts = {
        "format": FORMAT,
        **study_facts(run.document, [part.study for part in parts]),
        "versions": _versions(),
        "method": run.settings.method,
        **({"options": dict(run.settings.options)} if run.settings.options else {}),
        "seed": run.settings.seed,
        "evaluated": sum(answer.outcome.evaluated for answer in run.answers),
        "feasible": sum(answer.outcome.feasible for answer in run.answers),
        "failed": sum(answer.outcome.failed for answer in run.answers),
        "failure": next((a.outcome.failure for a in run.answers if a.outcome.failed), ""),
        "feasible_in_space": _feasible_in_space(run.answers),
        "interrupted": run.interrupted,
        "exact": run.ledger.exact,
        LEDGER: run.ledger.to_dict(),
        **({UNMET: unmet} if any(unmet) else {}),
        **_growth(run),
        "certificate": _certificate(run.answers),
        "wall_s": round(run.seconds, 3),
        "evaluations_stored": stored,
        **_measured(run.answers),
        "sources": _sources([part.study for part in parts]),
    }
    return facts | front_facts(run.sweep, parts, facts)


def _sources(studies: Sequence[Study]) -> list[dict[str, Any]]:
    """Return the sources of the numbers of studies, with the evidence."""
    found: dict[tuple[str, str], dict[str, None]] = {}
    for study in studies:
        first = np.zeros((1, len(study.problem.sizes)), dtype=np.int64)  # for all of a table
        for entry in assumptions_of(study, of=first)[:MOST_ASSUMPTIONS]:
            found.setdefault(source_of(study, entry), {})[entry.name] = None
    return [
        {"evidence": e, "source": text, "inputs": [*names]} for (e, text), names in found.items()
    ]


def _growth(run: Run) -> dict[str, Any]:
    """Return the hypervolume of a heuristic over evaluations, without a sweep."""
    growth = run.answers[0].outcome.growth if run.sweep is None and not run.ledger.exact else ()
    if not growth:
        return {}
    evaluations, share = zip(*growth, strict=True)
    return {GROWTH: {"evaluations": evaluations, "share": share}}


def _measured(answers: Sequence[SolvedStudy]) -> dict[str, Any]:
    """Return the account of measurements, if designs are measured."""
    columns = [one.study.problem.measured for one in answers]
    setups = [one.setup for one in columns if one is not None]
    if not setups:
        return {}
    failures = {name: each for setup in setups for name, each in setup.failures.items()}
    causes = Counter(measurement.cause for _, measurement in failures.values())
    return {
        "measured": {
            "identity": setups[0].evaluator.identity,
            "stored": 0,  # set when the run is written
            "designs": len({name for setup in setups for name in setup.seen}),
            "measured_anew": sum(setup.measured_count for setup in setups),
            "infeasible": len({n for setup in setups for n in setup.ruled_out}),
            "failed": len(failures),
            "causes": dict(causes.most_common()),
        }
    }


def _versions() -> dict[str, str]:
    """Return the versions of Python and of the installed libraries."""
    found = {"python": platform.python_version()}
    for library in _LIBRARIES:
        with suppress(PackageNotFoundError):
            found[library] = version(library)
    return found


def study_facts(document: Document, studies: Sequence[Study]) -> dict[str, Any]:
    """Return the entries of a manifest that follow from the study."""
    first = studies[0]
    return {
        "question": first.question,
        "study": document.text,
        "study_file": Path(document.file).name,
        "study_sha256": hashlib.sha256(document.text.encode()).hexdigest(),
        "overrides": dict(document.overrides),
        "inputs": inputs.copies(inputs_of(studies)),
        "objectives": {goal.name: goal.sense for goal in first.problem.goals},
        "constraints": list(first.problem.constraint_names),
        "designs": first.problem.whole_size,
    }


def front_facts(sweep: Sweep | None, parts: Parts, facts: Facts) -> dict[str, Any]:
    """Return the entries of a manifest that follow from study, front and other entries."""
    starts = np.cumsum([0, *(len(part.front) for part in parts)]).tolist()
    entries = [
        _part(part, start, sure=sweep is None) for part, start in zip(parts, starts, strict=False)
    ]
    points = entries[0]
    if sweep is not None:
        values = zip(sweep.values, entries, strict=True)
        pairs = [{"value": value} | entry for value, entry in values]
        points = {"sweep": sweep.header, "points": pairs}
    return {
        "front": starts[-1],
        "notes": list(dict.fromkeys(notes_of(parts, sweep, facts))),
        **points,
    }


def _part(part: FrontOfPart, start: int, *, sure: bool) -> dict[str, Any]:
    """Return the entries of one front, after so many rows of front.csv."""
    study, quality, reference = part.study, part.quality, np.array(part.quality.reference)
    return {
        "front": len(part.front),
        "exact": part.exact,
        "reference_point": objective_values(study.problem, reference) if len(reference) else {},
        "hypervolume": quality.hypervolume.value,
        "hypervolume_error": quality.hypervolume.error,
        "hypervolume_share_of_exact": quality.share and quality.share.value,
        "hypervolume_share_at_least": quality.at_least and quality.at_least.value,
        "hypervolume_share_error": quality.at_least and quality.at_least.error,
        "recommended": _recommended(study, part.front, start, sure=sure),
    }


def _recommended(study: Study, front: Index, start: int, *, sure: bool) -> dict[str, Any] | None:
    """Return the recommended design, with its row of front.csv, from 1, and the rule.

    To be `sure`, with the ranges of its objectives, and the missing terms of these.
    """
    if not len(front):
        return None
    problem, row = study.problem, int(study.preference.order(study.problem, front)[0])
    point, goals = front[[row]], [goal.name for goal in problem.goals]
    rule = study.preference.design_on(problem, front)
    found = {"row": start + row + 1, "design": described(problem, point)[0], "rule": rule}
    if not sure:
        return found
    return found | {
        "ranges": {n: [*ends] for n, ends in spread_of(problem, point, goals).items()},
        "omitted": {n: gaps for n, gaps in gaps_of(problem, point, goals).items() if gaps},
    }


def _feasible_in_space(answers: Sequence[SolvedStudy]) -> int | None:
    """Return the number of feasible designs in the whole spaces, or None."""
    known = [answer.outcome.feasible_in_space for answer in answers]
    return None if None in known else sum(filter(None, known))


def _certificate(answers: Sequence[SolvedStudy]) -> dict[str, Any]:
    """Return the account of the designs of all answers."""
    outcomes = [answer.outcome for answer in answers]
    parts = [outcome.certificate for outcome in outcomes]
    return {
        "way": sorted({part.way for part in parts}),
        "reason": sorted({part.reason for part in parts}),
        "unfinished": [part.reason for part in parts if not part.finished],
        "designs": sum(answer.study.problem.whole_size for answer in answers),
        "evaluated": sum(outcome.evaluated for outcome in outcomes),
        "pruned_as_dominated": sum(part.dominated for part in parts),
        "pruned_as_infeasible": sum(part.infeasible for part in parts),
        "pruned_by": dict(sum((Counter(part.log) for part in parts), Counter[str]())),
        "evaluated_as_reference": sum(outcome.reference_evaluations for outcome in outcomes),
        "floats": FLOAT_POLICY,
    }


def view_of(
    document: Document,
    sweep: Sweep | None,
    points: Sequence[tuple[Study, Index]],
    front: Table,
    evaluations: Table,
    manifest: Mapping[str, Any],
) -> FrontView:
    """Return a front and the feasible evaluations around it for pictures and reports."""
    rows = evaluations.get(FEASIBLE)
    cloud = {} if rows is None else {name: values[rows] for name, values in evaluations.items()}
    study, codes, labels = points[0][0], list[str](), dict[str, str]()
    for part, index in points:
        codes += (own := tables.design_names(part.problem, index))
        labels |= {**part.problem.devices, **labels_in(own, part.problem.labels)}
    chosen = recommended_of(manifest)
    return FrontView(
        title=study.question or Path(document.file).stem,
        objectives=tuple((goal.name, goal.sense) for goal in study.problem.goals),
        front=_for_people(front, labels),
        cloud=_for_people(cloud, labels),
        axes=tuple(tables.axis_column(axis) for _, axis in open_axes(study.problem)),
        category=tables.category(study.problem),
        limits=bool(study.problem.graph.steps),
        sweep=sweep.header if sweep else None,
        names=[labelled(name, labels) for name in codes],
        recommended=chosen and replace(chosen, design=labelled_line(chosen.design, labels)),
        labels=labels,
        codes=codes,
    )


def _for_people(table: Table, labels: Labels) -> Table:
    """Return a table with the labels of devices in place of their names."""
    if not labels or DEVICE not in table:
        return table
    shown = [labels.get(one, one) for one in table[DEVICE].tolist()]
    return table | {DEVICE: np.array(shown, dtype=object)}


def recommended_of(manifest: Mapping[str, Any]) -> Recommended | None:
    """Return the recommended design, or None with a sweep."""
    found = manifest.get("recommended")
    if not found:
        return None
    sure = {key: found.get(key, {}) for key in ("ranges", "omitted")}
    return Recommended(found["row"] - 1, found["design"], found["rule"], **sure)


PLAUSIBLE_INSTANCES = 1e4
"""The largest processors have some thousand cores."""

PLAUSIBLE: Mapping[str, float] = {"m2": 1e-2, "w": 1e4}
"""Limits by unit: a dozen of the largest dies (a reticle is 858 mm2), the power of a rack."""

FIGURES, FIGURE_MATTERS = 4, 0.25
"""Most numbers to check in a message, and the least effect of half of one."""

INSTANCES = "instances"


@dataclass(frozen=True)
class FrontOfPart:
    """The front of a study at one value of its sweep, and whether it is exact."""

    study: Study
    front: Index
    quality: Quality
    exact: bool


_UNKNOWN = {
    False: "infeasible, as the program says",
    True: "failed, and nothing is known of them",
}

Parts = Sequence[FrontOfPart]
Facts = Mapping[str, Any]
"""Entries of a manifest: the counts of a search, its first failure, and unmet constraints."""

UNMET = "unmet"
"""Entry with the constraints that no design meets, by value of a sweep."""


def notes_of(parts: Parts, sweep: Sweep | None, facts: Facts) -> Iterator[str]:
    """Yield the notes on fronts, the most general first."""
    for part in parts:
        yield from part.study.notes
        yield from host_notes(part.study.problem)
    for rule in (_opaque, _estimated, _unmeasured, _implausible, _empty):
        yield from rule(parts, sweep, facts)


def _opaque(parts: Parts, sweep: Sweep | None, facts: Facts) -> Iterator[str]:
    problem = parts[0].study.problem
    for name, reason in (opaque(problem) if problem.size > ENOUGH else {}).items():
        yield (
            f"{name} cannot be bounded ({reason}), so that nothing is pruned by it: "
            f"{plural(facts['evaluated'], 'design')} evaluated"
        )


def _estimated(parts: Parts, sweep: Sweep | None, facts: Facts) -> Iterator[str]:
    if any(part.quality.hypervolume.error for part in parts):
        goals = len(parts[0].study.problem.goals)
        yield (
            f"the hypervolume of so many designs in {goals} objectives is estimated, as the exact "
            f"one takes too much work; ± is one standard error"
        )


def _unmeasured(parts: Parts, sweep: Sweep | None, facts: Facts) -> Iterator[str]:
    for place, part in enumerate(parts):
        measured, before = part.study.problem.measured, part.study.problem.beforehand
        if measured is None or before is None:
            continue
        setup, size = measured.setup, before.most
        known = setup.ledger.known
        at = "" if sweep is None else _at(sweep, [place])
        if known < size and (setup.seen or sweep is None):
            yield (
                f"{known:,} of {size:,} designs are measured{at}; results "
                f"compare these alone, the others are unknown"
            )
        for failed, said in _UNKNOWN.items():
            causes = causes_of(setup.seen.values(), failed=failed)
            yield from (f"{said}: {line}" for line in causes_text(causes, setup.unit_names))


def _implausible(parts: Parts, sweep: Sweep | None, facts: Facts) -> Iterator[str]:
    """Yield the numbers to check for the first recommended design that is out of proportion."""
    for place, part in enumerate(parts):
        if len(part.front):
            best = part.study.preference.first(part.study.problem, part.front)[0]
            if found := implausible(part.study, best):
                yield found[0] + ("" if sweep is None else _at(sweep, [place]))
                return


def _empty(parts: Parts, sweep: Sweep | None, facts: Facts) -> Iterator[str]:
    """Yield the values of a sweep without a front, by reason."""
    if sweep is None:
        return
    empty = [place for place, part in enumerate(parts) if not len(part.front)]
    unmeasured = [place for place in empty if parts[place].study.problem.unmeasured]
    if unmeasured:
        yield f"no design is measured{_at(sweep, unmeasured)}"
    reasons: dict[str, list[int]] = {}
    for place in (place for place in empty if place not in unmeasured):
        unmet_here = facts.get(UNMET, ())[place : place + 1]
        reasons.setdefault("".join(unmet_here), []).append(place)
    none = "nothing found before the interrupt" if facts["interrupted"] else "no feasible design"
    for reason, places in reasons.items():
        yield f"{none}{_at(sweep, places)}{f'; {reason}' if reason else ''}"


def unmet_by(answer: SolvedStudy) -> str:
    """Return the fewest constraints that no evaluated design meets together, or an empty text."""
    outcome, problem = answer.outcome, answer.study.problem
    fewest = next(iter(outcome.conflicts()), ())
    if not fewest:
        return ""
    together = " together" * (len(fewest) > 1)
    among = " by a design evaluated" * (outcome.evaluated < problem.whole_size)
    least = " with the least instances that carry the rate" * (COMPUTE_ALONE in answer.study.notes)
    return f"never met{together}{among}{least}: {listed(fewest)}"


def _at(sweep: Sweep, places: Sequence[int]) -> str:
    """Return some values of a sweep."""
    shown = ", ".join(sweep.written[place] for place in places[:8])
    more = f" and {len(places) - 8} more" if len(places) > 8 else ""
    return f" at {sweep.path} = {shown}{more}"


def implausible(study: Study, design: NDArray[np.int64]) -> tuple[str, dict[str, Any]] | None:
    """Return the written numbers to check for a design (d,) beyond any chip, or None.

    As a sentence, and as facts: the quantities beyond their limit in SI, and the names of the
    numbers that decide the first of them.
    """
    problem = study.problem
    if not problem.stages:
        return None
    beyond = dict(_beyond(problem, design[np.newaxis, :]))
    if not beyond:
        return None
    sizes = [
        f"{size:,.0f} {name}" if name == INSTANCES else f"{in_words(name)} {units.show(size, name)}"
        for name, size in beyond.items()
    ]
    fields = [*_mattering(study, design, next(iter(beyond)))][:FIGURES]
    checked = listed([f"{name} ({written})" for name, written in fields]) or "all figures"
    text = f"check the units of {checked}: no chip has {listed(sizes)}"
    return text, {"beyond": beyond, "check": [name for name, _ in fields]}


def _beyond(problem: Problem, point: Index) -> Iterator[tuple[str, float]]:
    """Yield the quantities of a design (1, d) beyond their limit."""
    instances = float(sum(problem.counts(point)[0].values()))
    if instances > PLAUSIBLE_INSTANCES:
        yield INSTANCES, instances
    columns = problem.describe(point)
    reported = [entry.name for entry in problem.quantities if entry.report]
    for name in dict.fromkeys([*(goal.name for goal in problem.goals), *reported]):
        if columns[name][0] > PLAUSIBLE.get(units.suffix(name), np.inf):
            yield name, float(columns[name][0])


def _mattering(study: Study, design: NDArray[np.int64], name: str) -> Iterator[tuple[str, str]]:
    """Yield the numbers that decide a quantity of a design, as written, by decreasing effect.

    Demand and clocks decide the number of instances.
    """
    point = design[np.newaxis, :]
    known = [entry for entry in assumptions_of(study, of=point) if entry.bound is None]
    known = [entry for entry in known if entry.concerns(point)]
    if name == INSTANCES:
        demand = (RATE, OFFERED, "clock_hz")
        yield from ((one.name, one.show(one.value)) for one in known if one.quantity in demand)
        return
    today = float(study.problem.describe(point)[name][0])
    effects = []
    for entry in known:
        half = np.ceil(entry.value / 2) if entry.integer else entry.value / 2
        changed = entry.at(float(half))
        if (design < changed.sizes).all():  # counts that are searched may end before
            effect = abs(float(changed.describe(point)[name][0]) / today - 1.0)
            effects += [(effect, entry.name, entry.show(entry.value))] * (effect > FIGURE_MATTERS)
    yield from ((path, shown) for _, path, shown in sorted(effects, reverse=True))


NARROW = 1e-3
"""Least relative width of a range that is shown."""

_KINDS = {"m2": ("m2",), "w": ("w", "j"), "j": ("w", "j")}
"""Units of the terms of a sum in a unit."""


def spread_of(problem: Problem, point: Index, names: Sequence[str]) -> Ranges:
    """Return the ranges of quantities of a design, (1, d), without the narrow ones."""
    found = {}
    for name, (low, high) in spreads_of(problem, point, names).items():
        ends = float(low[0]), float(high[0])
        if np.isfinite(ends[1]) and ends[1] - ends[0] > NARROW * abs(ends[0]):
            found[name] = ends
    return found


def spreads_of(
    problem: Problem, points: Index, names: Sequence[str]
) -> dict[str, tuple[Column, Column]]:
    """Return the lowest and highest values of quantities of designs (n, d), if any is uncertain.

    All uncertain numbers of cores are at their 10th percentiles, and then at their 90th.  The rate
    stays, as a slower fleet would draw less.
    """
    if not any(stage.designs.uncertainty for stage in problem.stages):
        return {}
    ends = [
        replace(problem, stages=tuple(_moved(stage, end) for stage in problem.stages))
        for end in (0, 1)
    ]
    columns = [one.describe(points) for one in (problem, *ends)]
    found = {name: np.stack([column[name] for column in columns]) for name in names}
    return {name: (values.min(axis=0), values.max(axis=0)) for name, values in found.items()}


def _moved(stage: Stage, end: int) -> Stage:
    """Return a stage with the numbers of its designs at one end, and the same clock."""
    metrics = stage.designs.metrics
    ends = {
        name: getattr(metrics, name) * interval[:, end]
        for name, interval in stage.designs.intervals().items()
        if name not in PACED
    }
    return replace(stage, designs=replace(stage.designs, metrics=replace(metrics, **ends)))


def gaps_of(problem: Problem, point: Index, names: Sequence[str]) -> dict[str, list[str]]:
    """Return the terms of sums that are unknown or 0 for a design, (1, d), by quantity."""
    return {name: [*_gaps(problem, point, name)] for name in names}


def _gaps(problem: Problem, point: Index, name: str) -> Iterator[str]:
    """Yield the terms of a sum that are unknown or 0, in words."""
    kinds = _KINDS.get(units.suffix(name).partition("_")[0])
    if kinds is None or name not in problem.graph.quantities:
        return
    columns = problem.describe(point)
    steps = problem.graph.closure([name])
    for term in dict.fromkeys(one for step in steps for one in step.arguments):
        known = term in problem.graph.inputs and units.suffix(term).startswith(kinds)
        if known and term in columns and not columns[term].any():
            yield _words(term)
    for step in steps[-1:]:
        for term in argument_names(step.plugin)[1]:  # optional
            if term not in step.arguments and units.suffix(term).startswith(kinds):
                yield _words(term)


def _words(term: str) -> str:
    return in_words(field_path(term)) if "." in field_path(term) else in_words(term)
