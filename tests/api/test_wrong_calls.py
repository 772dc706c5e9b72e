"""Each wrong call of a public function, and the sentence that it gets."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest

import dse
from dse.api import fit as fits
from dse.api.arguments import argument_kind
from dse.errors import ArgumentError, DseError
from tests.conftest import STUDIES

SMALL = STUDIES / "settop_116mbps.yaml"
MIXED = STUDIES / "des_100gbps.yaml"
SWEPT = STUDIES / "des_fft_sweep.yaml"
INTERFACES = STUDIES / "crypto_interface_100gbps.yaml"

STUDY = "the path of a study, YAML text, a dict or a Study"
RUN = "the folder of a run, or a Result that was saved"
FIELDS = "{'workload.rate': '73 Gbps'} or 'workload.rate=73 Gbps'"
DESIGN = "'1 u8 + 2 u16', 'des.u8=1 des.u16=2', or a dict of these"
SEED = "a whole number, 0 to 4294967295"
COUNT = "a whole number, 1 or more"

WRONG_KINDS: tuple[tuple[Any, tuple[Any, ...], dict[str, Any], str], ...] = (
    (dse.run, (5,), {}, f"study=5: give {STUDY}"),
    (dse.explain, (object(),), {}, f"source=<object>: give {STUDY}, a Result or its folder"),
    (dse.verify, (5,), {}, f"run=5: give {RUN}"),
    (dse.diff, ("a", 5), {}, f"second=5: give {RUN}"),
    (dse.verify, ("a",), {"trials": 0}, f"trials=0: give {COUNT}"),
    (dse.verify, ("a",), {"trials": True}, f"trials=True: give {COUNT}"),
    (dse.uncertainty, (SMALL,), {"seed": 2**32}, f"seed=4294967296: give {SEED}"),
    (dse.run, (SMALL,), {"seed": 1.5}, f"seed=1.5: give {SEED}"),
    (dse.run, (SMALL,), {"budget": 2.5, "method": "random"}, f"budget=2.5: give {COUNT}"),
    (dse.run, (SMALL,), {"out": 5}, "out=5: give a path"),
    (dse.run, (SMALL,), {"overrides": 5}, f"overrides=5: give {FIELDS}"),
    (dse.run, (SMALL,), {"progress": 5}, "progress=5: give a function"),
    (dse.explain, ("a", 5), {}, f"design=5: give {DESIGN}"),
    (dse.answer, (SMALL,), {"flips": 1}, "flips=1: give True or False"),
    (dse.flips, (SMALL,), {"only": 5}, "only=5: give a text or a list of texts"),
    (dse.reproduce, (["logca"],), {}, "papers=['logca']: give a text"),
    (dse.fit.interface, ("a",), {"per_byte": "x"}, "per_byte='x': give 'latency' or 'computing'"),
)

WRONG_VALUES: tuple[tuple[Any, tuple[Any, ...], dict[str, Any], str], ...] = (
    (
        dse.load,
        (SMALL,),
        {"overrides": "workload.rate"},
        "'workload.rate'; it must be NAME=VALUE; write workload.rate=73 Gbps",
    ),
    (
        dse.load,
        (SMALL,),
        {"overrides": {"search.budget": float("nan")}},
        "('search.budget', nan); it must be NAME=VALUE, as YAML has it; "
        "write workload.rate=73 Gbps",
    ),
    (
        dse.load,
        (SMALL,),
        {"overrides": ["search.seed=1", "search.seed=2"]},
        "search.seed: 2; it is 1 already; write it once",
    ),
    (
        dse.uncertainty,
        (SMALL,),
        {"sobol": True, "width": "x"},
        "width 'x': 'x' is not a finite number; write for instance '10 %'",
    ),
    (dse.uncertainty, (SMALL,), {"width": "5 %"}, "width: only with --sobol; leave it out"),
    (
        dse.uncertainty,
        (SWEPT,),
        {},
        "the study sweeps workload.rate, and an uncertainty is of one answer; "
        "set one value: workload.rate=1 Gbit/s",
    ),
    (
        dse.load(SMALL).with_,
        ({"workload.rate": "50 Gbit/s"},),
        {"rate": "9 Gbps"},
        "workload.rate: 9 Gbps; it is 50 Gbit/s already; write it once",
    ),
    (
        dse.fit.core,
        ("none.csv",),
        {},
        "table: 'none.csv'; there is no file 'none.csv'; check the path",
    ),
    (
        dse.explain,
        (MIXED, {}),
        {},
        'how many of each design of des is open; add for instance "des.u1=1"; '
        "those that are not named are then 0",
    ),
)


def sentence(function: Any, args: tuple[Any, ...], named: dict[str, Any]) -> str:
    with pytest.raises(DseError) as refused:
        function(*args, **named)
    return str(refused.value)


@pytest.mark.parametrize(("function", "args", "named", "expected"), WRONG_KINDS)
def test_what_is_of_the_wrong_kind(
    function: Any, args: tuple[Any, ...], named: dict[str, Any], expected: str
) -> None:
    with pytest.raises(ArgumentError) as refused:
        function(*args, **named)
    assert str(refused.value) == expected


@pytest.mark.parametrize(("function", "args", "named", "expected"), WRONG_VALUES)
def test_what_makes_no_sense(
    function: Any,
    args: tuple[Any, ...],
    named: dict[str, Any],
    expected: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert sentence(function, args, named) == expected


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


def test_verilog_in_place_of_a_generator_is_told_how() -> None:
    assert "dse.verilog('a.v', ...)" in sentence(dse.characterise, ("a.v",), {})
