"""Which design a study recommends: as the study says, or as a caller says in place of it."""

from __future__ import annotations

from dse.algebra import units
from dse.errors import ExpressionError, UnitError, followed
from dse.model.preference import Preference, prefer
from dse.model.problem import Problem
from dse.study.faults import Faults
from dse.study.schema import StudyFile

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
