"""Without the libraries of the extras: what is refused, with the remedy, and what goes on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from dse.errors import MissingLibraryError, OutputError
from dse.runs import record
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


def test_a_run_without_pyarrow_keeps_no_evaluations_says_so_and_is_used_like_any_other(
    without: Callable[..., None], tmp_path: Path
) -> None:
    study = str(STUDIES / "des_fft_sweep.yaml")
    sweep = ("--set", "sweep.workload.rate=[1 Gbit/s, 40 Gbit/s]")
    whole = run_dse("run", study, *sweep, "--out", "parquet", cwd=tmp_path)
    unkept = "evaluations are not kept: evaluations.parquet needs pyarrow, which is not installed; "
    assert unkept not in " ".join(whole.stdout.split())
    without("pyarrow", "pymoo", "optuna")
    done = run_dse("run", study, *sweep, "--out", "plain", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stdout.split())
    assert f'note: {unkept}pip install "accel-dse[parquet]"' in said
    assert not [*(tmp_path / "plain").glob("evaluations*")]
    for command, *options in (["report", "--pictures"], ["verify"]):
        assert run_dse(command, "plain", *options, cwd=tmp_path).returncode == 0
        refused = run_dse(command, "parquet", *options, cwd=tmp_path)
        assert refused.returncode == 2
        assert refused.stderr == (
            "parquet/evaluations.parquet needs pyarrow, which is not installed; "
            'pip install "accel-dse[parquet]"\n'
        )
    assert run_dse("run", study, *sweep, "--out", "plain", cwd=tmp_path).returncode == 0  # again


def test_what_unpacks_to_more_than_its_rows_may_be_is_refused(tmp_path: Path) -> None:
    """A million rows alike in a file of few bytes, where the run is to have kept three."""
    record.write_evaluations({"a": np.zeros(1_000_000)}, tmp_path)
    path = tmp_path / record.EVALUATIONS
    assert path.stat().st_size < 30_000
    assert len(record.read_evaluations(tmp_path, 1_000_000)["a"]) == 1_000_000
    with pytest.raises(OutputError) as caught:
        record.read_evaluations(tmp_path, 3)
    assert str(caught.value) == f"{path} cannot be read: it unpacks to more than 262,144 bytes"


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
