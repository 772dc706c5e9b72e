"""How a study is searched: its section `search`, and what it leaves out."""

from __future__ import annotations

from dse import contract
from dse.model.problem import Problem
from dse.plugins import registry
from dse.search.settings import EFFORT_S, MEMORY_BYTE, SearchSettings, option_faults
from dse.study import schema
from dse.study.faults import Faults
from dse.study.spending import check_spending, most_cost

MEASURED_BUDGET = 100
"""Designs that a search measures when the study does not say."""

MOST_PAID = 1_000
"""Designs that it measures at most when the study says what time or cost it may take instead."""

MOST_MEASURED_WHOLLY = 64
"""Spaces up to this size are measured completely when the study does not say how to search."""


def check_search_section(written: schema.StudyFile, faults: Faults) -> None:
    """Record what a method does not know, and budgets that do not fit what is measured."""
    check_spending(written, faults)
    with faults.at(("search", "method")):
        method = registry.get(contract.Method, written.search.method)
        for name, value in written.search.options.items():
            for rule, remedy in option_faults(method, name, value):
                faults.add(("search", "options", name), rule, remedy)


def _measured_settings(search: schema.SearchSection, size: int) -> tuple[str, int | None]:
    """Return method and budget of a search whose designs are measured."""
    known = registry.names(contract.Method)
    spending = search.spending
    budget, pays = spending.designs, spending.time is not None or spending.cost is not None
    all_of_them = not pays and size <= min(MOST_MEASURED_WHOLLY, budget or MOST_MEASURED_WHOLLY)
    sampling = "gaussian" if "gaussian" in known else "tpe"
    default = "exact" if all_of_them else sampling
    method = search.method if "method" in search.model_fields_set else default
    return method, budget or (None if all_of_them else MOST_PAID if pays else MEASURED_BUDGET)


def settings_of(written: schema.StudyFile, problem: Problem) -> SearchSettings:
    """Return how a problem is searched: as written, the rest by what kind of problem it is."""
    search = written.search
    method, budget, spending = search.method, search.spending.designs, search.spending
    if problem.measured is not None:
        method, budget = _measured_settings(search, problem.size)
    return SearchSettings(
        effort_s=EFFORT_S if search.effort is None else search.effort.value,
        memory_byte=MEMORY_BYTE if search.memory is None else search.memory.value,
        method=method,
        budget=budget,
        time_s=None if spending.time is None else spending.time.value,
        cost=most_cost(spending, problem.measured),
        seed=search.seed,
        population=search.population,
        compiled=search.compiled,
        warm_start=search.warm_start,
        options=search.options,
    )
