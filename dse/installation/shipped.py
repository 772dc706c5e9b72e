"""The studies that come with the program: files of `dse.studies`, to be read and to start from."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from dse.errors import UnknownPluginError, nearest
from dse.files.document import is_record, parse_document
from dse.files.memory import texts_of

_SUFFIX = ".yaml"


@cache
def shipped_studies() -> Mapping[str, str]:
    """Return the text of each study by its name, which is that of its file; sorted."""
    found = (entry for entry in files("dse.studies").iterdir() if entry.name.endswith(_SUFFIX))
    return {
        entry.name.removesuffix(_SUFFIX): entry.read_text(encoding="utf-8")
        for entry in sorted(found, key=lambda entry: entry.name)
    }


def shipped_study(name: str) -> str:
    """Return the text of a study that comes with the program.

    Raises
    ------
    UnknownPluginError
        When none has this name.
    """
    try:
        return shipped_studies()[name.removesuffix(_SUFFIX)]
    except KeyError:
        rule = f"no study called {name!r} comes with the program"
        raise UnknownPluginError(rule, nearest(name, shipped_studies())) from None


def shipped_records(study: str) -> dict[str, str]:
    """Return the text of each record file that a study of `shipped_studies` names, by its path."""
    named = filter(is_record, texts_of(parse_document(study, "").data))
    return {
        path: files("dse.studies").joinpath(path).read_text(encoding="utf-8")
        for path in dict.fromkeys(named)
    }
