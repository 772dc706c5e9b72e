"""Files that are cut or altered: no row is read otherwise, or one sentence says what is wrong."""

from __future__ import annotations

import os
import random
import re
import shutil
import time
from collections import Counter
from pathlib import Path

from dse.errors import StoreError
from dse.measure.store import STORE, StoreCache, open_store, open_to_read
from tests.measure.examples import IDENTITY, filled, keep, measured

EVERYTHING = "DSE_FAULTS" in os.environ

FILES = (STORE, f"{STORE}-wal")


def damage(path: Path, chance: random.Random) -> str:
    """Cut a file, flip a bit of it, or clear a sector of it; return which."""
    content = bytearray(path.read_bytes())
    kind = chance.choice(["cut", "bit", "sector"])
    at = chance.randrange(len(content))
    if kind == "cut":
        del content[at:]
    elif kind == "bit":
        content[at] ^= 1 << chance.randrange(8)
    else:
        at -= at % 512
        content[at : at + 512] = bytes(len(content[at : at + 512]))
    path.write_bytes(content)
    return kind


def test_a_damaged_store_is_read_as_it_was_or_refused(tmp_path: Path) -> None:
    chance, results = random.Random(15), Counter[str]()  # noqa: S311
    folder, copy, longest, said = tmp_path / "a", tmp_path / "b", 0.0, list[str]()
    filled(folder, 100)
    with open_store(folder) as store:
        for number in range(100, 150, 5):
            numbers = range(number, number + 5)
            keep(StoreCache(store, {}, IDENTITY), {each: measured(each) for each in numbers})
        expected = [*store.found.values()]
        for turn in range(2000 if EVERYTHING else 120):
            copy.mkdir()
            for name in FILES:
                shutil.copy(folder / name, copy)
            name = chance.choice(FILES)
            kind = damage(copy / name, chance)
            start = time.process_time()
            try:
                with (open_to_read if turn % 2 else open_store)(copy) as found:
                    rows = [*found.found.values()]
                # SQLite takes what follows a damaged place in its log for never finished
                assert rows == expected[: len(rows)], (turn, name, kind)
                lost = len(rows) < len(expected)
                assert not lost or name != STORE, (turn, name, kind)
                results[f"{name} {kind}: {'fewer' if lost else 'all'} there"] += 1
            except StoreError as error:
                said.append(str(error))
                results[f"{name} {kind}: told"] += 1
            longest = max(longest, time.process_time() - start)
            shutil.rmtree(copy)
    print(f"\nat most {longest:.2f} CPU seconds each")
    for result, count in sorted(results.items()):
        print(f"{count:5d} {result}")
    assert all(re.fullmatch(rf"{copy}/evaluations\..*; .*", error) for error in said)  # one line
    assert results[f"{STORE} bit: told"] > 0
