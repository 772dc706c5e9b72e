"""An archive whose designs are trials that several processes share.

Each process asks for a trial, measures its design or computes it, and tells what came of it.
Before each it takes in what others have told: a measurement as it stands in the storage, and the
numbers of models by computing them again.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import optuna
from optuna.exceptions import UpdateFinishedTrialError
from optuna.samplers import BaseSampler
from optuna.trial import FrozenTrial, TrialState

from dse.contract import Index
from dse.contract.evaluators import Measurement
from dse.model.problem import Problem
from dse.search.archive import Archive, Progress
from dse.search.exact.work import spend
from dse.search.heuristic.optuna import quiet, tell_missed
from dse.search.shared.claims import GIVEN_UP, TrialClaim, is_abandoned, own_holder, trial_claims
from dse.search.shared.parameters import NamedParameters, Row
from dse.search.shared.storage import Connection, faults_told, without_password

PATIENCE_S = 600.0
"""So long the trials of others are waited for at the end, when the storage shows no change."""

WAIT_S, UNDECIDED_S = 0.2, 0.02

CAUSE, MEASUREMENT = "cause", "measurement"
"""Attributes of a trial: why it failed, and what was measured."""

Trials = Sequence[FrozenTrial]


class SharedArchive(Archive):
    """Evaluates designs that several processes ask for, and keeps what all of them found."""

    def __init__(
        self,
        problem: Problem,
        connection: Connection,
        *,
        total: int,
        progress: Progress | None = None,
    ) -> None:
        """Start with nothing; all processes together may evaluate `total` distinct designs."""
        super().__init__(problem, total=total, progress=progress)
        self.shared_problem, self.connection = problem, connection
        self.study = connection.study
        self.named = NamedParameters(problem.space.axes)
        self.counted: Counter[str] = Counter()
        self._taken: set[int] = set()
        self._random = np.random.default_rng()  # other processes must draw other designs

    def share(self, sampler: BaseSampler, start: Index) -> None:
        """Ask a sampler for designs and tell results until the budget of all is used.

        Raises
        ------
        StoreError
            The storage cannot be used any more.
        """
        self.study.sampler = sampler
        with faults_told(self.connection.url), quiet():
            if self.connection.created:
                self._enqueue(start)
            changed, before = time.monotonic(), (-1, -1)
            while True:
                spend(0)
                running = self._take_in()
                free = self.total - self._claimed(trial_claims(running, self.named))
                if free > 0:
                    self._evaluate_some(min(self._at_once, free))
                elif not running:
                    return
                else:
                    now = (self.evaluated, len(running))
                    changed = time.monotonic() if now != before else changed
                    if time.monotonic() - changed > PATIENCE_S:
                        self.counted["not_waited_for"] = len(running)
                        return
                    before = now
                    time.sleep(WAIT_S)

    def facts(self) -> dict[str, str | int]:
        """Return what is to be said of the trials, for the manifest."""
        with faults_told(self.connection.url):
            states = Counter(t.state.name.lower() for t in self.study.get_trials(deepcopy=False))
        return {
            "url": without_password(self.connection.url),
            "study": self.study.study_name,
            "heartbeats": int(self.connection.heartbeats),
            **{f"trials_{name}": count for name, count in sorted(states.items())},
            **{name: self.counted[name] for name in COUNTED},
        }

    @property
    def _at_once(self) -> int:
        measured = self.shared_problem.measured
        return 1 if measured is None else max(1, measured.bench.at_once)

    def _enqueue(self, designs: Index) -> None:
        for row in designs:
            self.study.enqueue_trial(self.named.parameters(row))

    def _take_in(self) -> list[FrozenTrial]:
        """Take in what was told since the last time; return the trials that still run."""
        if self.connection.heartbeats:
            optuna.storages.fail_stale_trials(self.study)
        trials = self.study.get_trials(deepcopy=False)
        self._take([t for t in trials if t.state.is_finished() and t.number not in self._taken])
        running = [t for t in trials if t.state == TrialState.RUNNING]
        gone = [trial for trial in running if is_abandoned(trial)]
        for trial in gone:
            self.connection.fail(trial.number, CAUSE, "its process died")
        return [trial for trial in running if trial not in gone]

    def _take(self, trials: Trials) -> None:
        """Take in finished trials of others."""
        told: dict[Row, FrozenTrial] = {}
        for trial in trials:
            self._taken.add(trial.number)
            row = self.named.row(trial.params)
            if row is None or not self._counts(trial, row):
                continue
            told[row] = trial
        if not told:
            return
        index = np.array([*told], dtype=np.int64).reshape(len(told), len(self.sizes))
        new = index[~self.seen(index)]
        self.counted["by_others"] += len(new)
        self.total = max(self.total, self.evaluated + len(new))
        loss, violation = self.evaluate(index)
        for trial, values, missed in zip(told.values(), loss, violation, strict=True):
            if trial.state == TrialState.COMPLETE and (missed <= 0).all():
                self.counted["differing"] += not np.allclose(
                    trial.values, self._values(values), rtol=1e-9, atol=0.0
                )

    def _counts(self, trial: FrozenTrial, row: Row) -> bool:
        """Tell whether a finished trial tells of a design; take in what was measured."""
        measured = self.shared_problem.measured
        if measured is None:
            return trial.state == TrialState.COMPLETE
        written = trial.user_attrs.get(MEASUREMENT)
        if written is None:
            self.counted["without_measurement"] += trial.state == TrialState.COMPLETE
            return False
        try:
            found = Measurement(**json.loads(written))
        except (ValueError, TypeError):
            self.counted["without_measurement"] += 1
            return False
        if found.has_values and not {*measured.outputs} <= {*found.values}:
            self.counted["without_measurement"] += 1
            return False
        [design] = measured.designs(self.shared_problem.space, np.array([row]))
        measured.bench.take(design, found)
        return True

    def _claimed(self, running: Iterable[TrialClaim]) -> int:
        """Return how many designs are evaluated, or under way in some process."""
        rows = {(claim.row or claim.trial) for claim in running}
        return self.evaluated + sum(not (isinstance(row, tuple) and self._has(row)) for row in rows)

    def _has(self, row: Row) -> bool:
        return bool(self.seen(np.array([row], dtype=np.int64))[0])

    def _evaluate_some(self, count: int) -> None:
        """Ask for trials, evaluate those that no other process has, and tell what came of them."""
        asked = [self.study.ask(self.named.distributions) for _ in range(count)]
        asked.sort(key=lambda trial: trial.number)
        own: dict[Row, optuna.Trial] = {}
        waiting = [*asked]
        try:
            with self.connection.beating([trial.number for trial in asked]):
                own_claims = self._claim(asked)
                for trial in asked:
                    row = self._mine(trial, own_claims[trial.number])
                    if row is None:
                        waiting.remove(trial)
                    else:
                        own[row] = trial
                index = np.array([*own], dtype=np.int64).reshape(len(own), len(self.sizes))
                loss, violation = self.evaluate(index)
            for (row, trial), *found in zip(own.items(), loss, violation, strict=True):
                self._tell(trial, row, *found)
                waiting.remove(trial)
        except BaseException as error:
            for trial in waiting:
                row = next((row for row, one in own.items() if one is trial), None)
                self._give_up(trial, row, str(error) or "it was interrupted")
            raise

    def _claim(self, asked: Sequence[optuna.Trial]) -> dict[int, TrialClaim]:
        """Claim trials, by number; what others have finished already is no more to be claimed."""
        first, made = asked[0].number, dict[int, TrialClaim]()
        for trial in asked:
            claim = TrialClaim(
                trial.number, self.named.row(trial.params), own_holder(), first, decided=False
            )
            made[trial.number] = claim
            with suppress(UpdateFinishedTrialError):
                trial.set_user_attr(claim.holder, claim.written)
        return made

    def _mine(self, trial: optuna.Trial, claim: TrialClaim) -> Row | None:
        """Return the design of a trial, None where this process is not to evaluate it."""
        row, since = claim.row, time.monotonic()
        if row is None:
            self._fail(trial, "it is no design of the study")
            return None
        while True:
            running = [*trial_claims(self._take_in(), self.named)]
            others = [
                one for one in running if (one.trial, one.holder) != (claim.trial, claim.holder)
            ]
            before = [one for one in others if one.precedes(claim)]
            if self._has(row):
                self._tell(trial, row, *(found[0] for found in self.evaluate(np.array([row]))))
                self._substitute()
            elif claim.trial in {one.trial for one in before}:  # another process has it, too
                with suppress(UpdateFinishedTrialError):
                    trial.set_user_attr(claim.holder, GIVEN_UP)
            elif len(others) == len(running):
                pass  # others took this process for dead
            elif row in {one.row for one in before}:
                self._fail(trial, "another trial of the same design was running")
                self._substitute()
            elif self._claimed(before) >= self.total:
                self._fail(trial, "the budget was used up")
            elif self._open(row, others, claim) and time.monotonic() - since < PATIENCE_S:
                spend(0)
                time.sleep(UNDECIDED_S)
                continue
            else:
                decided = replace(claim, decided=True)
                with suppress(UpdateFinishedTrialError):
                    trial.set_user_attr(claim.holder, decided.written)
                    return row
            return None

    def _open(self, row: Row, others: Sequence[TrialClaim], claim: TrialClaim) -> bool:
        """Tell whether it depends on what others decide if this process evaluates a design."""
        full = self._claimed(others) >= self.total
        return any(
            one.row is None or (not one.precedes(claim) and (full or one.row == row))
            for one in others
            if one.holder not in ("", claim.holder)
        )

    def _substitute(self) -> None:
        """Let some process evaluate a random new design for one that was asked for twice."""
        self._enqueue(self.unseen(self._random, 1))

    def _tell(self, trial: optuna.Trial, row: Row, loss: Any, violation: Any) -> None:
        """Tell what came of a design that was evaluated."""
        self._taken.add(trial.number)
        found = self._measurement(row)
        with suppress(UpdateFinishedTrialError):  # others took this process for dead
            if found is not None:
                self._attach(trial, found)
            if found is not None and not found.has_values:
                self._fail(trial, found.cause)
                return
            tell_missed(trial, self.problem.constraint_names, violation)
            self.study.tell(
                trial, self._values(loss, (violation <= 0).all()), skip_if_finished=True
            )

    def _give_up(self, trial: optuna.Trial, row: Row | None, cause: str) -> None:
        """Tell that a design was not evaluated; a failure that was measured goes with it."""
        found = None if row is None else self._measurement(row)
        with suppress(UpdateFinishedTrialError):
            if found is not None and not found.has_values:
                self._attach(trial, found)
                cause = found.cause
            self._fail(trial, cause)

    def _measurement(self, row: Row) -> Measurement | None:
        """Return what was measured of a design, None where nothing was."""
        measured = self.shared_problem.measured
        if measured is None:
            return None
        found = measured.found(self.shared_problem.space, np.array([row]), ask=False)[0]
        return found if found.values or found.kind else None

    def _attach(self, trial: optuna.Trial, found: Measurement) -> None:
        trial.set_user_attr(MEASUREMENT, json.dumps(asdict(replace(found, folder=""))))

    def _fail(self, trial: optuna.Trial, cause: str) -> None:
        self._taken.add(trial.number)
        with suppress(UpdateFinishedTrialError):
            trial.set_user_attr(CAUSE, cause)
            self.study.tell(trial, state=TrialState.FAIL, skip_if_finished=True)

    def _values(self, loss: Any, feasible: bool = True) -> list[float]:
        """Return losses as objectives have them; 0 where an infeasible design has none."""
        values = [
            -value if goal.maximise else value
            for goal, value in zip(self.shared_problem.goals, loss.tolist(), strict=True)
        ]
        return [value if feasible or np.isfinite(value) else 0.0 for value in values]


COUNTED: Mapping[str, str] = {
    "by_others": "designs that other processes evaluated",
    "differing": "of these, where the storage has other numbers than the models here",
    "without_measurement": "trials left out, as nothing says what was measured",
    "not_waited_for": "trials that were still running elsewhere at the end",
}
"""What is counted of trials, and what it means."""
