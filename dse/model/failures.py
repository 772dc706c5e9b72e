"""Designs that cannot be evaluated: which ones they are when a function fails for many at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.contract import Column
from dse.errors import EvaluationError
from dse.model.graph import Step, joint_shape

EVALUATED = "the design can be evaluated"
"""The constraint that such designs miss where a study takes them for infeasible."""


class Failures:
    """Which designs of one evaluation failed, and why the first did."""

    def __init__(self) -> None:
        """Start with none."""
        self.first = ""
        self._masks: list[NDArray[np.bool_]] = []

    def column(self, step: Step, columns: Mapping[str, Any]) -> Column:
        """Return what a step makes of columns, NaN for the designs for which it fails.

        Raises
        ------
        EvaluationError
            It fails for no design alone: what it is given is columns.
        """
        try:
            return step(columns)
        except EvaluationError:
            given = {name: columns[name] for name in step.arguments}
            found, failed, reason = _divided(step, given)
            if not failed.any():
                raise
        self.first = self.first or reason
        self._masks.append(failed)
        return found

    def rows(self, shape: tuple[int, ...]) -> NDArray[np.bool_]:
        """Return which designs failed, (n,), of columns that broadcast to `shape`."""
        failed = np.zeros(shape, dtype=bool)
        for mask in self._masks:
            failed |= mask
        return failed.ravel()


def _divided(step: Step, given: Mapping[str, Any]) -> tuple[Column, NDArray[np.bool_], str]:
    """Evaluate the halves of a batch that fails, and so on, down to the designs that do."""
    shape = joint_shape(given.values())
    flat = {name: _each(value, lambda part: _flat(part, shape)) for name, value in given.items()}
    count = math.prod(shape)
    found, failed = np.full(count, np.nan), np.zeros(count, dtype=bool)
    reason = ""
    pending = [slice(0, count)]
    while pending:
        some = pending.pop()
        try:
            found[some] = step({name: _each(v, itemgetter(some)) for name, v in flat.items()})
        except EvaluationError as error:
            if some.stop - some.start == 1:
                failed[some], reason = True, reason or error.message
                continue
            middle = (some.start + some.stop) // 2
            pending += [slice(middle, some.stop), slice(some.start, middle)]
    return found.reshape(shape), failed.reshape(shape), reason


def _each(value: Any, change: Callable[[Column], Column]) -> Any:
    """Return a column changed, or each column of a tuple."""
    return tuple(map(change, value)) if isinstance(value, tuple) else change(value)


def _flat(column: Column, shape: tuple[int, ...]) -> Column:
    return np.broadcast_to(column, shape).reshape(-1)
