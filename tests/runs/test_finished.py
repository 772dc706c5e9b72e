"""A run that is read back from its folder is the run that was written."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import dse
from dse.errors import OutputError
from dse.runs import finished

SETTINGS = {
    "des_100gbps": {},
    "crypto_interface_100gbps": {},
    "nic_crypto_100gbps": {},
    "jacobi_bandwidth": {},
    "settop_116mbps": {},
    "des_fft_sweep": {"sweep.workload.rate": "[20 Gbps, 73 Gbps]"},
    "platforms_power_bound": {},
}


@pytest.mark.parametrize("name", SETTINGS)
def test_a_run_reads_back_as_the_designs_it_found(name: str, tmp_path: Path) -> None:
    result = dse.run(f"studies/{name}.yaml", out=tmp_path / "run", overrides=SETTINGS[name])
    found = finished.read_run(tmp_path / "run").points()
    assert len(found) == len(result.run.answers)
    for (prepared, index), answer in zip(found, result.run.answers, strict=True):
        assert (index == answer.outcome.front_index).all()
        loss = prepared.problem.evaluate(index).loss
        assert np.array_equal(loss, answer.outcome.front_loss)


def test_a_folder_that_is_no_run_is_told(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="is not the folder of a run"):
        finished.read_run(tmp_path)
    (tmp_path / "front.csv").write_text("a\n1\n")
    (tmp_path / "manifest.json").write_text(json.dumps(["no", "run"]))
    with pytest.raises(OutputError, match="is not the folder of a run"):
        finished.read_run(tmp_path)


def test_a_front_that_was_changed_by_hand_is_told(tmp_path: Path) -> None:
    dse.run("studies/settop_116mbps.yaml", out=tmp_path / "run")
    path = tmp_path / "run" / "front.csv"
    header, first, *rest = path.read_text().splitlines()
    path.write_text("\n".join([header, "9" + first[1:], *rest]) + "\n")
    path.write_text(path.read_text().replace("des.u1,", "des.v1,", 1))
    with pytest.raises(
        OutputError, match=r"row 1 of the front is no design of its study: des.design"
    ):
        finished.read_run(tmp_path / "run", changed=True).points()
    with pytest.raises(OutputError, match=r"was changed since it was run: front\.csv is not"):
        finished.read_run(tmp_path / "run")
