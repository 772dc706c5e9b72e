"""How a study is searched, what measuring may take, and which design it recommends."""

from __future__ import annotations

from dse import contract
from dse.algebra import units
from dse.errors import ExpressionError, UnitError, followed
from dse.model.preference import Preference, prefer
from dse.model.problem import Problem
from dse.plugins import registry
from dse.search.settings import (
    CONFIDENCE,
    EFFORT_S,
    MEMORY_BYTE,
    SearchSettings,
    left_of,
    option_faults,
)
from dse.study import schema
from dse.study.faults import Faults, Path
from dse.study.schema import StudyFile


def check_spending(written: schema.StudyFile, faults: Faults) -> None:
    """Refuse a budget of what is not measured by a search, and a cost that nobody pays."""
    spending = written.search.spending
    if any(isinstance(stage.core, schema.EvaluateSection) for stage in written.stages):
        _check_cores(written, faults)
    elif written.evaluate is None:
        for path, said in ((schema.TIME, spending.time), (schema.COST, spending.cost)):
            if said is not None:
                rule = "it limits measuring, and nothing of this study is measured"
                remedy = "remove it; `effort: 60 s` limits a proof, `designs` any search"
                faults.add(path, rule, remedy)
    elif spending.cost is not None and written.evaluate.cost is None:
        rule = "nothing says what it costs to measure a design"
        faults.add(
            schema.COST, rule, "add for instance `evaluate: {cost: minutes}`, of axes and outputs"
        )


def _check_cores(written: schema.StudyFile, faults: Faults) -> None:
    """Refuse what limits the measuring of cores, of which no search chooses designs."""
    rule = "nobody adds up what designs of a core cost"
    for position, stage in enumerate(written.stages):
        if isinstance(stage.core, schema.EvaluateSection) and stage.core.cost is not None:
            faults.add(("stages", position, "core", "cost"), rule, "remove it")
    spending = written.search.spending
    if spending.cost is not None:
        faults.add(schema.COST, rule, "remove it; `designs` limits a search")
    if spending.time is not None:
        rule = "designs of a core are all measured before the search, whatever that takes"
        faults.add(
            schema.TIME, rule, "remove it; `designs: [NAME]` of the stage names those to measure"
        )


PER_CENT = "write it in per cent, from 0 % to 100 %, for instance '1 %'"


def share_of_best(written: str | float) -> float:
    """Return a tolerance as a share: 0.01 for ``1 %``.

    Raises
    ------
    UnitError
        When it is no percentage, negative or more than all.
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


def stated_preference(written: StudyFile, problem: Problem, faults: Faults) -> Preference | None:
    """Return the preference that a study states, if any; what is wrong goes to `faults`."""
    if written.prefer is None and written.tolerance is None:
        return None
    found = prefer(problem)
    with faults.at(("prefer",)):
        found = prefer(problem, written.prefer)
    if written.tolerance is not None:
        with faults.at(("tolerance",)):
            found = found.within(share_of_best(written.tolerance))
    return found


def replaced(
    own: Preference, problem: Problem, written: str | None, tolerance: str | None
) -> Preference:
    """Return a study's `own` preference with what is given in its place.

    Raises
    ------
    UnitError
        What is preferred is no quantity of the study, or the tolerance no share of it.
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
"""Designs that a search measures when the study does not say."""

MOST_PAID = 1_000
"""Designs that it measures at most when the study says what time or cost it may take instead."""

MOST_MEASURED_WHOLLY = 64
"""Spaces up to this size are measured completely when the study does not say how to search."""


def check_search_section(written: schema.StudyFile, faults: Faults) -> None:
    """Record what a method does not know, and budgets that do not fit what is measured."""
    check_spending(written, faults)
    _check_until(written, faults)
    with faults.at(("search", "method")):
        method = registry.get(contract.Method, written.search.method)
        for name, value in written.search.options.items():
            for rule, remedy in option_faults(method, name, value):
                faults.add(("search", "options", name), rule, remedy)


MOST_GOALS = 3
"""Objectives of a front of which it is estimated what it lacks: volumes of more take too long."""


def _check_until(written: schema.StudyFile, faults: Faults) -> None:
    """Refuse an end of the search that nobody can tell, or that is no share."""
    until = written.search.until
    if until is None:
        return
    path: Path = ("search", "until")
    if until.missing is None:
        faults.add(path, "it does not say how much may be missing", "add `missing: 2 %`")
    for name in ("missing", "confidence"):
        given = getattr(until, name)
        if given is not None and not 0 < given.value < 1:
            rule = "it must be more than 0 % and less than 100 %"
            faults.add((*path, name), rule, "write for instance 2 % or 90 %")
    search, known = written.search, contract.Method
    method = search.method if "method" in search.model_fields_set else ""
    able = [name for name in registry.names(known) if registry.get(known, name).estimates]
    if written.evaluate is None:
        rule = "only a search that measures designs says what is missing"
        faults.add(path, rule, "remove it, or measure with `evaluate`")
    elif method and method not in able:
        rule = f"{method} cannot say what is missing"
        faults.add(path, rule, f"add `method: {' or '.join(able)}`, or remove it")
    if len(written.objectives) > MOST_GOALS:
        rule = f"what is missing is estimated for up to {MOST_GOALS} objectives"
        faults.add(path, rule, "remove it, or objectives")


def _measured_settings(search: schema.SearchSection, size: int) -> tuple[str, int | None]:
    """Return method and budget of a search whose designs are measured."""
    known = registry.names(contract.Method)
    spending = search.spending
    budget, pays = spending.designs, spending.time is not None or spending.cost is not None
    pays = pays or search.until is not None
    all_of_them = not pays and size <= min(MOST_MEASURED_WHOLLY, budget or MOST_MEASURED_WHOLLY)
    sampling = "gaussian" if "gaussian" in known else "tpe"
    default = "exact" if all_of_them else sampling
    method = search.method if "method" in search.model_fields_set else default
    every = not pays and method in known and registry.get(contract.Method, method).proves
    return method, budget or (None if every else MOST_PAID if pays else MEASURED_BUDGET)


def settings_of(written: schema.StudyFile, problem: Problem) -> SearchSettings:
    """Return how a problem is searched: as written, the rest by what kind of problem it is."""
    search = written.search
    method, budget, spending = search.method, search.spending.designs, search.spending
    cost, until = None, search.until
    if problem.measured is not None:
        from dse.study.evaluate import most_cost  # few studies measure

        method, budget = _measured_settings(search, left_of(problem))
        cost = most_cost(spending, problem.measured)
    return SearchSettings(
        effort_s=EFFORT_S if search.effort is None else search.effort.value,
        memory_byte=MEMORY_BYTE if search.memory is None else search.memory.value,
        method=method,
        budget=budget,
        assumed=budget != spending.designs,
        time_s=None if spending.time is None else spending.time.value,
        cost=cost,
        missing=None if until is None or until.missing is None else until.missing.value,
        confidence=CONFIDENCE
        if until is None or until.confidence is None
        else until.confidence.value,
        seed=search.seed,
        population=search.population,
        compiled=search.compiled,
        warm_start=search.warm_start,
        options=search.options,
    )
