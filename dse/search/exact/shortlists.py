"""Fronts from shortlists: in a scenario, most fleets of a stage can be replaced by a better one.

Whether a fleet can be replaced depends on the scenario only through the directions in which its
traits are wanted (`dse.model.influence`), so one shortlist serves many scenarios, and so do the
chains of shortlisted fleets (`dse.search.exact.chains`).  What carries the demand may be omitted
of the directions and examined afterwards: every chain is evaluated, and where one that fails the
demand could stand for others that are not dominated, the scenario stays open.

Replacing a fleet by a better one may leave the losses as they are: of designs that share their
losses, one is found.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dse.contract import Column
from dse.model.front import nondominated
from dse.model.influence import Influence
from dse.model.space import Index
from dse.model.stage import Columns
from dse.search.exact.fleets import Fleets, signed_traits
from dse.search.exact.measures import Directions
from dse.search.exact.partial import PartialDesigns, ends_by_scenario
from dse.search.exact.prospects import Group, Lists, lists_of
from dse.search.exact.work import NotComposedError


@dataclass(frozen=True)
class Case:
    """Scenarios that share fleets, lists of them, and what is wanted.

    Attributes
    ----------
    lists
        Shortlisted fleets, and chains of them.
    directions, helping
        In which directions traits are wanted, and with what helps to reach the demand.
    scenarios
        Designs (s, d) whose axes outside the stages are chosen.
    """

    lists: Lists
    directions: Directions
    helping: Directions
    scenarios: Index

    @property
    def influence(self) -> Influence:
        """Which traits there are."""
        return self.lists.group.influence

    @property
    def fleets(self) -> tuple[Fleets, ...]:
        """All fleets of each stage."""
        return self.lists.group.fleets

    def __len__(self) -> int:
        """Return the number of chains in all scenarios."""
        return int(self.each) * len(self.scenarios)

    @property
    def each(self) -> float:
        """Chains in one scenario; infinite when they are too many."""
        return math.inf if self.lists.chains is None else len(self.lists.chains)

    def designs(self, chosen: NDArray[np.intp]) -> Index:
        """Return designs of chains, numbered from 0 scenario by scenario."""
        chains = self.lists.chains
        if chains is None:
            raise NotComposedError("chains of fleets that none can replace are too many")
        picks = chains.take(chosen % len(chains), axis=0)
        index = self.scenarios.take(chosen // len(chains), axis=0)
        pairs = zip(self.fleets, self.lists.shortlists, strict=True)
        for stage, (fleets, some) in enumerate(pairs):
            index[:, fleets.part.places] = some.positions.take(picks[:, stage], axis=0)
        return index

    def replaceable(
        self, scenarios: Index, parts: Mapping[int, PartialDesigns]
    ) -> dict[int, NDArray[np.bool_]]:
        """Return which fleets of each stage, in `scenarios`, others of `parts` can replace."""
        space = self.influence.bounds.problem.space
        traits = {
            k: _traits(self.influence, self.fleets[k], space.columns(rows.index), len(rows))
            for k, rows in parts.items()
        }
        hulls = [
            ends_by_scenario(traits[k], rows.scenario, len(scenarios)) for k, rows in parts.items()
        ]
        columns: Columns = space.columns(scenarios)
        columns |= self.influence.enclosed_chain(*zip(*hulls, strict=True))
        enough = np.broadcast_to(self.influence.enough(columns), (len(scenarios),))
        found = {}
        for stage, rows in parts.items():
            capped = dict(traits[stage])
            for name, wanted in zip(traits[stage], self.directions, strict=True):
                if name in self.influence.capacities and not any(wanted):
                    capped[name] = np.minimum(capped[name], enough[rows.scenario])
            signed = signed_traits(capped, self.helping)
            found[stage] = np.zeros(len(rows), dtype=bool)
            edges = np.searchsorted(rows.scenario, np.arange(len(scenarios) + 1))
            for first, last in itertools.pairwise(edges):
                if last > first:
                    found[stage][first:last] = ~nondominated(signed[first:last])
        return found


def _traits(
    influence: Influence, fleets: Fleets, columns: Columns, count: int
) -> dict[str, Column]:
    """Return the traits of the fleets of one stage in `count` designs."""
    with np.errstate(all="ignore"):
        traits = influence.traits(fleets.part.stage.fleet(columns))
        return {name: np.broadcast_to(values, (count,)) for name, values in traits.items()}


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
        return [
            _traits(self.influence, fleets, columns, len(self.index))
            for fleets in self.cases[0].fleets
        ]

    def stood_for(self) -> Columns:
        """Return the columns of all that designs stand for, of whose fleets traits are known.

        That is every chain whose traits are no better in a direction that is wanted.
        """
        kept = np.array([case.directions for case in self.cases])  # (cases, traits, ends)
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


def cases(group: Group, enough: Column | None) -> Iterator[tuple[NDArray[np.intp], Case]]:
    """Divide the scenarios of a group by the directions in which traits are wanted.

    Yields which of them are a case; those without shortlists are omitted.  Where it is known what
    capacity is `enough`, the shortlisted fleets are as good as any also in reaching the demand.
    """
    table, level = group.wants, np.full(len(group.wants), np.inf)
    capped = [name in group.influence.capacities for name in group.names]
    if enough is not None:  # they share shortlists up to one that is enough for all of them
        free = ~table[:, 0, capped].any(axis=(1, 2))
        with np.errstate(divide="ignore"):
            level[free] = np.exp2(np.ceil(np.log2(enough)))[free]
    kinds: dict[tuple[bytes, float], list[int]] = {}
    for row, most in enumerate(level.tolist()):
        kinds.setdefault((table[row].tobytes(), most), []).append(row)
    for (_, most), some in sorted(kinds.items()):
        wanted, helping = (
            tuple((bool(low), bool(high)) for low, high in answer) for answer in table[some[0]]
        )
        lists = lists_of(group, wanted if enough is None else helping, most)
        if lists is not None:
            rows = np.array(some, dtype=np.intp)
            yield rows, Case(lists, wanted, helping, group.scenarios[rows])
