"""Each kind of page in a headless Firefox; skipped where none is installed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.page.firefox import PROGRAM, firefox
from tests.page.test_accessible import PAGES

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(PROGRAM is None, reason="no Firefox is installed"),
]


def test_pages_are_drawn_and_operated_in_firefox(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    with firefox(tmp_path / "home") as tab:
        for name, made in PAGES.items():
            tab.open(made(tmp_path / name))
            assert tab.value("document.getElementById('fault').hidden"), name
            assert tab.value("performance.getEntriesByType('resource').length") == 0, name
            assert tab.value("document.documentElement.scrollWidth <= innerWidth"), name
            assert (tab.value("document.querySelectorAll('canvas').length") > 0) == (
                name != "infeasible"
            )
            if name == "front":
                tab.value("document.querySelector('[data-column=\"\"] input').value = 'u1'")
                tab.value(
                    "document.querySelector('[data-column=\"\"] input').dispatchEvent("
                    "new Event('input'))"
                )
                assert tab.value("document.querySelectorAll('#table tbody tr').length") == 1
