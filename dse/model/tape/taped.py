"""The tape of a problem, from when on it is worth it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from dse.contract import CoreMetrics
from dse.errors import DseError
from dse.model.evaluation import Evaluation
from dse.model.space import Index, Points

if TYPE_CHECKING:
    from dse.model.stage import Wired
    from dse.model.tape.compiled import Compiled
    from dse.model.tape.layout import Layout
    from dse.model.tape.traced import Tape

WORTH = 30_000
"""Designs that are evaluated function by function in the time that tracing takes."""

CALL = 1_000
"""What any evaluation takes besides, counted in designs."""

KEPT_BYTE = 31 * 2**20
"""Once so much was allocated and freed, glibc hands smaller arrays out of memory that it keeps
(mallopt(3), M_MMAP_THRESHOLD).  Pages that the system has to clear again for the results of every
few thousand designs take as long as evaluating these."""

CHECKED = 64
"""Random designs for which tape and functions have to agree bit by bit."""


class Taped:
    """Evaluates a problem with its tape once its functions took as long as tracing takes."""

    def __init__(self, problem: Wired) -> None:
        """Begin without a tape."""
        self._problem = problem
        self._spent = 0

    def evaluate(self, points: Points) -> Evaluation | None:
        """Evaluate designs as `dse.model.tape.run`; None where the functions must be called."""
        self._spent += len(points) + CALL
        if self._spent < WORTH or self.layout is None:
            return None
        from dse.model.tape.run import evaluated  # few designs get no tape

        try:
            return evaluated(self.layout, points)
        except DseError:  # which design it is that fails, the functions tell
            return None

    @cached_property
    def compiled(self) -> Compiled | None:
        """Machine code for designs; None for a problem that cannot be traced."""
        from dse.model.tape.compiled import Compiled

        return None if self.layout is None else Compiled(self.layout)

    @property
    def opaque(self) -> Mapping[str, str]:
        """Functions that could not be traced, each with the reason; none before tracing."""
        found = self.layout if self._spent >= WORTH else None
        return {} if found is None else found.tape.opaque

    @cached_property
    def layout(self) -> Layout | None:
        """The tape laid out on the space; None for a problem that cannot be traced."""
        from dse.model.tape.layout import Layout

        tape = traced(self._problem)
        np.empty(KEPT_BYTE, dtype=np.uint8)  # given back at once
        return None if tape is None else Layout(tape, self._problem.space)


def traced(problem: Wired) -> Tape | None:
    """Return the tape of a problem; None where columns have several rows, or designs fail.

    A function whose tape does not agree with it for random designs is left opaque.
    """
    from dse.model.tape.record import Tracer

    metrics = [stage.designs.metrics for stage in problem.stages]
    names = CoreMetrics.__dataclass_fields__
    if any(getattr(metric, name).ndim != 1 for metric in metrics for name in names):
        return None
    sizes = problem.space.sizes
    if not sizes or any(np.size(one) != 1 for one in problem.space.constants.values()):
        return None
    random = np.random.default_rng(0)
    index = random.integers(0, sizes, size=(CHECKED, len(sizes)))
    untraced: list[str] = []
    while True:
        tape = Tracer(problem, tuple(untraced)).tape()
        try:
            wrong = _wrong(problem, tape, index)
        except DseError:
            return None
        if not wrong:
            return tape
        if set(wrong) <= set(untraced):
            return None
        untraced += wrong


def _wrong(problem: Wired, tape: Tape, index: Index) -> list[str]:
    """Return the functions that differ from their tape for some designs."""
    columns = problem.search_columns(index)
    with np.errstate(all="ignore"):
        values = valued(tape, columns)
        required = {step.name: step(columns) for step in problem.requirement_steps}
    known = columns | required
    return [
        name
        for name, node in tape.made.items()
        if name in known and not _same(known[name], values[node])
    ]


def _same(one: Any, other: Any) -> bool:
    """Tell whether two columns have the same numbers."""
    left, right = (np.broadcast_to(column, (CHECKED,)) for column in (one, other))
    return np.array_equal(left, right, equal_nan=True)


def valued(tape: Tape, columns: Mapping[str, Any]) -> list[Any]:
    """Return the value of every node for columns of a study, also others than a space's."""
    values: list[Any] = []
    for node in tape.nodes:
        if node.function is not None:
            values.append(node.function(*[values[one] for one in node.arguments]))
        else:
            values.append(columns[node.name] if node.value is None else node.value)
    return values
