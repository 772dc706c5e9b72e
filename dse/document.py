"""Read a YAML 1.2 file into plain data that knows where each part was written.

The only user of ruamel.yaml, and only of its events: duplicate keys, aliases, tags and limits
are checked while the file is read, because composing first takes minutes on a deeply nested
file.  Scalars follow the core schema of YAML 1.2.2 (section 10.3.2).
"""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError
from ruamel.yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)
from ruamel.yaml.reader import ReaderError

from dse.errors import Fault, StudyError, nearest

LARGEST_BYTE = 256_000
"""Largest file, in bytes."""

DEEPEST = 32
"""Deepest nesting of mappings and lists."""

MOST_NODES = 20_000
"""Most keys, values, mappings and lists in one file."""

MOST_DIGITS = 300
"""Most characters of a whole number."""

OPTION = "--set"
"""What stands for the file name in the positions of overridden values."""

KeyPath = tuple[str | int, ...]
"""Keys and list positions from the top of the document."""

# Sections whose keys are themselves dotted paths.
_DOTTED = (("axes",), ("sweep",))

_NULL = ("", "~", "null", "Null", "NULL")
_BOOLEANS = {"true": True, "True": True, "TRUE": True}
_BOOLEANS |= {"false": False, "False": False, "FALSE": False}
_INTEGER = re.compile(r"[-+]?[0-9]+")
_BASED = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")


class Position(NamedTuple):
    """Where something was written; line and column count from 1."""

    line: int
    column: int
    file: str


@dataclass(frozen=True, kw_only=True)
class Document:
    """Plain data with positions.

    Attributes
    ----------
    data
        Mappings, lists, text, numbers, booleans and None.
    text, file
        The file as it was read (before any override), and its name.
    positions
        Of the key of each mapping item, and of the start of each list item.
    """

    data: dict[str, Any]
    text: str
    file: str
    positions: Mapping[KeyPath, Position]

    def fault(self, path: KeyPath, written: str, rule: str, remedy: str) -> Fault:
        """Return a fault at `path`, or at what encloses it when `path` was not written."""
        enclosing = (path[:length] for length in range(len(path), -1, -1))
        start = Position(1, 1, self.file)
        found = next((self.positions[part] for part in enclosing if part in self.positions), start)
        return _fault(path, found, written, rule, remedy)


def read(path: str | Path) -> Document:
    """Return the document in a file.

    Raises
    ------
    StudyError
        The file cannot be read, is not a YAML mapping, or breaks a rule; all faults at once.
    """
    path = Path(path)
    start = Position(1, 1, str(path))
    try:
        with path.open("rb") as stream:
            content = stream.read(LARGEST_BYTE + 1)
        _check_size(len(content), start)
        return parse(content.decode(), str(path))
    except FileNotFoundError:
        rule, remedy = "there is no such file", _neighbours(path.parent, path.name)
    except IsADirectoryError:
        rule, remedy = "it is a folder, not a file", _neighbours(path, "study.yaml")
    except UnicodeDecodeError as error:
        line, column = _line_column(content[: error.start].decode())
        start, written = Position(line, column, str(path)), f"byte 0x{content[error.start]:02x}"
        fault = _fault((), start, written, "a study is UTF-8 text", "save the file as UTF-8")
        raise StudyError([fault]) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        rule, remedy = f"it cannot be read: {reason}", "check its name and permissions"
    raise StudyError([Fault(where="", written=_quoted(str(path)), rule=rule, remedy=remedy)])


def parse(text: str, file: str) -> Document:
    """Return the document in a text; `file` is the name that faults show.

    Raises
    ------
    StudyError
        The text is not a YAML mapping or breaks a rule; all faults at once.
    """
    start = Position(1, 1, file)
    reader = _Reader(text, start)
    data = reader.document()
    if not isinstance(data, dict):
        written = "nothing" if data is None else _quoted(data)
        rule, remedy = "a study is a mapping of sections", "write 'section:', its fields below it"
        raise StudyError([_fault((), start, written, rule, remedy)])
    return Document(data=data, text=text, file=file, positions=reader.positions)


