"""An extension of griffe: examples in docstrings that stand outside a section of examples."""

from __future__ import annotations

import re
from typing import Any

import griffe

_EXAMPLE = re.compile(r"((?:^(?:>>>|\.\.\.) .*\n?)+)", re.MULTILINE)


class Doctests(griffe.Extension):
    """Shows lines that begin with ``>>>`` as code; Markdown takes them for quotations."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Fence the examples of a docstring."""
        if obj.docstring and "Examples\n---" not in obj.docstring.value:
            obj.docstring.value = _EXAMPLE.sub(r"```pycon\n\1\n```\n", obj.docstring.value)
