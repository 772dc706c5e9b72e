"""The table of floors in CONTRIBUTING.md: `python -m tests.project.test_floors` writes it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tests.conftest import ROOT
from tests.project.test_architecture import FLOORS, MODELS, SOURCES, parsed

PAGE = ROOT / "CONTRIBUTING.md"
TABLE = re.compile(r"^\| floor \|.*?(?=\n\n)", re.MULTILINE | re.DOTALL)


def table() -> str:
    """Return the floors from the ground up, each package with the first line that it has."""
    return "\n".join(["| floor | what | where |", "| --- | --- | --- |", *_rows()])


def _rows() -> Iterator[str]:
    packages = [[name for name in names if not name.startswith("__")] for names in FLOORS]
    for number, names in enumerate(filter(None, packages), 1):
        for place, name in enumerate(names):
            where = SOURCES[f"dse.{name}"].relative_to(ROOT).as_posix()
            floor = "" if place else number
            yield f"| {floor} | {_says(name)} | `{where.removesuffix('__init__.py')}` |"
    for name in MODELS:
        yield f"| | {_says(name)} | `{name}/`, as `dse.{name}` |"


def _says(name: str) -> str:
    said = ast.get_docstring(parsed(SOURCES[f"dse.{name}"])) or ""
    return said.partition("\n")[0].partition(".  ")[0].rstrip(".")


def page() -> str:
    """Return CONTRIBUTING.md with the table as it should be."""
    return TABLE.sub(lambda _: table(), PAGE.read_text(encoding="utf-8"), count=1)


def test_the_page_has_the_floors_that_the_source_has() -> None:
    written = PAGE.read_text(encoding="utf-8")
    assert written == page(), "write it again: python -m tests.project.test_floors"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
