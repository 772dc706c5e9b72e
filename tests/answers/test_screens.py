"""What `run` and `answer` print of four studies at 60 and 80 columns, word for word."""

from __future__ import annotations

from pathlib import Path

import pytest

import dse
from tests.conftest import STUDIES

NAMES = ("aes_100gbps", "des_100gbps", "settop_116mbps", "tls_100gbps")
SCREENS = Path(__file__).parents[1] / "golden" / "screens"
RUN, ANSWER = 18, 19
"""Most lines at 80 columns, the line on where a run is written apart."""


@pytest.mark.parametrize("width", [60, 80])
@pytest.mark.parametrize("name", NAMES)
def test_a_screen_is_as_it_was_agreed(
    name: str, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    result = dse.run(STUDIES / f"{name}.yaml")
    run, answer = result.text(), dse.answer(result, all=False).text()
    wanted = (SCREENS / f"{name}_{width}.txt").read_text(encoding="utf-8")
    assert f"{run}\n\n{answer}\n" == wanted
    assert max(map(len, f"{run}\n{answer}".splitlines())) <= width
    if width == 80:
        assert len(run.splitlines()) <= RUN
        assert len(answer.splitlines()) <= ANSWER
        assert run.split("▸")[0].count("\n") + 1 in (3, 4)  # the line of the design
