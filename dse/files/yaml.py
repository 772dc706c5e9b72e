"""YAML 1.2 as plain data with the position of each part, and plain data as YAML.

The only user of ruamel.yaml, and only of its events: duplicate keys, aliases, tags and limits
are checked while the text is read, because composing first takes minutes on a deeply nested
file.  Scalars follow the core schema of YAML 1.2.2 (section 10.3.2).
"""

from __future__ import annotations

import io
import json
import math
import os
import re
from collections.abc import Iterator
from typing import Any, NoReturn

import numpy as np
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

from dse.errors import Fault, KeyPath, Position, StudyError, line_column, quoted, shortened
from dse.files.limits import STUDY_BYTE, STUDY_DEPTH, STUDY_DIGITS, STUDY_NODES

_NULL = ("", "~", "null", "Null", "NULL")
_BOOLEANS = {"true": True, "True": True, "TRUE": True}
_BOOLEANS |= {"false": False, "False": False, "FALSE": False}
_INTEGER = re.compile(r"[-+]?[0-9]+")
_BASED = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")


class _Parser(YAML):
    """A parser that does not search folders for plug-ins."""

    def official_plug_ins(self) -> list[str]:
        """Return an empty list."""
        return []


class YamlReader:
    """Reader of plain data from the events of one text, which collects errors."""

    def __init__(self, text: str, start: Position, base: KeyPath = ()) -> None:
        """Prepare to read a text at position `start` of a file and path `base` of its document."""
        self.text = text
        self.start = start
        self.base = base
        self.positions: dict[KeyPath, Position] = {}
        self.faults: list[Fault] = []
        self.nodes = 0
        self.events = self._events()

    def document(self) -> Any:
        """Return the data of the only document in the text, or None if it is empty."""
        check_size(len(self.text.encode(errors="replace")), self.start)
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
            yield from _Parser(typ="safe", pure=True).parse(self.text)
        except MarkedYAMLError as error:
            self._syntax_error(error)
        except ReaderError as error:
            line, column = line_column(self.text[: error.position])
            place = self._position(line - 1, column - 1)
            written = f"character U+{ord(self.text[error.position]):04X}"
            rule = "a study has no control characters"
            fault = place.fault(self.base, written, rule, "remove it")
            raise StudyError([*self.faults, fault]) from None
        except Exception as error:
            # The parser fails in its own ways on some malformed texts (IndexError, ValueError).
            written = f"{type(error).__name__}: {error}"
            rule, remedy = "it is not valid YAML", "check the last change"
            fault = self.start.fault(self.base, quoted(written), rule, remedy)
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
            rule, remedy = "a tab is not allowed here", "use spaces"
        elif "mapping values" in rule:
            remedy = "quote a text that contains ': ', or correct the indentation"
        self._stop(self.base, mark, quoted(line.strip()) if line.strip() else "", rule, remedy)

    def _value(self, event: Event, path: KeyPath) -> Any:
        self._count(event, path)
        if isinstance(event, AliasEvent) or getattr(event, "anchor", None):
            rule, remedy = "anchors and aliases are not read", "write the value out"
            self._add(path, event, "an anchor or alias", rule, remedy)
        tag = getattr(event, "tag", None)
        if tag:
            rule, remedy = "tags are not read", "write the value without '!'"
            self._add(path, event, f"the tag {quoted(tag)}", rule, remedy)
        if isinstance(event, ScalarEvent):
            return self._scalar(event, path)
        if isinstance(event, SequenceStartEvent):
            return self._list(path)
        return self._mapping(path) if isinstance(event, MappingStartEvent) else None

    def _count(self, event: Event, path: KeyPath) -> None:
        self.nodes += 1
        if self.nodes > STUDY_NODES:
            rule = f"a study has at most {STUDY_NODES} keys and values"
            self._stop(path, event.start_mark, "one more", rule, "write ranges instead of lists")
        if len(path) > STUDY_DEPTH:
            rule = f"a study is at most {STUDY_DEPTH} levels deep"
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
                self._add(item, event, f"key {quoted(key)} again", rule, "remove one of the two")
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
            self._add(path, event, f"key {quoted(key)}", rule, remedy)
        return key if isinstance(key, str) else repr(key)

    def _scalar(self, event: ScalarEvent, path: KeyPath) -> str | float | bool | None:
        text = str(event.value)
        if event.style is not None:
            return text
        value = _resolve(text)
        if isinstance(value, float) and not math.isfinite(value):
            rule, remedy = "a number is finite", "write a finite number"
            self._add(path, event, shortened(text), rule, remedy)
        return value

    def _position(self, line: int, column: int) -> Position:
        """Return the position in the file, if any, of a line and column counted from 0."""
        if not self.start.line:
            return self.start
        offset = self.start.column if line == 0 else 1
        return Position(self.start.line + line, column + offset, self.start.file)

    def _at(self, event: Event) -> Position:
        return self._position(event.start_mark.line, event.start_mark.column)

    def _add(self, path: KeyPath, event: Event, written: str, rule: str, remedy: str) -> None:
        self.faults.append(self._at(event).fault(path, written, rule, remedy))

    def _stop(self, path: KeyPath, mark: Any, written: str, rule: str, remedy: str) -> NoReturn:
        place = self._position(mark.line, mark.column)
        raise StudyError([*self.faults, place.fault(path, written, rule, remedy)]) from None


def _resolve(text: str) -> str | float | bool | None:
    """Return the value of a plain scalar.  A number that is too large becomes infinite."""
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
    return int(text, base) if len(text) <= STUDY_DIGITS else math.inf


def check_size(size_byte: int, start: Position) -> None:
    """Raise StudyError if a text is larger than `STUDY_BYTE`."""
    if size_byte > STUDY_BYTE:
        rule = f"a study has at most {STUDY_BYTE} bytes"
        raise StudyError([start.fault((), "more", rule, "keep tables in separate files")])


def to_yaml(data: Any) -> str:
    """Return plain data as YAML that reads back as the same data, innermost parts on one line."""
    stream = io.StringIO()
    writer = YAML()
    writer.default_flow_style = None
    writer.width = 100
    writer.dump(data, stream)
    return stream.getvalue()


def flow_yaml(value: Any) -> str:
    """Return plain data as YAML on one line, as JSON is.  A text is YAML already.

    Raises
    ------
    TypeError, ValueError
        YAML has no such value, or no finite one.
    """
    if isinstance(value, str | os.PathLike):
        return os.fspath(value)
    plain = value.tolist() if isinstance(value, np.generic | np.ndarray) else value
    return json.dumps(plain, allow_nan=False, ensure_ascii=False)
