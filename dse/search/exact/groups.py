"""Scenarios that share fleets, and what matters in them; all are searched together."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dse.contract import Column
from dse.model.bounds import Bounds
from dse.model.fleet import Traits
from dse.model.influence import Influence, beside_stages
from dse.model.space import Index
from dse.model.stage import SHARED_COLUMNS, Columns, StageParts
from dse.search.exact.chains import Chains, PartialChains, chains, part_of
from dse.search.exact.fleets import WHOLE, Fleets, Shortlist
from dse.search.exact.growing import TooManyPartsError
from dse.search.exact.measures import Directions, Matrix, Measure, in_each_measure
from dse.search.exact.work import NotComposedError, portions

MOST_LOOKED = 50_000_000
"""Fleets that are examined one by one, over all scenarios that do not share them."""

ROUNDS = 3
"""Times that shortlists are shortened by bounds, which the shorter ones sharpen."""

CHUNK = 50_000
"""Scenarios that are bounded together."""

Offer = tuple[Sequence[tuple[Traits, Traits]], Index]
"""Ends of the traits of each stage in some scenarios, one value or one for each; and these."""

Ends = Mapping[int, tuple[Traits, Traits]]
"""Least and largest values of the traits of what is known, by stage."""

Made = Callable[[NDArray[np.int64], NDArray[np.intp]], Index]
"""Returns the designs of a scenario whose chains are in some rows."""


class Comparison(Protocol):
    """What parts of designs are compared with; see `dse.search.exact.prospects`."""

    def narrowed(self, stage: int, traits: Traits) -> Comparison:
        """Return the same where a stage has no fleets but those that these stand for."""

    def open(self, known: Ends, count: int, made: Made | None = None) -> NDArray[np.bool_]:
        """Return which of `count` parts may lead to the front."""


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
    scenarios
        These, as designs (s, d).
    compared
        Returns what fleets and chains are compared with whose traits are wanted in directions, and
        capacity up to what is useful.
    wants
        In which directions traits matter in each, (s, 2 answers, traits, 2 ends).  The answers
        are those of `Influence.wants`.
    """

    influence: Influence
    rows: NDArray[np.intp]
    fleets: tuple[Fleets, ...]
    scenarios: Index
    compared: Callable[[Group, Directions, Sequence[float]], Comparison]
    _lists: dict[tuple[Directions, float], Lists | None] = field(default_factory=dict)
    wants: NDArray[np.bool_] = field(default_factory=lambda: np.zeros((0, 2, 0, 2), dtype=bool))

    @cached_property
    def hulls(self) -> list[tuple[Traits, Traits]]:
        """Ends of the traits of each stage; fewer than stages when one has no fleet."""
        return [hull for stage in self.fleets if (hull := stage.hull) is not None]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The traits."""
        return tuple(self.hulls[0][0])

    @property
    def complete(self) -> bool:
        """Whether every stage has a fleet."""
        return len(self.hulls) == len(self.fleets)

    def with_empty(self, stage: int, scenarios: Index) -> Offer:
        """Return what designs of scenarios offer of which a stage carries nothing."""
        traits = self.fleets[stage].empty
        count = len(next(iter(traits.values())))
        empty = {name: np.tile(one, len(scenarios)) for name, one in traits.items()}
        hulls = [*self.hulls]
        hulls[stage] = empty, empty
        return hulls, np.repeat(scenarios, count, axis=0)

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
                self._lists[key] = self._listed(directions, enough)
            except NotComposedError:
                self._lists[key] = None
        return self._lists[key]

    def _listed(self, directions: Directions, enough: float) -> Lists:
        """Return shortlisted fleets, without those that cannot lead to the front."""
        useful = [self.useful(stage, enough) for stage in range(len(self.fleets))]
        prospects = self.compared(self, directions, useful)

        def hopeful(stage: int, low: Traits, high: Traits) -> NDArray[np.bool_]:
            return prospects.open({stage: (low, high)}, len(next(iter(low.values()))))

        def shortened(stage: int, turn: int) -> Shortlist:
            likely = partial(hopeful, stage)
            if stage in found:
                return found[stage].taken(likely(*found[stage].ends))
            banded = turn > 1
            return self.fleets[stage].shortlist(directions, useful[stage], likely, banded=banded)

        found: dict[int, Shortlist] = {}
        order = sorted(range(len(self.fleets)), key=lambda stage: self.fleets[stage].count)
        for turn, stage in itertools.product(range(1 + ROUNDS), order):
            try:
                found[stage] = shortened(stage, turn)
            except TooManyPartsError:
                if turn > 1:
                    raise
                continue  # the lists of the others narrow its bounds first
            if not len(found[stage]):  # no design leads to the front
                found = {k: fleets.none for k, fleets in enumerate(self.fleets)}
                break
            prospects = prospects.narrowed(stage, found[stage].traits)
        shortlists = tuple(found[stage] for stage in range(len(order)))
        return Lists(self, directions, enough, shortlists, prospects)


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
    prospects
        Say which chains may lead to the front.
    """

    group: Group
    directions: Directions
    enough: float
    shortlists: tuple[Shortlist, ...]
    prospects: Comparison

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
    def by_capacity(self) -> tuple[PartialChains, ...]:
        """The fleets of each stage, where more capacity is wanted, with the levels of their use."""
        level = [one.name for one in self.wanted].index(min(self.group.influence.capacities))
        return tuple(
            part_of(np.arange(len(some))[:, np.newaxis], self.measured(some.traits, stage), level)
            for stage, some in enumerate(self.shortlists)
        )

    @cached_property
    def chains(self) -> Chains | None:
        """Chains of which one is as good as any; None when they are too many."""
        try:
            return chains(
                self.wanted,
                [self.measured(some.traits, stage) for stage, some in enumerate(self.shortlists)],
                self._hopeful,
            )
        except NotComposedError:
            return None

    def _hopeful(self, stages: Sequence[int], picks: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Return which chains of some stages may lead to the front, by which fleets they pick."""
        known = {}
        for stage, picked in zip(stages, picks.T, strict=True):
            known[stage] = self.shortlists[stage].taken(picked).ends

        def made(scenario: NDArray[np.int64], rows: NDArray[np.intp]) -> Index:
            index = np.repeat(scenario[np.newaxis], len(rows), axis=0)
            for stage, picked in zip(stages, picks[rows].T, strict=True):
                places = self.group.fleets[stage].part.places
                index[:, places] = self.shortlists[stage].positions[picked]
            return index

        whole = len(stages) == len(self.shortlists)
        return self.prospects.open(known, len(picks), made if whole else None)


def fleet_kinds(
    bounds: Bounds, parts: Sequence[StageParts], scenarios: Index
) -> tuple[Matrix, NDArray[np.intp], Sequence[str]]:
    """Return what tells the fleets of scenarios (s, d) apart, kind by kind, and which kind each is.

    The last but one columns are what is settled beside stages, of which the names are returned.
    """
    columns = bounds.problem.space.columns(scenarios)
    known = beside_stages(bounds, columns)
    deciding = (*SHARED_COLUMNS, *(part.stage.policy for part in parts))
    shared = [columns[name] for name in deciding if name in columns]
    shared += [*known.values(), bounds.floor(columns)]
    table = np.stack([np.broadcast_to(values, (len(scenarios),)) for values in shared], axis=1)
    keys, which = np.unique(table, axis=0, return_inverse=True)
    return keys, which.reshape(-1), tuple(known)


def sharing_fleets(
    bounds: Bounds,
    parts: Sequence[StageParts],
    scenarios: Index,
    compared: Callable[[Group, Directions, Sequence[float]], Comparison],
) -> list[Group]:
    """Return which of the scenarios (s, d) share fleets; nothing when they are too many.

    Those are omitted in which a stage has no fleet.
    """
    keys, which, known = fleet_kinds(bounds, parts, scenarios)
    sizes = bounds.problem.space.sizes
    counts = [math.prod(sizes[k] for k in part.places) for part in parts]
    if len(keys) * sum(min(count, WHOLE) for count in counts) > MOST_LOOKED:
        return []
    found = []
    for position, key in enumerate(keys):
        rows = np.flatnonzero(which == position)
        values = dict(zip(known, key[-1 - len(known) : -1], strict=True))
        fixed = {name: np.full(1, value) for name, value in values.items() if np.isfinite(value)}
        influence = Influence(bounds, fixed)
        point, floor = scenarios[rows[0]], float(key[-1])
        fleets = tuple(Fleets(influence, part, point, floor) for part in parts)
        found.append(Group(influence, rows, fleets, scenarios[rows], compared))
    return _with_wants([group for group in _without_empty(found) if group.complete])


def _without_empty(groups: Sequence[Group]) -> list[Group]:
    """Omit fleets that carry nothing where no design (s, d) with one is feasible."""
    fleets = [list(group.fleets) for group in groups]
    chosen = [
        (position, stage)
        for position, group in enumerate(groups)
        for stage, one in enumerate(group.fleets)
        if group.complete and group.influence.capacities and one.floor < one.smallest
    ]
    offers = [groups[k].with_empty(stage, groups[k].scenarios) for k, stage in chosen]
    asking = [groups[k] for k, _ in chosen]
    for (k, stage), (_, violation) in zip(chosen, bounds_of(asking, offers), strict=True):
        if (violation > 0).any(axis=1).all():
            fleets[k][stage] = replace(fleets[k][stage], floor=fleets[k][stage].smallest)
    return [replace(group, fleets=tuple(own)) for group, own in zip(groups, fleets, strict=True)]


def _with_wants(groups: Sequence[Group]) -> list[Group]:
    """Find out in which directions traits matter in the scenarios of groups."""
    found = [*groups]
    offers = [(group.hulls, group.scenarios) for group in groups]
    for influence, columns, count, own in _together(groups, offers):
        names = groups[own[0][0]].names
        answers = influence.wants(columns, count)
        table = np.array([[want[name] for name in names] for want in answers])
        for k, rows in own:
            found[k] = replace(groups[k], wants=table[..., rows].transpose(3, 0, 1, 2))
    return found


def capacity_enough(groups: Sequence[Group]) -> list[Column]:
    """Return what capacity is enough in the scenarios of groups; see `Influence.enough`."""
    found = [np.empty(0)] * len(groups)
    offers = [(group.hulls, group.scenarios) for group in groups]
    for influence, columns, count, own in _together(groups, offers):
        enough = np.broadcast_to(influence.enough(columns), (count,))
        for k, rows in own:
            found[k] = enough[rows]
    return found


def bounds_of(groups: Sequence[Group], offers: Sequence[Offer]) -> list[tuple[Matrix, Matrix]]:
    """Return the least losses and violations of designs of each group that offer this."""
    found = [(np.empty((0, 0)), np.empty((0, 0)))] * len(groups)
    for influence, columns, count, own in _together(groups, offers):
        loss, violation = influence.bounds.best(columns, count)
        for k, rows in own:
            found[k] = loss[rows], violation[rows]
    return found


def _together(
    groups: Sequence[Group], offers: Sequence[Offer]
) -> Iterator[tuple[Influence, Columns, int, list[tuple[int, slice]]]]:
    """Yield what designs of groups of the same traits offer, and which rows are whose."""
    chosen = [k for k, (_, index) in enumerate(offers) if len(index)]
    chosen.sort(key=lambda k: groups[k].names)
    for _, alike in itertools.groupby(chosen, lambda k: groups[k].names):
        for some in portions(((k, offers[k][1]) for k in alike), CHUNK):
            influence = groups[some[0][0]].influence
            edges = [0, *itertools.accumulate(len(index) for _, index in some)]
            index = np.concatenate([index for _, index in some])
            columns: Columns = influence.bounds.problem.space.columns(index)
            hulls = zip(*(offers[k][0] for k, _ in some), strict=True)
            ends = zip(*(_stacked(stage, np.diff(edges)) for stage in hulls), strict=True)
            rows = itertools.starmap(slice, itertools.pairwise(edges))
            own = [(k, which) for (k, _), which in zip(some, rows, strict=True)]
            yield influence, columns | influence.enclosed_chain(*ends), len(index), own


def _stacked(
    hulls: Sequence[tuple[Traits, Traits]], counts: NDArray[np.intp]
) -> tuple[Traits, Traits]:
    """Return the ends of the traits of one stage in several sets of designs, as one."""
    if len(hulls) == 1:
        return hulls[0]
    found = []
    for ends in zip(*hulls, strict=True):
        found.append(
            {
                name: np.concatenate(
                    [np.broadcast_to(end[name], n) for end, n in zip(ends, counts, strict=True)]
                )
                for name in ends[0]
            }
        )
    low, high = found
    return (low, low) if all(one is other for one, other in hulls) else (low, high)


def measures(
    influence: Influence, names: Sequence[str], directions: Directions, stages: int
) -> tuple[Measure, ...]:
    """Return what is wanted of chains of so many stages."""
    found = []
    for name, wanted in zip(names, directions, strict=True):
        for high in (False, True):
            if wanted[high] and name in influence.joined:
                found.append(Measure(name, high, None, _join(influence.over_stages(name), high)))
            elif wanted[high]:
                found += [Measure(name, high, stage, "sum") for stage in range(stages)]
    return tuple(found)


def _join(over_stages: str, high: bool) -> str:
    """Return how stages join a trait or its negative of which low values are wanted."""
    if over_stages == "sum":
        return "sum"
    return "worst" if (over_stages == "least") == high else "best"
