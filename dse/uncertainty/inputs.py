"""What of a study is not sure: what stages, records and tables state, and what a caller does.

Each is a relative standard uncertainty of a metric of designs, or of a column that fields, records
or evaluated designs set.
"""

from __future__ import annotations

import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dse.algebra import units
from dse.contract import Column
from dse.errors import UnitError, nearest
from dse.model.problem import Problem
from dse.model.space import Axis
from dse.model.stage import Stage
from dse.study import workload_interface_budget
from dse.study.assumptions import column_path
from dse.study.cores import models
from dse.study.measured.evaluated import is_evaluated, named
from dse.study.study import Study

RATE = "workload.rate"
SHORT = {"rate": RATE}
"""Short names of fields."""
EXAMPLE = "area=10 %"


@dataclass(frozen=True)
class Uncertain:
    """Numbers of a study that are not sure.

    Attributes
    ----------
    name
        Dotted path: ``<stage>.<metric>`` or a field of the study.
    column
        The metric or the column.
    share
        Relative standard uncertainty of each design, or of each value of `axis`; of one number.
    stage
        Index of the stage whose designs have the metric; None for a field.
    axis
        Index of the axis whose values set the column; None when the study itself does.
    """

    name: str
    column: str
    share: Column
    stage: int | None = None
    axis: int | None = None

    def factors(self, draws: int, seed: int) -> Column:
        """Return what multiplies the numbers, (draws, len(share)).

        The first rows of many are those of few, whatever else is drawn.
        """
        key = zlib.crc32(f"{self.name} {self.column if self.stage is not None else ''}".encode())
        normal = np.random.default_rng([seed, key]).standard_normal((draws, len(self.share)))
        sigma = np.sqrt(np.log1p(self.share**2))
        return np.exp(sigma * normal - sigma**2 / 2)


def uncertain_of(study: Study, options: Mapping[str, float]) -> tuple[Uncertain, ...]:
    """Return what is uncertain: what stages and records state, and `options`, which come first.

    Raises
    ------
    UnitError
        When an option names nothing that the study has as a single number.
    """
    if is_evaluated(study.document):
        return _of_columns(study, options)
    stages = study.problem.stages
    stated = {
        (number, metric): share
        for number, stage in enumerate(stages)
        for metric, share in stage.designs.uncertainty.items()
    }
    fields = list(_of_records(study, {SHORT.get(path, path) for path in options}))
    for path, share in options.items():
        designs = _metrics(stages, path)
        for number, metric in designs:
            stated[number, metric] = np.full(len(stages[number].designs.names), share)
        if not designs:
            fields += _fields(study.problem, SHORT.get(path, path), share)
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
    if path in SHORT:
        return []
    first, _, rest = path.partition(".")
    name = rest if any(stage.name == first for stage in stages) else path
    named = [n for n, stage in enumerate(stages) if name == path or stage.name == first]
    return [
        (number, metric)
        for number in named
        for metric in models.STATED.get(name, ())
        if stages[number].designs.has_figures(metric)
    ]


def _fields(problem: Problem, path: str, share: float) -> list[Uncertain]:
    """Return the columns of a field that the study or its records set."""
    unit = workload_interface_budget.FIELDS.get(path)
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
    """Return the columns of designs that are evaluated already, each with figures of its own."""
    problem = study.problem
    shares = {column: share for (_, column), share in study.sureness.shares.items()}
    for path, share in options.items():
        try:
            shares[named(problem.quantities, path)] = np.full(problem.size, share)
        except UnitError as error:
            raise UnitError(f"uncertainty of {path!r}: {error.rule}", error.remedy) from error
    return tuple(Uncertain(name, name, shares[name], axis=0) for name in sorted(shares))


def _known(problem: Problem) -> list[str]:
    """Return what an uncertainty may be given for."""
    names = [*models.STATED] if problem.stages else []
    return names + [
        path
        for path, unit in workload_interface_budget.FIELDS.items()
        if not unit.integer and set(unit.columns) & problem.available
    ]


def read_shares(written: Mapping[str, str]) -> dict[str, float]:
    """Read percentages by path.

    Raises
    ------
    UnitError
        When one is no percentage.
    """
    found = {}
    for path, value in written.items():
        if not value.endswith("%"):
            rule = f"the uncertainty of {path!r} is {value!r}: it must be a percentage"
            raise UnitError(rule, f"write for instance {EXAMPLE}")
        try:
            found[path] = models.share(value)
        except UnitError as error:
            rule = f"the uncertainty of {path!r} is {value!r}: {error.rule}"
            raise UnitError(rule, error.remedy) from error
    return found
