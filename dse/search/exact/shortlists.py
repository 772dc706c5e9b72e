"""Fronts from shortlists: in a scenario, most fleets of a stage can be replaced by a better one.

Whether a fleet can be replaced depends on the scenario only through the directions in which its
traits are wanted (`dse.model.influence`), so one shortlist serves many scenarios.  What carries the
demand is left out of the directions and looked at afterwards: every design of shortlisted fleets
is evaluated, and where one that fails the demand could stand for others that are not dominated,
the scenario stays open.

Replacing a fleet by a better one may leave the losses as they are, so equals of a front's designs
are looked for at the end, one stage after the other (`Case.equals`).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dse.contract import Column
from dse.model.bounds import Bounds, Columns
from dse.model.front import nondominated
from dse.model.influence import Influence, Traits
from dse.model.space import Index
from dse.model.stage import SHARED_COLUMNS
from dse.search.exact.fleets import Directions, Fleets, Shortlist, signed_traits
from dse.search.exact.partial import NotComposedError, PartialDesigns, StageParts, ends_by_scenario

MOST_EQUALS = 200_000
"""Designs that may have the objective values of those on a front."""

MOST_LOOKED = 50_000_000
"""Fleets that are looked at one by one, over all scenarios that do not share them."""

STEPS = 24
"""Halvings of a trait's range when looking for where the losses begin to differ."""

NEAR = 1e-11
"""Relative; losses closer than this may be equal but for rounding."""


