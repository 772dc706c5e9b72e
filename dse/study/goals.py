"""Goals of a study: objectives, constraints, preference, search, and requirements on all.

Only named quantities, and their arguments, are imported.  After a mistake all others are, to
suggest a correction.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from dse import contract
from dse.algebra import units
from dse.algebra.expression import Expression, parse_expression
from dse.errors import ArgumentError, ExpressionError, PluginError, UnitError, followed, nearest
from dse.model.evaluation import Goal
from dse.model.fleet import AREA_COLUMNS, BLOCK_COLUMNS, POWER_COLUMNS, STAGE_COLUMNS
from dse.model.graph import Graph, explain_missing
from dse.model.host import standing_for
from dse.model.measured import Spending
from dse.model.preference import Preference, prefer
from dse.model.problem import Problem
from dse.model.stage import Stage
from dse.plugins import registry
from dse.search.settings import EFFORT_S, MEMORY_BYTE, SearchSettings, left_of, option_faults
from dse.study import schema
from dse.study.reader import Reader
from dse.study.scenario import Scenario, field_path
from dse.study.schema import StudyFile

LABELS_SHOWN = 8
"""Most texts of a column in a message."""

_WORD = re.compile(r"""'[^']*'|"[^"]*"|([A-Za-z_][\w.]*)""")

_OTHER_AREAS = AREA_COLUMNS[1:]  # without square metres, the expected unit
_TWO_AREAS = "stages give their areas in different units, which never add"

_OF_A_STAGE = (*AREA_COLUMNS, *BLOCK_COLUMNS, *POWER_COLUMNS)
"""Stage columns that a study may name for one stage."""


def of_stages(stages: Sequence[Stage]) -> dict[str, contract.Objective]:
    """Return the quantities of each stage by name: ``des.area_m2``."""
    return {
        name: standing_for(name, column, place)
        for place, stage in enumerate(stages)
        for column in _OF_A_STAGE
        for name in [f"{stage.name}.{column.removeprefix('stage_')}"]
    }


