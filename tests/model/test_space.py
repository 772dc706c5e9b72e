"""Blocks: the same designs in the same order as rows, and the same bits."""

from __future__ import annotations

import math
from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dse.model.space import blocks
from dse.study import study
from dse.study.overrides import at_value, sweep_of
from tests.conftest import STUDIES

SIZES = st.lists(st.integers(1, 6), max_size=5).map(tuple)


@given(sizes=SIZES, most=st.integers(1, 50))
def test_blocks_are_the_space_in_order(sizes: tuple[int, ...], most: int) -> None:
    parts = list(blocks(sizes, most))
    assert all(len(block) <= most for block in parts)
    rows = np.concatenate([block.rows(np.arange(len(block))) for block in parts])
    every = [tuple(row) for row in np.ndindex(*sizes)]
    assert [tuple(row) for row in rows.tolist()] == every
    assert sum(map(len, parts)) == math.prod(sizes)


@pytest.mark.parametrize("path", sorted(STUDIES.glob("*.yaml")), ids=lambda path: path.stem)
def test_a_block_is_evaluated_as_its_rows_are(path) -> None:
    found = study.read_study(path)
    sweep = sweep_of(found)
    problem = study.prepare(at_value(found, sweep, 0) if sweep else found).problem
    # every block of the larger studies would take long
    for block in islice(blocks(problem.sizes, 4_000), 0, 10_000, 97):
        together = problem.evaluate(block)
        alone = problem.evaluate(block.rows(np.arange(len(block))))
        assert np.array_equal(together.violation, alone.violation)
        assert np.array_equal(together.loss, alone.loss, equal_nan=True)
