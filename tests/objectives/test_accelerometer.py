"""Whole-program speedup: worked by hand from the three equations, and their laws."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dse.contract import WAIT_MODES
from dse.objectives.accelerometer import (
    async_speedup,
    program_speedup,
    sync_os_speedup,
    sync_speedup,
)

# A program of 1000 s, 40 % of it the kernel, in 10 offloads that cost 3 s each.
PROGRAM: dict[str, Any] = {
    "kernel_share": 0.4,
    "offloads": 10,
    "window_s": 1000.0,
    "overhead_s": 1.0,
    "latency_s": 1.5,
    "queueing_s": 0.5,
}


def test_by_hand() -> None:
    # Left of 1000 s: 600 kept, 30 for offloads; 100 waited for, or 40 of switching.
    assert sync_speedup(**PROGRAM, acceleration=4.0) == pytest.approx(1000 / 730)
    assert sync_os_speedup(**PROGRAM, switch_s=2.0) == pytest.approx(1000 / 670)
    assert async_speedup(**PROGRAM) == pytest.approx(1000 / 630)


def test_mode_selects_the_equation_row_by_row() -> None:
    modes = program_speedup(**PROGRAM, acceleration=4.0, switch_s=2.0, wait=[0, 1, 2])
    alone = [
        sync_speedup(**PROGRAM, acceleration=4.0),
        sync_os_speedup(**PROGRAM, switch_s=2.0),
        async_speedup(**PROGRAM),
    ]
    assert WAIT_MODES == ("sync", "sync_os", "async")
    assert np.array_equal(modes, alone)


@given(
    share=st.floats(0, 1),
    acceleration=st.floats(1, 1e6),
    cost=st.floats(1e-6, 10),
    switch=st.floats(0, 10),
)
def test_waiting_never_helps_and_amdahl_bounds_all(
    share: float, acceleration: float, cost: float, switch: float
) -> None:
    program: dict[str, Any] = PROGRAM | {"kernel_share": share, "overhead_s": cost}
    free = async_speedup(**program)
    assert sync_speedup(**program, acceleration=acceleration) <= free
    assert sync_os_speedup(**program, switch_s=switch) <= free
    assert free * (1 - share) < 1
    assert sync_speedup(**program, acceleration=np.inf) == free


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kernel_share": 1.2}, r"^kernel_share is 1\.2; it must be between 0 and 1$"),
        ({"window_s": 0.0}, r"^window_s is 0\.0; it must be above zero$"),
        ({"queueing_s": -1.0}, r"^queueing_s is -1\.0; it must be zero or more$"),
        ({"wait": 3}, r"^wait is 3; it must be one of 0 sync, 1 sync_os, 2 async$"),
    ],
)
def test_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        program_speedup(**(PROGRAM | {"acceleration": 4.0, "wait": 0} | change))
