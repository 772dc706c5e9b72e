"""The size of the house, which may only fall.

`python -m tests.project.test_size` lowers the caps to what is there, and writes the table of
CONTRIBUTING.  A change that raises a cap, by hand, lowers another by as much, and its message names
the behaviour that went.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from tests.conftest import ROOT
from tests.project.size import code_lines, measures

CAPS = ROOT / "tests" / "project" / "sizes.json"
PAGE = ROOT / "CONTRIBUTING.md"
TABLE = re.compile(r"^\| size \|.*?(?=\n\n)", re.MULTILINE | re.DOTALL)


def caps() -> dict[str, int]:
    """Return the most that each measure may be."""
    found: dict[str, int] = json.loads(CAPS.read_text(encoding="utf-8"))
    return found


def test_nothing_grows() -> None:
    most = caps()
    grown = {name: n for name, n in measures().items() if n > most.get(name, 0)}
    assert not grown, f"more than { ({name: most.get(name, 0) for name in grown}) }: {grown}"


def test_caps_follow_what_was_reached() -> None:
    found = measures()
    loose = [name for name, most in caps().items() if most > 1.02 * found.get(name, 0) + 20]
    assert not loose, "lower them: python -m tests.project.test_size"


def test_code_is_counted_without_docstrings_blank_lines_and_comments(tmp_path: Path) -> None:
    file = tmp_path / "one.py"
    file.write_text('"""A docstring,\n\nof three lines."""\n\n# a comment\nA = """two\nlines"""\n')
    assert code_lines(file) == 2


def table() -> str:
    """Return the caps as a table."""
    rows = [
        "| {} | {} |".format(name, f"{most:,}".replace(",", " ")) for name, most in caps().items()
    ]
    return "\n".join(["| size | at most |", "| --- | --: |", *rows])


def page() -> str:
    """Return CONTRIBUTING.md with the table as it should be."""
    return TABLE.sub(lambda _: table(), PAGE.read_text(encoding="utf-8"), count=1)


def test_the_page_has_the_caps() -> None:
    written = PAGE.read_text(encoding="utf-8")
    assert written == page(), "write it again: python -m tests.project.test_size"


def lower() -> None:
    """Lower each cap to what is there; a measure that is new gets its first."""
    most = caps()
    lowered = {name: min(n, most.get(name, n)) for name, n in measures().items()}
    CAPS.write_text(json.dumps(lowered, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    lower()
    PAGE.write_text(page(), encoding="utf-8")
