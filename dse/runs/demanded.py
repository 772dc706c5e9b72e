"""Cores whose designs are measured as a search asks for the designs of its study.

The search sees the whole space.  Of the designs that it evaluates, those of cores are measured
first; then these are designs of the same study, whose cores are the tables of what was measured so
far.  So no figure is there that nobody measured, and at the end that study is the one of the run.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, fields, replace

import numpy as np
from numpy.typing import NDArray

from dse.contract import Column
from dse.contract.evaluators import RecordedEvaluator
from dse.errors import MeasurementError
from dse.files.position import dotted
from dse.model.evaluation import Evaluation
from dse.model.ledger import Ledger
from dse.model.measured import MEASURED, UNKNOWN
from dse.model.problem import Problem
from dse.model.space import Index, Points, as_index
from dse.runs.measuring import Working, opened_bench, require_measurements, require_unchanged
from dse.search import UNFINISHED, Outcome, run_search
from dse.search.settings import SearchSettings
from dse.study import study
from dse.study.measured_cores import MeasuredCore, measured_on_demand, most_measured
from dse.study.study import Study


def searched(
    prepared: Study, settings: SearchSettings, working: Working
) -> tuple[Study, Outcome] | None:
    """Search a study, and measure of its cores what the search asks for.

    The space is that of all designs, those too that are known to fail: a run that goes on begins
    where it began.

    Returns
    -------
    The study of what was measured, and what was found as designs of it; None where all of it is
    to be measured before, or is.

    Raises
    ------
    MeasurementError
        Nothing could be measured, or what measures has changed meanwhile.
    """
    if any(isinstance(core.bench.evaluator, RecordedEvaluator) for core in prepared.cores):
        return None
    problem = study.prepare(replace(prepared.document, shelves=None)).problem
    if not measured_on_demand(prepared.cores, problem, settings):
        return None
    given = {entry.name: getattr(problem, entry.name) for entry in fields(problem)}
    with ExitStack() as opened:
        for core in prepared.cores:
            planned = most_measured(core, problem, settings)
            opened.enter_context(opened_bench(core.bench, core.section, working, planned))
        demanded = DemandedProblem(**given, so_far=MeasuredSoFar(prepared))
        outcome = run_search(demanded, settings)
    return demanded.finished(outcome)


@dataclass
class MeasuredSoFar:
    """What a search has asked for.

    Attributes
    ----------
    begun
        The study as it was before, and the benches that measure its cores.
    measured
        The study of what was measured so far; None where a core has no design yet.
    failed
        Designs that were evaluated of which a core could not be measured.
    """

    begun: Study
    measured: Study | None = None
    failed: set[bytes] = field(default_factory=set)
    _count: int = 0

    def update(self) -> None:
        """Prepare the study of what was measured, if there is more of it."""
        cores = self.begun.cores
        count = sum(len(core.bench.seen) for core in cores)
        if count == self._count or any(not _figures(core) for core in cores):
            return
        recorded = {
            dotted(core.path): RecordedEvaluator(
                core.bench.evaluator.identity, [*core.bench.seen.values()]
            )
            for core in cores
        }
        self.measured = study.prepare(replace(self.begun.document, recorded=recorded))
        self._count = count


def _figures(core: MeasuredCore) -> int:
    """Return how many designs of a core have figures."""
    return sum(found.has_values for _, found in core.bench.seen.values())


@dataclass(frozen=True, repr=False)
class DemandedProblem(Problem):
    """A space whose designs are made of cores that are measured when they are evaluated."""

    so_far: MeasuredSoFar = field(kw_only=True)

    @property
    def constraint_names(self) -> tuple[str, ...]:
        """What each column of a violation stands for: the last one, that cores are measured."""
        return (*super().constraint_names, MEASURED)

    def evaluate(
        self, points: Points, changed: Mapping[str, Column] | None = None, *, draws: int = 1
    ) -> Evaluation:
        """Measure what is not known of the cores of designs, and evaluate them.

        Designs with a core that could not be measured are infeasible.

        Raises
        ------
        StopError, BudgetError, MeasurementError
            Before everything is measured.
        """
        index = as_index(points)
        there = self._measured(index, ask=True)[0]
        self.so_far.failed |= {row.tobytes() for row in index[~there]}
        count = len(index)
        violation = np.full((count, len(self.constraint_names)), np.inf)
        found = Evaluation(
            points,
            loss=np.full((count, self.objective_count), np.inf),
            violation=violation,
            failed=np.zeros(count, dtype=bool),
        )
        self.so_far.update()
        if self.so_far.measured is None or not there.any():
            return found
        known = self.so_far.measured.problem
        evaluated = known.evaluate(in_space(index[there], self, known)[0])
        found.loss[there] = evaluated.loss
        violation[there] = np.column_stack([evaluated.violation, np.full(there.sum(), -1.0)])
        if evaluated.failed is not None and found.failed is not None:
            found.failed[there] = evaluated.failed
        return replace(found, failure=evaluated.failure)

    def known(self, points: Points) -> NDArray[np.bool_]:
        """Return which designs (n,) can be evaluated without measuring anything."""
        there, known = self._measured(as_index(points), ask=False)
        return known | ~there

    def _measured(self, index: Index, *, ask: bool) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return which designs (n,) have no core that failed, and of which all are known.

        Cores are asked one after another, each for the designs of which no other has failed.
        """
        there = np.ones(len(index), dtype=bool)
        known = np.ones(len(index), dtype=bool)
        for core in self.so_far.begun.cores:
            rows, places = self._used(core, index)
            rows, places = rows[there[rows]], places[there[rows]]
            _, first, at = np.unique(places, return_index=True, return_inverse=True)
            order = np.argsort(first)  # as the search asks for them
            wanted = [core.designs[place] for place in places[first[order]]]
            found = core.bench.measurements(wanted, ask=ask)
            missing, failed = np.zeros((2, len(order)), dtype=bool)
            missing[order] = [one is UNKNOWN for one in found]
            failed[order] = [not one.has_values and one is not UNKNOWN for one in found]
            known[rows[missing[at]]] = False
            there[rows[failed[at]]] = False
        return there, known

    def _used(self, core: MeasuredCore, index: Index) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return pairs of a row and of a design of a core that it has, by rows."""
        place = {name: number for number, name in enumerate(core.names)}
        (stage,) = (stage for stage in self.stages if stage.name == core.stage)
        position = np.array([place[name] for name in stage.designs.names])
        if stage.mixed:
            counts = stage.counts(self.space.columns(index))
            rows, columns = np.nonzero(np.column_stack(counts) > 0)
            return rows, position[columns]
        chosen = self.space.columns(index)[f"{stage.name}.design"].astype(np.intp)
        return np.arange(len(index)), position[chosen]

    def finished(self, outcome: Outcome) -> tuple[Study, Outcome]:
        """Return the study of what was measured, and what a search found as designs of it."""
        begun = self.so_far.begun
        for core in begun.cores:
            require_measurements(core.bench)
        self.so_far.update()
        if any(core.bench.asked for core in begun.cores):
            require_unchanged(begun, study.prepare(begun.document))
        if self.so_far.measured is None:
            if outcome.certificate.way == UNFINISHED:
                raise MeasurementError(
                    f"no design is measured: {outcome.certificate.reason}; raise search.budget"
                )
            nothing = outcome.sample_index[:0]
            ledger = replace(outcome.ledger, evaluated=0, failed=outcome.evaluated)
            return begun, replace(outcome, ledger=ledger, sample_index=nothing, nearest_index=None)
        evaluated = outcome.evaluated - len(self.so_far.failed)
        outcome = replace(outcome, ledger=Ledger(evaluated=evaluated))
        return self.so_far.measured, moved(outcome, self, self.so_far.measured.problem)


def in_space(index: Index, old: Problem, new: Problem) -> tuple[Index, NDArray[np.bool_]]:
    """Return designs (n, d) of one space as those (k, e) of another, and which of them it has.

    The spaces differ in the designs of cores alone.
    """
    place = {axis.name: number for number, axis in enumerate(old.space.axes)}
    known = np.ones(len(index), dtype=bool)
    columns = []
    for axis in new.space.axes:
        number = place.pop(axis.name)
        before = old.space.axes[number]
        to = np.arange(axis.size)
        if axis.size != before.size:
            at = {label: position for position, label in enumerate(axis.labels)}
            to = np.array([at.get(label, -1) for label in before.labels])
        columns.append(to[index[:, number]])
        known &= columns[-1] >= 0
    for number in place.values():  # counts of designs that the other space lacks
        axis = old.space.axes[number]
        known &= axis.columns[axis.unit_name][index[:, number]] == 0
    rows = np.column_stack(columns) if columns else index[:, :0]
    return rows[known], known


def moved(outcome: Outcome, old: Problem, new: Problem) -> Outcome:
    """Return what was found in one space as designs of another that differs in designs of cores."""
    nearest = outcome.nearest_index
    if nearest is not None:
        found = in_space(nearest[np.newaxis], old, new)[0]
        nearest = found[0] if len(found) else None
    count = len(new.constraint_names)
    violation = outcome.nearest_violation
    left = new.whole_size - new.lost - outcome.evaluated
    ledger = Ledger(
        evaluated=outcome.evaluated, failed=new.lost, unknown=max(left, int(bool(new.continuous)))
    )
    return replace(
        outcome,
        front_index=in_space(outcome.front_index, old, new)[0],
        sample_index=in_space(outcome.sample_index, old, new)[0],
        nearest_index=nearest,
        nearest_violation=None if nearest is None or violation is None else violation[:count],
        satisfied=frozenset(met & ((1 << count) - 1) for met in outcome.satisfied),
        constraint_names=new.constraint_names,
        ledger=ledger,
        feasible_in_space=outcome.feasible if ledger.exact else None,
    )
