"""Names that were removed before 1.0, each with what to do instead: the table `removed.csv`."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Literal

Kind = Literal["field", "argument", "command", "plugin", "value"]

RULE = "removed before 1.0"
"""What is wrong with a name of the table."""


@cache
def removed() -> Mapping[tuple[str, str], str]:
    """Return the remedy by kind and name.

    A ``field`` is of a study: its dotted path without positions in lists and names of axes
    (``evaluate.repeats``, ``axes.of``).  An ``argument`` is ``function.argument``, and the option
    of the command of that name.  A ``command`` is the word after ``dse``, a ``plugin`` is
    ``kind.name`` (``method.sms-emoa``), a ``value`` is ``field=value``.
    """
    rows = csv.DictReader((files("dse") / "removed.csv").read_text(encoding="utf-8").splitlines())
    return {(row["kind"], row["name"]): row["instead"] for row in rows}


def remedy(kind: Kind, name: str) -> str:
    """Return what to do instead of a name, or nothing where it was not removed.

    Examples
    --------
    >>> remedy("plugin", "method.sms-emoa")
    'write nsga2 or nsga3'
    """
    return removed().get((kind, name), "")


def no_attribute(module: str, name: str, command: str) -> AttributeError:
    """Return the error of a name that a module lacks, with the remedy of its command."""
    instead = remedy("command", command)
    more = f": {RULE}; {instead}" * bool(instead)
    return AttributeError(f"module {module!r} has no attribute {name!r}{more}")
