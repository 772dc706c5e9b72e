"""Stages as a study writes them, and the dotted paths of their fields."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dse.files.document import Document, stage_name


@dataclass(frozen=True)
class WrittenStage:
    """A stage of a study: its place, the prefix of its columns, its fields as written."""

    position: int
    name: str
    fields: Mapping[str, Any]

    @property
    def is_named(self) -> bool:
        """Whether the study calls it by a name."""
        return stage_name(self.fields) is not None

    def path(self, field: str) -> str:
        """Return the dotted path of a field, as ``--set`` takes it."""
        return f"{self.name}.{field}" if self.is_named else f"stages.{self.position}.{field}"


def stages_of(document: Document) -> tuple[WrittenStage, ...]:
    """Return the stages of a study."""
    written = document.data.get("stages") or ()
    return tuple(
        WrittenStage(position, stage_name(fields) or f"stage_{position + 1}", fields)
        for position, fields in enumerate(written)
    )
