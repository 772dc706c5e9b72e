"""Where a run goes: looked at before the search, replaced whole, and never the working folder."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

import dse
from dse.audit.verify import verify_run
from dse.errors import OutputError
from dse.files import whole_folders
from dse.reports import plots
from dse.runs import result, runner
from dse.runs.result import FILES, PICTURES
from tests.conftest import STUDIES, run_dse

STUDY = STUDIES / "settop_116mbps.yaml"


@pytest.fixture
def searches(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that grows by every search."""
    done: list[str] = []
    search = runner.run_study
    monkeypatch.setattr(
        "dse.api.runs.run_study", lambda *run, **more: (done.append(""), search(*run, **more))[1]
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


def test_a_place_that_cannot_be_written_is_told_before_the_search(tmp_path, searches) -> None:
    (tmp_path / "nowhere").symlink_to(tmp_path / "unmounted" / "place")
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    (tmp_path / "file").write_text("keep")
    other = "name another folder, or repair this one"
    for name, reason in {
        "nowhere": f"is a link that leads nowhere: {tmp_path}/unmounted/place; repair or remove it",
        "circle": f"is a link that leads nowhere: {tmp_path}/circle; repair or remove it",
        "file/run": f"would lie in {tmp_path}/file, which is a file; name another folder",
        "n" * 250: f"cannot be written: File name too long; {other}",
    }.items():
        with pytest.raises(OutputError) as caught:
            dse.run(STUDY, out=tmp_path / name)
        assert str(caught.value) == f"{tmp_path / name} {reason}"
    assert not searches


def test_a_run_whose_tables_a_study_reads_is_not_replaced(tmp_path, searches) -> None:
    (tmp_path / "table.csv").write_text("name,area_um2,power_mw\na,1,2\nb,2,1\n")
    study = "designs: {}\nobjectives: {{area: minimise, power: minimise}}\n"
    (tmp_path / "first.yaml").write_text(study.format("table.csv"))
    (tmp_path / "second.yaml").write_text(study.format("run/inputs/table.csv"))
    dse.run(tmp_path / "first.yaml", out=tmp_path / "run")
    dse.run(tmp_path / "first.yaml", out=tmp_path / "run")
    with pytest.raises(OutputError) as caught:
        dse.run(tmp_path / "second.yaml", out=tmp_path / "run")
    rule = "holds 'run/inputs/table.csv', which the study reads; name another folder"
    assert str(caught.value) == f"{tmp_path}/run {rule}"
    assert len(searches) == 2
    assert verify_run(tmp_path / "run", trials=10).holds


def test_two_runs_do_not_write_one_place(tmp_path) -> None:
    def second(first: dse.Result) -> None:
        with pytest.raises(OutputError, match=r"/run is being written by another process, into "):
            dse.run(STUDY, out=tmp_path / "run", plots=False)

    dse.run(STUDY, out=tmp_path / "run", plots=False, callback=second)
    assert verify_run(tmp_path / "run", trials=10).holds
    assert held(tmp_path) == {"run"}


def test_a_folder_that_another_process_tidies_before_it_is_locked_is_made_again(
    tmp_path, monkeypatch
) -> None:
    make, made = tempfile.mkdtemp, []

    def make_and_lose(**options: Any) -> str:
        made.append(make(**options))
        if len(made) == 1:
            Path(made[0]).rmdir()
        return made[-1]

    monkeypatch.setattr(tempfile, "mkdtemp", make_and_lose)
    dse.run(STUDY, out=tmp_path / "run", plots=False)
    assert len(made) > 1
    assert held(tmp_path) == {"run"}


def test_what_killed_runs_left_is_tidied_and_told(tmp_path) -> None:
    dse.run(STUDY, out=tmp_path / "run", plots=False)
    for left in ("run.dse-aaaaaaaa-whole", "run.dse-bbbbbbbb-earlier", "b.dse-cccccccc-working"):
        shutil.copytree(tmp_path / "run", tmp_path / f".{left}")
    found = run_dse("run", str(STUDY), "--no-plots", "--out", str(tmp_path / "run"))
    whole, earlier, working = (
        tmp_path / ".run.dse-aaaaaaaa-whole",
        tmp_path / ".run.dse-bbbbbbbb-earlier",
        tmp_path / ".b.dse-cccccccc-working",
    )
    assert found.stderr.splitlines() == [
        f"warning: {whole} is a whole run that was killed before it took the place of run; "
        f"rename it to keep it, or remove it",
        f"warning: {earlier} was left of a run that was killed, and is removed",
        f"warning: {working} was left of a run that was killed, and is removed",
    ]
    shutil.rmtree(tmp_path / "run")
    lost = run_dse("verify", str(tmp_path / "run"))
    assert lost.stderr == (
        f"'{tmp_path}/run' does not exist; a run that was killed left it whole: {whole}\n"
    )
    found = run_dse("run", str(STUDY), "--no-plots", "--out", str(tmp_path / "other"))
    assert found.stderr == (
        f"warning: {tmp_path}/run is back: a run that was killed had left it as {whole.name}\n"
    )
    assert held(tmp_path) == {"run", "other"}


@pytest.mark.usefixtures("drawn")
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
    monkeypatch.setattr(whole_folders.os, "replace", fails)
    with pytest.raises(OutputError, match="No space left"):
        dse.run(STUDY, out=tmp_path / "run")
    assert held(tmp_path / "run") == before
    assert held(tmp_path) == {"run"}


def test_a_front_that_cannot_be_written_is_printed_and_kept(tmp_path, monkeypatch) -> None:
    def fails(folder) -> None:
        raise OSError(28, "No space left on device")

    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    monkeypatch.setattr(whole_folders.WorkingFolder, "_take_place", fails)
    found = run_dse("run", str(STUDY), "--out", str(tmp_path / "place" / "run"))
    (kept,) = (tmp_path / "temporary").iterdir()
    assert found.returncode == 2
    assert found.stderr == (
        f"{tmp_path}/place/run cannot be written: No space left on device; name another folder, "
        f"or repair this one; everything is kept in {kept}\n"
    )
    assert "front of 1 proven" in found.stdout
    assert verify_run(kept, trials=10).holds
    assert not (tmp_path / "place").exists()


@pytest.mark.usefixtures("drawn")
def test_a_picture_that_cannot_be_drawn_costs_no_table(tmp_path, monkeypatch) -> None:
    def fails(view, folder) -> None:
        (folder / "front.png").write_text("half")
        raise OverflowError("cannot convert float infinity to integer")

    monkeypatch.setattr(plots, "draw_front", fails)
    found = run_dse("run", str(STUDY), "--out", str(tmp_path / "run"))
    assert found.returncode == 0
    assert found.stderr == (
        "warning: front.png and front.svg cannot be drawn: OverflowError: cannot convert float "
        "infinity to integer; all else is written\n"
    )
    assert held(tmp_path / "run") == {*FILES} - {*PICTURES}
    assert verify_run(tmp_path / "run", trials=10).holds


def test_the_answer_is_printed_before_anything_is_written(tmp_path, monkeypatch) -> None:
    write = result.Result.write
    monkeypatch.setattr(
        result.Result, "write", lambda *a, **k: (print("saving"), write(*a, **k))[1]
    )
    shown = run_dse("run", str(STUDY), "--out", str(tmp_path / "run")).stdout
    places = [shown.index(text) for text in ("front of 1 proven", "saving", "written to")]
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


def test_a_run_has_the_permissions_that_the_user_gives_new_files(tmp_path) -> None:
    before = os.umask(0o077)
    try:
        folder = dse.run(STUDIES / "settop_116mbps.yaml", out=tmp_path / "run").folder
    finally:
        os.umask(before)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(each.stat().st_mode) for each in folder.iterdir()} == {0o600}


def test_a_file_too_long_for_a_run_is_refused_unread(tmp_path) -> None:
    folder = dse.run(STUDIES / "settop_116mbps.yaml", out=tmp_path / "run").folder
    os.truncate(folder / "front.csv", 6 << 30)  # sparse
    for command in (dse.verify, dse.answer):
        with pytest.raises(OutputError, match=r"front\.csv has more than 1,073,741,824 bytes"):
            command(folder)
