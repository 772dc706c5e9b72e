"""Effects of assumptions on the objectives of the recommended design.

Sobol indices (Saltelli et al., 2010) through SALib, over the assumptions that change any quantity
of the design, each within a range about its nominal value, as tables and as plain data.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from dse.algebra import units
from dse.contract import Column
from dse.errors import UnitError, extra_module
from dse.model.problem import Problem
from dse.model.space import Index
from dse.reports.sections import Section
from dse.reports.text import in_words, percent
from dse.study import assumptions, core_models
from dse.study.assumptions import Assumption
from dse.study.overrides import is_evaluated, only
from dse.study.study import Study, prepare

SALIB_NAMES = {"first": "S1", "total": "ST", "confidence": "ST_conf"}
"""SALib's names of the fields of an `Effect`."""

_MOST_ROWS = 2_000_000

SMALL_EFFECT = 0.005
"""Effects below this share of the largest, on an objective, are not shown."""


@dataclass(frozen=True, kw_only=True)
class Effect:
    """Effect of one assumption on one objective.

    Attributes
    ----------
    name, quantity, value, low, high
        The assumption: its dotted path, a name whose suffix is its unit, nominal value, range.
    first, total
        The share of the objective's variance due to it without and with interactions.
    confidence
        Half of the 95 % interval of `total`.
    """

    name: str
    quantity: str
    value: float
    low: float
    high: float
    first: float
    total: float
    confidence: float


@dataclass(frozen=True, kw_only=True)
class Sensitivity:
    """Effects on every objective, the largest first.

    Attributes
    ----------
    width, samples, seed
        Settings: `width` is the half-range as a share of the nominal value.
    evaluated
        Designs evaluated.
    effects
        By objective.
    ranges
        Least and largest value of each objective over all samples.
    inactive
        Assumptions that change no objective of the design.
    """

    width: float
    samples: int
    seed: int
    evaluated: int
    effects: Mapping[str, tuple[Effect, ...]]
    ranges: Mapping[str, tuple[float, float]]
    inactive: int

    def telling(self, objective: str) -> tuple[Effect, ...]:
        """Return the effects on an objective that are not `SMALL_EFFECT` beside the largest."""
        effects = self.effects[objective]
        return tuple(effect for effect in effects if effect.total > SMALL_EFFECT * effects[0].total)

    def sections(self) -> tuple[Section, ...]:
        """Return the settings as a section, and one section for each objective."""
        line = (
            f"Each assumption is within {percent(self.width)} of its nominal value: "
            f"{self.evaluated:,} evaluations (Sobol indices, seed {self.seed}). Counts stay as "
            f"they are; {self.inactive} other assumptions change no objective of this design."
        )
        names = ("width", "samples", "seed", "evaluated", "inactive")
        facts = {name: getattr(self, name) for name in names}
        head = Section("sobol", "", (line,), facts=facts)
        return (head, *(_objective(name, self) for name in self.effects))


def sensitivity_of(
    study: Study, point: Index, *, width: float, samples: int, seed: int
) -> Sensitivity:
    """Return the effects of assumptions on the objectives of one design, (1, d), with fixed counts.

    Width, as a share of the nominal value, samples and seed are as in `dse.uncertainty`.  For
    designs that are evaluated already, the uncertain numbers of the study are varied.

    Raises
    ------
    MissingLibraryError
        SALib is not installed.
    UnitError
        The number of samples is invalid, or no assumption has an effect.
    """
    if samples < 2 or samples & samples - 1:
        rule = f"{samples} samples: a power of two from 2 on is needed"
        raise UnitError(rule, "write for instance 1024")
    problem, point, assumed = _assumed(study, point)
    moving = [entry for entry in assumed if _moves(problem, point, entry)]
    if not moving:
        raise UnitError("no assumption changes an objective of the design", "ask another study")
    values, indices = _indices(problem, point, moving, width=width, samples=samples, seed=seed)
    return Sensitivity(
        width=width,
        samples=samples,
        seed=seed,
        evaluated=len(next(iter(values.values()))),
        effects={name: _effects(moving, width, found) for name, found in indices.items()},
        ranges={name: (float(v.min()), float(v.max())) for name, v in values.items()},
        inactive=len(assumed) - len(moving),
    )


def _indices(
    problem: Problem,
    point: Index,
    moving: Sequence[Assumption],
    *,
    width: float,
    samples: int,
    seed: int,
) -> tuple[dict[str, Column], dict[str, dict[str, Column]]]:
    """Return each objective of the evaluations, and the fields of `Effect` for each assumption.

    An objective that does not vary has effects of 0.
    """
    sampler, analysis = _salib()
    size = len(moving)
    names = [str(number) for number in range(size)]  # the library takes equal ones for one
    given = {"num_vars": size, "names": names, "bounds": [[1 - width, 1 + width]] * size}
    factors = np.asarray(
        sampler.sample(given, samples, calc_second_order=False, seed=seed), dtype=np.float64
    )
    if len(factors) > _MOST_ROWS:
        raise UnitError(f"{len(factors):,} evaluations are too many", "ask for fewer samples")
    values = _values(problem, point, moving, factors)
    fields = {}
    for name, column in values.items():
        found = dict.fromkeys(SALIB_NAMES.values(), np.zeros(size))
        if np.ptp(column) > 1e-12 * np.abs(column).max():
            # SALib ignores a seed of 0, and its confidence is a resampling.
            found = analysis.analyze(given, column, calc_second_order=False, seed=seed + 1)
        fields[name] = {field: found[key] for field, key in SALIB_NAMES.items()}
    return values, fields


