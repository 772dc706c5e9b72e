"""What is refused, word for word: each file of tests/golden/refused is a table of cases.

A row is what is written, then the lines of the answer; one that ends in ``...`` goes on.  With
`files` a row is an old and a new text in the first of them, or the whole new one, and `command`
reads it.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from dse.algebra import units
from dse.algebra.expression import parse_expression
from dse.errors import DseError
from dse.files import document
from dse.files.csv import parse_csv
from tests.conftest import ROOT, STUDIES, run_dse
from tests.files.test_document import SAMPLE

GOLDEN = ROOT / "tests" / "golden" / "refused"
TABLES: dict[str, dict[str, Any]] = {
    path.stem: YAML(typ="safe", pure=True).load(path.read_text(encoding="utf-8"))
    for path in sorted(GOLDEN.glob("*.yaml"))
}
NAMES = ("power_w", "area_m2", "rate_bit_per_s", "energy_j", "energy_j_per_bit", "instances")
READERS: dict[str, Callable[..., object]] = {
    "units": units.parse,
    "expressions": lambda text: parse_expression(text, NAMES).violation({}),
    "tables": lambda text: parse_csv(text.encode("latin-1"), "t.csv"),
    "documents": lambda text: document.parse_document(text, "s.yaml"),
    "overrides": lambda path, value: document.override_value(
        document.parse_document(SAMPLE, "s.yaml"), path, value
    ),
}
"""Of tables that are no command lines."""


def taken(name: str) -> int:
    """Return how many cells of a row are written, not answered."""
    return 2 if "files" in TABLES[name] or name in ("units", "overrides") else 1


def complained(*words: str, cwd: Path) -> str:
    done = run_dse(*words, cwd=cwd)
    assert done.returncode == 2, done.stdout
    return done.stderr


def answered(name: str, row: list[Any], folder: Path) -> str:
    """Return the answer to a row."""
    table = TABLES[name]
    if name == "commands":
        return complained(*shlex.split(row[0]), cwd=STUDIES)
    if name in READERS:
        with pytest.raises((DseError, ValueError)) as caught:
            READERS[name](*row[: taken(name)])
        return str(caught.value)
    for place, (file, text) in enumerate(table["files"].items()):
        old, new = row[:2] if place == 0 else (text, text)
        assert old is None or old in text, old
        (folder / file).write_text(new if old is None else text.replace(old, new), encoding="utf-8")
    return complained(*shlex.split(table["command"]), cwd=folder)


@pytest.mark.parametrize(
    ("name", "row"),
    [
        pytest.param(name, row, id=f"{name}-{number}")
        for name, table in TABLES.items()
        for number, row in enumerate(table["refused"])
    ],
)
def test_it_is_refused_in_these_words(name: str, row: list[Any], tmp_path: Path) -> None:
    lines = answered(name, row, tmp_path).splitlines()
    wanted = row[-len(lines) :]
    assert len(row) - len(lines) == taken(name)
    cut = [line[: len(said) - 3] + "..." if said.endswith("...") else line
           for line, said in zip(lines, wanted, strict=True)]  # fmt: skip
    assert cut == wanted
