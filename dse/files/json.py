"""Values that JSON knows, and the text of them that is written and printed."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np


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


def json_text(value: Any) -> str:
    """Return `value` as the JSON that commands print and files hold."""
    return json.dumps(jsonable(value), indent=2, ensure_ascii=False, allow_nan=False)
