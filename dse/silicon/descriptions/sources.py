"""Files of Verilog as a designer has them: lists of files, folders of includes, macros."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

from dse.errors import Fault, StudyError, refuse, results_of
from dse.files.document import no_such
from dse.files.json import read_bytes

LIST = ".f"
ENDINGS = (".v", ".sv", LIST)
"""Suffixes of descriptions, or lists of them.  Anything else is the name of a generator."""

_TAKEN = re.compile(r'(`include\s+)?"([^"\n]{1,200})"')
_UNNAMED = re.compile(r'`include\s+(?!")|\$readmem[hb]\s*\(\s*(?!")')
"""Files named by a macro or a parameter, which only elaboration of the design resolves."""
_GUARD = re.compile(r"`ifn?def\b")
_MACRO = re.compile(r"[A-Za-z_]\w*(=[\w .,:/+'\"-]*)?")
_COMMENT = re.compile(r"(?://|#)[^\n]*|/\*.*?\*/", re.S)
_MOST_DEEP = 100
_SAID = ("files", "include", "define", "sv")


@dataclass(frozen=True)
class Sources:
    """Source files of a design.  All fields are empty if `files` is.

    Attributes
    ----------
    files
        Verilog and SystemVerilog, in the order of reading.
    include
        Folders that are searched for included files, after the file's folder.
    define
        Macros: ``NAME`` or ``NAME=VALUE``.
    sv
        Whether ``.v`` is SystemVerilog, too.  For slang it always is.
    """

    files: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    define: tuple[str, ...] = ()
    sv: bool = False

    @cached_property
    def texts(self) -> dict[Path, str]:
        """Return every file that texts in the sources name, with its content.

        Raises
        ------
        StudyError
            Files that do not exist, or include each other without end, all at once.
        """
        each = (partial(with_included, Path(file), self.include) for file in self.files)
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


def sources_of(
    files: Sequence[str],
    *,
    include: Sequence[str] = (),
    define: Sequence[str] = (),
    sv: bool = False,
) -> Sources:
    """Return files and the files of lists (``.f``), with the folders and macros that these add.

    A list has files, ``-I``, ``+incdir+``, ``-D``, ``+define+``, ``-sv``, ``-f`` and ``-F``, and
    comments.  A path in it is relative to its folder, or if nothing is there, to this one.

    Raises
    ------
    StudyError
        A list that does not exist or contains itself, an unknown option, a macro
        that is no name, all at once.
    """
    faults: list[Fault] = []
    said = [("include", one) for one in include] + [("define", one) for one in define]
    for file in files:
        said += _listed(Path(file), (), faults) if Path(file).suffix == LIST else [("files", file)]
    verilog, folders, macros, flags = (
        tuple(one for each, one in said if each == kind) for kind in _SAID
    )
    for folder in folders:
        if not Path(folder).is_dir():
            faults.append(Fault("include", repr(folder), "no such folder", "check the path"))
    for macro in macros:
        if not _MACRO.fullmatch(macro):
            rule, remedy = "a macro is NAME or NAME=VALUE", "write for instance WIDTH=8"
            faults.append(Fault("define", repr(macro), rule, remedy))
    refuse(faults)
    return Sources(verilog, folders, macros, sv or bool(flags))


def _listed(path: Path, within: tuple[Path, ...], faults: list[Fault]) -> Iterator[tuple[str, str]]:
    """Yield the entries of a list: a field of `Sources`, and the value to add to it."""
    if not path.is_file():
        faults += no_such(path, "file", "*.f").faults
        return
    if path.resolve() in within:
        faults.append(Fault("", repr(str(path)), "the list contains itself", "take it out"))
        return

    def there(name: str) -> str:
        beside = path.parent / name
        return str(beside if beside.exists() or not Path(name).exists() else Path(name))

    words = iter(_words(path))
    for word in words:
        option, rest = word[:2], word[2:]
        if word in ("-f", "-F"):
            inner = Path(there(str(next(words, ""))))
            yield from _listed(inner, (*within, path.resolve()), faults)
        elif word.startswith("+incdir+"):
            yield from (("include", there(one)) for one in word.split("+")[2:])
        elif word.startswith("+define+"):
            yield from (("define", one) for one in word.split("+")[2:])
        elif option == "-I":
            yield "include", there(rest or next(words, ""))
        elif option == "-D":
            yield "define", rest or next(words, "")
        elif word in ("-sv", "--sv"):
            yield "sv", word
        elif option[0] in "-+":
            rule = "a list has files, -I, +incdir+, -D, +define+, -sv, -f and -F"
            faults.append(Fault(str(path), repr(word), rule, "take it out"))
        else:
            yield "files", there(word)


def _words(path: Path) -> Iterator[str]:
    text = read_bytes(path).decode("utf-8", errors="replace")
    for line in _COMMENT.sub(" ", text).splitlines():
        yield from shlex.split(line) if line.count('"') % 2 == 0 and "'" not in line else [line]


def with_included(path: Path, folders: Sequence[str] = ()) -> dict[Path, str]:
    """Return the text of a description and of all files that it names, and these.

    Raises
    ------
    StudyError
        The file is not there, or files include each other without end.
    """
    if not path.is_file():
        raise no_such(path, "file", "*.v", "*.sv")
    found: dict[Path, str] = {}
    _include(path, (), found, folders)
    return found


def _include(
    path: Path, within: tuple[Path, ...], found: dict[Path, str], folders: Sequence[str]
) -> None:
    """Add a file and the files that it names, unless it is already included."""
    loop = next((within[at:] for at, one in enumerate(within) if one.samefile(path)), ())
    if len(within) >= _MOST_DEEP or (loop and not any(_GUARD.search(found[one]) for one in loop)):
        rule = f"{' and '.join(one.name for one in loop)} include each other without end"
        if not loop:
            rule = f"files include each other more than {_MOST_DEEP} deep"
        remedy = "leave one out, or put what is read once between `ifndef NAME and `endif"
        raise StudyError([Fault("", repr(str(path)), rule, remedy)])
    if any(one.samefile(path) for one in found):
        return
    found[path] = read_bytes(path).decode("utf-8", errors="replace")
    for match in _TAKEN.finditer(found[path]):
        places = (folder / match[2] for folder in (path.parent, *map(Path, folders)))
        inside = next((one for one in places if one.is_file()), None)
        if inside is not None:
            _include(inside, (*within, path) if match[1] else (), found, folders)
