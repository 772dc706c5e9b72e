"""Forms in which arguments may be given, and how what comes back prints."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import dse
from dse.files.yaml import flow_yaml
from tests.conftest import STUDIES

SMALL = STUDIES / "settop_116mbps.yaml"
MIXED = STUDIES / "des_100gbps.yaml"


@pytest.mark.parametrize(
    "design",
    [
        *("1 u8 + 2 u16", "2 u16 + 1 des.u8"),
        *({"des.u16": 2, "des.u8": 1}, "des.u16=2 des.u8=1", ["des.u16=2", "des.u8 = 1"]),
    ],
)
def test_a_design_in_each_form(design: Any) -> None:
    assert dse.explain(MIXED, design).design == "1 u8 + 2 u16"


@pytest.mark.parametrize(
    "overrides",
    [{"workload.rate": "1 Gbps"}, "workload.rate=1 Gbps", ["workload.rate=1 Gbps"]],
)
def test_overrides_in_each_form(overrides: Any) -> None:
    assert dse.load(SMALL, overrides=overrides).document.data["workload"]["rate"] == "1 Gbps"


def test_a_run_may_take_so_much_time() -> None:
    assert dse.run(MIXED).manifest["exact"]
    assert not dse.run(MIXED, time="1 us").manifest["exact"]


def test_values_of_python_become_those_of_yaml() -> None:
    given = {"search.budget": None, "search.effort": "9 s", "search.seed": np.int64(3)}
    for found in (dse.load(SMALL, overrides=given), dse.load(SMALL).with_(given)):
        search = found.document.data["search"]
        assert [search[name] for name in ("budget", "effort", "seed")] == [None, "9 s", 3]
        assert (found.settings.budget, found.settings.effort_s) == (None, 9.0)
    assert flow_yaml(["a: b", {"c": 1.5}]) == '["a: b", {"c": 1.5}]'
    assert flow_yaml("[1, 2]") == "[1, 2]"


def test_one_text_is_not_taken_letter_by_letter() -> None:
    (rate,) = dse.flips(SMALL, only="rate").found
    assert rate.name == "workload.rate"
    sure = dse.uncertainty(SMALL, of="area=10 %", samples=4).found
    assert [entry.name for entry in sure.uncertain] == ["des.area"]


def test_help_keeps_the_signature() -> None:
    assert str(inspect.signature(dse.diff)).startswith("(first: 'str | Path | Result', second: ")
    assert "Raises" in (inspect.getdoc(dse.run) or "")
    with pytest.raises(TypeError, match=r"run\(\) got an unexpected keyword argument 'sed'"):
        dse.run(SMALL, sed=1)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"run\(\) missing 1 required positional argument"):
        dse.run()  # type: ignore[call-arg]
