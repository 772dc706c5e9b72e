"""What a study says of its search, checked: limits of what is measured, options, tolerances."""

from __future__ import annotations

from dse import contract
from dse.algebra import units
from dse.errors import UnitError
from dse.plugins import registry
from dse.search.settings import option_faults
from dse.study import schema
from dse.study.reader import Reader

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


def check_search_section(written: schema.StudyFile, reader: Reader) -> None:
    """Record what a method does not know, and budgets that do not fit what is measured."""
    _check_time(written, reader)
    with reader.at(("search", "method")):
        method = registry.get(contract.Method, written.search.method)
        for name, value in written.search.options.items():
            for rule, remedy in option_faults(method, name, value):
                reader.fault(("search", "options", name), rule, remedy)


def _check_time(written: schema.StudyFile, reader: Reader) -> None:
    """Refuse a budget of time where nothing is measured."""
    if written.evaluate is None and written.search.spending.time is not None:
        rule = "it limits measuring, and nothing of this study is measured"
        remedy = "remove it; `effort: 60 s` limits a proof, `designs` any search"
        reader.fault(schema.TIME, rule, remedy)
