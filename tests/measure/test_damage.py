"""A store that is not as it was written is refused in one sentence that says what to do."""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from dse.errors import StoreError
from dse.measure import store
from dse.measure.store import COPY, Store, StoreCache, open_store, open_to_read
from dse.study.measuring import STORE, STORE_FILES
from tests.measure.examples import IDENTITY, filled, keep, measured

WAL = f"{STORE}-wal"


def refused(folder: Path, opened: Callable[[Path], Store] = open_store) -> str:
    """Return what is said of a store, less the path in front."""
    with pytest.raises(StoreError) as found:
        opened(folder)
    assert "\n" not in str(found.value)
    return str(found.value).removeprefix(f"{folder / STORE} ")


def edit(folder: Path, statement: str, *values: str) -> None:
    connection = sqlite3.connect(folder / STORE)
    with connection:
        connection.execute(statement, values)
    connection.close()


def killed(folder: Path, target: Path) -> Path:
    """Copy a store as a kill leaves it: eight rows, three of them in its log only."""
    filled(folder, 5)
    with open_store(folder) as found:
        keep(StoreCache(found, {}, IDENTITY), {number: measured(number) for number in range(5, 8)})
        shutil.copytree(folder, target)
    (target / f"{STORE}-shm").unlink()
    return target


EDITS = {
    "UPDATE evaluations SET content = '{}' WHERE number = 3": (
        f"is damaged: row 3: it does not have its checksum; {COPY}"
    ),
    "DELETE FROM evaluations WHERE number = 3": f"is damaged: row 3 is missing; {COPY}",
    "PRAGMA user_version = 2": (
        "has version 2 of the schema, and this program knows 6; "
        "use the program that wrote it, or remove it and begin again"
    ),
    "CREATE TRIGGER t AFTER INSERT ON evaluations BEGIN DELETE FROM evaluations; END": (
        f"is damaged: its tables are not those of a store; {COPY}"
    ),
    "INSERT INTO evaluations VALUES (0, '{}', 'wrong')": (
        f"is damaged: row 0: it does not have its checksum; {COPY}"
    ),
    "PRAGMA application_id = 0": (
        "is no store of measurements; name another folder, or move it away"
    ),
}


@pytest.mark.parametrize("statement", EDITS)
@pytest.mark.parametrize("opened", [open_store, open_to_read])
def test_an_edited_store_is_refused(
    statement: str, opened: Callable[[Path], Store], tmp_path: Path
) -> None:
    filled(tmp_path)
    edit(tmp_path, statement)
    assert refused(tmp_path, opened) == EDITS[statement]


@pytest.mark.parametrize(
    ("content", "named"),
    [
        ("[]", "StoredMeasurement"),
        ("1", "StoredMeasurement"),
        ('{"identity": "x", "design": [], "measurement": {}, "kept_at": ""}', "design"),
        (
            '{"identity": "x", "design": {"a": NaN}, "kept_at": "", "measurement": {"values": {}}}',
            "",
        ),
        ("[" * 100_000, "recursion"),
    ],
)
def test_a_forged_row_is_refused(content: str, named: str, tmp_path: Path) -> None:
    filled(tmp_path, 2)
    checksum = hashlib.sha256(f"2 {content}".encode()).hexdigest()
    statement = "UPDATE evaluations SET content=?, checksum=? WHERE number=2"
    edit(tmp_path, statement, content, checksum)
    said = refused(tmp_path)
    assert said.startswith("is damaged: row 2: ")
    assert named in said


def test_what_is_no_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / STORE).write_text("area,power\n" * 99)
    said = refused(tmp_path)
    assert said == f"is damaged: file is not a database; {COPY}"
    assert (tmp_path / STORE).read_text() == "area,power\n" * 99


def test_a_database_of_another_program_is_refused_and_left_alone(tmp_path: Path) -> None:
    edit(tmp_path, "CREATE TABLE trials (number INTEGER)")
    before = (tmp_path / STORE).read_bytes()
    assert refused(tmp_path).startswith("is no store of measurements; ")
    assert (tmp_path / STORE).read_bytes() == before


def test_a_store_whose_making_was_killed_is_made_again(tmp_path: Path) -> None:
    (tmp_path / f"{STORE}-new").write_bytes(b"SQLite for")
    filled(tmp_path, 3)
    with open_to_read(tmp_path) as found:
        assert len(found) == 3
    assert [path.name for path in tmp_path.iterdir()] == [STORE]


@pytest.mark.parametrize("size", [0, 4096])
@pytest.mark.parametrize("opened", [open_store, open_to_read])
def test_a_store_that_is_cut_is_refused(
    size: int, opened: Callable[[Path], Store], tmp_path: Path
) -> None:
    filled(tmp_path)
    os.truncate(tmp_path / STORE, size)
    assert refused(tmp_path, opened).startswith(("is damaged: ", "is no store of "))


def test_a_store_of_which_the_log_is_lost_has_the_rows_before(tmp_path: Path) -> None:
    folder = killed(tmp_path / "a", tmp_path / "b")
    (folder / WAL).unlink()
    with open_store(folder) as found:
        assert [row.measurement for row in found.found.values()] == [*map(measured, range(5))]


def test_a_folder_without_a_store_is_told(tmp_path: Path) -> None:
    with pytest.raises(StoreError) as found:
        open_to_read(tmp_path)
    assert str(found.value) == (
        f"{tmp_path} has no {STORE}; name the folder of a run that measures designs"
    )
    assert refused(tmp_path / "none").startswith("cannot be used: unable to open")


def test_a_folder_that_may_not_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(tmp_path / "closed", 3)
    folder = killed(tmp_path / "a", tmp_path / "killed")
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # the superuser may write anywhere
    with open_to_read(tmp_path / "closed") as found:
        assert len(found) == 3
    assert sorted(path.name for path in (tmp_path / "closed").iterdir()) == [STORE]
    assert refused(folder, open_to_read) == (
        "was not closed by the program that wrote it, and cannot be read in a folder that may "
        "not be written; copy its folder to one that may"
    )


def test_a_file_that_may_not_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = killed(tmp_path / "a", tmp_path / "killed")
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path).name != STORE)
    assert "in a folder that may not be written" in refused(folder, open_to_read)


def test_a_file_system_is_remote_if_df_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not store.is_remote(tmp_path)
    df = tmp_path / "df"
    df.write_text("#!/bin/sh\necho 'df: no file systems processed' >&2; exit 1")
    df.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert store.is_remote(tmp_path)
    df.unlink()
    assert not store.is_remote(tmp_path)


def test_a_network_file_system_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "is_remote", lambda folder: True)
    assert refused(tmp_path) == (
        "would be on a network file system, where locks and flushes cannot be relied on; "
        "name a folder on a local disk"
    )
    assert not [*tmp_path.iterdir()]


def test_only_the_files_of_a_store_are_made(tmp_path: Path) -> None:
    with open_store(tmp_path) as found:
        keep(StoreCache(found, {}, IDENTITY), {1: measured(1)})
        assert {path.name for path in tmp_path.iterdir()} <= {*STORE_FILES}
