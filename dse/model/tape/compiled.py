"""Blocks and boxes of designs, evaluated by machine code: flags of all, losses of candidates."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.model.space import Block, Boxes
from dse.model.tape.layout import Layout


@dataclass(frozen=True)
class Candidates:
    """Designs that no pivot dominates, among those that were looked at.

    Attributes
    ----------
    feasible
        Which of all designs meet every constraint, (n,).
    rows
        Which of them are feasible and dominated by no pivot, (c,), rising.
    loss
        Rounded losses of these, (c, m).
    """

    feasible: NDArray[np.bool_]
    rows: NDArray[np.intp]
    loss: NDArray[np.float64]


class Compiled:
    """The kernels of a layout; each is compiled when it is first needed."""

    def __init__(self, layout: Layout) -> None:
        """Begin without a kernel."""
        self._layout = layout
        self._kernels: dict[int, Any] = {}
        self._engines: list[Any] = []

    def candidates(
        self, points: Block | Boxes, pivots: NDArray[np.float64]
    ) -> Candidates | None:
        """Return the designs that no pivot (p, m) dominates; None where a number may be none."""
        if isinstance(points, Boxes):
            steps, corners = points.steps, points.corners
            varied = (1 << len(steps)) - 1
            lane = len(steps)
        else:
            lane = self._lane(points.shape)
            varied = 1 << lane
            first = np.array([first for first, _ in points.ranges], dtype=np.int64)
            corners = np.repeat(first[np.newaxis], points.shape[lane], axis=0)
            corners[:, lane] += np.arange(len(corners))
            steps = tuple(1 if axis == lane else size for axis, size in enumerate(points.shape))
        flags, losses, suspect = self._call(varied, steps, corners, pivots)
        if suspect:
            return None
        shape = (*steps, flags.shape[-1])
        # lanes come last; in a block they are one of its axes
        own = flags.reshape(shape)[..., : len(corners)]
        if lane < len(steps):
            own = np.moveaxis(np.squeeze(own, lane), -1, lane)
        own = own.reshape(-1)
        rows = np.flatnonzero(own & 2)
        return Candidates((own & 1).astype(bool), rows, self._losses(losses, rows, shape, lane, len(corners)))

    def _losses(self, losses: Any, rows: Any, shape: Any, lane: int, count: int) -> Any:
        if lane == len(shape) - 1:
            inside, last = np.divmod(rows, count)
            return losses[:, inside, last].T
        sizes = tuple(count if axis == lane else size for axis, size in enumerate(shape[:-1]))
        places = list(np.unravel_index(rows, sizes))
        last = places[lane]
        places[lane] = np.zeros_like(last)
        inside = np.ravel_multi_index(tuple(places), shape[:-1])
        return losses[:, inside, last].T

    def _lane(self, shape: tuple[int, ...]) -> int:
        """Return the axis of a block that fills registers best."""
        from dse.model.tape.kernel import LANES

        return min(range(len(shape)), key=lambda axis: -(-shape[axis] // LANES) / shape[axis])

    def _call(self, varied: int, steps: Any, corners: Any, pivots: Any) -> Any:
        from dse.model.tape.kernel import LANES

        goals = len(self._layout.tape.loss)
        count = len(corners)
        padded = -(-count // LANES) * LANES
        lanes = np.empty((corners.shape[1], padded), dtype=np.int32)
        lanes[:, :count] = corners.T
        lanes[:, count:] = corners[-1:].T
        inside = int(np.prod(steps))
        flags = np.empty((inside, padded), dtype=np.uint8)
        losses = np.empty((goals, inside, padded))
        given = np.array(steps, dtype=np.int64)
        pivots = np.ascontiguousarray(pivots)
        suspect = np.zeros(1, dtype=np.uint8)
        arrays = (lanes, given, pivots, flags, losses, suspect)
        a, b, c, d, e, f = (array.ctypes.data for array in arrays)
        self.kernel(varied)(count, a, b, c, len(pivots), d, e, f)
        return flags, losses, bool(suspect[0])

    def kernel(self, varied: int) -> Any:
        """Return the kernel for designs that differ on some axes only; compiled once."""
        if varied not in self._kernels:
            from dse.model.tape.kernel import Writer

            text = Writer(self._layout, varied).write()
            engine, function = compiled(text)
            self._engines.append(engine)
            self._kernels[varied] = function
        return self._kernels[varied]


@cache
def _machine() -> Any:
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=3
    )


def compiled(text: str) -> tuple[Any, Callable[..., None]]:
    """Return what holds machine code, and the function itself."""
    import llvmlite.binding as llvm

    module = llvm.parse_assembly(text)
    module.verify()
    machine = llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=3
    )
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    long, pointer = ctypes.c_int64, ctypes.c_void_p
    kind = ctypes.CFUNCTYPE(None, long, pointer, pointer, pointer, long, pointer, pointer, pointer)
    return engine, kind(engine.get_function_address("kernel"))
