"""Where a run goes: looked at before the search, replaced whole, and never the working folder."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import dse
from dse.errors import OutputError
from dse.files import folder
from dse.runs import result, runner
from dse.runs.result import FILES
from tests.conftest import STUDIES, run_dse

STUDY = STUDIES / "settop_116mbps.yaml"


@pytest.fixture
def searches(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that grows by every search."""
    done: list[str] = []
    search = runner.run_study
    monkeypatch.setattr(
        runner, "run_study", lambda *given, **more: (done.append(""), search(*given, **more))[1]
    )
    return done


def held(place: Path) -> set[str]:
    return {entry.name for entry in place.iterdir()}


def test_a_folder_that_cannot_be_the_runs_is_told_before_the_search(tmp_path, searches) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("keep")
    (tmp_path / "file").write_text("keep")
    for name in ("mine", "file"):
        with pytest.raises(OutputError):
            dse.run(STUDY, out=tmp_path / name)
        assert run_dse("run", str(STUDY), "--out", str(tmp_path / name)).returncode == 2
    assert not searches
    assert held(tmp_path) == {"mine", "file"}


def test_a_run_within_a_run_folder_leaves_it_alone(tmp_path, monkeypatch, searches) -> None:
    dse.run(STUDY, out=tmp_path / "run")
    before = {name: (tmp_path / "run" / name).read_bytes() for name in held(tmp_path / "run")}
    monkeypatch.chdir(tmp_path / "run")
    for place in (".", "..", str(tmp_path / "run")):
        with pytest.raises(OutputError, match=r"is the working folder|which is not part of a run"):
            dse.run(STUDY, out=place)
    assert {name: Path(name).read_bytes() for name in held(Path())} == before
    assert len(searches) == 1


@pytest.mark.parametrize("there", [True, False])
def test_a_link_is_followed(tmp_path, there) -> None:
    target = tmp_path / "scratch" / "place"
    target.parent.mkdir()
    if there:
        target.mkdir()
    (tmp_path / "link").symlink_to(target)
    for _ in range(2):
        dse.run(STUDY, out=tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert set(FILES) <= held(target)
    assert held(target.parent) == {"place"}


def test_what_was_there_stays_when_the_new_cannot_take_its_place(tmp_path, monkeypatch) -> None:
    dse.run(STUDY, out=tmp_path / "run")
    before = held(tmp_path / "run")
    rename = os.replace

    def fails(source, target) -> None:
        if Path(target).name == "run" and not Path(target).exists() and fails.first:
            fails.first = False
            raise OSError(28, "No space left on device")
        rename(source, target)

    fails.first = True
    monkeypatch.setattr(folder.os, "replace", fails)
    with pytest.raises(OutputError, match="No space left"):
        dse.run(STUDY, out=tmp_path / "run")
    assert held(tmp_path / "run") == before
    assert held(tmp_path) == {"run"}


def test_a_front_that_cannot_be_written_is_printed(tmp_path, monkeypatch) -> None:
    def fails(fresh, place) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(folder, "_exchange", fails)
    found = run_dse("run", str(STUDY), "--out", str(tmp_path / "run"))
    assert found.returncode == 2
    assert "cannot be written: No space left on device" in found.stderr
    assert "Pareto front of 1 design" in found.stdout
    assert not held(tmp_path)


def test_the_answer_is_printed_before_anything_is_written(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(result.Result, "save", lambda *_, **__: print("saving"))
    shown = run_dse("run", str(STUDY), "--out", str(tmp_path / "run")).stdout
    places = [shown.index(text) for text in ("Pareto front of 1 design", "saving", "written to")]
    assert places == sorted(places)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize("command", [["list", "cores"], ["answer", str(STUDY), "--no-flips"]])
def test_an_output_that_is_full_is_told(command) -> None:
    with open("/dev/full", "w") as full:
        found = subprocess.run(
            [sys.executable, "-m", "dse", *command],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert found.returncode == 1
    assert found.stderr == "the output cannot be written: No space left on device\n"
