"""Writes plain data as YAML that `dse.files.yaml` reads back as the same data."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from dse.errors import StudyError
from dse.files.position import Position
from dse.files.yaml import YamlReader

_START = Position(1, 1, "")


def to_yaml(data: Mapping[str, Any]) -> str:
    """Return a mapping of mappings, lists, text, finite numbers, booleans and None as YAML."""
    return "".join(f"{line}\n" for line in _mapping(data, ""))


def _mapping(data: Mapping[str, Any], indent: str) -> Iterator[str]:
    for key, value in data.items():
        if isinstance(value, Mapping) and value:
            yield f"{indent}{_scalar(key)}:"
            yield from _mapping(value, indent + "  ")
        else:
            yield f"{indent}{_scalar(key)}: {_flow(value)}"


def _flow(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_scalar(key)}: {_flow(of)}" for key, of in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_flow, value)) + "]"
    return _scalar(value)


def _scalar(value: Any) -> str:
    if not isinstance(value, str):
        return json.dumps(value, allow_nan=False)
    return value if _is_plain(value) else json.dumps(value, ensure_ascii=False)


def _is_plain(text: str) -> bool:
    """Whether a text means itself when it stands without quotes, also as a key or in a list."""
    if not text.isprintable() or not text:
        return False
    try:
        read = YamlReader(f"k: [{text}, {{{text}: {text}}}]", _START).document()
        return bool(read == {"k": [text, {text: text}]})
    except StudyError:
        return False
