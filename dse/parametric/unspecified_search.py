"""Whether what a study does not specify decides the answer, by figures of the catalogue."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from dse import contract, search
from dse.algebra import units
from dse.errors import FOREIGN, TooLargeError
from dse.model.preference import Preference
from dse.model.problem import Problem
from dse.model.space import Index, constant
from dse.parametric.flips import NOTHING_FITS, not_checked
from dse.parametric.tracked_answer import AnswerDesigns, TrackedAnswer, answer_among
from dse.plugins import registry
from dse.reports.designs import parts
from dse.reports.sections import Section
from dse.reports.text import listed, plural, unit_suffix
from dse.search.exact.work import limited
from dse.search.settings import Budget
from dse.study.assumptions import Assumption
from dse.study.field_kinds import neutral
from dse.study.scenario import interface_columns
from dse.study.study import Study
from dse.study.workload_interface_budget import FIELDS

LEAKING = "share"
"""The quantity of how much of a core's power leaks."""

HOST_CORES, HOST_POWER = "host_cores", "host_power"
"""The power of a busy core is that of the host over its cores, so that neither counts alone."""


@dataclass(frozen=True)
class UnspecifiedFigure:
    """A figure that an interface or a table of cores omits.

    Attributes
    ----------
    name
        The field: ``interface.link``, ``<record>.link`` of a record on an axis; of cores
        ``<stage>.leakage_power``.
    words
        What stands for it.
    quantity
        A name whose suffix is the unit of its values.
    typical
        The middle, the least and the largest value of the catalogue, in SI.
    at
        Returns the problem with another value.
    """

    name: str
    words: str
    quantity: str
    typical: tuple[float, ...]
    at: Callable[[float], Problem]

    def show(self, value: float) -> str:
        """Return a value with its unit."""
        if self.quantity == LEAKING:
            return f"{100 * value:g} % of power"
        return units.show(value, self.quantity)


def unspecified_figures(study: Study) -> Iterator[UnspecifiedFigure]:
    """Yield the figures that a study omits, where the catalogue has others."""
    for (axis, row), fields in study.sureness.unspecified.items():
        yield from _of_interface(study.problem, axis, row, fields)
    shares = leakage_shares() if study.sureness.unleaking else ()
    for stage, (words, total) in study.sureness.unleaking.items():
        at = partial(_leaking, study.problem, stage, total)
        yield UnspecifiedFigure(f"{stage}.leakage_power", words, LEAKING, shares, at)


def _of_interface(
    problem: Problem, axis: str, row: int, fields: Mapping[str, str]
) -> Iterator[UnspecifiedFigure]:
    """Yield what an interface omits: the only one, or that at a position of an axis."""
    axes = problem.space.axes
    place = next((number for number, one in enumerate(axes) if one.name == axis), None)
    section = "interface" if place is None else axes[place].labels[row]
    for field, words in fields.items():
        column, typical = catalogue_values(field)
        known = problem
        if field == HOST_POWER and HOST_CORES in fields:
            cores, counts = catalogue_values(HOST_CORES)
            known = _with_column(problem, place, row, cores, counts[0]) if counts else problem
        setters = problem.space.constants if place is None else axes[place].columns
        others = tuple(value for value in typical if value != setters[column][row])
        if others:
            at = partial(_with_column, known, place, row, column)
            yield UnspecifiedFigure(f"{section}.{field}", words, column, others, at)


def _with_column(
    problem: Problem, place: int | None, row: int, column: str, value: float
) -> Problem:
    """Return the problem with a column at a value, of one record where an axis sets it."""
    if place is not None:
        return Assumption("", column, value, False, problem, (place, row)).at(value)
    constants = {**problem.space.constants, column: constant(value)}
    return replace(problem, space=replace(problem.space, constants=constants))


def _leaking(problem: Problem, name: str, total: bool, share: float) -> Problem:
    """Return the problem with a share of the power of each design of a stage leaking.

    It is part of the stated power if that is the total, and comes on top of it otherwise.
    """
    stages = list(problem.stages)
    place = next(number for number, stage in enumerate(stages) if stage.name == name)
    stated = stages[place].designs.metrics.dynamic_power_w
    power = stated if total else stated / (1 - share)
    stages[place] = stages[place].with_metrics(
        dynamic_power_w=(1 - share) * power, leakage_power_w=share * power
    )
    return replace(problem, stages=tuple(stages))


def leakage_shares() -> tuple[float, ...]:
    """Return which share of the power of a core leaks: the middle, the least and the largest.

    Of the designs in the tables of the catalogue's cores, in two digits.
    """
    shares: list[float] = []
    for core in registry.records(contract.Core).values():
        for model in core.models.values():
            options = {one.name: one.default for one in model.parameters}
            if not model.designs or None in options.values():
                continue
            with suppress(*FOREIGN):  # whatever a foreign function raises; others remain
                found = model.function(**{name: np.array([v]) for name, v in options.items()})
                power = found.dynamic_power_w + found.leakage_power_w
                shares += (found.leakage_power_w / power).tolist()
    return _ends([float(f"{share:.2g}") for share in shares if 0 < share < 1])


