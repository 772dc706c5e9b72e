"""Sizes of messages: quantities of a mix of sizes, and tasks that messages fill in part.

A quantity that is not linear in the size uses each size of a mix.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce, wraps
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.algebra.enclosure import Enclosure, ends
from dse.contract import SIZE, Column, Objective
from dse.model.designs import Designs

TASKS_OFFLOADED, PAYLOAD_OFFLOADED = "workload_tasks_offloaded", "workload_payload_offloaded"
"""Columns with the shares of all tasks, and of their payload, that are offloaded.

The first distinguishes policies of a study.
"""

SharedSizes = tuple[tuple[float, float], ...]
"""Sizes in bytes, each with its share."""


@dataclass(frozen=True)
class Parted:
    """A mix of sizes, and the share of all tasks that is offloaded.  Other sizes stay on the host.

    The shares of sizes that are offloaded, and of those that stay, add up to 1 each.
    """

    share: float
    offloaded: SharedSizes
    staying: SharedSizes = ()

    @property
    def mean(self) -> float:
        """Return the mean size of offloaded tasks, in bytes."""
        return sum(share * size for size, share in self.offloaded)

    @property
    def cv2(self) -> float:
        """Return the squared coefficient of variation of the offloaded sizes."""
        mean = self.mean
        return sum(share * (size / mean - 1.0) ** 2 for size, share in self.offloaded)


@dataclass(frozen=True)
class Mixed(Mapping[str, Objective]):
    """Objectives by name, of offloads of several sizes.

    The column `SIZE` holds the mean of the offloaded sizes.  If it is changed, all sizes
    change in proportion.  `objectives` are of offloads of one size, and `parts` the mix, or one mix
    for each of several policies.
    """

    objectives: Mapping[str, Objective]
    parts: Sequence[Parted]

    def __getitem__(self, name: str) -> Objective:
        """Return an objective, of the mix."""
        found = self.objectives[name]
        return replace(found, function=self._over(found)) if found.over_sizes else found

    def __contains__(self, name: object) -> bool:
        """Return whether there is an objective of this name."""
        return name in self.objectives

    def __iter__(self) -> Iterator[str]:
        """Yield the names."""
        return iter(self.objectives)

    def __len__(self) -> int:
        """Return the number of objectives."""
        return len(self.objectives)

    def _over(self, objective: Objective) -> Callable[..., Column]:
        known = inspect.signature(objective.function).parameters
        chooses = len(self.parts) > 1 and TASKS_OFFLOADED not in known

        @wraps(objective.function)
        def of_mix(**columns: Any) -> Column:
            first, *others = self.parts
            own = {name: columns[name] for name in columns if name in known}
            found: Column = _of(objective, first, own)
            for parted in others:
                chosen = np.equal(columns[TASKS_OFFLOADED], parted.share)
                found = np.where(chosen, _of(objective, parted, own), found)
            return found

        if chooses:
            extra = inspect.Parameter(TASKS_OFFLOADED, inspect.Parameter.KEYWORD_ONLY)
            signature = inspect.Signature([*known.values(), extra])
            of_mix.__signature__ = signature  # type: ignore[attr-defined]
        return of_mix


def _of(objective: Objective, parted: Parted, columns: Mapping[str, Any]) -> Any:
    """Return the value of an objective for a mix."""
    scale = columns[SIZE] / parted.mean  # exactly 1 for the mean of the study
    chosen = parted.staying if objective.over_sizes == "staying" else parted.offloaded
    pairs = [(scale * size, share) for size, share in chosen]
    if objective.over_sizes == "together":
        order = sorted(range(len(pairs)), key=lambda place: chosen[place][0])
        return objective.function(**{**columns, SIZE: tuple(pairs[place] for place in order)})
    each = [objective.function(**{**columns, SIZE: size}) for size, _ in pairs]
    if objective.over_sizes == "largest":
        return reduce(np.maximum, each)
    parts = [share * one for one, (_, share) in zip(each, pairs, strict=True)]
    return sum(parts[1:], parts[0]) if parts else 0.0 * scale


_ROUNDING = 1e-12
"""Relative rounding error allowed in a whole number of tasks."""

ONE_SIZE = (Parted(1.0, ((1.0, 1.0),)),)
"""Messages of one size."""

DECIDING = (SIZE, TASKS_OFFLOADED)
"""Columns that decide the share of tasks that messages fill."""


def whole_tasks(
    size_byte: Column | float, payload_bit: Column | float, message_end_bit: Column | float
) -> Column:
    """Return the number of tasks of a message with its end: ``ceil((8 g + e) / p)``."""
    bits = 8.0 * size_byte + message_end_bit
    tasks: Column = np.ceil(bits / payload_bit * (1.0 - _ROUNDING))
    return tasks


def filled_share(
    parts: Sequence[Parted],
    columns: Mapping[str, Any],
    payload_bit: Column | float,
    message_end_bit: Column | float,
) -> Any:
    """Return the share of the payload of whole tasks that messages fill.  Columns broadcast.

    ``8 g / (p sum_i s_i ceil((8 g_i + e) / p))`` for messages of g_i bytes, a share s_i of all,
    with mean g, and for tasks of p bit.
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
    """Return designs with the filled share of their tasks, and positions of groups in them.

    If sizes differ from row to row, the designs are repeated for each size.
    """
    given = {name: columns[name] for name in DECIDING if name in columns}
    shape = np.broadcast_shapes(*(column.shape for column in given.values()))
    if SIZE not in given or not parts or not math.prod(shape):
        return designs, positions
    drawn = any(np.ndim(metric) > 1 for metric in vars(designs.metrics).values())
    if math.prod(shape) > 1 and not (drawn and shape[-1] == 1):
        return _for_each_size(designs, parts, given, positions)
    if math.prod(shape) == 1:
        given = {name: column.reshape((1,)) for name, column in given.items()}
    metrics = designs.metrics
    share = filled_share(parts, given, metrics.payload_bit, metrics.message_end_bit)
    return designs if _all_filled(share) else replace(designs, filled=share), positions


def _for_each_size(
    designs: Designs,
    parts: Sequence[Parted],
    given: Mapping[str, Any],
    positions: list[NDArray[np.int64]],
) -> tuple[Designs, list[NDArray[np.int64]]]:
    """Return the designs once for each size of some rows, and the positions of each row."""
    every = np.broadcast_arrays(*(end for column in given.values() for end in ends(column)))
    kinds, which = np.unique(np.stack(every).reshape(len(every), -1), axis=1, return_inverse=True)
    low, high = kinds[::2, np.newaxis], kinds[1::2, np.newaxis]
    columns = {
        name: Enclosure(low[k].T, high[k].T) if isinstance(column, Enclosure) else low[k].T
        for k, (name, column) in enumerate(given.items())
    }
    metrics = designs.metrics
    by_size = (metrics.payload_bit[..., np.newaxis, :], metrics.message_end_bit[..., np.newaxis, :])
    share = filled_share(parts, columns, *by_size)
    if _all_filled(share):
        return designs, positions
    count = kinds.shape[1]
    repeated = {
        name: np.concatenate([metric] * count, axis=-1) for name, metric in vars(metrics).items()
    }
    filled = share.reshape((*share.shape[:-2], -1))
    made = Designs(designs.names, replace(metrics, **repeated), {}, filled)
    first = which.reshape(every[0].shape) * metrics.payload_bit.shape[-1]
    return made, [first + position for position in positions]


def _all_filled(share: Any) -> bool:
    return not isinstance(share, Enclosure) and bool((share == 1.0).all())
