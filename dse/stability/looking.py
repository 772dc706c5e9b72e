"""Looking at some assumptions of a study: here, or in another process that prepares it again."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

from dse.files.document import Document
from dse.model.space import Index
from dse.search.exact.work import EffortError, limited
from dse.stability.deadline import Deadline
from dse.stability.flips import Stability
from dse.stability.follow import Follower
from dse.stability.holding import Searched
from dse.stability.together import follow_together
from dse.stability.tracking import TrackedAnswer, answer_among, spread
from dse.study.assumptions import Assumption, assumptions_of
from dse.study.study import Study, prepare


@dataclass(frozen=True)
class Looking:
    """Looks at assumptions of a study; what it is made of can be sent to another process.

    Attributes
    ----------
    document
        What the study is prepared from.
    tracked
        What counts as another answer.
    front
        The exact front, (n, d).
    factor
        Each assumption is varied between its value over this and its value times this.
    seconds
        CPU time that a process may take to `look`.
    """

    document: Document
    tracked: TrackedAnswer
    front: Index
    factor: float
    seconds: float = math.inf

    @cached_property
    def _until(self) -> Deadline:
        return Deadline(self.seconds)

    @cached_property
    def _prepared(self) -> tuple[Study, dict[str, Assumption]]:
        study = prepare(self.document)
        return study, {entry.name: entry for entry in assumptions_of(study)}

    def look(self, names: Sequence[str]) -> tuple[dict[str, Stability], float]:
        """Return what was found of assumptions in time, by name, and the CPU time it took."""
        start, until = time.process_time(), self._until
        study, entries = self._prepared
        found = self.at(study, [entries[name] for name in names], until)
        return found, time.process_time() - start

    def at(
        self, study: Study, group: Sequence[Assumption], until: Deadline
    ) -> dict[str, Stability]:
        """Return what was found of assumptions of the prepared study in time, by name."""
        followers: dict[str, Follower] = {}
        some = spread(self.front, study.problem, self.tracked)
        answer = answer_among(study.problem, self.front, self.tracked)
        with suppress(EffortError), limited(seconds=until.left):
            for entry in group:
                searched = Searched(entry, self.tracked, study.settings)
                searched.know(entry.value, some, answer)
                followers[entry.name] = Follower(entry, searched, _limits(entry, self.factor))
            ends = follow_together(study.problem, followers)
            return {
                entry.name: Stability(
                    entry.name, entry.quantity, entry.value, *ends[entry.name], entry.fitted
                )
                for entry in group
                if entry.name in ends
            }
        return {}


def _limits(assumption: Assumption, factor: float) -> tuple[float, float]:
    """Return the ends of the range in which an assumption is varied."""
    low, high = _range(assumption.value, factor)
    if assumption.integer:
        low, high = max(1.0, float(round(low))), float(round(high))
    if assumption.among:
        within = [value for value in assumption.among if low <= value <= high]
        low, high = within[0], within[-1]
    return low, high


def _range(value: float, factor: float) -> tuple[float, float]:
    """Return the ends of the range in which a value is varied, neither of them 0 nor infinite."""
    most, least = sys.float_info.max, sys.float_info.min
    near, far = max(abs(value) / factor, min(abs(value), least)), min(abs(value) * factor, most)
    low, high = sorted((math.copysign(near, value), math.copysign(far, value)))
    return low, high
