"""Stages of many fleets: the best are put together design by design."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from dse.algebra.enclosure import ends
from dse.model.bounds import Bounds
from dse.model.fleet import STAGE_CAPACITY, Traits
from dse.model.front import nondominated
from dse.model.influence import Influence
from dse.model.space import Index
from dse.model.stage import stage_parts
from dse.search.exact import fleets
from dse.search.exact.work import limited
from tests.conftest import Write, problem_of
from tests.search.test_compose import front

CLOCKED = """
stages:
  - {core: des, fleet: mixed, designs: [u1, u2, u8], instances: {from: 0, to: 5}, clock: [0.5, 1]}
objectives: {area: minimise, throughput: maximise}
"""

STUDY = """
workload: {rate: 20 Gbit/s}
stages:
  - {core: des, name: one, fleet: mixed, instances: {from: 0, to: %d}}
  - {core: des, name: two, fleet: mixed, instances: {from: 0, to: 2}}
objectives: {area: minimise, power: minimise, instances: minimise}
"""


def test_fleets_by_the_hundred_million_take_no_more_work_than_those_that_matter(
    write: Write,
) -> None:
    """Up to 30 of each of six designs are 887 503 681 fleets; eight of the slowest suffice."""
    with limited() as work:
        many = front(problem_of(write(STUDY % 30)), "compose")
    few = front(problem_of(write(STUDY % 8)), "compose")
    assert np.array_equal(many.front_loss, few.front_loss)
    assert work.spent < 3_000_000


@pytest.mark.parametrize("useful", [5e9, 70e9, np.inf])
def test_fleets_of_all_bands_are_as_good_as_those_put_together_at_once(
    useful: float, write: Write
) -> None:
    problem = problem_of(write(CLOCKED))
    (part,) = stage_parts(problem)
    point = np.zeros(len(problem.sizes), dtype=np.int64)

    def hopeful(low: Traits, high: Traits) -> np.ndarray:
        return np.ones(len(next(iter(low.values()))), dtype=bool)

    wanted = {
        "stage_area_m2": (True, False),
        "stage_dynamic_energy_j_per_bit": (True, False),
        "stage_round_s": (True, False),
    }
    stage = fleets.StageFleets(Influence(Bounds(problem)), part, point, 5e9)
    one = fleets._Growth(stage, wanted, hopeful, useful, (5e9, np.inf))
    bands = [*one.bands()]
    every = np.indices(problem.sizes).reshape(len(problem.sizes), -1).T

    def best(index: Index) -> set[bytes]:
        fleet = part.stage.fleet(problem.space.columns(index))
        carried = fleet.column(STAGE_CAPACITY)
        values = [-np.minimum(carried, useful), *(fleet.column(name) for name in wanted)]
        losses = np.stack(values, axis=1)[carried >= 5e9 * (1 - 1e-12)]
        return {row.tobytes() for row in losses[nondominated(losses)]}

    assert len(bands) > 1
    found = [np.concatenate([band.best(clock) for clock in stage.clocks]) for band in bands]
    for band, index in zip(bands, found, strict=True):
        fleet = part.stage.fleet(problem.space.columns(index))
        low, high = np.array(band.band) * (1 - 1e-9, 1 + 1e-9)
        assert (
            (fleet.column(STAGE_CAPACITY) >= low) & (fleet.column(STAGE_CAPACITY) <= high)
        ).all()
    at_once = np.concatenate([one.best(clock) for clock in stage.clocks])
    assert best(np.concatenate(found)) == best(at_once) == best(every)


def test_what_fleets_of_a_band_offer_lies_between_its_ends(write: Write) -> None:
    problem = problem_of(write(CLOCKED))
    (part,) = stage_parts(problem)
    every = np.indices(problem.sizes).reshape(len(problem.sizes), -1).T
    columns = problem.space.columns(every)
    whole = part.stage.fleet(columns)
    carried = whole.column(STAGE_CAPACITY)
    for floor, ceiling in itertools.pairwise([4e9, 20e9, 30e9, 100e9]):
        inside = (carried >= floor) & (carried <= ceiling)
        for chosen in range(1, len(part.places)):
            counts = part.counts(problem.space, columns, part.places[:chosen])
            at = [np.array([design]) for design in range(len(counts))]
            open_ = part.stage.fleet_of(
                counts, at, columns, floor=np.full(1, floor), ceiling=ceiling
            )
            for name in problem.offered:
                low, high = (np.broadcast_to(end, len(every)) for end in ends(open_.column(name)))
                value = np.broadcast_to(whole.column(name), len(every))[inside]
                assert (low[inside] <= value * (1 + 1e-8)).all(), name
                assert (high[inside] >= value * (1 - 1e-8)).all(), name
