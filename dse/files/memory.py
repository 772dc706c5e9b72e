"""A study in memory: plain data with data frames in place of tables."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from dse.errors import Fault, KeyPath, StudyError, quoted
from dse.files.document import IN_MEMORY, NOWHERE, Document, parse_document
from dse.files.limits import STUDY_DEPTH
from dse.files.yaml import to_yaml

_PLAIN = "a study holds mappings, lists, text, numbers and data frames"


def of_data(data: Mapping[str, Any]) -> Document:
    """Return the document of plain data, with equivalent YAML as its text.

    A data frame of pandas may replace the name of a table: ``table`` of a stage and
    ``designs``.  It becomes a table of that run.  An index other than row numbers becomes a
    column, called ``design`` if it has no name.

    Raises
    ------
    StudyError
        The data cannot be written as YAML.  The error has all errors, by their paths.
    """
    reader = _PlainReader(data)
    plain = reader.as_yaml(data, ())
    if reader.faults:
        raise StudyError(reader.faults)
    read_back = parse_document(to_yaml(plain), IN_MEMORY)
    return replace(read_back, positions={(): NOWHERE}, contents=reader.contents)


class _PlainReader:
    """Conversion of Python data to YAML data, which collects errors and tables."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.data = data
        self.taken = set(texts_of(data))
        self.contents: dict[str, bytes] = {}
        self.faults: list[Fault] = []

    def as_yaml(self, value: Any, path: KeyPath) -> Any:
        """Return the value at `path` as YAML data."""
        if len(path) > STUDY_DEPTH:
            return self._refuse(path[:3], "", "a study is less deep", "does it hold itself?")
        pandas = sys.modules.get("pandas")  # without it there is no data frame
        if pandas is not None and isinstance(value, pandas.DataFrame):
            return self._table(value, path)
        if isinstance(value, np.ndarray | np.generic):
            value = value.tolist()
        if isinstance(value, Mapping):
            return {
                self._key(key, path): self.as_yaml(of, (*path, key)) for key, of in value.items()
            }
        if isinstance(value, list | tuple):
            return [self.as_yaml(of, (*path, place)) for place, of in enumerate(value)]
        if isinstance(value, os.PathLike):
            value = os.fspath(value)
        if isinstance(value, float) and not math.isfinite(value):
            return self._refuse(path, repr(value), "a number is finite", "write a finite number")
        if value is None or isinstance(value, str | bool | int | float):
            return value
        kind = f"<{type(value).__name__}>"
        return self._refuse(path, kind, _PLAIN, "write values as in a study file")

    def _key(self, key: Any, path: KeyPath) -> str:
        if isinstance(key, str):
            return str(key)
        self._refuse((*path, key), quoted(key), "a key is text", "put it in quotes")
        return ""

    def _refuse(self, path: KeyPath, written: str, rule: str, remedy: str) -> None:
        self.faults.append(NOWHERE.fault(path, written, rule, remedy))

    def _table(self, frame: Any, path: KeyPath) -> str | None:
        """Return the name of a table that holds a data frame."""
        match path:
            case ("stages", int(place), "table"):
                name = self.data["stages"][place].get("name")
                stem = name if isinstance(name, str) and name.isidentifier() else "cores"
            case ("designs",) | ("designs", "table"):
                stem = "designs"
            case _:
                rule = "a data frame replaces the `table` of a stage, or `designs`"
                self._refuse(path, "<DataFrame>", rule, "write its values out")
                return None
        if frame.columns.nlevels > 1 or frame.index.nlevels > 1:
            rule, remedy = "a table has one row of headers", "flatten them: frame.reset_index()"
            self._refuse(path, "several levels", rule, remedy)
            return None
        if type(frame.index).__name__ != "RangeIndex":
            frame = frame.reset_index(names=frame.index.name or "design")
        names = (f"{stem}{'' if number == 1 else f'_{number}'}.csv" for number in _COUNT)
        name = next(name for name in names if name not in self.taken)
        self.taken.add(name)
        self.contents[name] = frame.to_csv(index=False, lineterminator="\n").encode()
        return name


_COUNT = range(1, 1_000_000)


def texts_of(value: Any, depth: int = 0) -> Iterator[str]:
    """Yield every text that is a value of plain data, down to the depth of a study."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list | tuple) and depth <= STUDY_DEPTH:
        for entry in value.values() if isinstance(value, Mapping) else value:
            yield from texts_of(entry, depth + 1)