@dataclass(frozen=True)
class Named:
    """Lookup of the quantities that a study names.

    Attributes
    ----------
    graph
        Graph of the quantities that can be computed.
    quantities
        Names of all quantities of `graph`.
    inputs
        Columns of the study that may be named as well.
    labels
        Texts of the inputs that are texts.
    staged
        Names of the quantities of one stage.
    """

    graph: Graph
    quantities: Collection[str]
    inputs: Collection[str]
    labels: Mapping[str, Sequence[str]] = field(default_factory=dict)
    staged: Collection[str] = ()

    def quantity(self, name: str) -> str:
        """Return the quantity called `name`, with or without its unit suffix.

        Of several with this name without it, return the one that the study can compute.

        Raises
        ------
        UnitError
            With rule and remedy: no quantity, or more than one, has this name, or the study
            cannot compute it.
        PluginError
            Its plug-in, or the plug-in of one of its arguments, cannot be used.
        """
        known = {*self.inputs, *self.quantities}
        found = [name] if name in known else [one for one in known if units.stem(one) == name]
        if found and name not in known:
            found += self._meant(name, found)
        if not found:
            self._require_stage(name)
            stems = {units.stem(one) for one in self._computed()}
            raise UnitError("this quantity is not known", nearest(name, stems))
        possible = [one for one in found if len(found) == 1 or self.graph.provides(one)]
        if len(possible) > 1:
            rule = "several quantities have this name"
            raise UnitError(rule, f"write {' or '.join(sorted(possible))}")
        chosen = min(possible or found)
        self._require(chosen, "objective")
        return chosen

    def expression(self, text: str) -> Expression:
        """Return the expression of a text over quantities and columns of the study.

        Raises
        ------
        UnitError
            With rule and remedy: it is not allowed, or names something unknown.
        """
        words = set(_WORD.findall(text))
        named = {one for one in self.quantities if one in words or units.stem(one) in words}
        known = {*self.inputs, *filter(self.graph.provides, named)}
        try:
            return parse_expression(text, known - self.labels.keys(), self.labels)
        except UnitError:
            stems = {units.stem(one) for one in known}
            for one in sorted(named):
                if units.stem(one) not in stems:
                    self._require(one, "constraint")
            for word in words:
                self._require_stage(word)
            return parse_expression(text, self._computed() - self.labels.keys(), self.labels)

    def _meant(self, name: str, found: Sequence[str]) -> list[str]:
        """Return quantities in answers that a name may mean, if none of those `found` is shown."""
        if any(map(self._is_shown, found)):
            return []
        ending = (one for one in self.quantities if units.stem(one).endswith(f"_{name}"))
        return [*filter(self._is_shown, ending)]

    def _require_stage(self, name: str) -> None:
        """Raise the error of a name of a quantity of one stage, if it has one."""
        stage, dot, _ = name.partition(".")
        known = {*map(units.stem, self.staged)}
        if dot and not {name} & {*self.staged, *known}:
            if own := {one for one in known if one.startswith(f"{stage}.")}:
                raise UnitError(f"a stage has no quantity {name!r}", nearest(name, own))
            stages = {one.partition(".")[0] for one in known}
            raise UnitError(f"there is no stage {stage!r}", nearest(stage, stages))

    def _is_shown(self, name: str) -> bool:
        known = name in self.quantities and self.graph.provides(name)
        return known and self.graph.quantities[name].report

    def _computed(self) -> set[str]:
        return {*self.inputs, *(quantity.name for quantity in self.graph.objectives)}

    def _require(self, name: str, wanted: str) -> None:
        """Raise UnitError if a quantity lacks inputs.  `wanted` is its use (``objective``)."""
        if self.graph.provides(name):
            return
        lacking = explain_missing(name, self.graph.missing)
        figures = _lacking_figures(self.graph)
        if figures.intersection(lacking, AREA_COLUMNS) and figures.issuperset(AREA_COLUMNS):
            rule = f"{name} needs the area of every stage in one unit, and {_TWO_AREAS}"
            known = " or ".join(units.label(one) for one in AREA_COLUMNS)
            raise UnitError(rule, f"give all of them in {known}, or drop the {wanted}")
        if figures.intersection(lacking):
            words = " and ".join(sorted(map(_words, figures.intersection(lacking))))
            rule = f"{name} needs {words}, of which a stage has no values"
            raise UnitError(rule, f"add them to its table, or drop the {wanted}")
        fields = sorted({field_path(column) for column in lacking})
        rule = f"{name} needs {' and '.join(fields)}, which this study does not set"
        raise UnitError(rule, f"add {fields[0]}, or drop the {wanted}")


def applied_requirements(graph: Graph) -> tuple[tuple[contract.Requirement, ...], list[str]]:
    """Return the requirements on a study's designs, and notes on the omitted ones.

    Raises
    ------
    PluginError
        A requirement that comes with this program cannot be used.
    """
    kept, notes = [], []
    for kind in registry.APPLIED:
        for found in registry.survey(kind):
            if found.error is not None and found.plugin.own:
                raise found.error
            if found.error is not None:
                name = f"{found.plugin.name} of {found.plugin.distribution}"
                notes.append(_unchecked(kind, name, found.error))
    for requirement in registry.records(contract.Requirement).values():
        try:
            graph.bind(requirement)
        except PluginError as error:
            notes.append(_unchecked(contract.Requirement, requirement.name, error))
        else:
            kept.append(requirement)
    return tuple(kept), notes


def check_cap(chain: Collection[str], scenario: Scenario, reader: Reader) -> None:
    """Report a power cap on stages without power, whose effect would be unknown."""
    capped = (scenario.highest("budget_power_cap_w") or math.inf) < math.inf
    if chain and not set(chain).issuperset(POWER_COLUMNS) and capped:
        rule = "a stage has no values of power, so that it is unknown when the cap is reached"
        reader.fault(("budget",), rule, "add them to its table, or remove the cap", "")


