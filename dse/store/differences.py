"""What a run is, beside what it was: field by field."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from dse.files.position import shortened, visible
from dse.files.yaml import flow_yaml

_NOTHING = object()

ALIKE = 40
"""Two values that begin with more equal signs are not shown from their beginning."""


def changed_fields(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """Return a line ``search.budget: 100 -> 200`` for each field of plain data that differs.

    Lists of one length that hold mappings are compared item by item, others as a whole.

    Examples
    --------
    >>> changed_fields({"seed": 1, "axes": {"u": [1, 2]}}, {"seed": 1, "axes": {"u": [1, 2, 4]}})
    ['axes.u: [1, 2] -> [1, 2, 4]']
    >>> changed_fields({"study": {}}, {"study": {"seed": 7}})
    ['study.seed: not set -> 7']
    """
    return [f"{path}: {_beside(old, new)}" for path, old, new in _changes("", before, after)]


def parsed(identity: str) -> Any:
    """Return the fields of what identifies an evaluator, or the text of one that has none."""
    try:
        return json.loads(identity)
    except ValueError:
        return identity


def _changes(path: str, before: Any, after: Any) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for name in dict.fromkeys((*before, *after)):
            inside = f"{path}.{name}" if path else str(name)
            yield from _changes(inside, before.get(name, _NOTHING), after.get(name, _NOTHING))
    elif _is_itemised(before) and _is_itemised(after) and len(before) == len(after):
        for number, (old, new) in enumerate(zip(before, after, strict=True), 1):
            yield from _changes(f"{path}.{number}", old, new)
    elif before != after or isinstance(before, bool) != isinstance(after, bool):
        yield path, before, after


def _is_itemised(value: Any) -> bool:
    return isinstance(value, list | tuple) and any(isinstance(item, Mapping) for item in value)


def _beside(before: Any, after: Any) -> str:
    """Return both values; long ones that begin alike are shown from where they differ."""
    texts = ["not set" if value is _NOTHING else flow_yaml(value) for value in (before, after)]
    alike = next((at for at, (old, new) in enumerate(zip(*texts, strict=False)) if old != new), 0)
    if alike > ALIKE:
        texts = [f"...{text[alike - ALIKE // 2 :]}" for text in texts]
    return " -> ".join(visible(shortened(text)) for text in texts)
