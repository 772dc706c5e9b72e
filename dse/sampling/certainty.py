"""Certainty of an answer: probabilities and regrets of designs, as a section."""

from __future__ import annotations

import math
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from dse.algebra import units
from dse.contract import Column
from dse.errors import UnitError, nearest
from dse.model.problem import Problem
from dse.model.space import Axis
from dse.model.stage import Stage
from dse.reports.sections import Section
from dse.reports.text import LARGE, listed, multiple, percent, plural
from dse.study import core_models, schema
from dse.study.assumptions import column_path
from dse.study.core_models import NINETY_FIVE
from dse.study.evaluated import named
from dse.study.overrides import is_evaluated
from dse.study.study import Study

RATE_FIELD = "workload.rate"
_SHORT = {"rate": RATE_FIELD}
"""Short names of fields."""
UNCERTAINTY_EXAMPLE = "area=10 %"


@dataclass(frozen=True)
class Uncertain:
    """Uncertain numbers of a study.

    Attributes
    ----------
    name
        Dotted path: ``<stage>.<metric>`` or a field of the study.
    column
        The metric or the column.
    share
        Relative standard uncertainty of each design, or of each value of `axis`, or of one number.
    stage
        Index of the stage whose designs have the metric.  None for a field.
    axis
        Index of the axis whose values set the column.  None if the study itself does.
    """

    name: str
    column: str
    share: Column
    stage: int | None = None
    axis: int | None = None

    def factors(self, draws: int, seed: int) -> Column:
        """Return the factors of the numbers, (draws, len(share)).

        The first rows are the same for more draws, whatever else is drawn.
        """
        key = zlib.crc32(f"{self.name} {self.column if self.stage is not None else ''}".encode())
        normal = np.random.default_rng([seed, key]).standard_normal((draws, len(self.share)))
        sigma = np.sqrt(np.log1p(self.share**2))
        return np.exp(sigma * normal - sigma**2 / 2)


def uncertain_of(study: Study, options: Mapping[str, float]) -> tuple[Uncertain, ...]:
    """Return the uncertain numbers of stages, records and `options`, which take precedence.

    Raises
    ------
    UnitError
        An option names nothing that the study has as a single number.
    """
    if is_evaluated(study.document):
        return _of_columns(study, options)
    stages = study.problem.stages
    stated = {
        (number, metric): share
        for number, stage in enumerate(stages)
        for metric, share in stage.designs.uncertainty.items()
    }
    fields = list(_of_records(study, {_SHORT.get(path, path) for path in options}))
    for path, share in options.items():
        designs = _metrics(stages, path)
        for number, metric in designs:
            stated[number, metric] = np.full(len(stages[number].designs.names), share)
        if not designs:
            fields += _fields(study.problem, _SHORT.get(path, path), share)
    metrics = [
        Uncertain(f"{stages[number].name}.{units.stem(metric) or metric}", metric, share, number)
        for (number, metric), share in sorted(stated.items())
    ]
    return (*metrics, *fields)


def _of_records(study: Study, given: Collection[str]) -> Iterator[Uncertain]:
    """Yield the columns that records state an uncertainty of, unless the study sets them again."""
    axes = study.problem.space.axes
    paths = [column_path(column) for _, column in study.sureness.shares]
    for (name, column), shares in study.sureness.shares.items():
        last = _setter(axes, column)
        path = column_path(column)
        if path not in given and name == ("" if last is None else axes[last].name):
            called = path if paths.count(path) == 1 else f"{path}_{units.suffix(column)}"
            yield Uncertain(called, column, shares, axis=last)


def _setter(axes: Sequence[Axis], column: str) -> int | None:
    return max((n for n, axis in enumerate(axes) if column in axis.columns), default=None)


def _metrics(stages: Sequence[Stage], path: str) -> list[tuple[int, str]]:
    """Return the metrics that a path means: of all stages, or of the one it begins with."""
    if path in _SHORT:
        return []
    first, _, rest = path.partition(".")
    name = rest if any(stage.name == first for stage in stages) else path
    named = [n for n, stage in enumerate(stages) if name == path or stage.name == first]
    return [
        (number, metric)
        for number in named
        for metric in core_models.STATED.get(name, ())
        if stages[number].designs.has_figures(metric)
    ]


