"""Written parts of a study: its stages, its question, and the fields that it may change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dse.files.document import Document, stage_name
from dse.study.workload_interface_budget import FREE, RECORDS

EDITORS = "# yaml-language-server:"
"""Beginning of a first line for editors.  The question may be in the second line."""


def stages_of(document: Document) -> dict[str, Mapping[str, Any]]:
    """Return the stages of a study, as written, by the prefix of their columns."""
    return {
        stage_name(fields) or f"stage_{position + 1}": fields
        for position, fields in enumerate(document.stages)
    }


def is_owned(document: Document, path: str) -> bool:
    """Return whether a field is the study's: written there, free, or of no record that it names."""
    section = path.partition(".")[0]
    record = RECORDS.get(section)
    if record is None or path in FREE:
        return True
    return is_written(document, path) or not is_written(document, f"{section}.{record}")


def is_written(document: Document, path: str) -> bool:
    """Return whether the study gives a field of a section, in the section or as an axis."""
    section, _, name = path.partition(".")
    return path in document.section("axes") or document.section(section).get(name) is not None


def question(stated: str | None, document: Document) -> str:
    """Return the question of a study: as stated, or its first line if that is a comment."""
    if stated:
        return stated
    lines = document.text.lstrip("\ufeff").split("\n", 2)[:2]
    first = lines[lines[0].startswith(EDITORS) and len(lines) > 1].strip()
    return first.lstrip("# ") if first.startswith("#") else ""
