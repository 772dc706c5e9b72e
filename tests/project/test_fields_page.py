"""The site's page of fields has each of them, with its unit and what it counts as by default."""

from __future__ import annotations

import runpy

from dse.study.field_kinds import Unit
from dse.study.workload_interface_budget import DECLARED, SECTIONS
from tests.conftest import ROOT


def test_the_page_has_the_fields_that_are_declared() -> None:
    page = runpy.run_path(str(ROOT / "docs" / "site" / "reference.py"))["fields"]()
    rows = {line.split(" | ")[0].strip("| `"): line for line in page.splitlines()}
    for section, fields in SECTIONS.items():
        for name in fields.model_fields:
            assert name in rows
            declared = DECLARED.get(f"{section}.{name}")
            if isinstance(declared, Unit) and declared.unwritten:
                assert declared.unwritten in rows[name]
    assert "[cycles or s or cycles/B or s/B]" in rows["latency"]
    assert "256 B; with `pcie` only" in rows["max_payload"]
