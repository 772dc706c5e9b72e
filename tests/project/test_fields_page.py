"""The page of fields: `python -m tests.project.test_fields_page` writes it from declarations."""

from __future__ import annotations

import math
from collections.abc import Iterator

from dse.algebra import units
from dse.study.fields import Coded, Unit
from dse.study.sections import DECLARED, SECTIONS
from tests.conftest import ROOT

PAGE = ROOT / "docs" / "fields.md"
HEAD = """# Fields of workload, interface and budget

Each may be written in its section, in `axes`, in `sweep` and with `--set`, in the unit shown or
with any prefix of it. [Studies](studies.md#sections) says what they are for.
"""


def page() -> str:
    """Return the page as it should be."""
    return "\n".join([HEAD, *(line for section in SECTIONS for line in _section(section))]) + "\n"


def _section(section: str) -> Iterator[str]:
    yield f"## {section}\n"
    yield "| field | unit | meaning | where nobody gives it |"
    yield "| --- | --- | --- | --- |"
    for path, declared in DECLARED.items():
        if path.startswith(f"{section}.") and declared is not None:
            name = path.partition(".")[2]
            about = SECTIONS[section].model_fields[name].description
            meaning = declared.description if isinstance(declared, Unit) else str(about)
            yield f"| `{name}` | {_unit(declared)} | {meaning} | {_instead(declared)} |"
    yield ""


def _unit(declared: Unit | Coded) -> str:
    if isinstance(declared, Coded):
        return "choice"
    labels = (units.label(units.suffix(column)) for column in declared.columns)
    return " or ".join(filter(None, labels)) or "-"


def _instead(declared: Unit | Coded) -> str:
    if isinstance(declared, Coded):
        return ""
    shown = [declared.unwritten]
    known = declared.usual if declared.usual is not None else declared.neutral
    if not declared.unwritten and known and math.isfinite(known):
        shown.append(units.show(known, declared.columns[0]))
    owners = [one for one in declared.belongs_to if declared not in (DECLARED[f"interface.{one}"],)]
    shown += [f"with `{owner}` only" for owner in owners if declared.neutral or declared.usual]
    return "; ".join(filter(None, shown))


def test_the_page_has_the_fields_that_are_declared() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), (
        "write it again: python -m tests.project.test_fields_page"
    )


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
