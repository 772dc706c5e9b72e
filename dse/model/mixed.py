"""Quantities of a mix of sizes: what is not linear in the size is taken for each size."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce, wraps
from typing import Any

import numpy as np

from dse.contract import SIZE, Column, Objective


@dataclass(frozen=True)
class Mixed(Mapping[str, Objective]):
    """Objectives by name, of offloads of several sizes.

    The column `SIZE` holds their mean; where that is changed, all sizes change in proportion.

    Attributes
    ----------
    objectives
        Those of offloads of one size.
    sizes, shares
        The sizes in bytes, and the share of all offloads that each has.
    """

    objectives: Mapping[str, Objective]
    sizes: Sequence[float]
    shares: Sequence[float]

    def __getitem__(self, name: str) -> Objective:
        """Return an objective, of the mix."""
        found = self.objectives[name]
        return replace(found, function=self._over(found)) if found.over_sizes else found

    def __contains__(self, name: object) -> bool:
        """Tell whether there is an objective of this name."""
        return name in self.objectives

    def __iter__(self) -> Iterator[str]:
        """Yield the names."""
        return iter(self.objectives)

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.objectives)

    def _over(self, objective: Objective) -> Any:
        mean = sum(share * size for size, share in zip(self.sizes, self.shares, strict=True))

        @wraps(objective.function)
        def of_mix(**columns: Any) -> Column:
            scale = columns[SIZE] / mean  # exactly 1 as the study has it
            sizes = [scale * size for size in self.sizes]
            if objective.over_sizes == "together":
                order = sorted(range(len(sizes)), key=self.sizes.__getitem__)
                pairs = tuple((sizes[place], self.shares[place]) for place in order)
                found: Column = objective.function(**columns | {SIZE: pairs})
                return found
            each = [objective.function(**columns | {SIZE: size}) for size in sizes]
            if objective.over_sizes == "largest":
                return reduce(np.maximum, each)
            parts = [share * one for one, share in zip(each, self.shares, strict=True)]
            found = sum(parts[1:], parts[0])
            return found

        return of_mix
