"""A law of the models over shipped studies, whatever their numbers."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import problem_of
from tests.search.test_compose import front
from tests.study.test_written_fields import better

STUDIES = Path(__file__).parents[2] / "studies"


@pytest.mark.parametrize(
    "study", ["des_100gbps", "crypto_interface_100gbps", "settop_116mbps", "des_fft_sweep"]
)
def test_no_clock_gives_a_better_design_of_a_shipped_study(study: str) -> None:
    path, grid = STUDIES / f"{study}.yaml", f"[{', '.join(f'{k / 50:g}' for k in range(1, 51))}]"
    best = front(problem_of(path), "exact").front_loss
    tried = front(problem_of(path, ("des.clock", grid)), "exact").front_loss
    assert not better(tried, best).any()
