"""Each wrong call of a public function, and the sentence that it gets."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest

import dse
from dse.api import fit as fits
from dse.api.arguments import argument_kind
from dse.errors import DseError
from tests.conftest import STUDIES

SMALL = STUDIES / "settop_116mbps.yaml"
MIXED = STUDIES / "des_100gbps.yaml"
SWEPT = STUDIES / "des_fft_sweep.yaml"
INTERFACES = STUDIES / "crypto_interface_100gbps.yaml"


def sentence(function: Any, args: tuple[Any, ...], named: dict[str, Any]) -> str:
    with pytest.raises(DseError) as refused:
        function(*args, **named)
    return str(refused.value)


def test_every_argument_has_a_kind() -> None:
    public = [getattr(dse, name) for name in dse.__all__]
    fitting = [
        found
        for name, found in inspect.getmembers(fits, inspect.isfunction)
        if found.__module__ == fits.__name__ and name != "__getattr__"
    ]
    functions = {*filter(inspect.isfunction, public), *fitting}
    assert {dse.answer, dse.reproduce, dse.fit.core, dse.characterise} <= functions
    for function in functions:
        assert inspect.unwrap(function) is not function, f"{function.__name__} is not checked"
        shape = inspect.signature(function, eval_str=True)
        assert all(map(argument_kind, shape.parameters.values()))


def test_a_remedy_for_one_design_is_one_that_works() -> None:
    lines = sentence(dse.explain, (INTERFACES,), {}).splitlines()
    found = [line.split('"')[1] for line in lines]
    assert "workload.granularity=64 KiB" in found
    for source, remedies in ((INTERFACES, found), (MIXED, "des.u1=1")):
        assert dse.explain(source, remedies).terms


def test_names_in_reach_are_shown_first() -> None:
    said = sentence(dse.flips, (MIXED,), {"only": "nonsense"})
    assert "known: dynamic_power, leakage_power, rate, area, clock, workload.rate, " in said


def test_the_folder_of_a_run_is_named_as_what_it_is(tmp_path: Path) -> None:
    dse.run(SMALL, out=tmp_path / "w")
    folder = str(tmp_path / "w")
    said = sentence(dse.run, (folder,), {})
    assert said.endswith("/w' is the folder of a run; name a study; `answer` takes runs")
    assert sentence(dse.answer, (tmp_path / "v",), {}).endswith("/v'; check the path")
    assert dse.answer(folder).pick.name == "1 u1"
