"""Keeps measurements of designs, some at a time; several of these run at once."""

from __future__ import annotations

import sys
from pathlib import Path

from dse.store.opening import open_store
from dse.store.store import StoreShelf
from tests.store.examples import IDENTITY, keep, measured


def main(folder: Path, first: int, last: int, batch: int) -> None:
    with open_store(folder) as store:
        shelf = StoreShelf(store, IDENTITY)
        for start in range(first, last, batch):
            numbers = range(start, min(start + batch, last))
            keep(shelf, {number: measured(number) for number in numbers})


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:]))
