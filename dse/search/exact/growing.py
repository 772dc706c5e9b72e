"""The best fleets of a stage with many: put together design by design, the worse parts omitted.

Two parts of fleets that lack the same designs are compared by their ingredients
(`dse.search.exact.growing`).  Stage columns rise or fall with these, and the ingredients of a whole
fleet with those of its part: a part that is as good as another in all of them makes fleets that
are as good, whatever is added.  So one is as good as any fleet of the stage at the end, by
induction over the designs (Pareto sums, or the principle of optimality of dynamic programming).

*Fleets that are too large are omitted too* (`_limit`).  Where low values are wanted of everything
but what a fleet carries, and that counts only up to `useful`, a fleet that carries more than that
and an instance is no better than with one less: of the design with the largest ratio to bandwidth
of what is wanted low.  As that makes a sum strictly lower, it ends at one not too large.

Parts that bounds show to lead nowhere are omitted before they are compared
(`dse.search.exact.prospects`).

*In bands.*  What a part adds is bounded poorly while a fleet may carry anything.  So where too many
parts are left, fleets are put together band by band of what they carry, and more of it counts as
better even beyond `useful`.  One as good as any is found: of those as good as a fleet, none
better and none of these with more bandwidth, let D be within the limit.  A part that replaces one
of D makes a fleet as good, which is no better and carries no more, and one beyond the limit would
be as good with an instance less, and better: so it is as D, also in its band, and by induction one
like it is left there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dse.contract import Column
from dse.model.designs import Designs
from dse.model.evaluation import distinct_rows
from dse.model.fleet import AREA_COLUMNS
from dse.model.front import nondominated
from dse.model.space import Index, Space
from dse.model.stage import ROUNDING, StageParts
from dse.search.exact.work import CALL, SORT, SORTED, NotComposedError, fitting, spend


@dataclass(frozen=True)
class Ingredient:
    """A metric of the designs of a fleet.

    Attributes
    ----------
    metric
        One value per design, not negative.
    largest
        Whether the largest value of any design in use counts, or the sum over all instances.
    """

    metric: Callable[[Designs], Column] = field(repr=False)
    largest: bool = False


BANDWIDTH = Ingredient(lambda designs: designs.bandwidth_bit_per_s)
SWITCHING = Ingredient(lambda designs: designs.metrics.dynamic_power_w)

PER_BIT = "_per_bit"
"""Ends the names of stage columns that fall with the bandwidth of a fleet."""

MADE_OF: Mapping[str, Ingredient | None] = {
    "stage_alone": None,
    "stage_area_m2": Ingredient(lambda designs: designs.metrics.area_m2),
    "stage_area_ge": Ingredient(lambda designs: designs.metrics.area_ge),
    "stage_area_lc": Ingredient(lambda designs: designs.metrics.area_lc),
    "stage_block_rams": Ingredient(lambda designs: designs.metrics.block_rams),
    "stage_capacity_bit_per_s": BANDWIDTH,
    "stage_clock_hz": Ingredient(lambda designs: designs.metrics.clock_hz, largest=True),
    "stage_clock_limit": None,
    "stage_clocked": None,
    "stage_common": None,
    "stage_dynamic_energy_j_per_bit": SWITCHING,
    "stage_dynamic_power_w": SWITCHING,
    "stage_extrapolated": Ingredient(lambda designs: designs.metrics.extrapolated, largest=True),
    "stage_filled": Ingredient(lambda designs: designs.filled_share, largest=True),
    "stage_instances": Ingredient(lambda designs: np.ones(len(designs.names))),
    "stage_latency_s": Ingredient(
        lambda designs: designs.metrics.latency_cycles / designs.metrics.clock_hz, largest=True
    ),
    "stage_leakage_power_w": Ingredient(lambda designs: designs.metrics.leakage_power_w),
    "stage_message_end_bit": Ingredient(
        lambda designs: designs.metrics.message_end_bit, largest=True
    ),
    "stage_multipliers": Ingredient(lambda designs: designs.metrics.multipliers),
    "stage_peak_bit_per_s": BANDWIDTH,
    "stage_payload_bit": Ingredient(lambda designs: designs.metrics.payload_bit, largest=True),
    "stage_read_byte_per_bit": Ingredient(
        lambda designs: (
            designs.bandwidth_bit_per_s * designs.metrics.read_byte / designs.carried_bit
        )
    ),
    "stage_round_bit": Ingredient(lambda designs: designs.round_bit),
    "stage_round_s": Ingredient(lambda designs: designs.round_s, largest=True),
    "stage_serial_tasks": None,
    "stage_start_task_per_s": Ingredient(
        lambda designs: designs.metrics.clock_hz / designs.metrics.cycles_per_task
    ),
    "stage_tasks_in_flight": Ingredient(lambda designs: designs.metrics.tasks_in_flight),
    "stage_written_byte_per_bit": Ingredient(
        lambda designs: (
            designs.bandwidth_bit_per_s * designs.metrics.written_byte / designs.carried_bit
        )
    ),
}
"""Which ingredient a stage column rises with, where tasks are independent.

