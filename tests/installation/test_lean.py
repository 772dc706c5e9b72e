"""Without the libraries of the extras: what is refused, with the remedy, and what goes on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import dse
from dse.errors import MissingLibraryError, OutputError
from dse.model.tables import Table
from dse.runs import run_files
from tests.conftest import STUDIES, run_dse

SETTOP, MIXED = (STUDIES / f"{name}.yaml" for name in ("settop_116mbps", "des_100gbps"))


@pytest.mark.parametrize(
    ("method", "library"),
    [
        ("nsga2", "pymoo"),
        ("nsga3", "pymoo"),
        ("tpe", "optuna"),
        ("random", "optuna"),
    ],
)
def test_a_method_names_the_extra_that_it_needs(
    method: str, library: str, without: Callable[..., None], tmp_path: Path
) -> None:
    without(library)
    done = run_dse("run", str(MIXED), "--method", method, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == (
        f"search method {method} needs {library}, which is not installed; "
        'pip install "accel-dse[search]", or search with method: exact\n'
    )
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_a_run_without_pyarrow_writes_csv_says_so_and_is_used_like_any_other(
    without: Callable[..., None], tmp_path: Path
) -> None:
    study = str(STUDIES / "des_fft_sweep.yaml")
    sweep = ("--set", "sweep.workload.rate=[1 Gbit/s, 40 Gbit/s]")
    assert run_dse("run", study, *sweep, "--out", "parquet", cwd=tmp_path).returncode == 0
    without("pyarrow", "pymoo", "optuna")
    done = run_dse("run", study, *sweep, "--out", "plain", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stdout.split())
    assert (
        "note: evaluations are written as evaluations.csv.gz: evaluations.parquet needs pyarrow, "
        'which is not installed; pip install "accel-dse[parquet]"'
    ) in said
    assert (tmp_path / "plain" / "evaluations.csv.gz").exists()
    assert not (tmp_path / "plain" / "evaluations.parquet").exists()
    for command, *options in (["report", "--pictures"], ["verify"]):
        assert run_dse(command, "plain", *options, cwd=tmp_path).returncode == 0
        refused = run_dse(command, "parquet", *options, cwd=tmp_path)
        assert refused.returncode == 2
        assert refused.stderr == (
            "parquet/evaluations.parquet needs pyarrow, which is not installed; "
            'pip install "accel-dse[parquet]"\n'
        )
    assert run_dse("run", study, *sweep, "--out", "plain", cwd=tmp_path).returncode == 0  # again


def test_a_run_says_nothing_of_csv_where_pyarrow_is_installed() -> None:
    assert "evaluations.csv.gz" not in dse.run(SETTOP).text()


def test_tables_come_back_from_csv_as_they_were(
    without: Callable[..., None], tmp_path: Path
) -> None:
    """Also names that look like numbers: they are written again as they were."""
    table: Table = {
        "des.u1": np.array([3, 0, 12]),
        "area_m2": np.array([1e-07, np.nan, 0.1 + 0.2]),
        "speed": np.array([np.inf, 1 / 3, -2.0]),
        "bound": np.array(['a,"b', None, "=c"], dtype=object),
        "design": np.array(["01", "1e3", "7"], dtype=object),
        "feasible": np.array([True, False, True]),
    }
    without("pyarrow")
    run_files.write_evaluations(table, tmp_path)
    read = run_files.read_evaluations(tmp_path, None)
    assert list(read) == list(table)
    for name, values in table.items():
        assert read[name].dtype == values.dtype
        np.testing.assert_array_equal(read[name], values)
    path = run_files.evaluations_file(tmp_path)
    whole = path.read_bytes()
    run_files.write_evaluations(table, tmp_path)
    assert path.read_bytes() == whole, "the same table, the same bytes"
    for wrong in (whole[:-9], whole[:20] + b"\0" * 20 + whole[40:]):
        path.write_bytes(wrong)
        with pytest.raises(OutputError, match=r"evaluations\.csv\.gz cannot be read: "):
            run_files.read_evaluations(tmp_path, None)


@pytest.mark.parametrize("parquet", [False, True])
def test_what_unpacks_to_more_than_its_rows_may_be_is_refused(
    without: Callable[..., None], tmp_path: Path, *, parquet: bool
) -> None:
    """A million rows alike in a file of few bytes, where the run is to have kept three."""
    if not parquet:
        without("pyarrow")
    run_files.write_evaluations({"a": np.zeros(1_000_000)}, tmp_path)
    path = run_files.evaluations_file(tmp_path)
    assert path.stat().st_size < 30_000
    assert len(run_files.read_evaluations(tmp_path, 1_000_000)["a"]) == 1_000_000
    with pytest.raises(OutputError) as caught:
        run_files.read_evaluations(tmp_path, 3)
    fault = "it unpacks to more than 262,144 bytes, longer than its rows may be"
    assert str(caught.value) == f"{path} cannot be read: {fault}"


def test_the_remedy_of_a_missing_library_is_an_extra_of_ours() -> None:
    from dse.installation.doctor import libraries

    error = MissingLibraryError("this", "pyarrow", "parquet")
    assert str(error) == (
        'this needs pyarrow, which is not installed; pip install "accel-dse[parquet]"'
    )
    extras = {name: {one.name for one in needed} for name, needed in libraries().items()}
    assert extras["parquet"] == {"pyarrow"}
    assert extras["search"] == {"pymoo", "optuna"}
    assert extras["all"] == {"pyarrow", "pymoo", "optuna", "SALib", "distributed"}
    assert not {"pyarrow", "pymoo", "optuna"} & extras[""]