def without_figures(graph: Graph, scenario: Scenario) -> list[str]:
    """Return notes on quantities that lack only metrics of the stages."""
    notes = []
    figures = _lacking_figures(graph).difference(BLOCK_COLUMNS)
    whole = "stage_clock_hz" in figures
    if whole:
        notes.append("area, power and clock of a whole accelerator are unknown, and no quantities")
    elif figures.issuperset(AREA_COLUMNS):
        notes.append(_TWO_AREAS)
    else:
        figures.difference_update(_OTHER_AREAS)
    if scenario.highest("interface_buffer_area_m2_per_bit"):
        notes += (
            f"areas in {units.label(one)} leave out the buffers of the interface, "
            "whose area is in m2"
            for one in _OTHER_AREAS
            if one in graph.inputs
        )
    if not figures or whole:
        return notes
    needs = {name: set(explain_missing(name, graph.missing)) for name in graph.missing}
    names = sorted(name for name, lacking in needs.items() if lacking and lacking <= figures)
    words = ", ".join(sorted(map(_words, figures)))
    return [*notes, f"a stage has no values of {words}; omitted: {', '.join(names)}"]


def _lacking_figures(graph: Graph) -> set[str]:
    """Return the stage columns that a chain does not offer."""
    known = set(STAGE_COLUMNS)
    return known - set(graph.inputs) if known & set(graph.inputs) else set()


def _words(column: str) -> str:
    words = units.stem(column).removeprefix("stage_").replace("_", " ")
    return f"{words} in {units.label(column)}" if column in AREA_COLUMNS else words


def _unchecked(kind: type, name: str, error: PluginError) -> str:
    return f"{kind.__name__.lower()} {name} cannot be used and is not checked: {error}"


def goals_of(written: schema.StudyFile, named: Named, reader: Reader) -> tuple[Goal, ...]:
    """Return the objectives of a study.  Errors are added."""
    goals = []
    for name, sense in written.objectives.items():
        path = ("objectives", name)
        try:
            full = named.quantity(name)
        except (UnitError, PluginError) as error:
            reader.fault(path, error.rule, error.remedy, repr(name))
            continue
        found = named.graph.quantities.get(full)
        if found is not None and found.labels:
            shown = ", ".join(found.labels[:LABELS_SHOWN])
            rule = f"{full} is a name ({shown}), not a number"
            reader.fault(path, rule, "choose a quantity with a unit", repr(name))
        else:
            goals.append(Goal(full, maximise=sense == "maximise"))
    if len({goal.name for goal in goals}) < len(goals):
        reader.fault(("objectives",), "two objectives are the same quantity", "write it once", "")
    return tuple(goals)


def constraints_of(
    written: schema.StudyFile, read: Callable[[str], Expression], reader: Reader
) -> tuple[Expression, ...]:
    """Return the constraints of a study as `read` reads them.  Errors are added."""
    constraints = []
    for position, text in enumerate(written.constraints):
        with reader.at(("constraints", position)):
            constraints.append(must_compare(read(text)))
    return tuple(constraints)


def must_compare(expression: Expression) -> Expression:
    """Return an expression, or raise UnitError if it is no constraint."""
    if not expression.is_constraint:
        raise UnitError("it compares nothing", "write for instance `power <= 30 mW`")
    return expression


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
    """Report options that a method lacks, and a budget of time without measurements."""
    if written.evaluate is None and written.search.spending.time is not None:
        rule = "it limits measuring, and nothing of this study is measured"
        remedy = "remove it; `effort: 60 s` limits a proof, `designs` any search"
        reader.fault(("search", "budget", "time"), rule, remedy)
    with reader.at(("search", "method")):
        method = registry.get(contract.Method, written.search.method)
        for name, value in written.search.options.items():
            for rule, remedy in option_faults(method, name, value):
                reader.fault(("search", "options", name), rule, remedy)


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
