"""Studies that are no files: plain data, and data frames as tables."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dse
from dse.errors import StudyError
from tests.conftest import run_dse

CORES = pd.DataFrame(
    {
        "area_um2": [10.0, 20.0, 0.1 + 0.2],
        "clock_mhz": [500, 400, 100],
        "payload_bit": 128,
        "cycles_per_task": [10, 5, 1],
        "power_mw": [1.0, 3.3, 1 / 3],
    },
    index=["small", "big", "tiny"],
)


def study(**fields: Any) -> dict[str, Any]:
    return {
        "workload": {"rate": "10 Gbit/s"},
        "stages": [{"table": CORES, "fleet": "mixed"}],
        "objectives": {"area": "minimise", "power": "minimise"},
    } | fields


@pytest.mark.parametrize("designs", [False, True])
def test_a_frame_is_the_table_with_its_values(designs: bool, tmp_path: Path) -> None:
    """Bit by bit what the same table in a file gives."""
    CORES.to_csv(tmp_path / "mine.csv", index_label="design")
    path = str(tmp_path / "mine.csv")
    if designs:
        frame, file = ({"designs": table, "objectives": {"area": "minimise", "power": "minimise"}}
                       for table in (CORES, path))  # fmt: skip
    else:
        frame, file = (study(stages=[{"table": table, "name": "cores"}]) for table in (CORES, path))
    pd.testing.assert_frame_equal(dse.run(frame).front, dse.run(file).front)


def test_every_command_reads_the_run_again(tmp_path: Path) -> None:
    run = tmp_path / "run"
    result = dse.run(study(), out=run)
    written = pd.read_csv(run / "inputs" / "cores.csv", index_col="design")
    pd.testing.assert_frame_equal(written, CORES, check_names=False)
    assert "table: cores.csv" in json.loads((run / "manifest.json").read_text())["study"]
    for command, *options in (["verify"], ["answer"], ["report", "--pictures"]):
        done = run_dse(command, str(run), *options, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    again = dse.run(dse.load(study()), out=run)
    assert dse.diff(run, again).changes == ()
    assert dse.explain(run, {"cores.big": 1}).verdict
    assert dse.answer(result, flips=False).pick == dse.answer(run, flips=False).pick


def test_a_frame_shadows_no_file_and_each_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Paths are relative to the working directory."""
    monkeypatch.chdir(tmp_path)
    CORES[:1].to_csv("cores.csv", index_label="design")
    stages = [
        {"table": "cores.csv", "name": "first"},
        {"table": CORES[1:2]},
        {"table": CORES[2:], "name": "last"},
    ]
    study_of_three = dse.load(study(stages=stages))
    assert [*study_of_three.inputs] == ["cores.csv", "cores_2.csv", "last.csv"]
    assert [stage.designs.names for stage in study_of_three.problem.stages] == [
        ("small",), ("big",), ("tiny",)
    ]  # fmt: skip


def test_values_of_python_are_written_as_those_of_yaml() -> None:
    options = {"multivariate": np.False_}
    search = {"method": "tpe", "seed": np.int64(3), "options": options, "budget": None}
    written = {"search": search}
    found = dse.load(study(**written, constraints=("area <= 1 mm2",)))
    assert found.document.data["search"] == {
        "method": "tpe",
        "seed": 3,
        "options": {"multivariate": False},
        "budget": None,
    }
    assert found.document.data["constraints"] == ["area <= 1 mm2"]


def test_faults_are_told_by_their_paths() -> None:
    bad = study(
        stages=[{"core": object(), "clock": {1}}],
        workload={"rate": float("nan"), 3: 4},
        axes=CORES,
        designs=CORES.T.set_index(["small", "big"]),
    )
    with pytest.raises(StudyError) as caught:
        dse.load(bad)
    plain = "a study holds mappings, lists, text, numbers and data frames; write values as in a"
    assert str(caught.value).splitlines() == [
        "workload.rate: nan; a number is finite; write a finite number",
        "workload.3: 3; a key is text; put it in quotes",
        f"stages.0.core: <object>; {plain} study file",
        f"stages.0.clock: <set>; {plain} study file",
        "axes: <DataFrame>; a data frame replaces the `table` of a stage, or `designs`; "
        "write its values out",
        "designs: several levels; a table has one row of headers; flatten them: "
        "frame.reset_index()",
    ]


def test_a_study_that_holds_itself_ends() -> None:
    bad = study()
    bad["self"] = bad
    with pytest.raises(StudyError, match=r"self\.self\.self: a study is less deep; does it hold"):
        dse.load(bad)


def test_faults_of_a_study_and_its_tables_in_memory() -> None:
    relative = "a path is relative to the working directory"
    unreadable = CORES.assign(clock_mhz=["fast", 400, 100])
    for fields, expected in (
        (
            {"stages": [{"core": "dess"}]},
            "stages.0.core: 'dess' is not a known core; "
            "did you mean 'des' or 'des_asap7' or 'des_sky130'?",
        ),
        (
            {"stages": [{"table": "no.csv"}]},
            f"stages.0.table: 'no.csv'; there is no file 'no.csv'; {relative}",
        ),
        (
            {"interface": {"device": "no.yaml"}},
            f"interface.device: 'no.yaml'; there is no file 'no.yaml'; {relative}",
        ),
        (
            {"stages": [{"table": unreadable}]},
            "stages.0.table as CSV:2:12: clock_mhz: 'fast'; it is not a number; write only the "
            "number; its unit belongs in the header",
        ),
    ):
        with pytest.raises(StudyError) as caught:
            dse.load(study(**fields))
        assert expected in str(caught.value)