def _fields(problem: Problem, path: str, share: float) -> list[Uncertain]:
    """Return the columns of a field that the study or its records set."""
    unit = schema.FIELDS.get(path)
    if unit is None:
        rule = f"uncertainty of {path!r}: no metric of a core and no field with a unit"
        raise UnitError(rule, nearest(path, _known(problem)))
    found = []
    axes = problem.space.axes
    for column in unit.columns:
        last = _setter(axes, column)
        if last is not None and axes[last].unit_name == column and axes[last].size > 1:
            rule = f"uncertainty of {path!r}: the study chooses it, so it is no assumption"
            raise UnitError(rule, f"leave it out, or set {path}")
        if last is not None:
            found.append(Uncertain(path, column, np.full(axes[last].size, share), axis=last))
        elif column in problem.space.constants:
            found.append(Uncertain(path, column, np.full(1, share)))
    if not found or unit.integer:
        rule = "is a whole number" if unit.integer else "is not set by this study"
        raise UnitError(f"uncertainty of {path!r}: it {rule}", nearest(path, _known(problem)))
    return found


def _of_columns(study: Study, options: Mapping[str, float]) -> tuple[Uncertain, ...]:
    """Return the columns of designs that are evaluated already, each with its uncertainties."""
    problem = study.problem
    shares = {column: share for (_, column), share in study.sureness.shares.items()}
    for path, share in options.items():
        try:
            shares[named(problem.quantities, path)] = np.full(problem.size, share)
        except UnitError as error:
            raise UnitError(f"uncertainty of {path!r}: {error.rule}", error.remedy) from error
    return tuple(Uncertain(name, name, shares[name], axis=0) for name in sorted(shares))


def _known(problem: Problem) -> list[str]:
    """Return the names that an uncertainty may be given for."""
    names = [*core_models.STATED] if problem.stages else []
    return names + [
        path
        for path, unit in schema.FIELDS.items()
        if not unit.integer and set(unit.columns) & problem.available
    ]


def read_shares(written: Mapping[str, str]) -> dict[str, float]:
    """Read percentages by path.

    Raises
    ------
    UnitError
        One is no percentage.
    """
    found = {}
    for path, value in written.items():
        if not value.endswith("%"):
            rule = f"the uncertainty of {path!r} is {value!r}: it must be a percentage"
            raise UnitError(rule, f"write for instance {UNCERTAINTY_EXAMPLE}")
        try:
            found[path] = core_models.share(value)
        except UnitError as error:
            rule = f"the uncertainty of {path!r} is {value!r}: {error.rule}"
            raise UnitError(rule, error.remedy) from error
    return found


KEY = "certainty"
TITLE = "How sure is it"
_MOST_ROWS = 10
_RARE = 0.01
"""Designs that are not on the nominal front are listed from this probability on."""
HOW_TO_STATE = (
    'state the uncertainty of metrics: --of "area=10 %" for all designs, '
    '--of "interface.overhead=20 %" for a field, or `uncertainty: {area: 10 %}` in a '
    "stage, or in `designs`, of the study"
)


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """One design over all samples.

    Attributes
    ----------
    design
        Its description in one line.
    point
        Its design point.
    nominal
        Whether it is on the nominal front.
    feasible, on_front, answer
        Share of the samples in which it meets every constraint, is on the front, is the answer.
    expected, worst
        Mean and largest regret over its feasible samples: the excess of the minimised quantity
        over the answer of the sample, in SI.  None if the preference is no single
        number.
    expected_share, worst_share
        The same as shares of the answer's value.
    """

    design: str
    point: tuple[int, ...]
    nominal: bool
    feasible: float
    on_front: float
    answer: float
    expected: float | None = None
    worst: float | None = None
    expected_share: float | None = None
    worst_share: float | None = None


