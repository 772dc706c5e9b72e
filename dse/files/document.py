"""A study file as plain data with positions, its overrides, and assignments."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from dse.contract.evaluators import MeasurementCache, Ranges, RecordedEvaluator
from dse.errors import (
    Fault,
    KeyPath,
    Position,
    StudyError,
    dotted,
    line_column,
    nearest,
    quoted,
    refuse,
)
from dse.files.json import reason
from dse.files.limits import STUDY_BYTE
from dse.files.yaml import YamlReader, check_size, flow_yaml

EDITORS = "# yaml-language-server:"
"""Beginning of a first line for editors.  A comment on the whole may be in the second line."""

IN_MEMORY = "study"
"""File name in messages on a study that is no file."""

NOWHERE = Position(0, 0, "")
"""Position of values outside any file, whose paths locate them."""

EVALUATE = "evaluate"
"""Path of the section with the evaluator."""

# Sections whose keys are themselves dotted paths.
_DOTTED = (("axes",), ("sweep",))


Assignments = str | Sequence[str] | Mapping[str, Any]
"""A dict, a text ``NAME=VALUE``, or several of them."""

_BETWEEN = re.compile(r"[,\s]+(?=[^\s,=]+\s*=)")


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
    inputs
        Places of files that the study names, by the name as written.  Others lie beside the study.
    contents
        Contents of named files that the document itself holds, by the name as written.
    overrides
        Pairs of dotted path and value that were applied to the text.
    evaluate
        The function that measures designs, which no text can express.
    caches
        Storage of measurements, by the identity of the evaluator and the ranges of outputs.
        None while the study is prepared.
    recorded
        Evaluator of a finished run.
    read
        What it was read as, by the kind of section, so that it is read once.
    """

    data: dict[str, Any]
    text: str
    file: str
    positions: Mapping[KeyPath, Position]
    inputs: Mapping[str, Path] = field(default_factory=dict)
    contents: Mapping[str, bytes] = field(default_factory=dict)
    overrides: tuple[tuple[str, str], ...] = ()
    evaluate: Callable[..., Any] | None = None
    caches: Callable[[str, Ranges], MeasurementCache] | None = None
    recorded: RecordedEvaluator | None = None
    read: dict[type, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def first_comment(self) -> str:
        """Return the first line if it is a comment, without its mark."""
        lines = self.text.lstrip("\ufeff").split("\n", 2)[:2]
        first = lines[lines[0].startswith(EDITORS) and len(lines) > 1].strip()
        return first.lstrip("# ") if first.startswith("#") else ""

    @property
    def measures(self) -> bool:
        """Return whether the study has an evaluator."""
        return self.data.get(EVALUATE) is not None

    @property
    def stages(self) -> list[dict[str, Any]]:
        """Return the fields that are written of each stage."""
        stages = self.data.get("stages")
        return [one for one in stages if isinstance(one, dict)] if isinstance(stages, list) else []

    def section(self, name: str) -> dict[str, Any]:
        """Return the written fields of a section, empty if it is no mapping."""
        fields = self.data.get(name)
        return fields if isinstance(fields, dict) else {}

    def fault(self, path: KeyPath, written: str, rule: str, remedy: str) -> Fault:
        """Return an error at `path`, or at the part that encloses it if `path` was not written."""
        enclosing = (path[:length] for length in range(len(path), -1, -1))
        start = Position(1, 1, self.file)
        found = next((self.positions[part] for part in enclosing if part in self.positions), start)
        return found.fault(path, written, rule, remedy)


def read_document(path: str | Path) -> Document:
    """Return the document in a file.

    Raises
    ------
    StudyError
        The file cannot be read, is not a YAML mapping, or breaks rules, reported all at once.
    """
    path = Path(path)
    start, shown = Position(1, 1, str(path)), repr(str(path))
    try:
        with path.open("rb") as stream:
            content = stream.read(STUDY_BYTE + 1)
        check_size(len(content), start)
        return parse_document(content.decode(), str(path))
    except FileNotFoundError:
        raise no_such(path, "file", "*.y*ml") from None
    except IsADirectoryError:
        rule, remedy = f"{shown} is a folder, not a file", _neighbours(path, "study.yaml", "*.y*ml")
        if (path / "manifest.json").exists():
            rule, remedy = f"{shown} is the folder of a run", "name a study; `answer` takes runs"
    except UnicodeDecodeError as error:
        line, column = line_column(content[: error.start].decode())
        start, written = Position(line, column, str(path)), f"byte 0x{content[error.start]:02x}"
        fault = start.fault((), written, "a study is UTF-8 text", "save the file as UTF-8")
        raise StudyError([fault]) from None
    except (OSError, ValueError) as error:
        rule, remedy = f"{shown} cannot be read: {reason(error)}", "check its name and permissions"
    raise StudyError([Fault("", "", rule, remedy)])


def parse_document(text: str, file: str) -> Document:
    """Return the document in a text.  `file` is the name that errors show.

    Raises
    ------
    StudyError
        The text is not a YAML mapping or breaks rules, reported all at once.
    """
    start = Position(1, 1, file)
    reader = YamlReader(text, start)
    data = reader.document()
    if not isinstance(data, dict):
        written = "nothing" if data is None else quoted(data)
        rule, remedy = "a study is a mapping of sections", "write 'section:', its fields below it"
        raise StudyError([start.fault((), written, rule, remedy)])
    return Document(data=data, text=text, file=file, positions=reader.positions)


def override_value(document: Document, path: str, value: str) -> Document:
    """Return a document with one value replaced or added by an override.

    Parameters
    ----------
    document
        Document, which is not changed.
    path
        Keys joined by dots.  A list item is addressed by its position from 0, or by the ``name``,
        else the ``core`` (the stem of a file), of a mapping: ``stages.des.clock``.  If several
        keys fit, the longest is meant, since keys of ``axes`` and ``sweep`` contain dots.  The
        last key may be new, and so may the section.
    value
        YAML, as written after the key.

    Raises
    ------
    StudyError
        The path leads nowhere or the value is not YAML.
    """
    data = copy.deepcopy(document.data)
    parent, full = _locate(data, path, path, ())
    reader = YamlReader(value, NOWHERE, full)
    parent[full[-1]] = reader.document()
    positions = {
        key: place for key, place in document.positions.items() if key[: len(full)] != full
    }
    sections = (full[:length] for length in range(1, len(full)))
    positions |= {section: NOWHERE for section in sections if section not in positions}
    positions |= reader.positions | {full: NOWHERE}
    return replace(document, data=data, positions=positions)


def _locate(container: Any, path: str, rest: str, full: KeyPath) -> tuple[Any, KeyPath]:
    """Follow the `rest` of a dotted path from `container`, whose path is `full`.

    Returns the innermost container and the full path, and adds missing sections.
    """
    children = _children(container)
    if children is None:
        raise _lost(path, "a single value has no fields", "set the value itself")
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
        raise _lost(path, "a path is keys joined by dots", "write 'section.field=value'")
    if isinstance(container, list) or (dot and full):
        place = f" in {dotted(full)!r}" if full else ""
        names = [name for name in _children(container) or () if not name.isdecimal()]
        last = len(container) - 1
        remedy = nearest(head, names) if names else f"its items are 0 to {last}"
        raise _lost(path, f"there is no {head!r}{place}", remedy)
    return head


def _lost(path: str, rule: str, remedy: str) -> StudyError:
    return StudyError([NOWHERE.fault((path,), "", rule, remedy)])


def _children(container: Any) -> dict[str, str | int] | None:
    """Return ``{name in a dotted path: key}``, or None if it is not a mapping or a list."""
    if isinstance(container, dict):
        return {key: key for key in container}
    if not isinstance(container, list):
        return None
    items = [item if isinstance(item, dict) else {} for item in container]
    names = [stage_name(item) for item in items]
    # a name that two items share selects neither
    named = {
        name: index
        for index, name in enumerate(names)
        if isinstance(name, str) and names.count(name) == 1
    }
    return {**named, **{str(index): index for index in range(len(container))}}


def is_record(name: str) -> bool:
    """Return whether a name is the path of a record file, not a name of the catalogue."""
    return name.lower().endswith((".yaml", ".yml"))


def stage_name(item: Mapping[str, Any]) -> str | None:
    """Return the name of a stage: ``name``, ``core``, ``provides`` or ``table`` without suffix.

    A file name becomes an identifier: ``my cores.csv`` is called ``my_cores``.
    """
    name = item.get("name") or item.get("core") or item.get("provides")
    if isinstance(name, str) and is_record(name):
        name, file = None, name
    else:
        file = item.get("table")
    if name is None and isinstance(file, str):
        name = re.sub(r"\W+", "_", Path(file).stem, flags=re.ASCII).strip("_")
        name = name if name[:1].isalpha() else f"table_{name}".rstrip("_")
    return name if isinstance(name, str) else None


def no_such(path: Path, what: str, *patterns: str) -> StudyError:
    """Return the error for a missing path.  `patterns` find similar names beside it."""
    remedy = _neighbours(path.parent, path.name, *patterns)
    return StudyError([Fault("", "", f"no such {what}: {str(path)!r}", remedy)])


def _neighbours(folder: Path, name: str, *patterns: str) -> str:
    """Return a remedy: entries of a folder that match a pattern and resemble `name`."""
    found = (path for pattern in patterns for path in folder.glob(pattern))
    known = {path.relative_to(folder).parts[0] for path in found} if folder.is_dir() else set()
    close = get_close_matches(name, known, n=3, cutoff=0.75)
    return f"did you mean {' or '.join(map(repr, close))}?" if close else "check the path"


def assignments(given: Assignments | None, example: str, *, joined: bool = False) -> dict[str, str]:
    """Return ``{name: value}``.  A value that is no text becomes equivalent YAML.

    Parameters
    ----------
    given
        The assignments, or None for an empty result.
    example
        Suggestion of a remedy.
    joined
        True if a text may hold several, as a design does: ``des.u16=3 des.u8=1``.

    Raises
    ------
    StudyError
        A part is not ``NAME=VALUE``, a name is written twice, or YAML has no such value.
    """
    found: dict[str, str] = {}
    faults = []
    for part in _parts(given, joined=joined):
        try:
            name, value = _pair(part)
        except (TypeError, ValueError):
            rule = "it must be NAME=VALUE" + ("" if isinstance(part, str) else ", as YAML has it")
            faults.append(Fault("", quoted(part), rule, f"write {example}"))
            continue
        if name in found:
            faults.append(Fault(name, value, f"it is {found[name]} already", "write it once"))
        found[name] = value
    refuse(faults)
    return found


def _parts(given: Any, *, joined: bool) -> list[Any]:
    """Return texts ``NAME=VALUE``, or pairs of name and value."""
    if isinstance(given, Mapping):
        return list(given.items())
    parts = list(given) if isinstance(given, list | tuple) else [given]
    if joined and all(isinstance(part, str) for part in parts):
        return [part for text in parts for part in _BETWEEN.split(text.strip(", \n\t"))]
    return [] if given is None else parts


def _pair(part: Any) -> tuple[str, str]:
    """Return name and value.

    Raises
    ------
    TypeError, ValueError
        The part is no assignment.
    """
    if isinstance(part, str):
        name, equals, value = part.partition("=")
    else:
        (name, value), equals = (part if isinstance(part, tuple) else ()), "="
    if not (equals and isinstance(name, str) and name.strip()):
        raise ValueError(name)
    return name.strip(), flow_yaml(value).strip()
