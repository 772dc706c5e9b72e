"""Tracing a problem: what its plug-ins do with columns, written down once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial, reduce
from itertools import islice
from typing import Any

import numpy as np

from dse.algebra.expression import Expression
from dse.contract import Column
from dse.errors import FOREIGN
from dse.model.evaluation import SPLIT
from dse.model.graph import Step
from dse.model.stage import SHARED_COLUMNS, Stage, Wired
from dse.model.tape.traced import Recorder, Tape, Traced, floats

Inputs = dict[str, Any]
"""A traced column, or a constant, of every column of the study; those of stages as tuples."""

Called = Callable[[Mapping[str, Any]], Any]
"""What is called with columns by name."""


@dataclass
class Tracer:
    """Traces one problem; functions named in `untraced` are left opaque."""

    problem: Wired
    untraced: Collection[str] = ()
    recorder: Recorder = field(default_factory=Recorder)
    made: dict[str, int] = field(default_factory=dict)
    opaque: dict[str, str] = field(default_factory=dict)

    def tape(self) -> Tape:
        """Return the tape."""
        problem = self.problem
        with np.errstate(all="ignore"):
            columns = self._inputs()
            for step in problem.search_plan:
                columns[step.name] = self._made(step, columns)
            violation = problem.missed(columns, self._made)
            violation += [self._violation(rule, columns) for rule in problem.constraints]
            goals = problem.goals
            loss = [-columns[goal.name] if goal.maximise else columns[goal.name] for goal in goals]
            feasible = reduce(np.logical_and, [one <= 0 for one in violation], np.ones(1, bool))
            required = len(problem.requirement_steps)
            nan = map(np.isnan, violation[:required])  # what the study writes is never NaN
            undefined = reduce(np.logical_or, nan, np.zeros(1, bool))
        position = self.recorder.position
        return Tape(
            loss=tuple(map(position, loss)),
            rounded=tuple(position(_rounded(one)) for one in loss),
            violation=tuple(map(position, violation)),
            feasible=position(feasible),
            undefined=position(undefined),
            nodes=tuple(self.recorder.nodes),
            made=self.made,
            opaque=self.opaque,
        )

    def _inputs(self) -> Inputs:
        """Return the columns of the study, and of its stages."""
        problem, space = self.problem, self.problem.space
        names = [*space.constants, *(name for axis in space.axes for name in axis.columns)]
        columns: Inputs = {name: self.recorder.input(name) for name in dict.fromkeys(names)}
        steps = (*problem.search_plan, *problem.requirement_steps)
        used = {name for step in steps for name in step.arguments}
        wanted = [name for name in problem.offered if name in used]
        stages = [self._stage(stage, columns, wanted) for stage in problem.stages]
        return columns | {name: tuple(stage[name] for stage in stages) for name in wanted}

    def _stage(self, stage: Stage, columns: Inputs, wanted: Sequence[str]) -> Inputs:
        """Return what a stage offers of what is wanted, traced where counts are given."""
        space = self.problem.space
        varied = {name for axis in space.axes for name in axis.columns}
        known = {
            name: space.constants[name]
            for name in SHARED_COLUMNS
            if name in space.constants and name not in varied
        }
        if stage.mixed:
            self.recorder.refused = ""
            try:
                fleet = stage.fleet(columns | known)
                found = {name: fleet.column(name) for name in wanted}
            except (TypeError, AttributeError):
                found = {}
            if found and not self.recorder.refused:
                return found
        read = (f"{stage.name}.", *SHARED_COLUMNS)
        own = {name: column for name, column in columns.items() if name.startswith(read)}
        settled = {"stage_alone", "stage_clocked"}
        settled |= set() if stage.policy in columns else {"stage_common"}
        any_fleet = stage.fleet_of([], [], {})
        return {
            name: any_fleet.column(name)
            if name in settled
            else self._opaque(name, partial(_stage_column, stage, name), own)
            for name in wanted
        }

    def _made(self, step: Step, columns: Inputs) -> Any:
        """Return the column that a function makes, traced as far as it lets."""
        given = {name: columns[name] for name in step.arguments}
        self.recorder.refused = ""
        reason = "requested"
        if step.name not in self.untraced:
            try:
                found = self._column(step.plugin.function(**given))
            except FOREIGN as error:
                reason = self.recorder.refused or f"{type(error).__name__}: {error}"
            else:
                reason = self.recorder.refused
                if not reason:
                    self.made[step.name] = self.recorder.position(found)
                    return found
        return self._called(step.name, step, given, reason)

    def _column(self, result: Any) -> Any:
        """Return what a function returned as a column of floats."""
        if isinstance(result, Traced):
            if self.recorder.nodes[result.node].dtype == np.float64:
                return result
            return self.recorder.call(floats, [result])
        column = np.asarray(result)
        if column.dtype.kind not in "fiub" or column.shape not in ((), (1,)):
            raise self.recorder.refusal(f"a result of the shape {column.shape}")
        return np.atleast_1d(column.astype(np.float64))

    def _called(self, name: str, function: Called, given: Mapping[str, Any], reason: str) -> Traced:
        """Return what a function makes that cannot be traced."""
        self.opaque[name] = reason
        found = self._opaque(name, function, given)
        self.made[name] = found.node
        return found

    def _opaque(self, name: str, function: Called, given: Mapping[str, Any]) -> Traced:
        """Return what an opaque function makes of columns, some in tuples."""
        counts = {key: len(one) if isinstance(one, tuple) else 0 for key, one in given.items()}
        parts = [part for one in given.values() for part in _parts(one)]
        inputs = [Traced(self.recorder, self.recorder.position(part)) for part in parts]
        return self.recorder.opaque(partial(_with_names, function, counts), inputs, name)

    def _violation(self, rule: Expression, columns: Inputs) -> Any:
        """Return by how much a constraint is missed."""
        given = {name: columns[name] for name in sorted(rule.names)}
        self.recorder.refused = ""
        try:
            return rule.enclosed_violation(given)
        except TypeError:
            return self._called(rule.text, rule.violation, given, self.recorder.refused)


def _with_names(function: Called, counts: Mapping[str, int], *columns: Column) -> Any:
    """Call a function with columns by their names, so many in each tuple; 0 for a single one."""
    left = iter(columns)
    return function(
        {key: tuple(islice(left, count)) if count else next(left) for key, count in counts.items()}
    )


def _stage_column(stage: Stage, name: str, columns: Mapping[str, Any]) -> Any:
    """Return a column of a stage, made of the columns of the study that it depends on."""
    return stage.fleet(columns).column(name)


def _rounded(loss: Any) -> Any:
    """Write down what `dse.model.evaluation.rounded` does to most numbers."""
    carried = loss * SPLIT
    return carried - (carried - loss)


def _parts(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)
