"""Shortlisted fleets of scenarios that share them, and which may lead to the front of one.

A fleet of a list, or a part of one, stands for all that are no better in the directions in which
the list wants traits, and so does a partial chain.  All of these are enclosed: by its own traits
where they are wanted, and by those of the whole stage where they are not.  It is pruned where, in
every scenario of the group and with the best of the other stages, bounds show that all of them
are infeasible, or that an evaluated design dominates them.

*No design of the front is lost.*  Let D be one, with a fleet f, and let the list have had f', as
good as f in all that is wanted.  D is among what f' and every part of it stand for, so bounds of
these do not exceed the losses of D, which is feasible, and which nothing dominates: f' stays.  What
replaced a part stands for all that this part stood for, so nothing is lost with a part that was
replaced first.  Nor does it matter whether f' itself reaches the demand.  As this holds for the
fleets of all stages of D together, D is also among what lists that are pruned stand for, so these
serve as the other stages (`_others`).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from dse.contract import Column
from dse.model.fleet import Traits
from dse.model.front import nondominated
from dse.model.influence import Influence
from dse.model.space import Index
from dse.model.stage import Columns
from dse.search.exact.chains import chains
from dse.search.exact.fleets import Fleets, Shortlist
from dse.search.exact.growing import TooManyPartsError
from dse.search.exact.incumbents import Incumbents
from dse.search.exact.measures import Directions, Measure, in_each_measure
from dse.search.exact.partial import at_rows
from dse.search.exact.work import CALL, ROW, NotComposedError, spend

FEW = 256
PAYS = 0.9
"""So many are not bounded; nor are more when more than this share of a sample of so many stays."""

MANY = 20_000
"""Before more are bounded, better designs to compare them with are searched for."""

MOST = np.finfo(float).max
"""Bounds that are infinite are compared as this."""

TOGETHER = 16_384
"""Parts that are bounded together."""


ROUNDS = 3
"""Times that shortlists are shortened by bounds, which the shorter ones sharpen."""

Made = Callable[[NDArray[np.int64], NDArray[np.intp]], Index]
"""Returns the designs of a scenario whose chains are in some rows."""


Ends = Mapping[int, tuple[Traits, Traits]]
"""Least and largest values of the traits of what is known, by stage."""


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
    incumbents
        The designs evaluated so far, with which bounds of fleets and chains are compared.
    lists
        What is listed so far, by directions and by what capacity is enough; None: it is too much.
    wants
        In which directions traits matter in each, (s, 2 answers, traits, 2 ends).  The answers
        are those of `Influence.wants`.
    """

    influence: Influence
    rows: NDArray[np.intp]
    fleets: tuple[Fleets, ...]
    scenarios: Index
    incumbents: Incumbents
    lists: dict[tuple[Directions, float], Lists | None] = field(default_factory=dict)
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

    def useful(self, stage: int, enough: float) -> float:
        """Return from which capacity of a stage on more of it changes nothing.

        What is `enough`, or the most that another stage can carry: the chain has the least.
        """
        others = [high for place, (_, high) in enumerate(self.hulls) if place != stage]
        most = [float(high[name][0]) for name in self.influence.capacities for high in others]
        return min([enough, *most])


