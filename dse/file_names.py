"""Names in a study that are the path of a file, and what results call them."""

from __future__ import annotations

import re
from pathlib import PurePosixPath


def is_record(name: str) -> bool:
    """Tell the path of a record file from a name of the catalogue."""
    return name.lower().endswith((".yaml", ".yml"))


def short(name: str) -> str:
    """Return what results call a core: its name, or that of its file as an identifier.

    Examples
    --------
    >>> short("des"), short("records/my law.yaml")
    ('des', 'my_law')
    """
    if not is_record(name):
        return name
    stem = PurePosixPath(name.replace("\\", "/")).stem
    return re.sub(r"\W", "_", re.sub(r"^(?=\d)", "core_", stem), flags=re.ASCII)
