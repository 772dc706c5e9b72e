"""No kind of page has a serious finding of axe-core, on a desk or a telephone.

Skipped without Chromium, or without axe-core: `npm install axe-core` in the repository, or AXE
names its axe.min.js.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import dse
from tests.conftest import ROOT, STUDIES
from tests.page.browser import PROGRAM, browser

AXE = Path(os.environ.get("AXE") or ROOT / "node_modules" / "axe-core" / "axe.min.js")
PHONE = {"width": 390, "height": 844, "phone": True}
SETTOP = STUDIES / "settop_116mbps.yaml"

pytestmark = pytest.mark.skipif(
    PROGRAM is None or not AXE.is_file(), reason="no Chromium or no axe-core is installed"
)


def of_run(folder: Path, **wanted: Any) -> Path:
    """Return the page of a run of the smallest study."""
    dse.run(SETTOP, out=folder, plots=False)
    return dse.report(folder, **wanted)


def infeasible(folder: Path) -> Path:
    from dse.api.pages import report_infeasible

    study = dse.load(SETTOP, overrides={"constraints": "[area <= 1 um2]"})
    with pytest.raises(dse.errors.InfeasibleError) as caught:
        dse.run(study)
    folder.mkdir()
    report_infeasible(study, caught.value, folder)
    return folder / "report.html"


def two(folder: Path) -> Path:
    dse.run(SETTOP, out=folder / "other", overrides={"workload.rate": "73 Mbps"}, plots=False)
    of_run(folder / "one")
    return dse.report(folder / "one", folder / "other", out=folder / "two.html")


def sweep(folder: Path) -> Path:
    swept = {
        "workload.rate": "1 Gbps",
        "sweep": "{workload.rate: {from: 1 Gbps, to: 5 Gbps, points: 5}}",
    }
    dse.run(SETTOP, out=folder, overrides=swept, plots=False)
    return dse.report(folder)


PAGES: dict[str, Callable[[Path], Path]] = {
    "front": lambda folder: of_run(folder, flips=True),
    "living": lambda folder: of_run(folder, living=True),
    "infeasible": infeasible,
    "two": two,
    "sweep": sweep,
}


@pytest.mark.parametrize("kind", PAGES)
def test_no_page_has_a_serious_finding(kind: str, tmp_path: Path) -> None:
    page = PAGES[kind](tmp_path / kind)
    with browser(tmp_path / "browser") as tab:
        for look in ({}, PHONE):
            if kind == "infeasible":  # it has no picture to wait for
                tab("Page.navigate", url=page.resolve().as_uri())
                tab.until("document.readyState === 'complete' && document.title !== ''")
            else:
                tab.open(page, **look)
            tab.value(AXE.read_text(encoding="utf-8") + ";0")
            tab.value(
                "axe.run({resultTypes: ['violations']}).then((found) => {window.found = found}); 0"
            )
            violations = json.loads(
                tab.until("window.found && JSON.stringify(window.found.violations)")
            )
            serious = [one for one in violations if one["impact"] in ("serious", "critical")]
            assert [(one["id"], one["nodes"][0]["html"]) for one in serious] == []
            assert tab.problems == []
