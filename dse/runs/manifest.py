"""The manifest of a run: study, versions, results."""

from __future__ import annotations

import hashlib
import platform
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from dse.files import inputs
from dse.files.document import Document
from dse.model import tables
from dse.model.evaluation import LEDGER
from dse.model.labels import Labels, labelled, labelled_line, labels_in
from dse.model.space import Index
from dse.model.tables import Table
from dse.reports.designs import described, objective_values, open_axes
from dse.reports.front_view import FrontView, Recommended
from dse.runs.notes import UNMET, Facts, FrontOfPart, Parts, notes_of, unmet_by
from dse.runs.ranges import gaps_of, spread_of
from dse.runs.record import FORMAT
from dse.runs.solved import Run, SolvedStudy, inputs_of
from dse.study.assumptions import MOST_ASSUMPTIONS, assumptions_of, source_of
from dse.study.demand import DEVICE
from dse.study.overrides import Sweep
from dse.study.study import Study

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
        "versions": {"python": platform.python_version()}
        | {name: found for name in _LIBRARIES if (found := _version(name))},
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


def _version(library: str) -> str:
    """Return the version of a library, or an empty text if it is not installed."""
    try:
        return version(library)
    except PackageNotFoundError:
        return ""


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
    entries = [_part(part, start) for part, start in zip(parts, starts, strict=False)]
    if sweep is None:
        points = entries[0]
        if chosen := points["recommended"]:
            chosen |= _sureness(parts[0].study, parts[0].front, chosen["row"])
    else:
        values = zip(sweep.values, entries, strict=True)
        points = {
            "sweep": sweep.header,
            "points": [{"value": value} | entry for value, entry in values],
        }
    return {
        "front": starts[-1],
        "notes": list(dict.fromkeys(notes_of(parts, sweep, facts))),
        **points,
    }


def _part(part: FrontOfPart, start: int) -> dict[str, Any]:
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
        "recommended": _recommended(study, part.front, start),
    }


def _recommended(study: Study, front: Index, start: int) -> dict[str, Any] | None:
    """Return the recommended design, with its row of front.csv, from 1, and the rule."""
    if not len(front):
        return None
    row = int(study.preference.order(study.problem, front)[0])
    rule = study.preference.design_on(study.problem, front)
    design = described(study.problem, front[[row]])[0]
    return {"row": start + row + 1, "design": design, "rule": rule}


def _sureness(study: Study, front: Index, row: int) -> dict[str, Any]:
    """Return the ranges of the objectives of a design, and their missing terms."""
    point, goals = front[[row - 1]], [goal.name for goal in study.problem.goals]
    return {
        "ranges": {n: [*ends] for n, ends in spread_of(study.problem, point, goals).items()},
        "omitted": {n: gaps for n, gaps in gaps_of(study.problem, point, goals).items() if gaps},
    }


def _feasible_in_space(answers: Sequence[SolvedStudy]) -> int | None:
    """Return the number of feasible designs in the whole spaces, or None."""
    known = [answer.outcome.feasible_in_space for answer in answers]
    return sum(count for count in known if count is not None) if None not in known else None


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
    cloud: Table,
    manifest: Mapping[str, Any],
) -> FrontView:
    """Return a front and the cloud around it for pictures and reports."""
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
    found = dict(table)
    for name in {*table} & {DEVICE} if labels else ():
        found[name] = np.array([labels.get(one, one) for one in table[name].tolist()], dtype=object)
    return found


def recommended_of(manifest: Mapping[str, Any]) -> Recommended | None:
    """Return the recommended design, or None with a sweep."""
    found = manifest.get("recommended")
    if not found:
        return None
    sure = {key: found.get(key, {}) for key in ("ranges", "omitted")}
    return Recommended(found["row"] - 1, found["design"], found["rule"], **sure)
