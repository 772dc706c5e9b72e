"""Fronts from shortlists: in a scenario, most fleets of a stage can be replaced by a better one.

Whether a fleet can be replaced depends on the scenario only through the directions in which its
traits are wanted (`dse.model.influence`), so one shortlist serves many scenarios, and so do the
chains of shortlisted fleets (`dse.search.exact.chains`).  What carries the demand may be left out
of the directions and looked at afterwards: every chain is evaluated, and where one that fails the
demand could stand for others that are not dominated, the scenario stays open.

Replacing a fleet by a better one may leave the losses as they are, so equals of a front's designs
are looked for at the end (`dse.search.exact.ties`).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dse.contract import Column
from dse.model.bounds import Bounds, Columns
from dse.model.front import nondominated
from dse.model.influence import Influence, Traits, beside_stages
from dse.model.space import Index
from dse.model.stage import SHARED_COLUMNS
from dse.search.exact.chains import Chains, chains
from dse.search.exact.fleets import WHOLE, Fleets, Shortlist, signed_traits
from dse.search.exact.measures import Directions, Measure, in_each_measure, measures
from dse.search.exact.partial import NotComposedError, PartialDesigns, StageParts, ends_by_scenario

MOST_LOOKED = 50_000_000
"""Fleets that are looked at one by one, over all scenarios that do not share them."""


@dataclass(frozen=True)
class Group:
    """Scenarios that share fleets.

    Attributes
    ----------
    influence
        Which traits there are.
    rows
        Which of the scenarios.
    fleets
        Of each stage.
    """

    influence: Influence
    rows: NDArray[np.intp]
    fleets: tuple[Fleets, ...]
    _lists: dict[tuple[Directions, float], Lists | None] = field(default_factory=dict)
    _wants: dict[bytes, NDArray[np.bool_]] = field(default_factory=dict)

    @cached_property
    def hulls(self) -> list[tuple[Traits, Traits]]:
        """Ends of the traits of each stage; fewer than stages when one has no fleet."""
        return [hull for stage in self.fleets if (hull := stage.hull) is not None]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The traits."""
        return tuple(self.hulls[0][0])

    def columns(self, scenarios: Index) -> Columns:
        """Return what all designs of scenarios (s, d) offer."""
        columns: Columns = self.influence.bounds.problem.space.columns(scenarios)
        return columns | self.influence.enclosed_chain(*zip(*self.hulls, strict=True))

    def wants(self, scenarios: Index) -> NDArray[np.bool_]:
        """Return in which directions traits matter in scenarios, (s, 2 answers, traits, 2 ends).

        The answers are those of `Influence.wants`.
        """
        keys = [row.tobytes() for row in scenarios]
        new = scenarios[[key not in self._wants for key in keys]]
        if len(new):
            answers = self.influence.wants(self.columns(new), len(new))
            table = np.array([[want[name] for name in self.names] for want in answers])
            rows = zip(new, table.transpose(3, 0, 1, 2), strict=True)
            self._wants.update((row.tobytes(), wanted) for row, wanted in rows)
        return np.stack([self._wants[key] for key in keys])

    def with_empty(
        self, stage: int, scenarios: Index
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the least losses and violations of designs of which a stage carries nothing."""
        traits = self.fleets[stage].empty
        lows, highs = ([hull[end] for hull in self.hulls] for end in (0, 1))
        lows[stage] = highs[stage] = {
            name: np.tile(one, len(scenarios)) for name, one in traits.items()
        }
        count = len(next(iter(lows[stage].values())))
        index = np.repeat(scenarios, count // len(scenarios), axis=0)
        columns: Columns = self.influence.bounds.problem.space.columns(index)
        columns |= self.influence.enclosed_chain(lows, highs)
        return self.influence.bounds.best(columns, {}, count)

    def useful(self, stage: int, enough: float) -> float:
        """Return from which capacity of a stage on more of it changes nothing.

        What is `enough`, or the most that another stage can carry: the chain has the least.
        """
        others = [high for place, (_, high) in enumerate(self.hulls) if place != stage]
        most = [float(high[name][0]) for name in self.influence.capacities for high in others]
        return min([enough, *most])

    def lists(self, directions: Directions, enough: float) -> Lists | None:
        """Return what is listed for directions, up to what is enough; None when it is too much."""
        key = directions, enough
        if key not in self._lists:
            try:
                lists = tuple(
                    fleets.shortlist(directions, self.useful(stage, enough))
                    for stage, fleets in enumerate(self.fleets)
                )
                self._lists[key] = Lists(self, directions, enough, lists)
            except NotComposedError:
                self._lists[key] = None
        return self._lists[key]


@dataclass(frozen=True)
class Lists:
    """Shortlisted fleets of each stage, and chains of them.

    Attributes
    ----------
    group
        Whose scenarios.
    directions, enough
        In which directions traits are wanted, and from which capacity on more is no better.
    shortlists
        Of each stage.
    """

    group: Group
    directions: Directions
    enough: float
    shortlists: tuple[Shortlist, ...]

    @cached_property
    def wanted(self) -> tuple[Measure, ...]:
        """What is to be low in a chain."""
        return measures(
            self.group.influence, self.group.names, self.directions, len(self.shortlists)
        )

    def measured(self, traits: Traits, stage: int) -> Column:
        """Return the measures of fleets of one stage."""
        useful = self.group.useful(stage, self.enough)
        capacities = self.group.influence.capacities
        capped = {name: np.minimum(traits[name], useful) for name in capacities}
        return in_each_measure(self.wanted, dict(traits) | capped, stage)

    @cached_property
    def chains(self) -> Chains | None:
        """Chains of which one is as good as any; None when they are too many."""
        try:
            return chains(
                self.wanted,
                [self.measured(some.traits, stage) for stage, some in enumerate(self.shortlists)],
            )
        except NotComposedError:
            return None


@dataclass(frozen=True)
class Case:
    """Scenarios that share fleets, lists of them, and what is wanted.

    Attributes
    ----------
    lists, chains
        Shortlisted fleets, and chains of them; None when those are too many.
    directions, helping
        In which directions traits are wanted, and with what helps to reach the demand.
    scenarios
        Designs (s, d) whose axes outside the stages are chosen.
    """

    lists: Lists
    chains: Chains | None
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
        return math.inf if self.chains is None else len(self.chains)

    def designs(self, chosen: NDArray[np.intp]) -> Index:
        """Return designs of chains, numbered from 0 scenario by scenario."""
        picks = self._picks(chosen)
        index = self.scenarios.take(chosen // int(self.each), axis=0)
        pairs = zip(self.fleets, self.lists.shortlists, strict=True)
        for stage, (fleets, some) in enumerate(pairs):
            index[:, fleets.part.places] = some.positions.take(picks[:, stage], axis=0)
        return index

    def _picks(self, chosen: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return which fleet of each list chains have, (n, stages), numbered likewise."""
        if self.chains is None:
            raise NotComposedError("chains of fleets that none can replace are too many")
        return self.chains.picks.take(chosen % len(self.chains), axis=0)

    def replaceable(
        self, scenarios: Index, parts: Mapping[int, PartialDesigns]
    ) -> dict[int, NDArray[np.bool_]]:
        """Return which fleets of each stage, in `scenarios`, others of `parts` can replace."""
        traits = {k: self.traits(self.fleets[k], rows.index) for k, rows in parts.items()}
        hulls = [
            ends_by_scenario(traits[k], rows.scenario, len(scenarios)) for k, rows in parts.items()
        ]
        columns: Columns = self.influence.bounds.problem.space.columns(scenarios)
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

    def traits(self, fleets: Fleets, index: Index) -> dict[str, Column]:
        """Return the traits of the fleets of one stage in designs."""
        space = self.influence.bounds.problem.space
        with np.errstate(all="ignore"):
            fleet = fleets.part.stage.fleet(space.columns(index))
            return {
                name: np.broadcast_to(values, (len(index),))
                for name, values in self.influence.traits(fleet).items()
            }


def sharing_fleets(bounds: Bounds, parts: Sequence[StageParts], scenarios: Index) -> list[Group]:
    """Return which of the scenarios (s, d) share fleets; nothing when they are too many."""
    count = len(scenarios)
    columns = bounds.problem.space.columns(scenarios)
    known = beside_stages(bounds, columns)
    shared = [columns[name] for name in SHARED_COLUMNS if name in columns]
    shared += [*known.values(), bounds.floor(columns, {})]
    table = np.stack([np.broadcast_to(values, (count,)) for values in shared], axis=1)
    keys, which = np.unique(table, axis=0, return_inverse=True)
    sizes = bounds.problem.sizes
    counts = [math.prod(sizes[k] for k in part.places) for part in parts]
    if len(keys) * sum(min(count, WHOLE) for count in counts) > MOST_LOOKED:
        return []
    found = []
    for position, key in enumerate(keys):
        rows = np.flatnonzero(which.reshape(-1) == position)
        values = dict(zip(known, key[-1 - len(known) : -1], strict=True))
        fixed = {name: np.full(1, value) for name, value in values.items() if np.isfinite(value)}
        influence = Influence(bounds, fixed)
        point, floor = scenarios[rows[0]], float(key[-1])
        fleets = tuple(Fleets(influence, part, point, floor) for part in parts)
        found.append(_without_empty(Group(influence, rows, fleets), scenarios[rows]))
    return found


def _without_empty(group: Group, scenarios: Index) -> Group:
    """Leave out fleets that carry nothing where no design (s, d) with one is feasible."""
    if len(group.hulls) < len(group.fleets) or not group.influence.capacities:
        return group
    fleets = [
        replace(one, floor=one.smallest)
        if one.floor < one.smallest
        and (group.with_empty(stage, scenarios)[1] > 0).any(axis=1).all()
        else one
        for stage, one in enumerate(group.fleets)
    ]
    return replace(group, fleets=tuple(fleets), _lists={}, _wants={})


def cases(
    group: Group, scenarios: Index, *, demands: bool
) -> Iterator[tuple[NDArray[np.intp], Case]]:
    """Divide scenarios (s, d) of a group by the directions in which traits are wanted.

    Yields which of them are a case; those without shortlists are left out.  With `demands` the
    shortlisted fleets are as good as any also in reaching the demand.
    """
    if len(group.hulls) < len(group.fleets) or not len(scenarios):
        return
    influence, names = group.influence, group.names
    table = group.wants(scenarios)
    level = np.full(len(scenarios), np.inf)
    capped = [name in influence.capacities for name in names]
    if demands:  # they share shortlists up to a capacity that is enough for all of them
        free = ~table[:, 0, capped].any(axis=(1, 2))
        enough = np.broadcast_to(influence.enough(group.columns(scenarios)), level.shape)
        with np.errstate(divide="ignore"):
            level[free] = np.exp2(np.ceil(np.log2(enough)))[free]
    table = np.column_stack([table.reshape(len(scenarios), -1), level])
    kinds, which = np.unique(table, axis=0, return_inverse=True)
    for position, kind in enumerate(kinds):
        rows = np.flatnonzero(which.reshape(-1) == position)
        wanted, helping = (
            tuple((bool(low), bool(high)) for low, high in answer)
            for answer in kind[:-1].reshape(2, -1, 2)
        )
        lists = group.lists(helping if demands else wanted, float(kind[-1]))
        if lists is not None:
            yield rows, Case(lists, lists.chains, wanted, helping, scenarios[rows])