def override(document: Document, path: str, value: str) -> Document:
    """Return a document with one value replaced or added, as the option ``--set path=value``.

    Parameters
    ----------
    document
        Left as it is.
    path
        Keys joined by dots; a list item by its position from 0, or by the ``name``, else the
        ``core``, of a mapping: ``stages.des.clock``.  Where several keys fit, the longest is
        meant: those of ``axes`` and ``sweep`` contain dots.  The last key may be new, and so may
        the section.
    value
        YAML, as it would stand after the key.

    Raises
    ------
    StudyError
        The path leads nowhere or the value is not YAML.
    """
    data = copy.deepcopy(document.data)
    parent, full = _locate(data, path, path, ())
    origin = Position(1, 1, OPTION)
    reader = _Reader(value, origin._replace(column=len(path) + 2), full)
    parent[full[-1]] = reader.document()
    positions = {
        key: place for key, place in document.positions.items() if key[: len(full)] != full
    }
    sections = (full[:length] for length in range(1, len(full)))
    positions |= {section: origin for section in sections if section not in positions}
    positions |= reader.positions | {full: origin}
    return Document(data=data, text=document.text, file=document.file, positions=positions)


def _locate(container: Any, path: str, rest: str, full: KeyPath) -> tuple[Any, KeyPath]:
    """Follow the `rest` of a dotted path from `container`, which stands at `full`.

    Returns the innermost container and the full path; missing sections are added.
    """
    children = _children(container)
    if children is None:
        raise _lost(path, rest, "a single value has no fields", "set the value itself")
    fitting = [name for name in children if f"{rest}.".startswith(f"{name}.")]
    name = max(fitting, key=len) if fitting else _new_key(container, path, rest, full)
    key = children.get(name, name)
    full = (*full, key)
    if name == rest:
        return container, full
    if not fitting or container[key] is None:
        container[key] = {}
    return _locate(container[key], path, rest[len(name) + 1 :], full)


def _new_key(container: Any, path: str, rest: str, full: KeyPath) -> str:
    """Return the key that may be added to `container`: a field, or a section at the top."""
    if full in _DOTTED:
        return rest
    head, dot, _ = rest.partition(".")
    if not head or rest.endswith("."):
        raise _lost(path, rest, "a path is keys joined by dots", "write 'section.field=value'")
    if isinstance(container, list) or (dot and full):
        place = f" in {_dotted(full)!r}" if full else ""
        names = [name for name in _children(container) or () if not name.isdecimal()]
        last = len(container) - 1
        remedy = nearest(head, names) if names else f"its items are 0 to {last}"
        raise _lost(path, rest, f"there is no {head!r}{place}", remedy)
    return head


def _lost(path: str, rest: str, rule: str, remedy: str) -> StudyError:
    place = Position(1, len(path) - len(rest) + 1, OPTION)
    return StudyError([_fault((path,), place, "", rule, remedy)])


def _children(container: Any) -> dict[str, str | int] | None:
    """Return ``{name in a dotted path: key}``, None when it is not a mapping or a list."""
    if isinstance(container, dict):
        return {key: key for key in container}
    if not isinstance(container, list):
        return None
    items = [item if isinstance(item, dict) else {} for item in container]
    names = [item.get("name") or item.get("core") for item in items]
    # A name that two items share picks neither.
    named = {
        name: index
        for index, name in enumerate(names)
        if isinstance(name, str) and names.count(name) == 1
    }
    return {**named, **{str(index): index for index in range(len(container))}}


