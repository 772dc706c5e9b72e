"""A store that is not as it was written is refused in one sentence that says what to do."""

from __future__ import annotations

import itertools
import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from dse.contract.evaluators import Measurement
from dse.errors import StoreError
from dse.store import database, opening
from dse.store.opening import open_store, open_to_read, salvage
from dse.store.rows import STORE, STORE_FILES, TALLY, read_cells, stored_cells
from dse.store.store import Store, StoreShelf
from tests.store.examples import IDENTITY, filled, keep, measured

WAL = f"{STORE}-wal"
COPY = (
    "put back a copy of it, or keep what can be read of it for another run: "
    "dse status FOLDER --salvage NEW"
)


def refused(folder: Path, opened: Callable[[Path], Store] = open_store) -> str:
    """Return what is said of a store, less the path in front."""
    with pytest.raises(StoreError) as found:
        opened(folder)
    assert "\n" not in str(found.value)
    said = str(found.value).removeprefix(f"{folder / STORE} ")
    return said.replace(f"status {folder} ", "status FOLDER ")


def edit(folder: Path, statement: str) -> None:
    connection = sqlite3.connect(folder / STORE)
    with connection:
        connection.execute(statement)
    connection.close()


def killed(folder: Path, target: Path) -> Path:
    """Copy a store as a kill leaves it: eight rows, three of them in its log only."""
    filled(folder, 5)
    with open_store(folder) as found:
        keep(StoreShelf(found, IDENTITY), {number: measured(number) for number in range(5, 8)})
        shutil.copytree(folder, target)
    (target / f"{STORE}-shm").unlink()
    return target


