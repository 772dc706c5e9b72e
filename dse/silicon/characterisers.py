"""What maps designs, as a user asks for it: a library of cells and its corners."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dse.errors import Fault, StudyError
from dse.files.document import no_such
from dse.silicon.chain import LibraryCharacteriser
from dse.silicon.characteriser import Characteriser, KeptResults
from dse.silicon.figures import Conditions
from dse.silicon.flow import Flow


def of_library(
    files: Sequence[str | Path],
    corners: Sequence[str | Path],
    conditions: Conditions,
    kept: KeptResults | None,
    keep: Path | None = None,
    flow: Flow | None = None,
) -> list[Characteriser]:
    """Return what maps to a library of standard cells, and what characterises other corners of it.

    Raises
    ------
    StudyError
        A file is not there.
    """
    check_library_files([*files, *corners])
    nominal = tuple(map(str, files))
    pairs = [(nominal, ()), *(((str(one),), nominal) for one in corners)]
    return [
        LibraryCharacteriser(
            library_files=own,
            mapped_with=mapped_with,
            keep=keep,
            flow=flow,
            conditions=conditions,
            kept=kept,
        )
        for own, mapped_with in pairs
    ]


def check_library_files(files: Sequence[str | Path]) -> None:
    """Refuse files of a library that are not there.

    Raises
    ------
    StudyError
        All of them at once.
    """
    missing = [Path(file) for file in files if not Path(file).is_file()]
    faults = [fault for path in missing for fault in no_such(path, "file", "*.lib*").faults]
    if faults or not files:
        none = Fault("library", "", "no file", "name a .lib file, or a device: --device ice40:hx8k")
        raise StudyError(faults or [none])
