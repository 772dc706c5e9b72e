"""A search that ends once its front lacks little: what a study may say, and what is said of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import dse
from dse.errors import StudyError

STUDY: dict[str, Any] = {
    "axes": {"u": {"from": 1, "to": 16}, "v": {"from": 1, "to": 16}},
    "evaluate": {"outputs": {"area": "um2", "time": "ns"}},
    "objectives": {"area": "minimise", "time": "minimise"},
    "search": {"until": {"missing": "2 %"}},
}
SAID = "with 90 % confidence the front lacks less than 2 % of hypervolume"


def measure(u: float, v: float) -> dict[str, float]:
    return {"area": u * v + u, "time": 1e4 / (u * v)}


def test_it_is_said_with_the_answer_and_the_status(tmp_path: Path) -> None:
    result = dse.run(STUDY, evaluate=measure, out=tmp_path / "run", plots=False)
    assert result.manifest["lacking"] == {"share": 0.02, "confidence": 0.9}
    assert result.manifest["evaluated"] < 256
    printed = " ".join(result.text().split())
    assert f", {SAID}" in printed
    assert "unknown share" not in printed
    assert f"; {SAID}." in dse.answer(result).text()
    assert f"; {SAID}." in dse.answer(tmp_path / "run").text()
    assert SAID in dse.status(tmp_path / "run").text()


def test_a_budget_that_ends_before_leaves_what_is_lacking(tmp_path: Path) -> None:
    study = STUDY | {"search": {"until": {"missing": "0.01 %", "confidence": "99 %"}, "budget": 36}}
    result = dse.run(study, evaluate=measure, out=tmp_path / "run", plots=False)
    assert result.manifest["evaluated"] == 36
    assert result.manifest["lacking"]["share"] > 1e-4
    assert "with 99 % confidence the front lacks less than" in dse.answer(result).text()


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"search": {"until": {"missing": "100 %"}}}, "more than 0 % and less than 100 %"),
        ({"search": {"until": {"confidence": "90 %"}}}, "does not say how much may be missing"),
        ({"search": {"until": {"missing": "2 %"}, "method": "tpe"}}, "add `method: gaussian`"),
    ],
)
def test_what_cannot_be_known_is_refused(change: dict[str, Any], fault: str) -> None:
    with pytest.raises(StudyError, match=fault):
        dse.run(STUDY | change, evaluate=measure, plots=False)
