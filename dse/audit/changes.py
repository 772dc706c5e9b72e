"""Where two studies differ, change by change, and a study with some of the changes made."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from dse.files.document import Document
from dse.study.written import stages_of

Keys = tuple[str | int, ...]

IGNORED = ("question", "search", "sweep", "objectives")
"""Parts of a study that assume nothing about a design."""


@dataclass(frozen=True)
class Change:
    """One assumption that differs between two studies; empty texts where one says nothing.

    `path` is the field, also that which an axis leaves open; `edits` is where the data differ, and
    what the second study has there (None: nothing).
    """

    path: str
    before: str
    after: str
    edits: tuple[tuple[Keys, Any], ...]

    def to_dict(self) -> dict[str, str]:
        """Return plain data, for JSON."""
        return {"field": self.path, "before": self.before, "after": self.after}

    def __str__(self) -> str:
        """Return the change in words."""
        if self.path == "constraints":
            return f"constraint {self.after} added" if self.after else f"without {self.before}"
        return f"{self.path}: {self.before or 'not set'} -> {self.after or 'not set'}"


def changes(first: Document, second: Document) -> tuple[Change, ...]:
    """Return what the second study assumes differently, field by field."""
    aligned = _stage_names(first) == _stage_names(second)
    before = dict(_parts(first.data, aligned=aligned))
    after = dict(_parts(second.data, aligned=aligned))
    grouped: dict[tuple[str, Any], list[Keys]] = {}
    for keys in [*before, *(keys for keys in after if keys not in before)]:
        opened = len(keys) == 1 and _has(first, keys[0]) and _has(second, keys[0])
        if before.get(keys) != after.get(keys) and not opened:
            grouped.setdefault(_group(keys), []).append(keys)
    return tuple(_change(path, keys, before, after, first) for (path, _), keys in grouped.items())


def apply_changes(found: Document, made: Iterable[Change]) -> Document:
    """Return a study with changes made."""
    data = copy.deepcopy(found.data)
    for change in made:
        for keys, value in change.edits:
            _edit(data, keys, copy.deepcopy(value))
    return replace(found, data=data)


def _has(found: Document, section: Any) -> bool:
    """Tell whether a study has a section, be it empty; its fields are compared one by one."""
    return isinstance(found.data.get(section), dict)


def _parts(data: Mapping[str, Any], *, aligned: bool) -> Iterator[tuple[Keys, Any]]:
    for section, value in data.items():
        if section in IGNORED or value is None:
            continue
        if section == "constraints" and isinstance(value, list):
            yield from (((section, text), text) for text in value)
        elif section == "stages" and isinstance(value, list) and aligned:
            for number, stage in enumerate(value):
                yield from (((section, number, name), entry) for name, entry in stage.items())
        elif isinstance(value, dict):
            yield (section,), {}
            yield from (((section, name), entry) for name, entry in value.items())
        else:
            yield (section,), value


def _stage_names(found: Document) -> list[str]:
    return [stage.name for stage in stages_of(found)]


def _group(keys: Keys) -> tuple[str, Any]:
    """Return what tells changes apart: an axis and the field that it opens are one."""
    if keys[0] == "constraints":
        return "constraints", keys
    if keys[0] == "axes":
        return str(keys[1]), None
    return ".".join(map(str, keys)), None


def _change(
    path: str,
    keys: list[Keys],
    before: Mapping[Keys, Any],
    after: Mapping[Keys, Any],
    first: Document,
) -> Change:
    if path.startswith("stages."):
        _, number, field = path.split(".", 2)
        path = f"{_stage_names(first)[int(number)]}.{field}"
    return Change(
        path,
        _shown([before[key] for key in keys if key in before]),
        _shown([after[key] for key in keys if key in after]),
        tuple((key, after.get(key)) for key in keys),
    )


def _shown(values: list[Any]) -> str:
    return " and ".join(_text(value) for value in values)


def _text(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_text, value))
    if isinstance(value, dict):
        return ", ".join(f"{name} {_text(entry)}" for name, entry in value.items()) or "given"
    return str(value)


def _edit(data: dict[str, Any], keys: Keys, value: Any) -> None:
    """Put `value` at `keys`, or remove what is there when it is None."""
    if keys[0] == "constraints":
        listed = [text for text in data.get("constraints") or [] if text != keys[1]]
        data["constraints"] = listed if value is None else [*listed, value]
        return
    inside: Any = data
    for key in keys[:-1]:
        if isinstance(inside, dict) and inside.get(str(key)) is None:
            inside[str(key)] = {}
        inside = inside[key]
    if value is None:
        inside.pop(keys[-1], None)
    else:
        inside[keys[-1]] = value
