"""Search section of a study, checked, and the design that the study recommends."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path

from dse import contract
from dse.algebra import units
from dse.errors import ArgumentError, ExpressionError, UnitError, followed
from dse.model.measured import Spending
from dse.model.preference import Preference, prefer
from dse.model.problem import Problem
from dse.plugins import registry
from dse.search.settings import EFFORT_S, MEMORY_BYTE, SearchSettings, left_of, option_faults
from dse.study import schema
from dse.study.reader import Reader
from dse.study.schema import StudyFile

PER_CENT = "write it in per cent, from 0 % to 100 %, for instance '1 %'"


def share_of_best(written: str | float) -> float:
    """Return a tolerance as a share: 0.01 for ``1 %``.

    Raises
    ------
    UnitError
        It is no percentage, negative or more than all.
    """
    text = str(written).strip()
    if not text.endswith("%"):
        raise UnitError("a tolerance is a share of the best value", PER_CENT)
    try:
        share = units.parse(text, "share")
    except UnitError as error:
        raise UnitError(error.rule, PER_CENT) from error
    if not 0 <= share <= 1:
        raise UnitError("a tolerance is neither negative nor more than the best value", PER_CENT)
    return share


def check_search_section(written: schema.StudyFile, reader: Reader) -> None:
    """Report options that a method lacks, and budgets that do not fit measurements."""
    _check_time(written, reader)
    with reader.at(("search", "method")):
        method = registry.get(contract.Method, written.search.method)
        for name, value in written.search.options.items():
            for rule, remedy in option_faults(method, name, value):
                reader.fault(("search", "options", name), rule, remedy)


def _check_time(written: schema.StudyFile, reader: Reader) -> None:
    """Report a budget of time in a study without measurements."""
    if written.evaluate is None and written.search.spending.time is not None:
        rule = "it limits measuring, and nothing of this study is measured"
        remedy = "remove it; `effort: 60 s` limits a proof, `designs` any search"
        reader.fault(schema.TIME, rule, remedy)


def stated_preference(written: StudyFile, problem: Problem, reader: Reader) -> Preference | None:
    """Return the preference that a study states, if any.  Errors go to `reader`."""
    if written.prefer is None and written.tolerance is None:
        return None
    found = prefer(problem)
    with reader.at(("prefer",)):
        found = prefer(problem, written.prefer)
    if written.tolerance is not None:
        with reader.at(("tolerance",)):
            found = found.within(share_of_best(written.tolerance))
    return found


def replaced_preference(
    own: Preference, problem: Problem, written: str | None, tolerance: str | None
) -> Preference:
    """Return a study's `own` preference with the given parts replaced.

    Raises
    ------
    UnitError
        The preference is no quantity of the study, or the tolerance is no share of it.
    """
    try:
        found = own if written is None else prefer(problem, written)
    except ExpressionError as error:
        rule = f"prefer {written!r}: {error.rule}"
        remedy = followed(error.remedy, "or write power, area, knee or an objective")
        raise ExpressionError(rule, remedy) from error
    try:
        return found.within(own.tolerance if tolerance is None else share_of_best(tolerance))
    except UnitError as error:
        shown = own.tolerance_text if tolerance is None else tolerance
        raise UnitError(f"tolerance {shown!r}: {error.rule}", error.remedy) from error


MEASURED_BUDGET = 100
"""Number of designs that a search measures by default."""

MOST_TIMED = 1_000
"""Most designs that a search measures by default if the study limits its time."""

MOST_MEASURED_WHOLLY = 64
"""Size of a space up to which all designs are measured by default."""


def _measured_settings(search: schema.SearchSection, size: int) -> tuple[str, int | None]:
    """Return method and budget of a search whose designs are measured."""
    known = registry.names(contract.Method)
    spending = search.spending
    budget, timed = spending.designs, spending.time is not None
    all_of_them = not timed and size <= min(MOST_MEASURED_WHOLLY, budget or MOST_MEASURED_WHOLLY)
    sampling = "gaussian" if "gaussian" in known else "tpe"
    default = "exact" if all_of_them else sampling
    method = search.method if "method" in search.model_fields_set else default
    every = not timed and method in known and registry.get(contract.Method, method).proves
    return method, budget or (None if every else MOST_TIMED if timed else MEASURED_BUDGET)


def settings_of(written: schema.StudyFile, problem: Problem) -> SearchSettings:
    """Return the search settings of a problem: as written, the rest by the kind of problem."""
    search, spending = written.search, written.search.spending
    method, budget = search.method, spending.designs
    if problem.measured is not None:
        method, budget = _measured_settings(search, left_of(problem))
    return SearchSettings(
        effort_s=search.effort.value if search.effort else EFFORT_S,
        memory_byte=search.memory.value if search.memory else MEMORY_BYTE,
        method=method,
        budget=budget,
        assumed=budget != spending.designs,
        time_s=spending.time.value if spending.time else None,
        seed=search.seed,
        population=search.population,
        options=search.options,
    )


@dataclass(frozen=True, kw_only=True)
class Options:
    """Arguments of a call that replace the search section of its study, or concern measurements.

    Designs are measured only with `measures`, by `workers` at once or by the cluster of the
    scheduler `dask`, in `folder`.  Earlier processes of this run have measured for `spent_s`.
    `resume` continues with the measurements in the folder.  Values of the runs in `reuse` are used
    if they are valid.
    """

    method: str | None = None
    seed: int | None = None
    budget: int | None = None
    effort_s: float | None = None
    memory_byte: float | None = None
    workers: int | None = None
    dask: str | None = None
    folder: Path | None = None
    measures: bool = False
    spent_s: float = 0.0
    resume: bool = False
    reuse: tuple[Path, ...] = ()

    def __post_init__(self) -> None:
        """Raise an error for options that exclude each other."""
        if self.workers is not None and self.dask is not None:
            raise ArgumentError(
                "workers and dask: a Dask cluster has workers of its own; give --workers to "
                "measure on this machine or --dask to measure on the cluster (`workers` or `dask` "
                "in Python), not both"
            )

    def apply(self, settings: SearchSettings) -> SearchSettings:
        """Return `settings` with the arguments that are given."""
        names = ("method", "seed", "budget", "effort_s", "memory_byte")
        own = {name: getattr(self, name) for name in names}
        given = {name: value for name, value in own.items() if value is not None}
        if self.method not in (None, settings.method):
            given["options"] = {}  # options of the study belong to its method
        method = self.method or settings.method
        if settings.assumed and registry.get(contract.Method, method).proves:
            given.setdefault("budget", None)
        return replace(settings, **given)

    def spending(self, settings: SearchSettings) -> Spending:
        """Return the limit of measuring time of a run, and the time used so far."""
        time_s = math.inf if settings.time_s is None else settings.time_s
        return Spending(time_s=time_s, spent_s=self.spent_s)
