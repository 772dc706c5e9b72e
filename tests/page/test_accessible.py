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
from tests.page.browser import PROGRAM, Browser, browser
from tests.serve.test_serve import UNLIMITED, serving

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


def sweep(folder: Path) -> Path:
    swept = {
        "workload.rate": "1 Gbps",
        "sweep": "{workload.rate: {from: 1 Gbps, to: 5 Gbps, points: 5}}",
    }
    dse.run(SETTOP, out=folder, overrides=swept, plots=False)
    return dse.report(folder)


def host_alone(folder: Path) -> Path:
    """Return the page of a study whose answer is no engine at all."""
    dse.run(STUDIES / "storage_xts_100gbps.yaml", out=folder, plots=False)
    page = dse.report(folder)
    assert "Take the host alone." in page.read_text(encoding="utf-8")
    return page


MEASURED = """\
# Which unrolling?
evaluate: {function: "model.py:measure", outputs: {area: um2, time: ns}}
axes: {unroll: {from: 1, to: 6}, wide: [false, true]}
objectives: {area: minimise, time: minimise}
"""
MODEL = """\
def measure(unroll, wide):
    if unroll == 5:
        raise RuntimeError("the tool crashed")
    return {"area": 4000 * unroll * (1 + (wide == "true")), "time": 900 / unroll}
"""


def measured(folder: Path) -> Path:
    folder.mkdir()
    (folder / "study.yaml").write_text(MEASURED, encoding="utf-8")
    (folder / "model.py").write_text(MODEL, encoding="utf-8")
    dse.run(folder / "study.yaml", out=folder / "run", plots=False)
    return dse.report(folder / "run")


PAGES: dict[str, Callable[[Path], Path]] = {
    "front": lambda folder: of_run(folder, flips=True),
    "infeasible": infeasible,
    "sweep": sweep,
    "host alone": host_alone,
    "measured": measured,
}


def serious(tab: Browser) -> list[tuple[str, str]]:
    """Return the serious findings of axe-core on the page that a tab shows."""
    tab.value(AXE.read_text(encoding="utf-8") + ";0")
    tab.value("axe.run({resultTypes: ['violations']}).then((found) => {window.found = found}); 0")
    found = json.loads(tab.until("window.found && JSON.stringify(window.found.violations)"))
    grave = [one for one in found if one["impact"] in ("serious", "critical")]
    return [(one["id"], one["nodes"][0]["html"]) for one in grave]


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
            assert serious(tab) == []
            assert tab.problems == []


def test_no_served_page_has_a_serious_finding(tmp_path: Path) -> None:
    """With its answer, its settings, and the map of them drawn."""
    capped = f"{SETTOP.read_text(encoding='utf-8')}constraints: [area <= 12000 um2]\n"
    (tmp_path / "study.yaml").write_text(capped, encoding="utf-8")
    with serving(tmp_path / "study.yaml") as server, browser(tmp_path / "browser") as tab:
        tab("Network.emulateNetworkConditions", offline=False, latency=0, **UNLIMITED)
        for width, height, mobile in ((1280, 900, False), (390, 844, True)):
            look = {"width": width, "height": height, "mobile": mobile, "deviceScaleFactor": 1}
            tab("Emulation.setDeviceMetricsOverride", **look)
            tab("Page.navigate", url=server.address)
            tab.until("document.getElementById('live-answer')?.dataset.pick ?? ''")
            tab.value("document.getElementById('map-box').open = true")
            tab.value("document.getElementById('map-draw').click()")
            tab.until("document.getElementById('map-words').textContent.includes('A click sets')")
            assert serious(tab) == []
            assert tab.problems == []