def catalogue_values(field: str) -> tuple[str, tuple[float, ...]]:
    """Return what a field of an interface sets, and its middle, least and largest values.

    Those of the catalogue's interfaces, as they are shown; cycles of a host as times.
    """
    unit = FIELDS.get(f"interface.{field}")
    if unit is None:
        raise ValueError(f"interface.{field} is a choice, no figure")
    plain = neutral(unit)
    found: dict[str, list[float]] = {}
    for record in registry.records(contract.Interface).values():
        columns = interface_columns(record)
        for name in unit.columns:
            if columns[name] != plain[name] and math.isfinite(columns[name]):
                timed, value = _in_seconds(name, columns[name], record.host_clock_hz)
                found.setdefault(timed, []).append(units.parse(units.show(value, timed), timed))
    column = max(found, key=lambda name: len(found[name]), default=unit.columns[0])
    return column, _ends(found.get(column, []))


def _ends(values: Sequence[float]) -> tuple[float, ...]:
    """Return the middle, the least and the largest value, each once."""
    ends = (statistics.median_low(values), min(values), max(values)) if values else ()
    return tuple(dict.fromkeys(ends))


def _in_seconds(column: str, value: float, clock_hz: float | None) -> tuple[str, float]:
    """Return a column and its value with seconds in place of cycles of a host."""
    if "_cycle" not in column or clock_hz is None:
        return column, value
    if column.endswith("_per_cycle"):
        return column.replace("_per_cycle", "_per_s"), value * clock_hz
    return column.replace("_cycles", "_s"), value / clock_hz


HEADERS = ("unspecified", "assumed", "tried", "answer then")
UNCHANGED = "the same"


@dataclass(frozen=True)
class Probe:
    """An unspecified figure, the values tried, and the answer at the last of them.

    `becomes` is empty where no value changes the answer.
    """

    figure: UnspecifiedFigure
    tried: tuple[float, ...]
    becomes: tuple[str, ...] = ()

    @property
    def row(self) -> tuple[str, ...]:
        """The probe as a row of `HEADERS`; (!) marks what decides."""
        name = f"{self.figure.name} (!)" if self.becomes else self.figure.name
        shown = ", ".join(self.figure.show(value) for value in self.tried)
        return name, self.figure.words, shown, ", ".join(self.becomes) or UNCHANGED

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON."""
        return {
            "field": self.figure.name,
            "assumed": self.figure.words,
            f"tried{unit_suffix(self.figure.quantity)}": list(self.tried),
            "decides": bool(self.becomes),
            "becomes": ", ".join(self.becomes) or None,
        }


def unspecified_section(
    study: Study,
    front: Index,
    preference: Preference,
    *,
    exact: bool,
    budget: Budget | None = None,
) -> Section | None:
    """Return whether what a study does not specify decides the answer, None where nothing is.

    `exact` says whether the `front`, (n, d), is proven; only then searches can be compared.  It
    stops when the time is over.
    """
    figures = tuple(unspecified_figures(study)) if exact else ()
    if not figures:
        return None
    budget = budget or Budget()
    probes = tuple(_probes(study, figures, front, preference, budget))
    unchecked = [figure.name for figure in figures[len(probes) :]]
    line = (
        "Each was set alone to the middle figure of the catalogue, then to the least and the "
        "largest, until another design is the answer. (!) marks what decides."
    )
    return Section(
        "unspecified",
        "Unspecified inputs",
        (line,),
        HEADERS,
        tuple(probe.row for probe in probes),
        (not_checked(unchecked, budget.seconds),) if unchecked else (),
        facts=[probe.to_dict() for probe in probes],
        brief=_brief(probes, unchecked),
    )


def _brief(probes: Sequence[Probe], unchecked: Sequence[str]) -> tuple[str, ...]:
    """Return which unspecified inputs decide, and how many were not examined."""
    deciding = [f"{probe.figure.name} ({probe.figure.words})" for probe in probes if probe.becomes]
    lines = [f"Not specified, but decisive: {listed(deciding)}."] * bool(deciding)
    if unchecked:
        lines.append(f"Not specified, and not examined in time: {plural(len(unchecked), 'input')}.")
    return tuple(lines)


def _probes(
    study: Study,
    figures: Sequence[UnspecifiedFigure],
    front: Index,
    preference: Preference,
    budget: Budget,
) -> Iterator[Probe]:
    """Yield what each figure does, as far as there is time."""
    tracked = TrackedAnswer(preference)
    answer = answer_among(study.problem, front, tracked)
    for figure in figures:
        try:
            with limited(seconds=budget.left_s, byte=budget.byte) as work:
                probe = _probe(figure, tracked, answer)
        except TooLargeError:
            if not work.ended:
                raise
            return
        yield probe


def _probe(figure: UnspecifiedFigure, tracked: TrackedAnswer, answer: AnswerDesigns) -> Probe:
    settings = search.SearchSettings(method="exact")
    for number, value in enumerate(figure.typical, 1):
        problem = figure.at(value)
        found = search.run_search(problem, settings).front_index
        new = answer_among(problem, found, tracked)
        if new.keys != answer.keys:
            becomes = parts(problem, new.rows)[0] if len(new.rows) else (NOTHING_FITS,)
            return Probe(figure, figure.typical[:number], becomes)
    return Probe(figure, figure.typical)
