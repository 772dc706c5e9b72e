"""Files of Verilog, and the files that these name."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

from dse.errors import Fault, StudyError, results_of
from dse.files.document import no_such
from dse.files.json import read_bytes

ENDINGS = (".v", ".sv")
"""Suffixes of descriptions.  Anything else is the name of a generator."""

_TAKEN = re.compile(r'(`include\s+)?"([^"\n]{1,200})"')
_UNNAMED = re.compile(r'`include\s+(?!")|\$readmem[hb]\s*\(\s*(?!")')
"""Files named by a macro or a parameter, which only elaboration of the design resolves."""
_GUARD = re.compile(r"`ifn?def\b")
_MOST_DEEP = 100


@dataclass(frozen=True)
class Sources:
    """Source files of a design, Verilog and SystemVerilog, in the order of reading."""

    files: tuple[str, ...] = ()

    @cached_property
    def texts(self) -> dict[Path, str]:
        """Return every file that texts in the sources name, with its content.

        Raises
        ------
        StudyError
            Files that do not exist, or include each other without end, all at once.
        """
        each = (partial(with_included, Path(file)) for file in self.files)
        return {path: text for texts in results_of(*each) for path, text in texts.items()}

    @property
    def is_wholly_named(self) -> bool:
        """Return whether texts in the sources name every file that is read."""
        return not any(map(_UNNAMED.search, self.texts.values()))

    def data(self) -> dict[str, str]:
        """Return files that are no Verilog under their names in the sources."""
        found = {}
        for path, text in self.texts.items():
            for match in _TAKEN.finditer(text):
                name = match[2]
                inside = path.parent / name
                if not match[1] and ".." not in name and inside in self.texts:
                    found[name] = self.texts[inside]
        return {name: text for name, text in found.items() if not Path(name).is_absolute()}


NO_SOURCES = Sources()
"""Sources of a design whose text is at hand."""


def with_included(path: Path) -> dict[Path, str]:
    """Return the text of a description and of all files that it names, and these.

    Raises
    ------
    StudyError
        The file is not there, or files include each other without end.
    """
    if not path.is_file():
        raise no_such(path, "file", "*.v", "*.sv")
    found: dict[Path, str] = {}
    _include(path, (), found)
    return found


def _include(path: Path, within: tuple[Path, ...], found: dict[Path, str]) -> None:
    """Add a file and the files that it names, unless it is already included."""
    loop = next((within[at:] for at, one in enumerate(within) if one.samefile(path)), ())
    if len(within) >= _MOST_DEEP or (loop and not any(_GUARD.search(found[one]) for one in loop)):
        raise _endless(path, loop)
    if any(one.samefile(path) for one in found):
        return
    found[path] = read_bytes(path).decode("utf-8", errors="replace")
    for match in _TAKEN.finditer(found[path]):
        inside = path.parent / match[2]
        if inside.is_file():
            _include(inside, (*within, path) if match[1] else (), found)


def _endless(path: Path, loop: tuple[Path, ...]) -> StudyError:
    rule = f"{' and '.join(one.name for one in loop)} include each other without end"
    if not loop:
        rule = f"files include each other more than {_MOST_DEEP} deep"
    remedy = "leave one out, or put what is read once between `ifndef NAME and `endif"
    return StudyError([Fault("", repr(str(path)), rule, remedy)])