def _effects(
    assumed: Sequence[Assumption], width: float, fields: Mapping[str, Column]
) -> tuple[Effect, ...]:
    """Return the effects of assumptions, whose `fields` are columns, the largest first."""
    found = []
    for row, entry in enumerate(assumed):
        low, high = sorted((entry.value * (1 - width), entry.value * (1 + width)))
        own = {name: float(column[row]) for name, column in fields.items()}
        effect = Effect(
            name=entry.name, quantity=entry.quantity, value=entry.value, low=low, high=high, **own
        )
        found.append(effect)
    return tuple(sorted(found, key=lambda effect: -effect.total))


def _moves(problem: Problem, point: Index, entry: Assumption) -> bool:
    """Return whether an assumption changes an objective of the design."""
    elsewhere = entry.metric is None and not entry.concerns(point)
    if entry.bound is not None or elsewhere:
        return False
    values = _values(problem, point, [entry], np.array([[1.0], [0.99], [1.01]]))
    return any(np.ptp(column) > 0 for column in values.values())


def _values(
    problem: Problem, point: Index, assumed: Sequence[Assumption], factors: Column
) -> dict[str, Column]:
    """Return every objective of the design, (n,), for factors (n, k) on k assumptions."""
    nominal = problem.space.columns(point)
    changed = _counts(problem, point)
    stages = list(problem.stages)
    for entry, factor in zip(assumed, factors.T, strict=True):
        if entry.metric is None:
            for name in (entry.quantity, *entry.follows):
                changed[name] = changed.get(name, nominal[name]) * factor[:, np.newaxis]
            continue
        stage, row = entry.metric
        values = getattr(stages[stage].designs.metrics, entry.quantity) * np.ones((len(factors), 1))
        values[:, row] *= factor
        stages[stage] = stages[stage].with_metrics(**{entry.quantity: values})
    goals = [goal.name for goal in problem.goals]
    columns = replace(problem, stages=tuple(stages)).columns(point, goals, changed)
    found = {
        name: np.broadcast_to(columns[name], (len(factors), 1))[:, 0].astype(np.float64)
        for name in goals
    }
    for name, column in found.items():
        if not np.isfinite(column).all():
            rule = f"{name} of the design is not finite everywhere in the range"
            raise UnitError(rule, "choose a narrower width")
    return found


def _counts(problem: Problem, point: Index) -> dict[str, Column]:
    """Return columns that fix the number of instances, if the demand would choose it."""
    columns = problem.space.columns(point)
    single = (stage for stage in problem.stages if not stage.mixed)
    return {f"{stage.name}.instances": stage.fleet(columns).counts[0] for stage in single}


def _salib() -> tuple[Any, Any]:
    """Return the modules of SALib that sample, and that analyse the results of samples."""
    named = "a ranking by Sobol indices", "SALib", "uncertainty"
    return extra_module("SALib.sample.sobol", *named), extra_module("SALib.analyze.sobol", *named)


def _assumed(study: Study, point: Index) -> tuple[Problem, Index, Sequence[Assumption]]:
    """Return the assumptions of a design, and its problem, reduced to it if it is evaluated."""
    if not is_evaluated(study.document):
        return study.problem, point, assumptions.assumptions_of(study)
    unsure = {column for _, column in study.sureness.shares}
    if not unsure:
        rule = "the designs are evaluated already, and the study states no uncertainty of a value"
        remedy = "add for instance `uncertainty: {COLUMN: 5 %}` to `designs`"
        raise UnitError(
            rule, f"{remedy}, or use `dse flips` for the change that each value may have"
        )
    name = study.problem.space.axes[0].labels[int(point[0, 0])]
    alone = prepare(only(study.document, name))
    found = assumptions.assumptions_of(alone)
    moved = [entry for entry in found if entry.touched and entry.quantity in unsure]
    return alone.problem, np.zeros_like(point), moved


def read_width(width: str) -> float:
    """Read the range of an assumption to either side, as a share of its nominal value.

    Raises
    ------
    UnitError
        It is not a share.
    """
    remedy = "write for instance '10 %'"
    try:
        found = core_models.share(width)
    except UnitError as error:
        raise UnitError(f"width {width!r}: {error.rule}", remedy) from error
    if not 0 < found < 1:
        rule = f"a width of {units.show(100 * found, '')} %: it must be above 0 and below 100 %"
        raise UnitError(rule, remedy)
    return found


def _objective(name: str, found: Sensitivity) -> Section:
    """Return the effects on one objective."""
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
    headers = ("input", "nominal", "range", "first order", "total")
    rows = tuple(_row(effect) for effect in shown)
    return Section(name, title, (), headers, rows, facts=facts)


def _row(effect: Effect) -> tuple[str, ...]:
    ends = [units.show(end, effect.quantity) for end in (effect.low, effect.high)]
    nominal, within = units.show(effect.value, effect.quantity), " to ".join(ends)
    return effect.name, nominal, within, percent(effect.first), percent(effect.total)
