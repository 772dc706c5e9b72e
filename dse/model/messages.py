"""Whole tasks: the share of a task's payload that messages fill, and designs as they see them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.algebra.enclosure import Enclosure, ends
from dse.contract import SIZE, Column
from dse.model.designs import Designs
from dse.model.mixed import TASKS_OFFLOADED, Parted

ROUNDING = 1e-12
"""Relative; what rounding may add to a whole number of tasks."""

ONE_SIZE = (Parted(1.0, ((1.0, 1.0),)),)
"""Messages of one size, whatever it is."""

DECIDING = (SIZE, TASKS_OFFLOADED)
"""Columns that decide how far messages fill tasks."""


def whole_tasks(
    size_byte: Column | float, payload_bit: Column | float, message_end_bit: Column | float
) -> Column:
    """Return how many tasks a message takes with its end: ``ceil((8 g + e) / p)``."""
    bits = 8.0 * size_byte + message_end_bit
    tasks: Column = np.ceil(bits / payload_bit * (1.0 - ROUNDING))
    return tasks


def filled_share(
    parts: Sequence[Parted],
    columns: Mapping[str, Any],
    payload_bit: Column | float,
    message_end_bit: Column | float,
) -> Any:
    """Return the share of the payload of whole tasks that messages fill; columns broadcast.

    ``8 g / (p sum_i s_i ceil((8 g_i + e) / p))`` of messages of g_i bytes, a share s_i of all, of
    mean g, and of tasks of p bit.
    """
    found: Any = np.ones(1)
    for number, one in enumerate(parts):
        scale = columns[SIZE] / one.mean
        tasks = sum(
            share * whole_tasks(scale * size, payload_bit, message_end_bit)
            for size, share in one.offloaded
        )
        filled = np.minimum(8.0 * columns[SIZE] / (payload_bit * tasks), 1.0)
        own = np.equal(columns[TASKS_OFFLOADED], one.share) if number else True
        found = np.where(own, filled, found) if number else filled
    return found


def filled_designs(
    designs: Designs,
    parts: Sequence[Parted],
    columns: Mapping[str, Any],
    positions: list[NDArray[np.int64]],
) -> tuple[Designs, list[NDArray[np.int64]]]:
    """Return designs as messages fill their tasks, and where groups of instances find theirs.

    Where sizes differ from row to row, the designs stand once for each.
    """
    given = {name: columns[name] for name in DECIDING if name in columns}
    if SIZE not in given or not parts:
        return designs, positions
    payload, end = designs.metrics.payload_bit, designs.metrics.message_end_bit
    shapes = np.broadcast_shapes(*(column.shape for column in given.values()))
    drawn = any(np.ndim(metric) > 1 for metric in vars(designs.metrics).values())
    if np.prod(shapes) == 1 or (drawn and shapes[-1] == 1):
        if np.prod(shapes) == 1:
            given = {name: column.reshape((1,)) for name, column in given.items()}
        share = filled_share(parts, given, payload, end)
        whole = not isinstance(share, Enclosure) and bool((share == 1.0).all())
        return designs if whole else replace(designs, filled=share), positions
    every = [np.broadcast_to(end, shapes).ravel() for one in given.values() for end in ends(one)]
    kinds, which = np.unique(np.stack(every), axis=1, return_inverse=True)
    shares = [
        filled_share(parts, _of_kind(given, kind), payload, end)
        for kind in kinds.T[:, :, np.newaxis]
    ]
    if all(not isinstance(one, Enclosure) and (one == 1.0).all() for one in shares):
        return designs, positions
    metrics = {
        name: np.concatenate([metric] * len(shares), axis=-1)
        for name, metric in vars(designs.metrics).items()
    }
    low, high = (np.concatenate(side, axis=-1) for side in zip(*map(ends, shares), strict=True))
    filled: Any = (
        low if all(not isinstance(one, Enclosure) for one in shares) else Enclosure(low, high)
    )
    first = which.reshape(shapes) * payload.shape[-1]
    made = Designs(designs.names, replace(designs.metrics, **metrics), {}, filled)
    return made, [first + position for position in positions]


def _of_kind(given: Mapping[str, Any], kind: Column) -> dict[str, Any]:
    """Return one value of each column, of its low and high ends (2, 1) each."""
    pairs = zip(given.items(), kind.reshape(-1, 2, 1), strict=True)
    return {
        name: Enclosure(low, high) if isinstance(column, Enclosure) else low
        for (name, column), (low, high) in pairs
    }
