"""Writes a folder with some text in each of its files, as a run is written."""

from __future__ import annotations

import sys
from pathlib import Path

from dse.errors import OutputError
from dse.files.whole_folders import working_folder

FILES = ("a.csv", "b.json")


def main(place: Path, text: str) -> None:
    def write(folder: Path) -> None:
        for name in FILES:
            (folder / name).write_text(text)

    try:
        with working_folder(place, FILES) as folder:
            folder.fill(write)
    except OutputError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