EDITS = {
    "UPDATE evaluations SET outputs = '{\"area_m2\":1e-9}' WHERE number = 3": (
        f"is damaged: row 3: it does not have its checksum; {COPY}"
    ),
    "DELETE FROM evaluations WHERE number = 3": f"is damaged: row 3 is missing; {COPY}",
    "DELETE FROM evaluations WHERE number = 20": (
        f"has 19 of the 20 measurements that were kept: it, or {WAL}, is not the one that was "
        f"written; put back a copy of both, or remove {TALLY} to go on with what there is"
    ),
    "PRAGMA user_version = 3": (
        "has version 3 of the schema, and this program knows 2; "
        "use the program that wrote it, or a later one"
    ),
    "CREATE TRIGGER t AFTER INSERT ON runs BEGIN DELETE FROM evaluations; END": (
        f"is damaged: its tables are not those of a store; {COPY}"
    ),
    "UPDATE store SET id = 'another'": (
        f"is damaged: {TALLY} next to it belongs to another store; {COPY}"
    ),
    "DELETE FROM store": f"is damaged: it has no name; {COPY}",
    "INSERT INTO runs VALUES (1, '{}', 'wrong')": (
        f"is damaged: description 1 has another checksum; {COPY}"
    ),
    "PRAGMA application_id = 0": (
        "is a database, but not one of measurements; name another folder, or move it away"
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


def test_a_row_of_another_design_is_refused(tmp_path: Path) -> None:
    filled(tmp_path, 2)
    with open_to_read(tmp_path) as found:
        one, other = found.rows()
    cells = stored_cells(other)
    with pytest.raises(ValueError, match="its key is not that of its design"):
        read_cells(stored_cells(type(one)(**(vars(one) | {"key": other.key}))))
    assert read_cells(cells) == other


def test_what_is_no_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / STORE).write_text("area,power\n" * 99)
    said = refused(tmp_path)
    assert said == "is not a database; name another folder, or move it away"
    assert (tmp_path / STORE).read_text() == "area,power\n" * 99


def test_a_database_of_another_program_is_refused_and_left_alone(tmp_path: Path) -> None:
    edit(tmp_path, "CREATE TABLE trials (number INTEGER)")
    before = (tmp_path / STORE).read_bytes()
    assert refused(tmp_path).startswith("is a database, but not one of measurements; ")
    assert (tmp_path / STORE).read_bytes() == before


def test_a_store_whose_making_was_killed_is_empty(tmp_path: Path) -> None:
    """As after a kill between the making of the file and that of its tables."""
    with database.locked(tmp_path / TALLY):
        connection = database.connect(tmp_path / STORE)
        database.write_safely(connection, tmp_path / STORE)
        connection.close()
    before = (tmp_path / STORE).read_bytes()
    with open_to_read(tmp_path) as store:
        assert (len(store), [*store.rows()], store.descriptions(), store.notes) == (0, [], [], ())
    assert (tmp_path / STORE).read_bytes() == before
    filled(tmp_path, 3)
    with open_to_read(tmp_path) as store:
        assert len(store) == 3
    os.truncate(tmp_path / STORE, 0)
    (tmp_path / TALLY).unlink()  # which is there before the store, or was lost with it
    said = refused(tmp_path, open_to_read)
    assert (
        said == "is a database, but not one of measurements; name another folder, or move it away"
    )


@pytest.mark.parametrize(
    ("size", "opened"),
    [*itertools.product((0, 4096), (open_store, open_to_read)), (None, open_store)],
)
def test_a_store_that_is_cut_or_gone_is_refused(
    size: int | None, opened: Callable[[Path], Store], tmp_path: Path
) -> None:
    filled(tmp_path)
    if size is None:
        (tmp_path / STORE).unlink()
    else:
        os.truncate(tmp_path / STORE, size)
    said = refused(tmp_path, opened)
    lost = "has 0 of the 20 measurements that were kept: "
    assert said.startswith("is damaged: " if size else lost)


def test_a_lost_log_is_told(tmp_path: Path) -> None:
    folder = killed(tmp_path / "a", tmp_path / "b")
    (folder / WAL).unlink()
    assert refused(folder).startswith("has 5 of the 8 measurements that were kept: ")
    (folder / TALLY).unlink()
    with open_store(folder) as found:
        assert len(found) == 5
        assert found.notes == (
            f"{folder / TALLY} is gone, and with it the proof that no measurement is missing; "
            "found: 5",
        )
    with open_store(folder) as found:
        assert not found.notes


def test_a_lost_log_of_what_was_measured_again_is_told(tmp_path: Path) -> None:
    """As many rows are there as before, and those that failed would have failed again."""
    (tmp_path / "a").mkdir()
    bad = Measurement(values={}, kind="exit", cause="it returned 1")
    with open_store(tmp_path / "a") as found:
        keep(StoreShelf(found, IDENTITY), dict.fromkeys(range(3), bad))
    for number, lost in enumerate((lambda store: store.measure_again(), measured_again)):
        folder = tmp_path / f"b{number}"
        with open_store(tmp_path / "a") as found:
            lost(found)
            shutil.copytree(tmp_path / "a", folder)
        for end in ("wal", "shm"):
            (folder / f"{STORE}-{end}").unlink()
        assert refused(folder).startswith(f"has {3 * number + 3} of the {3 * number + 6} ")


def measured_again(store: Store) -> None:
    keep(StoreShelf(store, IDENTITY), {number: measured(number) for number in range(3)})


def test_a_store_from_before_changes_were_counted_is_read_and_written(tmp_path: Path) -> None:
    filled(tmp_path)
    edit(tmp_path, "UPDATE store SET id = substr(id, 1, 32)")
    edit(tmp_path, "PRAGMA user_version = 1")
    for opened in (open_to_read, open_store):
        with opened(tmp_path) as found:
            assert len(found) == 20
    with open_store(tmp_path) as found:
        keep(StoreShelf(found, IDENTITY), {20: measured(20)})
    with open_to_read(tmp_path) as found:
        assert len(found) == 21


@pytest.mark.parametrize("others", [1, 30])
def test_the_log_of_another_store_is_told(others: int, tmp_path: Path) -> None:
    folder = killed(tmp_path / "a", tmp_path / "b")
    (tmp_path / "c").mkdir()
    with open_store(tmp_path / "c") as other:
        keep(StoreShelf(other, "another"), {number: measured(number) for number in range(others)})
        shutil.copy(tmp_path / "c" / WAL, folder / WAL)
    assert refused(folder).startswith(("is damaged: ", "has "))


def test_a_damaged_tally_is_told(tmp_path: Path) -> None:
    filled(tmp_path)
    line = (tmp_path / TALLY).read_text()
    (tmp_path / TALLY).write_text(line.replace("20", "19"))
    with pytest.raises(StoreError) as found:
        open_store(tmp_path)
    assert str(found.value) == (
        f"{tmp_path / TALLY}: it is damaged, so that nobody knows whether all measurements are "
        f"there; put back a copy of it, or remove it to go on with those that are"
    )
    (tmp_path / TALLY).write_text("")
    with open_store(tmp_path) as opened:
        assert len(opened) == 20
    assert (tmp_path / TALLY).read_text() == line


def test_a_folder_without_a_store_is_told(tmp_path: Path) -> None:
    with pytest.raises(StoreError) as found:
        open_to_read(tmp_path)
    assert str(found.value) == (
        f"{tmp_path} has no {STORE}; name the folder of a run that measures designs"
    )
    assert refused(tmp_path / "none").startswith("cannot be used: No such file or directory; ")


def test_a_folder_that_may_not_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(tmp_path / "closed", 3)
    folder = killed(tmp_path / "a", tmp_path / "killed")
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # the superuser may write anywhere
    with open_to_read(tmp_path / "closed") as found:
        assert len(found) == 3
    assert sorted(path.name for path in (tmp_path / "closed").iterdir()) == [STORE, TALLY]
    assert refused(folder, open_to_read) == (
        "was not closed by the program that wrote it, and cannot be read in a folder that may "
        "not be written; copy its folder to one that may"
    )


def test_a_file_that_may_not_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = killed(tmp_path / "a", tmp_path / "killed")
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path).name != STORE)
    assert "in a folder that may not be written" in refused(folder, open_to_read)