class _Reader:
    """Builds plain data from the events of one text, and collects what is wrong."""

    def __init__(self, text: str, start: Position, base: KeyPath = ()) -> None:
        self.text = text
        self.start = start
        self.base = base
        self.positions: dict[KeyPath, Position] = {}
        self.faults: list[Fault] = []
        self.nodes = 0
        self.events = self._events()

    def document(self) -> Any:
        """Return the data of the only document in the text, None when it is empty."""
        _check_size(len(self.text.encode(errors="replace")), self.start)
        next(self.events)
        start = next(self.events)
        data = None
        if isinstance(start, DocumentStartEvent):
            if start.version or start.tags:
                remedy = "remove the line that starts with '%'"
                self._add(self.base, start, "a directive", "a study has no directives", remedy)
            data = self._value(next(self.events), self.base)
            next(self.events)
            after = next(self.events)
            if not isinstance(after, StreamEndEvent):
                rule, remedy = "a file holds one study", "move the second one to its own file"
                self._stop(self.base, after.start_mark, "a second document", rule, remedy)
        if self.faults:
            raise StudyError(self.faults)
        return data

    def _events(self) -> Iterator[Event]:
        try:
            yield from YAML(typ="safe", pure=True).parse(self.text)
        except MarkedYAMLError as error:
            self._syntax_error(error)
        except ReaderError as error:
            line, column = _line_column(self.text[: error.position])
            place = self._position(line - 1, column - 1)
            written = f"character U+{ord(self.text[error.position]):04X}"
            rule = "a study has no control characters"
            fault = _fault(self.base, place, written, rule, "remove it")
            raise StudyError([*self.faults, fault]) from None
        except Exception as error:
            # The parser fails in its own ways on some malformed texts (IndexError, ValueError).
            written = f"{type(error).__name__}: {error}"
            rule, remedy = "it is not valid YAML", "check what was changed last"
            fault = _fault(self.base, self.start, _quoted(written), rule, remedy)
            raise StudyError([*self.faults, fault]) from None

    def _syntax_error(self, error: MarkedYAMLError) -> NoReturn:
        mark = error.problem_mark or error.context_mark
        lines = re.split("\r\n?|\n", self.text)
        line = lines[mark.line] if mark.line < len(lines) else ""
        rule = " ".join(str(error.problem or error.context).split())
        if error.context and error.context_mark and error.context_mark.line != mark.line:
            began = self._position(error.context_mark.line, 0).line
            rule += f" ({error.context} that began in line {began})"
        remedy = "check indentation, quotes and brackets up to here"
        if line[mark.column : mark.column + 1] == "\t":
            rule, remedy = "a tab cannot stand here", "use spaces"
        elif "mapping values" in rule:
            remedy = "quote a text that contains ': ', or correct the indentation"
        self._stop(self.base, mark, _quoted(line.strip()) if line.strip() else "", rule, remedy)

    def _value(self, event: Event, path: KeyPath) -> Any:
        self._count(event, path)
        if isinstance(event, AliasEvent) or getattr(event, "anchor", None):
            rule, remedy = "anchors and aliases are not read", "write the value out"
            self._add(path, event, "an anchor or alias", rule, remedy)
        tag = getattr(event, "tag", None)
        if tag:
            rule, remedy = "tags are not read", "write the value without '!'"
            self._add(path, event, f"the tag {_quoted(tag)}", rule, remedy)
        if isinstance(event, ScalarEvent):
            return self._scalar(event, path)
        if isinstance(event, SequenceStartEvent):
            return self._list(path)
        return self._mapping(path) if isinstance(event, MappingStartEvent) else None

    def _count(self, event: Event, path: KeyPath) -> None:
        self.nodes += 1
        if self.nodes > MOST_NODES:
            rule = f"a study has at most {MOST_NODES} keys and values"
            self._stop(path, event.start_mark, "one more", rule, "write ranges instead of lists")
        if len(path) > DEEPEST:
            rule = f"a study is at most {DEEPEST} levels deep"
            self._stop(path[:3], event.start_mark, "one more level", rule, "check the brackets")

    def _list(self, path: KeyPath) -> list[Any]:
        items: list[Any] = []
        while not isinstance(event := next(self.events), SequenceEndEvent):
            item = (*path, len(items))
            self.positions[item] = self._at(event)
            items.append(self._value(event, item))
        return items

    def _mapping(self, path: KeyPath) -> dict[str, Any]:
        mapping: dict[str, Any] = {}
        while not isinstance(event := next(self.events), MappingEndEvent):
            key = self._key(event, path)
            item = (*path, key)
            if key in mapping:
                rule = f"it is already in line {self.positions[item].line}"
                self._add(item, event, f"key {_quoted(key)} again", rule, "remove one of the two")
            else:
                self.positions[item] = self._at(event)
            value = self._value(next(self.events), item)
            mapping.setdefault(key, value)
        return mapping

    def _key(self, event: Event, path: KeyPath) -> str:
        plain = isinstance(event, ScalarEvent) and event.style is None
        key = self._value(event, (*path, "?"))
        if plain and key == "<<":
            rule, remedy = "merge keys are not read", "write the fields out"
            self._add(path, event, "key '<<'", rule, remedy)
        elif not isinstance(key, str):
            rule, remedy = "a key is text", "put it in quotes"
            self._add(path, event, f"key {_quoted(key)}", rule, remedy)
        return key if isinstance(key, str) else repr(key)

    def _scalar(self, event: ScalarEvent, path: KeyPath) -> str | float | bool | None:
        text = str(event.value)
        if event.style is not None:
            return text
        value = _resolve(text)
        if isinstance(value, float) and not math.isfinite(value):
            rule, remedy = "a number is finite", "write a finite number"
            self._add(path, event, _shortened(text), rule, remedy)
        return value

    def _position(self, line: int, column: int) -> Position:
        """Return where a line and column counted from 0 stand in the file."""
        offset = self.start.column if line == 0 else 1
        return Position(self.start.line + line, column + offset, self.start.file)

    def _at(self, event: Event) -> Position:
        return self._position(event.start_mark.line, event.start_mark.column)

    def _add(self, path: KeyPath, event: Event, written: str, rule: str, remedy: str) -> None:
        self.faults.append(_fault(path, self._at(event), written, rule, remedy))

    def _stop(self, path: KeyPath, mark: Any, written: str, rule: str, remedy: str) -> NoReturn:
        place = self._position(mark.line, mark.column)
        raise StudyError([*self.faults, _fault(path, place, written, rule, remedy)]) from None