@dataclass(frozen=True, kw_only=True)
class Certainty:
    """Certainty of a recommendation.

    Attributes
    ----------
    uncertain, samples, seed
        Uncertain numbers, number of draws, and their seed.
    answered
        Share of the samples in which some candidate meets every constraint.
    candidates
        The recommended design first, the others by the probability of being the answer.
    quantity
        The preferred quantity, for the unit of a regret.  None if it is no quantity.
    searched, checked
        Samples searched for candidates, and to check them.
    beyond, beyond_answer
        Checked samples with a design on the front, or an answer, that had been no candidate.
    """

    uncertain: tuple[Uncertain, ...]
    samples: int
    seed: int
    answered: float
    candidates: tuple[Candidate, ...]
    quantity: str | None
    searched: int
    checked: int
    beyond: int
    beyond_answer: int

    @property
    def pick(self) -> Candidate:
        """Return the recommended design."""
        return self.candidates[0]

    def sections(self) -> tuple[Section, ...]:
        """Return probabilities and regrets as sections: one."""
        if not self.uncertain:
            line = f"The study states no uncertainty, so nothing was drawn; {HOW_TO_STATE}."
            return (Section(KEY, TITLE, (line,), facts=self.to_dict()),)
        shown = _shown(self)
        regrets = self.pick.expected is not None
        doubtful = any(entry.feasible < 1.0 for entry in shown)
        headers = ("design", "on the front", "the answer", *["feasible"] * doubtful)
        headers += ("mean regret", "largest") if regrets else ()
        rows = tuple(_row(entry, doubtful=doubtful, regrets=regrets) for entry in shown)
        lines = (_drawn(self), *_sentences(self))
        remarks = (_remark(self, len(self.candidates) - len(shown)),)
        return (Section(KEY, TITLE, lines, headers, rows, remarks, self.to_dict()),)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON."""
        uncertain = [
            {
                "name": entry.name,
                "column": entry.column,
                "least": float(np.min(entry.share)),
                "most": float(np.max(entry.share)),
            }
            for entry in self.uncertain
        ]
        return asdict(self) | {"uncertain": uncertain}


def _drawn(found: Certainty) -> str:
    shares: dict[str, str] = {}
    for entry in found.uncertain:
        low, high = float(entry.share.min()), float(entry.share.max())
        span = percent(low) if low == high else f"{percent(low)} to {percent(high)}"
        shares[entry.name] = span
    names = listed([f"{name} ({span})" for name, span in shares.items()])
    return (
        f"{plural(found.samples, 'Monte Carlo sample')} (seed {found.seed}) of {names}: relative "
        "standard uncertainties, log-normal about the nominal values, drawn independently."
    )


def _sentences(found: Certainty) -> Iterable[str]:
    first = found.pick
    yield (
        f"{first.design} is the answer in {_probability(first.answer)} of the samples, and on the "
        f"front in {_probability(first.on_front)}."
    )
    if first.feasible < 1.0:
        yield f"It meets every constraint in {_probability(first.feasible)} of the samples."
    if found.answered < 1.0:
        yield f"In {_probability(1.0 - found.answered)} of the samples no candidate is feasible."
    if first.expected is None:
        yield "The preference is no single number, so there is no regret."
        return
    where = " if it is feasible" if first.feasible < 1.0 else ""
    yield (
        f"Its regret against the answer of each sample{where} is "
        f"{_regret(found, first.expected, first.expected_share)} on average and "
        f"{_regret(found, first.worst, first.worst_share)} at worst."
    )


def _remark(found: Certainty, left: int) -> str:
    error = NINETY_FIVE * 0.5 / math.sqrt(found.samples)
    checked = "each sample was searched"
    if found.checked:
        checked = (
            f"of {found.checked} samples searched after that, {found.beyond or 'none'} had a front "
            f"with another design, and {found.beyond_answer or 'none'} another answer"
        )
    rest = f"{left} more candidates are not listed. " if left else ""
    return (
        f"{rest}Candidates: {len(found.candidates)} designs, the nominal front and the fronts of "
        f"{found.searched} samples; {checked}. Probabilities are good to "
        f"{100 * error:.2g} percentage points (95 % confidence)."
    )


def _shown(found: Certainty) -> tuple[Candidate, ...]:
    """Return the designs worth a row: the nominal front, and designs likely enough to matter."""
    first, *rest = found.candidates
    likely = [
        entry for entry in rest if entry.nominal or max(entry.answer, entry.on_front) >= _RARE
    ]
    return (first, *likely[: _MOST_ROWS - 1])


def _row(entry: Candidate, *, doubtful: bool, regrets: bool) -> tuple[str, ...]:
    cells = [entry.design, *map(_probability, (entry.on_front, entry.answer))]
    cells += [_probability(entry.feasible)] if doubtful else []
    cells += map(_loss, (entry.expected_share, entry.worst_share)) if regrets else []
    return tuple(cells)


def _loss(share: float | None) -> str:
    """Return a regret as a share of the answer's value: in per cent, large ones as a multiple."""
    if share is None:
        return "none"
    return percent(share) if share < LARGE else f"{multiple(share)}x"


def _probability(share: float) -> str:
    return f"{100 * share:.1f} %" if 0 < share < 1 else percent(share)


def _regret(found: Certainty, value: float | None, share: float | None) -> str:
    if not value:
        return "nothing"
    shown = units.show(value, found.quantity) if found.quantity else f"{value:.4g}"
    return f"{shown} ({_loss(share)})"