@dataclass(frozen=True)
class Lists:
    """Shortlisted fleets of each stage, chains of them, and which of these lead to the front.

    Attributes
    ----------
    group
        Whose scenarios.
    directions, useful
        In which directions traits are wanted, and from which capacity of each stage on more is no
        better.
    found
        The fleets listed so far, by stage.
    """

    group: Group
    directions: Directions
    useful: Sequence[float]
    found: Mapping[int, Shortlist] = field(default_factory=dict)

    @cached_property
    def shortlists(self) -> tuple[Shortlist, ...]:
        """The fleets of each stage, once all of them are listed."""
        return tuple(self.found[stage] for stage in range(len(self.group.fleets)))

    @cached_property
    def wanted(self) -> tuple[Measure, ...]:
        """What is to be low in a chain."""
        influence, stages = self.group.influence, range(len(self.group.fleets))
        found = []
        for name, ends in zip(self.group.names, self.directions, strict=True):
            for high in (False, True):
                if ends[high] and name in influence.joined:
                    join = _join(influence.over_stages(name), high)
                    found.append(Measure(name, high, None, join))
                elif ends[high]:
                    found += [Measure(name, high, stage, "sum") for stage in stages]
        return tuple(found)

    def measured(self, traits: Traits, stage: int) -> Column:
        """Return the measures of fleets of one stage."""
        capacities, useful = self.group.influence.capacities, self.useful[stage]
        capped = {name: np.minimum(traits[name], useful) for name in capacities}
        return in_each_measure(self.wanted, dict(traits) | capped, stage)

    @cached_property
    def chains(self) -> NDArray[np.intp] | None:
        """Chains of which one is as good as any, by their fleets; None when they are too many."""
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
        return self.open(known, len(picks), made if whole else None)

    def open(self, known: Ends, count: int, made: Made | None = None) -> NDArray[np.bool_]:
        """Return which of `count` parts may lead to the front; few are not examined.

        Of chains of all stages, for which `made` is given, those with the best bounds are
        evaluated, and the others are compared with them.
        """
        found = np.ones(count, dtype=bool)
        if count <= FEW:
            return found
        if count > MANY:
            self.group.incumbents.improve()
        ends = {stage: self._stood_for(stage, *own) for stage, own in known.items()}
        if made is None:
            sample = np.arange(0, count, count // FEW)
            if self._open(ends, sample, None).mean() > PAYS:
                return found
        for first in range(0, count, TOGETHER):
            rows = np.arange(first, min(first + TOGETHER, count))
            found[rows] = self._open(ends, rows, made)
        return found

    @cached_property
    def _others(self) -> list[tuple[Traits, Traits]]:
        """Ends of the traits of what the fleets of each stage stand for."""
        ends = [*self.group.hulls]
        for stage, some in self.found.items():
            low = {name: one.min(keepdims=True) for name, one in some.traits.items()}
            high = {name: one.max(keepdims=True) for name, one in some.traits.items()}
            ends[stage] = self._stood_for(stage, low, high)
        return ends

    def _stood_for(self, stage: int, low: Traits, high: Traits) -> tuple[Traits, Traits]:
        """Return the ends of the traits of all that fleets between two ends stand for."""
        least, most = (dict(end) for end in self.group.hulls[stage])
        for name, (wants_low, wants_high) in zip(self.group.names, self.directions, strict=True):
            if wants_low:
                least[name] = low[name]
            if wants_high and name in self.group.influence.capacities:
                no_better = high[name] >= self.useful[stage]
                most[name] = np.where(no_better, most[name], high[name])
            elif wants_high:
                most[name] = high[name]
        return least, most

    def _open(self, ends: Ends, rows: NDArray[np.intp], made: Made | None) -> NDArray[np.bool_]:
        """Return which of some rows may lead to the front of any scenario."""
        found = np.zeros(len(rows), dtype=bool)
        for scenario, columns in self._live:
            left = np.flatnonzero(~found)
            if not len(left):
                break
            every = [ends.get(stage, other) for stage, other in enumerate(self._others)]
            offered = [(at_rows(a, rows[left]), at_rows(b, rows[left])) for a, b in every]
            kept, loss = self._bounded(columns, offered, len(left))
            left, loss = left[kept], loss[kept]
            if made is not None and len(left):
                best = np.flatnonzero(nondominated(np.clip(loss, -MOST, MOST)))
                self.group.incumbents.evaluate_reference(made(scenario, rows[left[best]]))
                left = left[~self.group.incumbents.dominated(loss)]
            found[left] = True
        return found

    def _bounded(
        self, columns: Columns, offered: Sequence[tuple[Traits, Traits]], count: int
    ) -> tuple[NDArray[np.bool_], Column]:
        """Return which parts may lead to the front of a scenario, and bounds of the losses."""
        spend(ROW * count + CALL)
        columns = columns | self.group.influence.enclosed_chain(*zip(*offered, strict=True))
        loss, violation = self.group.influence.bounds.best(columns, count)
        kept = np.asarray((violation <= 0).all(axis=1))
        kept[kept] = ~self.group.incumbents.dominated(loss[kept])
        return kept, loss

    @cached_property
    def _live(self) -> list[tuple[NDArray[np.int64], Columns]]:
        """The scenarios that may have a design of the front, with their columns."""
        group, bounds = self.group, self.group.influence.bounds
        parts = tuple(fleets.part for fleets in group.fleets)
        self.group.incumbents.begin(bounds, parts, group.scenarios)
        columns, scenarios = bounds.problem.space.columns, group.scenarios
        kept, _ = self._bounded(columns(scenarios), self._others, len(scenarios))
        return [(one, columns(one[np.newaxis])) for one in scenarios[kept]]


def lists_of(group: Group, directions: Directions, enough: float) -> Lists | None:
    """Return what is listed for directions, up to what is enough; None when it is too much."""
    key = directions, enough
    if key not in group.lists:
        try:
            group.lists[key] = _listed(group, directions, enough)
        except NotComposedError:
            group.lists[key] = None
    return group.lists[key]


def _listed(group: Group, directions: Directions, enough: float) -> Lists:
    """Return shortlisted fleets, without those that cannot lead to the front."""
    stages = group.fleets
    useful = [group.useful(stage, enough) for stage in range(len(stages))]
    lists = Lists(group, directions, useful)

    def hopeful(stage: int, low: Traits, high: Traits) -> NDArray[np.bool_]:
        return lists.open({stage: (low, high)}, len(next(iter(low.values()))))

    def shortened(stage: int, turn: int) -> Shortlist:
        likely, before = partial(hopeful, stage), lists.found.get(stage)
        if before is not None:
            return before.taken(likely(*before.ends))
        return stages[stage].shortlist(directions, useful[stage], likely, banded=turn > 1)

    order = sorted(range(len(stages)), key=lambda stage: stages[stage].count)
    for turn, stage in itertools.product(range(1 + ROUNDS), order):
        try:
            some = shortened(stage, turn)
        except TooManyPartsError:
            if turn > 1:
                raise
            continue  # the lists of the others narrow its bounds first
        if not len(some):  # no design leads to the front
            return replace(lists, found={k: fleets.none for k, fleets in enumerate(stages)})
        lists = replace(lists, found={**lists.found, stage: some})
    return lists


def _join(over_stages: str, high: bool) -> str:
    """Return how stages join a trait or its negative of which low values are wanted."""
    if over_stages == "sum":
        return "sum"
    return "worst" if (over_stages == "least") == high else "best"