def test_what_can_be_read_of_a_damaged_store_is_salvaged(tmp_path: Path) -> None:
    keys = filled(tmp_path / "old", 300)
    content = bytearray((tmp_path / "old" / STORE).read_bytes())
    page = content.index(keys[150].encode()) // 4096
    content[4096 * page : 4096 * (page + 1)] = bytes(4096)
    (tmp_path / "old" / STORE).write_bytes(content)
    edit(tmp_path / "old", "UPDATE evaluations SET cause = 'altered' WHERE number = 300")
    before = (tmp_path / "old" / STORE).read_bytes()
    assert refused(tmp_path / "old").startswith("is damaged: ")
    (tmp_path / "new").mkdir()
    count = salvage(tmp_path / "old", tmp_path / "new")
    assert 280 < count < 300
    with open_store(tmp_path / "new") as found:
        stored = {row.key: row.measurement for row in found.rows()}
    assert len(stored) == count
    assert all(stored[name] == measured(keys.index(name)) for name in stored)
    assert keys[299] not in stored
    assert (tmp_path / "old" / STORE).read_bytes() == before
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == [STORE, TALLY]
    with pytest.raises(StoreError, match="has a store already"):
        salvage(tmp_path / "old", tmp_path / "new")


MOUNTS = """\
22 1 254:0 / / rw,relatime - ext4 /dev/vda rw
30 22 0:40 / /home rw,relatime shared:1 - nfs4 server:/home rw,vers=4.2
31 30 0:41 / /home/a\\040b/scratch rw - xfs /dev/vdb rw
32 22 0:42 / /mnt rw - ext4 /dev/vdc rw
33 22 0:43 / /mnt rw - fuse.sshfs host:/x rw
"""


@pytest.mark.parametrize(
    ("folder", "kind"),
    [
        ("/home/a", "nfs4"),
        ("/homes", ""),
        ("/home/a b/scratch/run", ""),
        ("/home/a b", "nfs4"),
        ("/mnt/run", "fuse.sshfs"),
        ("/", ""),
    ],
)
def test_the_file_system_of_a_folder(folder: str, kind: str, tmp_path: Path) -> None:
    (tmp_path / "mountinfo").write_text(MOUNTS)
    assert opening.network_type(Path(folder), tmp_path / "mountinfo") == kind
    assert opening.network_type(Path(folder), tmp_path / "none") == ""


def test_a_network_file_system_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "network_type", lambda folder: "nfs4")
    assert refused(tmp_path) == (
        "would be on a network file system (nfs4), where locks and flushes cannot be relied on; "
        "name a folder on a local disk"
    )
    assert not [*tmp_path.iterdir()]


def test_only_the_files_of_a_store_are_made(tmp_path: Path) -> None:
    with open_store(tmp_path) as found:
        keep(StoreShelf(found, IDENTITY), {1: measured(1)})
        assert {path.name for path in tmp_path.iterdir()} <= {*STORE_FILES}
