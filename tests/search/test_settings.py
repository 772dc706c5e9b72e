"""A limit of time is written in seconds, minutes or hours."""

from __future__ import annotations

import pytest

from dse.errors import UnitError
from dse.search.settings import budget_of


@pytest.mark.parametrize(("written", "seconds"), [("60 s", 60), ("5 min", 300), ("1.5 h", 5400)])
def test_times_of_any_length(written: str, seconds: float) -> None:
    assert budget_of(written, None).seconds == seconds


def test_what_is_no_time_is_refused() -> None:
    with pytest.raises(UnitError, match="time '5 mins'"):
        budget_of("5 mins", None)
