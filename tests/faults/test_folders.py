"""A folder of a run is the old one or the new one, whole, whatever happens while it is written.

`make faults` does to ``dse run`` what is done here to a small program that writes as it does.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

import pytest

from dse.files.whole_folders import waiting_for
from dse.runs import record
from tests.conftest import ROOT, STUDIES
from tests.faults.injection import STRACE, Event, events, injected
from tests.faults.program import FILES, main

EVERYTHING = "DSE_FAULTS" in os.environ

pytestmark = pytest.mark.skipif(STRACE is None, reason="strace is not installed")

SMALL = ("-m", "tests.faults.program")
STUDY = STUDIES / "settop_116mbps.yaml"


@pytest.fixture(autouse=True)
def at_the_root(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "temporary").mkdir()
    (tmp_path / "runs").mkdir()
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    monkeypatch.setattr(tempfile, "tempdir", None)


def small(place: Path, text: str) -> list[str]:
    return [sys.executable, *SMALL, str(place), text]


def large(place: Path) -> list[str]:
    return [sys.executable, "-m", "dse", "run", str(STUDY), "--no-plots", "--out", str(place)]


def content(place: Path) -> str:
    """Return the text of a folder that is whole."""
    assert {path.name for path in place.iterdir()} == {*FILES}
    (text,) = {(place / name).read_text() for name in FILES}
    return text


def is_whole(run: Path) -> bool:
    manifest = record.read_manifest(run)
    wrong = [*record.changed_files(manifest, run), *record.changed_entries(manifest)]
    return not wrong and (run / "front.csv").exists()


def every_event(command: list[str], folder: Path) -> list[Event]:
    found = events(command, folder)
    assert len(found) > 10
    return found


def test_a_kill_at_any_event_leaves_the_old_or_the_new_folder_whole(tmp_path: Path) -> None:
    place = tmp_path / "runs" / "a"
    main(place, "old")
    absent = 0
    for event in every_event(small(place, "old"), place.parent):
        done = injected(small(place, "new"), event, "signal=KILL")
        assert done.returncode < 0 or done.returncode == 137, (event, done)
        wholes = [place] if place.exists() else waiting_for(place)
        assert wholes, event
        assert {content(whole) for whole in wholes} <= {"old", "new"}, event
        absent += not place.exists()
        main(place, "old")
        assert content(place) == "old"
        for left in waiting_for(place):
            assert content(left) == "new"
            shutil.rmtree(left)
        assert [path.name for path in place.parent.iterdir()] == ["a"], event
    assert absent == 1  # between the two renames


@pytest.mark.parametrize("fault", ["ENOSPC", pytest.param("EIO", marks=pytest.mark.slow)])
@pytest.mark.parametrize("on", [False, True])
def test_a_refusal_at_any_event_is_told_and_tears_nothing(
    fault: str, on: bool, tmp_path: Path
) -> None:
    place = tmp_path / "runs" / "a"
    main(place, "old")
    for event in every_event(small(place, "old"), place.parent):
        done = injected(small(place, "new"), event, f"error={fault}", on=on)
        assert "Traceback" not in done.stderr, (event, done.stderr)
        if done.returncode:
            (old,) = [place] if place.exists() else waiting_for(place)
            assert content(old) == "old", event
            assert old == place or f"the earlier folder is in {old}; " in done.stderr
            reason = "No space left on device" if fault == "ENOSPC" else "Input/output error"
            if not (on and event.name == "write"):  # then the message cannot be written either
                assert f"{place} cannot be written: {reason}; name another folder" in done.stderr
            for kept in re.findall(r"everything is kept in (\S+)", done.stderr):
                assert content(Path(kept)) == "new"
        else:
            assert content(place) == "new", event
        main(place, "old")
        assert [path.name for path in place.parent.iterdir()] == ["a"], event


@pytest.mark.skipif(not EVERYTHING, reason="make faults")
def test_a_run_that_is_killed_at_any_event_leaves_an_old_or_a_new_run(tmp_path: Path) -> None:
    place = tmp_path / "runs" / "a"
    every_event(large(place), place.parent)
    found = every_event(large(place), place.parent)
    for event in found:
        injected(large(place), event, "signal=KILL")
        wholes = [place] if place.exists() else waiting_for(place)
        assert wholes, event
        assert all(map(is_whole, wholes)), event
        assert all(map(is_whole, waiting_for(place))), event
    print(f"\n{len(found)} kills: an old or a new run is whole after each")


@pytest.mark.skipif(not EVERYTHING, reason="make faults")
@pytest.mark.parametrize("fault", ["ENOSPC", "EIO"])
def test_a_run_that_is_refused_at_any_event_tears_nothing(fault: str, tmp_path: Path) -> None:
    place = tmp_path / "runs" / "a"
    every_event(large(place), place.parent)
    found = every_event(large(place), place.parent)
    kept = []
    for event in found:
        done = injected(large(place), event, f"error={fault}")
        assert "Traceback" not in done.stderr, (event, done.stderr)
        assert is_whole(place), event
        if done.returncode:
            assert f"{place} cannot be written: " in done.stderr, event
            assert "front of 1 proven" in done.stdout or event.name == "mkdir", event
            kept += re.findall(r"everything is kept in (\S+)", done.stderr)
    assert all(is_whole(Path(run)) for run in kept)
    print(f"\n{len(found)} times {fault}: told {len(kept)} times with a run kept, none torn")
