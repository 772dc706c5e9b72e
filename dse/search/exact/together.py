"""Designs of several cases, bounded together: what each stands for, in rows of one table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Sized
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from dse.contract import Column
from dse.model.bounds import Columns
from dse.model.influence import Influence
from dse.model.space import Index
from dse.search.exact.shortlists import Case

Part = TypeVar("Part", bound=tuple[Any, Sized])


@dataclass(frozen=True)
class Together:
    """Designs of cases that have the same traits.

    Attributes
    ----------
    cases
        Which there are.
    which
        The position of the case of each design, (n,), rising.
    index
        The designs, (n, d).
    """

    cases: Sequence[Case]
    which: NDArray[np.intp]
    index: Index

    @property
    def names(self) -> tuple[str, ...]:
        """The traits."""
        return self.cases[0].lists.group.names

    @cached_property
    def influence(self) -> Influence:
        """Which traits there are, with what is settled in each row."""
        every = [case.influence.settled for case in self.cases]
        settled = {
            name: np.concatenate([one[name] for one in every])[self.which]
            for name in every[0]
            if all(name in one for one in every)
        }
        return replace(self.cases[0].influence, settled=settled)

    @cached_property
    def traits(self) -> list[dict[str, Column]]:
        """Traits of the fleets of the designs, (n,) each, stage by stage."""
        columns = self.influence.bounds.problem.space.columns(self.index)
        found = []
        with np.errstate(all="ignore"):
            for fleets in self.cases[0].fleets:
                traits = self.influence.traits(fleets.part.stage.fleet(columns))
                shape = (len(self.index),)
                found.append({name: np.broadcast_to(one, shape) for name, one in traits.items()})
        return found

    def by_case(self) -> Iterator[tuple[Case, slice]]:
        """Yield the cases that have designs, and which these are."""
        edges = np.searchsorted(self.which, np.arange(len(self.cases) + 1))
        for case, first, last in zip(self.cases, edges[:-1], edges[1:], strict=True):
            if last > first:
                yield case, slice(int(first), int(last))

    def stood_for(self, *, worse: bool = True) -> Columns:
        """Return the columns of all that designs stand for, of whose fleets traits are known.

        That is every chain whose traits are no better in a direction that is wanted; unless
        `worse`, those alone that are the same in what is wanted.
        """
        kept = np.array([case.directions for case in self.cases])  # (cases, traits, ends)
        if not worse:
            kept |= kept.any(axis=2, keepdims=True)
        ends: tuple[list[dict[str, Column]], list[dict[str, Column]]] = ([], [])
        for stage, known in enumerate(self.traits):
            hulls = [case.lists.group.hulls[stage] for case in self.cases]
            for end, found in enumerate(ends):
                found.append(
                    {
                        name: own
                        if kept[:, place, end].all()
                        else np.where(
                            kept[self.which, place, end],
                            own,
                            np.concatenate([hull[end][name] for hull in hulls])[self.which],
                        )
                        for place, (name, own) in enumerate(known.items())
                    }
                )
        columns: Columns = self.influence.bounds.problem.space.columns(self.index)
        return columns | self.influence.enclosed_chain(*ends)


def portions(parts: Iterable[Part], most: int) -> Iterator[list[Part]]:
    """Yield parts together whose last items are no longer than `most` in all, or one alone."""
    some: list[Part] = []
    for part in parts:
        if some and sum(len(one[-1]) for one in some) + len(part[-1]) > most:
            yield some
            some = []
        some.append(part)
    if some:
        yield some
