"""Why no design of anybody's table meets some constraints, by the engine that explains studies."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dse.errors import Fault, MissingLibraryError, StudyError, UnitError, nearest
from dse.files import headers
from dse.files.csv import CsvTable, parse_csv
from dse.files.document import Document, no_such
from dse.files.json import read_regular, reason
from dse.files.limits import TABLE_BYTE
from dse.reports.text import Printable
from dse.study.study import read_study
from dse.study.tables import NAME_COLUMNS

SQLITE = "sqlite:///"
"""How a storage begins whose trials are read."""

TABLE = "table.csv"
"""What the study calls its table."""


@dataclass(frozen=True, repr=False)
class Infeasibility(Printable):
    """Why no design is feasible, or that some are.

    Attributes
    ----------
    verdict
        ``infeasible`` or ``feasible``.
    words
        Conflicts and the cheapest repairs in words.
    facts
        The same as plain data.
    """

    verdict: str
    words: str
    facts: Mapping[str, Any]

    def text(self) -> str:
        """Return it as text."""
        return self.words

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {"verdict": self.verdict, **self.facts}


def study_of_table(written: str, constraints: Sequence[str], name: str | None) -> Document:
    """Return the study of a CSV, or of the trials of a storage, with constraints.

    Raises
    ------
    StudyError
        It is neither, or has no column of numbers.
    """
    if name is not None and "://" not in written:
        raise _fault(name, "only a storage of trials has studies", "remove --study")
    content = _trials(written, name) if "://" in written else _content(written)
    study = {
        "question": f"Which designs of {Path(written).name} meet all constraints?",
        "designs": TABLE,
        "objectives": {_objective(parse_csv(content, written)): "minimise"},
        "constraints": [*constraints],
    }
    return replace(read_study(study), contents={TABLE: content}, of_options=True)


def _content(written: str) -> bytes:
    try:
        return read_regular(Path(written), TABLE_BYTE + 1)
    except FileNotFoundError:
        raise no_such(Path(written), "table", "*.csv") from None
    except (OSError, ValueError) as error:
        raise _fault(written, f"it cannot be read: {reason(error)}", "name a CSV file") from error


def _trials(written: str, name: str | None) -> bytes:
    """Return the trials of a study of Optuna as a CSV."""
    place = Path(written.removeprefix(SQLITE))
    if not written.startswith(SQLITE):
        remedy = "write sqlite:///FILE, or a CSV: study.trials_dataframe().to_csv(FILE)"
        raise _fault(written, "trials are read from SQLite alone", remedy)
    if not place.is_file():
        known = [entry.name for entry in place.parent.glob("*.db")]
        raise _fault(written, f"there is no file {str(place)!r}", nearest(place.name, known))
    try:
        from dse.search.heuristic.optuna import trials_of
    except ImportError:
        raise MissingLibraryError("a storage of trials", "optuna", "search") from None
    try:
        rows = trials_of(place, name)
    except UnitError as error:
        raise _fault(written, error.rule, error.remedy) from error
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerows([list(rows[0]), *([row[key] for key in rows[0]] for row in rows)])
    return text.getvalue().encode()


def _objective(table: CsvTable) -> str:
    """Return the last column of numbers alone, which no constraint depends on."""
    for place in reversed(range(len(table.headers))):
        header = table.headers[place]
        if table.share_of_numbers(place) == 1.0 and header.casefold() not in NAME_COLUMNS:
            try:
                return headers.read_header(header).name
            except UnitError:
                continue  # the study says so
    raise _fault(table.file, "no column has a number in every row", "add one, or its unit")


def _fault(written: str, rule: str, remedy: str) -> StudyError:
    return StudyError([Fault("", written, rule, remedy)])
