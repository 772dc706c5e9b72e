"""Prose in lines that fit: those of the terminal, or 100 columns where the output is none."""

from __future__ import annotations

import shutil
import textwrap

WIDTH = 100
"""Longest line of prose."""

NARROWEST = 40
WIDEST = 120
"""Least and most columns of a table."""


def paragraph(text: str, indent: str = "") -> str:
    """Return prose in lines that fit, the further ones indented."""
    width = min(WIDTH, terminal_width())
    return textwrap.fill(text, width, subsequent_indent=indent, break_on_hyphens=False)


def terminal_width(otherwise: int = WIDTH) -> int:
    """Return how wide tables are: as the terminal or $COLUMNS say, `otherwise` where neither is."""
    return max(NARROWEST, min(WIDEST, shutil.get_terminal_size((otherwise, 24)).columns))
