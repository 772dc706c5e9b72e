"""Quantities named in a study: goals and constraints, and the requirements on every study.

Only named quantities, and their arguments, are imported.  After a mistake all others are, to
suggest a correction.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from dse import contract
from dse.algebra import units
from dse.algebra.expression import Expression, parse_expression
from dse.errors import PluginError, UnitError, nearest
from dse.model.evaluation import Goal
from dse.model.fleet import AREA_COLUMNS, BLOCK_COLUMNS, POWER_COLUMNS, STAGE_COLUMNS
from dse.model.graph import Graph, explain_missing
from dse.model.host import standing_for
from dse.model.stage import Stage
from dse.plugins import registry
from dse.study import schema
from dse.study.reader import Reader
from dse.study.scenario import Scenario, field_path

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
        possible = [one for one in found if len(found) == 1 or self._has(one)]
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

    def _has(self, name: str) -> bool:
        return name in self.inputs or self.graph.provides(name)

    def _require(self, name: str, wanted: str) -> None:
        """Raise UnitError if a quantity lacks inputs.  `wanted` is its use (``objective``)."""
        if self._has(name):
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
    kept, notes = [], list(_unusable())
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


def _unusable() -> Iterator[str]:
    """Yield notes on requirements and guards of other packages that are broken."""
    for kind in registry.APPLIED:
        for found in registry.survey(kind):
            if found.error is not None:
                if found.plugin.own:
                    raise found.error
                name = f"{found.plugin.name} of {found.plugin.distribution}"
                yield _unchecked(kind, name, found.error)


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
