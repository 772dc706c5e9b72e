"""What measuring may take, as a study writes it: time, and what designs cost."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from dse.algebra import units
from dse.algebra.durations import duration
from dse.algebra.expression import parse_expression
from dse.errors import UnitError
from dse.model.measured import MeasuredColumns
from dse.model.space import Axis
from dse.model.spending import Cost
from dse.search.settings import SearchSettings
from dse.study import schema
from dse.study.faults import Faults, Path
from dse.study.sections.search import SpendingSection

TIME: Path = ("search", "budget", "time")
COST: Path = ("search", "budget", "cost")


def check_spending(written: schema.StudyFile, faults: Faults) -> None:
    """Refuse a budget of what is not measured by a search, and a cost that nobody pays."""
    spending = written.search.spending
    if any(isinstance(stage.core, schema.EvaluateSection) for stage in written.stages):
        _check_cores(written, faults)
    elif written.evaluate is None:
        for path, said in ((TIME, spending.time), (COST, spending.cost)):
            if said is not None:
                rule = "it limits measuring, and nothing of this study is measured"
                remedy = "remove it; `effort: 60 s` limits a proof, `designs` any search"
                faults.add(path, rule, remedy)
    elif spending.cost is not None and written.evaluate.cost is None:
        rule = "nothing says what it costs to measure a design"
        faults.add(COST, rule, "add for instance `evaluate: {cost: minutes}`, of axes and outputs")


def _check_cores(written: schema.StudyFile, faults: Faults) -> None:
    """Refuse what limits the measuring of cores, of which no search chooses designs."""
    rule = "nobody adds up what designs of a core cost"
    for position, stage in enumerate(written.stages):
        if isinstance(stage.core, schema.EvaluateSection) and stage.core.cost is not None:
            faults.add(("stages", position, "core", "cost"), rule, "remove it")
    spending = written.search.spending
    if spending.cost is not None:
        faults.add(COST, rule, "remove it; `designs` limits a search")
    if spending.time is not None:
        rule = "designs of a core are all measured before the search, whatever that takes"
        faults.add(TIME, rule, "remove it; `designs: [NAME]` of the stage names those to measure")


def cost_of(
    written: schema.StudyFile, axes: Sequence[Axis], outputs: Mapping[str, str], faults: Faults
) -> Cost | None:
    """Return what a design costs, None where nobody says so; faults are added."""
    text = None if written.evaluate is None else written.evaluate.cost
    if text is None:
        return None
    choices = {axis.name: axis.labels for axis in axes if not axis.ordered}
    columns = {name for axis in axes for name in axis.columns} | {*outputs}
    with faults.at(("evaluate", "cost")):
        expression = parse_expression(str(text), columns - choices.keys(), choices)
        if expression.is_constraint:
            raise UnitError("a cost is a number", "write an expression without <=")
        (name,) = expression.names if len(expression.names) == 1 else ("",)
        alone = str(text).strip() in (name, units.stem(name))
        cost = Cost(expression, axes, units.suffix(name) if alone else "")
        with faults.at(COST):
            _most(written.search.spending, cost)
        return cost
    return None


def most_cost(spending: SpendingSection, measured: MeasuredColumns | None) -> float | None:
    """Return the most that a search may spend, in SI; None for any sum."""
    if measured is None or measured.bench.cost is None:
        return None
    return _most(spending, measured.bench.cost)


def most_spent(
    section: schema.EvaluateSection | None,
    settings: SearchSettings,
    designs: int,
    cost: Cost | None,
    each: str,
) -> Iterator[str]:
    """Yield what measuring up to so many designs takes at most, as far as anybody can say.

    `each` tells of which values of a sweep the designs are.
    """
    if section is not None and section.timeout is not None:
        longest = section.timeout.value * (1 + section.retries)
        whole = duration(math.ceil(designs / section.workers) * longest)
        attempts = f" x {1 + section.retries} attempts" if section.retries else ""
        workers = f" / {section.workers} workers" if section.workers > 1 else ""
        yield (
            f"time: at most {designs:,} designs x {duration(section.timeout.value)}{attempts}"
            f"{workers} = {whole}{each}"
        )
    if settings.time_s is not None:
        yield (
            f"budget of time: {duration(settings.time_s)}; no design is begun that would not end "
            f"within it if it took as long as the longest before"
        )
    if settings.cost is not None and cost is not None:
        yield f"budget of cost: {cost.show(settings.cost)}, of {cost.expression.text} for a design"


def _most(spending: SpendingSection, cost: Cost) -> float | None:
    if spending.cost is None:
        return None
    found = units.parse(spending.cost, cost.unit)
    if found <= 0:
        raise UnitError("it must be more than 0", "write more than 0")
    return found
