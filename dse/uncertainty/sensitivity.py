"""The sensitivity of a recommended design: a table for each objective, the same as plain data."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np

from dse.algebra import units
from dse.errors import UnitError
from dse.model.space import Index
from dse.reports.designs import described
from dse.reports.sections import Readable, Section
from dse.reports.text import in_words, percent
from dse.runs.solved import KnownFronts
from dse.study import assumptions
from dse.study.cores import models
from dse.study.measured import evaluated
from dse.study.measured.evaluated import is_evaluated
from dse.study.study import Study, prepare
from dse.uncertainty.effects import Effect, Sensitivity, find_sensitivity


@dataclass(frozen=True, repr=False, kw_only=True)
class SensitivityReport(Readable):
    """The sensitivity of a study's recommended design; as text what `dse sensitivity` prints."""

    design: str
    found: Sensitivity


def sensitivity_of(
    known: KnownFronts,
    *,
    width: str,
    samples: int,
    seed: int,
    prefer: str | None,
    tolerance: str | None,
) -> SensitivityReport:
    """Return the sensitivity of the recommended design of a study, or of a finished run.

    `known` is the front of the study; the other parameters are those of `dse.sensitivity`.
    """
    share = _share(width)
    if known.sweep is not None:
        raise known.sweep.refused("a sensitivity is of one design")
    study, front = known.points[0].study, known.points[0].front
    preference = study.preferring(prefer, tolerance)
    point = preference.first(study.problem, front)
    design = described(study.problem, point)[0]
    if is_evaluated(study.document):
        study, point = _alone(study, point)
    found = find_sensitivity(
        study.problem,
        point,
        _assumed(study),
        width=share,
        samples=samples,
        seed=seed,
    )
    line = (
        f"{design}, {preference.design}, with each assumption within {percent(share)} of its "
        "nominal value: "
        f"{found.evaluated:,} evaluations (Sobol indices, seed {seed}). Counts stay as they are; "
        f"{found.inactive} other assumptions change no objective of this design."
    )
    head = {key: value for key, value in asdict(found).items() if key not in ("effects", "ranges")}
    parts = [Section("sensitivity", "", (line,), facts={"design": design} | head)]
    parts += [_objective(name, found) for name in found.effects]
    parts.append(Section("notes", facts=[]))
    return SensitivityReport(
        question=study.question,
        preference=preference.text,
        sections=tuple(parts),
        design=design,
        found=found,
    )


def _alone(study: Study, point: Index) -> tuple[Study, Index]:
    """Return a study over one of its evaluated designs, whose figures alone are assumptions."""
    if not study.sureness.shares:
        rule = "the designs are evaluated already, and the study says of no figure how sure it is"
        remedy = "add for instance `uncertainty: {COLUMN: 5 %}` to `designs`"
        raise UnitError(rule, f"{remedy}, or ask `dse flips` which figure may change by how much")
    name = study.problem.space.axes[0].labels[int(point[0, 0])]
    return prepare(evaluated.only(study.document, name)), np.zeros_like(point)


def _assumed(study: Study) -> tuple[assumptions.Assumption, ...]:
    """Return what a study assumes; of evaluated designs what it says to be unsure."""
    found = assumptions.assumptions_of(study)
    if not is_evaluated(study.document):
        return found
    unsure = {column for _, column in study.sureness.shares}
    return tuple(entry for entry in found if entry.touched and entry.quantity in unsure)


def _share(width: str) -> float:
    try:
        return models.share(width)
    except UnitError as error:
        raise UnitError(f"width {width!r}: {error.rule}", "write for instance '10 %'") from error


def _objective(name: str, found: Sensitivity) -> Section:
    effects = found.effects[name]
    low, high = (units.show(end, name) for end in found.ranges[name])
    title = f"{in_words(name).capitalize()}, {low} to {high}"
    facts = {
        "least": found.ranges[name][0],
        "most": found.ranges[name][1],
        "effects": [asdict(effect) for effect in effects],
    }
    shown = found.telling(name)
    if not shown:
        return Section(
            name, f"{in_words(name).capitalize()}, {low}", ("Nothing moves it.",), facts=facts
        )
    headers = ("assumption", "nominal", "range", "first order", "total")
    rows = tuple(_row(effect) for effect in shown)
    return Section(name, title, (), headers, rows, facts=facts)


def _row(effect: Effect) -> tuple[str, ...]:
    ends = [units.show(end, effect.quantity) for end in (effect.low, effect.high)]
    nominal, within = units.show(effect.value, effect.quantity), " to ".join(ends)
    return effect.name, nominal, within, percent(effect.first), percent(effect.total)
