"""Values that JSON knows, the text of them that is written and printed, and files of it read."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np

from dse.files.folder import read_regular
from dse.files.limits import JSON_BYTE, JSON_DEPTH


def jsonable(value: Any) -> Any:
    """Return `value` with arrays as lists, NaN as null and infinities as text."""
    if isinstance(value, dict):
        return {str(key): jsonable(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [jsonable(entry) for entry in value]
    if isinstance(value, np.ndarray | np.generic):
        return jsonable(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value


def read_json(path: Path) -> Any:
    """Return what a file of JSON says.

    Raises
    ------
    OSError, ValueError
        It is no file, is too long, no JSON, nested too deeply, or says something twice.
    """
    content = read_regular(path, JSON_BYTE + 1)
    if len(content) > JSON_BYTE:
        raise ValueError(f"{path.name} has more than {JSON_BYTE} bytes")
    try:
        found = json.loads(content, object_pairs_hook=_once)
    except RecursionError:
        raise ValueError(f"{path.name} is nested too deeply") from None
    level, depth = [found], 0
    while level := [part for one in level for part in _parts(one)]:
        depth += 1
        if depth > JSON_DEPTH:
            raise ValueError(f"{path.name} is nested too deeply")
    return found


def _parts(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [*value.values()]
    return value if isinstance(value, list) else []


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON; a key that stands twice would hide what it says."""
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(name for name in found if [key for key, _ in pairs].count(name) > 1)
        raise ValueError(f"it says {twice!r} twice")
    return found


def json_text(value: Any) -> str:
    """Return `value` as the JSON that commands print and files hold."""
    return json.dumps(jsonable(value), indent=2, ensure_ascii=False, allow_nan=False)