@dataclass(frozen=True)
class Case:
    """Scenarios that share fleets and shortlists.

    Attributes
    ----------
    influence, directions, helping
        Which traits there are; in which directions they are wanted, and with what helps to reach
        the demand.
    scenarios
        Designs (s, d) whose axes outside the stages are chosen.
    fleets, shortlists
        Of each stage.
    """

    influence: Influence
    directions: Directions
    helping: Directions
    scenarios: Index
    fleets: tuple[Fleets, ...]
    shortlists: tuple[Shortlist, ...]

    @property
    def each(self) -> int:
        """Designs of shortlisted fleets in one scenario."""
        return math.prod(len(some) for some in self.shortlists)

    @cached_property
    def picks(self) -> NDArray[np.intp]:
        """Positions in the shortlists, (each, stages)."""
        grid = np.indices([len(some) for some in self.shortlists])
        return grid.reshape(len(self.shortlists), -1).T

    def designs(self, chosen: NDArray[np.intp]) -> Index:
        """Return designs of shortlisted fleets, numbered from 0 scenario by scenario."""
        index = self.scenarios[chosen // self.each]
        picks = self.picks[chosen % self.each]
        for stage, (fleets, some) in enumerate(zip(self.fleets, self.shortlists, strict=True)):
            index[:, fleets.part.places] = some.positions[picks[:, stage]]
        return index

    def best(self, index: Index) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return bounds of the losses and violations of all that designs stand for.

        That is every fleet whose traits are no better in a direction that is wanted.
        """
        lows, highs = [], []
        for fleets in self.fleets:
            known = self._traits(fleets, index)
            least, most = fleets.hull or (known, known)
            low, high = dict(known), dict(known)
            for name, (lower, higher) in zip(known, self.directions, strict=True):
                if not lower:
                    low[name] = least[name]
                if not higher:
                    high[name] = most[name]
            lows.append(low)
            highs.append(high)
        return self._bounds(index, lows, highs)

    def equals(self, index: Index) -> Iterator[tuple[Index, NDArray[np.intp]]]:
        """Yield designs that may have the objective values of designs `index`, with whose rows.

        Those with a fleet in one of the stages that the design's own one can replace.
        """
        limits = self._limits(index)
        for stage, fleets in enumerate(self.fleets):
            places = fleets.part.places
            own = _rows(index[:, places])
            groups = [np.flatnonzero(own == fleet) for fleet in np.unique(own)]
            boxes = [_hull(limits[stage], rows) for rows in groups]
            for rows, found in zip(groups, fleets.between(boxes), strict=True):
                if len(found) * len(rows) > MOST_EQUALS:
                    raise NotComposedError("designs of equal objective values are too many")
                designs = np.repeat(index[rows], len(found), axis=0)
                designs[:, places] = np.tile(found, (len(rows), 1))
                yield designs, np.repeat(rows, len(found))

    def replaceable(
        self, scenarios: Index, parts: Mapping[int, PartialDesigns]
    ) -> dict[int, NDArray[np.bool_]]:
        """Return which fleets of each stage, in `scenarios`, others of `parts` can replace."""
        traits = {k: self._traits(self.fleets[k], rows.index) for k, rows in parts.items()}
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

    def _limits(self, index: Index) -> list[tuple[dict[str, Column], dict[str, Column]]]:
        """Return within which traits of one stage the losses of designs cannot differ."""
        known = [self._traits(fleets, index) for fleets in self.fleets]
        names = [
            (name, lower)
            for name, (lower, higher) in zip(known[0], self.directions, strict=True)
            if lower != higher
        ]
        fixed = [
            name for name, wanted in zip(known[0], self.directions, strict=True) if all(wanted)
        ]
        jobs = list(itertools.product(range(len(known)), names))
        count = len(index)
        stacked = np.tile(index, (len(jobs), 1))
        traits = [
            {name: np.tile(values, len(jobs)) for name, values in stage.items()} for stage in known
        ]
        spans = [slice(job * count, (job + 1) * count) for job in range(len(jobs))]
        near = [known[stage][name] for stage, (name, _) in jobs]
        far = []
        for (stage, (name, lower)), start in zip(jobs, near, strict=True):
            least, most = self.fleets[stage].hull or (known[stage], known[stage])
            far.append(np.broadcast_to((most if lower else least)[name], start.shape))
        loss, _ = self._bounds(index, known, known)
        base = np.tile(loss, (len(jobs), 1))

        def same(values: Sequence[Column]) -> list[NDArray[np.bool_]]:
            changed = [dict(stage) for stage in traits]
            for (stage, (name, _)), span, value in zip(jobs, spans, values, strict=True):
                column = changed[stage][name]
                if column is traits[stage][name]:
                    column = column.copy()
                    changed[stage][name] = column
                column[span] = value
            found, _ = self._bounds(stacked, changed, changed)
            equal = close(found, base)
            return [equal[span] for span in spans]

        if jobs:
            whole = same(far)
            for _ in range(STEPS):
                middle = [(a + b) / 2 for a, b in zip(near, far, strict=True)]
                equal = same(middle)
                near = [np.where(e, m, a) for e, m, a in zip(equal, middle, near, strict=True)]
                far = [
                    np.where(e | w, b, m)
                    for e, w, m, b in zip(equal, whole, middle, far, strict=True)
                ]
        limits: list[tuple[dict[str, Column], dict[str, Column]]] = []
        for stage, own in enumerate(known):
            low = {name: own[name] for name in [*fixed, *(name for name, _ in names)]}
            high = dict(low)
            for (at, (name, lower)), end in zip(jobs, far, strict=True):
                if at == stage:
                    (high if lower else low)[name] = end
            limits.append((low, high))
        return limits

    def _traits(self, fleets: Fleets, index: Index) -> dict[str, Column]:
        space = self.influence.bounds.problem.space
        with np.errstate(all="ignore"):
            fleet = fleets.part.stage.fleet(space.columns(index))
            return {
                name: np.broadcast_to(values, (len(index),))
                for name, values in self.influence.traits(fleet).items()
            }

    def _bounds(
        self, index: Index, lows: Sequence[Traits], highs: Sequence[Traits]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        columns: Columns = self.influence.bounds.problem.space.columns(index)
        columns |= self.influence.enclosed_chain(lows, highs)
        return self.influence.bounds.best(columns, {}, len(index))


def cases(
    bounds: Bounds, parts: Sequence[StageParts], scenarios: Index, *, demands: bool
) -> Iterator[tuple[NDArray[np.intp], Case]]:
    """Yield which of the scenarios (s, d) are a case; those without shortlists are left out.

    With `demands` the shortlisted fleets are as good as any also in reaching the demand.
    """
    influence = Influence(bounds)
    columns = bounds.problem.space.columns(scenarios)
    shared = [
        np.broadcast_to(columns[name], (len(scenarios),))
        for name in SHARED_COLUMNS
        if name in columns
    ]
    shared.append(np.broadcast_to(bounds.floor(columns, {}), (len(scenarios),)))
    keys, which = np.unique(np.stack(shared, axis=1), axis=0, return_inverse=True)
    sizes = bounds.problem.sizes
    if len(keys) * sum(math.prod(sizes[k] for k in part.places) for part in parts) > MOST_LOOKED:
        return
    for group, key in enumerate(keys):
        rows = np.flatnonzero(which.reshape(-1) == group)
        point, floor = scenarios[rows[0]], float(key[-1])
        fleets = tuple(Fleets(influence, part, point, floor) for part in parts)
        for inner, case in _cases(influence, fleets, scenarios[rows], demands=demands):
            yield rows[inner], case


def _cases(
    influence: Influence, fleets: tuple[Fleets, ...], scenarios: Index, *, demands: bool
) -> Iterator[tuple[NDArray[np.intp], Case]]:
    """Divide scenarios by the directions in which traits are wanted."""
    hulls = [hull for stage in fleets if (hull := stage.hull) is not None]
    if len(hulls) < len(fleets):
        return
    columns: Columns = influence.bounds.problem.space.columns(scenarios)
    columns |= influence.enclosed_chain(*zip(*hulls, strict=True))
    names = list(hulls[0][0])
    plain, helped = influence.wants(columns, len(scenarios))
    # (scenarios, 2 answers, traits, 2 ends)
    table = np.array([[want[name] for name in names] for want in (plain, helped)])
    table = table.transpose(3, 0, 1, 2)
    level = np.full(len(scenarios), np.inf)
    capped = [name in influence.capacities for name in names]
    if demands:  # they share shortlists up to a capacity that is enough for all of them
        free = ~table[:, 0, capped].any(axis=(1, 2))
        enough = np.broadcast_to(influence.enough(columns), level.shape)
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
        directions = helping if demands else wanted
        try:
            lists = tuple(stage.shortlist(directions, float(kind[-1])) for stage in fleets)
        except NotComposedError:
            continue
        yield rows, Case(influence, wanted, helping, scenarios[rows], fleets, lists)


def close(loss: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which rows are equal but for rounding."""
    return np.asarray(np.isclose(loss, other, rtol=NEAR, atol=0.0).all(axis=1))


def _hull(
    limits: tuple[dict[str, Column], dict[str, Column]], rows: NDArray[np.intp]
) -> tuple[Traits, Traits]:
    low, high = limits
    return (
        {name: values[rows].min() for name, values in low.items()},
        {name: values[rows].max() for name, values in high.items()},
    )


def _rows(positions: Index) -> NDArray[np.void]:
    """Return rows as values that can be compared."""
    whole = np.ascontiguousarray(positions)
    return whole.view(np.dtype((np.void, whole.dtype.itemsize * whole.shape[1]))).reshape(-1)
