"""Fronts of scenarios in which more capacity helps one goal and harms another, level by level.

Without a demanded rate, a chain that carries more has a higher throughput and draws more power, so
fleets of different capacity cannot replace each other.  But the chain carries what its least stage
does.  Let the *level* of a chain be that capacity q, and f a fleet of it that has just q: f *sets*
the level.  With q given, all other traits keep the directions that they have in designs of this
one capacity (`Influence.wants`), and of the other stages' fleets only c >= q matters.  A fleet of
another stage may thus be replaced by one that carries q and is as good in all else: the chain keeps
its level, and its losses are no worse.  So one of the chains

    { f } x prod_j S_j(c_f),   f any fleet of any stage,

is as good as any chain, with S_j(q) the fleets of stage j that carry q of which no other one that
does is as good in all else: those of its shortlist (capacity wanted high) that are of use at q
(`chains.PartialChains`).  Every f is bounded first, at its level and with the best that S_j(c_f)
can offer, and so are partial chains, stage by stage; fleets that are put together count by count
are bounded before they are whole.  As the other stages are replaced one by one, their equals
are found one by one (`dse.search.exact.ties`), with the level held.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property, partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dse.algebra.enclosure import Enclosure
from dse.contract import Column
from dse.model.evaluation import distinct
from dse.model.fleet import Traits
from dse.model.space import Index
from dse.model.stage import Columns
from dse.search.exact.chains import PartialChains
from dse.search.exact.fleets import Shortlist
from dse.search.exact.groups import bounds_of, with_empty
from dse.search.exact.incumbents import Incumbents
from dse.search.exact.measures import Directions
from dse.search.exact.prospects import Ends, Group, Lists, lists_of
from dse.search.exact.shortlists import Case
from dse.search.exact.work import CALL, ROW, NotComposedError, spend

PORTION = 50_000
"""Partial chains that are bounded together."""

GRID = 64
"""Levels at which it is looked up what is wanted, to begin with."""


def wants_both(group: Group) -> NDArray[np.bool_]:
    """Return in which scenarios of a group both more and less capacity are wanted."""
    capacities = np.array([name in group.influence.capacities for name in group.names])
    wanted = group.wants[:, 0, capacities]
    return np.asarray((wanted[..., 0] & wanted[..., 1]).any(axis=1))


class LevelSweep:
    """Finds what may be on the front of one scenario."""

    def __init__(self, group: Group, scenario: Index, incumbents: Incumbents) -> None:
        """Take a scenario (1, d) of a group, and what its designs are compared with."""
        self._all = group
        self._scenario = scenario
        self._incumbents = incumbents
        self._columns: Columns = group.influence.bounds.problem.space.columns(scenario)
        self._capacity, *self._same = sorted(group.influence.capacities)
        fleets = tuple(replace(one, floor=max(one.floor, one.smallest)) for one in group.fleets)
        self._group = replace(group, fleets=fleets, lists={})
        self._kinds: dict[Directions, Lists] = {}
        self._found: list[tuple[Index, NDArray[np.float64]]] = []

    @property
    def cases(self) -> list[Case]:
        """What was wanted at the levels examined; both ways of capacity, so that equals have it."""
        place = self._group.names.index(self._capacity)
        found = []
        for directions, lists in self._kinds.items():
            both = (*directions[:place], (True, True), *directions[place + 1 :])
            lists = replace(lists, directions=both)
            found.append(Case(lists, None, both, both, self._scenario))
        return found

    def designs(self) -> Index:
        """Return designs, among which are those of the front but for equals.

        Raises
        ------
        NotComposedError
            Fleets that none can replace are too many, or bounds do not rule out empty fleets.
        """
        self._check_empty()
        if not self._group.complete:
            return self._scenario[:0]
        tops = [float(high[self._capacity][0]) for _, high in self._group.hulls]
        for _, wanted in self._wanted(np.linspace(0.0, min(tops), GRID + 1)[1:]):
            with suppress(NotComposedError):  # perhaps bounds rule all of these levels out
                self._kind(wanted)
        if not self._kinds:
            raise NotComposedError("fleets that none can replace are too many")
        for kind in [*self._kinds.values()]:
            for stage, some in enumerate(kind.shortlists):
                self._look(stage, some)
        for stage, fleets in enumerate(self._group.fleets):
            for some in fleets.chunks(partial(self._hopeful, stage)):
                self._look(stage, some)
        index = np.concatenate([self._scenario[:0], *(one for one, _ in self._found)])
        loss = np.concatenate(
            [np.empty((0, self._incumbents.loss.shape[1])), *(one for _, one in self._found)]
        )
        index = index[~self._incumbents.dominated(loss)]
        return distinct(index)

    def _check_empty(self) -> None:
        """Make sure that no design with a fleet that carries nothing is of interest."""
        for stage, fleets in enumerate(self._all.fleets):
            offer = with_empty(self._all, stage, self._scenario)
            [(loss, violation)] = bounds_of([self._all], [offer])
            open_ = ~(violation > 0).any(axis=1)
            if (open_ & ~self._incumbents.dominated(loss)).any():
                raise NotComposedError(f"stage {fleets.part.stage.name} may carry nothing")

    def _wanted(
        self, levels: Column
    ) -> Iterator[tuple[NDArray[np.intp], Mapping[str, Sequence[bool]]]]:
        """Divide levels by what is wanted there."""
        spend(ROW * len(levels) + CALL)
        influence, names = self._group.influence, self._group.names
        columns = self._columns | influence.enclosed_chain(*zip(*self._group.hulls, strict=True))
        columns |= dict.fromkeys((self._capacity, *self._same), levels)
        _, helped = influence.wants(columns, len(levels))
        table = np.array([helped[name] for name in names]).reshape(2 * len(names), -1)
        kinds, which = np.unique(table, axis=1, return_inverse=True)
        for position, kind in enumerate(kinds.T):
            wanted = dict(zip(names, kind.reshape(-1, 2).tolist(), strict=True))
            wanted |= dict.fromkeys(self._same, (False, False))
            yield np.flatnonzero(which.reshape(-1) == position), wanted

    def _kind(self, wanted: Mapping[str, Sequence[bool]]) -> Lists:
        high = dict(wanted) | {self._capacity: (False, True)}
        directions = tuple((bool(a), bool(b)) for a, b in high.values())
        if directions not in self._kinds:
            lists = lists_of(self._group, directions, np.inf)
            if lists is None:
                raise NotComposedError("fleets that none can replace are too many")
            self._kinds[directions] = lists
            self.__dict__.pop("_best", None)  # more is known of the best
        return self._kinds[directions]

    @cached_property
    def _best(self) -> list[list[dict[str, tuple[Column, Column]]]]:
        """The best of each trait of the fleets that carry a level: stage, end, trait."""
        found: list[list[dict[str, tuple[Column, Column]]]] = []
        for stage in range(len(self._group.fleets)):
            ends_: list[dict[str, tuple[Column, Column]]] = [{}, {}]
            for directions, kind in self._kinds.items():
                traits = kind.shortlists[stage].traits
                order = np.argsort(traits[self._capacity], kind="stable")
                carried = traits[self._capacity][order]
                if not len(carried):  # nothing of it is of interest
                    continue
                for name, wanted in zip(traits, directions, strict=True):
                    values = traits[name][order][::-1]
                    if wanted[0]:
                        ends_[0][name] = carried, np.minimum.accumulate(values)[::-1]
                    if wanted[1] and name != self._capacity:
                        ends_[1][name] = carried, np.maximum.accumulate(values)[::-1]
            found.append(ends_)
        return found

    @cached_property
    def _top(self) -> float:
        """The most that every stage can carry."""
        kind = next(iter(self._kinds.values()))
        most = (some.traits[self._capacity].max(initial=0.0) for some in kind.shortlists)
        return min(map(float, most))

    def _offered(self, stage: int, levels: Column) -> tuple[Traits, Traits]:
        """Return ends of the traits of fleets of a stage that carry levels (n,)."""
        found = []
        for end, hull in enumerate(self._group.hulls[stage]):
            some = dict(hull)
            for name, (carried, values) in self._best[stage][end].items():
                at = np.minimum(np.searchsorted(carried, levels, side="left"), len(carried) - 1)
                some[name] = values[at]
            found.append(some)
        return found[0], found[1]

    def _open(self, known: Ends, low: Column, high: Column) -> NDArray[np.bool_]:
        """Return which partial chains (n,) between two levels may lead to the front."""
        spend(ROW * len(low) + CALL)
        every = [
            known.get(stage) or self._offered(stage, low)
            for stage in range(len(self._group.fleets))
        ]
        columns = self._columns | self._group.influence.enclosed_chain(*zip(*every, strict=True))
        level = low if low is high else Enclosure(low, high)
        columns |= dict.fromkeys((self._capacity, *self._same), level)
        loss, violation = self._group.influence.bounds.best(columns, len(low))
        open_ = (low <= self._top) & ~(violation > 0).any(axis=1)
        open_[open_] = ~self._incumbents.dominated(loss[open_])
        return open_

    def _hopeful(self, stage: int, low: Traits, high: Traits) -> NDArray[np.bool_]:
        """Return which fleets, between two ends, may set the level of a design of the front."""
        top = np.minimum(high[self._capacity], self._top)
        return self._open({stage: (low, high)}, low[self._capacity], top)

    def _look(self, stage: int, some: Shortlist) -> None:
        """Evaluate the chains of which fleets of a stage set the level."""
        places = self._group.fleets[stage].part.places
        for first in range(0, len(some), PORTION):
            setting = some.taken(np.arange(first, min(first + PORTION, len(some))))
            known, levels = {stage: setting.ends}, setting.traits[self._capacity]
            kept = np.flatnonzero(self._open(known, levels, levels))
            if not len(kept):
                continue
            index = np.repeat(self._scenario, len(kept), axis=0)
            index[:, places] = setting.positions[kept]
            known = _rows(known, kept)
            for rows, wanted in self._wanted(levels[kept]):
                kind = self._kind(wanted)
                left = [k for k in range(len(kind.shortlists)) if k != stage]
                left.sort(key=lambda k: len(kind.by_capacity[k]))
                self._join(kind, index[rows], _rows(known, rows), levels[kept[rows]], left)

    def _join(
        self, kind: Lists, index: Index, known: Ends, levels: Column, left: Sequence[int]
    ) -> None:
        """Add fleets of the stages that are left, some partial chains after others.

        Of whole ones those are kept that may be on the front.
        """
        if not left:
            [(evaluation, hopeful)] = self._incumbents.compare([index])
            self._found.append((index[hopeful], evaluation.loss[hopeful]))
            return
        stage, *later = left
        order = np.argsort(-levels, kind="stable")
        places = self._group.fleets[stage].part.places
        part = kind.by_capacity[stage]
        for rows, picked in _pairs(-levels[order], part):
            chosen = order[rows]
            fleets = kind.shortlists[stage].taken(part.picks[picked, 0])
            joined = {**_rows(known, chosen), stage: fleets.ends}
            level = levels[chosen]
            kept = np.flatnonzero(self._open(joined, level, level))
            made = index[chosen[kept]]
            made[:, places] = fleets.positions[kept]
            if len(kept):
                self._join(kind, made, _rows(joined, kept), level[kept], later)


def _pairs(
    keys: Column, part: PartialChains
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Yield rows of rising `keys` with the rows of a part that are of use there, some at a time."""
    start = np.searchsorted(keys, part.level, side="left")
    end = np.maximum(np.searchsorted(keys, part.until, side="left"), start)
    changes = np.bincount(start, minlength=len(keys) + 1) - np.bincount(
        end, minlength=len(keys) + 1
    )
    made = np.cumsum(np.cumsum(changes)[:-1])
    portion = (made - 1) // PORTION
    edges = [*np.unique(portion, return_index=True)[1], len(keys)]
    for first, last in pairwise(edges):
        low, high = np.clip(start, first, last), np.clip(end, first, last)
        counts = np.cumsum(high - low)
        number = np.arange(counts[-1] if len(counts) else 0)
        group = np.searchsorted(counts, number, side="right")
        if len(number):
            yield high[group] - (counts[group] - number), group


def _rows(known: Ends, rows: NDArray[np.intp]) -> dict[int, tuple[Traits, Traits]]:
    """Return some rows of what is known of stages of which a fleet is chosen."""
    found: dict[int, tuple[Traits, Traits]] = {}
    for stage, (traits, _) in known.items():
        some = {name: values[rows] for name, values in traits.items()}
        found[stage] = some, some
    return found