def _resolve(text: str) -> str | float | bool | None:
    """Return the value of a plain scalar; a number that is too large becomes infinite."""
    if text in _NULL:
        return None
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    if _BASED.fullmatch(text):
        return _whole(text, 0)
    if _INTEGER.fullmatch(text):
        return _whole(text, 10)
    if _FLOAT.fullmatch(text):
        return float(text)
    return math.inf if _NOT_FINITE.fullmatch(text) else text


def _whole(text: str, base: int) -> float:
    return int(text, base) if len(text) <= MOST_DIGITS else math.inf


def _fault(path: KeyPath, place: Position, written: str, rule: str, remedy: str) -> Fault:
    return Fault(where=_dotted(path), written=written, rule=rule, remedy=remedy, **place._asdict())


def _dotted(path: KeyPath) -> str:
    parts = (str(part) for part in path)
    return ".".join(part if part.isprintable() else repr(part) for part in parts)


def _quoted(value: Any) -> str:
    return _shortened(repr(value))


def _shortened(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}..."


def _line_column(before: str) -> tuple[int, int]:
    """Return the position, counted from 1, that follows a text."""
    return before.count("\n") + 1, len(before) - before.rfind("\n")


def _check_size(size_byte: int, start: Position) -> None:
    if size_byte > LARGEST_BYTE:
        rule = f"a study has at most {LARGEST_BYTE} bytes"
        fault = _fault((), start, "more", rule, "keep tables in files of their own")
        raise StudyError([fault])


def _neighbours(folder: Path, name: str) -> str:
    """Return a remedy: study files in a folder with names like `name`."""
    known = [path.name for path in folder.glob("*.y*ml")] if folder.is_dir() else []
    return nearest(name, known) if known else "check the path"
