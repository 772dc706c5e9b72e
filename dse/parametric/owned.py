"""What an architect may change: what the study writes, not what a device of a catalogue is."""

from __future__ import annotations

from dse.files.document import Document
from dse.study.sections import FREE, RECORDS


def is_owned(document: Document, path: str) -> bool:
    """Tell whether a field is the study's: written there, free, or of no record that it names."""
    section = path.partition(".")[0]
    record = RECORDS.get(section)
    if record is None or path in FREE:
        return True
    return is_written(document, path) or not is_written(document, f"{section}.{record}")


def is_free(path: str) -> bool:
    """Tell whether a field says how a device or platform is used, which is a choice with any."""
    return path in FREE


def is_written(document: Document, path: str) -> bool:
    """Tell whether the study gives a field of a section, in the section or as an axis."""
    section, _, name = path.partition(".")
    fields = document.data.get(section)
    return path in (document.data.get("axes") or ()) or (
        isinstance(fields, dict) and fields.get(name) is not None
    )