At one clock, and for fleets with an instance at least.
"""


CHUNK, BYTE = 500_000, 600
"""Parts of fleets that are compared at once, and what each takes."""

FEW_PARTS, MOST_PARTS = 50_000, 200_000
"""Parts of fleets that are compared at once, unless in bands, and that may be left of a band."""

BAND = 1.25
"""Ratio of the most that fleets of a band carry to the least."""

Band = tuple[float, float]
"""What fleets carry at least and at most, bit/s."""


class TooManyPartsError(NotComposedError):
    """More parts of fleets are left than may be."""


Wanted = Mapping[str, tuple[bool, bool]]
"""Stage column -> whether low and high values are wanted."""


@dataclass(frozen=True)
class Growing:
    """What is wanted of the fleets of a mixed stage.

    Attributes
    ----------
    part, space
        The stage and its axes, and of which space.
    wanted
        In which directions stage columns are wanted, but for capacity of which more is better.
    floor, useful
        What a fleet has to carry, and from where on more is no better, bit/s.
    hopeful
        Returns which fleets of a band may be of interest, of which counts on some axes are open.
    """

    part: StageParts
    space: Space
    wanted: Wanted
    floor: float
    useful: float
    hopeful: Callable[[Index, Sequence[int], Band], NDArray[np.bool_]]

    def best(self, point: NDArray[np.int64], band: Band | None = None) -> Index:
        """Return designs of the best fleets, those of equal ingredients once, else as `point`.

        Of all, or of those of a band.

        Raises
        ------
        TooManyPartsError
            Too many parts are left.
        NotComposedError
            A sum over instances is wanted both ways.
        """
        clocks = [place for place in self.part.places if place not in self.part.designs]
        found = []
        for number in range(self.space.sizes[clocks[0]] if clocks else 1):
            start, clock = point.copy(), 1.0
            if clocks:
                axis = self.space.axes[clocks[0]]
                start[clocks[0]] = number
                clock = float(axis.columns[axis.unit_name][number])
            found.append(self._at(start, clock, band))
        return np.concatenate(found)

    def bands(self, least: float) -> Iterator[Band]:
        """Yield bands of what fleets carry, which is `least` where they carry anything."""
        most = sum(self._most(place) for place in self.part.designs)
        low, high = max(self.floor, least), min(most, self._limit(1.0))
        count = max(1, math.ceil(math.log(high / low, BAND))) if high > low else 1
        yield from pairwise([self.floor, *np.geomspace(low, high, count + 1)[1:-1], np.inf])

    def _at(self, point: NDArray[np.int64], clock: float, band: Band | None) -> Index:
        """Return the best fleets at one clock."""
        ingredients, signs = self._ingredients()
        largest = np.array([one.largest for one in ingredients])
        if (
            signs.all(axis=1) & ~largest
        ).any():  # parts of different sums cannot replace each other
            raise NotComposedError(f"stage {self.part.stage.name} has too many fleets")
        designs = self.part.stage.designs
        metrics = np.column_stack([one.metric(designs) for one in ingredients])
        useful, limit = self.useful / clock, self._limit(clock)
        floor, ceiling = band or (self.floor, np.inf)
        if band is not None:
            useful, limit = np.inf, min(limit, ceiling * (1.0 + ROUNDING) / clock)
        index, values = point[np.newaxis], np.zeros((1, len(ingredients)))
        places = [place for place in self.part.places if place in self.part.designs]
        for number, place in enumerate(places):
            counts = self._counts(place)
            each = metrics[self.part.designs[place]]
            rest = sum(self._most(later) for later in places[number + 1 :])
            least = floor * (1.0 - ROUNDING) / clock - rest
            kept_index, kept = index[:0], values[:0]
            some = max(1, fitting(CHUNK, BYTE) // len(counts))
            for first in range(0, len(index), some):
                made = _made(values[first : first + some], counts, each, largest)
                rows = np.flatnonzero((made[:, 0] >= least) & (made[:, 0] <= limit))
                grown = index[first + rows // len(counts)]
                grown[:, place] = rows % len(counts)
                left = self.hopeful(grown, places[number + 1 :], (floor, ceiling))
                kept_index = np.concatenate([kept_index, grown[left]])
                kept = np.concatenate([kept, made[rows[left]]])
                if band is None and len(kept) > FEW_PARTS:
                    raise TooManyPartsError(self._too_many)
                best = self._best(kept, signs, useful)
                kept_index, kept = kept_index[best], kept[best]
                if len(kept) > MOST_PARTS:
                    raise TooManyPartsError(self._too_many)
            index, values = kept_index, kept
        return index

    @property
    def _too_many(self) -> str:
        return f"parts of fleets of stage {self.part.stage.name} are too many"

    def _best(self, values: Column, signs: NDArray[np.bool_], useful: float) -> NDArray[np.intp]:
        """Return the rows that no other is as good as, equal ones once."""
        low, high = signs.T
        spend(SORT * len(values) + CALL)
        if not len(values):
            return np.empty(0, dtype=np.intp)
        carried = -np.minimum(values[:, [0]], useful)
        signed = np.concatenate([carried, values[:, low], -values[:, high]], axis=1)
        rows = np.flatnonzero(nondominated(signed))
        spend(len(signed) * len(rows) // SORTED)
        return rows[distinct_rows(signed[rows])]

    def _counts(self, place: int) -> Column:
        axis = self.space.axes[place]
        return axis.columns[axis.unit_name]

    def _most(self, place: int) -> float:
        """Return the most bandwidth that a design can add."""
        bandwidth = self.part.stage.designs.bandwidth_bit_per_s
        return float(bandwidth[self.part.designs[place]] * self._counts(place).max())

    def _columns(self) -> dict[str, tuple[Ingredient, tuple[bool, bool]]]:
        """Return what is wanted of columns that tell fleets apart: not of means of equal values."""
        designs = self.part.stage.designs
        found = {}
        for name, wanted in self.wanted.items():
            made = MADE_OF[name]
            if made is None or not any(wanted):
                continue
            if name.endswith(PER_BIT):
                ratio = made.metric(designs) / designs.bandwidth_bit_per_s
                if np.allclose(ratio, ratio[0], rtol=ROUNDING, atol=0.0):
                    continue
            found[name] = made, wanted
        return found

    def _ingredients(self) -> tuple[list[Ingredient], NDArray[np.bool_]]:
        """Return the ingredients, bandwidth first, and whether low and high values are wanted."""
        wanted = {BANDWIDTH: np.zeros(2, dtype=bool)}
        for name, (made, ends) in self._columns().items():
            wanted[made] = wanted.get(made, False) | np.array(ends)
            if name.endswith(PER_BIT):
                wanted[BANDWIDTH] = wanted[BANDWIDTH] | ends[::-1]
        return [*wanted], np.array([*wanted.values()])

    def _limit(self, clock: float) -> float:
        """Return the most bandwidth of fleets that are not too large."""
        columns, designs = self._columns(), self.part.stage.designs
        whole = all(
            np.array_equal(np.sort(self._counts(place)), np.arange(self.space.sizes[place]))
            for place in self.part.designs
        )
        one_ratio = sum(name.endswith(PER_BIT) for name in columns) <= 1
        sums = (*AREA_COLUMNS, "stage_leakage_power_w", "stage_instances")
        known = [columns[name][0].metric(designs) for name in sums if name in columns]
        falls = any((metric > 0).all() for metric in known)
        if whole and one_ratio and falls and not any(high for _, (_, high) in columns.values()):
            most = float(designs.bandwidth_bit_per_s.max())
            return (self.useful / clock + most) * (1.0 + ROUNDING)
        return np.inf


def _made(
    values: Column, counts: Column, each: Column, largest: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return the ingredients of parts (n, k) with so many of a design with `each`, count by count.

    Of some the `largest` of any design counts, of others the sum.
    """
    one, more = values[:, np.newaxis], counts[:, np.newaxis]
    highest = np.where(more > 0, np.maximum(one, each), one)
    return np.where(largest, highest, one + more * each).reshape(-1, values.shape[1])
