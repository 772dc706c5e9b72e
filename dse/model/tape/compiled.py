"""Blocks and boxes of designs, evaluated by machine code: those that may be of the front."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.errors import MissingLibraryError
from dse.model.space import Block, Boxes, Index
from dse.model.tape.layout import Layout
from dse.model.tape.traced import UncompiledError

ANOTHER = 1.5
"""So much work another kernel has to save: it takes time to compile."""


@dataclass(frozen=True)
class Candidates:
    """What machine code finds of designs.

    Attributes
    ----------
    count
        How many meet every constraint.
    feasible
        Returns which, (n,).
    rows
        Positions of those that meet every constraint and that no pivot dominates, (c,), rising.
    loss
        Rounded losses of these, (c, m).
    """

    count: int
    feasible: Callable[[], NDArray[np.bool_]]
    rows: NDArray[np.intp]
    loss: NDArray[np.float64]


class Compiled:
    """The kernels of a layout; each is compiled when it is first needed.

    Attributes
    ----------
    refused
        Why there are none, if so.
    """

    def __init__(self, layout: Layout) -> None:
        """Begin without a kernel."""
        self.refused = ""
        self._layout = layout
        self._kernels: dict[int, Any] = {}
        self._buffers = np.empty((2, 0), dtype=bool), np.empty(0)

    def candidates(self, points: Block | Boxes, pivots: NDArray[np.float64]) -> Candidates | None:
        """Return the designs that no pivot, (p, m), dominates.

        None where there is no kernel, or where a number may be none: numpy must evaluate.
        """
        if isinstance(points, Boxes):
            lane, steps, corners = len(points.steps), points.steps, points.corners
        else:
            lane = self._lane(points.shape)
            steps = tuple(1 if axis == lane else size for axis, size in enumerate(points.shape))
            corners = _along(points, lane)
        try:
            kernel = self._kernel(lane)
        except UncompiledError as error:
            self.refused = str(error)
            return None
        flags, losses, suspect = self._called(kernel, steps, corners, pivots)
        if suspect:
            return None
        places = np.flatnonzero(flags[1])
        rows = _rows(places, steps, lane, len(corners), flags.shape[-1] // math.prod(steps))
        order = np.argsort(rows)
        loss = losses[:, places[order]].T

        def feasible() -> NDArray[np.bool_]:
            own = flags[0].reshape(*steps, -1)[..., : len(corners)]
            if lane < len(steps):
                own = np.moveaxis(own.squeeze(lane), -1, lane)
            return np.ravel(own)

        return Candidates(int(np.count_nonzero(flags[0])), feasible, rows[order], loss)

    def _lane(self, shape: Sequence[int]) -> int:
        """Return the axis of a block along which registers are filled best."""
        from dse.model.tape.operations import LANES

        def work(axis: int) -> float:
            known = 1.0 if axis in self._kernels else ANOTHER
            return known * math.ceil(shape[axis] / LANES) / shape[axis]

        return min(range(len(shape)), key=work)

    def _kernel(self, lane: int) -> Any:
        """Return the kernel for designs next to each other on an axis; on all, after the last."""
        if self.refused:
            raise UncompiledError(self.refused)
        if lane not in self._kernels:
            from dse.model.tape import kernel

            axes = len(self._layout.space.sizes)
            varied = (1 << axes) - 1 if lane == axes else 1 << lane
            self._kernels[lane] = kernel.machine_code(kernel.Writer(self._layout, varied).write())
        return self._kernels[lane][1]

    def _called(
        self, kernel: Any, steps: Sequence[int], corners: Index, pivots: NDArray[np.float64]
    ) -> tuple[NDArray[np.bool_], NDArray[np.float64], bool]:
        """Return flags (2, inside * padded) and losses (m, inside * padded), in buffers."""
        from dse.model.tape.operations import LANES

        count, goals = len(corners), len(self._layout.tape.loss)
        padded = -(-count // LANES) * LANES
        total = math.prod(steps) * padded
        if self._buffers[0].shape[1] < total:
            self._buffers = np.empty((2, total), dtype=bool), np.empty(goals * total)
        flags = self._buffers[0][:, :total]
        losses = self._buffers[1][: goals * total].reshape(goals, total)
        lanes = np.empty((len(steps), padded), dtype=np.int32)
        lanes[:, :count] = corners.T
        lanes[:, count:] = corners[-1:].T
        pivots = np.ascontiguousarray(pivots)
        suspect = np.zeros(1, dtype=bool)
        arrays = (lanes, np.array(steps, dtype=np.int64), pivots, *flags, losses, suspect)
        kernel(count, len(pivots), *(array.ctypes.data for array in arrays))
        return flags, losses, bool(suspect[0])


def _along(block: Block, lane: int) -> Index:
    """Return the designs of a block that are first on every axis but one."""
    first = np.array([first for first, _ in block.ranges], dtype=np.int64)
    corners = np.repeat(first[np.newaxis], block.shape[lane], axis=0)
    corners[:, lane] += np.arange(len(corners))
    return corners


def _rows(
    places: NDArray[np.intp], steps: Sequence[int], lane: int, count: int, padded: int
) -> NDArray[np.intp]:
    """Return the positions, among the designs requested, of places in a buffer."""
    inside, corner = np.divmod(places, padded)
    if lane == len(steps):
        return inside * count + corner
    after = math.prod(steps[lane + 1 :])
    outer, inner = np.divmod(inside, after)
    return (outer * count + corner) * after + inner


def require_llvmlite() -> None:
    """Raise `MissingLibraryError` when what kernels need is not installed."""
    try:
        from dse.model.tape import kernel  # noqa: F401
    except ImportError as error:
        instead = ", or write search.compiled: no"
        raise MissingLibraryError("search.compiled: yes", "llvmlite", "fast", instead) from error


@cache
def has_llvmlite() -> bool:
    """Tell whether what kernels need is installed."""
    try:
        require_llvmlite()
    except MissingLibraryError:
        return False
    return True
