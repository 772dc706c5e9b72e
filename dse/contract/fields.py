"""Fields with a unit, of studies and records: the table `fields.csv`.

Each row is a field of a section: the columns that it may set, one per unit, and its rules.

kind
    ``integer`` for a whole number, ``zero`` if 0 is allowed, ``counts`` for things of which a
    share is a value, too, on request.  First ``mix`` if sizes with their shares are a value, too,
    or ``arrivals`` for the words of arrivals.  ``duration`` for a time in minutes or hours, too.
among
    The only values.
neutral
    Value of its columns if it is not given, and has no effect: 0 unless stated.
assumed
    Value if a record omits it.  Otherwise it is neutral.
usual
    Value if it is neutral, and the field to which it belongs is not.
belongs_to
    Fields of which one must not be neutral, or no design has its columns.
instead
    Fields that replace it.
unwritten
    Replacement, in words, if neither a record nor the study gives it.

Columns of a study begin with the section: ``interface_link_byte_per_s``.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import make_dataclass
from functools import cache
from pathlib import Path
from typing import Any


@cache
def field_rows(section: str) -> Sequence[Mapping[str, str]]:
    """Return the rows of a section, as text by header."""
    with Path(__file__).with_name("fields.csv").open(encoding="utf-8") as table:
        return [row for row in csv.DictReader(table) if row["section"] == section]


InterfaceColumns: Any = make_dataclass(
    "InterfaceColumns",
    [
        (column, "float | None", None if row["neutral"] else 0.0)
        for row in field_rows("interface")
        for column in row["columns"].split()
    ],
    frozen=True,
    kw_only=True,
)
"""A record with a column for each unit of each field of an interface."""
