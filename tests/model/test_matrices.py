"""Tables of designs and losses."""

from __future__ import annotations

import numpy as np
import pytest

from dse.model.evaluation import distinct, distinct_rows


@pytest.mark.parametrize("kind", [np.int64, np.float64])
@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (1, 1), (200, 1), (300, 3), (50, 20)])
def test_distinct_rows_are_those_that_numpy_finds(kind: type, shape: tuple[int, int]) -> None:
    table = np.random.default_rng(0).integers(-2, 3, shape).astype(kind)
    table[::7] = np.inf if kind is np.float64 else -9
    rows, first = np.unique(table, axis=0, return_index=True)
    assert distinct_rows(table).tolist() == first.tolist()
    np.testing.assert_array_equal(distinct(table), rows)
