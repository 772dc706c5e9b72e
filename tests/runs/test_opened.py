"""A folder of a run is data: what is no file, too long, too deep or changed is refused by all."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import dse
from dse.errors import OutputError
from dse.runs import finished
from tests.conftest import run_dse
from tests.runs.test_measuring import figures, study

LOOKS_AT_PICTURES = True

COMMANDS = {
    "answer": ("answer", "RUN"),
    "explain": ("explain", "RUN", "--design", "unroll=1 clock=100MHz"),
    "pictures": ("report", "RUN", "--pictures"),
    "diff": ("diff", "RUN", "RUN"),
    "report": ("report", "RUN", "--out", "PAGE"),
    "flips": ("flips", "RUN"),
    "status": ("status", "RUN"),
    "verify": ("verify", "RUN"),
}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("opened") / "run"
    dse.run(study(axes={"unroll": [1, 2], "clock": ["100 MHz"]}), evaluate=figures, out=run)
    return run


@pytest.fixture
def run(written: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(written, tmp_path / "run"))


def pipe(path: Path) -> None:
    path.unlink(missing_ok=True)
    os.mkfifo(path)


def device(path: Path) -> None:
    path.unlink(missing_ok=True)
    path.symlink_to("/dev/zero")


def deep(path: Path) -> None:
    path.write_text('{"a": ' + "[" * 900 + "]" * 900 + "}")


def deeper(path: Path) -> None:
    path.write_text('{"a":' * 100_000 + "1" + "}" * 100_000)


def long(path: Path) -> None:
    with path.open("ab") as file:
        file.truncate(1 << 33)


SPOILT = [
    *((name, spoil) for name in ("front.csv", "evaluations.sqlite") for spoil in (pipe, device)),
    *(("manifest.json", spoil) for spoil in (pipe, device, deep, deeper)),
    *(("evaluations.sqlite", spoil) for spoil in (deep, long)),
    *(("evaluations.parquet", spoil) for spoil in (pipe, device, long)),
]


@pytest.mark.parametrize(("name", "spoil"), SPOILT)
def test_every_command_refuses(name: str, spoil: Callable[[Path], None], run: Path) -> None:
    spoil(run / name)
    places = {"RUN": str(run), "PAGE": str(run.parent / "page.html")}
    for command in COMMANDS.values():
        ended = run_dse(*(places.get(part, part) for part in command))
        refuted = command[0] == "verify" and name != "manifest.json"
        assert ended.returncode == (1 if refuted and "refuted" in ended.stdout else 2), command
        assert "Traceback" not in ended.stderr
        assert str(run) in (ended.stdout if ended.returncode == 1 else ended.stderr)


def test_pictures_may_be_drawn_again(run: Path) -> None:
    (run / "front.png").write_bytes(b"another one")
    (run / "front.svg").unlink()
    assert dse.answer(run)
    (run / "front.csv").write_text((run / "front.csv").read_text() + "\n")
    with pytest.raises(OutputError, match=r"was changed since it was run: front\.csv is not"):
        dse.answer(run)


@pytest.mark.parametrize("name", ["evaluations.sqlite-wal", "evaluations.sqlite-new"])
@pytest.mark.parametrize("spoil", [pipe, device])
def test_a_store_of_pipes_is_refused(name: str, spoil: Callable[[Path], None], run: Path) -> None:
    spoil(run / name)
    ended = run_dse("status", str(run))
    assert ended.returncode == 2
    assert f"{name} is not a file; remove it" in ended.stderr


PROGRAM = "#!/bin/sh\necho area = $1\n"


def test_what_goes_on_says_what_it_runs(tmp_path: Path) -> None:
    (tmp_path / "tool.sh").write_text(PROGRAM)
    (tmp_path / "tool.sh").chmod(0o755)
    (tmp_path / "study.yaml").write_text(
        "axes: {a: [1, 2]}\nobjectives: {area: minimise}\n"
        "evaluate: {command: [./tool.sh, '{a}', 'b c'], outputs: {area: um2}}\n"
    )
    begun = ("run", str(tmp_path / "study.yaml"), "--out", str(tmp_path / "run"), "--no-plots")
    said = f"this study runs a program, in {tmp_path}: ./tool.sh '{{a}}' 'b c'\n"
    assert said not in run_dse(*begun).stderr
    assert run_dse(*begun, "--resume").stderr.count(said) == 1


# A run that is read back from its folder is the run that was written


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
