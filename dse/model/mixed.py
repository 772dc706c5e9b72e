"""Quantities of a mix of sizes: a quantity that is not linear in the size uses each size."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce, wraps
from typing import Any

import numpy as np

from dse.contract import SIZE, Column, Objective

TASKS_OFFLOADED, PAYLOAD_OFFLOADED = "workload_tasks_offloaded", "workload_payload_offloaded"
"""Columns with the shares of all tasks, and of their payload, that are offloaded.

The first distinguishes policies of a study.
"""

SharedSizes = tuple[tuple[float, float], ...]
"""Sizes in bytes, each with its share."""


@dataclass(frozen=True)
class Parted:
    """A mix of sizes of which some stay on the host.

    Attributes
    ----------
    share
        Share of all tasks that is offloaded.
    offloaded, staying
        The sizes that are offloaded and the sizes that stay, with shares that add up to 1 of each.
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
    change in proportion.

    Attributes
    ----------
    objectives
        Objectives of offloads of one size.
    parts
        The mix.  For several policies, one mix for each of them.
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
